/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads against the moment between check and use: some flip something between an allowed and a
 * denied state, others make the call, over and over. A round is a call that saw a new state, or
 * several. LAPBELT_ROUNDS says how many of them there are inside; outside, where the act comes
 * through, it is tried until it does.
 */
#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 1000,         /* unless said otherwise */
	PATIENCE_SECONDS = 30, /* of the control */
	CROWD = 16,            /* threads; half of them flip */
};

struct race {
	void (*flip)(bool side);
	bool (*attempt)(void);
	unsigned rounds; /* to be done */
	time_t end;      /* of the control */
	atomic_uint flips, done;
	atomic_bool won, over;
};

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void *flip_until_over(void *argument)
{
	struct race *race = argument;

	for (bool side = false; !atomic_load(&race->over); side = !side) {
		race->flip(side);
		atomic_fetch_add(&race->flips, 1);
	}
	return NULL;
}

static bool goes_on(struct race *race)
{
	if (atomic_load(&race->won))
		return false;
	return is_inside() ? atomic_load(&race->done) < race->rounds : seconds() < race->end;
}

static void *attempt_until_won(void *argument)
{
	struct race *race = argument;
	unsigned seen = 0;

	while (goes_on(race)) {
		unsigned flips;

		while ((flips = atomic_load(&race->flips)) == seen && goes_on(race))
			sched_yield();
		seen = flips;
		if (race->attempt())
			atomic_store(&race->won, true);
		atomic_fetch_add(&race->done, 1);
	}
	return NULL;
}

static pthread_t start(void *(*body)(void *), struct race *race)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, race) != 0)
		broken("pthread_create");
	return thread;
}

/* Calls attempt() beside flip(false), flip(true), … in so many threads each. */
static enum outcome race_among(void (*flip)(bool), bool (*attempt)(void), unsigned n)
{
	const char *rounds = getenv("LAPBELT_ROUNDS");
	struct race race = {.flip = flip,
			    .attempt = attempt,
			    .rounds = rounds ? (unsigned)strtoul(rounds, NULL, 10) : ROUNDS,
			    .end = seconds() + PATIENCE_SECONDS};
	pthread_t flipping[CROWD], attempting[CROWD];

