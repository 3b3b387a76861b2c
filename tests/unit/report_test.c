/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says of each rule: by what it holds, what it misses, why it costs. */
#include "plan_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- One report ---- */

struct reported {
	struct fixture f;
	struct report report;
	struct buf text;
};

static void report_now(struct reported *r)
{
	CHECK_INT(fixture_plan(&r->f), 0);
	CHECK_INT(plan_report(&r->f.plan, &r->f.input, &r->f.arena, &r->report, &r->f.e), 0);
	buf_clear(&r->text);
	plan_print(&r->f.plan, &r->f.input, &r->report, &r->text);
	CHECK(!r->text.failed);
}

static void report_open(struct reported *r, const char *text)
{
	*r = (struct reported){.text = {.p = NULL}};
	fixture_open(&r->f, text);
}

static void report_of(struct reported *r, const char *text)
{
	report_open(r, text);
	report_now(r);
}

static void report_close(struct reported *r)
{
	buf_release(&r->text);
	fixture_close(&r->f);
}

/* The last rule's part of the text, up to the next section. */
static const char *last_rule(const struct reported *r, char *ret, size_t size)
{
	const char *end = strstr(r->text.p, "\nbesides:"), *at = NULL, *next = r->text.p;

	while ((next = strstr(next, "\n  test.sb:")) && next < end)
		at = next++;
	(void)snprintf(ret, size, "%.*s", at ? (int)(end + 1 - at) : 0, at ? at : "");
	return ret;
}

/* ---- Rules ---- */

enum {
	NOTIFY_OFF = 1 << 0,
	USERNS_OFF = 1 << 1,
	OLD = 1 << 2, /* Landlock 1 */
	PRIVATE = 1 << 3,
	FOUR = 1 << 4, /* Landlock 4 */
};

static void set_world(struct fixture *f, unsigned world)
{
	f->caps.notify = !(world & NOTIFY_OFF);
	f->caps.userns = !(world & USERNS_OFF);
	f->caps.landlock_abi = world & OLD ? 1 : world & FOUR ? 4 : 7;
	f->input.private_scope = world & PRIVATE ? SCOPE_ALL : 0;
}

