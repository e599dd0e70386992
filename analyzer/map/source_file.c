/* source_file.c: for `map --from`: reads a file of coordinates as the source of a map: the columns that the axes and
 * colours name. Correctness may stand in the file as a count of epochs, and becomes a share of them. */
#include "source.h"

#include "die/die.h"
#include "die/memory.h"

#include <math.h>
#include <string.h>

#define READ_MOST 5 /* columns that are read: x, y, the colour, correctness, epochs */

static struct attribute *
map_source_attribute(struct attributes *attributes, const char *name)
{
	for (size_t a = 0; a < attributes->count; a++)
		if (strcmp(attributes->list[a].name, name) == 0)
			return &attributes->list[a];
	return NULL;
}

/* Refuses a column with a value that is not between 0 and `most`. */
static void
map_source_check_range(const struct map_source *source, const struct user_file *file, const struct attribute *attribute,
                       double most)
{
	for (size_t i = 0; i < source->table.rows; i++)
		if (attribute->numbers[i] < 0 || attribute->numbers[i] > most)
			die("%s: line %llu: field %s: %g is not between 0 and %g", file->path,
			    (unsigned long long)user_file_line(file, source->table.places[i]), attribute->name,
			    attribute->numbers[i], most);
}

static double
map_source_highest(const struct attribute *attribute, size_t n)
{
	double most = 0;

	for (size_t i = 0; attribute && i < n; i++)
		most = attribute->numbers[i] > most ? attribute->numbers[i] : most;
	return most;
}

/* Turns correctness into a share, if the file has it as a count of epochs. */
static void
map_source_scale_correctness(struct map_source *source, const struct user_file *file)
{
	struct attribute *correctness = map_source_attribute(&source->table, "correctness");
	const struct attribute *epochs = map_source_attribute(&source->table, "epochs");
	size_t n = source->table.rows;
	double most, count;

	source->input.epochs = MAP_LEVELS_MAX;
	if (!correctness)
		return;
	most = map_source_highest(correctness, n);
	count = epochs                                                     ? map_source_highest(epochs, n)
	        : map_source_grid(correctness->numbers, n) > 0 && most > 1 ? most
	                                                                   : 0;
	map_source_check_range(source, file, correctness, fmax(1, count));
	if (count > 0)
		source->input.epochs = (size_t)count;
	for (size_t i = 0; i < n && most > 1; i++)
		correctness->numbers[i] /= count;
}

static void
map_source_take_attribute(struct map_source *source, const char *name, struct map_column *column)
{
	const struct attribute *attribute = map_source_attribute(&source->table, name);

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

static void
map_source_check_columns(const struct map_source *source, const struct user_file *file, const char *const *options)
{
	for (size_t a = 0; a < source->table.count; a++) {
		const struct attribute *attribute = &source->table.list[a];

		if (attribute->kind == ATTRIBUTE_CATEGORY &&
		    (strcmp(options[a], "--colour") != 0 || map_source_is_correctness(attribute->name)))
			die("%s: line %llu: field %s: '%s' is no number (%s needs numbers)", file->path,
			    (unsigned long long)attribute->text_line, attribute->name, attribute->text, options[a]);
		if (attribute->kind == ATTRIBUTE_NUMBER && map_source_kind(attribute->name) != MAP_ANY &&
		    !map_source_is_correctness(attribute->name))
			map_source_check_range(source, file, attribute, 1);
	}
}

static void
map_source_order_by_id(struct map_source *source)
{
	source->ids = &source->table_ids;
	source->count = source->table.rows;
	source->order = memory_array(source->count, sizeof(*source->order), "examples in order");
	for (size_t i = 0; i < source->count; i++)
		source->order[i] = (uint32_t)i;
	must(ids_sort(source->ids, source->order, source->count, &failure));
}

/* Colours the examples by a column of the table; or by none, if that is correctness and the file has none. */
static void
map_source_colour_by_column(struct map_source *source, const char *name)
{
	struct attribute *colour = map_source_attribute(&source->table, name);

	if (!colour)
		source->input.colouring = MAP_PLAIN;
	else if (colour->kind == ATTRIBUTE_CATEGORY)
		map_source_take_categories(source, colour, NULL);
	else
		map_source_take_attribute(source, colour->name, &source->input.colour);
}

/* Takes the coordinates and the colours from the columns that were read. */
static void
map_source_take_table(struct map_source *source, const struct map_source_request *request)
{
	struct map_input *input = &source->input;

	map_source_take_attribute(source, request->x, &input->x);
	map_source_take_attribute(source, request->y, &input->y);
	if (request->highlight)
		map_source_read_highlight(source, request);
	else if (request->colour_file)
		map_source_read_colour(source, request);
	else if (input->colouring != MAP_PLAIN)
		map_source_colour_by_column(source, request->colour ? request->colour : "correctness");
}

/* Reads the columns that are needed, each once; and also correctness and epochs, if the file has them. */
static void
map_source_read_table(struct map_source *source, const struct user_file *file, const struct map_source_request *request)
{
	const struct {
		const char *name, *option;
	} columns[READ_MOST] = {{request->x, "--x"},
	                        {request->y, "--y"},
	                        {request->colour_file ? NULL : request->colour, "--colour"},
	                        {fields_has(file, "correctness") ? "correctness" : NULL, "--from"},
	                        {fields_has(file, "epochs") ? "epochs" : NULL, "--from"}};
	const char *names[READ_MOST], *options[READ_MOST];
	struct attributes_request wanted = {.file = file, .names = names, .options = options};

	for (size_t i = 0; i < READ_MOST; i++) {
		bool is_there = !columns[i].name;

		for (size_t k = 0; k < wanted.count && !is_there; k++)
			is_there = strcmp(names[k], columns[i].name) == 0;
		if (is_there)
			continue;
		names[wanted.count] = columns[i].name;
		options[wanted.count++] = columns[i].option;
	}
	wanted.id_field = map_source_id_field(file, request->id_field);
	must(attributes_read_all(&source->table, &wanted, &source->table_ids, &failure));
	map_source_check_columns(source, file, options);
	map_source_scale_correctness(source, file);
	map_source_order_by_id(source);
	map_source_take_table(source, request);
	map_source_list_drawn(source);
}

void
map_source_file(struct map_source *source, const char *path, const struct map_source_request *request)
{
	CLEANUP(user_file_close) struct user_file file = {0};

	must(user_file_open(&file, "--from", path, &failure));
	*source = (struct map_source){0};
	map_source_begin(source, request);
	snprintf(source->name, sizeof(source->name), "%s", map_source_file_name(path, "examples"));
	if (map_source_has_cells(&file))
		must(map_source_read_cells(source, &file, request, &failure));
	else
		map_source_read_table(source, &file, request);
}
