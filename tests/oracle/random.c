/* SPDX-License-Identifier: Apache-2.0 */
#include "random.h"

#include <stdlib.h>
#include <string.h>

#include "naive.h"

/* ---- Dice ---- */

unsigned dice_below(struct dice *dice, unsigned n)
{
	dice->state ^= dice->state << 13;
	dice->state ^= dice->state >> 7;
	dice->state ^= dice->state << 17;
	return (unsigned)(dice->state >> 33) % n;
}

bool dice_one_in(struct dice *dice, unsigned n)
{
	return dice_below(dice, n) == 0;
}

/* ---- Texts ---- */

/* One byte; few different ones, so that they meet. */
static char random_byte(struct dice *dice)
{
	if (dice_one_in(dice, 12))
		return (char)(1 + dice_below(dice, 255));
	return "//aab.Aé\n-"[dice_below(dice, 11)];
}

void random_path(struct dice *dice, struct buf *ret)
{
	static const char *const starts[] = {
		"/",    "/",    "/a",       "/tmp",         "/private/tmp",
		"/var", "/etc", "/private", "/private/var", "/private/etc",
		"/Tmp", "",     "/p",       "/.a"};
	static const char *const names[] = {"/a", "/b", "/.git", "/.ssh", "/usr", "/A"};
	unsigned n = dice_below(dice, 7);

	buf_puts(ret, starts[dice_below(dice, 14)]);
	for (; n > 0; n--) {
		if (dice_one_in(dice, 3))
			buf_puts(ret, names[dice_below(dice, 6)]);
		else
			buf_putc(ret, random_byte(dice));
	}
}

void random_name(struct dice *dice, struct buf *ret)
{
	static const char *const names[] = {"com.apple.", "com.a", "hw.", "Kern", "a", "/"};
	unsigned n = dice_below(dice, 4);

	buf_puts(ret, names[dice_below(dice, 6)]);
	for (; n > 0; n--)
		buf_putc(ret, random_byte(dice));
}

/* ---- Regular expressions ---- */

static void put_literal(struct dice *dice, struct buf *ret)
{
	char c = random_byte(dice);

	if (strchr("^$.*+?|()[]{}\\", c) || dice_one_in(dice, 20))
		buf_putc(ret, '\\');
	buf_putc(ret, c);
}

static void put_member(struct dice *dice, bool first, struct buf *ret)
{
	char c = random_byte(dice);

	/* "]" stands for itself in first place, "-" and "^" elsewhere than there. */
	if (c == '[' || c == '\\' || c == '-' || (c == ']' && !first) || (c == '^' && first))
		buf_putc(ret, '\\');
	buf_putc(ret, c);
}

static void put_set(struct dice *dice, struct buf *ret)
{
	static const char *const ranges[] = {"a-c", "/-b", "A-Z", ".-/", "-", "0-9"};
	unsigned n = 1 + dice_below(dice, 3);
	bool negated = dice_one_in(dice, 2);

	buf_puts(ret, negated ? "[^" : "[");
	for (unsigned i = 0; i < n; i++) {
		if (dice_one_in(dice, 4) && i + 1 < n)
			buf_puts(ret, ranges[dice_below(dice, 4)]);
		else if (dice_one_in(dice, 6) && i + 1 == n)
			buf_puts(ret, "-");
		else
			put_member(dice, i == 0, ret);
	}
	buf_putc(ret, ']');
}

static void put_operator(struct dice *dice, struct buf *ret)
{
	unsigned min = dice_below(dice, 3), more = dice_below(dice, 3);

	switch (dice_below(dice, 6)) {
	case 0:
	case 1:
		buf_putc(ret, '*');
		return;
	case 2:
		buf_putc(ret, '+');
		return;
	case 3:
		buf_putc(ret, '?');
		return;
	default:
		break;
	}
	buf_printf(ret, "{%u", min);
	if (dice_one_in(dice, 3))
		buf_puts(ret, ",");
	else if (dice_one_in(dice, 2))
		buf_printf(ret, ",%u", min + more);
	buf_putc(ret, '}');
}