static void what_rules_hold_by(void)
{
	static const struct {
		const char *before, *rule;
		unsigned world;
		const char *lines; /* below the rule's own */
	} rows[] = {
		{READABLE, "(allow file-write* (subpath \"/home/u/p\"))", 0,
		 "enforced by floor, broker (attributes)\n"},
		{READABLE, "(allow file-write-data (literal \"/dev/null\"))", 0,
		 "enforced by floor\n"},
		{READABLE "(allow file-write* (subpath \"/home/u/p\"))",
		 "(deny file-write* (regex #\"/hooks\"))", 0,
		 "enforced by floor, broker (write attributes)\n"},
		{READABLE, "(deny file-read* (subpath \"/home/u/.ssh\"))", 0,
		 "enforced by floor, hidden\n"},
		{READABLE, "(deny file-read* (subpath \"/home/u/.ssh\"))", USERNS_OFF,
		 "enforced in part by floor\n    gap (metadata): of what this denies can still be "
		 "seen: attributes"},
		{READABLE, "(deny file-read-data (regex #\"\\.pem$\"))", NOTIFY_OFF,
		 "enforced in part by floor\n    gap: what this matches can be read"},
		{READABLE "(allow file-write* (subpath \"/tmp\"))",
		 "(deny file-read-data (literal \"/tmp/x\"))", NOTIFY_OFF,
		 "enforced in part by floor, hidden\n    gap (metadata)"},
		{READABLE, "(deny file-read-data (regex #\"\\.pem$\"))", NOTIFY_OFF | USERNS_OFF,
		 "enforced in part by floor\n    stricter than written: reads are refused"},
		{READABLE, "(allow file-read-data (literal \"/etc/passwd\"))", 0,
		 "enforced by floor\n"},
		{"(deny default) (allow file-ioctl)", "(allow file-read-data (regex #\"\\.pem$\"))",
		 0, "enforced by floor, broker (read)\n"},
		{"(deny default)", "(allow file-read-data (regex #\"\\.pem$\"))", NOTIFY_OFF,
		 "enforced in part by floor\n    stricter than written: reads are refused"},
		{"(allow default)", "(deny file-write-mode (subpath \"/etc\"))", 0,
		 "enforced by broker (attributes)\n"},
		{"(allow default)", "(deny file-write-mode (subpath \"/etc\"))",
		 NOTIFY_OFF | USERNS_OFF, "gap: modes, owners"},
		{"(allow default)", "(deny file-write-mode (subpath \"/etc\"))", NOTIFY_OFF,
		 "enforced by mounts\n"},
		{"(allow default)", "(deny file-write-data (subpath \"/etc\"))", OLD,
		 "enforced by floor, broker (write)\n"},
		{"(allow default)", "(deny file-write-data (subpath \"/etc\"))",
		 OLD | NOTIFY_OFF | USERNS_OFF, "enforced in part by floor\n    gap: "},
		{"(allow default)", "(deny file-write-data (subpath \"/etc\"))", OLD | NOTIFY_OFF,
		 "enforced by floor, mounts\n"},
		{"(allow default)", "(deny file-ioctl (subpath \"/dev\"))", 0,
		 "enforced in part by floor\n    gap (metadata): requests on open files"},
		{"(allow default)", "(deny file-ioctl (subpath \"/dev\"))", FOUR,
		 "gap (metadata): devices that may be opened take every ioctl"},
		{"(allow default)", "(deny process-exec* (literal \"/usr/bin/ssh\"))", 0,
		 "enforced by floor, broker (exec)\n"},
		{"(allow default)", "(deny process-exec*)", 0, "enforced by floor, filter\n"},
		{"(allow default)", "(deny process-fork)", 0, "enforced by filter\n"},
		{"(allow default)", "(deny network-outbound (literal \"/run/x\"))", 0,
		 "enforced by filter, broker (unix)\n"},
		{"(allow default)", "(deny network-outbound (remote tcp \"*:25\"))", 0,
		 "enforced by floor, filter, broker (inet)\n"},
		{"(deny default)", "(deny network*)", PRIVATE,
		 "enforced by filter, namespaces (net), broker (unix)\n"},
		{"(allow default)", "(deny signal (target pgrp))", 0,
		 "enforced by broker (signal)\n"},
		{"(allow default)", "(deny signal (target others))", PRIVATE,
		 "enforced by floor, namespaces (pid)\n"},
		{"(allow default)", "(deny ipc-sysv-shm)", 0, "enforced by filter\n"},
		{"(allow default)", "(deny ipc-sysv-shm)", PRIVATE,
		 "enforced by filter, namespaces (ipc)\n"},
		{"(allow default)", "(deny sysctl-write)", 0,
		 "enforced by floor, broker (write read)\n"},
		{"(allow default)", "(deny pseudo-tty)", PRIVATE,
		 "enforced by floor, namespaces (mount), broker (write read)\n"},
		{"(allow default)", "(deny file-mount)", 0, "enforced by filter\n"},
		{"(deny default)", "(allow file-mount)", 0, "stricter than written: mounting"},
		{"(allow default)", "(deny dynamic-code-generation)", 0, "gap: code made at run"},
		{"(allow default)", "(allow signal)", 0, "nothing is needed\n"},
		{"(deny default)", "(allow file-read-metadata)", 0, "nothing is needed\n"},
		{"(allow default)", "(deny ipc-posix-sem-post)", 0,
		 "enforced in part by floor, filter\n    gap (metadata): semaphores"},
		{"(allow default)", "(deny file-read-data (uid 501))", 0,
		 "enforced in part by floor, broker (read)\n    gap: what this rule asks"},
		{"(allow default)", "(deny mach-lookup)", 0, "not applicable here\n"},
		{"(deny default)", "(allow file-read-data (extension \"a\"))", 0,
		 "not applicable here\n"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512], wanted[512], found[4096];
		struct reported r;

		(void)snprintf(text, sizeof(text), "%s\n%s", rows[i].before, rows[i].rule);
		(void)snprintf(wanted, sizeof(wanted), ":1: %s\n    %s", rows[i].rule,
			       rows[i].lines);
		report_open(&r, text);
		set_world(&r.f, rows[i].world);
		report_now(&r);
		if (!strstr(last_rule(&r, found, sizeof(found)), wanted)) {
			printf("# wanted%s# found %s\n", wanted, found);
			test_failures_here++;
		}
		report_close(&r);
	}
}

