/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters: a form's arguments become tests, several of them a require-any.
 * Expressions are made in the builder's arena, where rules will point to them.
 */
#include "sbpl/profile.h"

#include <stdio.h>

#include "base/banned.h"

enum {
	FILTER_TESTS_MAX = 1 << 20
};

static struct arena *out_arena(const struct machine *m)
{
	return m->profile->compiler->out;
}

static int no_policy_memory(struct machine *m)
{
	size_t most = m->profile->compiler->options->policy_limits.memory;

	if (most >= m->limits.memory)
		return machine_no_memory(m);
	return machine_limit(m, "the policy needs more than %zu bytes of memory", most);
}

/* ---- Combining ---- */

static struct value *new_filter(struct machine *m, const struct expr *expr, uint32_t height,
				uint32_t tests)
{
	struct value *v = machine_new(m, VALUE_FILTER);

	if (!v) {
		(void)machine_no_memory(m);
		return NULL;
	}
	v->expr = expr;
	v->height = height;
	v->tests = tests;
	return v;
}

struct value *filter_combine(struct machine *m, enum expr_kind kind, struct value **filters,
			     size_t n)
{
	struct expr *expr = arena_alloc(out_arena(m), sizeof(*expr));
	uint32_t height = 0, tests = 0;

	if (n == 1 && kind != EXPR_NOT)
		return filters[0];
	if (expr)
		expr->kids = arena_array(out_arena(m), n, sizeof(const struct expr *));
	if (!expr || !expr->kids) {
		(void)no_policy_memory(m);
		return NULL;
	}
	expr->kind = kind;
	expr->n = n;
	for (size_t i = 0; i < n; i++) {
		expr->kids[i] = filters[i]->expr;
		if (filters[i]->height > height)
			height = filters[i]->height;
		tests += filters[i]->tests;
		if (tests > FILTER_TESTS_MAX) {
			(void)machine_limit(m, "more than %d tests in one filter",
					    FILTER_TESTS_MAX);
			return NULL;
		}
	}
	if (height >= NEST_MAX) {
		(void)machine_limit(m, "filter nested deeper than %d levels", NEST_MAX);
		return NULL;
	}
	return new_filter(m, expr, height + 1, tests);
}

static int do_require(struct machine *m, struct value **args, size_t n)
{
	struct value *v;

	for (size_t i = 0; i < n; i++) {
		if (!is_type(args[i], VALUE_FILTER))
			return machine_wrong_type(m, "filter", args[i]);
	}
	v = filter_combine(m, m->running->variant, args, n);
	return v ? machine_give(m, v) : -(int)m->err.code;
}

/* ---- Tests ---- */

/* The value of ARG for messages: its own place if it was written out, else the filter's. */
static const struct value *place_of(const struct machine *m, const struct value *arg)
{
	return arg && arg->place.line ? arg : m->at;
}

static struct value *new_test(struct machine *m, const struct test *test, const struct value *arg)
{
	struct expr *expr = arena_alloc(out_arena(m), sizeof(*expr));
	char *text = test->text.p ? arena_strdup(out_arena(m), test->text) : NULL;

	if (!expr || (test->text.p && !text)) {
		(void)no_policy_memory(m);
		return NULL;
	}
	expr->kind = EXPR_TEST;
	expr->test = *test;
	expr->test.text.p = text;
	expr->test.at = machine_span(m, place_of(m, arg));
	return new_filter(m, expr, 1, 1);
}

static int wrong_data(struct machine *m, const struct filter_form *form, const char *want,
		      const struct value *got)
{
	int r = machine_fail_at(m, place_of(m, got),
				"invalid data type of %s filter; expected %s, got %s",
				filter_base_form(form->filter)->name, want, value_type_name(got));

	machine_hint(m, got);
	return r;
}

static int set_pattern(struct machine *m, const struct filter_form *form, const struct value *arg,
		       struct test *test)
{
	char text[sizeof(m->err.text)];

	int r;

	if (!is_type(arg, VALUE_STRING))
		return wrong_data(m, form, "pattern", arg);
	test->text = arg->string;
	/* Each byte of a regular expression may be a node of its tree. */
	r = machine_charge(m, form->match == MATCH_REGEX ? arg->string.n : 0);
	if (r < 0)
		return r;
	if (policy_check_pattern(test, &m->err) == 0)
		return 0;
	(void)snprintf(text, sizeof(text), "%s", m->err.text);
	return machine_fail_at(m, place_of(m, arg), "%s", text);
}

