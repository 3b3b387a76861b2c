/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "sbpl_world.h"

/* ---- Rules as text ---- */

static void show_endpoint(struct buf *buf, const struct endpoint_pattern *endpoint)
{
	buf_printf(buf, "%u %s ", endpoint->proto, endpoint->localhost ? "localhost" : "*");
	if (endpoint->port == PORT_ANY)
		buf_puts(buf, "*");
	else
		buf_printf(buf, "%d", endpoint->port);
}

static void show_test(struct buf *buf, const struct test *test)
{
	static const char *const matches[] = {
		[MATCH_LITERAL] = "=", [MATCH_PREFIX] = "prefix ", [MATCH_SUBPATH] = "below ",
		[MATCH_REGEX] = "~",   [MATCH_STRING] = "is ",
	};
	static const char *const names[] = {
#define FILTER(symbol, name, category, argument) name,
#include "policy/filters.def"
#undef FILTER
	};

	buf_printf(buf, "%s ", names[test->filter]);
	switch (test->match) {
	case MATCH_INTEGER:
		buf_printf(buf, "%lld", (long long)test->number);
		break;
	case MATCH_BITS:
		buf_printf(buf, "&%llo", (long long)test->number);
		break;
	case MATCH_BOOL:
		buf_puts(buf, test->number ? "yes" : "no");
		break;
	case MATCH_ENDPOINT:
		show_endpoint(buf, &test->endpoint);
		break;
	default:
		buf_puts(buf, matches[test->match]);
		buf_add_str(buf, test->text);
		break;
	}
}

static void show_expr(struct buf *buf, const struct expr *expr)
{
	static const char *const kinds[] = {
		[EXPR_ALL] = "all", [EXPR_ANY] = "any", [EXPR_NOT] = "not"};

	if (expr->kind == EXPR_TEST) {
		show_test(buf, &expr->test);
		return;
	}
	buf_printf(buf, "%s(", kinds[expr->kind]);
	for (size_t i = 0; i < expr->n; i++) {
		buf_puts(buf, i ? ", " : "");
		show_expr(buf, expr->kids[i]);
	}
	buf_puts(buf, ")");
}

static void show_rule(struct buf *buf, const struct rule *rule)
{
	buf_printf(buf, "%s %s", verdict_name(rule->verdict), op_name(rule->op));
	if (rule->filter) {
		buf_puts(buf, " ");
		show_expr(buf, rule->filter);
	}
	for (size_t i = 0; i < rule->n_modifiers; i++) {
		const struct modifier *modifier = &rule->modifiers[i];

		buf_printf(buf, " with %s", modifier_name(modifier->id));
		if (modifier->text.n)
			buf_printf(buf, " %.*s", (int)modifier->text.n, modifier->text.p);
		if (modifier->number)
			buf_printf(buf, " %lld", (long long)modifier->number);
	}
	buf_puts(buf, "; ");
}

/* ---- What profiles mean ---- */

struct meaning {
	const char *text, *rules;
};

static void check_meanings(const struct meaning *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf text = {0}, shown = {0};
		struct policy *policy;
		bool has_version = strstr(rows[i].text, "(version") != NULL;

		buf_printf(&text, "%s%s", has_version ? "" : "(version 1)", rows[i].text);
		if (compile(buf_str(&text).p, &policy) < 0)
			printf("# %s: %s\n", rows[i].text, errors.list[0].text);
		CHECK(policy);
		for (size_t k = 0; policy && k < policy_n_rules(policy); k++)
			show_rule(&shown, policy_rule(policy, k));
		if (strcmp(buf_str(&shown).p, rows[i].rules) != 0)
			printf("# %s\n", rows[i].text);
		CHECK_STR(buf_str(&shown).p, rows[i].rules);
		policy_free(policy);
		buf_release(&text);
		buf_release(&shown);
	}
}