static void put_choice(struct dice *dice, unsigned depth, bool plain, struct buf *ret);

static void put_piece(struct dice *dice, unsigned depth, bool plain, struct buf *ret)
{
	if (depth > 0 && dice_one_in(dice, 4)) {
		buf_putc(ret, '(');
		if (!plain && dice_one_in(dice, 100))
			buf_puts(ret, "?:");
		put_choice(dice, depth - 1, plain, ret);
		buf_putc(ret, ')');
	} else if (dice_one_in(dice, 5)) {
		buf_putc(ret, '.');
	} else if (dice_one_in(dice, 6)) {
		put_set(dice, ret);
	} else if (dice_one_in(dice, 16)) {
		buf_putc(ret, '$');
	} else {
		put_literal(dice, ret);
	}
	while (dice_one_in(dice, 5))
		put_operator(dice, ret);
}

static void put_sequence(struct dice *dice, unsigned depth, bool plain, struct buf *ret)
{
	for (unsigned n = dice_below(dice, 5); n > 0; n--)
		put_piece(dice, depth, plain, ret);
}

static void put_choice(struct dice *dice, unsigned depth, bool plain, struct buf *ret)
{
	do {
		put_sequence(dice, depth, plain, ret);
		if (!dice_one_in(dice, 4))
			return;
		buf_putc(ret, '|');
	} while (true);
}

/* As people write them. */
static void put_usual(struct dice *dice, struct buf *ret)
{
	static const char *const forms[] = {"^/a/(b|\\.git)(/|$)",
					    "/\\.(ssh|a)(/|$)",
					    "^.*/\\.a(/.*)?$",
					    "^/private/tmp/a",
					    "^/(private/)?(tmp|var)/a[^/]*$",
					    "\\.a$",
					    "^/a/[^/]+/b$",
					    "/b(/.*)?$",
					    "^/[ab]?",
					    "^/var/.*/a"};

	buf_puts(ret, forms[dice_below(dice, 10)]);
}

void random_regex(struct dice *dice, bool plain, struct buf *ret)
{
	size_t start = ret->n;

	if (dice_one_in(dice, 4)) {
		put_usual(dice, ret);
		return;
	}
	do {
		ret->n = start;
		if (dice_one_in(dice, 3))
			buf_putc(ret, '^');
		put_choice(dice, dice_below(dice, 4), plain, ret);
	} while (ret->n > start + 60);
}

/* ---- The cast ---- */

static struct str keep(struct cast *cast, struct buf *text)
{
	struct str kept = {arena_memdup(cast->arena, text->p, text->n), text->n};

	if (!kept.p)
		abort();
	text->n = 0;
	return kept;
}

/* Operations of one family, so that rules on parents come to count. */
static void choose_ops(struct cast *cast)
{
	struct dice *dice = &cast->dice;

	cast->n_ops = 1 + dice_below(dice, 5);
	cast->ops[0] = (enum op)dice_below(dice, OP_COUNT);
	for (unsigned i = 1; i < cast->n_ops; i++) {
		enum op op;

		do
			op = (enum op)dice_below(dice, OP_COUNT);
		while (op_parent(op) != op_parent(cast->ops[0]) && !dice_one_in(dice, 60));
		cast->ops[i] = op;
	}
}

void cast_init(struct cast *cast, uint64_t seed, struct arena *arena)
{
	struct dice *dice = &cast->dice;
	struct buf text = {0};

	*cast = (struct cast){.dice.state = seed * 0x9e3779b97f4a7c15u | 1, .arena = arena};
	for (unsigned i = 0; i < 8; i++)
		(void)dice_below(dice, 2);
	choose_ops(cast);
	for (unsigned i = 0; i < 5; i++)
		cast->filters[i] = (enum filter_id)dice_below(dice, FILTER_COUNT);
	for (unsigned i = 0; i < 12; i++) {
		random_path(dice, &text);
		cast->paths[i] = keep(cast, &text);
	}
	for (unsigned i = 0; i < 8; i++) {
		random_name(dice, &text);
		cast->names[i] = keep(cast, &text);
	}
	for (unsigned i = 0; i < 6; i++) {
		random_regex(dice, false, &text);
		cast->path_regexes[i] = keep(cast, &text);
	}
	for (unsigned i = 0; i < 3; i++) {
		random_regex(dice, false, &text);
		cast->name_regexes[i] = keep(cast, &text);
	}
	buf_release(&text);
}

