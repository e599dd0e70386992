/* within_filters.c: applies the filters of a selection (within_filters.h): by numbers, gold labels and ids. */
#include "within_filters.h"

#include "base/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double *
within_column(const struct within *within, const struct dynamics *dynamics, const char *name,
              struct portolan_error *error)
{
	const struct dynamics_column *column = dynamics_column(dynamics, name);

	if ((!column || !column->values) && measure_find(name) >= 0) {
		dynamics_no_measure(dynamics, within->what, name, error);
		return NULL;
	}
	if (!column || !column->values) {
		within_wrong(within, error, "run '%s' has no measure '%.100s'", dynamics->info->name, name);
		return NULL;
	}
	return column->values;
}

static int
within_compare_numbers(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/* Sorts the numbers of a JSON array, ascending; *count: how many there are beside nulls. The caller passes the result to
 * free(). NULL: out of memory. */
static double *
within_sort_numbers(const json_t *array, size_t *count)
{
	double *numbers = malloc((json_array_size(array) + 1) * sizeof(*numbers));
	const json_t *value;
	size_t i;

	*count = 0;
	if (!numbers)
		return NULL;
	json_array_foreach (array, i, value) {
		if (!json_is_null(value))
			numbers[(*count)++] = json_number_value(value);
	}
	qsort(numbers, *count, sizeof(*numbers), within_compare_numbers);
	return numbers;
}

int
within_keep_numbers(const double *values, const json_t *filter, uint32_t *kept, size_t *count,
                    struct portolan_error *error)
{
	const json_t *in = json_object_get(filter, "in"), *min = json_object_get(filter, "min");
	const json_t *max = json_object_get(filter, "max");
	double least = min ? json_number_value(min) : -INFINITY, most = max ? json_number_value(max) : INFINITY;
	size_t listed_count, left = 0;
	double *listed = within_sort_numbers(in, &listed_count);
	bool takes_none = listed_count < json_array_size(in) && !min && !max; /* no bound lets NaN through */

	if (!listed)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < *count; i++) {
		double value = values[kept[i]];

		if (value >= least && value <= most
		            ? !in || bsearch(&value, listed, listed_count, sizeof(value), within_compare_numbers)
		            : takes_none && isnan(value))
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

int64_t
within_find_id(const struct ids_index *index, const json_t *id)
{
	const char *text = json_string_value(id);
	char digits[NUMBER_ROOM];

	if (!text) {
		snprintf(digits, sizeof(digits), "%lld", (long long)json_integer_value(id));
		text = digits;
	}
	return ids_index_find(index, text, strlen(text));
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
		int64_t at;

		if (code < 0)
			break;
		if (!json_is_string(value) && dynamics->ids.kind == STORE_ID_STR) {
			code = within_wrong(within, error, "the filter of 'id': the ids of run '%s' are texts",
			                    dynamics->info->name);
			break;
		}
		at = within_find_id(&index, value);
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

int
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