static void rules_mean(void)
{
	static const struct meaning rows[] = {
		{"", ""},
		{"(deny default)", "deny default; "},
		{"(ALLOW Default)", "allow default; "},
		/* Arguments are told apart by what they are. */
		{"(allow (subpath \"/a\") file-read* (with report) file-write*)",
		 "allow file-read* path below /a with report; "
		 "allow file-write* path below /a with report; "},
		{"(allow file-read* (literal \"/a\" \"/b\") (prefix \"/c\"))",
		 "allow file-read* any(any(path =/a, path =/b), path prefix /c); "},
		{"(deny file-read* (regex #\"^/a\\.b$\" \"^/\\\\.\"))",
		 "deny file-read* any(path ~^/a\\.b$, path ~^/\\.); "},
		{"(allow file* (require-all (subpath \"/a\") (require-not (vnode-type "
		 "DIRECTORY))))",
		 "allow file* all(path below /a, not(vnode-type 2)); "},
		{"(allow file* (require-any (file-mode #o0004) (tty)))",
		 "allow file* any(file-mode &4, vnode-type 65535); "},
		{"(apply deny file-read* (list))", "deny file-read*; "},
		/* Older names; one that is gone takes its rule along. */
		{"(allow process-exec (path \"/bin/sh\") (with no-profile))",
		 "allow process-exec* path =/bin/sh with no-sandbox; "},
		{"(allow mach-per-user-lookup)(allow signal system-chud)", "allow signal; "},
		{"(allow mach-lookup (global-name \"a\") (local-name-prefix \"b\"))",
		 "allow mach-lookup any(global-name =a, local-name prefix b); "},
		{"(allow user-preference-read (preference-domain \"com.x\"))",
		 "allow user-preference-read preference-domain prefix com.x; "},
		{"(allow signal (target self) (target 3) (signal-number SIGTERM))",
		 "allow signal any(target 1, target 3, signal-number 15); "},
		{"(allow file* (extension \"e\"))", "allow file* extension is e; "},
		{"(allow distributed-notification-post (notification-payload))",
		 "allow distributed-notification-post notification-payload yes; "},
		{"(allow distributed-notification-post (notification-payload #f))",
		 "allow distributed-notification-post notification-payload no; "},
		/* A parent takes what its children take. */
		{"(deny process-info* (target others))", "deny process-info* target 3; "},
		{"(allow file-read* (path-ancestors \"/a/bc/d/\"))",
		 "allow file-read* any(path =/, path =/a, path =/a/bc); "},
		{"(allow file-ioctl (ioctl-command (_IO \"h\" 47)))",
		 "allow file-ioctl ioctl-command 26671; "},
		/* Where a test that is never true only denies more it may stand. */
		{"(allow mach-lookup (literal \"/a\"))(deny signal (require-not (literal \"/a\")))",
		 "allow mach-lookup path =/a; deny signal not(path =/a); "},
		{"(allow file* (path-ancestors \"${HOME}/a/b/\"))",
		 "allow file* any(path =${HOME}, path =${HOME}/a); "},
		{"(allow file* (container) (executable-bundle))",
		 "allow file* any(extension is com.apple.sandbox.container, "
		 "extension is com.apple.sandbox.executable); "},
		{"(with-transparent-redirection (allow file*) (deny signal))",
		 "allow file*; deny signal; "},
		{"(eval (read (open-input-string \"(allow signal)\")))", "allow signal; "},
		{"(define-once n \"a\")(define-once n \"b\")(allow mach-lookup (global-name n))",
		 "allow mach-lookup global-name =a; "},
		{"(define-once (f) (allow signal))(define-once (f) (deny signal))(f)",
		 "allow signal; "},
		{"(allow sysctl-write file-unlink time-set iokit-open)",
		 "allow sysctl*; allow file-write-unlink; allow system-set-time; allow "
		 "iokit-open*; "},
		{"(deny storage-class-map)", "deny storage-class-map; "},
		/* Versions. */
		{"(define (f) (allow signal))(version 2)(f)", "allow signal; "},
		/* Rules so far. */
		{"(define (can op what) (if (sbpl-operation-can-return? op what) (allow signal)))"
		 "(deny default)(allow file-read* (literal \"/\"))"
		 "(can file-read-data 'allow)(can file-read-data 'deny)(can file-link 'allow)"
		 "(can file-link 'deny)(can mach-lookup 'allow)",
		 "deny default; allow file-read* path =/; allow signal; allow signal; allow "
		 "signal; "},
	};

	check_meanings(rows, COUNT(rows));
}

