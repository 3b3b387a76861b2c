/* SPDX-License-Identifier: Apache-2.0 */
#include "live/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "live/live.h"
#include "base/banned.h"

/* ---- What this process is made of ---- */

struct collector {
	struct kit *kit;
	const char *missing; /* what could not be opened */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add(struct collector *collector, const char *path, const char *name)
{
	struct kit *kit = collector->kit;
	struct kit_file *file = &kit->files[kit->n];

	collector->missing = path;
	if (kit->n == KIT_MAX || strlen(name) >= sizeof(file->name))
		return -1;
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		return -1;
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	kit->n++;
	return 0;
}

/* dl_iterate_phdr: the first object is the program; the kernel's own has no file. */
static int add_library(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!strchr(info->dlpi_name, '/'))
		return 0;
	return add(context, info->dlpi_name, base_name(info->dlpi_name));
}

/* The name of the interpreter in the program's headers, which are in memory. */
static int note_loader(struct dl_phdr_info *info, size_t size, void *context)
{
	struct kit *kit = context;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			(void)snprintf(kit->loader, sizeof(kit->loader), "%s",
				       base_name((const char *)(info->dlpi_addr +
								info->dlpi_phdr[i].p_vaddr)));
	return 1; /* the first is the program */
}

int kit_open(struct kit *ret, struct lapbelt_error *error)
{
	static const char program[] = "lapbelt";
	struct collector collector = {ret, "/proc/self/exe"};

	*ret = KIT_NONE;
	(void)dl_iterate_phdr(note_loader, ret);
	(void)snprintf(ret->program, sizeof(ret->program), "%s", program);
	if (add(&collector, "/proc/self/exe", program) == 0 &&
	    (!ret->loader[0] || dl_iterate_phdr(add_library, &collector) == 0))
		return 0;
	error->code = LAPBELT_OS;
	error->os = errno;
	(void)snprintf(error->text, sizeof(error->text), "unable to open %s: %s", collector.missing,
		       strerror(errno));
	kit_close(ret);
	return -LAPBELT_OS;
}

void kit_close(struct kit *kit)
{
	for (size_t i = 0; i < kit->n; i++)
		fd_close(&kit->files[i].fd);
	kit->n = 0;
}

/* ---- Copies ---- */

static int copy_file(const struct kit_file *file, int dirfd)
{
	int cleanup_fd to =
		openat(dirfd, file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	struct stat st;
	off_t at = 0;

	if (to < 0 || fstat(file->fd, &st) < 0)
		return -1;
	while (at < st.st_size)
		if (sendfile(to, file->fd, &at, (size_t)(st.st_size - at)) <= 0)
			return -1;
	return fchmod(to, 0755);
}

int kit_copy(const struct kit *kit, int dirfd)
{
	for (size_t i = 0; i < kit->n; i++)
		if (copy_file(&kit->files[i], dirfd) < 0)
			return -1;
	return 0;
}

void kit_remove(const struct kit *kit, int dirfd)
{
	for (size_t i = 0; i < kit->n; i++)
		(void)unlinkat(dirfd, kit->files[i].name, 0);
}

/* ---- Starting the helper ---- */

void kit_command(const struct kit *kit, const char *folder, int in, int out,
		 struct kit_command *ret)
{
	static char option[] = "--library-path", word[] = LIVE_HELPER;
	size_t n = 0;

	(void)snprintf(ret->folder, sizeof(ret->folder), "%s", folder);
	(void)snprintf(ret->loader, sizeof(ret->loader), "%.2000s/%s", folder, kit->loader);
	(void)snprintf(ret->program, sizeof(ret->program), "%.2000s/%s", folder, kit->program);
	(void)snprintf(ret->in, sizeof(ret->in), "%d", in);
	(void)snprintf(ret->out, sizeof(ret->out), "%d", out);
	if (kit->loader[0]) {
		ret->argv[n++] = ret->loader;
		ret->argv[n++] = option;
		ret->argv[n++] = ret->folder;
	}
	ret->argv[n++] = ret->program;
	ret->argv[n++] = word;
	ret->argv[n++] = ret->in;
	ret->argv[n++] = ret->out;
	ret->argv[n] = NULL;
}