/* ---- Filters ---- */

enum argument {
	ARGUMENT_SUBPATH,
	ARGUMENT_LITERAL,
	ARGUMENT_PREFIX,
	ARGUMENT_ADDRESS,
	ARGUMENT_INTEGER,
	ARGUMENT_BITFIELD,
	ARGUMENT_STRING,
	ARGUMENT_BOOL,
};

static const enum argument arguments[FILTER_COUNT] = {
#define FILTER(symbol, name, category, argument) [FILTER_##symbol] = ARGUMENT_##argument,
#include "policy/filters.def"
#undef FILTER
};

static const char *const filter_names[FILTER_COUNT] = {
#define FILTER(symbol, name, category, argument) [FILTER_##symbol] = (name),
#include "policy/filters.def"
#undef FILTER
};

static const int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 0444, 0111, -1, 40};

static int64_t random_number(struct dice *dice)
{
	return numbers[dice_below(dice, dice_one_in(dice, 8) ? 12 : 4)];
}

static void set_pattern(struct cast *cast, struct test *test)
{
	static const enum match matches[] = {MATCH_LITERAL, MATCH_PREFIX, MATCH_SUBPATH,
					     MATCH_REGEX};
	struct dice *dice = &cast->dice;
	bool is_path = test->filter == FILTER_PATH;

	test->match = matches[dice_below(dice, 4)];
	if (test->match == MATCH_REGEX)
		test->text = is_path ? cast->path_regexes[dice_below(dice, 6)]
				     : cast->name_regexes[dice_below(dice, 3)];
	else
		test->text = is_path ? cast->paths[dice_below(dice, 12)]
				     : cast->names[dice_below(dice, 8)];
	if (test->match == MATCH_SUBPATH && test->text.n == 0)
		test->match = MATCH_PREFIX;
}

static void set_endpoint(struct dice *dice, struct test *test)
{
	static const unsigned protos[] = {3, 1, 2, 7, 5, 6, 11, 9, 10, PROTO_UNIX};
	static const int ports[] = {PORT_ANY, 80, 443, 1};

	test->match = MATCH_ENDPOINT;
	test->endpoint.proto = protos[dice_below(dice, 10)];
	test->endpoint.localhost = dice_one_in(dice, 2);
	test->endpoint.port = ports[dice_below(dice, 4)];
}

static void fill_test(struct cast *cast, enum filter_id filter, struct test *test)
{
	*test = (struct test){.filter = filter};
	switch (arguments[filter]) {
	case ARGUMENT_SUBPATH:
	case ARGUMENT_LITERAL:
	case ARGUMENT_PREFIX:
		set_pattern(cast, test);
		return;
	case ARGUMENT_ADDRESS:
		set_endpoint(&cast->dice, test);
		return;
	case ARGUMENT_STRING:
		test->match = MATCH_STRING;
		test->text = cast->names[dice_below(&cast->dice, 8)];
		return;
	case ARGUMENT_BOOL:
		test->match = MATCH_BOOL;
		test->number = dice_below(&cast->dice, 2);
		return;
	case ARGUMENT_INTEGER:
	case ARGUMENT_BITFIELD:
		break;
	}
	test->match = dice_one_in(&cast->dice, 3) ? MATCH_BITS : MATCH_INTEGER;
	test->number = random_number(&cast->dice);
}

static enum filter_id random_filter(struct cast *cast)
{
	struct dice *dice = &cast->dice;

	if (dice_one_in(dice, 2))
		return FILTER_PATH;
	if (dice_one_in(dice, 4))
		return dice_one_in(dice, 2) ? FILTER_LOCAL : FILTER_REMOTE;
	return cast->filters[dice_below(dice, 5)];
}

