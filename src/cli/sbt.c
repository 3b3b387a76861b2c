/* SPDX-License-Identifier: Apache-2.0 */
/* Line by line: a case's header, its profile up to `---`, its rows up to the next `===`. */
#include "cli/sbt.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum part {
	PART_NONE,
	PART_HEADER,
	PART_PROFILE,
	PART_ROWS,
};

struct reader {
	struct arena *arena;
	struct sbt_file *file;
	struct span at; /* the line */
	const char *line;
	enum part part;
	struct err *e;
};

static int fail(struct reader *reader, const char *what)
{
	return err_at(reader->e, ERR_POLICY, reader->at, "%s", what);
}

/* AT, in the line, is to blame. */
static int fail_in(struct reader *reader, const char *at, const char *what)
{
	reader->at.column = (unsigned)(at - reader->line) + 1;
	return fail(reader, what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct str trim(struct str s)
{
	while (s.n && is_blank(s.p[0]))
		s = (struct str){s.p + 1, s.n - 1};
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

static struct sbt_case *current(struct reader *reader)
{
	return &reader->file->cases[reader->file->n - 1];
}

/* ---- Words ---- */

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The byte that the escape at S (after its backslash) stands for; *RET_N: its length. -1: none. */
static int unescape(struct str s, size_t *ret_n)
{
	int high, low;

	*ret_n = 1;
	if (s.n == 0)
		return -1;
	if (s.p[0] == 'n')
		return '\n';
	if (s.p[0] == 't')
		return '\t';
	if (s.p[0] != 'x')
		return (unsigned char)s.p[0];
	high = s.n >= 3 ? hex_digit(s.p[1]) : -1;
	low = s.n >= 3 ? hex_digit(s.p[2]) : -1;
	*ret_n = 3;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Where the word that S begins with ends: at its closing quote, or at a blank. */
static size_t word_end(struct str s, bool quoted)
{
	size_t i = quoted;

	while (i < s.n && (quoted ? s.p[i] != '"' : !is_blank(s.p[i])))
		i += quoted && s.p[i] == '\\' ? 2 : 1;
	return i < s.n ? i : s.n;
}

/* Takes one word off *REST, "quoted" with escapes or up to the next blank. NULL: none is left. */
static int take_word(struct reader *reader, struct str *rest, char **ret)
{
	struct str s = trim(*rest);
	bool quoted = s.n && s.p[0] == '"';
	size_t end = word_end(s, quoted), n = 0;
	char *word;

	*ret = NULL;
	if (!s.n)
		return 0;
	if (quoted && end == s.n)
		return fail_in(reader, s.p, "the closing quote is missing");
	word = arena_alloc(reader->arena, end + 1); /* not s.n: lines may have a million words */
	if (!word)
		return err_memory(reader->e);
	for (size_t i = quoted; i < end; i++) {
		int byte = (unsigned char)s.p[i];
		size_t used = 0;

		if (quoted && byte == '\\')
			byte = unescape((struct str){s.p + i + 1, end - i - 1}, &used);
		if (byte <= 0)
			return fail_in(reader, s.p + i, "this escape means nothing");
		i += used;
		word[n++] = (char)byte;
	}
	*rest = str_skip(s, end + quoted);
	*ret = word;
	return 0;
}

static int parse_unsigned(const char *text, char **end, unsigned *ret)
{
	unsigned long value;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	value = strtoul(text, end, 10);
	if (errno || value > UINT_MAX)
		return -1;
	*ret = (unsigned)value;
	return 0;
}

/* "@linux" or "@darwin", else 0. */
static unsigned parse_mark(struct str word)
{
	if (str_is(word, "@linux"))
		return SBT_LINUX;
	if (str_is(word, "@darwin"))
		return SBT_DARWIN;
	return 0;
}

/* ---- Rows ---- */

/* LINE:COLUMN message */
static int parse_error_row(struct reader *reader, struct str rest, struct sbt_row *row)
{
	char *text = arena_strdup(reader->arena, trim(rest));
	char *end;

	if (!text)
		return err_memory(reader->e);
	row->is_error = true;
	if (parse_unsigned(text, &end, &row->error_line) < 0 || *end != ':' ||
	    parse_unsigned(end + 1, &end, &row->error_column) < 0 || *end != ' ')
		return fail(reader, "an error row is !! LINE:COLUMN MESSAGE");
	row->message = end + 1;
	return 0;
}

/* A line number, FILE:LINE, or - for a built-in default. */
static int parse_rule(struct reader *reader, char *word, struct sbt_row *row)
{
	char *colon = strrchr(word, ':');
	char *end;

	if (strcmp(word, "-") == 0) {
		row->rule = SBT_RULE_BUILTIN;
		return 0;
	}
	row->rule = SBT_RULE_LINE;
	if (colon) {
		*colon = '\0';
		row->rule_file = word;
		word = colon + 1;
	}
	if (parse_unsigned(word, &end, &row->rule_line) < 0 || *end)
		return fail(reader, "the deciding rule is given as LINE, FILE:LINE or -");
	return 0;
}

/* allow|deny [RULE] */
static int parse_answer(struct reader *reader, struct str rest, struct sbt_row *row)
{
	char *verdict = NULL, *rule = NULL, *extra = NULL;
	int r;

	r = take_word(reader, &rest, &verdict);
	if (r == 0)
		r = take_word(reader, &rest, &rule);
	if (r == 0)
		r = take_word(reader, &rest, &extra);
	if (r < 0)
		return r;
	if (!verdict || extra || (strcmp(verdict, "allow") != 0 && strcmp(verdict, "deny") != 0))
		return fail(reader, "an answer is allow or deny, then maybe the deciding rule");
	row->allow = strcmp(verdict, "allow") == 0;
	return rule ? parse_rule(reader, rule, row) : 0;
}

/* OPERATION ARGUMENT... => ANSWER */
static int parse_decision_row(struct reader *reader, struct str rest, struct sbt_row *row)
{
	size_t n = 0, cap = 0;

	for (;;) {
		char *word;
		char **words;
		int r = take_word(reader, &rest, &word);

		if (r < 0)
			return r;
		if (!word)
			return fail(reader, "a row is OPERATION ARGUMENT... => allow|deny");
		if (strcmp(word, "=>") == 0)
			break;
		words = arena_grow(reader->arena, row->words, n ? n + 1 : 0, &cap, sizeof(*words));
		if (!words)
			return err_memory(reader->e);
		row->words = words;
		row->words[n++] = word;
	}
	return n ? parse_answer(reader, rest, row) : fail(reader, "no operation");
}

static int parse_row(struct reader *reader, struct str line)
{
	struct sbt_case *owner = current(reader);
	struct sbt_row row = {.line = reader->at.line, .targets = owner->targets};
	struct str rest = trim(line);
	struct sbt_row *rows;
	int r;

	row.text = arena_strdup(reader->arena, rest);
	if (!row.text)
		return err_memory(reader->e);
	if (rest.n && rest.p[0] == '@') {
		const char *blank = memchr(rest.p, ' ', rest.n);
		size_t n = blank ? (size_t)(blank - rest.p) : rest.n;

		row.targets = parse_mark((struct str){rest.p, n}) & owner->targets;
		if (!row.targets)
			return fail(reader, "a row's mark is @linux or @darwin, within its case's");
		rest = trim((struct str){rest.p + n, rest.n - n});
	}
	r = str_starts(rest, STR("!!"))
		    ? parse_error_row(reader, (struct str){rest.p + 2, rest.n - 2}, &row)
		    : parse_decision_row(reader, rest, &row);
	if (r < 0)
		return r;
	rows = arena_grow(reader->arena, owner->rows, owner->n_rows, &owner->cap_rows,
			  sizeof(*rows));
	if (!rows)
		return err_memory(reader->e);
	owner->rows = rows;
	owner->rows[owner->n_rows++] = row;
	return 0;
}

/* ---- Cases ---- */

static int begin_case(struct reader *reader, struct str title)
{
	struct sbt_file *file = reader->file;
	struct sbt_case *cases =
		arena_grow(reader->arena, file->cases, file->n, &file->cap, sizeof(*cases));
	char *text = arena_strdup(reader->arena, trim(title));

	if (!cases || !text)
		return err_memory(reader->e);
	file->cases = cases;
	file->cases[file->n++] =
		(struct sbt_case){.line = reader->at.line, .title = text, .targets = SBT_ALL};
	reader->part = PART_HEADER;
	return 0;
}

/* @linux, @darwin, @param KEY=VALUE */
static int parse_directive(struct reader *reader, struct str line)
{
	struct sbt_case *owner = current(reader);
	struct sbt_param *params;
	char *text, *equals;

	if (parse_mark(trim(line))) {
		owner->targets = parse_mark(trim(line));
		return 0;
	}
	text = arena_strdup(reader->arena, trim(line));
	params = arena_grow(reader->arena, owner->params, owner->n_params, &owner->cap_params,
			    sizeof(*params));
	if (!text || !params)
		return err_memory(reader->e);
	owner->params = params;
	equals = strchr(text, '=');
	if (!str_starts(str_of(text), STR("@param ")) || !equals)
		return fail(reader, "a directive is @linux, @darwin or @param KEY=VALUE");
	if (owner->n_params == SBT_PARAMS_MAX)
		return err_at(reader->e, ERR_POLICY, reader->at, "more than %d @param",
			      SBT_PARAMS_MAX);
	*equals = '\0';
	owner->params[owner->n_params++] = (struct sbt_param){text + strlen("@param "), equals + 1};
	return 0;
}

/* LINE is the first or a further line of the profile: they are neighbours in the text. */
static void extend_profile(struct reader *reader, struct str line)
{
	struct str *profile = &current(reader)->profile;

	if (!profile->p)
		profile->p = line.p;
	profile->n = (size_t)(line.p + line.n - profile->p);
}

/* A line that is not the profile's, and no title. */
static int parse_other(struct reader *reader, struct str line)
{
	bool is_comment = !trim(line).n || trim(line).p[0] == '#';

	if (reader->part == PART_HEADER)
		return parse_directive(reader, line);
	if (is_comment)
		return 0;
	return reader->part == PART_ROWS ? parse_row(reader, line)
					 : fail(reader, "a case begins with ===");
}

static int parse_line(struct reader *reader, struct str line)
{
	bool is_title = str_starts(line, STR("==="));
	const char *nul = line.n ? memchr(line.p, '\0', line.n) : NULL;

	if (reader->part == PART_HEADER && !(line.n && line.p[0] == '@'))
		reader->part = PART_PROFILE;
	if (reader->part == PART_PROFILE && !is_title) {
		if (str_is(line, "---"))
			reader->part = PART_ROWS;
		else
			extend_profile(reader, line); /* where bytes are SBPL's to judge */
		return 0;
	}
	if (nul)
		return fail_in(reader, nul, "NUL byte");
	return is_title ? begin_case(reader, str_skip(line, 3)) : parse_other(reader, line);
}

/* Lines may end as they do on Windows. */
static struct str without_return(struct str line)
{
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

int sbt_parse(struct str text, const char *name, struct arena *arena, struct sbt_file *ret,
	      struct err *e)
{
	struct reader reader = {.arena = arena, .file = ret, .at = {name, 0, 1}, .e = e};

	if (str_starts(text, STR("\xef\xbb\xbf"))) {
		(void)err_at(e, ERR_POLICY, (struct span){name, 1, 1}, "a byte order mark");
		return err_hint(e, "a file begins with its first line: take the mark away");
	}
	while (text.n) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		int r;

		reader.at.line++;
		reader.line = text.p;
		r = parse_line(&reader, without_return((struct str){text.p, n}));
		if (r < 0)
			return r;
		n += end != NULL;
		text = (struct str){text.p + n, text.n - n};
	}
	return ret->n ? 0
		      : err_at(e, ERR_POLICY, (struct span){name, 1, 1}, "there is no case in it");
}