/* A rule counts as not applicable if nothing it names means anything on Linux. */
static void rules_that_mean_nothing(void)
{
	static const struct {
		const char *rule;
		bool applies;
	} rows[] = {
		{"(allow mach-lookup)", false},
		{"(allow mach-lookup (global-name \"a\"))", false},
		{"(allow iokit* mach*)", false},
		{"(allow mach-lookup file-read-data)", true},
		{"(allow file-issue-extension (subpath \"/x\"))", false},
		{"(allow file-read-data (extension \"a\"))", false},
		{"(allow file-read-data (require-any (extension \"a\") (subpath \"/x\")))", true},
		{"(allow file-read-data (require-all (extension \"a\") (subpath \"/x\")))", false},
		{"(allow file-read-data (require-not (extension \"a\")))", true},
		{"(allow process*)", true}, /* process-exec* falls to it */
		{"(allow system-fcntl)", true},
		{"(deny file-lock)", true},
		{"(allow system-audit)", false},
		{"(allow system-kext-load)", true}, /* refused, which is a gap */
		{"(allow system-kext-unload)", true},
		{"(allow system-kext-query)", false},
		{"(deny process-info-pidinfo)", true},
		{"(allow default)", true},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reported r;

		report_of(&r, rows[i].rule);
		CHECK_INT(r.report.n_rules, 1);
		if (r.report.rules[0].applies != rows[i].applies)
			printf("# %s\n", rows[i].rule);
		CHECK_INT(r.report.rules[0].applies, rows[i].applies);
		CHECK_INT(strstr(r.text.p, "1 not applicable") != NULL, !rows[i].applies);
		report_close(&r);
	}
}

/* A form stands once, whatever it enters, and so does one in a loop. */
static void forms_stand_once(void)
{
	struct reported r;

	report_of(&r, "(deny default) (allow file-read* process* signal)\n"
		      "(for-each (lambda (p) (deny file-write* (subpath p))) '(\"/a\" \"/b\"))");
	CHECK_INT(r.report.n_rules, 3);
	CHECK_INT(r.report.rules[1].n_rules, 3);
	CHECK_INT(r.report.rules[2].n_rules, 2);
	CHECK_INT(r.report.rules[2].rule->at.line, 3);
	report_close(&r);
}

/* ---- Classes ---- */

static const struct class_report *class_of(const struct report *report, unsigned class)
{
	for (size_t i = 0; i < report->n_classes; i++)
		if (report->classes[i].class == class)
			return &report->classes[i];
	return NULL;
}

static bool is_called(const struct class_report *class, const char *name)
{
	const struct call_report *call = class->calls;

	while (call->name && strcmp(call->name, name) != 0)
		call++;
	return call->name != NULL;
}

