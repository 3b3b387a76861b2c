/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt_prove() and lapbelt_diff() on random profiles, against lists of requests in words, each
 * asked of lapbelt_decide(). More by hand: prove_test ROUNDS SEED.
 */
#include <lapbelt.h>

#include "base/buf.h"
#include "random.h"
#include "test.h"

#include "base/banned.h"

enum {
	WORDS_MAX = 8,
	LISTED_MAX = 40000,
};

static unsigned rounds = 40;
static uint64_t seed = 0x5eed;

/* ---- Requests in words ---- */

struct asked {
	const char *words[WORDS_MAX];
	unsigned n;
	size_t path; /* bytes of it */
};

static struct asked listed[LISTED_MAX];
static unsigned n_listed;

/* Words that are "" are left out. */
static void list(const char *const *words, unsigned n)
{
	struct asked *asked = &listed[n_listed++];

	*asked = (struct asked){.n = 0};
	for (unsigned i = 0; i < n; i++) {
		if (!words[i][0])
			continue;
		asked->path += words[i][0] == '/' ? strlen(words[i]) : 0;
		asked->words[asked->n++] = words[i];
	}
}

static bool allows(const struct lapbelt_policy *policy, const char *const *words)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_decision decision = {0};

	if (lapbelt_decide(policy, words[0], words + 1, &decision, &error) < 0) {
		printf("# %s: %s\n", words[0], error.text);
		CHECK(false);
	}
	return decision.allowed;
}

/* How simple: by the length of the path, then by the number of other words. */
static unsigned weigh(const struct asked *asked)
{
	return (unsigned)(asked->path * WORDS_MAX + asked->n - (asked->path > 0));
}

/* ---- Random profiles ---- */

struct theme {
	const char *ops[8], *filters[20];
};

static const char *pick(const char *const *list)
{
	unsigned n = 0;

	while (list[n])
		n++;
	return list[below(n)];
}

static void add_filter(struct buf *text, const struct theme *theme, unsigned depth)
{
	static const char *const forms[] = {"require-all", "require-any", "require-not", NULL};
	const char *form = pick(forms);

	if (depth == 0 || one_in(2)) {
		buf_puts(text, pick(theme->filters));
		return;
	}
	buf_printf(text, "(%s ", form);
	add_filter(text, theme, depth - 1);
	if (strcmp(form, "require-not") != 0)
		add_filter(text, theme, depth - 1);
	buf_puts(text, ")");
}

static void random_profile(struct buf *text, const struct theme *theme)
{
	buf_clear(text);
	buf_printf(text, "(version 1)\n(%s default)\n", one_in(2) ? "allow" : "deny");
	for (unsigned i = 0; i < 4; i++) {
		buf_printf(text, "(%s %s ", one_in(2) ? "allow" : "deny", pick(theme->ops));
		add_filter(text, theme, 2);
		buf_puts(text, ")\n");
	}
}

static struct lapbelt_policy *compile(const struct buf *text, enum lapbelt_target target)
{
	struct lapbelt_policy_options options = {.size = sizeof(options), .target = target};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy = NULL;

	if (lapbelt_policy_from_text(text->p, "test.sb", &options, &policy, &error) < 0)
		printf("# %u:%u: %s\n%s", error.line, error.column, error.text, text->p);
	CHECK(policy);
	return policy;
}

/* ---- Differences ---- */

enum {
	OPS_MAX = 8,
};

/* By place of the operation in a list, and by whether it is looser: how simple. */
struct found {
	const char *const *ops;
	unsigned weights[OPS_MAX][2];
	const struct lapbelt_policy *from, *to;
	bool wrong;
};

static unsigned place_of(const char *const *ops, const char *op)
{
	unsigned i = 0;

	while (ops[i] && strcmp(ops[i], op) != 0)
		i++;
	return i;
}

static void note(struct found *found, const char *op, bool looser, unsigned weight)
{
	unsigned place = place_of(found->ops, op);

	if (found->ops[place] && weight < found->weights[place][looser])
		found->weights[place][looser] = weight;
}

static void note_difference(void *context, const struct lapbelt_difference *difference)
{
	struct found *found = context;
	struct asked asked = {.n = 0};

	for (; difference->request[asked.n]; asked.n++)
		if (difference->request[asked.n][0] == '/')
			asked.path = strlen(difference->request[asked.n]);
	/* What is said of the request is so. */
	found->wrong |= difference->from.allowed == difference->to.allowed ||
			difference->to.allowed != difference->looser ||
			allows(found->from, difference->request) != difference->from.allowed ||
			allows(found->to, difference->request) != difference->to.allowed;
	note(found, difference->request[0], difference->looser, weigh(&asked));
}

