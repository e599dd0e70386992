/* categories.c: see categories.h. */
#include "categories.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

static void
take_labels(struct categories *categories)
{
	const struct dynamics *dynamics = &categories->view->dynamics;

	for (size_t i = 0; i < dynamics->count; i++) {
		int32_t gold = dynamics->gold ? dynamics->gold[dynamics->order[i]] : -1;

		categories->numbers[i] = gold;
		if (gold >= 0 && (size_t)gold >= categories->known)
			categories->known = (size_t)gold + 1;
	}
}

static void
take_column(struct categories *categories, const struct texts *texts)
{
	const struct dynamics *dynamics = &categories->view->dynamics;

	for (size_t i = 0; i < dynamics->count; i++) {
		size_t record = texts_find(texts, &dynamics->ids, dynamics->order[i]);

		categories->numbers[i] = record == TEXTS_NONE ? -1 : categories->column->categories[record];
	}
	categories->known = categories->column->names.count;
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
	if (gold)
		take_labels(categories);
	else
		take_column(categories, texts);
	return 1;
}

void
categories_free(struct categories *categories)
{
	free(categories->numbers);
	categories->numbers = NULL;
}

void
categories_report(struct report *report, const struct categories *categories, size_t number)
{
	const char *label;
	char digits[24];
	size_t length;

	if (categories->column) {
		report_text(report, "label", names_text(&categories->column->names, (uint32_t)number, &length));
		report_null(report, "value");
		return;
	}
	label = store_snapshot_label(categories->view->dynamics.snapshot, number);
	snprintf(digits, sizeof(digits), "%zu", number);
	report_text(report, "label", label ? label : digits);
	report_whole(report, "value", number);
}
