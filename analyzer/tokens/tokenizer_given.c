/* tokenizer_given.c: reads the JSON lists of strings that hold the tokens of a user's own tokenizer
 * (tokenizer_given.h). */
#include "tokenizer_given.h"

#include "tokenizer_unicode.h"

#include <json_line.h>

#include <string.h>

#define ESCAPED 6u /* a byte takes so many at most, as an escape: \u0041 */

/* Takes what stands before the next item: the opening bracket, or a comma. 1: an item follows; 0: the list ends;
 * TOKENIZER_NO_LIST: this is none. */
static int
given_take_separator(struct json_line *line, bool is_inside)
{
	if (!is_inside && !json_line_take(line, '['))
		return TOKENIZER_NO_LIST;
	if (json_line_take(line, ']'))
		return json_line_end(line) == 0 ? 0 : TOKENIZER_NO_LIST;
	return !is_inside || json_line_take(line, ',') ? 1 : TOKENIZER_NO_LIST;
}

/* Takes the next item, which must be a string: 1, or what is wrong. */
static int
given_take_string(struct json_line *line, struct json_value *value)
{
	struct json_line quote = *line;

	if (json_line_value(line, value) >= 0)
		return value->kind == JSON_LINE_STRING ? 1 : TOKENIZER_NO_LIST;
	return json_line_take(&quote, '"') ? TOKENIZER_NO_TEXT : TOKENIZER_NO_LIST;
}

long
tokenizer_given_word(const char **at, const char *end, bool *is_inside, char *word)
{
	char decoded[ESCAPED * TOKEN_MAX];
	struct json_value value;
	size_t length = 0;

	while (length == 0) {
		struct json_line line = {.begin = *at, .at = *at, .end = end, .is_strict = true};
		int code;

		if (*at == end) /* the list has ended, or there is no text; or the closing bracket is missing */
			return *is_inside ? TOKENIZER_NO_LIST : 0;
		code = given_take_separator(&line, *is_inside);
		if (code > 0)
			code = given_take_string(&line, &value);
		*at = code > 0 ? line.at : end;
		*is_inside = code > 0;
		if (code <= 0)
			return code;
		if (value.size > sizeof(decoded))
			continue;
		if (!json_line_decode(&value, decoded))
			return TOKENIZER_NO_TEXT;
		length = value.size <= TOKEN_MAX ? value.size : 0;
	}
	memcpy(word, value.at, length);
	return (long)length;
}
