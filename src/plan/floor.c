/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Landlock floor: the largest set of rows that grants nothing the policy
 * denies. A directory whose whole subtree has one answer gets one row (or
 * none); where answers differ and the policy names something further down, its
 * entries are looked at one by one. Everything the policy allows and the rows
 * cannot say is noted in the report.
 */
#include "plan/planner.h"

#include "plan/ask.h"
#include "plan/hold.h"
#include "base/banned.h"

enum {
	ROWS_MAX = 20000,
	/* A directory with more entries is not granted entry by entry. */
	ENTRIES_MAX = 4096,
	CAN_BOTH = CAN_ALLOW | CAN_DENY,
};

#define BIT(group) (1u << (group))

enum {
	READING = BIT(GROUP_READ) | BIT(GROUP_LIST),
	NAMING = BIT(GROUP_CREATE) | BIT(GROUP_NODES) | BIT(GROUP_UNLINK) | BIT(GROUP_MOVE),
	WRITING = BIT(GROUP_DATA) | NAMING,
};

/* ---- The descent's state ---- */

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

/* ---- Rows and notes ---- */

static void add_row(struct floor *f, const char *path, enum entry_type type, uint32_t rights)
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
	rows[plan->n_rows++] = (struct landlock_row){
		.path = path, .rights = rights, .directory = type == ENTRY_DIRECTORY};
	hold_row(f->p, &rows[plan->n_rows - 1]);
}

static void note_path(struct floor *f, struct paths *paths, const char *path)
{
	if (paths->n && paths->list[paths->n - 1] == path)
		return;
	if (!paths_append(paths, f->p->arena, path))
		f->failed = true;
}

static void note_parting(struct plan_parting *parting, const struct place *place, unsigned residual,
			 unsigned groups_of_class)
{
	for (enum group g = 0; g < GROUP_COUNT && !parting->path; g++)
		if (residual & groups_of_class & BIT(g))
			*parting = (struct plan_parting){place->path, g};
}

/* PLACE allows the groups RESIDUAL where no row grants them: the broker has to. */
static void leave(struct floor *f, const struct place *place, unsigned residual)
{
	struct plan *plan = f->p->plan;

	note_parting(&plan->parted_read, place, residual, READING);
	note_parting(&plan->parted_write, place, residual, WRITING);
	note_parting(&plan->parted_exec, place, residual, BIT(GROUP_EXEC));
	f->residual |= residual;
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
	struct place ret = {.path = "/"};

	f->failed |= !ask_child(f->p, parent, name, type, &ret);
	return ret;
}

/* ---- Entries of a directory that is granted entry by entry ---- */

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
	list[entries->n++] = (struct entry){str_of(copy), type == ENTRY_PIPE ? ENTRY_OTHER : type};
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

enum listed {
	LISTED,
	LISTED_NOTHING, /* it is not there */
	LISTED_CROWD,   /* too much to look at one by one */
};

static enum listed list_entries(struct listing *entries, const struct place *place)
{
	const struct plan_input *input = entries->f->p->input;
	int r = 2;

	if (!ask_only_names(entries->f->p, place->path))
		r = input->list(input->list_context, place->path, add_entry, entries);
	if (r == 1)
		return LISTED_NOTHING;
	if (entries->too_many) {
		entries->n = 0;
		return LISTED_CROWD;
	}
	entries->whole = r == 0;
	if (!entries->whole)
		add_known_names(entries, place);
	return LISTED;
}

/* ---- New names in such a directory ---- */

/*
 * May GROUP be allowed for an entry of PLACE that the policy does not mention? One that no pattern
 * can tell apart stands for all, except to regular expressions.
 */
static bool allows_unnamed(struct floor *f, const struct place *place, enum group group)
{
	struct place child = child_of(f, place, ASK_UNNAMED, ENTRY_OTHER);

	if (ask_at(f->p, &child, group) & CAN_ALLOW)
		return true;
	for (size_t u = 0; u < 2; u++)
		for (const enum op *op = groups[group].uses.ops[u]; *op != OP_DEFAULT; op++)
			if (names_regex_in(&f->names, str_of(place->path), *op))
				return (ask_below(f->p, place, group) & CAN_ALLOW) != 0;
	return false;
}

/* Of MIXED: what is allowed for the entry CHILD. */
static unsigned allowed_at(const struct floor *f, const struct place *child, unsigned mixed)
{
	unsigned ret = 0;

	for (enum group g = 0; g < GROUP_COUNT; g++)
		if ((mixed & BIT(g)) && (ask_at(f->p, child, g) & CAN_ALLOW))
			ret |= BIT(g);
	return ret;
}

