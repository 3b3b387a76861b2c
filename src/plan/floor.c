/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Landlock floor: the largest set of rows that grants nothing the policy
 * denies. A directory whose whole subtree has one answer gets one row (or
 * none); where answers differ and the policy names something further down, its
 * entries are looked at one by one. Everything the policy allows and the rows
 * cannot say is noted in the report.
 */
#include "plan/planner.h"

#include "plan/names.h"
#include "base/banned.h"

enum {
	ROWS_MAX = 20000,
	/* A directory with more entries is not granted entry by entry. */
	ENTRIES_MAX = 4096,
	CAN_BOTH = CAN_ALLOW | CAN_DENY,
};

/* ---- What each right asks of the policy ------------------------------------------------------ */

enum group {
#define GROUP(group, rights, first, second) GROUP_##group,
#include "plan/rights.def"
	GROUP_COUNT
};

/*
 * A right has one or two uses, each asking all of its operations (OP_DEFAULT ends a list). It is
 * granted where every use is allowed: Landlock cannot tell them apart.
 */
struct uses {
	enum op ops[2][3];
};

struct group_spec {
	uint32_t rights;
	struct uses uses;
};

/* Rows of .def files end in no comma, so theirs are in the macros. */
/* clang-format off */
#define USE(op)       {OP_##op}
#define USE2(op, op2) {OP_##op, OP_##op2}
#define NO_USE        {OP_DEFAULT}
#define USES(...)     {{__VA_ARGS__}}

static const struct group_spec groups[GROUP_COUNT] = {
#define GROUP(group, rights, first, second) {rights, USES(first, second)},
#include "plan/rights.def"
};
/* clang-format on */

#define BIT(group) (1u << (group))

enum {
	READING = BIT(GROUP_READ) | BIT(GROUP_LIST),
	NAMING = BIT(GROUP_CREATE) | BIT(GROUP_NODES) | BIT(GROUP_UNLINK) | BIT(GROUP_MOVE),
	WRITING = BIT(GROUP_DATA) | NAMING,
};

/* Places where other operations decide (DESIGN 15.8). */
struct territory {
	const char *path;
	bool and_files;                /* the file operation must allow, too */
	struct uses uses[GROUP_COUNT]; /* none: the file operation decides alone */
};

/* clang-format off */
static const struct territory territories[] = {
	{"/dev/shm", false, {
#define IN_SHM(group, first, second) [GROUP_##group] = USES(first, second),
#include "plan/rights.def"
	}},
	{"/proc/sys", true, {
#define IN_SYSCTL(group, first, second) [GROUP_##group] = USES(first, second),
#include "plan/rights.def"
	}},
};
/* clang-format on */

enum {
	N_TERRITORIES = sizeof(territories) / sizeof(territories[0])
};

/* ---- The descent's state --------------------------------------------------------------------- */

struct floor {
	struct planner *p;
	struct names names;
	uint32_t handled;
	unsigned residual; /* groups: something is allowed that no row grants */
	size_t *wide;      /* rows whose READ_DIR reaches denied names */
	size_t n_wide, wide_cap;
	bool sockets_by_path;
	bool failed; /* out of memory */
};

/* One object on the way down. */
struct place {
	const char *path;
	enum entry_type type;
	policy_state at, below;  /* the same but for the root */
	const struct name *name; /* NULL: the policy names nothing here and below */
};

static unsigned combine(unsigned a, unsigned b)
{
	return (a & b & CAN_ALLOW) | ((a | b) & CAN_DENY);
}

typedef unsigned verdicts_of(const struct policy *policy, policy_state state, enum op op);

static unsigned ask(const struct floor *f, policy_state state, const struct uses *uses,
		    verdicts_of *verdicts)
{
	unsigned ret = 0;

	for (size_t u = 0; u < 2 && uses->ops[u][0] != OP_DEFAULT; u++) {
		unsigned use = CAN_ALLOW;

		for (const enum op *op = uses->ops[u]; *op != OP_DEFAULT; op++)
			use = combine(use, verdicts(f->p->policy, state, *op));
		ret |= use;
	}
	return ret;
}