static void addresses_mean(void)
{
	static const struct meaning rows[] = {
		{"(allow network* (remote ip))", "allow network* remote 3 * *; "},
		{"(allow network* (remote tcp4 \"*:443\"))", "allow network* remote 5 * 443; "},
		{"(allow network* (local udp \"localhost:*\" \"*\" \"localhost\"))",
		 "allow network* any(local 11 localhost *, local 11 * *, local 11 localhost *); "},
		{"(allow network* (from ip6 \"*:1\") (to ip \"*:65535\"))",
		 "allow network* any(local 2 * 1, remote 3 * 65535); "},
		{"(allow network-outbound (remote unix))",
		 "allow network-outbound remote 16 * *; "},
		{"(allow network-outbound (remote unix-socket (path-literal \"/s\")))",
		 "allow network-outbound all(remote 16 * *, path =/s); "},
		{"(allow network-bind (literal \"/s\") (local unix))",
		 "allow network-bind any(path =/s, local 16 * *); "},
		{"(allow system-socket (socket-domain AF_INET))",
		 "allow system-socket socket-domain 2; "},
	};

	check_meanings(rows, COUNT(rows));
}

static void modifiers_mean(void)
{
	static const struct meaning rows[] = {
		{"(deny default (with message \"m\") (with no-log))",
		 "deny default with message m with no-report; "},
		{"(deny (with ENOENT) file* (with send-signal SIGKILL))",
		 "deny file* with errno 2 with send-signal 9; "},
		{"(deny signal (with termination))", "deny signal with send-signal 9; "},
		{"(deny signal (with errno EACCES))", "deny signal with errno 13; "},
		{"(allow signal (with no-callout))", "allow signal; "},
		{"(allow iokit-open (apply-message-filter (deny iokit-external-method)))",
		 "allow iokit-open* with message-filter; "},
		{"(apply-message-filter (with-modifier (with report) (allow signal)))"
		 "(allow mach-lookup)",
		 "allow mach-lookup; "},
	};

	check_meanings(rows, COUNT(rows));
}

static void wrappers_reach_every_rule(void)
{
	static const struct meaning rows[] = {
		{"(with-filter (extension \"e\") (allow file* (literal \"/a\") (literal \"/b\"))"
		 " (deny file*)) (allow file*)",
		 "allow file* all(any(path =/a, path =/b), extension is e); "
		 "deny file* extension is e; allow file*; "},
		/* Rules entered by procedures called from the body too. */
		{"(define (f) (allow file* (literal \"/a\")))"
		 "(with-filter (extension \"1\") (with-filter (extension \"2\") (f)))(f)",
		 "allow file* all(all(path =/a, extension is 2), extension is 1); "
		 "allow file* path =/a; "},
		{"(with-modifier (with report) (allow signal))", "allow signal with report; "},
		/* A continuation ends them; what the body defines is its own. */
		{"(call/cc (lambda (k) (with-filter (extension \"e\") (allow signal) (k 1))))(deny "
		 "signal)",
		 "allow signal extension is e; deny signal; "},
		{"(catch (allow file*) (with-filter (extension \"e\") (throw 1)))",
		 "allow file*; "},
		{"(define l 1)(with-filter (extension \"e\") (define l 2))(if (= l 1) (allow "
		 "signal))",
		 "allow signal; "},
		{"(with-operations (list file-read* signal) (allow) (allow mach-lookup))",
		 "allow file-read*; allow signal; "
		 "allow mach-lookup; allow file-read*; allow signal; "},
		{"(with-filter (require-entitlement \"k\") (allow mach-lookup))",
		 "allow mach-lookup all(%entitlement-load is k, %entitlement-boolean yes); "},
		{"(allow mach-lookup (require-entitlement \"k\" (entitlement-value \"v\")))",
		 "allow mach-lookup all(%entitlement-load is k, %entitlement-string =v); "},
	};

	check_meanings(rows, COUNT(rows));
}

