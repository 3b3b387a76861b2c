/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt_lint(): each kind of warning on a profile that has earned it, beside a control that
 * differs in a word or two and has not.
 */
#include "test.h"

#include <lapbelt.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/banned.h"

struct row {
	const char *what;
	const char *text;    /* after (version 1)(deny default) and the end of that line */
	const char *want;    /* kind@line:column of each warning */
	const char *control; /* of this nothing is said */
	enum lapbelt_target target;
};

#define HOST LAPBELT_TARGET_LINUX
#define MAC  LAPBELT_TARGET_DARWIN

static const struct row rows[] = {
	/* ---- Patterns that match nothing ---- */
	{"two slashes", "(allow file-read* (subpath \"/a//b\"))", "no-match@2:28",
	 "(allow file-read* (subpath \"/a/b\"))", HOST},
	{"a slash at the end", "(allow file-read* (subpath \"/a/\"))", "no-match@2:28",
	 "(allow file-read* (subpath \"/a\"))", HOST},
	{"a slash at the end of a literal", "(allow file-read* (literal \"/a/\"))", "no-match@2:28",
	 "(allow file-read* (prefix \"/a/\"))", HOST},
	{"a dot between slashes", "(allow file-read* (literal \"/a/./b\"))", "no-match@2:28",
	 "(allow file-read* (literal \"/a/.b\"))", HOST},
	{"a dot at the end", "(allow file-read* (subpath \"/a/.\"))", "no-match@2:28",
	 "(allow file-read* (prefix \"/a/.\"))", HOST},
	{"two dots", "(allow file-read* (subpath \"/a/../b\"))", "no-match@2:28",
	 "(allow file-read* (subpath \"/a/...b/b\"))", HOST},
	{"a prefix with two slashes", "(allow file-read* (prefix \"/a//\"))", "no-match@2:27",
	 "(allow file-read* (prefix \"/\"))", HOST},
	{"relative", "(allow file-read* (subpath \"src\"))", "no-match@2:28",
	 "(allow file-read* (subpath \"/src\"))", HOST},
	{"what macOS may have a value for", "(allow file-read* (subpath \"$HOME/src\"))",
	 "no-match@2:28", "(allow file-read* (subpath \"${HOME}/src\"))", MAC},
	{"what Linux has none for", "(allow file-read* (subpath \"${HOME}/src\"))", "no-match@2:28",
	 "(allow file-read* (subpath \"/${HOME}/src\"))", HOST},
	{"empty", "(allow file-read* (literal \"\"))", "no-match@2:28",
	 "(allow file-read* (prefix \"\"))", HOST},
	{"one of several", "(allow file-read* (literal \"/b\" \"/a/\"))", "no-match@2:33",
	 "(allow file-read* (literal \"/b\" \"/a\"))", HOST},
	{"below a negation", "(allow file-read* (require-not (subpath \"/a/\")))", "no-match@2:41",
	 "(allow file-read* (require-not (subpath \"/a\")))", HOST},
	{"(?:", "(allow file-read* (regex #\"^/(?:a|b)$\"))", "no-match@2:26",
	 "(allow file-read* (regex #\"^/(a|b)$\"))", HOST},
	{"(?: elsewhere", "(allow sysctl-read (sysctl-name-regex #\"^(?:a|b)$\"))", "no-match@2:39",
	 "(allow sysctl-read (sysctl-name-regex #\"^(a|b)$\"))", HOST},
	{"a regex that ends in a slash", "(allow file-read* (regex #\"^/a/$\"))", "no-match@2:26",
	 "(allow file-read* (regex #\"^/a/\"))", HOST},
	{"a regex with two slashes", "(allow file-read* (regex #\"/a//b\"))", "no-match@2:26",
	 "(allow file-read* (regex #\"/a/b\"))", HOST},
	{"what comes after the end", "(allow file-read* (regex #\"^/a$b\"))", "no-match@2:26",
	 "(allow file-read* (regex #\"^/a\\$b\"))", HOST},
	{"filters that exclude each other",
	 "(allow file-read* (require-all (literal \"/a\") (literal \"/b\")))", "no-match@2:1",
	 "(allow file-read* (require-any (literal \"/a\") (literal \"/b\")))", HOST},
	{"no type is two",
	 "(allow file-read* (require-all (vnode-type DIRECTORY) (vnode-type SYMLINK)))",
	 "no-match@2:1",
	 "(allow file-read* (require-any (vnode-type DIRECTORY) (vnode-type SYMLINK)))", HOST},
	{"no service has two kinds of name",
	 "(allow mach-lookup (require-all (global-name \"a\" \"b\") (xpc-service-name \"c\")))",
	 "no-match@2:1",
	 "(allow mach-lookup (require-all (global-name \"a\" \"b\") (global-name \"b\")))", HOST},
	{"what Linux does not have is no mistake", "(allow file-read* (regex #\"(?:a)\"))",
	 "no-match@2:26", "(allow file-read* (extension \"com.apple.app-sandbox.read\"))", HOST},

	/* ---- Escapes that mean nothing ---- */
	{"\\d is a letter", "(allow file-read* (regex #\"^/a\\d\"))", "regex-escape@2:26",
	 "(allow file-read* (regex #\"^/a[0-9]\"))", HOST},
	{"so is \\w in a set", "(allow file-read* (regex #\"^/[\\w.]+$\"))", "regex-escape@2:26",
	 "(allow file-read* (regex #\"^/[A-Za-z0-9_.]+$\"))", MAC},
	{"and \\s in a name", "(allow sysctl-read (sysctl-name-regex #\"a\\sb\"))",
	 "regex-escape@2:39", "(allow sysctl-read (sysctl-name-regex #\"a\\.b\"))", HOST},
	{"a number is no group", "(allow file-read* (regex #\"^/(a)\\1\"))", "regex-escape@2:26",
	 "(allow file-read* (regex #\"^/(a)1\"))", HOST},
	{"a backslash may have one before it", "(allow file-read* (regex #\"\\\\\\d\"))",
	 "regex-escape@2:26", "(allow sysctl-read (sysctl-name-regex #\"\\\\d\\.\\/\\[\"))", HOST},
	{"a backslash too many", "(deny file-read* (regex #\"/\\\\.env$\"))", "regex-escape@2:25",
	 "(deny file-read* (regex #\"/\\.env$\"))", HOST},
	{"nor is it one more in a string", "(deny file-read* (regex \"/\\\\\\\\.env$\"))",
	 "regex-escape@2:25", "(deny file-read* (regex \"/\\\\.env$\"))", HOST},

	/* ---- What evaluation sees ---- */
	{"a filter outside of the rule", "(allow file-read* (literal \"/a\"))(literal \"/b\")",
	 "no-effect@2:34", "(allow file-read* (literal \"/a\") (literal \"/b\"))", HOST},
	{"a modifier", "(deny file-read* (literal \"/a\"))\n(with no-log)", "no-effect@3:1",
	 "(deny file-read* (literal \"/a\") (with no-log))", HOST},
	{"an operation", "(allow file-read* (literal \"/a\"))\nfile-write*", "no-effect@3:1",
	 "(allow file-write* file-read* (literal \"/a\"))", HOST},
	{"a string", "(allow file-read* (literal \"/a\")) \"/b\"", "no-effect@2:35",
	 "(allow file-read* (literal \"/a\" \"/b\"))", HOST},
	{"a filter by its name", "(define b (literal \"/b\"))\nb", "no-effect@3:1",
	 "(define b (literal \"/b\"))\n(allow file-read* b)", HOST},
	{"in a body", "(when #t (literal \"/b\") (allow signal))", "no-effect@2:10",
	 "(when #t (define b (literal \"/b\")) (allow file-read* b))", HOST},
	{"one form, evaluated often",
	 "(for-each (lambda (x) (literal x) (allow signal)) '(\"/a\" \"/b\"))", "no-effect@2:23",
	 "(for-each (lambda (x) (literal x)) '(\"/a\" \"/b\"))", HOST},
	{"an error that is hidden", "(catch #f\n  (allow file-raed*)\n  (allow signal))",
	 "caught-error@3:10", "(catch #f\n  (allow file-read*)\n  (allow signal))", HOST},
	{"what is thrown is none", "(catch #f (allow file-read* (literal 1)))", "caught-error@2:38",
	 "(catch #f (throw \"never mind\"))", HOST},
	{"within a procedure", "(define (f) (car '()))\n(catch #f (f))", "caught-error@2:13",
	 "(define (f) (throw 1))\n(catch #f (f))", HOST},

	/* ---- Links of macOS ---- */
	{"/tmp on macOS", "(allow file-write* (subpath \"/tmp\"))", "no-match@2:29",
	 "(allow file-write* (subpath \"/private/tmp\"))", MAC},
	{"below /etc on macOS", "(allow file-read* (literal \"/etc/hosts\"))", "no-match@2:28",
	 "(allow file-read* (literal \"/etc\"))", MAC},
	{"case does not count on macOS", "(allow file-read* (subpath \"/VAR/run\"))",
	 "no-match@2:28", "(allow file-read* (subpath \"/VARIOUS/run\"))", MAC},
	{"both spellings", "(allow file-write* (subpath \"/tmp/a\" \"/private/tmp/b\"))",
	 "no-match@2:29", "(allow file-write* (subpath \"/tmp/a\" \"/private/tmp/a\"))", MAC},
	{"a regex for /tmp on macOS", "(allow file-write* (regex #\"^/tmp/[a-z]\"))",
	 "no-match@2:27", "(allow file-write* (regex #\"^(/private)?/tmp/[a-z]\"))", MAC},
	{"both spellings of a regex",
	 "(allow file-write* (regex #\"^/tmp/a\" #\"^/private/tmp/b\"))", "no-match@2:27",
	 "(allow file-write* (regex #\"^/tmp/a\" #\"^/private/tmp/a\"))", MAC},
	{"what /tmp is on Linux", "(allow file-write* (subpath \"/tmp/\"))", "no-match@2:29",
	 "(allow file-write* (subpath \"/tmp\" \"/private/var\") (literal \"/etc/a\"))", HOST},

	/* ---- Dead rules ---- */
	{"behind a later rule",
	 "(deny file-read* (subpath \"/a/b\"))\n(allow file-read* (subpath \"/a\"))",
	 "dead-rule@2:1",
	 "(allow file-read* (subpath \"/a\"))\n(deny file-write* file-read* (subpath \"/a/b\"))",
	 HOST},
	{"behind rules that cover it together",
	 "(deny file-read* (literal \"/a/b\" \"/a/c\"))\n"
	 "(allow file-read* (literal \"/a/b\"))\n(allow file-read* (literal \"/a/c\"))",
	 "dead-rule@2:1",
	 "(deny file-write-unlink (literal \"/a/b\" \"/a/c\"))\n"
	 "(deny file-read* (literal \"/a/b\" \"/a/c\"))\n"
	 "(allow file-read* (literal \"/a/b\"))\n(allow file-read* (literal \"/a/d\"))",
	 HOST},
	{"behind a regex",
	 "(deny file-read* (literal \"/a/b.c\"))\n(allow file-read* (regex #\"c$\"))",
	 "dead-rule@2:1",
	 "(deny file-read* (literal \"/a/b.c\"))\n(allow file-read* (regex #\"/c$\"))", HOST},
	{"behind rules of a more specific operation",
	 "(allow user-preference* (preference-domain \"a\"))\n(deny user-preference-read)\n"
	 "(deny user-preference-write)",
	 "dead-rule@2:1",
	 "(allow user-preference* (preference-domain \"a\"))\n(deny user-preference-read)", HOST},
	{"writing a sysctl asks for all",
	 "(allow sysctl* (sysctl-name \"a\"))\n(deny sysctl* (sysctl-name \"a\"))", "dead-rule@2:1",
	 "(allow sysctl* (sysctl-name \"a\"))\n(deny sysctl-read)", HOST},
	{"for one of its operations",
	 "(deny file-read-data file-write* (literal \"/a\"))\n(allow file-read-data (subpath "
	 "\"/a\"))",
	 "dead-rule@2:1",
	 "(deny file-read-xattr file-write* (literal \"/a\"))\n"
	 "(allow file-read-data (subpath \"/a\"))",
	 HOST},
	{"by type",
	 "(deny file-read* (require-all (literal \"/a\") (vnode-type SOCKET)))\n"
	 "(allow file-read* (vnode-type SOCKET))",
	 "dead-rule@2:1",
	 "(deny file-read* (require-all (literal \"/a\") (vnode-type SOCKET)))\n"
	 "(allow file-read* (vnode-type FIFO))",
	 HOST},
	{"ports",
	 "(deny network-outbound (remote tcp \"*:80\"))\n(allow network-outbound (remote ip))",
	 "dead-rule@2:1",
	 "(allow network-outbound (remote ip))\n(deny network-outbound (remote tcp \"*:80\"))",
	 HOST},
	{"each port by itself",
	 "(deny network-outbound (remote tcp \"localhost:81\"))\n"
	 "(allow network-outbound (remote udp \"*:80\") (remote ip \"*:81\"))",
	 "dead-rule@2:1",
	 "(deny network-outbound (remote tcp \"localhost:80\"))\n"
	 "(allow network-outbound (remote udp \"*:80\") (remote ip \"*:81\"))",
	 HOST},
	{"names",
	 "(deny mach-lookup (global-name \"a.b\"))\n"
	 "(allow mach-lookup (global-name-prefix \"a.\"))",
	 "dead-rule@2:1",
	 "(deny mach-lookup (global-name \"a.b\"))\n"
	 "(allow mach-lookup (global-name-prefix \"a.c\"))",
	 HOST},
	{"one form, entered often: dead if it always is",
	 "(for-each (lambda (p) (deny file-read* (literal p))) '(\"/a/b\" \"/a/c\"))\n"
	 "(allow file-read* (subpath \"/a\"))",
	 "dead-rule@2:23",
	 "(for-each (lambda (p) (deny file-read* (literal p))) '(\"/a/b\" \"/c\"))\n"
	 "(allow file-read* (subpath \"/a\"))",
	 HOST},

	/* ---- Rules that change nothing ---- */
	{"the same, wider",
	 "(allow file-read* (subpath \"/a/b\"))\n(allow file-read* (subpath \"/a\"))",
	 "redundant-rule@2:1",
	 "(allow file-read* (subpath \"/a\"))\n(allow file-read* (subpath \"/a/b\"))", HOST},
	{"twice the same",
	 "(allow process-exec* (literal \"/a\"))\n(allow process-exec* (literal \"/a\"))",
	 "redundant-rule@2:1",
	 "(allow process-exec* (literal \"/a\"))\n(allow process-exec* (literal \"/b\"))", HOST},

	/* ---- Defaults ---- */
	{"a second default", "(allow signal)\n(deny signal)", "dead-default@2:1",
	 "(allow signal)\n(deny sysctl-read)", HOST},
	{"a default that is said twice", "(allow signal)\n(allow signal)", "dead-default@2:1",
	 "(allow signal)\n(allow signal (target self))", HOST},
	{"a default behind everything", "(deny file-ioctl)\n(allow file-ioctl (subpath \"/\"))",
	 "dead-default@2:1", "(deny file-ioctl)\n(allow file-ioctl (subpath \"/dev\"))", HOST},
	{"a default of what always has its own",
	 "(allow user-preference*)\n(deny user-preference-read)\n(deny user-preference-write)",
	 "dead-default@2:1", "(allow user-preference*)\n(deny user-preference-write)", HOST},
	{"default itself", "(allow default)", "dead-default@1:12", "(allow signal)", HOST},

	/* ---- Specific operations win ---- */
	{"a wildcard cannot take back",
	 "(allow file-write-create (subpath \"/a\"))\n(deny file-write* (subpath \"/a/b\"))",
	 "specific-wins@3:1",
	 "(deny file-write* (subpath \"/a/b\"))\n(allow file-write-create (subpath \"/a\"))", HOST},
	{"nor can it where both overlap",
	 "(allow file-read-data (subpath \"/a\"))\n(deny file-read* (regex #\"\\.env$\"))",
	 "specific-wins@3:1",
	 "(allow file-read-data (subpath \"/a\"))\n(deny file-read-data (regex #\"\\.env$\"))",
	 HOST},
	{"nor what has no filter", "(allow file-read-metadata)\n(deny file-read* (subpath \"/a\"))",
	 "specific-wins@3:1", "(allow file-read-metadata)\n(deny file-read-data (subpath \"/a\"))",
	 HOST},
	{"both operations named",
	 "(allow file-write-create (subpath \"/a\"))\n(deny file-write* (subpath \"/a/b\"))",
	 "specific-wins@3:1",
	 "(allow file-write-create (subpath \"/a\"))\n"
	 "(deny file-write* file-write-create (subpath \"/a/b\"))",
	 HOST},
	{"nor can it give back",
	 "(deny file-read-data (subpath \"/a\"))\n(allow file-read* (literal \"/a/b\"))",
	 "specific-wins@3:1",
	 "(deny file-read-data (subpath \"/a\"))\n(allow file-read* (subpath \"/\"))", HOST},
	{"two levels up", "(allow file-write-data (literal \"/a\"))\n(deny file* (subpath \"/a\"))",
	 "specific-wins@3:1",
	 "(allow file-write-data (literal \"/a\"))\n(deny file* (subpath \"/b\"))", HOST},
	{"other filters than paths",
	 "(allow process-info-pidinfo (target self))\n(deny process-info* (target same-sandbox))",
	 "specific-wins@3:1",
	 "(allow process-info-pidinfo (target self))\n(deny process-info* (target others))", HOST},

	/* ---- Connections ---- */
	{"a local end lets all out", "(allow network-outbound (local ip \"localhost:*\"))",
	 "local-egress@2:1", "(allow network-outbound (remote ip \"localhost:*\"))", HOST},
	{"through network*", "(allow network* (local tcp \"*:8080\"))", "local-egress@2:1",
	 "(allow network-inbound (local tcp \"*:8080\"))", HOST},
	{"both ends", "(allow network-outbound (local ip) (remote ip \"localhost:*\"))",
	 "local-egress@2:1",
	 "(allow network-outbound (require-all (local ip) (remote ip \"localhost:*\")))", HOST},
	{"what is open anyway", "(allow network-outbound (local ip))", "local-egress@2:1",
	 "(allow network-outbound (local ip))\n(allow network-outbound)", HOST},
	{"UDP", "(allow network-outbound (local udp))", "local-egress@2:1",
	 "(allow network-inbound (local udp))", HOST},
	{"unix sockets", "(allow network-outbound (local unix))", "local-egress@2:1",
	 "(allow network-outbound (remote unix))", HOST},
	{"unix sockets in Apple's older words", "(allow network* (local unix-socket))",
	 "local-egress@2:1", "(allow network-bind (local unix-socket))", MAC},
	{"one's own end, and where to", "(allow network-outbound (local unix) (literal \"/s\"))",
	 "local-egress@2:1", "(allow network-outbound (local unix (path-literal \"/s\")))", HOST},

	/* ---- Names that move ---- */
	{"a secret that may be moved",
	 "(allow file* (subpath \"/\"))\n(deny file-read* (literal \"/a/secret\"))",
	 "rename-hole@3:1", "(allow file* (subpath \"/\"))\n(deny file* (literal \"/a/secret\"))",
	 MAC},
	{"on Linux it fails",
	 "(allow file* (subpath \"/\"))\n(deny file-read* (literal \"/a/secret\"))",
	 "rename-hole@3:1", "(allow file* (subpath \"/\"))\n(deny file* (literal \"/a/secret\"))",
	 HOST},
	{"nobody but root moves what is in /private",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/private/var/a/secret\"))",
	 "rename-hole@3:1",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/private/secret\"))", MAC},
	{"a directory above",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/home/u/.config/secret\"))",
	 "rename-hole@3:1",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/home/u/.config/secret\"))\n"
	 "(deny file-write-unlink (literal \"/home/u/.config\"))",
	 MAC},
	{"nobody but root moves a home",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/home/u/a/.ssh\"))",
	 "rename-hole@3:1",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/home/u/.ssh\"))", MAC},
	{"nor is that another home where case does not count",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/USERS/u/a/.ssh\"))",
	 "rename-hole@3:1",
	 "(allow file* (subpath \"/\"))\n(deny file* (regex #\"^/Users/u/[.]ssh(/|$)\"))", MAC},
	{"where it does, /users is no such folder",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/users/u/.ssh\"))",
	 "rename-hole@3:1",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/Users/u/.ssh\"))", HOST},
	{"nowhere to move it to",
	 "(allow file-write* (subpath \"/a\"))\n(allow file-read* (subpath \"/a\" \"/b\"))\n"
	 "(deny file-read* (literal \"/a/secret\"))",
	 "rename-hole@4:1",
	 "(allow file-write* (literal \"/a/secret\"))\n(allow file-read* (subpath \"/a\" \"/b\"))\n"
	 "(deny file-read* (literal \"/a/secret\"))",
	 MAC},
	{"a name that is denied anywhere",
	 "(allow file* (subpath \"/\"))\n(deny file* (subpath \"/s/u/.config/secret\"))",
	 "rename-hole@3:1",
	 "(allow file* (subpath \"/\"))\n(deny file* (regex #\"/\\.config(/|$)\"))", MAC},
};