static unsigned ask_at(const struct floor *f, const struct place *place, enum group group)
{
	return ask(f, place->at, &groups[group].uses, policy_verdicts_at);
}

/* ---- Territories ----------------------------------------------------------------------------- */

static const struct territory *territory_of(const char *path)
{
	for (size_t i = 0; i < N_TERRITORIES; i++)
		if (str_is_below(str_of(path), str_of(territories[i].path)))
			return &territories[i];
	return NULL;
}

static bool is_own_mount(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->n_mounts; i++)
		if (plan->mounts[i].kind == MOUNT_PRIVATE_SHM &&
		    strcmp(plan->mounts[i].path, path) == 0)
			return true;
	return false;
}

/* What GROUP can answer in TERRITORY, where the file operations answer FILES. */
static unsigned ask_territory(const struct floor *f, const struct territory *territory,
			      enum group group, unsigned files)
{
	const struct planner *p = f->p;
	unsigned names = 0;

	/* All that is in a mount of our own is the session's. */
	if (is_own_mount(p->plan, territory->path) && group != GROUP_EXEC && group != GROUP_NODES)
		return CAN_ALLOW;
	if (territory->uses[group].ops[0][0] == OP_DEFAULT)
		return files;
	names = ask(f, policy_start(p->policy), &territory->uses[group], policy_verdicts_at);
	return territory->and_files ? combine(names, files) : names;
}

/* What GROUP can answer below PLACE. */
static unsigned ask_below(const struct floor *f, const struct place *place, enum group group)
{
	unsigned ret = ask(f, place->below, &groups[group].uses, policy_verdicts_below);
	const struct territory *here = territory_of(place->path);

	if (here)
		return ask_territory(f, here, group, ret);
	for (size_t i = 0; i < N_TERRITORIES; i++)
		if (str_is_below(str_of(territories[i].path), str_of(place->path)))
			ret |= ask_territory(f, &territories[i], group, ret);
	return ret;
}

/* ---- Rows and notes -------------------------------------------------------------------------- */

static void add_row(struct floor *f, const char *path, uint32_t rights)
{
	struct plan *plan = f->p->plan;
	struct landlock_row *rows = NULL;

	rights &= f->handled;
	if (!rights || plan->n_rows > ROWS_MAX)
		return;
	rows = arena_grow(f->p->arena, plan->rows, plan->n_rows, &f->p->rows_cap, sizeof(*rows));
	if (!rows) {
		f->failed = true;
		return;
	}
	plan->rows = rows;
	rows[plan->n_rows++] = (struct landlock_row){.path = path, .rights = rights};
}

static void note_path(struct floor *f, struct paths *paths, const char *path)
{
	const char **list =
		arena_grow(f->p->arena, paths->list, paths->n, &paths->cap, sizeof(*list));

	if (!list) {
		f->failed = true;
		return;
	}
	paths->list = list;
	list[paths->n++] = path;
}

/* The next row will be for a directory whose READ_DIR reaches further than the policy. */
static void note_wide(struct floor *f)
{
	size_t *wide = arena_grow(f->p->arena, f->wide, f->n_wide, &f->wide_cap, sizeof(*wide));

	if (!wide) {
		f->failed = true;
		return;
	}
	f->wide = wide;
	wide[f->n_wide++] = f->p->plan->n_rows;
}

static struct place child_of(struct floor *f, const struct place *parent, struct str name,
			     enum entry_type type)
{
	const char *base = parent->path[1] ? parent->path : "";
	char *path = arena_printf(f->p->arena, "%s/%.*s", base, (int)name.n, name.p);
	policy_state state = 0;

