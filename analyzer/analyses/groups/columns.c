/*
 * columns.c: reads the attributes of examples from a user's file, for `portolan groups --data`, and computes further
 * columns from its texts.
 *
 * Texts are read as categories. So a text that the file repeats (a premise with several hypotheses) is in memory once.
 */
#include "columns.h"

#include "die/die.h"
#include "die/memory.h"
#include "words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(COLUMNS_MAX + 3 <= FIELDS_MAX, "all columns, a pair of texts and the id are read at once");

void
columns_free(struct columns *columns)
{
	names_free(&columns->listed);
	for (size_t i = 0; i < 3; i++)
		array_free(columns->made[i]);
	attributes_free(&columns->attributes);
	user_file_close(&columns->file);
	*columns = (struct columns){0};
}

/* Lists all columns of the file except the ids; returns how many. */
static size_t
columns_list_all(struct columns *columns, const char *id_field, const char *names[COLUMNS_MAX])
{
	size_t count = 0, length;

	must(fields_list(&columns->file, true, &columns->listed, &failure));
	for (uint32_t n = 0; n < columns->listed.count; n++) {
		const char *name = names_text(&columns->listed, n, &length);

		if (strcmp(name, id_field) == 0)
			continue;
		if (count == COLUMNS_MAX)
			die("%s has more than %d columns: choose those to be summarised with --columns",
			    columns->file.path, COLUMNS_MAX);
		names[count++] = name;
	}
	return count;
}

/* Reads the requested columns, or all; returns how many. If there is a pair of texts, their columns follow and are not
 * counted. */
static size_t
columns_read_attributes(struct columns *columns, const struct columns_request *request, const struct dynamics *dynamics)
{
	const char *names[COLUMNS_MAX + 2], *options[COLUMNS_MAX + 2];
	struct attributes_request wanted = {
	        .file = &columns->file, .id_field = request->id_field, .names = names, .options = options};
	bool all = request->name_count == 0 && !request->texts[0];
	size_t plain = all ? columns_list_all(columns, request->id_field, names) : request->name_count;

	for (; wanted.count < plain; wanted.count++) {
		if (!all)
			names[wanted.count] = request->names[wanted.count];
		options[wanted.count] = all ? "its first line" : "--columns";
	}
	for (int t = 0; t < 2 && request->texts[0]; t++) {
		names[wanted.count] = request->texts[t];
		options[wanted.count++] = "--text-pair";
	}
	must(attributes_read(&columns->attributes, &wanted, &dynamics->ids, dynamics->order, dynamics->count,
	                     &failure));
	return plain;
}

/* Takes the first `plain` attributes as columns. A column with too many categories is left out, unless it was asked for
 * by name. */
static void
columns_take_attributes(struct columns *columns, size_t plain, bool by_name)
{
	for (size_t a = 0; a < plain; a++) {
		const struct attribute *attribute = &columns->attributes.list[a];
		size_t used = strlen(columns->passed_over);

		if (!by_name && attribute->kind == ATTRIBUTE_CATEGORY &&
		    attribute->names.count > COLUMNS_CATEGORIES_MAX)
			snprintf(columns->passed_over + used, sizeof(columns->passed_over) - used, "%s%s",
			         used ? ", " : "", attribute->name);
		else
			columns->list[columns->count++] = (struct summary_column){.name = attribute->name,
			                                                          .numbers = attribute->numbers,
			                                                          .categories = attribute->categories,
			                                                          .names = &attribute->names};
	}
}

/* Adds a column of numbers without values. Its name is that of columns->made_names[number]. */
static double *
columns_make(struct columns *columns, size_t number)
{
	columns->made[number] = memory_array(columns->attributes.rows, sizeof(double), "values of a column");
	columns->list[columns->count++] =
	        (struct summary_column){.name = columns->made_names[number], .numbers = columns->made[number]};
	return columns->made[number];
}

/* The text of the example at a position; NULL: it has none. */
static const char *
columns_text(const struct attribute *attribute, size_t position)
{
	int32_t name = attribute->categories[position];
	size_t length;

	return name < 0 ? NULL : names_text(&attribute->names, (uint32_t)name, &length);
}

static void
columns_fill_overlap(const struct attribute texts[2], size_t rows, double *values)
{
	CLEANUP(words_free) struct words first = {0}, second = {0};

	for (size_t i = 0; i < rows; i++) {
		const char *a = columns_text(&texts[0], i), *b = columns_text(&texts[1], i);

		values[i] = NAN;
		if (!a || !b)
			continue;
		words_take(&first, a);
		words_take(&second, b);
		values[i] = words_overlap(&first, &second);
	}
}

static void
columns_fill_presence(const struct attribute *text, const char *list, size_t rows, double *values)
{
	CLEANUP(words_free) struct words wanted = {0}, words = {0};

	words_take(&wanted, list);
	for (size_t i = 0; i < rows; i++) {
		const char *at = columns_text(text, i);

		values[i] = NAN;
		if (!at)
			continue;
		words_take(&words, at);
		values[i] = words_share(&words, &wanted);
	}
}

/* Computes columns from the two texts, which are the attributes `texts`. */
static void
columns_derive(struct columns *columns, const char *words, const struct attribute texts[2])
{
	size_t rows = columns->attributes.rows;

	for (int t = 0; t < 2; t++)
		if (texts[t].kind != ATTRIBUTE_CATEGORY)
			die("%s: field %s holds numbers, no texts: see --text-pair", columns->file.path, texts[t].name);
	snprintf(columns->made_names[0], sizeof(columns->made_names[0]), "word_overlap");
	columns_fill_overlap(texts, rows, columns_make(columns, 0));
	for (size_t t = 0; t < 2 && words; t++) {
		snprintf(columns->made_names[1 + t], sizeof(columns->made_names[1 + t]), "words_in_%s", texts[t].name);
		columns_fill_presence(&texts[t], words, rows, columns_make(columns, 1 + t));
	}
}

void
columns_read(struct columns *columns, const struct columns_request *request, const struct dynamics *dynamics)
{
	const char *odd = columns->attributes.oddities.odd;
	size_t plain;

	must(user_file_open(&columns->file, "--data", request->path, &failure));
	if (request->glue)
		user_file_read_as_glue(&columns->file, request->id_field);
	plain = columns_read_attributes(columns, request, dynamics);
	columns_take_attributes(columns, plain, request->name_count > 0);
	if (request->texts[0])
		columns_derive(columns, request->words, &columns->attributes.list[plain]);
	if (columns->attributes.unmatched == dynamics->count)
		die("%s has no record of an example of the run: is '%s' the field of its ids?%s%s%s", request->path,
		    request->id_field, odd[0] ? " The run's are integers, and in the file there is '" : "", odd,
		    odd[0] ? "'" : "");
	if (columns->count == 0)
		die("%s has nothing to summarise beside the ids%s%s", request->path,
		    columns->passed_over[0] ? "; with too many categories: " : "", columns->passed_over);
}
