/*
 * json_line.h: reading one line of JSON (RFC 8259), value by value, in the order they stand there. Beyond JSON it takes
 * integers of any size, and the NaN, Infinity and -Infinity that Python's json module writes.
 *
 * Where the text is no JSON, a call answers PORTOLAN_E_INVALID with a message that begins with "not JSON"; so does the
 * next one. Nothing is allocated.
 */
#ifndef COLLECTOR_JSON_LINE_H
#define COLLECTOR_JSON_LINE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_line {
	const char *begin, *at, *end;
	struct portolan_error *error;
};

struct json_number {
	const char *text; /* `size` bytes, and what follows it is no part of a number */
	size_t size;
	double value;
	uint64_t integer; /* without its sign, */
	bool is_integer;  /* if it has no fraction and no exponent, and is no word */
	bool is_negative;
	bool is_large; /* an integer above UINT64_MAX */
};

/* The first character of the next value, or 0 at the end of the line: '{', '[', '"', 't', 'f', 'n', or a number's. */
char json_line_peek(struct json_line *line);

/* Takes this character, if it is the next one that is no space. */
bool json_line_take(struct json_line *line, char c);

/* A string, without escapes, with a NUL behind it. *size: its length; if that is not less than `room`, only the
 * beginning of it is in `text`. */
int json_line_string(struct json_line *line, char *text, size_t room, size_t *size);
/* Any value: 1 if it is a number, 0 if it is another one, which is only checked. */
int json_line_value(struct json_line *line, struct json_number *number);
/* What stood there was not what JSON asks for. */
int json_line_fail(struct json_line *line, const char *expected);

#endif