struct given {
	struct buf text;
	unsigned n;
};

static void note(void *context, const struct lapbelt_warning *warning)
{
	struct given *given = context;

	buf_printf(&given->text, "%s%s@%u:%u", given->n++ ? " " : "", warning->kind, warning->line,
		   warning->column);
	CHECK(warning->text[0] && !strchr(warning->text, '\n'));
}

/* The warnings of TEXT, to be released. */
static struct buf lint_text(const char *text, enum lapbelt_target target)
{
	struct lapbelt_policy_options options = {.size = sizeof(options), .target = target};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy = NULL;
	struct given given = {0};

	if (lapbelt_policy_from_text(text, "t.sb", &options, &policy, &error) < 0) {
		printf("# %u:%u: %s\n", error.line, error.column, error.text);
		test_failures_here++;
	} else {
		CHECK_INT(lapbelt_lint(policy, note, &given, &error), 0);
	}
	lapbelt_policy_free(policy);
	return given.text;
}

static void check_text(const struct row *row, const char *text, const char *want)
{
	struct buf whole = {0}, got;
	unsigned failures = test_failures_here;

	buf_printf(&whole, "(version 1)(deny default)\n%s", text);
	got = lint_text(whole.p, row->target);
	CHECK_STR(buf_str(&got).p, want);
	if (test_failures_here > failures)
		printf("# %s: %s\n", row->what, text);
	buf_release(&whole);
	buf_release(&got);
}

