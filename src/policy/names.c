/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of ops.def, filters.def and modifiers.def, and questions about single rows. */
#include "policy/policy.h"

#include "base/banned.h"

enum category_bit {
#define CATEGORY(symbol) CATEGORY_BIT_##symbol,
#include "policy/categories.def"
#undef CATEGORY
	CATEGORY_BIT_NONE, /* the operation takes none but the universal ones */
};

#define CATEGORY(symbol) static const uint64_t CAT_##symbol = (uint64_t)1 << CATEGORY_BIT_##symbol;
#include "policy/categories.def"
CATEGORY(NONE)
#undef CATEGORY

enum builtin {
	BUILTIN_INHERIT,
	BUILTIN_ALLOW,
	BUILTIN_DENY,
};

struct op_row {
	const char *name;
	enum op parent;
	enum builtin builtin;
};

static const struct op_row ops[OP_COUNT] = {
#define OP(symbol, op_text, op_above, op_builtin, categories)                                      \
	[OP_##symbol] = {op_text, OP_##op_above, BUILTIN_##op_builtin},
#include "policy/ops.def"
#undef OP
};

static const char *const modifiers[MODIFIER_COUNT] = {
#define MODIFIER(symbol, modifier_text, actions, argument) [MODIFIER_##symbol] = (modifier_text),
#include "policy/modifiers.def"
#undef MODIFIER
};

/* One line per row, not a table: the masks are no constant expressions in C11. */
static uint64_t op_categories(enum op op)
{
	switch (op) {
#define OP(symbol, op_text, op_above, op_builtin, categories)                                      \
	case OP_##symbol:                                                                          \
		return (categories);
#include "policy/ops.def"
#undef OP
	case OP_COUNT:
		break;
	}
	return 0;
}

static uint64_t filter_category(enum filter_id filter)
{
	switch (filter) {
#define FILTER(symbol, filter_text, category, argument)                                            \
	case FILTER_##symbol:                                                                      \
		return (category);
#include "policy/filters.def"
#undef FILTER
	case FILTER_COUNT:
		break;
	}
	return 0;
}

const char *op_name(enum op op)
{
	return ops[op].name;
}

enum op op_parent(enum op op)
{
	return ops[op].parent;
}

bool op_is_terminal(enum op op)
{
	return ops[op].builtin != BUILTIN_INHERIT;
}

enum verdict op_builtin(enum op op)
{
	return ops[op].builtin == BUILTIN_ALLOW ? VERDICT_ALLOW : VERDICT_DENY;
}

bool op_is_asked(enum op op)
{
	const char *name = op_name(op);

	switch (op) {
	case OP_DEFAULT:
		return false;
	case OP_PROCESS_EXEC_ANY: /* Apple's process-exec is called so */
	case OP_IPC_POSIX_ANY:    /* message queues have no operation of their own */
	case OP_SYSCTL_ANY:       /* nor had writing */
		return true;
	default:
		return !op_is_gone(op) && name[strlen(name) - 1] != '*';
	}
}

bool op_takes(enum op op, enum filter_id filter)
{
	uint64_t takes = op_categories(op);
	uint64_t category = filter_category(filter);
	bool universal = op != OP_SYSCALL_UNIX && op != OP_STORAGE_CLASS_MAP;

	if (universal && category & (CAT_EXTENSION | CAT_PROCESS | CAT_SYSTEM))
		return true;
	/* Newer than the table: profiles test flags of the sandbox anywhere. */
	if (op != OP_STORAGE_CLASS_MAP && category & (CAT_SANDBOX | CAT_CHECK))
		return true;
	return takes == 0 || takes & category;
}

bool op_is_gone(enum op op)
{
	return op == OP_IOKIT_OPEN || op == OP_IPC_POSIX_SHM_READ_ANY ||
	       op == OP_IPC_POSIX_SHM_READ_METADATA || op == OP_MACH_PER_USER_LOOKUP ||
	       op == OP_SYSTEM_CHUD;
}

enum op op_find(struct str name)
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (str_is(name, ops[op].name))
			return (enum op)op;
	return OP_COUNT;
}

const char *modifier_name(enum modifier_id id)
{
	return modifiers[id];
}

const char *verdict_name(enum verdict verdict)
{
	return verdict == VERDICT_ALLOW ? "allow" : "deny";
}
