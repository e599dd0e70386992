/*
 * dynamics.c: one line of training dynamics, from JSON to a checked row.
 *
 * Integer guids stay integers and strings stay strings: "7" and 7 are different examples to whoever wrote them.
 */
#include "dynamics.h"

#include <portolan/error.h>
#include <portolan/wire.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES_MOST 65536

static int
parse_guid(const json_t *object, struct dynamics_row *row, struct portolan_error *error)
{
	const json_t *guid = json_object_get(object, "guid");
	size_t size;

	if (!guid)
		return error_set(error, PORTOLAN_E_INVALID, "no \"guid\"");
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

static int
parse_logits(const json_t *object, uint32_t epoch, struct dynamics_row *row, struct portolan_error *error)
{
	char key[32];
	const json_t *logits, *item;
	size_t count, i;

	snprintf(key, sizeof(key), "logits_epoch_%" PRIu32, epoch);
	logits = json_object_get(object, key);
	if (!json_is_array(logits))
		return error_set(error, PORTOLAN_E_INVALID, "\"%s\" is %s", key, logits ? "not an array" : "missing");
	count = json_array_size(logits);
	if (count == 0 || count > CLASSES_MOST)
		return error_set(error, PORTOLAN_E_INVALID, "\"%s\" has %zu numbers, not 1 to %d", key, count,
		                 CLASSES_MOST);
	if (count > row->room) {
		double *grown = realloc(row->logits, count * sizeof(*grown));

		if (!grown)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
		row->logits = grown;
		row->room = count;
	}
	json_array_foreach(logits, i, item)
	{
		if (!json_is_number(item))
			return error_set(error, PORTOLAN_E_INVALID, "\"%s\" holds something that is not a number", key);
		row->logits[i] = json_number_value(item);
	}
	row->classes = count;
	return 0;
}

static int
parse_gold(const json_t *object, struct dynamics_row *row, struct portolan_error *error)
{
	const json_t *gold = json_object_get(object, "gold");
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

int
dynamics_parse(const char *line, size_t size, uint32_t epoch, struct dynamics_row *row, struct portolan_error *error)
{
	json_error_t json_error;
	json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &json_error);
	int result;

	if (!object)
		return not_json(&json_error, error);
	if (!json_is_object(object))
		result = error_set(error, PORTOLAN_E_INVALID, "not a JSON object");
	else if ((result = parse_guid(object, row, error)) == 0 &&
	         (result = parse_logits(object, epoch, row, error)) == 0)
		result = parse_gold(object, row, error);
	json_decref(object);
	return result;
}

void
dynamics_row_deinit(struct dynamics_row *row)
{
	free(row->logits);
	*row = (struct dynamics_row){0};
}