static int set_string(struct machine *m, const struct filter_form *form, const struct value *arg,
		      struct test *test)
{
	if (!is_type(arg, VALUE_STRING))
		return wrong_data(m, form, "string", arg);
	test->text = arg->string;
	return 0;
}

static int set_number(struct machine *m, const struct filter_form *form, const struct value *arg,
		      struct test *test)
{
	const struct constant *constant;

	if (is_type(arg, VALUE_INTEGER)) {
		test->number = arg->number;
		return 0;
	}
	if (!is_type(arg, VALUE_CONSTANT))
		return wrong_data(m, form, "integer", arg);
	constant = constant_for(arg->constant, form->filter);
	if (!constant)
		return machine_fail(m, "%s is not a value of the %s filter",
				    constant_name(arg->constant), form->name);
	test->number = constant->value;
	return 0;
}

static int set_bool(struct machine *m, const struct filter_form *form, const struct value *arg,
		    struct test *test)
{
	if (!is_type(arg, VALUE_BOOL))
		return wrong_data(m, form, "boolean", arg);
	test->number = arg->number;
	return 0;
}

/* ---- Addresses ---- */

/* "HOST" or "HOST:PORT"; HOST is * or localhost, PORT is * or 1 to 65535. */
static int parse_endpoint(struct machine *m, const struct value *arg,
			  struct endpoint_pattern *endpoint)
{
	struct str text = arg->string;
	struct str hosts[] = {STR("*"), STR("localhost")};
	struct str *host = &hosts[str_starts(text, hosts[1])];
	int port = 0;

	if (!str_starts(text, *host) || (text.n > host->n && text.p[host->n] != ':'))
		return machine_fail_at(m, place_of(m, arg),
				       "host must be * or localhost in network address");
	endpoint->localhost = host == &hosts[1];
	endpoint->port = PORT_ANY;
	if (text.n == host->n)
		return 0;
	text = (struct str){text.p + host->n + 1, text.n - host->n - 1};
	if (str_is(text, "*"))
		return 0;
	for (size_t i = 0; i < text.n && port <= 65535; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			port = 65536;
		else
			port = port * 10 + (text.p[i] - '0');
	}
	if (port < 1 || port > 65535)
		return machine_fail_at(m, place_of(m, arg), "invalid port in network address");
	endpoint->port = port;
	return 0;
}

static int set_endpoint(struct machine *m, const struct filter_form *form, const struct value *arg,
			struct test *test)
{
	int r;

	if (!is_type(arg, VALUE_STRING))
		return wrong_data(m, form, "address", arg);
	r = machine_charge(m, arg->string.n / BYTES_PER_STEP);
	if (r < 0)
		return r;
	return parse_endpoint(m, arg, &test->endpoint);
}

/* The protocol word, first of the arguments of local and remote. */
static int set_protocol(struct machine *m, const struct filter_form *form, const struct value *arg,
			struct test *test)
{
	const struct constant *word;

	word = is_type(arg, VALUE_CONSTANT) ? constant_for(arg->constant, form->filter) : NULL;
	if (!word)
		return machine_fail_at(m, place_of(m, arg),
				       "%s: expected a protocol (ip, tcp, udp, unix), got %s",
				       form->name, value_type_name(arg));
	test->endpoint.proto = (unsigned)word->value;
	test->endpoint.port = PORT_ANY;
	return 0;
}

/* ---- Forms ---- */

typedef int set_function(struct machine *m, const struct filter_form *form, const struct value *arg,
			 struct test *test);

static set_function *const setters[] = {
	[ARGUMENT_SUBPATH] = set_pattern, [ARGUMENT_LITERAL] = set_pattern,
	[ARGUMENT_PREFIX] = set_pattern,  [ARGUMENT_ADDRESS] = set_endpoint,
	[ARGUMENT_INTEGER] = set_number,  [ARGUMENT_BITFIELD] = set_number,
	[ARGUMENT_STRING] = set_string,   [ARGUMENT_BOOL] = set_bool,
};