/* In the manner of what agents and browsers ship. */
static void whole_profiles_compile(void)
{
	static const struct meaning rows[] = {
		{agent_profile,
		 "deny default with message agent; allow process-exec*; allow process-fork; "
		 "allow signal target 5; "
		 "allow sysctl-read any(sysctl-name =hw.ncpu, sysctl-name prefix kern.); "
		 "allow file-read* any(path below /usr, path =/, "
		 "all(path below /home/u/src, vnode-type 1)); "
		 "allow syscall-unix; allow file-write* path below /home/u/src; "
		 "deny file-write* path ~^/home/u/src/(.*/)?\\.git/hooks(/.*)?$; "
		 "allow network-outbound remote 7 localhost 8080; "
		 "allow mach-lookup global-name =com.a; allow mach-lookup global-name =com.b; "},
		{"(version 2)(debug deny)(trace \"/t\")(disable-callouts)(allow default)",
		 "allow default; "},
	};

	check_meanings(rows, COUNT(rows));
}

/* ---- Where rules come from ---- */

static void rules_know_their_text(void)
{
	static const char text[] =
		"(version 1)\n\n  (allow   file-read* ; why\n\t(literal \"/a  b\")\n"
		"  (regex #\"^x\"))\n"
		"(define (f p) (deny file* (subpath p)))\n(f \"/p\")\n";
	const struct rule *rule;
	struct policy *policy;

	CHECK_INT(compile(text, &policy), 0);
	if (!policy)
		return;
	rule = policy_rule(policy, 0);
	CHECK_STR(rule->at.file, "p.sb");
	CHECK_INT(rule->at.line, 3);
	CHECK_INT(rule->at.column, 3);
	CHECK_STR(rule->text.p, "(allow file-read* (literal \"/a  b\") (regex #\"^x\"))");
	CHECK_INT(rule->origin, ORIGIN_PROFILE);
	CHECK_INT(rule->filter->kids[1]->test.at.line, 5);
	CHECK_INT(rule->filter->kids[1]->test.at.column, 10);
	rule = policy_rule(policy, 1);
	CHECK_INT(rule->at.line, 6);
	CHECK_INT(rule->at.column, 15);
	CHECK_INT(rule->filter->test.at.line, 7);
	policy_free(policy);
}

static void long_texts_are_cut(void)
{
	struct buf text = {0};
	struct policy *policy;

	buf_puts(&text, "(version 1)(allow file* (literal \"/");
	for (int i = 0; i < 300; i++)
		buf_puts(&text, "\xc3\xa9");
	buf_puts(&text, "\"))");
	CHECK_INT(compile(buf_str(&text).p, &policy), 0);
	if (policy) {
		struct str cut = policy_rule(policy, 0)->text;

		/* 24 bytes before the first of the two-byte letters, so 200 fit exactly. */
		CHECK_INT(cut.n, 200 + strlen("\u2026"));
		CHECK(str_starts(cut, STR("(allow file* (literal \"/\xc3")));
		CHECK(str_ends(cut, STR("\xa9\u2026")));
	}
	policy_free(policy);
	buf_release(&text);
}