/* Is DIRECTORY free below for the groups BITS, so that all it lacks are rights on its own name? */
static bool is_root_of(const struct floor *f, const struct place *directory, unsigned bits)
{
	for (enum group g = 0; g < GROUP_COUNT; g++)
		if ((bits & BIT(g)) && ask_below(f->p, directory, g) != CAN_ALLOW)
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

		if (!stands && (ask_at(f->p, &child, GROUP_CREATE) & CAN_ALLOW)) {
			anew |= allowed;
			if ((allowed & BIT(GROUP_READ)) &&
			    (ask_at(f->p, &child, GROUP_EXEC) & CAN_ALLOW))
				note_path(f, &f->p->floor.inert, child.path);
		}
		allowed &= NAMING;
		if (!allowed || ask_in_own_mount(f->p, child.path))
			continue; /* a mount point cannot go */
		if (stands && (is_root_of(f, &child, allowed) || hold_is_region(f->p, &child)))
			note_path(f, &f->p->floor.roots, child.path);
		else
			leave(f, &child, allowed);
	}
	return anew;
}

/* Of WANTED: the groups that are allowed at the missing entry CHILD, or below it. */
static unsigned lost_at(const struct floor *f, const struct place *child, unsigned wanted)
{
	unsigned ret = 0;

	for (enum group g = 0; g < GROUP_COUNT; g++)
		if ((wanted & BIT(g)) &&
		    ((ask_at(f->p, child, g) | ask_below(f->p, child, g)) & CAN_ALLOW))
			ret |= BIT(g);
	return ret;
}

/* What the policy names and is not there can be put there by the host; rows are made before. */
static void judge_missing(struct floor *f, const struct place *place, unsigned mixed,
			  const struct listing *entries)
{
	unsigned wanted = mixed & ~(unsigned)NAMING;

	for (const struct name *kid = place->name->kids; kid && wanted && !f->failed;
	     kid = kid->next) {
		struct place child;
		unsigned lost = 0;

		if (find_entry(entries, kid->text))
			continue;
		child = child_of(f, place, kid->text, ENTRY_DIRECTORY);
		lost = lost_at(f, &child, wanted);
		if (lost & BIT(GROUP_DATA))
			note_path(f, &f->p->floor.late_data, place->path);
		if (lost & ~BIT(GROUP_DATA))
			note_path(f, &f->p->floor.late, place->path);
		wanted &= lost & ~BIT(GROUP_DATA) ? BIT(GROUP_DATA) : ~0u;
		wanted &= ~(lost & BIT(GROUP_DATA));
	}
}

/* A file that is granted by itself is not when another has taken its place. */
static void judge_present(struct floor *f, const struct place *place, unsigned mixed,
			  const struct listing *entries)
{
	if (str_is_below(str_of(place->path), STR("/dev")) ||
	    str_is_below(str_of(place->path), STR("/proc")))
		return; /* the kernel keeps them */
	for (size_t i = 0; i < entries->n && !f->failed; i++) {
		struct place child;
		unsigned allowed;

		if (entries->list[i].type != ENTRY_OTHER)
			continue;
		child = child_of(f, place, entries->list[i].name, ENTRY_OTHER);
		allowed = allowed_at(f, &child, mixed);
		if (allowed & BIT(GROUP_DATA))
			note_path(f, &f->p->floor.late_data, place->path);
		if (allowed & (BIT(GROUP_READ) | BIT(GROUP_EXEC))) {
			note_path(f, &f->p->floor.late, place->path);
			return;
		}
	}
}

/* exec(2) takes READ_FILE, also where the broker answers all other reads. */
static uint32_t let_exec_read(struct floor *f)
{
	f->p->plan->floor_bounds_open = false;
	f->p->floor.exec_reads = true;
	return LL_READ_FILE;
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
		if (g == GROUP_READ && unnamed && creatable && can_broker(f->p, BROKER_READ) &&
		    allows_unnamed(f, place, GROUP_EXEC))
			rights |= let_exec_read(f);
		/* Nobody can exec for another: what comes later is not granted rather than judged.
		 */
		if (g != GROUP_EXEC && ((anew | NAMING) & BIT(g)))
			leave(f, place, BIT(g));
		else
			late = true;
	}
	if (late)
		note_path(f, &f->p->floor.late, place->path);
	return rights;
}

/* ---- Listing ---- */

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
		if (!child.name && (ask_at(f->p, &child, GROUP_LIST) & CAN_DENY))
			return false;
	}
	return true;
}