	if (!path) {
		f->failed = true;
		return (struct place){.path = "/"};
	}
	state = policy_walk(f->p->policy, parent->below, str_of(path + strlen(base)));
	return (struct place){.path = path,
			      .type = type,
			      .at = state,
			      .below = state,
			      .name = name_child(parent->name, name)};
}

/* ---- Entries of a directory that is granted entry by entry ----------------------------------- */

struct entry {
	struct str name;
	enum entry_type type;
};

struct listing {
	struct floor *f;
	struct entry *list;
	size_t n, cap;
	bool too_many;
	bool whole;
};

static int add_entry(void *context, const char *name, enum entry_type type)
{
	struct listing *entries = context;
	struct arena *arena = entries->f->p->arena;
	struct entry *list = NULL;
	char *copy = NULL;

	if (entries->n == ENTRIES_MAX) {
		entries->too_many = true;
		return 3;
	}
	list = arena_grow(arena, entries->list, entries->n, &entries->cap, sizeof(*list));
	copy = arena_strdup(arena, str_of(name));
	if (!list || !copy) {
		entries->f->failed = true;
		return 3;
	}
	entries->list = list;
	list[entries->n++] = (struct entry){str_of(copy), type};
	return 0;
}

static const struct entry *find_entry(const struct listing *entries, struct str name)
{
	for (size_t i = 0; i < entries->n; i++)
		if (str_eq(entries->list[i].name, name))
			return &entries->list[i];
	return NULL;
}

/* Where the directory cannot be listed: the names the policy knows. */
static void add_known_names(struct listing *entries, const struct place *place)
{
	entries->n = 0;
	for (const struct name *kid = place->name->kids; kid; kid = kid->next) {
		struct place child = child_of(entries->f, place, kid->text, ENTRY_OTHER);
		enum entry_type type = ENTRY_OTHER;

		if (entries->f->failed)
			return;
		if (path_is_directory(entries->f->p, str_of(child.path)))
			type = ENTRY_DIRECTORY;
		(void)add_entry(entries, arena_strdup(entries->f->p->arena, kid->text), type);
	}
}

/* 0; 1: nothing is there. */
static int list_entries(struct listing *entries, const struct place *place)
{
	const struct plan_input *input = entries->f->p->input;
	int r = input->list(input->list_context, place->path, add_entry, entries);

	if (r == 1)
		return 1;
	entries->whole = r == 0;
	if (!entries->whole)
		add_known_names(entries, place);
	return 0;
}

/* ---- New names in such a directory ----------------------------------------------------------- */

/*
 * May GROUP be allowed for an entry of PLACE that the policy does not mention? One that no pattern
 * can tell apart stands for all, except to regular expressions.
 */
static bool allows_unnamed(struct floor *f, const struct place *place, enum group group)
{
	static const char unlike_any_other[] = "\001";
	struct place child = child_of(f, place, str_of(unlike_any_other), ENTRY_OTHER);

	if (ask_at(f, &child, group) & CAN_ALLOW)
		return true;
	for (size_t u = 0; u < 2; u++)
		for (const enum op *op = groups[group].uses.ops[u]; *op != OP_DEFAULT; op++)
			if (names_regex_in(&f->names, str_of(place->path), *op))
				return (ask_below(f, place, group) & CAN_ALLOW) != 0;
	return false;
}

/* Of MIXED: what is allowed for the entry CHILD. */
static unsigned allowed_at(const struct floor *f, const struct place *child, unsigned mixed)
{
	unsigned ret = 0;

	for (enum group g = 0; g < GROUP_COUNT; g++)
		if ((mixed & BIT(g)) && (ask_at(f, child, g) & CAN_ALLOW))
			ret |= BIT(g);
	return ret;
}