static void clear(struct found *found, const char *const *ops)
{
	*found = (struct found){.ops = ops};
	memset(found->weights, 0xff, sizeof(found->weights));
}

static void check_pair(const struct theme *theme, const char *const *ops,
		       enum lapbelt_target target)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct buf a = {0}, b = {0};
	struct lapbelt_policy *from, *to;
	struct found got, want;

	random_profile(&a, theme);
	random_profile(&b, theme);
	from = compile(&a, target);
	to = compile(&b, target);
	clear(&got, ops);
	clear(&want, ops);
	got.from = from;
	got.to = to;
	for (unsigned i = 0; i < n_listed; i++) {
		bool before = allows(from, listed[i].words), after = allows(to, listed[i].words);

		if (before != after)
			note(&want, listed[i].words[0], after, weigh(&listed[i]));
	}
	CHECK_INT(lapbelt_diff(from, to, 0, note_difference, &got, &error), 0);
	CHECK(!got.wrong);
	for (unsigned i = 0; ops[i]; i++)
		for (unsigned looser = 0; looser < 2; looser++) {
			if (got.weights[i][looser] == want.weights[i][looser])
				continue;
			printf("# %s looser %u: weight %d, not %d\n%s%s", ops[i], looser,
			       (int)got.weights[i][looser], (int)want.weights[i][looser], a.p, b.p);
			CHECK(false);
		}
	lapbelt_policy_free(from);
	lapbelt_policy_free(to);
	buf_release(&a);
	buf_release(&b);
}

/* ---- Sockets ---- */

static const char *const network_ops[] = {"network-outbound", "network-inbound", "network-bind",
					  NULL};

static const struct theme network = {
	{"network*", "network-outbound", "network-inbound", "network-bind", NULL},
	{"(remote ip \"localhost:80\")", "(remote tcp)", "(remote ip4 \"*:443\")", "(remote udp4)",
	 "(remote unix-socket)", "(remote ip6 \"localhost:*\")", "(local ip \"localhost:*\")",
	 "(local tcp4 \"*:80\")", "(local ip6 \"*:443\")", "(local udp)", "(local unix-socket)",
	 "(socket-domain AF_UNIX)", "(socket-domain AF_INET6)", "(socket-type SOCK_STREAM)",
	 "(socket-protocol 6)", "(subpath \"/a\")", "(literal \"/a/b\")", NULL},
};

static const char *const hosts4[] = {"localhost", "192.0.2.7", "0.0.0.0", NULL};
static const char *const hosts6[] = {"[::1]",
				     "[2001:db8::2]",
				     "[::]",
				     "[::ffff:127.0.0.1]",
				     "[::ffff:192.0.2.7]",
				     "[::ffff:0.0.0.0]",
				     NULL};
static const char *const ports[] = {"80", "443", "8080"};

/* KEY "" or "local=", ...: all ends of a family, "" among them when that is a choice. */
static unsigned list_ends(char (*ret)[64], const char *key, const char *const *hosts, bool optional)
{
	unsigned n = 0;

	if (optional)
		ret[n++][0] = '\0';
	for (; *hosts; hosts++)
		for (unsigned i = 0; i < 3; i++)
			(void)snprintf(ret[n++], 64, "%s%s:%s", key, *hosts, ports[i]);
	return n;
}

static void list_internet(const char *op, const char *const *hosts)
{
	static char ends[4][4][32][64]; /* by operation and family: the words live on */
	unsigned place = place_of(network_ops, op);
	char(*own)[64] = ends[place][hosts == hosts6],
	(*other)[64] = ends[place][2 + (hosts == hosts6)];
	bool outbound = place == 0;
	unsigned n = list_ends(own, "", hosts, false);
	unsigned m = list_ends(other, outbound ? "local=" : "remote=", hosts, true);

	/* A bind has no other end. */
	m = place == 2 ? 1 : m;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < m; j++) {
			list((const char *[]){op, own[i], other[j]}, 3);
			list((const char *[]){op, own[i], other[j], "protocol=udp"}, 4);
			/* Other sockets than the usual ones: SCTP, raw. */
			list((const char *[]){op, own[i], other[j], "socket-protocol=132"}, 4);
			list((const char *[]){op, own[i], other[j], "protocol=udp",
					      "socket-type=SOCK_RAW"},
			     5);
			list((const char *[]){op, own[i], other[j], "protocol=udp",
					      "socket-type=SOCK_RAW", "socket-protocol=132"},
			     6);
			list((const char *[]){op, own[i], other[j], "protocol=udp",
					      "socket-type=SOCK_RAW", "socket-protocol=6"},
			     6);
		}
}