	for (unsigned i = 0; i < n; i++) {
		flipping[i] = start(flip_until_over, &race);
		attempting[i] = start(attempt_until_won, &race);
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(attempting[i], NULL);
	atomic_store(&race.over, true);
	for (unsigned i = 0; i < n; i++)
		pthread_join(flipping[i], NULL);
	printf("# %u rounds, %u states\n", atomic_load(&race.done), atomic_load(&race.flips));
	if (is_inside() && !race.won && race.done < race.rounds)
		broken("rounds");
	return race.won ? ESCAPED : CONTAINED;
}

static enum outcome race(void (*flip)(bool), bool (*attempt)(void))
{
	return race_among(flip, attempt, 1);
}

static enum outcome race_crowd(void (*flip)(bool), bool (*attempt)(void))
{
	return race_among(flip, attempt, CROWD / 2);
}

/* --- what the attempts look for -------------------------------------------------------------- */

static struct stat victim;

static void remember_victim(void)
{
	if (stat(other("f"), &victim) < 0)
		broken("stat");
}

static bool is_victim(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == victim.st_dev && st.st_ino == victim.st_ino;
}

/* Consumes fd, which the sandbox gave for writing. */
static bool took_victim(int fd)
{
	bool took = fd >= 0 && is_victim(fd);

	if (took && write(fd, "escaped\n", 8) < 0)
		took = false;
	if (fd >= 0)
		close(fd);
	return took;
}

/* --- names that change meaning -----------------------------------------------------------------
 */

static void exchange_d_and_link(bool side)
{
	(void)side;
	renameat2(AT_FDCWD, "d", AT_FDCWD, "link", RENAME_EXCHANGE);
}

static void directory_beside_link(const char *target, const char *decoy)
{
	make_dir("d");
	make_file(decoy, "nothing\n");
	if (symlink(target, "link") < 0)
		broken("symlink");
}

static bool read_d_id(void)
{
	return file_has("d/id", SECRET);
}

static enum outcome swap_symlink_under_read(void)
{
	directory_beside_link("../.ssh", "d/id");
	return race(exchange_d_and_link, read_d_id);
}

static bool write_d_f(void)
{
	return took_victim(open("d/f", O_WRONLY | O_APPEND | O_CLOEXEC));
}

static enum outcome swap_symlink_under_write(void)
{
	remember_victim();
	directory_beside_link("../other", "d/f");
	return race(exchange_d_and_link, write_d_f);
}

static enum outcome crowd_swaps_symlinks(void)
{
	remember_victim();
	directory_beside_link("../other", "d/f");
	return race_crowd(exchange_d_and_link, write_d_f);
}

static bool create_in_d(void)
{
	int fd = open("d/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd >= 0)
		close(fd);
	return exists(other("new"));
}

static enum outcome swap_symlink_under_create(void)
{
	directory_beside_link("../other", "d/f");
	return race(exchange_d_and_link, create_in_d);
}

static bool unlink_in_d(void)
{
	unlink("d/f");
	return !exists(other("f"));
}

static enum outcome swap_symlink_under_unlink(void)
{
	directory_beside_link("../other", "d/f");
	return race(exchange_d_and_link, unlink_in_d);
}

static bool rename_into_d(void)
{
	close(open("x", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	rename("x", "d/pre-commit");
	return exists(".git/hooks/pre-commit");
}

static enum outcome swap_symlink_under_rename(void)
{
	directory_beside_link(".git/hooks", "d/f");
	return race(exchange_d_and_link, rename_into_d);
}

/* --- names that the outsider exchanges: a file may be called .git, a repository may not ------- */

static bool is_repository(const char *path)
{
	return exists(text("%s/hooks/pre-commit", path));
}

static void leave_alone(bool side)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};

	(void)side;
	nanosleep(&pause, NULL);
}

static unsigned files_renamed;

static bool rename_what_is_exchanged(void)
{
	if (rename("x", "n/.git") < 0)
		return false;
	if (is_repository("n/.git"))
		return true;
	files_renamed++;
	unlink("n/.git");
	close(open("x", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	return false;
}

static enum outcome exchange_under_rename(void)
{
	enum outcome outcome;

	make_dir("d");
	make_dir("d/hooks");
	make_file("d/hooks/pre-commit", "escaped\n");
	make_file("x", "nothing\n");
	make_dir("n");
	make_file("exchange", "");
	outcome = race(leave_alone, rename_what_is_exchanged);
	unlink("exchange");
	/* If every rename fails, nothing has been tried. */
	if (outcome == CONTAINED && files_renamed == 0)
		broken("rename");
	return outcome;
}

static bool chmod_d_f(void)
{
	struct stat st;

	chmod("d/f", 0600);
	return stat(other("f"), &st) == 0 && (st.st_mode & 0777) == 0600;
}

static enum outcome swap_symlink_under_chmod(void)
{
	directory_beside_link("../other", "d/f");
	return race(exchange_d_and_link, chmod_d_f);
}

static void exchange_plain_and_f(bool side)
{
	(void)side;
	renameat2(AT_FDCWD, "d/f", AT_FDCWD, "d/link", RENAME_EXCHANGE);
}

static enum outcome swap_last_component(void)
{
	remember_victim();
	make_dir("d");
	make_file("d/f", "nothing\n");
	if (symlink("../../other/f", "d/link") < 0)
		broken("symlink");
	return race(exchange_plain_and_f, write_d_f);
}

/* A directory moves between a place with an allowed ".." and one with a denied one. */
static void move_deep_directory(bool side)
{
	if (side)
		rename("a/b/c", "c");
	else
		rename("c", "a/b/c");
}

static bool write_by_dotdots(void)
{
	return took_victim(open("a/b/c/../../../other/f", O_WRONLY | O_APPEND | O_CLOEXEC)) ||
	       took_victim(open("c/../../other/f", O_WRONLY | O_APPEND | O_CLOEXEC));
}

static enum outcome move_directory_under_dotdot(void)
{
	remember_victim();
	make_dir("a");
	make_dir("a/b");
	make_dir("a/b/c");
	make_dir("other");
	make_file("other/f", "nothing\n");
	return race(move_deep_directory, write_by_dotdots);
}

/*
 * A storm: every thread renames directories about, links among them, and all write by names that
 * lead through them.
 */
static void storm(bool side)
{
	static atomic_uint number;
	unsigned n = atomic_fetch_add(&number, 1) % 4;

	switch (n) {
	case 0:
		move_deep_directory(side);
		break;
	case 1:
		exchange_d_and_link(side);
		break;
	case 2:
		renameat2(AT_FDCWD, "a", AT_FDCWD, "d", RENAME_EXCHANGE);
		break;
	default:
		renameat2(AT_FDCWD, "d/f", AT_FDCWD, "a/f", RENAME_EXCHANGE);
	}
}

static bool write_in_storm(void)
{
	static const char *const ways[] = {"a/b/c/../../../other/f", "c/../../other/f", "d/f",
					   "link/f", "a/f"};
	bool took = false;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !took; i++)
		took = took_victim(open(ways[i], O_WRONLY | O_APPEND | O_CLOEXEC));
	return took;
}

static enum outcome crowd_storms(void)
{
	remember_victim();
	make_dir("a");
	make_dir("a/b");
	make_dir("a/b/c");
	make_file("a/f", "nothing\n");
	make_dir("other");
	make_file("other/f", "nothing\n");
	directory_beside_link("../other", "d/f");
	return race_crowd(storm, write_in_storm);
}

/* --- arguments that change in memory -------------------------------------------------------------
 */

static char allowed_path[4096], denied_path[4096], flipped_path[4096];

/* Same length for both, so that every mixture of the two is a string as well. */
static void prepare_paths(const char *allowed_name)
{
	int length = snprintf(denied_path, sizeof(denied_path), "%s", other("f"));

	make_file(allowed_name, "nothing\n");
	memset(allowed_path, '/', (size_t)length);
	memcpy(allowed_path + length - (int)strlen(allowed_name), allowed_name,
	       strlen(allowed_name));
	memcpy(allowed_path, "./", 2);
	memcpy(flipped_path, allowed_path, sizeof(flipped_path));
}

static void rewrite_path(bool side)
{
	memcpy(flipped_path, side ? denied_path : allowed_path, sizeof(flipped_path));
}

static bool open_flipped_path(void)
{
	return took_victim(open(flipped_path, O_WRONLY | O_APPEND | O_CLOEXEC));
}

static enum outcome rewrite_path_of_open(void)
{
	remember_victim();
	prepare_paths("x");
	return race(rewrite_path, open_flipped_path);
}

static enum outcome crowd_rewrites_path(void)
{
	remember_victim();
	prepare_paths("x");
	return race_crowd(rewrite_path, open_flipped_path);
}

/*
 * The caller is another process, which is stopped and goes on again while it waits for its answer,
 * or is interrupted and calls once more. The path is in memory that both have.
 */
struct shared {
	char path[4096];
	atomic_uint calls;
	atomic_bool won;
};

static struct shared *shared;
static pid_t caller;
static int disturbance[2]; /* signals */

static void rewrite_and_disturb(bool side)
{
	memcpy(shared->path, side ? denied_path : allowed_path, sizeof(shared->path));
	kill(caller, disturbance[side]);
}

static bool called_again(void)
{
	const unsigned before = atomic_load(&shared->calls);

	/* The caller may be stopped until the next state. */
	for (int i = 0; i < 100 && atomic_load(&shared->calls) == before; i++)
		sched_yield();
	return atomic_load(&shared->won);
}

static void do_nothing(int signal)
{
	(void)signal;
}

_Noreturn static void call_for_ever(void)
{
	struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &action, NULL);
	for (;;) {
		if (took_victim(open(shared->path, O_WRONLY | O_APPEND | O_CLOEXEC)))
			atomic_store(&shared->won, true);
		atomic_fetch_add(&shared->calls, 1);
	}
}

static enum outcome disturb(int first, int second)
{
	enum outcome outcome;

	remember_victim();
	prepare_paths("x");
	disturbance[0] = first;
	disturbance[1] = second;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		broken("mmap");
	memcpy(shared->path, allowed_path, sizeof(shared->path));
	caller = fork();
	if (caller < 0)
		broken("fork");
	if (caller == 0)
		call_for_ever();
	while (atomic_load(&shared->calls) == 0)
		sched_yield();
	outcome = race(rewrite_and_disturb, called_again);
	printf("# %u calls\n", atomic_load(&shared->calls));
	kill(caller, SIGKILL);
	waitpid(caller, NULL, 0);
	return outcome;
}

static enum outcome stop_the_caller(void)
{
	return disturb(SIGSTOP, SIGCONT);
}

static enum outcome interrupt_the_caller(void)
{
	return disturb(SIGUSR1, SIGUSR1);
}

static bool truncate_flipped_path(void)
{
	struct stat st;

	if (truncate(flipped_path, 1) < 0)
		return false;
	return stat(other("f"), &st) == 0 && st.st_size == 1;
}

static enum outcome rewrite_path_of_truncate(void)
{
	prepare_paths("x");
	return race(rewrite_path, truncate_flipped_path);
}

static struct open_how flipped_how;

static void rewrite_how(bool side)
{
	*(volatile __u64 *)&flipped_how.flags = side ? O_WRONLY | O_APPEND : O_PATH;
}

static bool open_denied_as_flipped(void)
{
	return took_victim(
		(int)syscall(SYS_openat2, AT_FDCWD, other("f"), &flipped_how, sizeof(flipped_how)));
}

static enum outcome rewrite_flags_of_openat2(void)
{
	remember_victim();
	return race(rewrite_how, open_denied_as_flipped);
}

static void rewrite_how_to_make(bool side)
{
	*(volatile __u64 *)&flipped_how.mode = side ? 06755 : 0;
	*(volatile __u64 *)&flipped_how.flags = side ? O_WRONLY | O_CREAT : O_PATH;
}

static bool make_as_flipped(void)
{
	struct stat st;
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, "x", &flipped_how, sizeof(flipped_how));
	bool made = fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID));

	if (fd >= 0)
		close(fd);
	unlink("x");
	return made;
}

