/* categories.c: finds the category of each example for the live page: a number for its gold label, or for its value in
 * a column of the user's file. */
#include "categories.h"

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

void
categories_report(struct report *report, const struct categories *categories, size_t number)
{
	const struct classes *classes = &categories->classes;
	const char *label;
	char digits[24];
	uint64_t value;
	size_t length;

	if (categories->column) {
		report_text(report, "label", names_text(&categories->column->names, (uint32_t)number, &length));
		report_null(report, "value");
		return;
	}
	value = (uint64_t)classes->labels[classes->count - categories->known + number];
	label = store_snapshot_label(categories->view->dynamics.snapshot, value);
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	report_text(report, "label", label ? label : digits);
	report_whole(report, "value", value);
}