/*
 * One test per argument, any of which is enough. COMMON holds what they have in common. An empty
 * list is no argument: WebKit writes (syscall-number (when (defined? 'SYS_x) SYS_x) SYS_y).
 */
static int give_tests(struct machine *m, const struct filter_form *form, const struct test *common,
		      struct value **args, size_t n)
{
	struct value **filters = arena_array(m->arena, n, sizeof(*filters));
	size_t count = 0;
	struct value *v;

	if (!filters)
		return machine_no_memory(m);
	for (size_t i = 0; i < n; i++) {
		struct test test = *common;
		int r = 0;

		if (is_type(args[i], VALUE_NIL))
			continue;
		r = setters[form->argument](m, form, args[i], &test);
		if (r < 0)
			return r;
		filters[count] = new_test(m, &test, args[i]);
		if (!filters[count++])
			return -(int)m->err.code;
	}
	if (count == 0)
		return machine_fail(m, "%s: not enough arguments", form->name);
	v = filter_combine(m, EXPR_ANY, filters, count);
	return v ? machine_give(m, v) : -(int)m->err.code;
}

static int give_test(struct machine *m, const struct test *test)
{
	struct value *v = new_test(m, test, NULL);

	return v ? machine_give(m, v) : -(int)m->err.code;
}

/* (remote unix-socket (path-literal "/p")): a unix socket, and any of the filters. */
static int give_unix(struct machine *m, const struct test *test, struct value **args, size_t n)
{
	struct value *both[2];
	struct value *v;

	for (size_t i = 0; i < n; i++) {
		if (!is_type(args[i], VALUE_FILTER))
			return machine_fail_at(m, place_of(m, args[i]),
					       "a unix socket address is a path filter, not a %s",
					       value_type_name(args[i]));
	}
	both[0] = new_test(m, test, NULL);
	both[1] = filter_combine(m, EXPR_ANY, args, n);
	v = both[0] && both[1] ? filter_combine(m, EXPR_ALL, both, 2) : NULL;
	return v ? machine_give(m, v) : -(int)m->err.code;
}

/* (remote tcp), (remote tcp "localhost:80" ...) */
static int give_address(struct machine *m, const struct filter_form *form, struct value **args,
			size_t n)
{
	struct test test = {.filter = form->filter, .match = form->match};
	int r = set_protocol(m, form, args[0], &test);

	if (r < 0)
		return r;
	if (n == 1)
		return give_test(m, &test);
	if (test.endpoint.proto == PROTO_UNIX)
		return give_unix(m, &test, args + 1, n - 1);
	return give_tests(m, form, &test, args + 1, n - 1);
}

/* (tty) is (vnode-type TTY): case does not count, so the name belongs to the constant. */
static int give_constant(struct machine *m, const struct constant *constant, size_t n)
{
	const struct filter_form *form;
	struct test test;

	if (n > 0 || constant->filter == FILTER_COUNT)
		return machine_fail(m, "illegal function: constant");
	form = filter_base_form((enum filter_id)constant->filter);
	if (form->argument != ARGUMENT_INTEGER)
		return machine_fail(m, "illegal function: constant");
	test = (struct test){
		.filter = form->filter, .match = form->match, .number = constant->value};
	return give_test(m, &test);
}

static int make_filter(struct machine *m, const struct value *callee, struct value **args, size_t n)
{
	const struct filter_form *form = callee->form;
	struct test test;

	if (is_type(callee, VALUE_CONSTANT))
		return give_constant(m, callee->constant, n);
	test = (struct test){.filter = form->filter, .match = form->match};
	if (n == 0 && form->argument == ARGUMENT_BOOL) {
		test.number = true;
		return give_test(m, &test);
	}
	if (n == 0 && form->filter == FILTER_EXTENSION) {
		/* Profiles of macOS 10.7 name none and mean any. */
		test.match = MATCH_PREFIX;
		test.text = STR("");
		return give_test(m, &test);
	}
	if (n == 0)
		return machine_fail(m, "%s: not enough arguments", form->name);
	if (form->argument == ARGUMENT_ADDRESS)
		return give_address(m, form, args, n);
	return give_tests(m, form, &test, args, n);
}

/* ---- path-ancestors ---- */