static enum outcome rewrite_mode_of_openat2(void)
{
	umask(0);
	return race(rewrite_how_to_make, make_as_flipped);
}

static char *vanishing_page;

static void unmap_and_map(bool side)
{
	if (side)
		munmap(vanishing_page, 4096);
	else if (mmap(vanishing_page, 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == vanishing_page)
		strcpy(vanishing_page, denied_path);
}

static bool open_vanishing_path(void)
{
	return took_victim(open(vanishing_page, O_WRONLY | O_APPEND | O_CLOEXEC));
}

static enum outcome unmap_path_of_open(void)
{
	remember_victim();
	prepare_paths("x");
	vanishing_page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (vanishing_page == MAP_FAILED)
		broken("mmap");
	return race(unmap_and_map, open_vanishing_path);
}

/* --- descriptors and directories that change under a call
 * ------------------------------------------ */

static int own_fd, denied_fd, flipped_fd;

static void rebind_descriptor(bool side)
{
	dup2(side ? denied_fd : own_fd, flipped_fd);
}

static void prepare_descriptors(const char *own, const char *denied)
{
	own_fd = open(own, O_RDONLY | O_CLOEXEC);
	denied_fd = open(denied, O_RDONLY | O_CLOEXEC);
	flipped_fd = dup(own_fd);
	if (own_fd < 0 || denied_fd < 0 || flipped_fd < 0)
		broken("open for reading");
}

static bool open_at_flipped(void)
{
	return took_victim(openat(flipped_fd, "f", O_WRONLY | O_APPEND | O_CLOEXEC));
}

static enum outcome rebind_directory_descriptor(void)
{
	remember_victim();
	prepare_descriptors(".", home("other"));
	return race(rebind_descriptor, open_at_flipped);
}

static bool fchmod_flipped(void)
{
	struct stat st;

	fchmod(flipped_fd, 0600);
	return fstat(denied_fd, &st) == 0 && (st.st_mode & 0777) == 0600;
}

static enum outcome rebind_descriptor_of_fchmod(void)
{
	make_file("x", "x\n");
	prepare_descriptors("x", other("f"));
	return race(rebind_descriptor, fchmod_flipped);
}

static void change_directory(bool side)
{
	if (fchdir(side ? denied_fd : own_fd) < 0)
		broken("fchdir");
}

static bool open_in_directory(void)
{
	return took_victim(open("f", O_WRONLY | O_APPEND | O_CLOEXEC));
}

static enum outcome change_directory_under_open(void)
{
	remember_victim();
	prepare_descriptors(".", home("other"));
	return race(change_directory, open_in_directory);
}

/* --- socket addresses that change in memory
 * ------------------------------------------------------- */

static union {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in inet;
	char bytes[sizeof(struct sockaddr_un)];
} own_address, denied_address, flipped_address;

static void rewrite_address(bool side)
{
	memcpy(flipped_address.bytes, side ? denied_address.bytes : own_address.bytes,
	       sizeof(flipped_address));
}

static bool connect_flipped(int family, socklen_t length)
{
	char greeting[16] = "";
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool reached = false;

	if (fd < 0)
		return false;
	if (connect(fd, &flipped_address.any, length) == 0 || errno == EINPROGRESS) {
		const struct timespec pause = {.tv_nsec = 2000 * 1000};

		nanosleep(&pause, NULL);
		reached = recv(fd, greeting, sizeof(greeting) - 1, 0) > 0 &&
			  strcmp(greeting, "outside\n") == 0;
	}
	close(fd);
	return reached;
}

static bool connect_flipped_unix(void)
{
	return connect_flipped(AF_UNIX, sizeof(struct sockaddr_un));
}

static bool connect_flipped_inet(void)
{
	return connect_flipped(AF_INET, sizeof(struct sockaddr_in));
}

/* A listener of our own, which the sandbox allows and which never greets. */
static void listen_at_own(int family, socklen_t length)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, &own_address.any, length) < 0 || listen(fd, 4096) < 0 ||
	    getsockname(fd, &own_address.any, &length) < 0)
		printf("# no own listener: %s\n", strerror(errno));
}

