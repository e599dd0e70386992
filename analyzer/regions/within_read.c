/* within_read.c: reads a selection of the live page from JSON (within_read.h). It is strict: a member that it does not
 * understand is refused, as it could mean another selection. */
#include "within_read.h"

#include "files/content.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 1000
#define VERTICES_MAX 100000  /* the most vertices that all polygons have together */
#define TEXTS_MAX 16         /* the most texts that are searched for at once */
#define COORDINATE_MAX 1e150 /* the largest coordinate of a vertex, so that products of two stay finite */

int
within_wrong(const struct within *within, struct portolan_error *error, const char *format, ...)
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
within_unknown_member(const json_t *object, const char *const *names)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		const char *const *name = names;

		while (*name && strcmp(*name, key) != 0)
			name++;
		if (!*name)
			return key;
	}
	return NULL;
}

static int
within_read_polygon(struct within *within, const json_t *polygon, struct within_part *part,
                    struct portolan_error *error)
{
	size_t count = json_array_size(polygon);
	double *vertices;

	if (count < 3 || count > VERTICES_MAX)
		return within_wrong(within, error, "a polygon is an array of 3 to %d vertices, [[x, y], …]",
		                    VERTICES_MAX);
	vertices = malloc(2 * count * sizeof(*vertices));
	if (!vertices)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	part->outline = (struct outline){.vertices = vertices, .count = count};
	for (size_t i = 0; i < count; i++) {
		const json_t *vertex = json_array_get(polygon, i);
		const json_t *x = json_array_get(vertex, 0), *y = json_array_get(vertex, 1);

		if (json_array_size(vertex) != 2 || !json_is_number(x) || !json_is_number(y) ||
		    fabs(json_number_value(x)) > COORDINATE_MAX || fabs(json_number_value(y)) > COORDINATE_MAX)
			return within_wrong(within, error,
			                    "vertex %zu of a polygon is not [x, y], two numbers up to %g", i,
			                    COORDINATE_MAX);
		vertices[2 * i] = json_number_value(x);
		vertices[2 * i + 1] = json_number_value(y);
	}
	return outline_index(&part->outline, error);
}

static int
within_read_part(struct within *within, const json_t *object, struct within_part *part, struct portolan_error *error)
{
	static const char *const names[] = {"op", "polygon", NULL};
	const char *op = json_string_value(json_object_get(object, "op"));
	const char *unknown = within_unknown_member(object, names);

	if (unknown)
		return within_wrong(within, error, "a part has 'op' and 'polygon', not '%.100s'", unknown);
	if (!op || (strcmp(op, "add") != 0 && strcmp(op, "remove") != 0))
		return within_wrong(within, error, "the 'op' of a part is \"add\" or \"remove\"");
	part->removes = *op == 'r';
	return within_read_polygon(within, json_object_get(object, "polygon"), part, error);
}

static int
within_read_parts(struct within *within, struct portolan_error *error)
{
	const json_t *polygon = json_object_get(within->object, "polygon");
	const json_t *parts = json_object_get(within->object, "parts");
	size_t vertices = 0;
	int code = 0;

	if (polygon && parts)
		return within_wrong(within, error, "it has 'polygon' and 'parts': one of them is meant");
	if (!polygon && !parts)
		return within->filters
		               ? 0
		               : within_wrong(within, error, "it has neither 'polygon' nor 'parts' nor 'filters'");
	if (parts && (!json_is_array(parts) || json_array_size(parts) > PARTS_MAX))
		return within_wrong(within, error, "'parts' is an array, of %d parts at most", PARTS_MAX);
	within->x = json_string_value(json_object_get(within->object, "x"));
	within->y = json_string_value(json_object_get(within->object, "y"));
	if (!within->x || !within->y)
		return within_wrong(within, error, "'x' and 'y' are names of axes: of measures, or gold");
	within->part_count = polygon ? 1 : json_array_size(parts);
	within->parts = calloc(within->part_count + 1, sizeof(*within->parts));
	if (!within->parts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t p = 0; p < within->part_count && code >= 0; p++) {
		code = polygon ? within_read_polygon(within, polygon, &within->parts[p], error)
		               : within_read_part(within, json_array_get(parts, p), &within->parts[p], error);
		vertices += within->parts[p].outline.count;
		if (code >= 0 && vertices > VERTICES_MAX)
			code = within_wrong(within, error, "its polygons have %d vertices at most, altogether",
			                    VERTICES_MAX);
	}
	return code;
}

bool
within_is_of_file(const char *name, const json_t *filter)
{
	return strncmp(name, "data:", 5) == 0 || (strcmp(name, "text") == 0 && json_object_get(filter, "contains"));
}

bool
within_is_drawn_on_file(const struct within *within)
{
	return within->x && (strncmp(within->x, "data:", 5) == 0 || strncmp(within->y, "data:", 5) == 0);
}

