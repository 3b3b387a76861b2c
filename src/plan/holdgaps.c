/* SPDX-License-Identifier: Apache-2.0 */
/* What mounts in place of a broker do not hold, and what they hold too much of. */
#include "plan/held.h"

#include "base/banned.h"

/* One form of a profile may be several rules. */
static bool is_alike(const struct unheld *a, const struct unheld *b)
{
	const struct rule *x = a->rule, *y = b->rule;

	return a->why == b->why &&
	       (x == y || (x && y && x->at.line == y->at.line && x->at.column == y->at.column &&
			   str_eq(str_of(x->at.file), str_of(y->at.file))));
}

static bool is_listed(const struct paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (strcmp(paths->list[i], path) == 0)
			return true;
	return false;
}

/* One gap for all that is not held for the reason and the rule of LIST[FROM]. */
static int add_gap(struct planner *p, struct gap gap, size_t from)
{
	const struct unheld *first = &p->held.list[from];
	struct paths paths = {.n = 0};

	for (size_t i = from; i < p->held.n; i++) {
		const struct unheld *at = &p->held.list[i];

		if (!is_alike(at, first) || is_listed(&paths, at->path))
			continue;
		if (!paths_append(&paths, p->arena, at->path))
			return -ERR_MEMORY;
	}
	gap.rule = first->rule;
	gap.text = gap_list_paths(p, &paths, gap.text);
	gap.paths = gap_end_paths(p, &paths);
	return gap_add(p, gap);
}

static bool is_first(const struct held *held, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_alike(&held->list[i], &held->list[n]))
			return false;
	return true;
}

static unsigned verdicts_of_attributes(const struct planner *p)
{
	unsigned ret = 0;

	for (size_t i = 0; i < N_WRITE_OPS; i++)
		if (OF_ATTRIBUTES & 1u << i)
			ret |= verdicts_anywhere(p->policy, held_write_ops[i]);
	return ret;
}

static int gaps_of_means(struct planner *p)
{
	const bool any = p->plan->n_mounts > p->held.first;
	const bool some = (verdicts_of_attributes(p) & CAN_ALLOW) && !p->held.all;
	const struct {
		bool is_so;
		struct gap gap;
	} rows[] = {
		{any && p->input->inherits_files,
		 {.kind = GAP_CONTENT,
		  .ops = {OP_FILE_WRITE_ANY, OP_FILE_READ_DATA},
		  .text = "files and directories that the command is started with are not behind "
			  "the mounts that hold what is denied: they and their attributes can be "
			  "changed, and what lies below be read",
		  .help = "pipes in their place"}},
		{some,
		 {.kind = GAP_STRICTER,
		  .ops = {OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
			  OP_FILE_WRITE_XATTR, OP_FILE_WRITE_ACL},
		  .text = "modes, owners, times and extended attributes can be changed only where "
			  "something can be written"}},
		{any && p->input->inherits_devices,
		 {.kind = GAP_METADATA,
		  .ops = {OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
			  OP_FILE_WRITE_XATTR, OP_FILE_WRITE_ACL},
		  .text = "attributes of the terminals and devices that the command is started "
			  "with can be changed"}},
		{any,
		 {.kind = GAP_METADATA,
		  .ops = {OP_FILE_WRITE_DATA, OP_FILE_READ_DATA},
		  .text = "what is denied is held by mounts: not where somebody outside puts "
			  "something else in its place meanwhile, or makes a named pipe in "
			  "what is read-only"}},
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		if (rows[i].is_so)
			r = gap_add(p, rows[i].gap);
	return r;
}

static const struct gap gaps_by_why[UNHELD_COUNT] = {
	[UNHELD_ABSENT] = {.kind = GAP_CONTENT,
			   .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
			   .below_paths = true,
			   .text = "what is not there yet can be made and written"},
	[UNHELD_PATTERN] = {.kind = GAP_CONTENT,
			    .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
			    .below_paths = true,
			    .text = "what this matches can be made and written below these "
				    "directories, unless it is there already and in a "
				    "directory that was looked at"},
	[UNHELD_LINK] = {.kind = GAP_CONTENT,
			 .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
			 .below_paths = true,
			 .text = "symlinks can be replaced"},
	[UNHELD_UNSEEN] = {.kind = GAP_CONTENT,
			   .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
			   .below_paths = true,
			   .text = "these directories cannot be looked at, and all in them "
				   "can be written"},
	[UNHELD_PIPES] = {.kind = GAP_CONTENT,
			  .ops = {OP_FILE_WRITE_DATA},
			  .below_paths = true,
			  .text = "these directories were not looked through as a whole, "
				  "and named pipes in them can be written to"},
	[UNHELD_ATTRIBUTES] = {.kind = GAP_CONTENT,
			       .ops = {OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
				       OP_FILE_WRITE_XATTR, OP_FILE_WRITE_ACL},
			       .below_paths = true,
			       .text = "modes, owners, times and extended attributes can be "
				       "changed at and below these"},
	[HELD_IN_PLACE] = {.kind = GAP_STRICTER,
			   .ops = {OP_FILE_WRITE_UNLINK, OP_FILE_WRITE_CREATE, OP_FILE_LINK},
			   .text = "these cannot be removed or renamed, and nothing moved or "
				   "linked into or out of them: what is denied there is held "
				   "by mounts"},
	[HELD_DEVICES] = {.kind = GAP_STRICTER,
			  .ops = {OP_FILE_READ_DATA, OP_FILE_WRITE_DATA},
			  .below_paths = true,
			  .text = "devices that are denied cannot be read either"},
	[UNHELD_ABSENT_READ] = {.kind = GAP_CONTENT,
				.ops = {OP_FILE_READ_DATA},
				.below_paths = true,
				.text = "what is not there yet can be read once it is"},
	[UNHELD_PATTERN_READ] = {.kind = GAP_CONTENT,
				 .ops = {OP_FILE_READ_DATA},
				 .below_paths = true,
				 .text = "what this matches can be read below these "
					 "directories, unless it is there already and in a "
					 "directory that was looked at"},
	[UNHELD_UNSEEN_READ] = {.kind = GAP_CONTENT,
				.ops = {OP_FILE_READ_DATA},
				.below_paths = true,
				.text = "these directories cannot be looked at, and all in "
					"them can be read"},
	[HELD_HIDDEN] = {.kind = GAP_STRICTER,
			 .ops = {OP_FILE_WRITE_ANY, OP_FILE_READ_ANY, OP_FILE_LINK,
				 OP_PROCESS_EXEC_ANY, OP_FILE_IOCTL},
			 .below_paths = true,
			 .text = "these are hidden, whatever else than reading is allowed"},
	[HELD_WHOLE] = {.kind = GAP_STRICTER,
			.ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
			.below_paths = true,
			.text = "these are read-only as a whole but for what is there and "
				"allowed"},
};

int gaps_of_holding(struct planner *p)
{
	const char *help = "a seccomp listener: there can be one only, and an outer sandbox has it";
	int r = 0;

	if (!p->held.on)
		return 0;
	for (size_t i = 0; i < p->held.n && r == 0; i++) {
		struct gap gap = gaps_by_why[p->held.list[i].why];

		gap.help = help;
		if (is_first(&p->held, i))
			r = add_gap(p, gap, i);
	}
	return r == 0 ? gaps_of_means(p) : r;
}