static void each_kind_beside_its_control(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check_text(&rows[i], rows[i].text, rows[i].want);
		check_text(&rows[i], rows[i].control, "");
	}
}

/* ---- Lengths ---- */

/* (allow file-read* (literal "/aaa...")) with paths of N bytes, COUNT of them. */
static struct buf long_profile(size_t n, unsigned count)
{
	struct buf text = {0};

	buf_puts(&text, "(version 1)(deny default)\n(allow file-read* (literal");
	for (unsigned i = 0; i < count; i++) {
		buf_printf(&text, " \"/%04u", i);
		for (size_t j = 5; j < n; j++)
			buf_putc(&text, j % 200 ? 'a' : '/');
		buf_puts(&text, "\"");
	}
	buf_puts(&text, "))");
	return text;
}

static void lengths(void)
{
	static const struct {
		enum lapbelt_target target;
		size_t bytes;
		unsigned count;
		const char *want;
	} table[] = {
		{HOST, 4095, 1, ""},  {HOST, 4096, 1, "too-long@2:28"},
		{MAC, 1023, 1, ""},   {MAC, 1024, 1, "too-long@2:28"},
		{MAC, 1000, 65, ""},  {MAC, 1000, 66, "too-long@2:1"},
		{HOST, 1000, 66, ""},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct buf text = long_profile(table[i].bytes, table[i].count);
		struct buf got = lint_text(text.p, table[i].target);

		CHECK_STR(buf_str(&got).p, table[i].want);
		buf_release(&text);
		buf_release(&got);
	}
}