/* WORD, which says that it is a unix socket, alone and with other ones than the usual. */
static void list_unix(const char *op, const char *word)
{
	static const char *const types[] = {"", "socket-type=SOCK_DGRAM"};
	static const char *const protocols[] = {"", "socket-protocol=6", "socket-protocol=132"};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < 3; j++)
			list((const char *[]){op, word, types[i], protocols[j]}, 4);
}

/* Of a socket without addresses nothing is usual. */
static void list_others(const char *op)
{
	static const char *const types[] = {"socket-type=SOCK_STREAM", "socket-type=SOCK_DGRAM"};
	static const char *const protocols[] = {"socket-protocol=0", "socket-protocol=6",
						"socket-protocol=132"};

	list((const char *[]){op}, 1);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < 3; j++)
			list((const char *[]){op, "socket-domain=AF_SYSTEM", types[i],
					      protocols[j]},
			     4);
}

static void list_sockets(void)
{
	static const char *const paths[] = {"/", "/a", "/b", "/a/b", "/a/c"};

	for (const char *const *op = network_ops; *op; op++) {
		list_others(*op);
		list_unix(*op, "protocol=unix");
		for (unsigned i = 0; i < 5; i++)
			list_unix(*op, paths[i]);
		list_internet(*op, hosts4);
		list_internet(*op, hosts6);
	}
	CHECK(n_listed < LISTED_MAX);
}

static void sockets_differ_as_the_list_says(void)
{
	random_state = seed;
	n_listed = 0;
	list_sockets();
	for (unsigned i = 0; i < rounds; i++)
		check_pair(&network, network_ops,
			   i % 4 ? LAPBELT_TARGET_LINUX : LAPBELT_TARGET_DARWIN);
}

/* ---- Files ---- */

static const char *const file_ops[] = {"file-read-data", "file-read-metadata", "file-write-data",
				       "file-link", NULL};

static const struct theme files = {
	{"file*", "file-read*", "file-read-data", "file-write*", "file-write-data", "file-link",
	 NULL},
	{"(subpath \"/a\")", "(literal \"/a/b\")", "(prefix \"/b\")", "(regex #\"b$\")",
	 "(regex \"^/[^/]*$\")", "(vnode-type DIRECTORY)", "(vnode-type REGULAR-FILE)",
	 "(file-mode #o4000)", "(file-mode #o6000)", "(literal \"/\")", NULL},
};

static bool is_canonical(const char *path)
{
	return strcmp(path, "/") == 0 || (!strstr(path, "//") && path[strlen(path) - 1] != '/');
}

/* All paths over three letters, with a kind and a mode, or without. */
static void list_files(void)
{
	enum {
		LONGEST = 5
	};
	static const char *const types[] = {"", "vnode-type=DIRECTORY", "vnode-type=REGULAR-FILE"};
	static const char *const modes[] = {"", "mode=0000", "mode=4000", "mode=6000"};
	static char paths[400][LONGEST + 1];
	unsigned n_paths = 0, n = 1;

	for (unsigned length = 1; length <= LONGEST; length++, n *= 4)
		for (unsigned number = 0; number < n; number++) {
			char *path = paths[n_paths];

			memset(path, 0, LONGEST + 1);
			path[0] = '/';
			for (unsigned i = 1, rest = number; i < length; i++, rest /= 4)
				path[i] = "/abc"[rest % 4];
			n_paths += is_canonical(path);
		}
	for (const char *const *op = file_ops; *op; op++)
		for (unsigned i = 0; i < n_paths; i++)
			for (unsigned j = 0; j < 12; j++)
				list((const char *[]){*op, paths[i], types[j / 4], modes[j % 4]},
				     4);
	CHECK(n_listed < LISTED_MAX);
}

