/* SPDX-License-Identifier: Apache-2.0 */
#include "live/world.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"
#include "base/banned.h"

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#endif

enum {
	AT_RECURSIVE_ = 0x8000,
	SYS_mount_setattr_ = 442, /* 5.12 */
	ENTRIES_MAX = 1000,       /* of one folder of the host */
	TERMINALS_MAX = 64,
};

static int fail(struct world *world, const char *what)
{
	world->failed = what;
	return -1;
}

/* ---- Namespaces ---- */

static int write_file(const char *path, const char *text)
{
	int cleanup_fd fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : io_write_full(fd, text, strlen(text));
}

/* The same ids as before: an ordinary user stays one. */
static int map_ids(uid_t uid, gid_t gid)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%u %u 1\n", uid, uid);
	if (write_file("/proc/self/uid_map", line) < 0 ||
	    write_file("/proc/self/setgroups", "deny") < 0)
		return -1;
	(void)snprintf(line, sizeof(line), "%u %u 1\n", gid, gid);
	return write_file("/proc/self/gid_map", line);
}

static int unshare_all(int flags)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (uid == 0 && unshare(flags) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | flags) < 0 || map_ids(uid, gid) < 0)
		return -1;
	/* The capabilities it has there made this process one nobody looks into: the broker must.
	 */
	return prctl(PR_SET_DUMPABLE, 1);
}

static int bring_up_loopback(void)
{
	int cleanup_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

	/* So that low ports are no matter of privilege. Where it cannot be had, controls fail. */
	(void)write_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
	return fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &request);
}

/* ---- Mounts ---- */

static int clone_tree(int dirfd, const char *path)
{
	return (int)syscall(SYS_open_tree, dirfd, path,
			    OPEN_TREE_CLONE | O_CLOEXEC | AT_SYMLINK_NOFOLLOW | AT_RECURSIVE_);
}

static int attach(int tree, int dirfd, const char *name)
{
	return (int)syscall(SYS_move_mount, tree, "", dirfd, name, MOVE_MOUNT_F_EMPTY_PATH);
}

static int make_read_only(int tree)
{
	struct {
		uint64_t set, clear, propagation, userns_fd;
	} attr = {.set = 1 /* MOUNT_ATTR_RDONLY */};

	return (int)syscall(SYS_mount_setattr_, tree, "", AT_EMPTY_PATH | AT_RECURSIVE_, &attr,
			    sizeof(attr));
}

static int bind_read_only(int host, const char *name, int here)
{
	int cleanup_fd tree = clone_tree(host, name);

	return tree < 0 || make_read_only(tree) < 0 ? -1 : attach(tree, here, name);
}

/* ---- Folders of the host ---- */

static int copy_link(int host, const char *name, int here)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(host, name, text, sizeof(text) - 1);

	if (n < 0)
		return -1;
	text[n] = '\0';
	return symlinkat(text, here, name);
}

/* What cannot be had of the host is left out, or stays empty. */
static void take_entry(int host, const char *name, int here)
{
	struct stat st;

	if (fstatat(host, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISLNK(st.st_mode))
		(void)copy_link(host, name, here);
	else if (S_ISDIR(st.st_mode) && mkdirat(here, name, st.st_mode & 07777) == 0)
		(void)bind_read_only(host, name, here);
}

/* Fills HERE, the world's own, with the folders and links of HOST, but for EXCEPT. */
static void take_entries(int host, int here, const char *except)
{
	int fd = openat(host, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	for (int n = 0; n < ENTRIES_MAX && (entry = readdir(dir)); n++)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, except) != 0)
			take_entry(host, entry->d_name, here);
	(void)closedir(dir);
}

static mode_t mode_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? (st.st_mode & 07777) | 0700 : 0755;
}

/*
 * One step down the way to an object: the folder NAME of *HERE, and of *HOST (-1: the host has none
 * there) if it is there, is made anew.
 */
