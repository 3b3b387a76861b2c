/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's only look at the disk: the entries of one directory. */
#include "linux/linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

static enum entry_type entry_type(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	switch (entry->d_type) {
	case DT_DIR:
		return ENTRY_DIRECTORY;
	case DT_LNK:
		return ENTRY_SYMLINK;
	case DT_FIFO:
		return ENTRY_PIPE;
	case DT_UNKNOWN: /* some file systems do not say */
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return ENTRY_OTHER;
		return S_ISDIR(st.st_mode)    ? ENTRY_DIRECTORY
		       : S_ISLNK(st.st_mode)  ? ENTRY_SYMLINK
		       : S_ISFIFO(st.st_mode) ? ENTRY_PIPE
					      : ENTRY_OTHER;
	default:
		return ENTRY_OTHER;
	}
}

int linux_list(void *context, const char *path,
	       int (*each)(void *each_context, const char *name, enum entry_type type),
	       void *each_context)
{
	int cleanup_fd fd = linux_open_plain(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	struct dirent *entry;
	DIR *dir = NULL;
	int r = 0;

	(void)context;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 1 : 2;
	dir = fdopendir(fd);
	if (!dir)
		return 2;
	(void)fd_steal(&fd); /* dir's now */
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		r = each(each_context, entry->d_name, entry_type(dir, entry));
	}
	if (r == 0 && errno)
		r = 2;
	(void)closedir(dir);
	return r;
}
