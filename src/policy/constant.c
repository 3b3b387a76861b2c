/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/constant.h"

#include <assert.h>

#include "base/banned.h"

/* clang-format off: rows of .def files end in no comma, so theirs are in the macros. */

#define PASTE(a, b)  a##b
#define MEMBER(line) PASTE(name_, line)

/* Each row stands in a line of its own. */
struct names {
	char unix_[sizeof("unix")], unix_socket[sizeof("unix-socket")];
	struct {
#define CONSTANT(id, text, value) char MEMBER(__LINE__)[sizeof(text)];
#include "policy/constants.def"
#undef CONSTANT
	} numbers;
	struct {
#define ERRNO_NAME(text, darwin) char MEMBER(__LINE__)[sizeof(text)];
#include "policy/errnos.def"
#undef ERRNO_NAME
	} errnos;
};

static const struct names names = {
	"unix",
	"unix-socket",
	{
#define CONSTANT(id, text, value) text,
#include "policy/constants.def"
#undef CONSTANT
	},
	{
#define ERRNO_NAME(text, darwin) text,
#include "policy/errnos.def"
#undef ERRNO_NAME
	},
};

static_assert(sizeof(struct names) <= UINT16_MAX + 1, "a name is found by 16 bits");

enum {
	UNIX_ROWS = 4
};

enum {
#define CONSTANT(id, text, value) MEMBER(__LINE__),
#include "policy/constants.def"
#undef CONSTANT
	NUMBER_ROWS
};

const struct constant constants[] = {
	{offsetof(struct names, unix_), FILTER_LOCAL, PROTO_UNIX},
	{offsetof(struct names, unix_), FILTER_REMOTE, PROTO_UNIX},
	{offsetof(struct names, unix_socket), FILTER_LOCAL, PROTO_UNIX},
	{offsetof(struct names, unix_socket), FILTER_REMOTE, PROTO_UNIX},
#define CONSTANT(id, text, value)                                                                  \
	{offsetof(struct names, numbers.MEMBER(__LINE__)), FILTER_##id, value},
#include "policy/constants.def"
#undef CONSTANT
#define ERRNO_NAME(text, darwin)                                                                   \
	{offsetof(struct names, errnos.MEMBER(__LINE__)), FILTER_COUNT, darwin},
#include "policy/errnos.def"
#undef ERRNO_NAME
};

/* clang-format on */

const size_t n_constants = sizeof(constants) / sizeof(constants[0]);
const size_t first_number = UNIX_ROWS, end_numbers = UNIX_ROWS + NUMBER_ROWS;

const char *constant_name(const struct constant *constant)
{
	return (const char *)&names + constant->name;
}
