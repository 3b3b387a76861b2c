/* SPDX-License-Identifier: Apache-2.0 */
/* What gets around a denial: connections that a local end lets out, and names that move. */
#include "base/path.h"
#include "policy/linter.h"

#include "base/banned.h"

/* ---- (local ...) on network-outbound ---- */

static void find_local(void *context, const struct test *test)
{
	bool *found = context;

	*found |= test->filter == FILTER_LOCAL;
}

/* Does RULE let connections out by their own end? */
static bool allows_by_local(const struct rule *rule)
{
	bool found = false;

	if (rule->verdict == VERDICT_ALLOW && rule->filter &&
	    op_is_below(OP_NETWORK_OUTBOUND, rule->op))
		lint_tests(rule->filter, find_local, &found);
	return found;
}

struct ports {
	int wanted;
	bool taken;
};

static void find_port(void *context, const struct test *test)
{
	struct ports *ports = context;

	ports->taken |= test->match == MATCH_ENDPOINT && test->endpoint.port == ports->wanted;
}

/* A port that no rule speaks of, if there is one. */
static int free_port(const struct policy *policy)
{
	struct ports ports = {.taken = true};

	while (ports.taken && ports.wanted < 65535) {
		ports = (struct ports){.wanted = ports.wanted + 1};
		for (size_t i = 0; i < policy->n_rules && !ports.taken; i++)
			if (policy->rules[i].filter)
				lint_tests(policy->rules[i].filter, find_port, &ports);
	}
	return ports.wanted;
}

/* One of a unix socket to a name that no rule will have. */
static struct request unix_connection(void)
{
	const struct endpoint end = {.proto = PROTO_UNIX};
	struct request request = {
		.op = OP_NETWORK_OUTBOUND,
		.path = STR("/no/rule/has/this/name"),
		.local = end,
		.remote = end,
	};

	request_set_socket(&request);
	return request;
}

/* A connection of a socket that is not bound yet to a host somewhere (RFC 5737, RFC 3849). */
static struct request connection(unsigned proto, int port)
{
	static const unsigned char hosts[2][16] = {{192, 0, 2, 1}, {0x20, 0x01, 0x0d, 0xb8}};
	struct request request = {
		.op = OP_NETWORK_OUTBOUND,
		.local = {.proto = proto, .unbound = true},
		.remote = {.proto = proto, .port = port},
	};
	bool six = proto & PROTO_IP6;

	request_set_socket(&request);
	memcpy(request.remote.addr, hosts[six], sizeof(hosts[six]));
	return request;
}

/* The policy without the rules at issue: what else allows? NULL as of lint_build(). */
static struct policy *build_without(struct linter *linter)
{
	const struct policy *policy = linter->policy;
	const struct rule **rules = arena_array(linter->arena, policy->n_rules, sizeof(*rules));
	size_t n = 0;

	linter->failed |= !rules;
	for (size_t i = 0; rules && i < policy->n_rules; i++)
		if (!allows_by_local(&policy->rules[i]))
			rules[n++] = &policy->rules[i];
	return rules ? lint_build(linter, rules, n) : NULL;
}

static void check_connection(struct linter *linter, const struct policy *without,
			     const struct request *request)
{
	bool is_unix = request->remote.proto & PROTO_UNIX;
	struct decision with, other;

	policy_decide(linter->policy, request, &with);
	policy_decide(without, request, &other);
	if (!with.rule || !lint_is_own(with.rule) || !allows_by_local(with.rule) ||
	    other.verdict == VERDICT_ALLOW)
		return;
	lint_add(linter,
		 (struct finding){
			 .kind = LINT_LOCAL_EGRESS,
			 .at = with.rule->at,
			 .text = is_unix ? "this rule lets connections to all unix sockets out: "
					   "one's own end is a unix socket, too, and (local unix) "
					   "says no more"
					 : "this rule lets every connection out: before it "
					   "connects, "
					   "a socket has no address of its own and matches any "
					   "(local ...)",
			 .hint = is_unix ? "on network-outbound name the other end, as in "
					   "(literal \"/run/x\"); if all are meant, say (remote "
					   "unix)"
					 : "on network-outbound name the other end, as in "
					   "(remote ip \"localhost:*\"); (local ...) is for "
					   "network-inbound",
		 });
}

