/*
 * rights.c: reads which limits the file of a client's key sets, for the list of keys (allow_list.c), and says whether a
 * run is within them, for the storer (admit.c).
 *
 * A limit that is not understood must never count as none. So a line that is neither empty, a comment, a key nor one of
 * these limits is an error, and so is a limit that is there twice. The other lines go to keys_parse(): what a key is,
 * it alone decides.
 */
#include "rights.h"

#include <portolan/error.h>

#include <string.h>

#define WORD_MOST 32 /* bytes of an option's name that an error repeats */

struct line {
	const char *text;
	size_t size; /* without the line's end, and spaces before that */
	unsigned number;
};

static const char *
rights_skip_spaces(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static int
rights_take_prefix(const struct line *line, const char *value, size_t size, struct rights *rights,
                   struct portolan_error *error)
{
	if (rights->prefix[0])
		return error_set(error, PORTOLAN_E_INVALID, "line %u: prefix: there is one already", line->number);
	if (size < 2 || value[0] != '"' || value[size - 1] != '"')
		return error_set(error, PORTOLAN_E_INVALID,
		                 "line %u: prefix: write it in quotation marks, and nothing after them, as in prefix = "
		                 "\"alice/\"",
		                 line->number);
	value++;
	size -= 2;
	if (memchr(value, '"', size) || memchr(value, '\\', size))
		return error_set(error, PORTOLAN_E_INVALID, "line %u: prefix: it cannot hold \" or \\", line->number);
	if (!wire_name_is_valid(value, size, false))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "line %u: prefix: it must have 1 to %d bytes of UTF-8, without control characters",
		                 line->number, WIRE_MAX_NAME);
	memcpy(rights->prefix, value, size);
	rights->prefix[size] = '\0';
	return 0;
}

static int
rights_take_overwrite(const struct line *line, const char *value, size_t size, bool *told, struct rights *rights,
                      struct portolan_error *error)
{
	const bool yes = size == 3 && memcmp(value, "yes", 3) == 0, no = size == 2 && memcmp(value, "no", 2) == 0;

	if (*told)
		return error_set(error, PORTOLAN_E_INVALID, "line %u: overwrite: it is there already", line->number);
	if (!yes && !no)
		return error_set(error, PORTOLAN_E_INVALID, "line %u: overwrite: write yes or no", line->number);
	*told = true;
	rights->keeps_runs = no;
	return 0;
}

/* Reads the line "NAME = VALUE". *told: there was an `overwrite`. */
static int
rights_take_option(const struct line *line, bool *told, struct rights *rights, struct portolan_error *error)
{
	const char *end = line->text + line->size, *name = rights_skip_spaces(line->text, end);
	const char *equals = memchr(name, '=', (size_t)(end - name));
	const char *value = equals ? rights_skip_spaces(equals + 1, end) : end;
	size_t size = (size_t)((equals ? equals : end) - name), value_size = (size_t)(end - value);

	while (size > 0 && (name[size - 1] == ' ' || name[size - 1] == '\t'))
		size--;
	if (equals && size == 6 && memcmp(name, "prefix", 6) == 0)
		return rights_take_prefix(line, value, value_size, rights, error);
	if (equals && size == 9 && memcmp(name, "overwrite", 9) == 0)
		return rights_take_overwrite(line, value, value_size, told, rights, error);
	return error_set(error, PORTOLAN_E_INVALID,
	                 "line %u: '%.*s' is no option of a key; there are prefix = \"TEXT\" and overwrite = no",
	                 line->number, (int)(size < WORD_MOST ? size : WORD_MOST), name);
}

/* Is it for keys_parse(): a key, of whatever kind? */
static bool
rights_is_key(const struct line *line)
{
	static const char *const words[] = {"public ", "secret "};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (line->size >= strlen(words[i]) && memcmp(line->text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* Finds the line that begins at `at`; returns where the next one does. */
static const char *
rights_find_line(const char *at, const char *end, struct line *line)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at)), *last = newline ? newline : end;

	while (last > at && (last[-1] == '\r' || last[-1] == ' ' || last[-1] == '\t'))
		last--;
	line->text = at;
	line->size = (size_t)(last - at);
	line->number++;
	return newline ? newline + 1 : end;
}

int
rights_parse(const char *data, size_t size, char key[KEYS_TEXT_SIZE], struct rights *rights, bool *unclear,
             struct portolan_error *error)
{
	struct portolan_error first = {0};
	struct rights found = {0};
	struct line line = {0};
	char rest[KEYS_MAX_FILE];
	bool told = false;
	int result;

	if (size > sizeof(rest))
		return error_set(error, PORTOLAN_E_INVALID, "this is too long for a key file");
	memset(rest, ' ', sizeof(rest));
	for (const char *at = data, *end = data + size, *next; at < end; at = next) {
		next = rights_find_line(at, end, &line);
		if (next[-1] == '\n')
			rest[next - 1 - data] = '\n';
		if (rights_is_key(&line))
			memcpy(rest + (at - data), at, (size_t)(next - at));
		else if (line.size > 0 && line.text[0] != '#')
			rights_take_option(&line, &told, &found, first.code ? NULL : &first);
	}
	result = keys_parse(rest, size, KEYS_PUBLIC, key, error);
	if (result < 0)
		return result;
	if (first.code) {
		*unclear = true;
		return error_set(error, PORTOLAN_E_INVALID, "%s", first.message);
	}
	*rights = found;
	return 0;
}

bool
rights_are_limited(const struct rights *rights)
{
	return rights->prefix[0] || rights->keeps_runs;
}

bool
rights_are_same(const struct rights *a, const struct rights *b)
{
	return a->keeps_runs == b->keeps_runs && strcmp(a->prefix, b->prefix) == 0;
}

bool
rights_admit_run(const struct rights *rights, const void *name, size_t size)
{
	const size_t length = strlen(rights->prefix);

	return size >= length && memcmp(name, rights->prefix, length) == 0;
}