/* What is not cut has no mark; a cut may fall between tokens and inside a character. */
static void only_cut_texts_are_marked(void)
{
	static const struct {
		int letters; /* in front of one of two bytes */
		size_t n;
		bool is_marked;
	} rows[] = {{171, 200, false}, {172, 200, true}, {174, 200, true}, {175, 199, true}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf text = {0};
		struct policy *policy;

		buf_puts(&text, "(version 1)(allow file* (literal \"/");
		for (int k = 0; k < rows[i].letters; k++)
			buf_putc(&text, 'a');
		buf_puts(&text, "\u00e9\"))");
		CHECK_INT(compile(buf_str(&text).p, &policy), 0);
		if (policy) {
			struct str got = policy_rule(policy, 0)->text;

			CHECK_INT(str_ends(got, STR("\u2026")), rows[i].is_marked);
			CHECK_INT(got.n - (rows[i].is_marked ? strlen("\u2026") : 0), rows[i].n);
		}
		policy_free(policy);
		buf_release(&text);
	}
}

static void imports_share_the_environment(void)
{
	struct policy *policy;

	CHECK_INT(compile("(version 1)(import \"outer.sb\")\n"
			  "(allow file-read* (subpath (in-home \"/x\")))"
			  "(when *import-path* (error \"still\"))",
			  &policy),
		  0);
	if (!policy) {
		printf("# %s\n", errors.list[0].text);
		return;
	}
	CHECK_INT(policy_n_rules(policy), 3);
	CHECK_STR(policy_rule(policy, 0)->at.file, "good.sb");
	CHECK_INT(policy_rule(policy, 0)->at.line, 3);
	CHECK_STR(policy_rule(policy, 0)->filter->test.text.p, "good.sb");
	CHECK_STR(policy_rule(policy, 1)->filter->test.text.p, "outer.sb");
	CHECK_STR(policy_rule(policy, 2)->filter->test.text.p, "/home/u/x");
	policy_free(policy);
}

static void import_errors_name_the_file(void)
{
	struct sbpl_options options = options_default();
	struct policy *policy;

	CHECK(compile("(version 1)(import \"bad.sb\")\n(import \"open.sb\")\n"
		      "(import \"none.sb\")(more)",
		      &policy) < 0);
	CHECK_INT(errors.n, 5);
	CHECK_STR(errors.list[0].text, "unbound variable: oops");
	CHECK_STR(errors.list[0].at.file, "bad.sb");
	CHECK_INT(errors.list[0].at.line, 2);
	CHECK_INT(errors.list[1].at.line, 4);
	CHECK_STR(errors.list[2].text, "unmatched parentheses: 2");
	CHECK_STR(errors.list[2].at.file, "open.sb");
	CHECK_INT(errors.list[2].at.column, 2);
	CHECK_STR(errors.list[3].text, "unable to open none.sb");
	CHECK_STR(errors.list[3].at.file, "p.sb");
	CHECK_INT(errors.list[3].at.line, 3);
	CHECK_STR(errors.list[4].text, "unbound variable: more");

	options.import = NULL;
	CHECK(compile_text(STR("(version 1)(import \"good.sb\")"), &options, &policy) < 0);
	CHECK_STR(errors.list[0].text, "unable to open good.sb");
}

static void runtime_sources_stand_alone(void)
{
	struct sbpl_source sources[] = {
		{"p.sb", STR("(version 1)(define mine 1)(allow signal)"), ORIGIN_PROFILE},
		{"rt.sb", STR("(allow file-read* (literal \"/lib\"))"), ORIGIN_RUNTIME},
		{"q.sb", STR("(when mine (deny signal))"), ORIGIN_PROFILE},
		{"rt2.sb", STR("(allow file-read* (literal mine))"), ORIGIN_RUNTIME},
	};
	struct sbpl_options options = options_default();
	struct policy *policy = NULL;

	CHECK_INT(sbpl_compile(sources, 3, &options, &policy, &errors), 0);
	if (policy) {
		CHECK_INT(policy_n_rules(policy), 3);
		CHECK_INT(policy_rule(policy, 0)->origin, ORIGIN_PROFILE);
		CHECK_INT(policy_rule(policy, 1)->origin, ORIGIN_RUNTIME);
		CHECK_STR(policy_rule(policy, 1)->at.file, "rt.sb");
		CHECK_INT(policy_rule(policy, 2)->origin, ORIGIN_PROFILE);
		policy_free(policy);
	}
	policy = NULL;
	CHECK(sbpl_compile(sources, 4, &options, &policy, &errors) < 0);
	CHECK_STR(errors.list[0].text, "unbound variable: mine");
	CHECK_STR(errors.list[0].at.file, "rt2.sb");
}

