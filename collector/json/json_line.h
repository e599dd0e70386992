/*
 * json_line.h: reads one line of JSON (RFC 8259), value by value, in the order in which they stand there. Beyond JSON
 * it takes integers of any size, and the NaN, Infinity and -Infinity that Python's json module writes. The importer of
 * portoland and the readers of users' files in portolan link it; it is in collector/ because both link that folder.
 *
 *     struct json_line line = {.begin = text, .at = text, .end = text + size, .error = error};
 *     for (code = json_line_first(&line, &key); code > 0; code = json_line_next(&line, &key))
 *             code = json_line_value(&line, &value);  … and stop where it is negative …
 *     if (code == 0)
 *             code = json_line_end(&line);
 *
 * If the text is no JSON, a call returns PORTOLAN_E_INVALID with a message that begins with "not JSON", and reading
 * must stop. Nothing is allocated.
 */
#ifndef COLLECTOR_JSON_LINE_H
#define COLLECTOR_JSON_LINE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_line {
	const char *begin, *at, *end;
	struct portolan_error *error; /* may be NULL */
	const char *expected;         /* after a failure: what JSON expects at `at` */
	/* Check all strings and numbers, even those that the caller skips: strings must be UTF-8 without control
	 * characters, their escapes must be valid (and not U+0000), and numbers must be within the range of doubles.
	 * Otherwise long texts are only searched for their end, which is several times faster; json_line_decode() then
	 * checks escapes. */
	bool is_strict;
};

enum json_line_kind {
	JSON_LINE_STRING,
	JSON_LINE_NUMBER,
	JSON_LINE_NOT_FINITE, /* NaN, Infinity, -Infinity */
	JSON_LINE_TRUE,
	JSON_LINE_FALSE,
	JSON_LINE_NULL,
	JSON_LINE_OBJECT,
	JSON_LINE_ARRAY,
};

/* A value in the line: a string without its quotes, an object or an array with its brackets. */
struct json_value {
	enum json_line_kind kind;
	bool has_escapes; /* a string that json_line_decode() has yet to decode */
	const char *at;
	size_t size;
};

struct json_integer {
	uint64_t size; /* without its sign; UINT64_MAX if it is larger */
	bool is_negative;
	bool is_large; /* above UINT64_MAX */
};

/* The first character of the next value, or 0 at the end of the line: '{', '[', '"', 't', 'f', 'n', or a number's. */
char json_line_peek(struct json_line *line);

/* Takes this character, if it is the next one that is not space. */
bool json_line_take(struct json_line *line, char c);

/* Takes any value, and checks it to its end. A number must not be the last in the line: only what follows shows that it
 * ends. */
int json_line_value(struct json_line *line, struct json_value *value);

/* The members of an object: each call takes the next key and its colon; take the value before the next call.
 * 1: a key; 0: the object has ended. */
int json_line_first(struct json_line *line, struct json_value *key);
int json_line_next(struct json_line *line, struct json_value *key);

/* Checks that only space is left: 0. */
int json_line_end(struct json_line *line);

/* Reports that the text is not what JSON expects here. */
int json_line_fail(struct json_line *line, const char *expected);

/* Decodes the escapes of a string, if it has any, into `text`, which has room for string->size bytes and then holds the
 * string. False: an escape is not valid, or half a surrogate pair. */
bool json_line_decode_escapes(struct json_value *string, char *text);
static inline bool
json_line_decode(struct json_value *string, char *text)
{
	return !string->has_escapes || json_line_decode_escapes(string, text);
}

/* False: the value is not a JSON_LINE_NUMBER, or it has a fraction or an exponent. */
bool json_line_integer(const struct json_value *value, struct json_integer *integer);
/* The value of a JSON_LINE_NUMBER or a JSON_LINE_NOT_FINITE. */
double json_line_double(const struct json_value *value);

#endif
