/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads against the moment between check and use: one flips something between an allowed and
 * a denied state, the other makes the call, over and over.
 */
#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define RACE_SECONDS 1

static atomic_bool race_over;

static void *flip_until_over(void *argument)
{
	void (**flip)(bool) = argument;

	for (bool side = false; !atomic_load(&race_over); side = !side)
		(*flip)(side);
	return NULL;
}

static bool time_is_up(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > start->tv_sec + RACE_SECONDS ||
	       (now.tv_sec == start->tv_sec + RACE_SECONDS && now.tv_nsec > start->tv_nsec);
}

/* Calls attempt() beside flip(false), flip(true), … until it comes through or time is up. */
static enum outcome race(void (*flip)(bool), bool (*attempt)(void))
{
	struct timespec start;
	pthread_t thread;
	bool won = false;
	unsigned tries = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (pthread_create(&thread, NULL, flip_until_over, &flip) != 0)
		broken("pthread_create");
	while (!won && !time_is_up(&start)) {
		won = attempt();
		tries++;
	}
	atomic_store(&race_over, true);
	pthread_join(thread, NULL);
	printf("# %u tries\n", tries);
	return won ? ESCAPED : CONTAINED;
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
	{"A068", "unmap the path during open", unmap_path_of_open},
	{0},
};