void lint_egress(struct linter *linter)
{
	static const unsigned protos[] = {PROTO_IP4 | PROTO_TCP, PROTO_IP4 | PROTO_UDP,
					  PROTO_IP6 | PROTO_TCP, PROTO_IP6 | PROTO_UDP};
	const struct policy *policy = linter->policy;
	struct request request = unix_connection();
	struct policy *without;
	bool any = false;

	for (size_t i = 0; i < policy->n_rules && !any; i++)
		any = lint_is_own(&policy->rules[i]) && allows_by_local(&policy->rules[i]);
	without = any ? build_without(linter) : NULL;
	if (without)
		check_connection(linter, without, &request);
	for (size_t i = 0; without && i < sizeof(protos) / sizeof(protos[0]); i++) {
		request = connection(protos[i], free_port(policy));
		check_connection(linter, without, &request);
	}
	policy_free(without);
}

/* ---- Names that move ---- */

enum {
	GOALS_MAX = 64
};

/* A place that something may be moved to. */
struct goal {
	policy_state state;
	struct str path;
};

/* A rule that denies reading. */
struct denial {
	struct str met;  /* the shortest path of which it does; p NULL: none yet */
	struct str open; /* the same, where the name may be taken away */
};

struct renames {
	struct linter *linter;
	const struct policy *policy; /* the rules told apart */
	bool *seen;                  /* by label */
	struct denial *denials;      /* by rule */
	struct goal goals[GOALS_MAX];
	size_t n_goals;
};

static bool may(const struct renames *r, policy_state state, enum op op)
{
	return policy_verdicts_at(r->policy, state, op) & CAN_ALLOW;
}

/* Whose filter denies to read what is in STATE, whatever else the request says; or NULL. */
static const struct rule *denier(const struct renames *r, policy_state state)
{
	const struct chain *chain = policy_chain(r->policy, state, OP_FILE_READ_DATA);
	const struct rule *rule = chain->entries[0].decision.rule;

	if (chain->n > 1 || !rule || !rule->filter || rule->verdict == VERDICT_ALLOW)
		return NULL;
	return lint_is_own(rule) ? rule : NULL;
}

/* macOS has links there, which can be no goals. */
static bool is_link(const struct renames *r, struct str path)
{
	return r->policy->target == TARGET_DARWIN &&
	       (path_is_darwin_link(path) || path_is_behind_darwin_link(path));
}

static int note_place(void *context, const struct paths_stop *stop)
{
	struct renames *r = context;
	policy_state state = stop->states[0];
	uint32_t label = dfa_label_at(&r->policy->paths, state);
	bool is_goal = may(r, state, OP_FILE_READ_DATA) && may(r, state, OP_FILE_WRITE_CREATE);
	struct str path = {0};
	struct denial *denial;
	const struct rule *rule;

	if ((is_goal && r->n_goals < GOALS_MAX) || !r->seen[label])
		path = lint_path(r->linter, stop);
	if (is_goal && r->n_goals < GOALS_MAX && path.n > 1 && !is_link(r, path))
		r->goals[r->n_goals++] = (struct goal){state, path};
	rule = r->seen[label] ? NULL : denier(r, state);
	r->seen[label] = true;
	if (!rule)
		return 0;
	denial = &r->denials[rule->index];
	if (!denial->met.p)
		denial->met = path;
	/* The root directory stays where it is. */
	if (!denial->open.p && path.n > 1 && may(r, state, OP_FILE_WRITE_UNLINK))
		denial->open = path;
	return 0;
}

/* ---- Directories above ---- */

static size_t count_names(struct str path)
{
	size_t n = 0;

	for (size_t i = 0; i < path.n; i++)
		n += path.p[i] == '/';
	return n;
}

/* Does PATH, as a rule or the automaton of R spells it, begin with PREFIX? */
static bool starts_with(const struct renames *r, struct str path, struct str prefix)
{
	return r->policy->target == TARGET_DARWIN ? path_starts_folded(path, prefix)
						  : str_starts(path, prefix);
}

/*
 * Where only root makes names, whatever the policy says: users' homes, what is in /private, and all
 * at the root.
 */
