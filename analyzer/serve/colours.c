/* colours.c: chooses the colour of each point on the live page, one byte for each example: the rank of its category
 * among the largest ones, or the value of its measure, scaled. Also writes the legend. */
#include "colours.h"

#include "base/cleanup.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct colour_count {
	size_t number; /* of the category */
	uint64_t count;
};

static int
colours_compare_counts(const void *a, const void *b)
{
	const struct colour_count *first = a, *second = b;

	if (first->count != second->count)
		return first->count > second->count ? -1 : 1;
	return first->number < second->number ? -1 : 1;
}

/* Counts the examples of each category. NULL: out of memory. */
static struct colour_count *
colours_count(const struct categories *categories, size_t n)
{
	struct colour_count *counts = calloc(categories->known + 1, sizeof(*counts));

	if (!counts)
		return NULL;
	for (size_t k = 0; k < categories->known; k++)
		counts[k].number = k;
	for (size_t i = 0; i < n; i++)
		if (categories->numbers[i] >= 0)
			counts[categories->numbers[i]].count++;
	qsort(counts, categories->known, sizeof(*counts), colours_compare_counts);
	return counts;
}

static int
colours_by_categories(struct colours *colours, struct portolan_error *error)
{
	const struct categories *categories = &colours->categories;
	size_t n = categories->view->dynamics.count;
	CLEANUP_FREE unsigned char *ranks = malloc(categories->known + 1);

	colours->are_categories = true;
	colours->counts = colours_count(categories, n);
	if (!ranks || !colours->counts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t r = 0; r < categories->known; r++)
		ranks[colours->counts[r].number] = (unsigned char)(r < COLOURS_MAX ? r : COLOURS_MAX);
	for (size_t i = 0; i < n; i++)
		colours->bytes[i] = categories->numbers[i] < 0 ? COLOUR_NONE : ranks[categories->numbers[i]];
	return 0;
}

/* Colours each example by its value; `values` is by dense index. Sets colours->low and high, their extent. */
static void
colours_by_numbers(struct colours *colours, const struct dynamics *dynamics, const double *values)
{
	colours->are_numbers = true;
	for (size_t i = 0; i < dynamics->count; i++) {
		double value = values[dynamics->order[i]];

		colours->bytes[i] = (unsigned char)(isnan(value) ? COLOUR_NONE
		                                                 : colours_scale(value, colours->low, colours->high,
		                                                                 COLOUR_NONE - 1));
	}
}

static int
colours_by_measure(struct colours *colours, const struct view *view, const char *name, struct portolan_error *error)
{
	const struct dynamics *dynamics = &view->dynamics;
	const struct dynamics_column *column = dynamics_column(dynamics, name);
	size_t c = column ? (size_t)(column - dynamics->columns) : 0;

	if (!column)
		return error_set(error, PORTOLAN_E_INVALID, "the run has no measure '%.100s'", name);
	colours->low = view->extents[c].low;
	colours->high = view->extents[c].high;
	colours_by_numbers(colours, dynamics, column->values);
	return 0;
}

/* Colours the examples by a column of numbers in the user's file. */
static int
colours_by_column(struct colours *colours, const struct attribute *column, const struct view *view,
                  const struct texts *texts, struct portolan_error *error)
{
	CLEANUP_FREE double *values = view_numbers(view, texts, column);

	if (!values)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	view_extent(&view->dynamics, values, &colours->low, &colours->high);
	colours_by_numbers(colours, &view->dynamics, values);
	return 0;
}

/* Colours the examples by their gold labels, or by a column of the user's file. */
static int
colours_by_name(struct colours *colours, const struct view *view, struct texts *texts, const char *name,
                struct portolan_error *error)
{
	const struct attribute *column;
	int code = categories_make(&colours->categories, view, texts, name, &column, error);

	if (code < 0)
		return code;
	return code > 0 ? colours_by_categories(colours, error)
	                : colours_by_column(colours, column, view, texts, error);
}

int
colours_make(struct colours *colours, const struct view *view, struct texts *texts, const char *name,
             struct portolan_error *error)
{
	int code = 0;

	*colours = (struct colours){.bytes = malloc(view->dynamics.count + 1)};
	if (!colours->bytes)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (!name || strcmp(name, "none") == 0)
		memset(colours->bytes, COLOUR_NONE, view->dynamics.count);
	else if (strcmp(name, "gold") == 0 || strncmp(name, "data:", 5) == 0)
		code = colours_by_name(colours, view, texts, name, error);
	else
		code = colours_by_measure(colours, view, name, error);
	if (code < 0) {
		colours_free(colours);
		return code;
	}
	for (size_t i = 0; i < view->dynamics.count; i++)
		colours->without += colours->bytes[i] == COLOUR_NONE;
	return 0;
}

void
colours_free(struct colours *colours)
{
	free(colours->bytes);
	free(colours->counts);
	categories_free(&colours->categories);
	*colours = (struct colours){0};
}

static void
colours_report_values(struct report *report, const struct colours *colours)
{
	const struct categories *categories = &colours->categories;
	uint64_t others = 0;

	report_begin_list(report, "values");
	for (size_t r = 0; r < categories->known && colours->counts[r].count > 0; r++) {
		if (r >= COLOURS_MAX) {
			others += colours->counts[r].count;
			continue;
		}
		report_begin(report, NULL);
		categories_report(report, categories, colours->counts[r].number);
		report_whole(report, "count", colours->counts[r].count);
		report_end(report);
	}
	if (others > 0) {
		report_begin(report, NULL);
		report_text(report, "label", "other");
		report_null(report, "value");
		report_whole(report, "count", others);
		report_end(report);
	}
	report_end(report);
}

void
colours_report(struct report *report, const char *key, const struct colours *colours, const char *name)
{
	if (!colours->are_categories && !colours->are_numbers) {
		report_null(report, key);
		return;
	}
	report_begin(report, key);
	report_text(report, "name", name);
	report_text(report, "kind", colours->are_categories ? "category" : "number");
	report_whole(report, "none", colours->without);
	if (colours->are_categories) {
		colours_report_values(report, colours);
	} else {
		report_real(report, "low", colours->low);
		report_real(report, "high", colours->high);
	}
	report_end(report);
}
