/*
 * fuzz_dynamics: a line of imported training dynamics. Byte 0: the epoch asked for. What is taken keeps the limits, and
 * a row can be used for the next line whatever this one was. What is JSON to jansson is JSON here, with the same
 * values, and the other way round.
 */
#include "fuzz.h"

#include <dynamics.h>
#include <jansson.h>
#include <portolan/wire.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
check_row(const struct dynamics_row *row)
{
	require(row->classes >= 1 && row->classes <= DYNAMICS_CLASSES_MOST);
	require(row->gold >= 0 && row->gold < (row->classes == 1 ? 2 : (int32_t)row->classes));
	for (size_t c = 0; c < row->classes; c++)
		require(row->logits[c] < INFINITY); /* −∞ is a masked class; NaN is not less either */
	if (row->is_text)
		require(wire_name_is_valid(row->text, strlen(row->text), false));
}

/* Whether the line holds what is read beyond JSON. */
static bool
is_beyond_json(const char *line, size_t size, const json_error_t *why)
{
	return memmem(line, size, "NaN", 3) || memmem(line, size, "Infinity", 8) || strstr(why->text, "too big") ||
	       strstr(why->text, "too small") || strstr(why->text, "duplicate");
}

static void
check_beside_jansson(const char *line, size_t size, uint32_t epoch, const struct dynamics_row *row, int code,
                     const struct portolan_error *error)
{
	json_error_t why = {0};
	json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &why);
	const json_t *guid = json_object_get(object, "guid"), *logits;
	char key[32];

	if (!object && !is_beyond_json(line, size, &why))
		require(code != 0);
	if (object && !memchr(line, '\0', size)) /* which jansson goes over where it stands behind a number */
		require(code == 0 || !strstr(error->message, "not JSON"));
	if (object && code == 0) {
		snprintf(key, sizeof(key), "logits_epoch_%u", epoch);
		logits = json_object_get(object, key);
		require(row->gold == json_integer_value(json_object_get(object, "gold")));
		require(row->is_text ? strcmp(row->text, json_string_value(guid)) == 0
		                     : row->integer == (uint64_t)json_integer_value(guid));
		require(row->classes == json_array_size(logits));
		for (size_t c = 0; c < row->classes; c++)
			require(row->logits[c] == json_number_value(json_array_get(logits, c)));
	}
	json_decref(object);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "{\"guid\": 7, \"logits_epoch_3\": [0.5, -1], \"gold\": 1}";
	static struct dynamics_row row;
	struct portolan_error error = {0};
	struct input input = {data, size};
	uint32_t epoch = input_u8(&input);
	int code = dynamics_parse((const char *)input.data, input.size, epoch, &row, &error);

	check_beside_jansson((const char *)input.data, input.size, epoch, &row, code, &error);
	if (code == 0)
		check_row(&row);
	else
		require_line(&error, code);
	require(dynamics_parse(good, sizeof(good) - 1, 3, &row, &error) == 0);
	require(!row.is_text && row.integer == 7 && row.classes == 2 && row.gold == 1 && row.logits[1] == -1);
	return 0;
}
