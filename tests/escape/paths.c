/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching files that the policy denies: secrets by another name, files outside by any call. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <unistd.h>

/* --- reading secrets ----------------------------------------------------------------------- */

static enum outcome read_by_name(void)
{
	return reads_secret(home(".ssh/id"));
}

static enum outcome read_relative_after_chdir(void)
{
	if (chdir(home(".ssh")) < 0)
		return came_through(-1);
	return reads_secret("id");
}

static enum outcome read_through_proc_root(void)
{
	return reads_secret(text("/proc/self/root%s", home(".ssh/id")));
}

static enum outcome read_through_symlink(void)
{
	if (symlink(home(".ssh/id"), "link") < 0)
		return came_through(-1);
	return reads_secret("link");
}

static enum outcome read_through_directory_symlink(void)
{
	if (symlink("../.ssh", "dir") < 0)
		return came_through(-1);
	return reads_secret("dir/id");
}

static enum outcome read_through_hard_link(void)
{
	if (link(home(".ssh/id"), "x") < 0)
		return came_through(-1);
	return reads_secret("x");
}

static int pin(const char *path)
{
	return open(path, O_PATH | O_CLOEXEC);
}

static enum outcome link_pinned_file(void)
{
	int fd = pin(home(".ssh/id"));

	if (linkat(fd, "", AT_FDCWD, "x", AT_EMPTY_PATH) < 0) {
		if (geteuid() != 0 && (errno == ENOENT || errno == EPERM))
			return untried(
				"kernel lacks linking an O_PATH descriptor without a capability");
		return came_through(-1);
	}
	return reads_secret("x");
}

static const char *proc_fd(int fd)
{
	return text("/proc/self/fd/%d", fd);
}

static enum outcome link_through_proc(void)
{
	int fd = pin(home(".ssh/id"));

	if (linkat(AT_FDCWD, proc_fd(fd), AT_FDCWD, "x", AT_SYMLINK_FOLLOW) < 0)
		return came_through(-1);
	return reads_secret("x");
}

static enum outcome reopen_pinned_file(void)
{
	return reads_secret(proc_fd(pin(home(".ssh/id"))));
}

static enum outcome rename_secret_into_ws(void)
{
	if (rename(home(".aws"), "aws") < 0)
		return came_through(-1);
	return reads_secret("aws/credentials");
}

static enum outcome rename_ancestor_of_secret(void)
{
	if (rename(home(".config"), "config") < 0)
		return came_through(-1);
	return reads_secret("config/gh/hosts.yml");
}

static enum outcome exchange_secret_with_own(void)
{
	make_dir("mine");
	if (renameat2(AT_FDCWD, "mine", AT_FDCWD, home(".aws"), RENAME_EXCHANGE) < 0)
		return came_through(-1);
	return reads_secret("mine/credentials");
}

struct handle {
	struct file_handle head;
	unsigned char bytes[MAX_HANDLE_SZ];
};

