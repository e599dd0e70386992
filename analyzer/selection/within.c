/* within.c: reading a selection, strictly: what is not understood is refused, as it could mean another selection. */
#include "within.h"

#include "outline.h"

#include "files/content.h"
#include "program/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PARTS_MAX 1000
#define VERTICES_MAX 100000  /* of all polygons */
#define COORDINATE_MAX 1e150 /* of a vertex: products of two stay finite */
#define DIGEST_BLOCK 4096    /* values that are hashed at once; the hash of a block is the seed of the next */

struct part {
	bool removes;
	struct outline outline;
};

struct within {
	char *what;
	json_t *object;
	const char *x, *y; /* NULL: there are no parts */
	struct part *parts;
	size_t part_count;
	const json_t *filters; /* of the object; NULL: none */
};

__attribute__((format(printf, 3, 4))) static int
wrong(const struct within *within, struct portolan_error *error, const char *format, ...)
{
	char why[384];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	return error_set(error, PORTOLAN_E_INVALID, "%s: %s", within->what, why);
}

/* The first member of an object that is none of the names (with blanks between them); NULL: there is none. */
static const char *
unknown_member(const json_t *object, const char *const *names)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		const char *const *name = names;

		while (*name && strcmp(*name, key) != 0)
			name++;
		if (!*name)
			return key;
	}
	return NULL;
}

static int
read_polygon(struct within *within, const json_t *polygon, struct part *part, struct portolan_error *error)
{
	size_t count = json_array_size(polygon);
	double *vertices;

	if (count < 3 || count > VERTICES_MAX)
		return wrong(within, error, "a polygon is an array of 3 to %d vertices, [[x, y], …]", VERTICES_MAX);
	vertices = malloc(2 * count * sizeof(*vertices));
	if (!vertices)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	part->outline = (struct outline){.vertices = vertices, .count = count};
	for (size_t i = 0; i < count; i++) {
		const json_t *vertex = json_array_get(polygon, i);
		const json_t *x = json_array_get(vertex, 0), *y = json_array_get(vertex, 1);

		if (json_array_size(vertex) != 2 || !json_is_number(x) || !json_is_number(y) ||
		    fabs(json_number_value(x)) > COORDINATE_MAX || fabs(json_number_value(y)) > COORDINATE_MAX)
			return wrong(within, error, "vertex %zu of a polygon is not [x, y], two numbers up to %g", i,
			             COORDINATE_MAX);
		vertices[2 * i] = json_number_value(x);
		vertices[2 * i + 1] = json_number_value(y);
	}
	return outline_index(&part->outline, error);
}

static int
read_part(struct within *within, const json_t *object, struct part *part, struct portolan_error *error)
{
	static const char *const names[] = {"op", "polygon", NULL};
	const char *op = json_string_value(json_object_get(object, "op"));
	const char *unknown = unknown_member(object, names);

	if (unknown)
		return wrong(within, error, "a part has 'op' and 'polygon', not '%.100s'", unknown);
	if (!op || (strcmp(op, "add") != 0 && strcmp(op, "remove") != 0))
		return wrong(within, error, "the 'op' of a part is \"add\" or \"remove\"");
	part->removes = *op == 'r';
	return read_polygon(within, json_object_get(object, "polygon"), part, error);
}

static int
read_parts(struct within *within, struct portolan_error *error)
{
	const json_t *polygon = json_object_get(within->object, "polygon");
	const json_t *parts = json_object_get(within->object, "parts");
	size_t vertices = 0;
	int code = 0;

	if (polygon && parts)
		return wrong(within, error, "it has 'polygon' and 'parts': one of them is meant");
	if (!polygon && !parts)
		return within->filters ? 0 : wrong(within, error, "it has neither 'polygon' nor 'parts' nor 'filters'");
	if (parts && (!json_is_array(parts) || json_array_size(parts) > PARTS_MAX))
		return wrong(within, error, "'parts' is an array, of %d parts at most", PARTS_MAX);
	within->x = json_string_value(json_object_get(within->object, "x"));
	within->y = json_string_value(json_object_get(within->object, "y"));
	if (!within->x || !within->y)
		return wrong(within, error, "'x' and 'y' are names of measures");
	within->part_count = polygon ? 1 : json_array_size(parts);
	within->parts = calloc(within->part_count + 1, sizeof(*within->parts));
	if (!within->parts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t p = 0; p < within->part_count && code >= 0; p++) {
		code = polygon ? read_polygon(within, polygon, &within->parts[p], error)
		               : read_part(within, json_array_get(parts, p), &within->parts[p], error);
		vertices += within->parts[p].outline.count;
		if (code >= 0 && vertices > VERTICES_MAX)
			code = wrong(within, error, "its polygons have %d vertices at most, altogether", VERTICES_MAX);
	}
	return code;
}

