/*
 * dynamics.c: turns one line of a file of training dynamics (dynamics.h) from JSON into a checked row, for import.c.
 *
 * Integer guids stay integers and strings stay strings: "7" and 7 are different examples.
 */
#include "dynamics.h"

#include "json_line.h"

#include <portolan/error.h>
#include <portolan/wire.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LOGITS_KEY "logits_epoch_"
#define KEY_ROOM 32   /* a longer key belongs to no member that is read */
#define ESCAPE_MOST 6 /* bytes of an escape per byte of its meaning */

enum member { OTHER = 0, GUID = 1, GOLD = 2, LOGITS = 4 };

static int
dynamics_take_text_guid(struct portolan_error *error, struct json_value *value, struct dynamics_row *row)
{
	char text[ESCAPE_MOST * sizeof(row->text)];

	if (value->size <= sizeof(text) && json_line_decode(value, text) && value->size < sizeof(row->text) &&
	    wire_name_is_valid(value->at, value->size, false)) {
		memcpy(row->text, value->at, value->size);
		row->text[value->size] = '\0';
		return 0;
	}
	return error_set(error, PORTOLAN_E_INVALID, "\"guid\" is not 1 to %d bytes of UTF-8 without control characters",
	                 WIRE_MAX_NAME);
}

static int
dynamics_take_guid(struct json_line *line, struct dynamics_row *row)
{
	struct json_integer number;
	struct json_value value;
	int result = json_line_value(line, &value);

	if (result < 0)
		return result;
	row->is_text = value.kind == JSON_LINE_STRING;
	if (row->is_text)
		return dynamics_take_text_guid(line->error, &value, row);
	if (!json_line_integer(&value, &number))
		return error_set(line->error, PORTOLAN_E_INVALID, "\"guid\" is neither an integer nor a string");
	if (number.is_negative && number.size > 0)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"guid\" is negative");
	if (number.is_large)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"guid\" is greater than %" PRIu64, UINT64_MAX);
	row->integer = number.size;
	return 0;
}

static int
dynamics_take_gold(struct json_line *line, int64_t *gold)
{
	struct json_integer number;
	struct json_value value;
	int result = json_line_value(line, &value);

	if (result < 0)
		return result;
	if (!json_line_integer(&value, &number) || number.size > INT64_MAX)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"gold\" is not an integer");
	*gold = number.is_negative ? -(int64_t)number.size : (int64_t)number.size;
	return 0;
}

/* −∞ means that the class was masked; only the gold label's logit may not be −∞. */
static int
dynamics_take_logit(struct json_line *line, const char *key, struct dynamics_row *row)
{
	struct json_value value;
	double logit;
	int result = json_line_value(line, &value);

	if (result < 0)
		return result;
	if (value.kind != JSON_LINE_NUMBER && value.kind != JSON_LINE_NOT_FINITE)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" holds something that is not a number", key);
	logit = json_line_double(&value);
	if (isnan(logit) || logit == INFINITY)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" holds %.*s", key, (int)value.size, value.at);
	if (row->classes == DYNAMICS_CLASSES_MOST)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" has more than %d numbers", key,
		                 DYNAMICS_CLASSES_MOST);
	row->logits[row->classes++] = logit;
	return 0;
}

static int
dynamics_take_logits(struct json_line *line, const char *key, struct dynamics_row *row)
{
	struct json_value ignored;
	int result = 0;

	row->classes = 0;
	if (!json_line_take(line, '[')) {
		result = json_line_value(line, &ignored);
		return result < 0 ? result : error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" is not an array", key);
	}
	if (json_line_take(line, ']'))
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" has 0 numbers, not 1 to %d", key,
		                 DYNAMICS_CLASSES_MOST);
	do
		result = dynamics_take_logit(line, key, row);
	while (result == 0 && json_line_take(line, ','));
	return result < 0 || json_line_take(line, ']') ? result : json_line_fail(line, "',' or ']'");
}