static struct expr *random_expr(struct cast *cast, unsigned depth, bool paths_only)
{
	struct dice *dice = &cast->dice;
	struct expr *expr = arena_alloc(cast->arena, sizeof(*expr));

	if (!expr)
		abort();
	if (depth == 0 || dice_one_in(dice, 3)) {
		expr->kind = EXPR_TEST;
		fill_test(cast, paths_only ? FILTER_PATH : random_filter(cast), &expr->test);
		return expr;
	}
	expr->kind = EXPR_ALL + dice_below(dice, 3);
	expr->n = expr->kind == EXPR_NOT ? 1 : 1 + dice_below(dice, 3);
	expr->kids = arena_array(cast->arena, expr->n, sizeof(struct expr *));
	if (!expr->kids)
		abort();
	for (size_t i = 0; i < expr->n; i++)
		expr->kids[i] = random_expr(cast, depth - 1, paths_only);
	return expr;
}

const struct expr *cast_path_filter(struct cast *cast, unsigned depth)
{
	return random_expr(cast, depth, true);
}

/* ---- Rules ---- */

/* An operation of the cast, or one above it. */
static enum op random_rule_op(struct cast *cast)
{
	enum op op = cast->ops[dice_below(&cast->dice, cast->n_ops)];

	while (dice_one_in(&cast->dice, 3))
		op = op_parent(op);
	return op;
}

void cast_rule(struct cast *cast, struct rule *rule)
{
	static const struct modifier errno_modifier = {.id = MODIFIER_ERRNO, .number = 13};
	struct dice *dice = &cast->dice;
	unsigned depth = dice_one_in(dice, 2) ? 0 : dice_below(dice, 4);

	*rule = (struct rule){.verdict = dice_one_in(dice, 2) ? VERDICT_ALLOW : VERDICT_DENY,
			      .op = random_rule_op(cast)};
	if (!dice_one_in(dice, 8))
		rule->filter = random_expr(cast, depth, dice_one_in(dice, 2));
	if (dice_one_in(dice, 6))
		rule->origin = ORIGIN_RUNTIME;
	if (rule->verdict == VERDICT_DENY && dice_one_in(dice, 5)) {
		rule->modifiers = &errno_modifier;
		rule->n_modifiers = 1;
	}
}

/* ---- Requests ---- */

/* Something near TEXT. */
static void put_near(struct dice *dice, struct str text, struct buf *ret)
{
	size_t start = ret->n;

	if (dice_one_in(dice, 8))
		buf_puts(ret, "/private");
	buf_add(ret, text.p, text.n);
	if (dice_one_in(dice, 8) && ret->n > start + 8 &&
	    memcmp(ret->p + start, "/private", 8) == 0) {
		memmove(ret->p + start, ret->p + start + 8, ret->n - start - 8);
		ret->n -= 8;
	}
	if (dice_one_in(dice, 6) && ret->n > start)
		ret->n--;
	if (dice_one_in(dice, 6) && ret->n > start)
		ret->p[start + dice_below(dice, (unsigned)(ret->n - start))] = random_byte(dice);
	if (dice_one_in(dice, 8) && ret->n > start)
		ret->p[start + dice_below(dice, (unsigned)(ret->n - start))] ^= 32;
	for (size_t i = start; i < ret->n; i++)
		if (!ret->p[i]) /* a blank in the other case */
			ret->p[i] = ' ';
	if (dice_one_in(dice, 3))
		random_path(dice, ret);
}

/* A text that REGEX may well match: its own bytes, mostly without operators. */
static void put_from_regex(struct dice *dice, struct str regex, struct buf *ret)
{
	if (dice_one_in(dice, 3))
		random_path(dice, ret);
	for (size_t i = 0; i < regex.n; i++) {
		char c = regex.p[i];

		if (c == '\\' && i + 1 < regex.n)
			buf_putc(ret, regex.p[++i]);
		else if (c == '.')
			buf_putc(ret, random_byte(dice));
		else if (c == '|' && dice_one_in(dice, 2))
			return;
		else if (!strchr("^$*+?|()[]{}", c))
			buf_putc(ret, c);
	}
	if (dice_one_in(dice, 3))
		random_path(dice, ret);
}

