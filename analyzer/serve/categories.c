/* categories.c: finds the category of each example for the live page: a number for its gold label, or for its value in
 * a column of the user's file. */
#include "categories.h"

#include "base/number.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* A label may be any number below 2^31. So a category's number is not the label, but its rank among the labels that
 * occur. */
static int
categories_take_labels(struct categories *categories, struct portolan_error *error)
{
	const struct dynamics *dynamics = &categories->view->dynamics;
	struct classes *classes = &categories->classes;
	size_t without;
	int code;

	for (size_t i = 0; i < dynamics->count; i++)
		categories->numbers[i] = -1;
	if (!dynamics->gold || dynamics->count == 0)
		return 0;
	code = classes_make(classes, dynamics->gold, dynamics->order, dynamics->count, error);
	if (code < 0)
		return code;
	without = classes->labels[0] < 0; /* the first class is then that of the examples without a label */
	for (size_t i = 0; i < dynamics->count; i++)
		categories->numbers[i] =
		        (int32_t)classes_find(classes, dynamics->gold[dynamics->order[i]]) - (int32_t)without;
	categories->known = classes->count - without;
	return 0;
}

static int
categories_take_column(struct categories *categories, struct texts *texts, struct portolan_error *error)
{
	const struct dynamics *dynamics = &categories->view->dynamics;
	const uint32_t *records = view_records(categories->view, texts);

	if (!records)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t record = records[dynamics->order[i]];

		categories->numbers[i] = record == TEXTS_NO_RECORD ? -1 : categories->column->categories[record];
	}
	categories->known = categories->column->names.count;
	return 0;
}

int
categories_make(struct categories *categories, const struct view *view, struct texts *texts, const char *name,
                const struct attribute **column, struct portolan_error *error)
{
	bool gold = strcmp(name, "gold") == 0;
	int code = 0;

	*column = NULL;
	*categories = (struct categories){.view = view};
	if (!gold && strncmp(name, "data:", 5) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "categories are gold or data:COLUMN, not '%.100s'", name);
	if (!gold && !texts)
		return error_set(error, PORTOLAN_E_INVALID, "the server has no --data, so no column '%.100s'",
		                 name + 5);
	if (!gold)
		code = texts_column(texts, name + 5, column, error);
	if (code < 0 || (*column && (*column)->kind == ATTRIBUTE_NUMBER))
		return code;
	categories->column = *column;
	categories->numbers = malloc((view->dynamics.count + 1) * sizeof(*categories->numbers));
	if (!categories->numbers)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	code = gold ? categories_take_labels(categories, error) : categories_take_column(categories, texts, error);
	if (code < 0)
		categories_free(categories);
	return code < 0 ? code : 1;
}

void
categories_free(struct categories *categories)
{
	free(categories->numbers);
	classes_free(&categories->classes);
	categories->numbers = NULL;
}

/* The class of the gold label that is category `number`. */
static int32_t
categories_class(const struct categories *categories, size_t number)
{
	const struct classes *classes = &categories->classes;

	return classes->labels[classes->count - categories->known + number];
}

double *
categories_values(const struct categories *categories)
{
	double *values = malloc((categories->known + 1) * sizeof(*values));
	const uint32_t *ranks = categories->column ? categories->column->ranks : NULL;

	for (size_t k = 0; values && k < categories->known; k++)
		values[k] = ranks ? (double)ranks[k] : (double)categories_class(categories, k);
	return values;
}

/* Finds the class with this name, or with this number if it has no name. */
static bool
categories_find_class(const struct dynamics *dynamics, const char *label, uint64_t *class)
{
	for (uint64_t l = 0; l < dynamics->info->label_count; l++) {
		const char *name = store_snapshot_label(dynamics->snapshot, l);

		if (name && strcmp(name, label) == 0) {
			*class = l;
			return true;
		}
	}
	return number_parse_u64(label, strlen(label), class) && *class <= INT32_MAX &&
	       !store_snapshot_label(dynamics->snapshot, *class);
}

int
categories_find(const struct categories *categories, const char *label, size_t *number, int64_t *value,
                struct portolan_error *error)
{
	const struct dynamics *dynamics = &categories->view->dynamics;
	uint64_t class;

	*number = SIZE_MAX;
	*value = -1;
	if (categories->column) {
		uint32_t name = names_find(&categories->column->names, label, strlen(label));

		if (name == NAMES_NONE)
			return error_set(error, PORTOLAN_E_INVALID, "column '%.100s' has no value '%.100s'",
			                 categories->column->name, label);
		*number = name;
		return 0;
	}
	if (!categories_find_class(dynamics, label, &class))
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no class '%.100s'", dynamics->info->name,
		                 label);
	*value = (int64_t) class;
	for (size_t k = 0; k < categories->known; k++)
		if (categories_class(categories, k) == *value)
			*number = k;
	return 0;
}

void
categories_report_label(struct report *report, const struct categories *categories, size_t number)
{
	const char *label;
	char digits[24];
	size_t length;

	if (categories->column) {
		report_text(report, "label", names_text(&categories->column->names, (uint32_t)number, &length));
		return;
	}
	label = store_snapshot_label(categories->view->dynamics.snapshot,
	                             (uint64_t)categories_class(categories, number));
	snprintf(digits, sizeof(digits), "%d", categories_class(categories, number));
	report_text(report, "label", label ? label : digits);
}

void
categories_report(struct report *report, const struct categories *categories, size_t number)
{
	categories_report_label(report, categories, number);
	if (categories->column)
		report_null(report, "value");
	else
		report_whole(report, "value", (uint64_t)categories_class(categories, number));
}
