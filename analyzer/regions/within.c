/* within.c: finds the examples of a run that are in a selection (within.h): those that lie in its polygons, and pass its
 * filters (within_filters.h). */
#include "within.h"

#include "base/cleanup.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define DIGEST_BLOCK 4096 /* values that are hashed at once; the hash of a block is the seed of the next */

static void
within_request_column(const char *name, struct dynamics_request *request)
{
	int measure = measure_find(name);

	if (strcmp(name, "gold") == 0)
		request->gold = true;
	else if (strncmp(name, "data:", 5) == 0)
		return; /* of the user's file */
	else if (measure >= 0)
		request->measures |= MEASURE_BIT(measure);
	else
		request->user = true;
}

void
within_request(const struct within *within, struct dynamics_request *request)
{
	const char *name;
	json_t *filter;

	if (within->x) {
		within_request_column(within->x, request);
		within_request_column(within->y, request);
	}
	json_object_foreach ((json_t *)(uintptr_t)within->filters, name, filter) {
		if (strcmp(name, "id") != 0 && !within_is_of_file(name, filter))
			within_request_column(name, request);
	}
	json_object_foreach (json_object_get(within->object, "digests"), name, filter) {
		within_request_column(name, request);
	}
}

/* The numbers of the examples' classes, by dense index; NaN: the example has no label. The caller's to free(). NULL: out
 * of memory. */
static double *
within_number_labels(const struct dynamics *dynamics, const uint32_t *kept, size_t count)
{
	double *values = malloc((dynamics->ids.rows + 1) * sizeof(*values));

	for (size_t i = 0; values && i < count; i++) {
		int32_t gold = dynamics->gold ? dynamics->gold[kept[i]] : -1;

		values[kept[i]] = gold >= 0 ? (double)gold : (double)NAN;
	}
	return values;
}

/* Finds the values on an axis of the polygons. *own: the same, if they were made, to be freed; else NULL. */
static int
within_take_axis(const struct within *within, const struct dynamics *dynamics, const char *name, const uint32_t *kept,
                 size_t count, const double **values, double **own, struct portolan_error *error)
{
	int code = 0;

	*own = NULL;
	if (strncmp(name, "data:", 5) == 0) {
		if (!within->file.values)
			return within_wrong(
			        within, error,
			        "the axis '%.100s' is a column of your own file, and only the live page reads it: export the "
			        "selection there (selection.json), where ids stand in the polygons' place",
			        name);
		code = within->file.values(within->file.context, name, own, error);
	} else if (strcmp(name, "gold") == 0) {
		*own = within_number_labels(dynamics, kept, count);
		code = *own ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	*values = *own || code < 0 ? *own : within_column(within, dynamics, name, error);
	return code < 0 || *values ? code : PORTOLAN_E_INVALID;
}

static int
within_keep_parts(const struct within *within, const struct dynamics *dynamics, uint32_t *kept, size_t *count,
                  struct portolan_error *error)
{
	CLEANUP_FREE double *own_x = NULL, *own_y = NULL;
	const double *x, *y;
	size_t left = 0;
	int code = within_take_axis(within, dynamics, within->x, kept, *count, &x, &own_x, error);

	if (code >= 0)
		code = within_take_axis(within, dynamics, within->y, kept, *count, &y, &own_y, error);
	if (code < 0)
		return code;
	for (size_t i = 0; i < *count; i++) {
		bool selected = false;

		for (size_t p = 0; p < within->part_count; p++)
			if (selected == within->parts[p].removes &&
			    outline_holds(&within->parts[p].outline, x[kept[i]], y[kept[i]]))
				selected = !selected;
		if (selected)
			kept[left++] = kept[i];
	}
	*count = left;
	return 0;
}

int
within_keep(const struct within *within, const struct dynamics *dynamics, const uint32_t *order, size_t n,
            uint32_t *kept, size_t *kept_count, struct portolan_error *error)
{
	const json_t *filter;
	const char *name;
	int code = 0;

	if (kept != order)
		memcpy(kept, order, n * sizeof(*kept));
	*kept_count = n;
	if (within->x)
		code = within_keep_parts(within, dynamics, kept, kept_count, error);
	for (int of_file = 0; of_file < 2; of_file++) { /* the slower filters come last */
		json_object_foreach ((json_t *)(uintptr_t)within->filters, name, filter) {
			if (code >= 0 && within_is_of_file(name, filter) == of_file)
				code = within_keep_filter(within, dynamics, name, filter, kept, kept_count, error);
		}
	}
	return code;
}

/* The value that is hashed for an example: of the column, or, if that is NULL, the gold label; −1: it has none. */
static double
within_digested_value(const struct dynamics *dynamics, const double *values, uint32_t index)
{
	double value = values ? values[index] : dynamics->gold ? dynamics->gold[index] : -1;

	return isnan(value) ? -INFINITY : value + 0.0; /* all NaN are hashed alike, and both zeros */
}

void
within_digest(const struct dynamics *dynamics, const double *values, char digest[WITHIN_DIGEST_ROOM])
{
	double block[DIGEST_BLOCK];
	uint64_t hash = 0;

	for (size_t i = 0; i < dynamics->count;) {
		size_t filled = 0;

		for (; filled < DIGEST_BLOCK && i < dynamics->count; i++)
			block[filled++] = within_digested_value(dynamics, values, dynamics->order[i]);
		hash = XXH3_64bits_withSeed(block, filled * sizeof(*block), hash);
	}
	snprintf(digest, WITHIN_DIGEST_ROOM, "%016llx", (unsigned long long)hash);
}

bool
within_is_changed(const struct within *within, const struct dynamics *dynamics)
{
	json_t *digests = json_object_get(within->object, "digests"), *value;
	const char *name;

	json_object_foreach (digests, name, value) {
		bool gold = strcmp(name, "gold") == 0;
		const struct dynamics_column *column = gold ? NULL : dynamics_column(dynamics, name);
		const char *before = json_string_value(value);
		char now[WITHIN_DIGEST_ROOM];

		if ((!gold && (!column || !column->values)) || !before)
			continue;
		within_digest(dynamics, gold ? NULL : column->values, now);
		if (strcmp(before, now) != 0)
			return true;
	}
	return false;
}