static struct str random_request_path(struct cast *cast)
{
	struct dice *dice = &cast->dice;
	struct buf text = {0};
	struct str kept;

	switch (dice_below(dice, 4)) {
	case 0:
		random_path(dice, &text);
		break;
	case 1:
		put_from_regex(dice, cast->path_regexes[dice_below(dice, 6)], &text);
		break;
	default:
		put_near(dice, cast->paths[dice_below(dice, 12)], &text);
	}
	if (dice_one_in(dice, 2000)) /* longer than PATH_MAX */
		for (unsigned n = 4000 + dice_below(dice, 4000); text.n < n;)
			random_path(dice, &text);
	kept = keep(cast, &text);
	buf_release(&text);
	return kept;
}

static struct str random_request_name(struct cast *cast)
{
	struct dice *dice = &cast->dice;
	struct buf text = {0};
	struct str kept;

	if (dice_one_in(dice, 3))
		put_from_regex(dice, cast->name_regexes[dice_below(dice, 3)], &text);
	else
		put_near(dice, cast->names[dice_below(dice, 8)], &text);
	kept = keep(cast, &text);
	buf_release(&text);
	return kept;
}

static void random_endpoint(struct dice *dice, struct endpoint *ret)
{
	static const unsigned protos[] = {PROTO_IP4 | PROTO_TCP,
					  PROTO_IP4 | PROTO_UDP,
					  PROTO_IP6 | PROTO_TCP,
					  PROTO_IP6 | PROTO_UDP,
					  PROTO_IP4,
					  PROTO_UNIX};
	static const unsigned char v4[][4] = {
		{127, 0, 0, 1}, {127, 1, 2, 3}, {0, 0, 0, 0}, {10, 0, 0, 1}, {128, 0, 0, 1}};
	static const int ports[] = {80, 443, 1, 0, 65535};

	*ret = (struct endpoint){.proto = protos[dice_below(dice, 6)],
				 .port = ports[dice_below(dice, 5)],
				 .unbound = dice_one_in(dice, 6)};
	if (ret->unbound)
		return;
	if (!(ret->proto & PROTO_IP6)) {
		memcpy(ret->addr, v4[dice_below(dice, 5)], 4);
		return;
	}
	if (dice_one_in(dice, 2)) {
		memset(ret->addr + 10, 0xff, 2);
		memcpy(ret->addr + 12, v4[dice_below(dice, 5)], 4);
	} else {
		ret->addr[15] = (unsigned char)dice_below(dice, 3);
		ret->addr[0] = dice_one_in(dice, 3) ? 0xfe : 0;
	}
}

/* What filters of the cast look at, once or more. */
static void add_facts(struct cast *cast, struct request *ret)
{
	struct dice *dice = &cast->dice;
	struct fact *facts;

	ret->n_facts = dice_below(dice, 5);
	facts = arena_array(cast->arena, ret->n_facts, sizeof(*facts));
	if (!facts)
		abort();
	for (size_t i = 0; i < ret->n_facts; i++) {
		facts[i].filter = cast->filters[dice_below(dice, 5)];
		if (!dice_one_in(dice, 6))
			facts[i].text = random_request_name(cast);
		facts[i].number = random_number(dice);
	}
	ret->facts = facts;
}