/* ---- What is said ---- */

struct expected {
	const char *text, *hint, *path;
	unsigned n;
};

static void compare(void *context, const struct lapbelt_warning *warning)
{
	struct expected *expected = context;

	expected->n++;
	CHECK_STR(warning->file, "t.sb");
	CHECK_STR(warning->text, expected->text);
	CHECK_STR(warning->hint, expected->hint);
	CHECK_STR(warning->path, expected->path);
}

static void words_and_witnesses(void)
{
	static const struct {
		const char *profile;
		struct expected expected;
	} table[] = {
		{"(version 1)(deny default)\n"
		 "(deny file-read* (subpath \"/a/b\"))\n"
		 "(allow file-read* (subpath \"/a\"))",
		 {.text = "this rule never decides: wherever it matches others do, such as line 3 "
			  "for "
			  "'/a/b'",
		  .hint = "of the rules of one operation the last that matches decides: exceptions "
			  "stand behind what they are exceptions from",
		  .path = "/a/b"}},
		{"(version 1)(deny default)\n"
		 "(allow file-write-create file-write-data (subpath \"/a\"))\n"
		 "(deny file-write* (subpath \"/a/b\"))",
		 {.text = "this rule does not deny file-write-create of '/a/b': line 2, a rule of "
			  "file-write-create, wins over rules of file-write*",
		  .hint = "name both: (deny file-write* file-write-create file-write-data ...)",
		  .path = "/a/b"}},
		{"(version 1)(deny default)(allow file-read* (subpath \"/a/./../b//c/\"))",
		 {.text = "(subpath \"/a/./../b//c/\") matches nothing: no path has a '.' between "
			  "slashes",
		  .hint = "write (subpath \"/b/c\")",
		  .path = ""}},
		{"(version 1)(deny default)\n"
		 "(deny file-read-data file-ioctl (subpath \"/a/b\"))\n"
		 "(deny file-read-data (subpath \"/a\"))",
		 {.text = "for file-read-data this rule changes nothing: wherever it matches "
			  "others "
			  "deny too, such as line 3 for '/a/b'",
		  .hint = "it can go",
		  .path = "/a/b"}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct lapbelt_policy_options options = {.size = sizeof(options), .target = HOST};
		struct expected expected = table[i].expected;
		struct lapbelt_policy *policy = NULL;

		CHECK_INT(
			lapbelt_policy_from_text(table[i].profile, "t.sb", &options, &policy, NULL),
			0);
		CHECK_INT(lapbelt_lint(policy, compare, &expected, NULL), 0);
		CHECK_INT(expected.n, 1);
		lapbelt_policy_free(policy);
	}
}

/* ---- Whose rules ---- */

static const char dead[] = "(deny file-read* (subpath \"/a/b\"))\n(allow file-read* (subpath "
			   "\"/a\"))\n";

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0);
	if (file)
		CHECK_INT(fclose(file), 0);
}