/* Checks a search, {"contains": […]}. */
static int
within_check_search(const struct within *within, const char *name, const json_t *filter, struct portolan_error *error)
{
	const json_t *texts = json_object_get(filter, "contains"), *text;
	bool fits = json_object_size(filter) == 1 && json_array_size(texts) > 0 && json_array_size(texts) <= TEXTS_MAX;
	size_t i;

	json_array_foreach (texts, i, text) {
		fits = fits && json_string_length(text) > 0;
	}
	return fits ? 0
	            : within_wrong(within, error, "the filter of '%s' is {\"contains\": […]}, with 1 to %d texts", name,
	                           TEXTS_MAX);
}

/* Has the filter only members that a filter of this column can have? */
static int
within_check_filter(const struct within *within, const char *name, const json_t *filter, struct portolan_error *error)
{
	static const char *const of_sets[] = {"in", NULL}, *const of_numbers[] = {"in", "min", "max", NULL};
	bool set = strcmp(name, "gold") == 0 || strcmp(name, "id") == 0;
	bool of_file = within_is_of_file(name, filter);
	const json_t *in = json_object_get(filter, "in");
	const json_t *min = json_object_get(filter, "min"), *max = json_object_get(filter, "max"), *value;
	size_t i;

	if (of_file && *name == 't')
		return within_check_search(within, name, filter, error);
	if (json_object_size(filter) == 0 || within_unknown_member(filter, set ? of_sets : of_numbers))
		return within_wrong(within, error, "the filter of '%.100s' is {%s}", name,
		                    set ? "\"in\": […]"
		                        : "\"min\": NUMBER, \"max\": NUMBER}, one or both, or {\"in\": […]");
	if ((in && !json_is_array(in)) || (min && !json_is_number(min)) || (max && !json_is_number(max)))
		return within_wrong(within, error,
		                    "the filter of '%.100s': 'in' is an array, 'min' and 'max' are numbers", name);
	json_array_foreach (in, i, value) {
		bool fits =
		        set ? json_is_integer(value) || json_is_string(value) || (json_is_null(value) && *name == 'g')
		            : json_is_number(value) || json_is_null(value) || (of_file && json_is_string(value));

		if (!fits)
			return within_wrong(within, error, "the filter of '%.100s': value %zu of 'in' is no %s", name,
			                    i,
			                    set       ? "whole number or text"
			                    : of_file ? "number or text, nor null"
			                              : "number, nor null");
	}
	return 0;
}

static int
within_read_filters(struct within *within, struct portolan_error *error)
{
	json_t *filters = json_object_get(within->object, "filters"), *filter;
	const char *name;
	int code = 0;

	if (filters && !json_is_object(filters))
		return within_wrong(within, error, "'filters' is an object");
	json_object_foreach (filters, name, filter) {
		code = within_check_filter(within, name, filter, error);
		if (code < 0)
			return code;
	}
	within->filters = json_object_size(filters) > 0 ? filters : NULL;
	return 0;
}

static int
within_read_object(struct within *within, struct portolan_error *error)
{
	static const char *const names[] = {"name",    "run",   "x",       "y",       "epochs",
	                                    "polygon", "parts", "filters", "digests", NULL};
	static const char *const texts[] = {"name", "run", "epochs"};
	const json_t *digests = json_object_get(within->object, "digests");
	const char *unknown = within_unknown_member(within->object, names), *name;
	json_t *digest;
	int code;

	if (!json_is_object(within->object))
		return within_wrong(within, error, "a selection is an object, {\"x\": …, \"y\": …, \"polygon\": …}");
	if (unknown)
		return within_wrong(
		        within, error,
		        "'%.100s' is no member of a selection; these are name, run, x, y, epochs, polygon or parts, filters, digests",
		        unknown);
	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
		const json_t *text = json_object_get(within->object, texts[t]);

		if (text && !json_is_string(text))
			return within_wrong(within, error, "'%s' is a text", texts[t]);
	}
	if (digests && !json_is_object(digests))
		return within_wrong(within, error, "'digests' is an object");
	json_object_foreach ((json_t *)(uintptr_t)digests, name, digest) {
		if (!json_is_string(digest))
			return within_wrong(within, error, "the digest of '%.100s' is no text", name);
	}
	within->run = json_string_value(json_object_get(within->object, "run"));
	within->epochs = json_string_value(json_object_get(within->object, "epochs"));
	code = within_read_filters(within, error);
	return code < 0 ? code : within_read_parts(within, error);
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
	if (made->object)
		code = within_read_object(made, error);
	else if (size == 0)
		code = within_wrong(made, error, "it is empty");
	else
		code = within_wrong(made, error, "line %d is not well-formed JSON: %s", trouble.line, trouble.text);
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
