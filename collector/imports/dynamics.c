/*
 * dynamics.c: one line of training dynamics, from JSON to a checked row.
 *
 * Integer guids stay integers and strings stay strings: "7" and 7 are different examples to whoever wrote them.
 */
#include "dynamics.h"

#include "dynamics_numbers.h"
#include "dynamics_plain.h"

#include <portolan/error.h>
#include <portolan/wire.h>

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct line {
	json_t *object;
	bool marked; /* some numbers are strings that begin with DYNAMICS_MARK */
};

/* The number as it was written, if it is one that jansson does not read; else NULL. */
static const char *
marked_number(const struct line *line, const json_t *value)
{
	const char *text = line->marked ? json_string_value(value) : NULL;

	return text && text[0] == DYNAMICS_MARK ? text + 1 : NULL;
}

static int
parse_large_guid(const char *digits, struct dynamics_row *row, struct portolan_error *error)
{
	char *end;

	if (digits[0] == '-' && digits[1] != 'I')
		return error_set(error, PORTOLAN_E_INVALID, "\"guid\" is negative");
	errno = 0;
	row->integer = strtoull(digits, &end, 10);
	if (end == digits || *end)
		return error_set(error, PORTOLAN_E_INVALID, "\"guid\" is neither an integer nor a string");
	if (errno == ERANGE)
		return error_set(error, PORTOLAN_E_INVALID, "\"guid\" is greater than %" PRIu64, UINT64_MAX);
	row->is_text = false;
	return 0;
}

static int
parse_guid(const struct line *line, struct dynamics_row *row, struct portolan_error *error)
{
	const json_t *guid = json_object_get(line->object, "guid");
	const char *digits = marked_number(line, guid);
	size_t size;

	if (!guid)
		return error_set(error, PORTOLAN_E_INVALID, "no \"guid\"");
	if (digits)
		return parse_large_guid(digits, row, error);
	if (json_is_integer(guid)) {
		if (json_integer_value(guid) < 0)
			return error_set(error, PORTOLAN_E_INVALID, "\"guid\" is negative");
		row->is_text = false;
		row->integer = (uint64_t)json_integer_value(guid);
		return 0;
	}
	if (!json_is_string(guid))
		return error_set(error, PORTOLAN_E_INVALID, "\"guid\" is neither an integer nor a string");
	size = json_string_length(guid);
	if (!wire_name_is_valid(json_string_value(guid), size, false))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "\"guid\" is not 1 to %d bytes of UTF-8 without control characters", WIRE_MAX_NAME);
	row->is_text = true;
	memcpy(row->text, json_string_value(guid), size + 1);
	return 0;
}

/* −∞ is a class that was masked, and may stand off the gold label: the signals decide. */
static int
parse_logit(const struct line *line, const json_t *item, const char *key, double *logit, struct portolan_error *error)
{
	const char *text = marked_number(line, item);

	if (!json_is_number(item) && !text)
		return error_set(error, PORTOLAN_E_INVALID, "\"%s\" holds something that is not a number", key);
	*logit = text ? strtod(text, NULL) : json_number_value(item);
	if (isnan(*logit) || *logit == INFINITY)
		return error_set(error, PORTOLAN_E_INVALID, "\"%s\" holds %s", key, text);
	return 0;
}

static int
parse_logits(const struct line *line, uint32_t epoch, struct dynamics_row *row, struct portolan_error *error)
{
	char key[32];
	const json_t *logits, *item;
	size_t count, i;
	int result = 0;

	snprintf(key, sizeof(key), "logits_epoch_%" PRIu32, epoch);
	logits = json_object_get(line->object, key);
	if (!json_is_array(logits))
		return error_set(error, PORTOLAN_E_INVALID, "\"%s\" is %s", key, logits ? "not an array" : "missing");
	count = json_array_size(logits);
	if (count == 0 || count > DYNAMICS_CLASSES_MOST)
		return error_set(error, PORTOLAN_E_INVALID, "\"%s\" has %zu numbers, not 1 to %d", key, count,
		                 DYNAMICS_CLASSES_MOST);
	if (count > row->room) {
		double *grown = realloc(row->logits, count * sizeof(*grown));

		if (!grown)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
		row->logits = grown;
		row->room = count;
	}
	json_array_foreach(logits, i, item)
	{
		if ((result = parse_logit(line, item, key, &row->logits[i], error)) < 0)
			break;
	}
	row->classes = count;
	return result;
}

static int
parse_gold(const struct line *line, struct dynamics_row *row, struct portolan_error *error)
{
	const json_t *gold = json_object_get(line->object, "gold");
	json_int_t most = row->classes == 1 ? 1 : (json_int_t)row->classes - 1;

	if (!json_is_integer(gold))
		return error_set(error, PORTOLAN_E_INVALID, "\"gold\" is %s", gold ? "not an integer" : "missing");
	if (json_integer_value(gold) < 0 || json_integer_value(gold) > most)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "\"gold\" is %" JSON_INTEGER_FORMAT ", not within 0 to %" JSON_INTEGER_FORMAT,
		                 json_integer_value(gold), most);
	row->gold = (int32_t)json_integer_value(gold);
	return 0;
}

/* What the library says quotes the line, whatever is in it. */
static int
not_json(json_error_t *json_error, struct portolan_error *error)
{
	for (char *c = json_error->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return error_set(error, PORTOLAN_E_INVALID, "not JSON: %.120s", json_error->text);
}

static int
load(const char *text, size_t size, struct line *line, struct portolan_error *error)
{
	json_error_t json_error;
	size_t marked_size;
	char *marked;
	int numbers;

	line->marked = false;
	line->object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &json_error);
	if (line->object)
		return 0;
	numbers = dynamics_mark_numbers(text, size, &marked, &marked_size);
	if (numbers < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (numbers > 0) {
		line->marked = true;
		line->object = json_loadb(marked, marked_size, JSON_REJECT_DUPLICATES, &json_error);
		free(marked);
	}
	return line->object ? 0 : not_json(&json_error, error);
}

int
dynamics_parse(const char *text, size_t size, uint32_t epoch, struct dynamics_row *row, struct portolan_error *error)
{
	struct line line;
	int result;

	if (dynamics_parse_plain(text, size, epoch, row))
		return 0;
	result = load(text, size, &line, error);
	if (result < 0)
		return result;
	if (!json_is_object(line.object))
		result = error_set(error, PORTOLAN_E_INVALID, "not a JSON object");
	else if ((result = parse_guid(&line, row, error)) == 0 &&
	         (result = parse_logits(&line, epoch, row, error)) == 0)
		result = parse_gold(&line, row, error);
	json_decref(line.object);
	return result;
}

void
dynamics_row_deinit(struct dynamics_row *row)
{
	free(row->logits);
	*row = (struct dynamics_row){0};
}