static bool belongs_to_root(const struct renames *r, struct str directory)
{
	static const struct str parents[] = {
		{"/Users/", 7},
		{"/home/", 6},
		{"/private/", 9},
	};
	size_t n = count_names(directory);
	bool belongs = n < 2;

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]) && n == 2; i++)
		belongs |= starts_with(r, directory, parents[i]);
	return belongs;
}

/* Can DIRECTORY be moved to where REST below it may be read? */
static bool can_move(const struct renames *r, struct str directory, struct str rest)
{
	policy_state from = policy_walk(r->policy, policy_start(r->policy), directory);

	if (!may(r, from, OP_FILE_WRITE_UNLINK))
		return false;
	for (size_t i = 0; i < r->n_goals; i++)
		if (!str_is_below(r->goals[i].path, directory) &&
		    may(r, policy_walk(r->policy, r->goals[i].state, rest), OP_FILE_READ_DATA))
			return true;
	return false;
}

/* The first directory above PATH whose move opens what RULE denies. */
static bool find_move(const struct renames *r, const struct rule *rule, struct str path,
		      struct str *ret)
{
	policy_state state = policy_walk(r->policy, policy_start(r->policy), path);
	const struct rule *by = denier(r, state);

	if (!by || !lint_same_place(by->at, rule->at))
		return false;
	for (size_t n = path.n; n-- > 1;) {
		*ret = (struct str){path.p, n};
		if (path.p[n] == '/' && !belongs_to_root(r, *ret) &&
		    can_move(r, *ret, str_skip(path, n)))
			return true;
	}
	return false;
}

struct above {
	const struct renames *renames;
	const struct rule *rule;
	struct str directory;
	bool found;
};

static void find_above(void *context, const struct test *test)
{
	struct above *above = context;
	bool is_text = test->match == MATCH_LITERAL || test->match == MATCH_SUBPATH;

	if (!above->found && test->filter == FILTER_PATH && is_text)
		above->found =
			find_move(above->renames, above->rule, test->text, &above->directory);
}

/* ---- Reporting ---- */

static void report_rename(const struct renames *r, const struct rule *rule, struct str name,
			  const char *what)
{
	struct arena *arena = r->linter->arena;
	bool is_linux = r->policy->target == TARGET_LINUX;

	lint_add(r->linter,
		 (struct finding){
			 .kind = LINT_RENAME_HOLE,
			 .at = rule->at,
			 .path = name,
			 .text = arena_printf(
				 arena,
				 "%sa rename opens what this rule denies to read: %s '%.*s' may be "
				 "moved (file-write-unlink), to '%.*s' for one%s",
				 is_linux ? "on macOS " : "", what, (int)name.n, name.p,
				 (int)r->goals[0].path.n, r->goals[0].path.p,
				 is_linux ? "; on Linux lapbelt answers EXDEV" : ""),
			 .hint = arena_printf(arena,
					      "(deny file-write-unlink (literal \"%.*s\")), or as "
					      "much as this rule covers",
					      (int)name.n, name.p),
		 });
}

static void check_denial(const struct renames *r, const struct rule *rule)
{
	const struct denial *denial = &r->denials[rule->index];
	struct above above = {r, rule, {0}, false};

	if (!denial->met.p || lint_has(r->linter, LINT_RENAME_HOLE, rule->at))
		return;
	if (denial->open.p) {
		report_rename(r, rule, denial->open, "its");
		return;
	}
	lint_tests(rule->filter, find_above, &above);
	if (!above.found)
		above.found = find_move(r, rule, denial->met, &above.directory);
	if (above.found)
		report_rename(r, rule, above.directory, "the directory");
}

void lint_renames(struct linter *linter)
{
	struct arena scratch = {.limit = linter->limits.memory};
	struct renames r = {.linter = linter, .policy = linter->apart};

	if (!linter->apart)
		return;
	r.seen = arena_array(&scratch, lint_n_labels(r.policy), sizeof(*r.seen));
	r.denials = arena_array(&scratch, r.policy->n_rules, sizeof(*r.denials));
	linter->failed |= !r.seen || !r.denials;
	if (r.seen && r.denials && lint_walk(linter, &r.policy, 1, note_place, &r) >= 0)
		for (size_t i = 0; r.n_goals > 0 && i < r.policy->n_rules; i++)
			check_denial(&r, &r.policy->rules[i]);
	arena_release(&scratch);
}