/* Does the filter have what a filter of this column can have? */
static int
check_filter(const struct within *within, const char *name, const json_t *filter, struct portolan_error *error)
{
	static const char *const of_sets[] = {"in", NULL}, *const of_numbers[] = {"in", "min", "max", NULL};
	bool set = strcmp(name, "gold") == 0 || strcmp(name, "id") == 0;
	const json_t *in = json_object_get(filter, "in");
	const json_t *min = json_object_get(filter, "min"), *max = json_object_get(filter, "max"), *value;
	size_t i;

	if (json_object_size(filter) == 0 || unknown_member(filter, set ? of_sets : of_numbers))
		return wrong(within, error, "the filter of '%.100s' is {%s}", name,
		             set ? "\"in\": […]" : "\"min\": NUMBER, \"max\": NUMBER}, one or both, or {\"in\": […]");
	if ((in && !json_is_array(in)) || (min && !json_is_number(min)) || (max && !json_is_number(max)))
		return wrong(within, error, "the filter of '%.100s': 'in' is an array, 'min' and 'max' are numbers",
		             name);
	json_array_foreach(in, i, value)
	{
		bool fits =
		        set ? json_is_integer(value) || json_is_string(value) || (json_is_null(value) && *name == 'g')
		            : json_is_number(value);

		if (!fits)
			return wrong(within, error, "the filter of '%.100s': value %zu of 'in' is no %s", name, i,
			             set ? "whole number or text" : "number");
	}
	return 0;
}

static int
read_filters(struct within *within, struct portolan_error *error)
{
	json_t *filters = json_object_get(within->object, "filters"), *filter;
	const char *name;
	int code = 0;

	if (filters && !json_is_object(filters))
		return wrong(within, error, "'filters' is an object");
	json_object_foreach(filters, name, filter)
	{
		code = check_filter(within, name, filter, error);
		if (code < 0)
			return code;
	}
	within->filters = json_object_size(filters) > 0 ? filters : NULL;
	return 0;
}

static int
read_object(struct within *within, struct portolan_error *error)
{
	static const char *const names[] = {"run", "x", "y", "epochs", "polygon", "parts", "filters", "digests", NULL};
	const json_t *run = json_object_get(within->object, "run");
	const json_t *epochs = json_object_get(within->object, "epochs");
	const json_t *digests = json_object_get(within->object, "digests");
	const char *unknown = unknown_member(within->object, names), *name;
	json_t *digest;
	int code;

	if (!json_is_object(within->object))
		return wrong(within, error, "a selection is an object, {\"x\": …, \"y\": …, \"polygon\": …}");
	if (unknown)
		return wrong(within, error,
		             "what is '%.100s'? There is run, x, y, epochs, polygon or parts, filters, digests",
		             unknown);
	if ((run && !json_is_string(run)) || (epochs && !json_is_string(epochs)))
		return wrong(within, error, "'run' and 'epochs' are texts, as \"1:6\"");
	if (digests && !json_is_object(digests))
		return wrong(within, error, "'digests' is an object");
	json_object_foreach((json_t *)(uintptr_t)digests, name, digest)
	{
		if (!json_is_string(digest))
			return wrong(within, error, "the digest of '%.100s' is no text", name);
	}
	code = read_filters(within, error);
	return code < 0 ? code : read_parts(within, error);
}