static void files_differ_as_the_list_says(void)
{
	random_state = seed + 1;
	n_listed = 0;
	list_files();
	for (unsigned i = 0; i < rounds; i++)
		check_pair(&files, file_ops, LAPBELT_TARGET_LINUX);
}

/* ---- Assertions ---- */

/* Does OP fall to NAMED? */
static bool falls_to(const char *op, const char *named)
{
	size_t n = strlen(named) - 1;

	if (strcmp(op, named) == 0)
		return true;
	return named[n] == '*' && strncmp(op, named, n) == 0 && strcmp(op, "file-link") != 0;
}

struct shown {
	const struct lapbelt_policy *policy,
		*matches; /* what is to be proved, for all operations */
	bool never;
	unsigned weight; /* 0: nothing was */
	bool listed;     /* one of file_ops; others are below file* too */
};

static void note_counterexample(void *context, const struct lapbelt_difference *difference)
{
	struct shown *shown = context;
	struct asked asked = {.path = strlen(difference->request[1])};

	while (difference->request[asked.n])
		asked.n++;
	CHECK(shown->weight == 0);
	shown->weight = weigh(&asked);
	CHECK_STR(difference->from.file, "<assertion>");
	/* Asked by its words it is answered as said, and the assertion is about it. */
	CHECK_INT(allows(shown->policy, difference->request), shown->never);
	CHECK_INT(difference->to.allowed, shown->never);
	CHECK(allows(shown->matches, difference->request));
	shown->listed = file_ops[place_of(file_ops, difference->request[0])] != NULL;
}

static void check_assertion(const struct lapbelt_policy *policy, const struct buf *profile)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct buf filter = {0}, text = {0}, assertion = {0};
	const char *ops[2] = {pick(files.ops), pick(files.ops)};
	bool never = one_in(2);
	struct shown got = {.policy = policy, .never = never};
	struct lapbelt_policy *matches;
	unsigned want = 0;
	bool about_something = false;
	int holds = -1, r;

	add_filter(&filter, &files, 2);
	buf_puts(&text, "(version 1)(deny default)(deny file-link)(allow file* file-link ");
	buf_printf(&text, "%s)", filter.p);
	matches = compile(&text, LAPBELT_TARGET_LINUX);
	got.matches = matches;
	for (unsigned i = 0; i < n_listed; i++) {
		const char *op = listed[i].words[0];

		if (!(falls_to(op, ops[0]) || falls_to(op, ops[1])) ||
		    !allows(matches, listed[i].words))
			continue;
		about_something = true;
		if (allows(policy, listed[i].words) == never &&
		    (want == 0 || weigh(&listed[i]) < want))
			want = weigh(&listed[i]);
	}
	/* The parentheses of one filter may be left out. */
	buf_printf(&assertion, "%s %s %s ", never ? "never" : "always", ops[0], ops[1]);
	if (one_in(2))
		buf_puts(&assertion, filter.p);
	else
		buf_printf(&assertion, "%.*s", (int)filter.n - 2, filter.p + 1);
	r = lapbelt_prove(policy, assertion.p, note_counterexample, &got, &holds, &error);
	if (r == -LAPBELT_POLICY && !about_something && strstr(error.text, "no request is"))
		holds = 1; /* of every policy: that is an error */
	else
		CHECK_INT(r, 0);
	if (holds != (got.weight == 0) ||
	    (got.listed || !got.weight ? got.weight != want : want && want < got.weight)) {
		printf("# %s: weight %u, not %u; %s\n%s", assertion.p, got.weight, want, error.text,
		       profile->p);
		CHECK(false);
	}
	lapbelt_policy_free(matches);
	buf_release(&filter);
	buf_release(&text);
	buf_release(&assertion);
}

static void assertions_hold_as_the_list_says(void)
{
	struct buf profile = {0};

	random_state = seed + 2;
	n_listed = 0;
	list_files();
	for (unsigned i = 0; i < rounds; i++) {
		struct lapbelt_policy *policy;

		random_profile(&profile, &files);
		policy = compile(&profile, LAPBELT_TARGET_LINUX);
		for (unsigned j = 0; j < 4; j++)
			check_assertion(policy, &profile);
		lapbelt_policy_free(policy);
	}
	buf_release(&profile);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
		seed = strtoull(argv[2], NULL, 10);
	}
	RUN(sockets_differ_as_the_list_says);
	RUN(files_differ_as_the_list_says);
	RUN(assertions_hold_as_the_list_says);
	return test_done();
}