/* Is DIRECTORY free below for the groups BITS, so that all it lacks are rights on its own name? */
static bool is_root_of(const struct floor *f, const struct place *directory, unsigned bits)
{
	for (enum group g = 0; g < GROUP_COUNT; g++)
		if ((bits & BIT(g)) && ask_below(f, directory, g) != CAN_ALLOW)
			return false;
	return true;
}

/*
 * Making, removing and moving the entries of PLACE themselves takes rights on PLACE, which it does
 * not get. That a directory has to stay where it is, is only a stricter floor; anything else is
 * residual. Returns the groups that are allowed for an entry which the command can make anew.
 */
static unsigned judge_named(struct floor *f, const struct place *place, unsigned mixed,
			    const struct listing *entries)
{
	unsigned anew = 0;

	for (const struct name *kid = place->name->kids; kid; kid = kid->next) {
		const struct entry *entry = find_entry(entries, kid->text);
		struct place child = child_of(f, place, kid->text, ENTRY_DIRECTORY);
		unsigned allowed = allowed_at(f, &child, mixed);
		bool stands = entry && entry->type == ENTRY_DIRECTORY;

		if (!stands && (ask_at(f, &child, GROUP_CREATE) & CAN_ALLOW))
			anew |= allowed;
		if ((allowed & NAMING) && stands && is_root_of(f, &child, allowed & NAMING))
			note_path(f, &f->p->floor.roots, child.path);
		else
			f->residual |= allowed & NAMING;
	}
	return anew;
}

/* ANEW as judge_named() found. Returns rights to give to PLACE itself after all. */
static uint32_t judge_new(struct floor *f, const struct place *place, unsigned mixed, unsigned anew)
{
	bool creatable = allows_unnamed(f, place, GROUP_CREATE);
	uint32_t rights = 0;
	bool late = false;

	for (enum group g = 0; g < GROUP_COUNT; g++) {
		bool unnamed = (mixed & BIT(g)) && allows_unnamed(f, place, g);

		if (g == GROUP_LIST || !(unnamed || (anew & BIT(g))))
			continue;
		if (creatable && unnamed)
			anew |= BIT(g);
		if (g == GROUP_EXEC && (anew & BIT(g)) && f->p->caps->notify)
			rights |= LL_EXECUTE;
		else if ((anew | NAMING) & BIT(g))
			f->residual |= BIT(g);
		else
			late = true;
	}
	if (late)
		note_path(f, &f->p->floor.late, place->path);
	return rights;
}

/* ---- Listing --------------------------------------------------------------------------------- */

/*
 * READ_DIR reaches everything below. It is given to a directory that may be listed if the only
 * names that this shows too much of are ones the policy mentions (DESIGN 15.3).
 */
static bool shows_only_named(struct floor *f, const struct place *place,
			     const struct listing *entries)
{
	if (!entries->whole)
		return false;
	for (size_t i = 0; i < entries->n; i++) {
		struct place child = child_of(f, place, entries->list[i].name, ENTRY_OTHER);

		if (f->failed)
			return false;
		if (!child.name && (ask_at(f, &child, GROUP_LIST) & CAN_DENY))
			return false;
	}
	return true;
}

/* Looks at PLACE's entries; returns rights for PLACE itself, takes what is decided out of MIXED. */
static uint32_t look_closer(struct floor *f, const struct place *place, unsigned *mixed,
			    const struct listing *entries)
{
	uint32_t rights = 0;

	if (entries->too_many)
		f->residual |= *mixed;
	if ((*mixed & BIT(GROUP_LIST)) && ask_at(f, place, GROUP_LIST) == CAN_ALLOW) {
		if (shows_only_named(f, place, entries)) {
			rights |= LL_READ_DIR;
			*mixed &= ~BIT(GROUP_LIST);
			note_wide(f);
		} else {
			note_path(f, &f->p->floor.unlisted, place->path);
		}
	}
	rights |= judge_new(f, place, *mixed, judge_named(f, place, *mixed, entries));
	if (rights & LL_EXECUTE)
		*mixed &= ~BIT(GROUP_EXEC);
	return rights;
}