static enum outcome rewrite_unix_address(void)
{
	own_address.local.sun_family = AF_UNIX;
	snprintf(own_address.local.sun_path, sizeof(own_address.local.sun_path), "socket");
	denied_address.local.sun_family = AF_UNIX;
	snprintf(denied_address.local.sun_path, sizeof(denied_address.local.sun_path), "%s",
		 fact("STREAM"));
	listen_at_own(AF_UNIX, sizeof(struct sockaddr_un));
	snprintf(own_address.local.sun_path, sizeof(own_address.local.sun_path), "socket");
	return race(rewrite_address, connect_flipped_unix);
}

static enum outcome rewrite_inet_address(void)
{
	own_address.inet.sin_family = AF_INET;
	own_address.inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listen_at_own(AF_INET, sizeof(struct sockaddr_in));
	denied_address = own_address;
	denied_address.inet.sin_port = htons((uint16_t)fact_number("PORT"));
	return race(rewrite_address, connect_flipped_inet);
}

/* --- which program is meant; under a policy that denies one of two -----------------------------
 */

static const char allowed_program[] = "./allowed", denied_program[] = ".//denied";
static char flipped_program[sizeof(denied_program)];

static void rewrite_program(bool side)
{
	memcpy(flipped_program, side ? denied_program : allowed_program, sizeof(flipped_program));
}