int
within_parse(struct within **within, const char *what, const char *text, size_t size, struct portolan_error *error)
{
	struct within *made = calloc(1, sizeof(*made));
	json_error_t trouble;
	int code;

	if (made)
		made->what = strdup(what);
	if (!made || !made->what) {
		within_free(made);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	made->object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &trouble);
	code = made->object ? read_object(made, error) : wrong(made, error, "line %d: %s", trouble.line, trouble.text);
	if (code < 0)
		within_free(made);
	else
		*within = made;
	return code;
}

int
within_read(struct within **within, const char *path, struct portolan_error *error)
{
	struct content content;
	int code = content_open(&content, path, error);

	if (code < 0)
		return code;
	code = within_parse(within, path, content.bytes, content.size, error);
	content_close(&content);
	return code;
}

void
within_free(struct within *within)
{
	if (!within)
		return;
	for (size_t p = 0; p < within->part_count; p++)
		outline_free(&within->parts[p].outline);
	free(within->parts);
	json_decref(within->object);
	free(within->what);
	free(within);
}

const char *
within_run(const struct within *within)
{
	return json_string_value(json_object_get(within->object, "run"));
}

const char *
within_epochs(const struct within *within)
{
	return json_string_value(json_object_get(within->object, "epochs"));
}

const json_t *
within_json(const struct within *within)
{
	return within->object;
}

static void
request_column(const char *name, struct dynamics_request *request)
{
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(name, measure_infos[m].name) == 0) {
			request->measures |= MEASURE_BIT(m);
			return;
		}
	request->user = true;
}

void
within_request(const struct within *within, struct dynamics_request *request)
{
	const char *name;
	json_t *filter;

	if (within->x) {
		request_column(within->x, request);
		request_column(within->y, request);
	}
	json_object_foreach((json_t *)(uintptr_t)within->filters, name, filter)
	{
		if (strcmp(name, "gold") == 0)
			request->gold = true;
		else if (strcmp(name, "id") != 0)
			request_column(name, request);
	}
	json_object_foreach(json_object_get(within->object, "digests"), name, filter)
	{
		request_column(name, request);
	}
}

static const double *
find_column(const struct within *within, const struct dynamics *dynamics, const char *name,
            struct portolan_error *error)
{
	const struct dynamics_column *column = dynamics_column(dynamics, name);

	if (!column || !column->values) {
		wrong(within, error, "run '%s' has no measure '%.100s'", dynamics->info->name, name);
		return NULL;
	}
	return column->values;
}

static int
keep_parts(const struct within *within, const struct dynamics *dynamics, uint32_t *kept, size_t *count,
           struct portolan_error *error)
{
	const double *x = find_column(within, dynamics, within->x, error);
	const double *y = x ? find_column(within, dynamics, within->y, error) : NULL;
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
compare_numbers(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/* The numbers of an array, ascending; the caller's to free(). NULL: out of memory. */
static double *
sort_numbers(const json_t *array)
{
	size_t count = json_array_size(array);
	double *numbers = malloc((count + 1) * sizeof(*numbers));

	if (!numbers)
		return NULL;
	for (size_t i = 0; i < count; i++)
		numbers[i] = json_number_value(json_array_get(array, i));
	qsort(numbers, count, sizeof(*numbers), compare_numbers);
	return numbers;
}

static int
keep_numbers(const double *values, const json_t *filter, uint32_t *kept, size_t *count, struct portolan_error *error)
{
	const json_t *in = json_object_get(filter, "in"), *min = json_object_get(filter, "min");
	const json_t *max = json_object_get(filter, "max");
	double least = min ? json_number_value(min) : -INFINITY, most = max ? json_number_value(max) : INFINITY;
	double *listed = sort_numbers(in);
	size_t left = 0;

	if (!listed)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < *count; i++) {
		double value = values[kept[i]];

		if (value >= least && value <= most && /* NaN passes nothing */
		    (!in || bsearch(&value, listed, json_array_size(in), sizeof(value), compare_numbers)))
			kept[left++] = kept[i];
	}
	free(listed);
	*count = left;
	return 0;
}

/* The number of a class that is named, or given by its number; −1: null. */
static int
class_of(const struct within *within, const struct dynamics *dynamics, const json_t *value, int64_t *label,
         struct portolan_error *error)
{
	const char *name = json_string_value(value);

