/* SPDX-License-Identifier: Apache-2.0 */
/* Acts on files. */
#include "live/deed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

static int open_object(const struct deed *deed, int flags)
{
	if (deed->kind == KIND_DIRECTORY)
		flags |= O_DIRECTORY;
	/* A FIFO without writers opens at once, and so does a device that would wait. */
	return open(deed->path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* A directory that is hidden may be open to root, and is empty. */
static int list(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return -1;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	(void)closedir(dir);
	errno = ENOENT;
	return n ? 0 : -1;
}

int act_read(const struct deed *deed)
{
	int cleanup_fd fd = open_object(deed, O_RDONLY);

	if (fd < 0)
		return -1;
	return deed->kind == KIND_DIRECTORY ? list(fd_steal(&fd)) : 0;
}

/* Nothing is written: opening is what is judged, and the object may be the host's. */
int act_write(const struct deed *deed)
{
	int cleanup_fd fd = open_object(deed, O_WRONLY);

	return fd < 0 ? -1 : 0;
}

int act_stat(const struct deed *deed)
{
	struct stat st;

	if (lstat(deed->path, &st) < 0)
		return -1;
	/* What hides it has attributes of its own. */
	errno = ENOENT;
	return !deed->inode || st.st_ino == deed->inode ? 0 : -1;
}

int act_exists(const struct deed *deed)
{
	return faccessat(AT_FDCWD, deed->path, F_OK, AT_SYMLINK_NOFOLLOW);
}

int act_make(const struct deed *deed)
{
	static const mode_t types[KIND_COUNT] = {
		[KIND_FILE] = S_IFREG,      [KIND_FIFO] = S_IFIFO,  [KIND_SOCKET] = S_IFSOCK,
		[KIND_CHARACTER] = S_IFCHR, [KIND_BLOCK] = S_IFBLK,
	};
	const dev_t null = makedev(1, 3);
	bool device = deed->kind == KIND_CHARACTER || deed->kind == KIND_BLOCK;

	if (deed->kind == KIND_DIRECTORY)
		return mkdir(deed->path, deed->mode);
	if (deed->kind == KIND_SYMLINK)
		return symlink("nowhere", deed->path);
	return mknod(deed->path, types[deed->kind] | deed->mode, device ? null : 0);
}

int act_unlink(const struct deed *deed)
{
	return unlinkat(AT_FDCWD, deed->path, deed->kind == KIND_DIRECTORY ? AT_REMOVEDIR : 0);
}

int act_chmod(const struct deed *deed)
{
	return chmod(deed->path, deed->mode);
}

int act_chown(const struct deed *deed)
{
	return chown(deed->path, geteuid(), getegid());
}

int act_utimes(const struct deed *deed)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	return utimensat(AT_FDCWD, deed->path, times, 0);
}

/* ---- Attributes by name ---- */

int act_get_xattr(const struct deed *deed)
{
	char value[64];

	return getxattr(deed->path, deed->xattr, value, sizeof(value)) < 0 ? -1 : 0;
}

int act_set_xattr(const struct deed *deed)
{
	return setxattr(deed->path, deed->xattr, "x", 1, 0);
}

/* acl(5): owner, group and others may read and write. */
int act_set_acl(const struct deed *deed)
{
	enum {
		VERSION = 2,
		USER_OBJ = 1,
		GROUP_OBJ = 4,
		OTHER = 0x20,
	};
	const struct {
		uint32_t version;
		struct {
			uint16_t tag, perm;
			uint32_t id;
		} entries[3];
	} list = {VERSION, {{USER_OBJ, 6, ~0u}, {GROUP_OBJ, 6, ~0u}, {OTHER, 6, ~0u}}};

	return setxattr(deed->path, "system.posix_acl_access", &list, sizeof(list), 0);
}

int act_set_flags(const struct deed *deed)
{
	int cleanup_fd fd = open_object(deed, O_RDONLY);
	int flags = FS_NODUMP_FL;

	return fd < 0 ? -1 : ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

/* ---- What an open file is good for ---- */

/* A request that the device does not know has reached it. */
int act_ioctl(const struct deed *deed)
{
	int cleanup_fd fd = open_object(deed, O_RDONLY);
	int value;
	int r = fd < 0 ? -1 : ioctl(fd, FS_IOC_GETFLAGS, &value);

	return r < 0 && fd >= 0 && (errno == ENOTTY || errno == EINVAL) ? 0 : r;
}

int act_lock(const struct deed *deed)
{
	int cleanup_fd fd = open_object(deed, O_RDONLY);

	return fd < 0 ? -1 : flock(fd, LOCK_SH | LOCK_NB);
}

int act_map(const struct deed *deed)
{
	int cleanup_fd fd = open_object(deed, O_RDONLY);

	return fd < 0 || mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1
												: 0;
}

/* ---- Names ---- */

int act_link(const struct deed *deed)
{
	return link(deed->path, deed->other);
}

int act_mount(const struct deed *deed)
{
	return mount("none", deed->path, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k");
}

int act_chroot(const struct deed *deed)
{
	return chroot(deed->path);
}