static void count(void *context, const struct lapbelt_warning *warning)
{
	(void)warning;
	++*(unsigned *)context;
}

static unsigned count_warnings(const char *text, const char *folder, unsigned flags)
{
	struct lapbelt_policy_options options = {
		.size = sizeof(options), .target = HOST, .import_dir = folder, .flags = flags};
	struct lapbelt_policy *policy = NULL;
	unsigned n = 0;

	CHECK_INT(lapbelt_policy_from_text(text, "t.sb", &options, &policy, NULL), 0);
	CHECK_INT(lapbelt_lint(policy, count, &n, NULL), 0);
	lapbelt_policy_free(policy);
	return n;
}

static void imports_of_the_users_count_and_ours_do_not(void)
{
	char folder[] = "/tmp/lapbelt-lint-XXXXXX", path[64];

	CHECK(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/mine.sb", folder);
	write_file(path, dead);
	CHECK_INT(count_warnings("(version 1)(deny default)(import \"mine.sb\")", folder, 0), 1);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(rmdir(folder), 0);
	/* Rules of system.sb and of the runtime are dead here. */
	CHECK_INT(count_warnings("(version 1)(deny default)(import \"system.sb\")"
				 "(allow file* (subpath \"/\"))",
				 NULL, LAPBELT_POLICY_RUNTIME),
		  0);
	CHECK_INT(count_warnings("(version 1)(deny default)"
				 "(allow file-read* (literal \"/\"))(allow file* (subpath \"/\"))"
				 "(allow file-read* (literal \"/\" \"/a\"))",
				 NULL, LAPBELT_POLICY_RUNTIME),
		  1);
}

static void what_evaluation_notes_is_bounded(void)
{
	const unsigned most = 1000;

	for (unsigned n = most - 1; n <= most + 2; n++) {
		struct buf text = {0};

		buf_puts(&text, "(version 1)\n");
		for (unsigned i = 0; i < n; i++)
			buf_puts(&text, "signal\n");
		/* Past it, one says that there are more. */
		CHECK_INT(count_warnings(text.p, NULL, 0), n <= most ? n : most + 1);
		buf_release(&text);
	}
}

static void version_three_copies_defaults(void)
{
	struct buf got = lint_text("(version 3)(allow default)\n"
				   "(allow default (subpath \"/a\"))\n"
				   "(deny file-link (subpath \"/\"))",
				   HOST);

	CHECK_STR(buf_str(&got).p, "");
	buf_release(&got);
	got = lint_text("(version 3)\n(deny default (subpath \"/a/b\"))\n"
			"(allow default (subpath \"/a\"))",
			HOST);
	CHECK_STR(buf_str(&got).p, "dead-rule@2:1");
	buf_release(&got);
}

static void kinds_have_names(void)
{
	const char *const *kinds = lapbelt_lint_kinds();
	unsigned n = 0;

	for (; kinds[n]; n++) {
		bool used = strcmp(kinds[n], "too-long") == 0;

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !used; i++)
			used = strstr(rows[i].want, kinds[n]);
		CHECK(used);
	}
	CHECK_INT(n, 11);
}

int main(void)
{
	RUN(each_kind_beside_its_control);
	RUN(lengths);
	RUN(words_and_witnesses);
	RUN(imports_of_the_users_count_and_ours_do_not);
	RUN(what_evaluation_notes_is_bounded);
	RUN(version_three_copies_defaults);
	RUN(kinds_have_names);
	return test_done();
}