/* ---- The descent ----------------------------------------------------------------------------- */

/* Groups that PLACE answers in two ways, where no closer look is possible. */
static uint32_t settle(struct floor *f, const struct place *place, unsigned mixed)
{
	uint32_t rights = 0;

	/* The kernel goes on with an exec that the broker allows, so the floor has to let it. */
	if ((mixed & BIT(GROUP_EXEC)) && f->p->caps->notify) {
		rights |= LL_EXECUTE;
		mixed &= ~BIT(GROUP_EXEC);
	}
	/* Brokering every open for the sake of a few kernel settings or objects would be dear. */
	if ((mixed & READING) && territory_of(place->path)) {
		note_path(f, &f->p->floor.late, place->path);
		mixed &= ~(unsigned)READING;
	}
	f->residual |= mixed;
	return rights;
}

static void visit_file(struct floor *f, const struct place *place, unsigned undecided)
{
	uint32_t rights = 0;
	unsigned mixed = 0;

	for (enum group g = 0; g < GROUP_COUNT; g++) {
		unsigned verdicts = 0;

		if (!(undecided & BIT(g)) || !(groups[g].rights & LL_FS_FILE_RIGHTS))
			continue;
		verdicts = ask_at(f, place, g);
		if (verdicts == CAN_ALLOW)
			rights |= groups[g].rights & LL_FS_FILE_RIGHTS;
		else if (verdicts == CAN_BOTH)
			mixed |= BIT(g);
	}
	add_row(f, place->path, rights | settle(f, place, mixed));
}

/*
 * Is every object below PLACE as free under one name as under any other? Else moving or linking
 * there would get round a rule, and has to be judged.
 */
