/*
 * dynamics.c: one line of training dynamics, from JSON to a checked row.
 *
 * Integer guids stay integers and strings stay strings: "7" and 7 are different examples to whoever wrote them.
 */
#include "dynamics.h"

#include "json_line.h"

#include <portolan/error.h>
#include <portolan/wire.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LOGITS_KEY "logits_epoch_"

enum member { OTHER = 0, GUID = 1, GOLD = 2, LOGITS = 4 };

static int
take_guid(struct json_line *line, struct dynamics_row *row)
{
	struct json_number number;
	size_t size;
	int result;

	row->is_text = json_line_peek(line) == '"';
	if (row->is_text) {
		result = json_line_string(line, row->text, sizeof(row->text), &size);
		if (result < 0 || (size < sizeof(row->text) && wire_name_is_valid(row->text, size, false)))
			return result;
		return error_set(line->error, PORTOLAN_E_INVALID,
		                 "\"guid\" is not 1 to %d bytes of UTF-8 without control characters", WIRE_MAX_NAME);
	}
	result = json_line_value(line, &number);
	if (result < 0)
		return result;
	if (result == 0 || !number.is_integer)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"guid\" is neither an integer nor a string");
	if (number.is_negative && number.integer > 0)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"guid\" is negative");
	if (number.is_large)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"guid\" is greater than %" PRIu64, UINT64_MAX);
	row->integer = number.integer;
	return 0;
}

static int
take_gold(struct json_line *line, int64_t *gold)
{
	struct json_number number;
	int result = json_line_value(line, &number);

	if (result < 0)
		return result;
	if (result == 0 || !number.is_integer || number.integer > INT64_MAX)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"gold\" is not an integer");
	*gold = number.is_negative ? -(int64_t)number.integer : (int64_t)number.integer;
	return 0;
}

/* −∞ is a class that was masked, and may stand off the gold label. */
static int
take_logit(struct json_line *line, const char *key, struct dynamics_row *row)
{
	struct json_number number;
	int result = json_line_value(line, &number);

	if (result < 0)
		return result;
	if (result == 0)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" holds something that is not a number", key);
	if (isnan(number.value) || number.value == INFINITY)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" holds %.*s", key, (int)number.size,
		                 number.text);
	if (row->classes == DYNAMICS_CLASSES_MOST)
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" has more than %d numbers", key,
		                 DYNAMICS_CLASSES_MOST);
	row->logits[row->classes++] = number.value;
	return 0;
}

static int
take_logits(struct json_line *line, const char *key, struct dynamics_row *row)
{
	struct json_number ignored;
	int result = 0;

	row->classes = 0;
	if (json_line_peek(line) != '[') {
		result = json_line_value(line, &ignored);
		return result < 0 ? result : error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" is not an array", key);
	}
	json_line_take(line, '[');
	if (json_line_take(line, ']'))
		return error_set(line->error, PORTOLAN_E_INVALID, "\"%s\" has 0 numbers, not 1 to %d", key,
		                 DYNAMICS_CLASSES_MOST);
	do
		result = take_logit(line, key, row);
	while (result == 0 && json_line_take(line, ','));
	return result < 0 || json_line_take(line, ']') ? result : json_line_fail(line, "',' or ']'");
}

/* "logits_epoch_12", as printf() writes the number. */
static bool
is_logits_key(const char *key, uint32_t epoch)
{
	const char *digits = key + strlen(LOGITS_KEY), *c = digits;
	uint64_t number = 0;

	if (strncmp(key, LOGITS_KEY, strlen(LOGITS_KEY)) != 0)
		return false;
	for (; *c >= '0' && *c <= '9' && number <= UINT32_MAX; c++)
		number = 10 * number + (uint64_t)(*c - '0');
	return c > digits && *c == '\0' && number == epoch && (*digits != '0' || c == digits + 1);
}

static int
take_member(struct json_line *line, uint32_t epoch, unsigned *seen, struct dynamics_row *row, int64_t *gold)
{
	enum member member = OTHER;
	struct json_number ignored;
	char key[32];
	size_t size;
	int result = json_line_string(line, key, sizeof(key), &size);

	if (result < 0)
		return result;
	if (!json_line_take(line, ':'))
		return json_line_fail(line, "':'");
	if (size < sizeof(key))
		member = strcmp(key, "guid") == 0    ? GUID
		         : strcmp(key, "gold") == 0  ? GOLD
		         : is_logits_key(key, epoch) ? LOGITS
		                                     : OTHER;
	if (*seen & member)
		return error_set(line->error, PORTOLAN_E_INVALID, "not JSON: two members are called \"%s\"", key);
	*seen |= member;
	if (member == GUID)
		return take_guid(line, row);
	if (member == GOLD)
		return take_gold(line, gold);
	if (member == LOGITS)
		return take_logits(line, key, row);
	result = json_line_value(line, &ignored);
	return result < 0 ? result : 0;
}

/* After the last member: whether all are there, and fit together. */
static int
check_row(unsigned seen, uint32_t epoch, int64_t gold, struct dynamics_row *row, struct portolan_error *error)
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
	/* The one logit of a row of one class is class 1's; class 0 has 0. */
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
	struct json_line line = {.begin = text, .at = text, .end = text + size, .error = error};
	unsigned seen = 0;
	int64_t gold = 0;
	int result = 0;

	if (!json_line_take(&line, '{')) {
		struct json_number ignored;

		result = json_line_value(&line, &ignored);
		return result < 0 ? result : error_set(error, PORTOLAN_E_INVALID, "not a JSON object");
	}
	if (!json_line_take(&line, '}')) {
		do
			result = take_member(&line, epoch, &seen, row, &gold);
		while (result == 0 && json_line_take(&line, ','));
		if (result == 0 && !json_line_take(&line, '}'))
			result = json_line_fail(&line, "',' or '}'");
	}
	if (result == 0 && (json_line_peek(&line) != 0 || line.at < line.end))
		result = json_line_fail(&line, "the end of the line");
	return result < 0 ? result : check_row(seen, epoch, gold, row, error);
}
