/* SPDX-License-Identifier: Apache-2.0 */
#include "session/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

static const int forwarded[] = {
	SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT,
	SIGTSTP, SIGTTIN, SIGTTOU, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO,    SIGPWR,
};

enum {
	N_FORWARDED = sizeof(forwarded) / sizeof(forwarded[0])
};

/* Handlers are the process's, and have no context. The pid tells a fork of ours from us. */
static atomic_int taken_in; /* pid; 0: nobody has them */
static atomic_int taken_by; /* thread */

static bool claim(void)
{
	int seen = atomic_load(&taken_in);
	int self = getpid();

	return seen != self && atomic_compare_exchange_strong(&taken_in, &seen, self);
}

/* ---- Other threads ---- */

/* Unknown counts as yes. */
static bool has_other_threads(void)
{
	struct stat st;

	/* proc(5): a directory for each thread, beside `.` and `..`. */
	return stat("/proc/self/task", &st) < 0 || st.st_nlink != 3;
}

static void hand_over(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	/* The terminal's own: see signals_forward(). */
	if (info->si_code != SI_KERNEL)
		(void)syscall(SYS_tgkill, getpid(), atomic_load(&taken_by), signal);
	errno = saved;
}

static bool is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == hand_over;
}

static bool has_default_effect(int signal, const sigset_t *blocked)
{
	struct sigaction action;

	return !sigismember(blocked, signal) && sigaction(signal, NULL, &action) == 0 &&
	       action.sa_handler == SIG_DFL;
}

static void catch_one(sigset_t *caught, int signal)
{
	struct sigaction action = {.sa_sigaction = hand_over, .sa_flags = SA_SIGINFO | SA_RESTART};

	(void)sigfillset(&action.sa_mask);
	if (sigaction(signal, &action, NULL) == 0)
		(void)sigaddset(caught, signal);
}

static void catch_no_more(struct signals *signals)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	struct sigaction now;

	for (size_t i = 0; i < N_FORWARDED; i++)
		/* The program may have come to want it otherwise. */
		if (sigismember(&signals->caught, forwarded[i]) &&
		    sigaction(forwarded[i], NULL, &now) == 0 && is_ours(&now))
			(void)sigaction(forwarded[i], &action, NULL);
}

/* ---- Taking, passing on, giving back ---- */

int signals_take(struct signals *ret, struct err *e)
{
	bool others = has_other_threads();
	sigset_t set;

	if (!claim())
		return err_set(e, ERR_USAGE, "another run is going on in this process");
	(void)pthread_sigmask(SIG_SETMASK, NULL, &ret->mask);
	(void)sigemptyset(&set);
	for (size_t i = 0; i < N_FORWARDED; i++)
		if (!others || has_default_effect(forwarded[i], &ret->mask))
			(void)sigaddset(&set, forwarded[i]);
	ret->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ret->fd < 0) {
		atomic_store(&taken_in, 0);
		return err_os(e, "could not watch for signals");
	}
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	atomic_store(&taken_by, (int)syscall(SYS_gettid));
	(void)sigemptyset(&ret->caught);
	for (size_t i = 0; others && i < N_FORWARDED; i++)
		if (sigismember(&set, forwarded[i]))
			catch_one(&ret->caught, forwarded[i]);
	return 0;
}

void signals_forward(const struct signals *signals, int pidfd)
{
	struct signalfd_siginfo info;

	while (read(signals->fd, &info, sizeof(info)) == sizeof(info)) {
		/* The terminal's own signals went to the whole foreground group, the command
		 * included. */
		if (info.ssi_code != SI_KERNEL)
			(void)syscall(SYS_pidfd_send_signal, pidfd, (int)info.ssi_signo, NULL, 0);
	}
}

void signals_give_back(struct signals *signals)
{
	if (signals->fd < 0)
		return;
	catch_no_more(signals);
	fd_close(&signals->fd);
	(void)pthread_sigmask(SIG_SETMASK, &signals->mask, NULL);
	atomic_store(&taken_in, 0);
}