void cast_request(struct cast *cast, struct request *ret)
{
	struct dice *dice = &cast->dice;

	*ret = (struct request){.op = cast->ops[dice_below(dice, cast->n_ops)]};
	if (dice_one_in(dice, 10))
		ret->op = (enum op)dice_below(dice, OP_COUNT);
	if (naive_has(ret->op, FILTER_PATH) && !dice_one_in(dice, 12))
		ret->path = random_request_path(cast);
	add_facts(cast, ret);
	if (dice_one_in(dice, 4))
		ret->xattr = random_request_name(cast);
	if (dice_one_in(dice, 2))
		random_endpoint(dice, &ret->local);
	if (dice_one_in(dice, 2))
		random_endpoint(dice, &ret->remote);
	ret->has = dice_below(dice, 64) | dice_below(dice, 64);
	ret->vnode_type = (enum vnode_type)dice_below(dice, 4);
	ret->file_mode = (unsigned)numbers[dice_below(dice, 10)];
	ret->targets = dice_one_in(dice, 2) ? dice_below(dice, 128) : 0;
	ret->signal = (int)random_number(dice);
	ret->device_major = dice_below(dice, 4);
	ret->device_minor = dice_below(dice, 4);
	ret->socket_domain = (int)random_number(dice);
	ret->socket_type = (int)random_number(dice);
	ret->socket_protocol = (int)random_number(dice);
}

/* ---- Showing ---- */

static void print_text(struct str text, struct buf *ret)
{
	buf_putc(ret, '"');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c < ' ' || c > '~' || c == '"' || c == '\\')
			buf_printf(ret, "\\x%02x", c);
		else
			buf_putc(ret, (char)c);
	}
	buf_putc(ret, '"');
}

static void print_test(const struct test *test, struct buf *ret)
{
	static const char *const forms[] = {"literal", "prefix",  "subpath", "regex", "equals",
					    "bits",    "present", "end",     "string"};

	buf_printf(ret, " (%s %s ", filter_names[test->filter], forms[test->match]);
	if (test->match == MATCH_ENDPOINT)
		buf_printf(ret, "proto %u %s:%d", test->endpoint.proto,
			   test->endpoint.localhost ? "localhost" : "*", test->endpoint.port);
	else if (test->match == MATCH_INTEGER || test->match == MATCH_BITS)
		buf_printf(ret, "%lld", (long long)test->number);
	else
		print_text(test->text, ret);
	buf_putc(ret, ')');
}

static void print_expr(const struct expr *expr, struct buf *ret)
{
	static const char *const words[] = {
		[EXPR_ALL] = "all", [EXPR_ANY] = "any", [EXPR_NOT] = "not"};

	if (expr->kind == EXPR_TEST) {
		print_test(&expr->test, ret);
		return;
	}
	buf_printf(ret, " (%s", words[expr->kind]);
	for (size_t i = 0; i < expr->n; i++)
		print_expr(expr->kids[i], ret);
	buf_putc(ret, ')');
}

void print_rule(const struct rule *rule, struct buf *ret)
{
	buf_printf(ret, "# %u: (%s %s%s%s", rule->index, verdict_name(rule->verdict),
		   op_name(rule->op), rule->origin == ORIGIN_RUNTIME ? " runtime" : "",
		   rule->n_modifiers > 0 ? " errno" : "");
	if (rule->filter)
		print_expr(rule->filter, ret);
	buf_puts(ret, ")\n");
}

static void print_endpoint(const char *side, const struct endpoint *end, struct buf *ret)
{
	buf_printf(ret, " %s proto %u port %d%s ", side, end->proto, end->port,
		   end->unbound ? " unbound" : "");
	for (unsigned i = 0; i < sizeof(end->addr); i++)
		buf_printf(ret, "%02x", end->addr[i]);
}

void print_request(const struct request *request, struct buf *ret)
{
	buf_printf(ret, "# %s path ", op_name(request->op));
	print_text(request->path, ret);
	for (size_t i = 0; i < request->n_facts; i++) {
		const struct fact *fact = &request->facts[i];

		buf_printf(ret, " %s %lld ", filter_names[fact->filter], (long long)fact->number);
		print_text(fact->text, ret);
	}
	buf_puts(ret, " xattr ");
	print_text(request->xattr, ret);
	print_endpoint("local", &request->local, ret);
	print_endpoint("remote", &request->remote, ret);
	buf_printf(ret, " has %x type %d mode %o targets %x signal %d device %u:%u socket %d,%d,%d",
		   request->has, request->vnode_type, request->file_mode, request->targets,
		   request->signal, request->device_major, request->device_minor,
		   request->socket_domain, request->socket_type, request->socket_protocol);
	buf_puts(ret, "\n");
}