static enum outcome open_secret_by_handle(void)
{
	struct handle handle = {.head.handle_bytes = MAX_HANDLE_SZ};
	int mount_id, fd;
	int mount = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (name_to_handle_at(AT_FDCWD, home(".ssh/id"), &handle.head, &mount_id, 0) < 0)
		return untried("the file system has no file handles");
	fd = open_by_handle_at(mount, &handle.head, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return came_through(-1);
	return reads_secret_fd(fd);
}

/* --- writing outside ------------------------------------------------------------------------ */

static enum outcome write_existing(void)
{
	return writes(other("f"), O_WRONLY | O_APPEND);
}

static enum outcome create_outside(void)
{
	return writes(home("new"), O_WRONLY | O_CREAT | O_EXCL);
}

static enum outcome create_by_dotdot(void)
{
	return writes("../new", O_WRONLY | O_CREAT | O_EXCL);
}

static enum outcome create_through_dangling_symlink(void)
{
	if (symlink(home("new"), "link") < 0)
		return came_through(-1);
	return writes("link", O_WRONLY | O_CREAT);
}

static enum outcome write_through_directory_symlink(void)
{
	if (symlink("../other", "dir") < 0)
		return came_through(-1);
	return writes("dir/f", O_WRONLY | O_APPEND);
}

static enum outcome write_through_hard_link(void)
{
	if (link(other("f"), "x") < 0)
		return came_through(-1);
	return writes("x", O_WRONLY | O_APPEND);
}

static enum outcome make_directory_outside(void)
{
	return came_through(mkdir(other("d"), 0755));
}

static enum outcome remove_outside(void)
{
	return came_through(unlink(other("f")));
}

static enum outcome rename_outside(void)
{
	return came_through(rename(other("f"), other("g")));
}

static enum outcome rename_into_ws(void)
{
	return came_through(rename(other("f"), "stolen"));
}

static enum outcome rename_out_of_ws(void)
{
	make_file("x", "x\n");
	return came_through(rename("x", other("x")));
}

static enum outcome rename_ws_itself(void)
{
	return came_through(rename(home("ws"), home("ws2")));
}

static enum outcome truncate_outside(void)
{
	return came_through(truncate(other("f"), 0));
}

static enum outcome truncate_by_read_open(void)
{
	return came_through(open(other("f"), O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static enum outcome tmpfile_outside(void)
{
	return came_through(open(home("other"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
}

static enum outcome bind_socket_outside(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return came_through(-1);
	if (chdir(home("other")) < 0)
		broken("chdir");
	strcpy(address.sun_path, "socket");
	return came_through(bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int read_only(void)
{
	int fd = open(other("f"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		broken("open for reading");
	return fd;
}

static enum outcome reopen_for_writing(void)
{
	return writes(proc_fd(read_only()), O_WRONLY | O_APPEND);
}

static enum outcome reopen_by_dev_fd(void)
{
	return writes(text("/dev/fd/%d", read_only()), O_WRONLY | O_APPEND);
}

static enum outcome make_descriptor_writable(void)
{
	int fd = read_only();

	if (fcntl(fd, F_SETFL, O_RDWR) < 0)
		return came_through(-1);
	return came_through(write(fd, "escaped\n", 8));
}

/* --- metadata of files outside --------------------------------------------------------------- */

static enum outcome chmod_outside(void)
{
	return came_through(chmod(other("f"), 0600));
}

static enum outcome fchmod_outside(void)
{
	return came_through(fchmod(read_only(), 0600));
}

static enum outcome chmod_through_proc(void)
{
	return came_through(chmod(proc_fd(pin(other("f"))), 0600));
}

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static enum outcome chmod_pinned(void)
{
	long result = syscall(SYS_fchmodat2, pin(other("f")), "", 0600, AT_EMPTY_PATH);

	if (result < 0 && errno == ENOSYS)
		return untried("kernel lacks fchmodat2");
	return came_through(result);
}

static enum outcome chown_outside(void)
{
	return came_through(chown(other("f"), geteuid(), getegid()));
}

static enum outcome fchown_outside(void)
{
	return came_through(fchown(read_only(), geteuid(), getegid()));
}

static enum outcome fchown_pinned(void)
{
	return came_through(fchownat(pin(other("f")), "", geteuid(), getegid(), AT_EMPTY_PATH));
}

static enum outcome touch_outside(void)
{
	const struct timeval times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	return came_through(utimes(other("f"), times));
}

static enum outcome futimens_outside(void)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	return came_through(futimens(read_only(), times));
}

static enum outcome touch_now_outside(void)
{
	return came_through(utimensat(AT_FDCWD, other("f"), NULL, 0));
}

static enum outcome attribute_result(int result)
{
	if (result < 0 && errno == EOPNOTSUPP)
		return untried("the file system has no user attributes");
	return came_through(result);
}

static enum outcome setxattr_outside(void)
{
	return attribute_result(setxattr(other("f"), "user.x", "1", 1, 0));
}

static enum outcome fsetxattr_outside(void)
{
	return attribute_result(fsetxattr(read_only(), "user.x", "1", 1, 0));
}

static enum outcome removexattr_outside(void)
{
	int result = removexattr(other("f"), "user.there");

	if (result < 0 && errno == ENODATA)
		return untried("the file system has no user attributes");
	return attribute_result(result);
}

/* Inode flags change through a descriptor that is only open for reading. */
static enum outcome set_inode_flags_outside(void)
{
	int flags;
	int fd = read_only();

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return untried("the file system has no inode flags");
	flags |= FS_NODUMP_FL;
	return came_through(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

/* --- files that must not exist, even in the working directory -------------------------------- */

static enum outcome is_setuid(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & S_ISUID))
		return ESCAPED;
	printf("# not setuid\n");
	return CONTAINED;
}

static enum outcome setuid_by_chmod(void)
{
	make_file("x", "x\n");
	if (chmod("x", 06755) < 0)
		return came_through(-1);
	return is_setuid("x");
}

static enum outcome setuid_by_fchmod(void)
{
	int fd;

	make_file("x", "x\n");
	fd = open("x", O_RDONLY | O_CLOEXEC);
	if (fchmod(fd, 04755) < 0)
		return came_through(-1);
	return is_setuid("x");
}

static enum outcome setuid_by_open(void)
{
	umask(0);
	if (open("x", O_WRONLY | O_CREAT | O_CLOEXEC, 06755) < 0)
		return came_through(-1);
	return is_setuid("x");
}

#ifdef SYS_creat
static enum outcome setuid_by_creat(void)
{
	umask(0);
	if (syscall(SYS_creat, "x", 04755) < 0)
		return came_through(-1);
	return is_setuid("x");
}
#endif

static enum outcome setuid_by_openat2(void)
{
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 04755};

	umask(0);
	if (syscall(SYS_openat2, AT_FDCWD, "x", &how, sizeof(how)) < 0)
		return came_through(-1);
	return is_setuid("x");
}

static enum outcome setuid_by_mknod(void)
{
	umask(0);
	if (mknod("x", S_IFREG | 04755, 0) < 0)
		return came_through(-1);
	return is_setuid("x");
}

static enum outcome setuid_by_tmpfile(void)
{
	int fd;

	umask(0);
	fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 04755);
	if (fd < 0 || linkat(AT_FDCWD, proc_fd(fd), AT_FDCWD, "x", AT_SYMLINK_FOLLOW) < 0)
		return came_through(-1);
	return is_setuid("x");
}

static enum outcome is_device(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
		return ESCAPED;
	printf("# not a device\n");
	return CONTAINED;
}

static enum outcome make_char_device(void)
{
	if (mknod("x", S_IFCHR | 0666, makedev(1, 3)) < 0)
		return came_through(-1);
	return is_device("x");
}

static enum outcome make_block_device(void)
{
	if (mknod("x", S_IFBLK | 0666, makedev(7, 0)) < 0)
		return came_through(-1);
	return is_device("x");
}

/* Anybody may make the one device 0:0, which overlay file systems use as a white-out. */
static enum outcome make_whiteout(void)
{
	if (mknod("x", S_IFCHR | 0666, makedev(0, 0)) < 0)
		return came_through(-1);
	return is_device("x");
}

static enum outcome make_whiteout_by_rename(void)
{
	make_file("x", "x\n");
	if (renameat2(AT_FDCWD, "x", AT_FDCWD, "y", RENAME_WHITEOUT) < 0) {
		if (errno == EINVAL)
			return untried("the file system has no white-outs");
		return came_through(-1);
	}
	return is_device("x");
}

/* --- what programs outside run, and files that are open already ------------------------------- */

/* Makes PATH below HOME with all directories above it. */
static enum outcome plant(const char *path)
{
	char at[256];

	for (const char *end = path; (end = strchr(end, '/')); end++) {
		snprintf(at, sizeof(at), "%.*s", (int)(end - path), path);
		if (mkdir(home(at), 0755) < 0 && errno != EEXIST)
			return came_through(-1);
	}
	return writes(home(path), O_WRONLY | O_CREAT);
}

static enum outcome plant_tools(void)
{
	static const char *const tools[] = {".local/bin/python3",
					    ".cargo/bin/cargo",
					    "go/bin/gopls",
					    ".nvm/versions/node/v22.0.0/bin/node",
					    ".pyenv/shims/python",
					    ".npm-global/bin/npm",
					    ".local/share/pipx/venvs/x/bin/x",
					    "bin/ls"};

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (plant(tools[i]) == ESCAPED)
			return ESCAPED;
	return CONTAINED;
}

/* A program outside uses a name in /tmp that can be guessed. */
static enum outcome plant_in_tmp(void)
{
	if (symlink(home(".ssh/id"), fact("PLANTED")) < 0)
		return came_through(-1);
	return outsider_saw("planted");
}

/* Open for writing and mapped while that was allowed; then it gets a protected name. */
static enum outcome write_through_old_mapping(void)
{
	char *map;
	int fd;

	make_file("x", "nothing\n");
	fd = open("x", O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || map == MAP_FAILED)
		broken("mmap");
	if (rename("x", ".mcp.json") < 0)
		return came_through(-1);
	memcpy(map, "planted", 7);
	return file_has(".mcp.json", "planted") ? ESCAPED : CONTAINED;
}

const struct escape_case path_cases[] = {
	{"A022", "plant a tool where programs outside look for it", plant_tools},
	{"A029", "plant a link in the /tmp of outside", plant_in_tmp},
	{"A040", "write a protected file through an old mapping", write_through_old_mapping},
	{"A030a", "read a secret by its name", read_by_name},
	{"A030b", "read a secret from its own directory", read_relative_after_chdir},
	{"A030c", "read a secret through /proc/self/root", read_through_proc_root},
	{"A030d", "read a secret through a new symlink", read_through_symlink},
	{"A030e", "read a secret through a symlinked directory", read_through_directory_symlink},
	{"A034a", "rename the secret's directory into the working directory",
	 rename_secret_into_ws},
	{"A034b", "rename an ancestor of a secret", rename_ancestor_of_secret},
	{"A034c", "exchange a secret with an own directory", exchange_secret_with_own},
	{"A034d", "rename the working directory itself", rename_ws_itself},
	{"A037a", "hard-link a secret and read the link", read_through_hard_link},
	{"A037b", "link an O_PATH descriptor of a secret by AT_EMPTY_PATH", link_pinned_file},
	{"A037c", "link a secret through /proc/self/fd", link_through_proc},
	{"A037d", "reopen an O_PATH descriptor of a secret", reopen_pinned_file},
	{"A037e", "hard-link a file outside and write the link", write_through_hard_link},
	{"A044", "open a secret by its file handle", open_secret_by_handle, NEEDS_ROOT},
	{"A039a", "append to a file outside", write_existing},
	{"A039b", "create a file in HOME", create_outside},
	{"A039c", "create a file by ..", create_by_dotdot},
	{"A039d", "create a file outside through a dangling symlink",
	 create_through_dangling_symlink},
	{"A039e", "write outside through a symlinked directory", write_through_directory_symlink},
	{"A039f", "make a directory outside", make_directory_outside},
	{"A039g", "remove a file outside", remove_outside},
	{"A039h", "rename a file outside", rename_outside},
	{"A039i", "rename a file from outside into the working directory", rename_into_ws},
	{"A039j", "rename an own file to outside", rename_out_of_ws},
	{"A039k", "truncate a file outside", truncate_outside},
	{"A039l", "truncate a file outside by O_RDONLY|O_TRUNC", truncate_by_read_open},
	{"A039m", "make an unnamed file outside", tmpfile_outside},
	{"A039n", "bind a socket outside", bind_socket_outside},
	{"A131a", "reopen a read-only descriptor for writing", reopen_for_writing},
	{"A131b", "reopen a read-only descriptor by /dev/fd", reopen_by_dev_fd},
	{"A131c", "make a read-only descriptor writable by F_SETFL", make_descriptor_writable,
	 NO_CONTROL},
	{"A136a", "chmod a file outside", chmod_outside},
	{"A136b", "fchmod a file outside", fchmod_outside},
	{"A136c", "chmod a file outside through /proc/self/fd", chmod_through_proc},
	{"A136d", "chmod an O_PATH descriptor of a file outside", chmod_pinned},
	{"A136e", "chown a file outside", chown_outside},
	{"A136f", "fchown a file outside", fchown_outside},
	{"A136g", "chown an O_PATH descriptor of a file outside", fchown_pinned},
	{"A136h", "set the times of a file outside", touch_outside},
	{"A136i", "set the times of a file outside by descriptor", futimens_outside},
	{"A136j", "touch a file outside", touch_now_outside},
	{"A136k", "set an attribute of a file outside", setxattr_outside},
	{"A136l", "set an attribute of a file outside by descriptor", fsetxattr_outside},
	{"A136m", "remove an attribute of a file outside", removexattr_outside},
	{"A076a", "set the inode flags of a file outside", set_inode_flags_outside},
	{"A059a", "make a setuid file by chmod", setuid_by_chmod},
	{"A059b", "make a setuid file by fchmod", setuid_by_fchmod},
	{"A059c", "make a setuid file by open's mode", setuid_by_open},
#ifdef SYS_creat
	{"A059d", "make a setuid file by creat's mode", setuid_by_creat},
#endif
	{"A059e", "make a setuid file by mknod", setuid_by_mknod},
	{"A059i", "make a setuid file by openat2's mode", setuid_by_openat2},
	{"A059f", "make a setuid file by O_TMPFILE and link", setuid_by_tmpfile},
	{"A028a", "make a character device", make_char_device, NEEDS_ROOT},
	{"A028b", "make a block device", make_block_device, NEEDS_ROOT},
	{"A028c", "make the white-out device", make_whiteout},
	{"A028d", "make the white-out device by rename", make_whiteout_by_rename},
	{0},
};
