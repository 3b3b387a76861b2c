/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases share: where things are, and how to look at what an act did. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *text(const char *format, ...)
{
	static _Thread_local char slots[16][4096];
	static _Thread_local unsigned next;
	char *slot = slots[next++ % 16];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(slot, sizeof(slots[0]), format, arguments);
	va_end(arguments);
	return slot;
}

const char *home(const char *name)
{
	return text("%s/%s", fact("HOME"), name);
}

const char *other(const char *name)
{
	return text("%s/other/%s", fact("HOME"), name);
}

const char *fact(const char *name)
{
	const char *value = getenv(text("ESCAPE_%s", name));

	if (!value) {
		printf("# ESCAPE_%s is not set\n", name);
		exit(BROKEN);
	}
	return value;
}

int fact_number(const char *name)
{
	return atoi(fact(name));
}

pid_t outsider_pid(void)
{
	return fact_number("PID");
}

pid_t parent_of(pid_t pid)
{
	char stat[512] = "";
	const char *after_name;
	int parent = 0;
	int fd = open(text("/proc/%d/stat", pid), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, stat, sizeof(stat) - 1) > 0) {
		after_name = strrchr(stat, ')');
		if (!after_name || sscanf(after_name, ") %*c %d", &parent) != 1)
			parent = 0;
	}
	close(fd);
	return parent;
}

bool is_inside(void)
{
	return getenv("ESCAPE_INSIDE") != NULL;
}

enum outcome came_through(long result)
{
	if (result >= 0)
		return ESCAPED;
	printf("# %s\n", strerror(errno));
	return CONTAINED;
}

enum outcome untried(const char *reason)
{
	printf("# %s\n", reason);
	return is_inside() ? CONTAINED : UNTRIED;
}

void broken(const char *step)
{
	printf("# %s: %s\n", step, strerror(errno));
	exit(BROKEN);
}

void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		broken(path);
	close(fd);
}

void make_dir(const char *path)
{
	if (mkdir(path, 0755) < 0)
		broken(path);
}

bool fd_has(int fd, const char *text)
{
	char buffer[4096] = "";
	ssize_t n = pread(fd, buffer, sizeof(buffer) - 1, 0);

	return n > 0 && memmem(buffer, (size_t)n, text, strlen(text));
}

bool file_has(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool has = fd >= 0 && fd_has(fd, text);

	if (fd >= 0)
		close(fd);
	return has;
}

bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

enum outcome reads_secret(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum outcome outcome;

	if (fd < 0)
		return came_through(-1);
	outcome = reads_secret_fd(fd);
	close(fd);
	return outcome;
}

enum outcome reads_secret_fd(int fd)
{
	if (fd_has(fd, SECRET))
		return ESCAPED;
	printf("# the secret is not there\n");
	return CONTAINED;
}

enum outcome writes(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);
	enum outcome outcome;

	if (fd < 0)
		return came_through(-1);
	outcome = came_through(write(fd, "escaped\n", 8));
	close(fd);
	return outcome;
}

enum outcome outcome_of(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) < 0)
		broken("fork");
	if (WIFEXITED(status))
		return (enum outcome)WEXITSTATUS(status);
	printf("# died by signal %d\n", WTERMSIG(status));
	return CONTAINED;
}

enum outcome outsider_saw(const char *event)
{
	const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

	for (int i = 0; i < (is_inside() ? 10 : 200); i++) {
		if (file_has(fact("LOG"), event))
			return ESCAPED;
		nanosleep(&pause, NULL);
	}
	printf("# the outsider did not see %s\n", event);
	return CONTAINED;
}