/* Appends a literal for every proper ancestor of PATH: "/" and each piece before a slash. */
static int add_ancestors(struct machine *m, const struct value *arg, struct value ***filters,
			 size_t *n, size_t *cap)
{
	struct test test = {.filter = FILTER_PATH, .match = MATCH_LITERAL};
	struct str path = arg->string;

	if (!str_starts(path, STR("/")) && !str_starts(path, STR("${")))
		return machine_fail_at(m, place_of(m, arg), "path must start with a /");
	if (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (size_t i = 0; i < path.n; i++) {
		if (path.p[i] != '/' || path.n == 1)
			continue;
		*filters = arena_grow(m->arena, *filters, *n, cap, sizeof(struct value *));
		if (!*filters)
			return machine_no_memory(m);
		test.text = (struct str){path.p, i ? i : 1};
		(*filters)[*n] = new_test(m, &test, arg);
		if (!(*filters)[(*n)++])
			return -(int)m->err.code;
	}
	return 0;
}

static int do_path_ancestors(struct machine *m, struct value **args, size_t n)
{
	struct value **filters = NULL;
	size_t count = 0, cap = 0;
	struct value *v;

	for (size_t i = 0; i < n; i++) {
		int r = is_type(args[i], VALUE_STRING)
				? add_ancestors(m, args[i], &filters, &count, &cap)
				: machine_wrong_type(m, "string", args[i]);

		if (r < 0)
			return r;
	}
	if (count == 0)
		return machine_fail(m, "path-ancestors: / has no ancestors");
	v = filter_combine(m, EXPR_ANY, filters, count);
	return v ? machine_give(m, v) : -(int)m->err.code;
}

/* ---- Text helpers ---- */

static int do_regex_quote(struct machine *m, struct value **args, size_t n)
{
	struct str s = args[0]->string;
	char *text;

	if (!is_type(args[0], VALUE_STRING))
		return machine_wrong_type(m, "string", args[0]);
	text = arena_array(m->arena, s.n + 1, 2);
	if (!text)
		return machine_no_memory(m);
	n = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (strchr("^.[$()|*+?{\\", s.p[i]))
			text[n++] = '\\';
		text[n++] = s.p[i];
	}
	return machine_give(m, machine_string(m, (struct str){text, n}));
}

/* (split-string string character-or-string): the pieces between separators. */
static int do_split_string(struct machine *m, struct value **args, size_t n)
{
	struct value **pieces = NULL;
	size_t count = 0, cap = 0, begin = 0;
	struct str s = args[0]->string;
	char separator = '\0';
	int r;

	(void)n;
	if (!is_type(args[0], VALUE_STRING))
		return machine_wrong_type(m, "string", args[0]);
	r = machine_charge(m, s.n / BYTES_PER_STEP);
	if (r < 0)
		return r;
	if (is_type(args[1], VALUE_CHAR))
		separator = (char)args[1]->number;
	else if (is_type(args[1], VALUE_STRING) && args[1]->string.n == 1)
		separator = args[1]->string.p[0];
	else
		return machine_wrong_type(m, "one character", args[1]);
	for (size_t i = 0; i <= s.n; i++) {
		if (i < s.n && s.p[i] != separator)
			continue;
		pieces = arena_grow(m->arena, pieces, count, &cap, sizeof(struct value *));
		if (pieces)
			pieces[count] = machine_string(m, (struct str){s.p + begin, i - begin});
		if (!pieces || !pieces[count++])
			return machine_no_memory(m);
		begin = i + 1;
	}
	return machine_give(m, machine_list(m, pieces, count));
}

int filters_bind(struct machine *m)
{
	static const struct builtin table[] = {
		{"require-all", do_require, 1, ANY_NUMBER, EXPR_ALL},
		{"require-any", do_require, 1, ANY_NUMBER, EXPR_ANY},
		{"require-not", do_require, 1, 1, EXPR_NOT},
		{"path-ancestors", do_path_ancestors, 1, ANY_NUMBER, 0},
		{"regex-quote", do_regex_quote, 1, 1, 0},
		{"split-string", do_split_string, 2, 2, 0},
		{"%string-split", do_split_string, 2, 2, 0},
	};

	m->make_filter = make_filter;
	return machine_bind_builtins(m, table, sizeof(table) / sizeof(table[0]));
}
