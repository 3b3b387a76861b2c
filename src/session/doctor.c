/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine offers to a run, found out by trying, and why it does not offer more. Each
 * finding is a row that a function fills; nothing here decides anything.
 */
#include "session/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/io.h"
#include "linux/linux.h"
#include "plan/words.h"
#include "base/banned.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct doctor {
	struct caps caps;
	struct tried tried;
	bool has_filter;  /* seccomp is upon us already */
	char limits[64];  /* controllers that may be handed on */
	char cgroup[256]; /* our folder below /sys/fs/cgroup; "": none */
	bool cgroup_writable;
};

/* ---- Looking ---- */

/* The beginning of the file PATH, or false. */
static bool read_start(const char *path, char *ret, size_t size)
{
	int cleanup_fd fd = io_open_regular(path);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	if (n < 0)
		return false;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

/* Is the kernel's parameter at PATH there, and VALUE? */
static bool parameter_is(const char *path, const char *value)
{
	char text[32];

	return read_start(path, text, sizeof(text)) && strcmp(text, value) == 0;
}

static bool has_filter(void)
{
	struct buf text = {0};
	int cleanup_fd fd = io_open_regular("/proc/self/status");
	bool ret = fd >= 0 && io_read_all(fd, &text, 1 << 16) == 0 &&
		   strstr(buf_str(&text).p, "\nSeccomp:\t2\n");

	buf_release(&text);
	return ret;
}

static void find_cgroup(struct doctor *doctor)
{
	static const char prefix[] = "0::";
	char line[256], path[384], controllers[256];

	if (!read_start("/proc/self/cgroup", line, sizeof(line)) ||
	    strncmp(line, prefix, sizeof(prefix) - 1) != 0)
		return;
	(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cgroup.controllers",
		       line + sizeof(prefix) - 1);
	if (!read_start(path, controllers, sizeof(controllers)))
		return;
	(void)snprintf(doctor->cgroup, sizeof(doctor->cgroup), "%s", line + sizeof(prefix) - 1);
	(void)snprintf(doctor->limits, sizeof(doctor->limits), "%.63s", controllers);
	(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s", doctor->cgroup);
	doctor->cgroup_writable = access(path, W_OK) == 0;
	(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cgroup.procs", doctor->cgroup);
	doctor->cgroup_writable = doctor->cgroup_writable && access(path, W_OK) == 0;
}

/* ---- Findings ---- */

__attribute__((format(printf, 2, 3))) static void say(struct finding *ret, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(ret->text, sizeof(ret->text), format, ap);
	va_end(ap);
}

static void about_mode(const struct doctor *doctor, struct finding *ret)
{
	const char *ids = doctor->caps.root ? "root" : "an ordinary user";

	ret->good = doctor->caps.userns && doctor->caps.notify;
	if (doctor->caps.outer.asks) {
		ret->value = "nested";
		say(ret,
		    "inside another sandbox of lapbelt, as %s: both policies decide, as far as its "
		    "broker is asked",
		    ids);
	} else if (doctor->caps.nested && !doctor->caps.notify) {
		ret->value = "nested";
		ret->good = false;
		say(ret,
		    "inside a sandbox of lapbelt, as %s: its policy holds for all that runs here",
		    ids);
	} else if (!doctor->caps.landlock_abi) {
		ret->value = "none";
		ret->good = false;
		say(ret, "none: without Landlock nothing can be run");
	} else if (!doctor->caps.notify) {
		ret->value = "no-listener";
		say(ret,
		    doctor->caps.mount_setattr
			    ? "without a seccomp listener, as %s: Landlock, the filter and mounts "
			      "enforce, which hold what is there at the start"
			    : "without a seccomp listener, as %s: Landlock and the filter alone "
			      "enforce",
		    ids);
	} else if (!doctor->caps.userns) {
		ret->value = "no-userns";
		say(ret, "Landlock and the broker, without user namespaces, as %s", ids);
	} else {
		ret->value = "userns";
		say(ret, "Landlock, the broker and user namespaces, as %s", ids);
	}
}

static void about_kernel(const struct doctor *doctor, struct finding *ret)
{
	static struct utsname name;

	(void)doctor;
	(void)uname(&name);
	ret->value = name.release;
	ret->good = true;
	say(ret, "%s %s %s", name.sysname, name.release, name.machine);
}

static void about_landlock(const struct doctor *doctor, struct finding *ret)
{
	static char version[16];
	int abi = doctor->caps.landlock_abi;

	(void)snprintf(version, sizeof(version), "%d", abi);
	ret->value = version;
	ret->good = abi >= 6;
	if (doctor->caps.nested && abi == 0) {
		say(ret, "not to be had: the sandbox around us refuses it");
		return;
	}
	if (abi == 0) {
		say(ret, "not to be had: nothing can be run");
		ret->help = "Linux 5.13 or newer with landlock in its lsm= list, and no outer "
			    "sandbox that refuses it";
		return;
	}
	say(ret, "version %d%s", abi,
	    abi < 3   ? ": truncation is not seen, so writes are brokered"
	    : abi < 5 ? ": requests on devices are not seen"
	    : abi < 6 ? ": signals to outside are brokered"
		      : "");
	if (abi < 6)
		ret->help = "Linux 6.12";
}

/* What the broker of the sandbox around us is asked about. */
static void say_outer(const struct doctor *doctor, struct finding *ret)
{
	struct buf classes = {0};

	for (const struct word *word = class_words; word->text; word++)
		if (doctor->caps.outer.classes & word->bits)
			buf_printf(&classes, "%s%s", classes.n ? ", " : "", word->text);
	say(ret, "the sandbox around us has it, and judges for runs inside: %s",
	    buf_str(&classes).p);
	ret->help = "--nestable for the sandbox around us, if more has to be judged";
	buf_release(&classes);
}

static void about_listener(const struct doctor *doctor, struct finding *ret)
{
	ret->good = doctor->caps.notify;
	ret->value = ret->good ? "yes" : "no";
	if (doctor->caps.outer.asks) {
		say_outer(doctor, ret);
		return;
	}
	if (ret->good)
		say(ret, "a listener can be had: calls are judged one by one");
	else if (doctor->tried.listener == EBUSY)
		say(ret, "an outer sandbox has the only listener there can be");
	else
		say(ret, "no listener can be had: %s", strerror(doctor->tried.listener));
	if (!ret->good)
		ret->help =
			doctor->tried.listener == EBUSY
				? "running outside of that sandbox"
				: "Linux 5.0 or newer, and no outer filter that refuses seccomp(2)";
}

static void about_wait_killable(const struct doctor *doctor, struct finding *ret)
{
	ret->good = doctor->caps.wait_killable;
	ret->value = ret->good ? "yes" : "no";
	say(ret, ret->good ? "signals do not interrupt a call that is being judged"
			   : "a signal can make a brokered write happen twice, which is a gap");
	ret->help = ret->good ? NULL : "Linux 5.19";
}

static void about_pidfd_getfd(const struct doctor *doctor, struct finding *ret)
{
	ret->good = doctor->caps.pidfd_getfd;
	ret->value = ret->good ? "yes" : "no";
	if (ret->good)
		say(ret, "descriptors of callers can be fetched");
	else
		say(ret, "descriptors of callers cannot be fetched: %s; sockets are made for them",
		    strerror(doctor->tried.pidfd_getfd));
	ret->help = ret->good
			    ? NULL
			    : "Linux 5.6 or newer, and no outer filter that refuses pidfd_getfd(2)";
}

/* What refuses user namespaces, the likeliest first. */
static const struct {
	const char *path, *value;
	int error; /* 0: any */
	const char *why, *help;
} restrictions[] = {
	{"/proc/sys/user/max_user_namespaces", "0", ENOSPC, "user.max_user_namespaces is 0",
	 "sysctl -w user.max_user_namespaces=15000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", EPERM,
	 "kernel.unprivileged_userns_clone is 0", "sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", 0,
	 "AppArmor restricts them to programs with a profile that says so",
	 "an AppArmor profile for lapbelt with the rule `userns,`, or "
	 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
};

static void about_userns(const struct doctor *doctor, struct finding *ret)
{
	int error = doctor->tried.namespaces ? doctor->tried.namespaces : doctor->tried.mounts;

	ret->good = doctor->caps.userns;
	ret->value = ret->good ? "yes" : "no";
	if (ret->good) {
		say(ret, "can be made, with mounts, processes, IPC and a network inside");
		return;
	}
	if (doctor->caps.nested) {
		say(ret, "not inside a sandbox of lapbelt");
		return;
	}
	for (size_t i = 0; i < COUNT(restrictions); i++) {
		if ((restrictions[i].error && restrictions[i].error != error) ||
		    !parameter_is(restrictions[i].path, restrictions[i].value))
			continue;
		say(ret, "cannot be had: %s", restrictions[i].why);
		ret->help = restrictions[i].help;
		return;
	}
	say(ret, "%s: %s%s",
	    doctor->tried.namespaces ? "cannot be made"
				     : "can be made, but nothing mounted in them",
	    strerror(error), doctor->has_filter ? "; a seccomp filter is upon us" : "");
	ret->help = doctor->has_filter ? "an outer sandbox or container that lets unshare(2) and "
					 "mount(2) through, as Docker with "
					 "--security-opt seccomp=unconfined"
				       : NULL;
}

static void about_proc(const struct doctor *doctor, struct finding *ret)
{
	ret->good = doctor->caps.mount_proc;
	ret->value = ret->good ? "yes" : "no";
	if (ret->good) {
		say(ret, "can be mounted: processes of the host are out of sight");
	} else if (!doctor->caps.userns) {
		say(ret, "not without user namespaces");
	} else {
		say(ret, "cannot be mounted: %s, so processes of the host can be seen",
		    strerror(doctor->tried.proc));
		ret->help = "a /proc without mounts over parts of it, as containers have them";
	}
}

static void about_cgroup(const struct doctor *doctor, struct finding *ret)
{
	ret->good = doctor->cgroup_writable;
	ret->value = ret->good ? doctor->limits : "no";
	if (!doctor->cgroup[0])
		say(ret, "no cgroup of version 2 is ours");
	else if (!ret->good)
		say(ret, "%s is not ours to divide", doctor->cgroup);
	else
		say(ret, "%s can be divided; controllers: %s", doctor->cgroup,
		    doctor->limits[0] ? doctor->limits : "none");
	ret->help = ret->good ? NULL : "systemd-run --user --scope -p Delegate=yes lapbelt ...";
}

static void about_runs(const struct doctor *doctor, struct finding *ret)
{
	ret->good = doctor->caps.userns && doctor->caps.mount_proc;
	ret->value = ret->good ? "private" : "shared";
	if (!doctor->caps.landlock_abi) {
		ret->good = false;
		ret->value = "none";
		say(ret, "nothing can be run");
	} else if (ret->good)
		say(ret, "processes, IPC, /tmp, /dev/shm, terminals and a network that is denied "
			 "are the run's own; denied paths are hidden");
	else if (doctor->caps.userns)
		say(ret, "all but processes is the run's own; denied paths are hidden");
	else if (doctor->caps.outer.asks)
		say(ret, "what is private to the sandbox around us is shared with it; contents are "
			 "judged all the same");
	else
		say(ret, "the host's processes, and names of what is denied, can be seen; contents "
			 "are judged all the same");
}

static const struct {
	const char *name;
	void (*find)(const struct doctor *doctor, struct finding *ret);
} rows[] = {
	{"mode", about_mode},
	{"kernel", about_kernel},
	{"landlock", about_landlock},
	{"listener", about_listener},
	{"wait-killable", about_wait_killable},
	{"pidfd-getfd", about_pidfd_getfd},
	{"user-namespaces", about_userns},
	{"procfs", about_proc},
	{"cgroup", about_cgroup},
	{"runs", about_runs},
};

void session_doctor(void (*each)(void *context, const struct finding *finding), void *context)
{
	struct doctor doctor = {.has_filter = has_filter()};

	linux_probe_by_trying(&doctor.caps, &doctor.tried);
	find_cgroup(&doctor);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct finding finding = {.name = rows[i].name};

		rows[i].find(&doctor, &finding);
		each(context, &finding);
	}
}