static bool moves_are_neutral(const struct floor *f, const struct place *place)
{
	static const enum op ops[] = {
		OP_FILE_READ_DATA,  OP_FILE_WRITE_DATA,  OP_PROCESS_EXEC_ANY,
		OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_XATTR,
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (policy_verdicts_below(f->p->policy, place->below, ops[i]) == CAN_BOTH)
			return false;
	return !f->sockets_by_path ||
	       policy_verdicts_below(f->p->policy, place->below, OP_NETWORK_OUTBOUND) != CAN_BOTH;
}

/* Rights for all of the directory PLACE; *MIXED: groups with both answers below. */
static uint32_t judge_whole(struct floor *f, const struct place *place, unsigned undecided,
			    unsigned *mixed)
{
	bool neutral = !(undecided & NAMING) || moves_are_neutral(f, place);
	uint32_t rights = 0;

	for (enum group g = 0; g < GROUP_COUNT; g++) {
		unsigned verdicts = 0;

		if (!(undecided & BIT(g)))
			continue;
		verdicts = ask_below(f, place, g);
		if (verdicts == CAN_ALLOW && (neutral || !(BIT(g) & NAMING)))
			rights |= groups[g].rights;
		else if (verdicts & CAN_ALLOW)
			*mixed |= BIT(g);
		if (g != GROUP_LIST)
			continue;
		if (verdicts == CAN_DENY && ask_at(f, place, g) == CAN_ALLOW)
			note_path(f, &f->p->floor.unlisted, place->path);
		if (verdicts == CAN_ALLOW && ask_at(f, place, g) != CAN_ALLOW)
			note_wide(f);
	}
	return rights;
}

/* Bounded by the depth of the tree of names, and by that of the file system. */
static void visit(struct floor *f, const struct place *place, unsigned undecided)
{
	struct listing entries = {.f = f};
	unsigned mixed = 0;
	uint32_t rights = 0;

	if (place->type == ENTRY_SYMLINK) /* what it leads to has a path of its own */
		return;
	if (place->type == ENTRY_OTHER) {
		visit_file(f, place, undecided);
		return;
	}
	rights = judge_whole(f, place, undecided, &mixed);
	if (!mixed || !place->name || !place->name->kids || territory_of(place->path))
		rights |= settle(f, place, mixed);
	else if (list_entries(&entries, place) == 0)
		rights |= look_closer(f, place, &mixed, &entries);
	add_row(f, place->path, rights);
	for (size_t i = 0; i < entries.n && !f->failed; i++) {
		struct place child = child_of(f, place, entries.list[i].name, entries.list[i].type);

		visit(f, &child, mixed);
	}
}

/* ---- The stage ------------------------------------------------------------------------------- */

static void note_socket_pattern(void *context, const struct rule *rule, const struct test *test)
{
	struct floor *f = context;

	(void)test;
	f->sockets_by_path |= rule->op == OP_NETWORK_ANY || rule->op == OP_NETWORK_OUTBOUND;
}

/* Where every open for reading is judged, listing is too. */
static void take_back_wide(struct floor *f)
{
	struct plan *plan = f->p->plan;
	size_t n = 0;

	for (size_t i = 0; i < f->n_wide; i++)
		if (f->wide[i] < plan->n_rows)
			plan->rows[f->wide[i]].rights &= ~(uint32_t)LL_READ_DIR;
	for (size_t i = 0; i < plan->n_rows; i++)
		if (plan->rows[i].rights)
			plan->rows[n++] = plan->rows[i];
	plan->n_rows = n;
}

/* Programs do not start without their ELF interpreter, whatever the rules say of it. */
static void add_loaders(struct floor *f)
{
	const struct plan_input *input = f->p->input;
	bool any = false;

	for (size_t i = 0; i < f->p->plan->n_rows; i++)
		any |= (f->p->plan->rows[i].rights & LL_EXECUTE) != 0;
	for (size_t i = 0; any && i < input->n_loaders; i++) {
		char *path = arena_strdup(f->p->arena, input->loaders[i]);

		if (!path) {
			f->failed = true;
			return;
		}
		if (landlock_simulate(f->p->plan, path, LL_EXECUTE))
			continue;
		add_row(f, path, LL_EXECUTE);
		f->p->floor.loader = true;
	}
}

static void report(struct floor *f)
{
	struct floor_report *report = &f->p->floor;
	bool listing_judged = (f->residual & READING) && f->p->caps->notify;

	report->read = (f->residual & READING) != 0;
	report->write = (f->residual & WRITING) != 0;
	report->exec = (f->residual & BIT(GROUP_EXEC)) != 0;
	report->ioctl = (f->residual & BIT(GROUP_IOCTL)) != 0;
	report->lists_too_much = f->n_wide > 0 && !listing_judged;
	if (listing_judged)
		take_back_wide(f);
}

int floor_plan(struct planner *p, struct err *e)
{
	struct floor f = {
		.p = p,
		.names = {.arena = p->arena},
		.handled = landlock_fs_handled(p->caps->landlock_abi),
	};
	policy_state start = policy_start(p->policy);
	struct place root = {
		.path = "/",
		.type = ENTRY_DIRECTORY,
		.at = policy_walk(p->policy, start, STR("/")),
		.below = start,
		.name = &f.names.root,
	};

	p->plan->landlock_fs = f.handled;
	if (names_collect(&f.names, p->policy) < 0)
		return err_memory(e);
	for (size_t i = 0; i < N_TERRITORIES; i++)
		names_add(&f.names, str_of(territories[i].path));
	policy_each_path(p->policy, note_socket_pattern, &f);
	visit(&f, &root, BIT(GROUP_COUNT) - 1);
	report(&f);
	add_loaders(&f);
	if (f.failed || f.names.failed)
		return err_memory(e);
	if (p->plan->n_rows > ROWS_MAX)
		return err_set(e, ERR_LIMIT, "the policy needs more than %d Landlock rows",
			       ROWS_MAX);
	return 0;
}
