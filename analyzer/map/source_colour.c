/* source_colour.c: the colours of a map's examples from a user's file; see source.h. */
#include "source_parts.h"

#include "base/arrays.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
map_source_id_field(const struct user_file *file, const char *asked)
{
	return asked ? asked : fields_has(file, "guid") ? "guid" : "id";
}

int
map_source_refuse_text(const struct user_file *file, const struct attribute *attribute, const char *option,
                       struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu: field %s: '%s' is no number (%s needs numbers)",
	                 file->path, (unsigned long long)attribute->text_line, attribute->name, attribute->text,
	                 option);
}

/* Whole numbers lie on a grid. */
double
map_source_grid(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]) && values[i] != floor(values[i]))
			return 0;
	return 1;
}

/* By index, from a column by position. */
static int
take_colour(struct map_source *source, const struct attribute *attribute, size_t rows, struct portolan_error *error)
{
	source->colour_values = array_new(rows, sizeof(double), attribute->name, error);
	if (!source->colour_values)
		return PORTOLAN_E_MEMORY;
	source->colour_name = strdup(attribute->name);
	if (!source->colour_name)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < rows; i++)
		source->colour_values[i] = NAN;
	for (size_t i = 0; i < source->count; i++)
		source->colour_values[source->order[i]] = attribute->numbers[i];
	source->input.colour = (struct map_column){
	        .name = source->colour_name,
	        .values = source->colour_values,
	        .grid = map_source_grid(attribute->numbers, source->count),
	};
	return 0;
}

static int
read_colour_column(struct map_source *source, const struct user_file *file, const struct map_source_request *request,
                   struct portolan_error *error)
{
	static const char *const option = "--colour";
	const struct attributes_request wanted = {
	        .file = file,
	        .id_field = map_source_id_field(file, request->id_field),
	        .names = &request->colour,
	        .options = &option,
	        .count = 1,
	};
	struct attributes attributes;
	int code = attributes_read(&attributes, &wanted, source->ids, source->order, source->count, error);

	if (code < 0)
		return code;
	source->colour_unknown = attributes.unknown;
	source->colour_unmatched = attributes.unmatched;
	join_warn(&attributes.oddities, file->path, wanted.id_field);
	if (attributes.unmatched == source->count && attributes.oddities.odd[0])
		code = error_set(
		        error, PORTOLAN_E_INVALID,
		        "none of the %llu records of %s is of an example: field %s has '%s', and the ids of %s are "
		        "whole numbers",
		        (unsigned long long)attributes.records, file->path, wanted.id_field, attributes.oddities.odd,
		        source->name);
	else if (attributes.unmatched == source->count)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "none of the %llu records of %s is of an example of %s (see --id-field)",
		                 (unsigned long long)attributes.records, file->path, source->name);
	else if (attributes.list[0].kind == ATTRIBUTE_CATEGORY)
		code = map_source_take_categories(source, &attributes.list[0], source->order, error);
	else
		code = take_colour(source, &attributes.list[0], source->ids->rows, error);
	attributes_free(&attributes);
	return code;
}

int
map_source_read_colour(struct map_source *source, const struct map_source_request *request,
                       struct portolan_error *error)
{
	struct user_file file;
	int code;

	if (!request->colour_file)
		return 0;
	code = user_file_open(&file, "--data", request->colour_file, error);
	if (code < 0)
		return code;
	if (request->glue)
		user_file_read_as_glue(&file, map_source_id_field(&file, request->id_field));
	code = read_colour_column(source, &file, request, error);
	user_file_close(&file);
	return code;
}