/* Looks at PLACE's entries; returns rights for PLACE itself, takes what is decided out of MIXED. */
static uint32_t look_closer(struct floor *f, const struct place *place, unsigned *mixed,
			    const struct listing *entries)
{
	uint32_t rights = 0;

	if ((*mixed & BIT(GROUP_LIST)) && ask_at(f->p, place, GROUP_LIST) == CAN_ALLOW) {
		if (shows_only_named(f, place, entries)) {
			rights |= LL_READ_DIR;
			*mixed &= ~BIT(GROUP_LIST);
			note_wide(f);
		} else {
			note_path(f, &f->p->floor.unlisted, place->path);
		}
	}
	judge_missing(f, place, *mixed, entries);
	judge_present(f, place, *mixed, entries);
	rights |= judge_new(f, place, *mixed, judge_named(f, place, *mixed, entries));
	if (rights & LL_READ_FILE)
		*mixed &= ~BIT(GROUP_READ);
	return rights;
}

/* ---- Processes ---- */

/*
 * Those of the host that run at this moment have nothing to do with those that the command will
 * start: only processes that the policy names by number get rows.
 */
static bool is_process(const struct place *entry)
{
	const struct str proc = STR("/proc/");
	const struct str path = str_of(entry->path);
	size_t digits = 0;

	return !entry->name && str_starts(path, proc) &&
	       str_number(str_skip(path, proc.n), &digits) >= 0 && digits == path.n - proc.n;
}

/* Of MIXED: what may be done with the files of a process, if PLACE has them. */
static void note_processes(struct floor *f, const struct place *place, unsigned mixed)
{
	const struct str highest = STR("4194303"); /* proc_sys_kernel(5) */
	struct place process;

	if (strcmp(place->path, "/proc") != 0)
		return;
	process = child_of(f, place, highest, ENTRY_DIRECTORY);
	for (enum group g = 0; g < GROUP_COUNT; g++)
		if ((mixed & BIT(g)) && (ask_below(f->p, &process, g) & CAN_ALLOW))
			f->p->floor.processes |= g == GROUP_DATA ? BROKER_WRITE : BROKER_READ;
}

/* ---- The descent ---- */

/*
 * Groups that PLACE answers in two ways, where no closer look is possible. EXEC: what may be
 * executed there.
 */
static uint32_t settle(struct floor *f, const struct place *place, unsigned mixed, unsigned exec)
{
	uint32_t rights = 0;

	/* Brokering every open for the sake of a few kernel settings or objects would be dear. */
	if ((mixed & READING) && ask_decides_whole(f->p, place->path)) {
		note_path(f, &f->p->floor.crowds, place->path);
		mixed &= ~(unsigned)READING;
	}
	/* Only at its first name is something denied, and a program can be exchanged for that. */
	if ((mixed & BIT(GROUP_EXEC)) && exec == CAN_ALLOW) {
		note_path(f, &f->p->floor.again, place->path);
		mixed &= ~(unsigned)BIT(GROUP_EXEC);
	}
	leave(f, place, mixed);
	if (!(exec & CAN_ALLOW))
		return 0;
	/*
	 * The kernel goes on with an exec that the broker allows, so the floor has to let it, and
	 * lets another that takes its place meanwhile.
	 */
	if ((mixed & BIT(GROUP_EXEC)) && can_broker(f->p, BROKER_EXEC)) {
		rights |= LL_EXECUTE;
		f->p->floor.exec_raced = true;
	}
	if ((mixed & BIT(GROUP_READ)) && can_broker(f->p, BROKER_READ))
		rights |= let_exec_read(f);
	return rights;
}

/* VERDICTS of GROUP at PLACE, or BELOW it: no more than its first name has. */
static unsigned by_first_name(struct floor *f, const struct place *place, enum group group,
			      unsigned verdicts, bool below)
{
	unsigned first = verdicts & CAN_ALLOW ? ask_first(f->p, place, group, below) : CAN_ALLOW;

	if (first == CAN_ALLOW)
		return verdicts;
	if (first == CAN_DENY)
		note_path(f, &f->p->floor.again, place->path);
	return first & CAN_ALLOW ? verdicts | CAN_DENY : CAN_DENY;
}

static void visit_file(struct floor *f, const struct place *place, unsigned undecided)
{
	uint32_t rights = 0;
	unsigned mixed = 0;

	for (enum group g = 0; g < GROUP_COUNT; g++) {
		unsigned verdicts = 0;

		if (!(undecided & BIT(g)) || !(groups[g].rights & LL_FS_FILE_RIGHTS))
			continue;
		verdicts = by_first_name(f, place, g, ask_at(f->p, place, g), false);
		if (verdicts == CAN_ALLOW)
			rights |= groups[g].rights & LL_FS_FILE_RIGHTS;
		else if (verdicts == CAN_BOTH)
			mixed |= BIT(g);
	}
	rights |= settle(f, place, mixed, ask_at(f->p, place, GROUP_EXEC));
	add_row(f, place->path, place->type, rights);
}