/* Is the key "logits_epoch_12", for epoch 12, as printf() writes the number? */
static bool
dynamics_is_logits_key(const char *key, uint32_t epoch)
{
	const char *digits = key + strlen(LOGITS_KEY), *c = digits;
	uint64_t number = 0;

	if (strncmp(key, LOGITS_KEY, strlen(LOGITS_KEY)) != 0)
		return false;
	for (; *c >= '0' && *c <= '9' && number <= UINT32_MAX; c++)
		number = 10 * number + (uint64_t)(*c - '0');
	return c > digits && *c == '\0' && number == epoch && (*digits != '0' || c == digits + 1);
}

static enum member
dynamics_member_of(struct json_value *key, uint32_t epoch, char text[KEY_ROOM])
{
	char decoded[ESCAPE_MOST * KEY_ROOM];

	if (key->size > sizeof(decoded) || !json_line_decode(key, decoded) || key->size >= KEY_ROOM)
		return OTHER;
	memcpy(text, key->at, key->size);
	text[key->size] = '\0';
	return strcmp(text, "guid") == 0             ? GUID
	       : strcmp(text, "gold") == 0           ? GOLD
	       : dynamics_is_logits_key(text, epoch) ? LOGITS
	                                             : OTHER;
}

static int
dynamics_take_member(struct json_line *line, struct json_value *key, uint32_t epoch, unsigned *seen,
                     struct dynamics_row *row, int64_t *gold)
{
	char text[KEY_ROOM];
	enum member member = dynamics_member_of(key, epoch, text);
	struct json_value ignored;

	if (*seen & member)
		return error_set(line->error, PORTOLAN_E_INVALID, "not JSON: two members are called \"%s\"", text);
	*seen |= member;
	if (member == GUID)
		return dynamics_take_guid(line, row);
	if (member == GOLD)
		return dynamics_take_gold(line, gold);
	if (member == LOGITS)
		return dynamics_take_logits(line, text, row);
	return json_line_value(line, &ignored);
}

/* Checks that all members are there and fit together. */
static int
dynamics_check_row(unsigned seen, uint32_t epoch, int64_t gold, struct dynamics_row *row, struct portolan_error *error)
{
	int64_t most = row->classes == 1 ? 1 : (int64_t)row->classes - 1;

	if (!(seen & GUID))
		return error_set(error, PORTOLAN_E_INVALID, "no \"guid\"");
	if (!(seen & LOGITS))
		return error_set(error, PORTOLAN_E_INVALID, "\"" LOGITS_KEY "%" PRIu32 "\" is missing", epoch);
	if (!(seen & GOLD))
		return error_set(error, PORTOLAN_E_INVALID, "\"gold\" is missing");
	if (gold < 0 || gold > most)
		return error_set(error, PORTOLAN_E_INVALID, "\"gold\" is %" PRId64 ", not within 0 to %" PRId64, gold,
		                 most);
	/* The only logit of a row is that of class 1; class 0 has 0. */
	if (row->logits[row->classes == 1 ? 0 : gold] == -INFINITY && (row->classes > 1 || gold == 1))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "\"" LOGITS_KEY "%" PRIu32 "\" has -Infinity at the gold label, which cannot be",
		                 epoch);
	row->gold = (int32_t)gold;
	return 0;
}

int
dynamics_parse(const char *text, size_t size, uint32_t epoch, struct dynamics_row *row, struct portolan_error *error)
{
	struct json_line line = {.begin = text, .at = text, .end = text + size, .error = error, .is_strict = true};
	struct json_value key;
	unsigned seen = 0;
	int64_t gold = 0;
	int result;

	if (json_line_peek(&line) != '{') {
		result = json_line_value(&line, &key);
		return result < 0 ? result : error_set(error, PORTOLAN_E_INVALID, "not a JSON object");
	}
	for (result = json_line_first(&line, &key); result > 0; result = json_line_next(&line, &key))
		if ((result = dynamics_take_member(&line, &key, epoch, &seen, row, &gold)) < 0)
			break;
	return result ?: json_line_end(&line) ?: dynamics_check_row(seen, epoch, gold, row, error);
}