static enum verdict decides(const char *text, enum op op)
{
	struct policy *policy;
	struct decision decision = {.verdict = VERDICT_DENY};

	CHECK_INT(compile(text, &policy), 0);
	if (policy)
		policy_decide(policy, &(struct request){.op = op, .path = STR("/f")}, &decision);
	policy_free(policy);
	return decision.verdict;
}

static void no_operation_has_many_ancestors(void)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		unsigned depth = 0;

		for (enum op above = op; above != OP_DEFAULT; above = op_parent(above))
			depth++;
		CHECK(depth < 8);
	}
}

/* Version 3 has no built-in defaults; an operation's own rules still come first. */
static void version_3_falls_to_default(void)
{
	CHECK_INT(decides("(version 1)(deny default)", OP_FILE_LINK), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)", OP_FILE_LINK), VERDICT_DENY);
	CHECK_INT(decides("(version 3)", OP_FILE_LINK), VERDICT_DENY);
	CHECK_INT(decides("(version 3)(deny default)(allow file-link)", OP_FILE_LINK),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)(allow file-link (literal \"/f\"))",
			  OP_FILE_LINK),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)(allow file-link (literal \"/g\"))",
			  OP_FILE_LINK),
		  VERDICT_DENY);
	/* syscall* decides for syscall-unix, which falls to no parent before version 3. */
	CHECK_INT(decides("(version 1)(deny syscall*)", OP_SYSCALL_UNIX), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)(allow syscall*)", OP_SYSCALL_UNIX),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow default)(deny syscall*)", OP_SYSCALL_UNIX),
		  VERDICT_DENY);
	CHECK_INT(decides("(version 3)(allow syscall* (uid 1))(allow default)", OP_SYSCALL_UNIX),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow syscall* (uid 1))", OP_SYSCALL_UNIX), VERDICT_DENY);
	/* A filtered rule of a nearer one counts before the unfiltered rule of a farther one. */
	CHECK_INT(decides("(version 3)(deny default)(allow system* (literal \"/f\"))",
			  OP_SYSTEM_MAC_SYSCALL),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow system*)(deny system-mac* (literal \"/f\"))",
			  OP_SYSTEM_MAC_SYSCALL),
		  VERDICT_DENY);
	/* sysctl-write is its own name again; version 1 knows it for both. */
	CHECK_INT(decides("(version 1)(allow sysctl-write)", OP_SYSCTL_READ), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow sysctl-write)", OP_SYSCTL_READ), VERDICT_DENY);
	CHECK_INT(decides("(version 3)(allow sysctl-write)", OP_SYSCTL_WRITE), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow ipc-posix-shm-read*)", OP_IPC_POSIX_SHM_READ_DATA),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 1)(allow default)", OP_FILE_WRITE_SETUGID), VERDICT_DENY);
	CHECK_INT(decides("(version 3)(allow default)", OP_FILE_WRITE_SETUGID), VERDICT_ALLOW);
}

int main(void)
{
	RUN(rules_mean);
	RUN(addresses_mean);
	RUN(modifiers_mean);
	RUN(wrappers_reach_every_rule);
	RUN(whole_profiles_compile);
	RUN(rules_know_their_text);
	RUN(long_texts_are_cut);
	RUN(only_cut_texts_are_marked);
	RUN(imports_share_the_environment);
	RUN(import_errors_name_the_file);
	RUN(runtime_sources_stand_alone);
	RUN(no_operation_has_many_ancestors);
	RUN(version_3_falls_to_default);
	return test_done();
}
