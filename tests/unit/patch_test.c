/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lane writes into a C library: calls that are made by it come out as before. Outside of a
 * sandbox the mark means nothing, so this shows no more than that; tests/e2e/lane.sh shows the
 * rest.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "lane/patch.h"
#include "test.h"

/* sites_CPU.S */
extern unsigned char sites[], sites_end[];
long site_open(int dir, const char *path, int flags, mode_t mode);
long site_link(int dir, const char *path, int new_dir, const char *new_path, int flags);
long site_enter(void);
long site_keeps(int dir, const char *path);

static const int opens[] = {SYS_openat, -1}, links[] = {SYS_linkat, -1};
static const int both[] = {SYS_linkat, SYS_openat, -1}, others[] = {SYS_unlinkat, -1};
static unsigned char *found[2];

static void sites_are_found(void)
{
	found[0] = lane_find(sites, sites_end, both);
	CHECK(found[0] && found[0] == lane_find(sites, sites_end, opens));
	if (!found[0])
		return;
	found[1] = lane_find(found[0] + lane_site_size, sites_end, both);
	CHECK(found[1] && found[1] == lane_find(sites, sites_end, links));
	CHECK(!lane_find(found[0] + lane_site_size, sites_end, opens));
	CHECK(!lane_find(sites, sites_end, others));
	CHECK(!lane_find(sites, found[0], both));
}

/* What is written is the test's own code, as far as pages go. */
static bool protect(int protection)
{
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)sites, end = ((uintptr_t)sites_end + size - 1) & -size;

	return mprotect(lane_slots, LANE_SLOTS_SIZE, protection) == 0 &&
	       mprotect((void *)begin, end - begin, protection) == 0;
}

static void sites_are_written(void)
{
	CHECK(found[0] && found[1] && protect(PROT_READ | PROT_WRITE));
	if (test_failures_here)
		return;
	for (size_t i = 0; i < 2; i++)
		CHECK(lane_write_slot(i, found[i]));
	lane_written(lane_slots, lane_slots + 2 * lane_slot_size);
	for (size_t i = 0; i < 2; i++) {
		lane_write_site(i, found[i]);
		lane_written(found[i], found[i] + lane_site_size);
	}
	CHECK(!lane_find(sites, sites_end, both));
	CHECK(protect(PROT_READ | PROT_EXEC));
}

static void far_sites_are_refused(void)
{
	const unsigned char *zero = NULL;

	CHECK(!lane_write_slot(2, zero + 4096));
}

static void calls_come_out(void)
{
	long fd = site_open(AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	char path[64];

	CHECK(fd >= 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%ld", fd);
	CHECK(fcntl((int)fd, F_GETFD) == FD_CLOEXEC);
	close((int)fd);
	CHECK_INT(site_open(AT_FDCWD, "/no/such", O_RDONLY, 0), -ENOENT);
	CHECK_INT(site_open(-1, "such", O_RDONLY, 0), -EBADF);
	CHECK_INT(site_enter(), getpid());
	/* Refusals, and the pause after them. */
	for (int i = 0; i < 100; i++)
		CHECK_INT(site_link(AT_FDCWD, "/proc/self/status", AT_FDCWD, "/dev/x", 0), -EXDEV);
	fd = site_open(AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	CHECK(fd >= 0);
	close((int)fd);
}

static void registers_stay(void)
{
	CHECK_INT(site_keeps(AT_FDCWD, "/no/such"), 0);
	for (int i = 0; i < 100; i++)
		CHECK_INT(site_keeps(AT_FDCWD, "/dev/null"), 0);
}

/* ---- Unwinding, which a thread that is cancelled in such a call depends on ---- */

static void *frames[64];
static int n_frames;
static volatile sig_atomic_t alarmed;

static void look_around(int number)
{
	(void)number;
	n_frames = backtrace(frames, 64);
	alarmed = 1;
}

__attribute__((noinline)) static long block(const char *path)
{
	long r = site_open(AT_FDCWD, path, O_WRONLY, 0);

	__asm__ volatile("" : : : "memory"); /* no tail call */
	return r;
}

static void unwinding_goes_on_behind_the_site(void)
{
	struct sigaction action = {.sa_handler = look_around};
	struct itimerval soon = {.it_value = {.tv_usec = 50000}, .it_interval = {.tv_usec = 50000}};
	const struct itimerval never = {0};
	char path[] = "/tmp/patch-test.XXXXXX";
	bool site = false, caller = false;

	n_frames = backtrace(frames, 64); /* loads what it needs */
	CHECK(mkdtemp(path) && chdir(path) == 0 && mkfifo("fifo", 0600) == 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	CHECK_INT(block("fifo"), -EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK(alarmed);
	for (int i = 0; i < n_frames; i++) {
		const unsigned char *at = frames[i];

		site |= at >= found[0] && at < found[0] + 16;
		caller |= site && at >= (const unsigned char *)(uintptr_t)block &&
			  at < (const unsigned char *)(uintptr_t)block + 256;
	}
	CHECK(site);
	CHECK(caller);
	CHECK(unlink("fifo") == 0 && chdir("/") == 0 && rmdir(path) == 0);
}

int main(void)
{
	CHECK_INT(site_keeps(AT_FDCWD, "/dev/null"), 0);
	CHECK_INT(site_enter(), getpid());
	RUN(sites_are_found);
	RUN(sites_are_written);
	RUN(far_sites_are_refused);
	RUN(calls_come_out);
	RUN(registers_stay);
	RUN(unwinding_goes_on_behind_the_site);
	return test_done();
}