static void why_classes_are_brokered(void)
{
#define WRITABLE READABLE "\n(allow file-write* (subpath \"/home/u/p\"))\n"
	static const struct {
		const char *text;
		unsigned class;
		unsigned line; /* of the rule; 0: none */
		const char *path, *call;
	} rows[] = {
		{WRITABLE "(deny file-write* (subpath \"/home/u/p/.git\"))", BROKER_WRITE, 4,
		 "/home/u/p", "openat"},
		{WRITABLE "(deny file-write* (subpath \"/etc\"))"
			  "\n(deny file-write-unlink (literal \"/home/u/p/a.c\"))",
		 BROKER_WRITE, 5, "/home/u/p", "unlinkat"},
		{WRITABLE "(deny file-write* (regex #\"/hooks/\"))", BROKER_WRITE, 4, NULL,
		 "renameat2"},
		{READABLE "\n\n(allow file-write* (literal \"/home/u/lock\"))", BROKER_WRITE, 4,
		 "/home/u/lock", "openat"},
		{READABLE "\n\n\n(allow file-write* (subpath \"/home/u/new\"))", BROKER_WRITE, 5,
		 "/home/u/new", "mkdirat"},
		{WRITABLE "(deny file-read* (literal \"/home/u/p/key.pem\"))", BROKER_READ, 4,
		 "/home/u/p", "openat"},
		{WRITABLE "(deny file-read* (literal \"/home/u/p/key.pem\"))", BROKER_WRITE, 4,
		 "/home/u/p/key.pem", "linkat"},
		{"(allow default)\n(deny file-write-times (subpath \"/etc\"))", BROKER_ATTR, 3,
		 NULL, "utimensat"},
		{"(allow default)", BROKER_ATTR, 0, NULL, "fchmodat"},
		{"(allow default)\n(deny network-outbound (literal \"/run/x\"))", BROKER_UNIX, 3,
		 NULL, "connect"},
		{"(allow default)\n(deny network-outbound (remote tcp \"*:25\"))", BROKER_INET, 3,
		 NULL, "connect"},
		{"(deny default)\n(allow network-outbound (remote tcp \"*:443\"))", BROKER_INET, 3,
		 NULL, "bind"},
		{"(allow default)\n(deny process-exec* (literal \"/usr/bin/ssh\"))", BROKER_EXEC, 3,
		 NULL, "execve"},
		{"(allow default)\n(allow signal)\n(deny signal (target pgrp))", BROKER_SIGNAL, 4,
		 NULL, "kill"},
		{"(allow default)\n(deny signal)", 0, 0, NULL, "umask"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct class_report *class;
		struct reported r;

		report_of(&r, rows[i].text);
		class = class_of(&r.report, rows[i].class);
		CHECK(class != NULL);
		if (class && (class->rule ? class->rule->at.line : 0) != rows[i].line)
			printf("# %s\n", rows[i].text);
		CHECK_INT(class && class->rule ? class->rule->at.line : 0, rows[i].line);
		if (class && (rows[i].path || class->path))
			CHECK_STR(class->path, rows[i].path);
		CHECK(class && is_called(class, rows[i].call) && class->opens > 1);
		report_close(&r);
	}
}

/* None that the policy needs already has another reason. */
static void classes_for_policies_inside(void)
{
	static const struct {
		const char *text;
		unsigned brokered, for_inside;
	} rows[] = {
		{"(allow default)",
		 BROKER_READ | BROKER_WRITE | BROKER_ATTR | BROKER_UNIX | BROKER_INET |
			 BROKER_EXEC | BROKER_SIGNAL,
		 BROKER_READ | BROKER_WRITE | BROKER_UNIX | BROKER_INET | BROKER_EXEC |
			 BROKER_SIGNAL},
		{"(allow default)\n(deny file-read* (regex #\"/x$\"))\n(deny network*)",
		 BROKER_READ | BROKER_WRITE | BROKER_ATTR | BROKER_UNIX | BROKER_EXEC |
			 BROKER_SIGNAL,
		 BROKER_EXEC | BROKER_SIGNAL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct class_report *attributes;
		struct reported r;

		report_open(&r, rows[i].text);
		r.f.input.nestable = true;
		report_now(&r);
		CHECK_INT(r.f.plan.brokered, rows[i].brokered);
		CHECK_INT(r.f.plan.for_inside, rows[i].for_inside);
		attributes = class_of(&r.report, BROKER_ATTR);
		CHECK(attributes && is_called(attributes, "faccessat"));
		for (size_t c = 0; c < r.report.n_classes; c++)
			CHECK(!(r.report.classes[c].class & rows[i].for_inside) ==
			      !strstr(r.report.classes[c].why, "inside"));
		report_close(&r);
	}
}

/* The calls are those for which the filter asks the broker. */
static void calls_are_those_of_the_filter(void)
{
	const struct class_report *class;
	struct reported r;

	report_open(&r, WRITABLE "(deny file-write* (subpath \"/home/u/p/.git\"))");
	r.f.caps.arch = ARCH_AARCH64;
	report_now(&r);
	class = class_of(&r.report, BROKER_WRITE);
	CHECK(class && is_called(class, "openat") && !is_called(class, "open"));
	CHECK(class && !is_called(class, "connect") && !is_called(class, "chmod"));
	for (const struct call_report *call = class ? class->calls : NULL; call && call->name;
	     call++)
		CHECK_INT(call->sometimes, strcmp(call->name, "openat") == 0);
	report_close(&r);
}
#undef WRITABLE

/* ---- The text ---- */

static void prints(void)
{
	struct reported r;

	report_open(&r, READABLE "(deny file-read* (subpath \"/home/u/.ssh\"))");
	r.f.input.private_scope = SCOPE_TMP;
	report_now(&r);
	CHECK(strstr(r.text.p, ";; scope: pid shared, ipc shared, net shared, tmp private,"));
	CHECK(strstr(r.text.p, "\nrules: 3, "));
	CHECK(strstr(r.text.p, "namespaces: user mount\n"));
	CHECK(strstr(r.text.p, "  hide /home/u/.ssh\n"));
	CHECK(strstr(r.text.p, "  /home/u/{.cargo, .netrc, notes.pem, p}: read\n"));
	CHECK(strstr(r.text.p, "broker: attributes unix signal\n"));
	CHECK(strstr(r.text.p, "  attributes: each call takes "));
	CHECK(strstr(r.text.p, "filter: "));
	report_close(&r);
}

/* Many that stand together are counted. */
static void prints_crowds(void)
{
	struct reported r;

	report_of(&r, READABLE "(deny file-read* (subpath \"/home/u/.ssh\")"
			       " (literal \"/home/u/.netrc\"))");
	CHECK(strstr(r.text.p, "mounts: 2\n  hide /home/u/{.netrc, .ssh}\n"));
	report_close(&r);

	report_open(&r, READABLE "(deny file-read* (literal \"/home/u/p/key.pem\"))");
	fake_crowd = 100;
	report_now(&r);
	fake_crowd = 0;
	CHECK(strstr(r.text.p, "  /home/u/p/{"));
	CHECK(strstr(r.text.p, " and 95 more}: read"));
	report_close(&r);
}

/* ---- Properties ---- */

static uint32_t seed = 4711;

static uint32_t pick(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % n;
}

static void random_rule(struct buf *ret)
{
	static const char *const ops[] = {
		"file-read*",       "file-read-data", "file-write*",        "file-write-data",
		"file-link",        "file*",          "file-write-unlink",  "process-exec*",
		"file-ioctl",       "file-mknod",     "file-read-metadata", "file-test-existence",
		"file-write-flags",
	};
	static const char *const others[] = {
		"(signal (target pgrp))",
		"(signal)",
		"(ipc-posix-sem*)",
		"(ipc-posix-shm* (ipc-posix-name \"/a\"))",
		"(ipc-sysv*)",
		"(sysctl-read)",
		"(pseudo-tty)",
		"(network*)",
		"(network-outbound (literal \"/run/x\"))",
		"(network* (remote tcp \"*:80\"))",
		"(network-bind (local udp \"*:*\"))",
		"(process-fork)",
		"(process*)",
		"(mach-lookup)",
		"(dynamic-code-generation)",
		"(system-socket)",
		"(file-mount)",
		"(process-info*)",
		"(file-map-executable)",
		"(system*)",
		"(ipc*)",
		"(file-read* (uid 501))",
		"(file-read-data (extension \"a\"))",
	};
	static const char *const patterns[] = {"subpath", "literal", "prefix"};
	const char *verdict = pick(2) ? "allow" : "deny";

	if (pick(3) == 0) {
		buf_printf(ret, "(%s %s\n", verdict, others[pick(COUNT(others))] + 1);
		return;
	}
	buf_printf(ret, "(%s %s ", verdict, ops[pick(COUNT(ops))]);
	if (pick(6) == 0)
		buf_puts(ret, "(regex #\"\\.pem$\"))\n");
	else
		buf_printf(ret, "(%s \"%s\"))\n", patterns[pick(3)], fake_fs[pick(N_FAKE)].path);
}

static bool has_gap(const struct rule_report *form, const struct gap *gap)
{
	for (size_t i = 0; i < form->n_gaps; i++)
		if (form->gaps[i] == gap)
			return true;
	return false;
}

static bool has_rule(const struct rule_report *form, const struct rule *rule)
{
	return rule->index >= form->rule->index && rule->index < form->rule->index + form->n_rules;
}

/* Every gap stands at its rule, or somewhere. */
static void check_gaps(const struct reported *r, const char *text)
{
	for (size_t g = 0; g < r->f.plan.n_gaps; g++) {
		const struct gap *gap = &r->f.plan.gaps[g];
		bool found = false;

		for (size_t i = 0; i < r->report.n_rules; i++) {
			const struct rule_report *form = &r->report.rules[i];

			found |= has_gap(form, gap);
			if (gap->rule && has_rule(form, gap->rule) && !has_gap(form, gap)) {
				printf("# %s# %s\n", text, gap->text);
				test_failures_here++;
			}
		}
		for (size_t i = 0; i < r->report.n_gaps; i++) {
			CHECK(!found || r->report.gaps[i] != gap);
			found |= r->report.gaps[i] == gap;
		}
		CHECK(found);
	}
}

/* Every rule stands once and has something said of it; what is brokered is said to be. */
static void check_rules(const struct reported *r, const char *text)
{
	unsigned classes = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->report.n_rules; i++) {
		const struct rule_report *form = &r->report.rules[i];

		CHECK_INT(form->rule->index, n);
		n += form->n_rules;
		if (form->applies ? !form->by && !form->n_gaps : form->by || form->n_gaps) {
			printf("# %s# rule %zu: applies %d, by %#x, %zu gaps\n", text, i,
			       form->applies, form->by, form->n_gaps);
			test_failures_here++;
		}
		CHECK_INT((form->by & BY_BROKER) != 0, form->classes != 0);
		CHECK_INT((form->by & BY_NAMESPACE) != 0, form->ns != 0);
		CHECK(!(form->classes & ~r->f.plan.brokered) && !(form->ns & ~r->f.plan.ns));
	}
	CHECK_INT(n, policy_n_rules(r->f.policy));
	for (size_t i = 0; i < r->report.n_classes; i++)
		classes |= r->report.classes[i].class;
	CHECK_INT(classes, r->f.plan.brokered);
}

static void random_reports(void)
{
	for (int round = 0; round < 400; round++) {
		struct buf text = {.p = NULL}, json = {.p = NULL};
		struct reported r;

		buf_printf(&text, "(%s default)\n", pick(2) ? "allow" : "deny");
		for (uint32_t n = 1 + pick(8); n > 0; n--)
			random_rule(&text);
		report_open(&r, text.p);
		set_world(&r.f, pick(32));
		report_now(&r);
		check_rules(&r, text.p);
		check_gaps(&r, text.p);
		plan_print_json(&r.f.plan, &r.f.input, &r.report, &json);
		CHECK(!json.failed && json.p[0] == '{' && json.p[json.n - 2] == '}');
		buf_release(&json);
		buf_release(&text);
		report_close(&r);
	}
}

/* Whatever allocation fails, the answer is an error. */
static void memory_runs_out(void)
{
	struct reported r;
	size_t used;
	int result = -ERR_MEMORY;

	report_of(&r, ALL_JUDGED);
	CHECK_INT(fixture_plan(&r.f), 0);
	used = r.f.arena.used;
	for (size_t limit = used; result != 0 && limit < used + (1u << 20); limit += 499) {
		CHECK_INT(fixture_plan(&r.f), 0);
		r.f.arena.limit = limit;
		result = plan_report(&r.f.plan, &r.f.input, &r.f.arena, &r.report, &r.f.e);
		r.f.arena.limit = 0;
		CHECK(result == 0 || result == -ERR_MEMORY);
	}
	CHECK_INT(result, 0);
	report_close(&r);
}

int main(void)
{
	RUN(what_rules_hold_by);
	RUN(rules_that_mean_nothing);
	RUN(forms_stand_once);
	RUN(why_classes_are_brokered);
	RUN(classes_for_policies_inside);
	RUN(calls_are_those_of_the_filter);
	RUN(prints);
	RUN(prints_crowds);
	RUN(random_reports);
	RUN(memory_runs_out);
	return test_done();
}