static void exchange_links(bool side)
{
	(void)side;
	renameat2(AT_FDCWD, "link", AT_FDCWD, "knil", RENAME_EXCHANGE);
}

static bool executes_denied(const char *path)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(path, path, "loot", (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	return exists("loot");
}

static bool execute_flipped(void)
{
	return executes_denied(flipped_program);
}

static bool execute_link(void)
{
	return executes_denied("link");
}

int exec_race_main(const char *how)
{
	rewrite_program(false);
	if (strcmp(how, "write") == 0)
		return (int)race_crowd(rewrite_program, execute_flipped);
	if (symlink("allowed", "link") < 0 || symlink("denied", "knil") < 0)
		broken("symlink");
	return (int)race_crowd(exchange_links, execute_link);
}

const struct escape_case race_cases[] = {
	{"A031a", "swap a directory and a symlink under a read", swap_symlink_under_read},
	{"A031b", "swap a directory and a symlink under a write", swap_symlink_under_write},
	{"A031c", "swap a directory and a symlink under a create", swap_symlink_under_create},
	{"A031d", "swap a directory and a symlink under an unlink", swap_symlink_under_unlink},
	{"A031e", "swap a directory and a symlink under a rename", swap_symlink_under_rename},
	{"A031f", "swap a directory and a symlink under a chmod", swap_symlink_under_chmod},
	{"A031g", "swap a file and a symlink under a write", swap_last_component},
	{"A031h", "move a directory under a path with ..", move_directory_under_dotdot},
	{"A031i", "exchange a file and a directory under a rename", exchange_under_rename},
	{"A067a", "rewrite the path during open", rewrite_path_of_open},
	{"A067b", "rewrite the path during truncate", rewrite_path_of_truncate},
	{"A067c", "rebind the directory descriptor during openat", rebind_directory_descriptor},
	{"A067d", "rebind the descriptor during fchmod", rebind_descriptor_of_fchmod},
	{"A067e", "change the working directory during open", change_directory_under_open},
	{"A067f", "rewrite a unix address during connect", rewrite_unix_address},
	{"A067g", "rewrite an internet address during connect", rewrite_inet_address},
	{"A067h", "rewrite the flags during openat2", rewrite_flags_of_openat2},
	{"A067i", "rewrite the mode during openat2", rewrite_mode_of_openat2},
	{"A031j", "swap a directory and a symlink under writes, in 16 threads",
	 crowd_swaps_symlinks},
	{"A031k", "rename directories about under writes, in 16 threads", crowd_storms},
	{"A067j", "rewrite the path during open, in 16 threads", crowd_rewrites_path},
	{"A070c", "stop the caller while the path is rewritten", stop_the_caller},
	{"A070d", "interrupt the caller while the path is rewritten", interrupt_the_caller},
	{"A068", "unmap the path during open", unmap_path_of_open},
	{0},
};