	*label = json_is_null(value) ? -1 : json_integer_value(value);
	if (json_is_integer(value) && *label < 0)
		return wrong(within, error, "the filter of 'gold': classes are numbered from 0; null is no label");
	if (!name)
		return 0;
	for (uint64_t l = 0; l < dynamics->info->label_count; l++) {
		const char *known = store_snapshot_label(dynamics->snapshot, l);

		if (known && strcmp(known, name) == 0) {
			*label = (int64_t)l;
			return 0;
		}
	}
	return wrong(within, error, "the filter of 'gold': run '%s' has no class '%.100s'", dynamics->info->name, name);
}

static int
compare_labels(const void *a, const void *b)
{
	const int64_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

static int
keep_labels(const struct within *within, const struct dynamics *dynamics, const json_t *filter, uint32_t *kept,
            size_t *count, struct portolan_error *error)
{
	const json_t *in = json_object_get(filter, "in");
	size_t wanted = json_array_size(in), left = 0;
	int64_t *labels = malloc((wanted + 1) * sizeof(*labels));
	int code = labels ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	for (size_t v = 0; v < wanted && code >= 0; v++)
		code = class_of(within, dynamics, json_array_get(in, v), &labels[v], error);
	if (code >= 0)
		qsort(labels, wanted, sizeof(*labels), compare_labels);
	for (size_t i = 0; i < *count && code >= 0; i++) {
		int64_t gold = dynamics->gold ? dynamics->gold[kept[i]] : -1;

		if (bsearch(&gold, labels, wanted, sizeof(*labels), compare_labels))
			kept[left++] = kept[i];
	}
	free(labels);
	if (code >= 0)
		*count = left;
	return code;
}

static int
keep_ids(const struct within *within, const struct dynamics *dynamics, const json_t *filter, uint32_t *kept,
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
	json_array_foreach(in, i, value)
	{
		char digits[NUMBER_ROOM];
		const char *text = json_string_value(value);
		int64_t at;

		if (code < 0)
			break;
		if (!text && dynamics->ids.kind == STORE_ID_STR) {
			code = wrong(within, error, "the filter of 'id': the ids of run '%s' are texts",
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
keep_filter(const struct within *within, const struct dynamics *dynamics, const char *name, const json_t *filter,
            uint32_t *kept, size_t *count, struct portolan_error *error)
{
	const double *values;

	if (strcmp(name, "gold") == 0)
		return keep_labels(within, dynamics, filter, kept, count, error);
	if (strcmp(name, "id") == 0)
		return keep_ids(within, dynamics, filter, kept, count, error);
	values = find_column(within, dynamics, name, error);
	return values ? keep_numbers(values, filter, kept, count, error) : PORTOLAN_E_INVALID;
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
		code = keep_parts(within, dynamics, kept, kept_count, error);
	json_object_foreach((json_t *)(uintptr_t)within->filters, name, filter)
	{
		if (code >= 0)
			code = keep_filter(within, dynamics, name, filter, kept, kept_count, error);
	}
	return code;
}

void
within_digest(const struct dynamics *dynamics, const double *values, char digest[WITHIN_DIGEST_ROOM])
{
	double block[DIGEST_BLOCK];
	uint64_t hash = 0;

	for (size_t i = 0; i < dynamics->count;) {
		size_t filled = 0;

		for (; filled < DIGEST_BLOCK && i < dynamics->count; i++) {
			double value = values[dynamics->order[i]];

			block[filled++] = isnan(value) ? -INFINITY : value + 0.0; /* one NaN, one zero */
		}
		hash = XXH3_64bits_withSeed(block, filled * sizeof(*block), hash);
	}
	snprintf(digest, WITHIN_DIGEST_ROOM, "%016llx", (unsigned long long)hash);
}

bool
within_is_changed(const struct within *within, const struct dynamics *dynamics)
{
	json_t *digests = json_object_get(within->object, "digests"), *value;
	const char *name;

	json_object_foreach(digests, name, value)
	{
		const struct dynamics_column *column = dynamics_column(dynamics, name);
		const char *before = json_string_value(value);
		char now[WITHIN_DIGEST_ROOM];

		if (!column || !column->values || !before)
			continue;
		within_digest(dynamics, column->values, now);
		if (strcmp(before, now) != 0)
			return true;
	}
	return false;
}
