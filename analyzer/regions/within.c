/* within.c: finds the examples of a run that are in a selection: those that lie in its polygons and pass its filters
 * (within.h). */
#include "within.h"

#include "base/number.h"

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

	if (measure >= 0)
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
		if (strcmp(name, "gold") == 0)
			request->gold = true;
		else if (strcmp(name, "id") != 0 && !within_is_of_file(name, filter))
			within_request_column(name, request);
	}
	json_object_foreach (json_object_get(within->object, "digests"), name, filter) {
		if (strcmp(name, "gold") == 0)
			request->gold = true;
		else
			within_request_column(name, request);
	}
}

static const double *
within_column(const struct within *within, const struct dynamics *dynamics, const char *name,
              struct portolan_error *error)
{
	const struct dynamics_column *column = dynamics_column(dynamics, name);

	if (!column || !column->values) {
		within_wrong(within, error, "run '%s' has no measure '%.100s'", dynamics->info->name, name);
		return NULL;
	}
	return column->values;
}

static int
within_keep_parts(const struct within *within, const struct dynamics *dynamics, uint32_t *kept, size_t *count,
                  struct portolan_error *error)
{
	const double *x = within_column(within, dynamics, within->x, error);
	const double *y = x ? within_column(within, dynamics, within->y, error) : NULL;
	size_t left = 0;

	if (!y)
		return PORTOLAN_E_INVALID;
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

static int
within_compare_numbers(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/* Sorts the numbers of a JSON array, ascending; the caller passes the result to free(). NULL: out of memory. */
static double *
within_sort_numbers(const json_t *array)
{
	size_t count = json_array_size(array);
	double *numbers = malloc((count + 1) * sizeof(*numbers));

	if (!numbers)
		return NULL;
	for (size_t i = 0; i < count; i++)
		numbers[i] = json_number_value(json_array_get(array, i));
	qsort(numbers, count, sizeof(*numbers), within_compare_numbers);
	return numbers;
}

int
within_keep_numbers(const double *values, const json_t *filter, uint32_t *kept, size_t *count,
                    struct portolan_error *error)
{
	const json_t *in = json_object_get(filter, "in"), *min = json_object_get(filter, "min");
	const json_t *max = json_object_get(filter, "max");
	double least = min ? json_number_value(min) : -INFINITY, most = max ? json_number_value(max) : INFINITY;
	double *listed = within_sort_numbers(in);
	size_t left = 0;

	if (!listed)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < *count; i++) {
		double value = values[kept[i]];

		if (value >= least && value <= most && /* NaN passes no filter */
		    (!in || bsearch(&value, listed, json_array_size(in), sizeof(value), within_compare_numbers)))
			kept[left++] = kept[i];
	}
	free(listed);
	*count = left;
	return 0;
}

/* Finds the class that a filter gives by name or number; −1: null. */
static int
within_find_class(const struct within *within, const struct dynamics *dynamics, const json_t *value, int64_t *label,
                  struct portolan_error *error)
{
	const char *name = json_string_value(value);

	*label = json_is_null(value) ? -1 : json_integer_value(value);
	if (json_is_integer(value) && *label < 0)
		return within_wrong(within, error,
		                    "the filter of 'gold': classes are numbered from 0; null is no label");
	if (!name)
		return 0;
	for (uint64_t l = 0; l < dynamics->info->label_count; l++) {
		const char *known = store_snapshot_label(dynamics->snapshot, l);

		if (known && strcmp(known, name) == 0) {
			*label = (int64_t)l;
			return 0;
		}
	}
	return within_wrong(within, error, "the filter of 'gold': run '%s' has no class '%.100s'", dynamics->info->name,
	                    name);
}

static int
within_compare_labels(const void *a, const void *b)
{
	const int64_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

static int
within_keep_labels(const struct within *within, const struct dynamics *dynamics, const json_t *filter, uint32_t *kept,
                   size_t *count, struct portolan_error *error)
{
	const json_t *in = json_object_get(filter, "in");
	size_t wanted = json_array_size(in), left = 0;
	int64_t *labels = malloc((wanted + 1) * sizeof(*labels));
	int code = labels ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	for (size_t v = 0; v < wanted && code >= 0; v++)
		code = within_find_class(within, dynamics, json_array_get(in, v), &labels[v], error);
	if (code >= 0)
		qsort(labels, wanted, sizeof(*labels), within_compare_labels);
	for (size_t i = 0; i < *count && code >= 0; i++) {
		int64_t gold = dynamics->gold ? dynamics->gold[kept[i]] : -1;

		if (bsearch(&gold, labels, wanted, sizeof(*labels), within_compare_labels))
			kept[left++] = kept[i];
	}
	free(labels);
	if (code >= 0)
		*count = left;
	return code;
}

static int
within_keep_ids(const struct within *within, const struct dynamics *dynamics, const json_t *filter, uint32_t *kept,
                size_t *count, struct portolan_error *error)
{
	const json_t *in = json_object_get(filter, "in"), *value;
	struct ids_index index;
	unsigned char *wanted;
	size_t i, left = 0;
	int code = ids_index_init(&index, &dynamics->ids, kept, *count, error);

	if (code < 0)
		return code;
	wanted = calloc(*count + 1, 1);
	if (!wanted)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	json_array_foreach (in, i, value) {
		char digits[NUMBER_ROOM];
		const char *text = json_string_value(value);
		int64_t at;

		if (code < 0)
			break;
		if (!text && dynamics->ids.kind == STORE_ID_STR) {
			code = within_wrong(within, error, "the filter of 'id': the ids of run '%s' are texts",
			                    dynamics->info->name);
			break;
		}
		if (!text) {
			snprintf(digits, sizeof(digits), "%lld", (long long)json_integer_value(value));
			text = digits;
		}
		at = ids_index_find(&index, text, strlen(text));
		if (at >= 0)
			wanted[at] = 1;
	}
	for (i = 0; i < *count && code >= 0; i++)
		if (wanted[i])
			kept[left++] = kept[i];
	free(wanted);
	ids_index_free(&index);
	if (code >= 0)
		*count = left;
	return code;
}

static int
within_keep_of_file(const struct within *within, const char *name, const json_t *filter, uint32_t *kept, size_t *count,
                    struct portolan_error *error)
{
	if (within->file.keep)
		return within->file.keep(within->file.context, name, filter, kept, count, error);
	return within_wrong(within, error,
	                    "the filter of '%.100s' needs your own file, and only the live page reads it: export the "
	                    "selection there (selection.json), where ids stand in the filter's place",
	                    name);
}

static int
within_keep_filter(const struct within *within, const struct dynamics *dynamics, const char *name, const json_t *filter,
                   uint32_t *kept, size_t *count, struct portolan_error *error)
{
	const double *values;

	if (strcmp(name, "gold") == 0)
		return within_keep_labels(within, dynamics, filter, kept, count, error);
	if (strcmp(name, "id") == 0)
		return within_keep_ids(within, dynamics, filter, kept, count, error);
	if (within_is_of_file(name, filter))
		return within_keep_of_file(within, name, filter, kept, count, error);
	values = within_column(within, dynamics, name, error);
	return values ? within_keep_numbers(values, filter, kept, count, error) : PORTOLAN_E_INVALID;
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
