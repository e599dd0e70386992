/*
 * fuzz_dynamics: a line of imported training dynamics. Byte 0: the epoch asked for. What is taken keeps the limits, and
 * a row can be used for the next line whatever this one was. What is read the quick way is what JSON proper says.
 */
#include "fuzz.h"

#include <dynamics.h>
#include <dynamics_plain.h>
#include <portolan/wire.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
check_row(const struct dynamics_row *row)
{
	require(row->classes >= 1 && row->classes <= row->room);
	require(row->gold >= 0 && row->gold < (row->classes == 1 ? 2 : (int32_t)row->classes));
	for (size_t c = 0; c < row->classes; c++)
		require(row->logits[c] < INFINITY); /* −∞ is a masked class; NaN is not less either */
	if (row->is_text)
		require(wire_name_is_valid(row->text, strlen(row->text), false));
}

/* A member that nobody asked for, and the line is read the long way. */
static void
check_plain(const char *line, size_t size, uint32_t epoch, const struct dynamics_row *quick)
{
	static const char member[] = "{\"_\":0,";
	static struct dynamics_row row;
	struct portolan_error error;
	size_t brace = (size_t)((const char *)memchr(line, '{', size) - line) + 1, used = sizeof(member) - 1;
	char *unusual = malloc(used + size);

	require(unusual != NULL);
	memcpy(unusual, member, used);
	memcpy(unusual + used, line + brace, size - brace);
	require(dynamics_parse(unusual, used + size - brace, epoch, &row, &error) == 0);
	require(row.is_text == quick->is_text && row.gold == quick->gold && row.classes == quick->classes);
	require(row.is_text ? strcmp(row.text, quick->text) == 0 : row.integer == quick->integer);
	require(memcmp(row.logits, quick->logits, row.classes * sizeof(*row.logits)) == 0);
	free(unusual);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "{\"guid\": 7, \"logits_epoch_3\": [0.5, -1], \"gold\": 1}";
	static struct dynamics_row row, quick; /* they grow, and stay */
	struct portolan_error error = {0};
	struct input input = {data, size};
	uint32_t epoch = input_u8(&input);
	int code = dynamics_parse((const char *)input.data, input.size, epoch, &row, &error);

	if (dynamics_parse_plain((const char *)input.data, input.size, epoch, &quick)) {
		require(code == 0);
		check_plain((const char *)input.data, input.size, epoch, &quick);
	}
	if (code == 0)
		check_row(&row);
	else
		require_line(&error, code);
	require(dynamics_parse(good, sizeof(good) - 1, 3, &row, &error) == 0);
	require(!row.is_text && row.integer == 7 && row.classes == 2 && row.gold == 1 && row.logits[1] == -1);
	return 0;
}
