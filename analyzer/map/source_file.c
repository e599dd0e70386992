/* source_file.c: a map of a file of coordinates; see source.h. */
#include "source_parts.h"

#include "base/arrays.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct attribute *
find_attribute(struct attributes *attributes, const char *name)
{
	for (size_t a = 0; a < attributes->count; a++)
		if (strcmp(attributes->list[a].name, name) == 0)
			return &attributes->list[a];
	return NULL;
}

/* Every value between 0 and `most`. */
static int
check_range(const struct map_source *source, const struct user_file *file, const struct attribute *attribute,
            double most, struct portolan_error *error)
{
	for (size_t i = 0; i < source->table.rows; i++)
		if (attribute->numbers[i] < 0 || attribute->numbers[i] > most)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s: line %llu: field %s: %g is not between 0 and %g", file->path,
			                 (unsigned long long)user_file_line(file, source->table.places[i]),
			                 attribute->name, attribute->numbers[i], most);
	return 0;
}

static double
highest_of(const struct attribute *attribute, size_t n)
{
	double most = 0;

	for (size_t i = 0; attribute && i < n; i++)
		most = attribute->numbers[i] > most ? attribute->numbers[i] : most;
	return most;
}

/* Makes a share of a count. */
static int
scale_correctness(struct map_source *source, const struct user_file *file, struct portolan_error *error)
{
	struct attribute *correctness = find_attribute(&source->table, "correctness");
	const struct attribute *epochs = find_attribute(&source->table, "epochs");
	size_t n = source->table.rows;
	double most, count;

	source->input.epochs = MAP_LEVELS_MAX;
	if (!correctness)
		return 0;
	most = highest_of(correctness, n);
	count = epochs ? highest_of(epochs, n) : map_source_grid(correctness->numbers, n) > 0 && most > 1 ? most : 0;
	if (check_range(source, file, correctness, fmax(1, count), error) < 0)
		return PORTOLAN_E_INVALID;
	if (count > 0)
		source->input.epochs = (size_t)count;
	for (size_t i = 0; i < n && most > 1; i++)
		correctness->numbers[i] /= count;
	return 0;
}

static void
take_attribute(struct map_source *source, const char *name, struct map_column *column)
{
	const struct attribute *attribute = find_attribute(&source->table, name);

	*column = (struct map_column){
	        .name = attribute->name,
	        .values = attribute->numbers,
	        .kind = map_source_kind(name),
	        .grid = map_source_kind(name) != MAP_ANY ? 0 : map_source_grid(attribute->numbers, source->table.rows),
	};
	if (map_source_is_correctness(name) && source->input.epochs != MAP_LEVELS_MAX &&
	    source->input.epochs <= MAP_SOURCE_GRID_MOST)
		column->grid = 1 / (double)source->input.epochs;
}

static int
check_columns(const struct map_source *source, const struct user_file *file, const char *const *options,
              struct portolan_error *error)
{
	int code = 0;

	for (size_t a = 0; a < source->table.count && code >= 0; a++) {
		const struct attribute *attribute = &source->table.list[a];

		if (attribute->kind == ATTRIBUTE_CATEGORY &&
		    (strcmp(options[a], "--colour") != 0 || map_source_is_correctness(attribute->name)))
			code = map_source_refuse_text(file, attribute, options[a], error);
		else if (attribute->kind == ATTRIBUTE_NUMBER && map_source_kind(attribute->name) != MAP_ANY &&
		         !map_source_is_correctness(attribute->name))
			code = check_range(source, file, attribute, 1, error);
	}
	return code;
}

static int
order_by_id(struct map_source *source, struct portolan_error *error)
{
	source->ids = &source->table_ids;
	source->count = source->table.rows;
	source->order = array_new(source->count, sizeof(*source->order), "examples in order", error);
	if (!source->order)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < source->count; i++)
		source->order[i] = (uint32_t)i;
	return ids_sort(source->ids, source->order, source->count, error);
}

static int
fill_from_file(struct map_source *source, const struct user_file *file, const struct map_source_request *request,
               const char *const *options, struct portolan_error *error)
{
	struct map_input *input = &source->input;
	int code = check_columns(source, file, options, error);

	if (code >= 0)
		code = scale_correctness(source, file, error);
	if (code >= 0)
		code = order_by_id(source, error);
	if (code < 0)
		return code;
	take_attribute(source, request->x, &input->x);
	take_attribute(source, request->y, &input->y);
	input->colouring = map_source_colouring(request);
	input->regions = map_source_is_data_map(request);
	if (request->highlight)
		return map_source_read_highlight(source, request, error);
	if (request->colour_file)
		return map_source_read_colour(source, request, error);
	if (input->colouring == MAP_BY_VALUE &&
	    find_attribute(&source->table, request->colour)->kind == ATTRIBUTE_CATEGORY)
		return map_source_take_categories(source, find_attribute(&source->table, request->colour), NULL, error);
	if (input->colouring == MAP_BY_VALUE)
		take_attribute(source, request->colour, &input->colour);
	else if (input->colouring == MAP_BY_CORRECTNESS && find_attribute(&source->table, "correctness"))
		take_attribute(source, "correctness", &input->colour);
	else
		input->colouring = MAP_PLAIN;
	return 0;
}

/* The columns that are needed, and those that help where the file has them; each once. */
static int
read_table(struct map_source *source, const struct user_file *file, const struct map_source_request *request,
           struct portolan_error *error)
{
	const char *names[5] = {request->x}, *options[5] = {"--x"};
	const char *more[] = {request->y, request->colour_file ? NULL : request->colour, "correctness", "epochs"};
	const char *more_options[] = {"--y", "--colour", "--from", "--from"};
	struct attributes_request wanted = {.file = file, .names = names, .options = options, .count = 1};
	int code;

	for (size_t i = 0; i < 4; i++) {
		bool is_there = !more[i] || (i > 1 && !fields_has(file, more[i]));

		for (size_t k = 0; k < wanted.count && !is_there; k++)
			is_there = strcmp(names[k], more[i]) == 0;
		if (is_there)
			continue;
		names[wanted.count] = more[i];
		options[wanted.count++] = more_options[i];
	}
	wanted.id_field = map_source_id_field(file, request->id_field);
	code = attributes_read_all(&source->table, &wanted, &source->table_ids, error);
	return code < 0 ? code : fill_from_file(source, file, request, options, error);
}

int
map_source_file(struct map_source *source, const char *path, const struct map_source_request *request,
                struct portolan_error *error)
{
	const char *slash = strrchr(path, '/');
	struct user_file file;
	int code;

	*source = (struct map_source){.given_cuts = request->cuts};
	snprintf(source->name, sizeof(source->name), "%s",
	         strcmp(path, "-") == 0 ? "examples"
	         : slash                ? slash + 1
	                                : path);
	code = user_file_open(&file, "--from", path, error);
	if (code < 0)
		return code;
	if (map_source_has_cells(&file)) {
		code = map_source_read_cells(source, &file, request, error);
	} else {
		code = read_table(source, &file, request, error);
		if (code >= 0)
			code = map_source_list_drawn(source, error);
	}
	user_file_close(&file);
	if (code < 0)
		map_source_free(source);
	return code;
}