static int step(int *host, int *here, const char *name)
{
	int below =
		*host < 0 ? -1 : openat(*host, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int made;

	if (mkdirat(*here, name, mode_of(below)) < 0 && errno != EEXIST) {
		fd_close(&below);
		return -1;
	}
	made = openat(*here, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	fd_close(host);
	fd_close(here);
	*host = below;
	*here = made;
	return made < 0 ? -1 : 0;
}

/*
 * Makes the folders on the way to PATH. *RET_HERE and *RET_HOST are the last of them, in the world
 * and on the host (-1: it has none), *RET_NAME the last component.
 */
static int reach(struct world *world, const char *path, int *ret_here, int *ret_host,
		 char ret_name[NAME_MAX + 1])
{
	int here = fcntl(world->root, F_DUPFD_CLOEXEC, 0);
	int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool own = strncmp(path, "/dev/", 5) == 0; /* the host has no say */

	if (here < 0 || host < 0)
		goto failed;
	for (;;) {
		size_t n = strcspn(++path, "/");

		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			goto failed;
		}
		(void)snprintf(ret_name, NAME_MAX + 1, "%.*s", (int)n, path);
		if (host >= 0)
			take_entries(host, here, ret_name);
		if (own)
			fd_close(&host);
		path += n;
		if (!*path)
			break;
		if (step(&host, &here, ret_name) < 0)
			goto failed;
	}
	*ret_here = here;
	*ret_host = host;
	return 0;
failed:
	fd_close(&here);
	fd_close(&host);
	return -1;
}

/* ---- /dev ---- */

static int place_device(int here, const char *name, unsigned major_, unsigned minor_)
{
	int cleanup_fd fd = -1;
	int cleanup_fd tree = -1;
	char host[64];

	if (mknodat(here, name, S_IFCHR | 0666, makedev(major_, minor_)) == 0)
		return fchmodat(here, name, 0666, 0);
	/* In a user namespace the host's own, mounted: what has no name there is the null device.
	 */
	(void)snprintf(host, sizeof(host), "/dev/%.40s",
		       major_ == 1 && minor_ == 3 ? "null" : name);
	tree = clone_tree(AT_FDCWD, host);
	if (tree < 0 || make_read_only(tree) < 0)
		return -1;
	fd = openat(here, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : attach(tree, here, name);
}

static const struct {
	const char *name;
	unsigned major, minor;
} devices[] = {
	{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
	{"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0},
};

static int make_dev(struct world *world)
{
	static const struct {
		const char *name, *text;
	} links[] = {
		{"fd", "/proc/self/fd"},
		{"stdin", "/proc/self/fd/0"},
		{"stdout", "/proc/self/fd/1"},
		{"stderr", "/proc/self/fd/2"},
	};

	if (mkdirat(world->root, "dev", 0755) < 0)
		return -1;
	world->dev = openat(world->root, "dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (world->dev < 0 || mkdirat(world->dev, "pts", 0755) < 0 ||
	    mkdirat(world->dev, "shm", 01777) < 0 || fchmodat(world->dev, "shm", 01777, 0) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (place_device(world->dev, devices[i].name, devices[i].major, devices[i].minor) <
		    0)
			return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlinkat(links[i].text, world->dev, links[i].name) < 0)
			return -1;
	return 0;
}

/* Terminals of the world's own, so that any of them can be had by number. */
static int mount_terminals(struct world *world)
{
	int cleanup_fd tree = -1;

	if (fchdir(world->dev) < 0 ||
	    mount("devpts", "pts", "devpts", MS_NOSUID | MS_NOEXEC, "mode=620,ptmxmode=666") < 0)
		return -1;
	tree = clone_tree(world->dev, "pts/ptmx");
	if (tree < 0 || mknodat(world->dev, "ptmx", S_IFREG | 0600, 0) < 0)
		return -1;
	return attach(tree, world->dev, "ptmx");
}

/* Opens terminals until NAME is one. They stay open as long as this process. */
static int make_terminal(struct world *world, const char *name)
{
	struct stat st;
	const int unlocked = 0;

	if (fchdir(world->dev) < 0)
		return -1;
	for (int i = 0; i < TERMINALS_MAX; i++) {
		char path[NAME_MAX + 8];
		int fd;

		(void)snprintf(path, sizeof(path), "pts/%s", name);
		if (stat(path, &st) == 0)
			return 0;
		fd = open("pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (fd < 0 || ioctl(fd, TIOCSPTLCK, &unlocked) < 0)
			return -1;
	}
	errno = ENOENT;
	return -1;
}

/* ---- Objects ---- */

/* exit(EXECUTED), in the words of each machine. */
#if defined(__x86_64__)
static const unsigned char machine_code[] = {
	0xbf, EXECUTED, 0, 0, 0, /* mov edi, EXECUTED */
	0xb8, 60,       0, 0, 0, /* mov eax, SYS_exit */
	0x0f, 0x05,              /* syscall */
};
#define ELF_MACHINE EM_X86_64
#elif defined(__aarch64__)
static const uint32_t machine_code[] = {
	0xd2800000u | EXECUTED << 5, /* mov x0, EXECUTED */
	0xd2800ba8u,                 /* mov x8, SYS_exit */
	0xd4000001u,                 /* svc 0 */
};
#define ELF_MACHINE EM_AARCH64
#endif

/* The smallest program there is: it needs no loader and no library. */
int world_write_executable(int object)
{
	enum {
		ADDRESS = 0x400000
	};
	const struct {
		Elf64_Ehdr file;
		Elf64_Phdr segment;
		unsigned char code[sizeof(machine_code)];
	} header = {
		.file = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = ELF_MACHINE,
			 .e_version = EV_CURRENT,
			 .e_entry = ADDRESS + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1},
		.segment = {.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_vaddr = ADDRESS,
			    .p_filesz =
				    sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + sizeof(machine_code),
			    .p_memsz =
				    sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + sizeof(machine_code),
			    .p_align = 0x1000},
	};
	const size_t at = sizeof(header.file) + sizeof(header.segment);

	if (io_write_full(object, &header, at) < 0)
		return -1;
	return io_write_full(object, machine_code, sizeof(machine_code));
}

static int place_file(int here, const char *name, const struct deed *deed)
{
	int cleanup_fd fd = openat(here, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	if (acts[deed->act].flags & ACT_EXEC)
		return world_write_executable(fd);
	return io_write_full(fd, "text\n", 5);
}

static int place_node(int here, const char *name, mode_t type)
{
	return mknodat(here, name, type | 0600, 0);
}

static int place_directory(int here, int host, const char *name, const struct deed *deed)
{
	int cleanup_fd below = -1;
	int cleanup_fd made = -1;

	if (mkdirat(here, name, 0700) < 0)
		return -1;
	below = host < 0 ? -1 : openat(host, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	made = openat(here, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (below >= 0 && made >= 0 && acts[deed->act].run != act_unlink)
		take_entries(below, made, "");
	/* For an act that lists it; those that remove it want it empty. */
	return made < 0 || (acts[deed->act].run == act_read &&
			    place_node(made, "entry", S_IFREG) < 0)
		       ? -1
		       : 0;
}

static int place_kind(int here, int host, const char *name, const struct deed *deed)
{
	switch (deed->kind) {
	case KIND_FILE:
		return place_file(here, name, deed);
	case KIND_DIRECTORY:
		return place_directory(here, host, name, deed);
	case KIND_SYMLINK:
		return symlinkat("nowhere", here, name);
	case KIND_FIFO:
		return place_node(here, name, S_IFIFO);
	case KIND_SOCKET:
		return place_node(here, name, S_IFSOCK);
	case KIND_CHARACTER: /* whatever it is on the host: it is opened */
		return place_device(here, name, 1, 3);
	case KIND_BLOCK:
		return mknodat(here, name, S_IFBLK | 0600, makedev(1, 3));
	case KIND_NONE:
	case KIND_COUNT:
		break;
	}
	return 0;
}

/* Gives what is there its mode, and the attribute that is asked for. */
static int complete(int here, const char *name, const struct deed *deed)
{
	const struct act *act = &acts[deed->act];

	if (deed->kind == KIND_SYMLINK)
		return 0;
	if (!(act->flags & ACT_SETS_MODE) && fchmodat(here, name, deed->mode & 07777, 0) < 0 &&
	    errno != EROFS)
		return -1;
	if (act->run != act_get_xattr)
		return 0;
	return fchdir(here) < 0 ? -1 : setxattr(name, deed->xattr, "x", 1, 0);
}

/* Is it there already, with the world? */
static bool is_standing(const char *path)
{
	if (strncmp(path, "/dev/pts", 8) == 0 || strcmp(path, "/dev") == 0 ||
	    strcmp(path, "/dev/shm") == 0 || strcmp(path, "/dev/ptmx") == 0 ||
	    strcmp(path, "/") == 0)
		return true;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (strncmp(path, "/dev/", 5) == 0 && strcmp(path + 5, devices[i].name) == 0)
			return true;
	return false;
}

int world_place(struct world *world, const struct deed *deed)
{
	int cleanup_fd here = -1;
	int cleanup_fd host = -1;
	char name[NAME_MAX + 1];

	if (strncmp(deed->path, "/proc", 5) == 0 || strncmp(deed->path, "/sys/", 5) == 0)
		return reach(world, "/x", &here, &host, name); /* the host's, as it is */
	if (reach(world, deed->path[1] ? deed->path : "/x", &here, &host, name) < 0)
		return fail(world, "could not make the way to it");
	if (strncmp(deed->path, "/dev/pts/", 9) == 0 && make_terminal(world, deed->path + 9) < 0)
		return fail(world, "could not make the terminal");
	if (deed->kind == KIND_NONE || is_standing(deed->path) ||
	    (acts[deed->act].flags & (ACT_MAKES | ACT_NET)))
		return 0;
	if (place_kind(here, host, name, deed) < 0 || complete(here, name, deed) < 0)
		return fail(world, "could not make it");
	return 0;
}

/* ---- The whole ---- */

static int make_kit(struct world *world, const struct kit *kit)
{
	int cleanup_fd folder = -1;

	if (mkdirat(world->root, &WORLD_KIT[1], 0755) < 0)
		return -1;
	folder = openat(world->root, &WORLD_KIT[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? -1 : kit_copy(kit, folder);
}

int world_begin(struct world *ret, unsigned flags, const struct kit *kit)
{
	static const char place[] = "/proc"; /* everybody has it, and it is the only one copied */

	*ret = (struct world){-1, -1, -1, NULL};
	if (unshare_all(CLONE_NEWNS | (flags & ACT_NET ? CLONE_NEWNET : 0) |
			(flags & ACT_IPC ? CLONE_NEWIPC : 0)) < 0)
		return fail(ret, "could not enter namespaces");
	if ((flags & ACT_NET) && bring_up_loopback() < 0)
		return fail(ret, "could not bring up a loopback interface");
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail(ret, "could not mount");
	ret->proc = clone_tree(AT_FDCWD, place);
	if (ret->proc < 0 || mount("lapbelt", place, "tmpfs", 0, "mode=755") < 0)
		return fail(ret, "could not mount");
	ret->root = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->root < 0 || mkdirat(ret->root, "proc", 0755) < 0)
		return fail(ret, "could not make a root");
	if (make_dev(ret) < 0)
		return fail(ret, "could not make devices");
	if (mount_terminals(ret) < 0)
		return fail(ret, "could not mount terminals");
	return make_kit(ret, kit) < 0 ? fail(ret, "could not copy what the helper is made of") : 0;
}

int world_enter(struct world *world)
{
	if (attach(world->proc, world->root, "proc") < 0 || fchdir(world->root) < 0 ||
	    syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return fail(world, "could not enter the world");
	fd_close(&world->proc);
	fd_close(&world->root);
	fd_close(&world->dev);
	return 0;
}