/*
 * Is every object below PLACE as free under one name as under any other? Else moving or linking
 * there would get round a rule, and has to be judged.
 */
static bool moves_are_neutral(const struct floor *f, const struct place *place)
{
	for (const enum op *op = plan_move_ops; *op != OP_COUNT; op++) {
		if (*op == OP_NETWORK_OUTBOUND && !f->sockets_by_path)
			continue;
		if (policy_verdicts_below(f->p->policy, place->below, *op) == CAN_BOTH)
			return false;
	}
	return true;
}

/* By its first name, too? */
static bool moves_are_neutral_twice(const struct floor *f, const struct place *place)
{
	char name[PLAN_PATH_MAX];
	struct place first;

	return moves_are_neutral(f, place) &&
	       (!ask_first_place(f->p, place, name, &first) || moves_are_neutral(f, &first));
}

/* Rights for all of the directory PLACE; *MIXED: groups with both answers below. */
static uint32_t judge_whole(struct floor *f, const struct place *place, unsigned undecided,
			    unsigned *mixed)
{
	bool neutral = !(undecided & NAMING) || moves_are_neutral_twice(f, place);
	uint32_t rights = 0;

	for (enum group g = 0; g < GROUP_COUNT; g++) {
		unsigned verdicts = 0;

		if (!(undecided & BIT(g)))
			continue;
		verdicts = by_first_name(f, place, g, ask_below(f->p, place, g), true);
		if (verdicts == CAN_ALLOW && (neutral || !(BIT(g) & NAMING)))
			rights |= groups[g].rights;
		else if (verdicts & CAN_ALLOW)
			*mixed |= BIT(g);
		if (g != GROUP_LIST)
			continue;
		if (verdicts == CAN_DENY && ask_at(f->p, place, g) == CAN_ALLOW)
			note_path(f, &f->p->floor.unlisted, place->path);
		if (verdicts == CAN_ALLOW && ask_at(f->p, place, g) != CAN_ALLOW)
			note_wide(f);
	}
	return rights;
}

/* Bounded by the depth of the tree of names, and by that of the file system. */
/* NOLINTNEXTLINE(misc-no-recursion): the depth of the names in the policy */
static void visit(struct floor *f, const struct place *place, unsigned undecided)
{
	struct listing entries = {.f = f};
	enum listed listed = LISTED_CROWD;
	unsigned mixed = 0;
	uint32_t rights = 0;

	if (place->type == ENTRY_SYMLINK) /* what it leads to has a path of its own */
		return;
	if (place->type == ENTRY_OTHER) {
		visit_file(f, place, undecided);
		return;
	}
	rights = judge_whole(f, place, undecided, &mixed);
	rights |= hold_directory(f->p, place, rights, &mixed);
	rights |= hold_reads(f->p, place, &mixed);
	if (mixed && place->name && place->name->kids && !ask_decides_whole(f->p, place->path))
		listed = list_entries(&entries, place);
	if (listed == LISTED) {
		rights |= look_closer(f, place, &mixed, &entries);
		note_processes(f, place, mixed);
	} else if (listed == LISTED_CROWD) {
		rights |= settle(f, place, mixed, ask_below(f->p, place, GROUP_EXEC));
	}
	add_row(f, place->path, place->type, rights);
	for (size_t i = 0; i < entries.n && !f->failed; i++) {
		struct place child = child_of(f, place, entries.list[i].name, entries.list[i].type);

		if (!is_process(&child))
			visit(f, &child, mixed);
	}
}

/* ---- The stage ---- */

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
		add_row(f, path, ENTRY_OTHER, LL_EXECUTE);
		f->p->floor.loader = true;
	}
}

static void report(struct floor *f)
{
	struct floor_report *report = &f->p->floor;
	bool listing_judged = (f->residual & READING) && can_broker(f->p, BROKER_READ);

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
	/* Before version 3 Landlock does not see what O_TRUNC does. */
	p->plan->floor_bounds_open = p->caps->landlock_abi >= 3 || p->facts.write_data == CAN_ALLOW;
	if (names_collect(&f.names, p->policy) < 0)
		return err_memory(e);
	ask_add_names(p, &f.names);
	policy_each_path(p->policy, note_socket_pattern, &f);
	visit(&f, &root, BIT(GROUP_COUNT) - 1);
	report(&f);
	add_loaders(&f);
	if (f.failed || f.names.failed)
		return err_memory(e);
	if (p->plan->n_rows > ROWS_MAX)
		return err_set(e, ERR_LIMIT, "the policy needs more than %d Landlock rows",
			       ROWS_MAX);
	return hold_end(p, e);
}
