/* axis_answer.c: answers GET api/axis: what the live page must know of a measure, of the gold labels or of a column of
 * the user's file to make an axis of it. */
#include "answers.h"
#include "axes.h"

#include "base/cleanup.h"

#include <portolan/error.h>

#include <stdlib.h>

#define VALUES_MAX 2000 /* at most so many categories are listed: the largest */

/* A category that occurs. */
struct axis_value {
	size_t number;
	double value;
	uint64_t count;
};

static int
axis_compare_counts(const void *a, const void *b)
{
	const struct axis_value *first = a, *second = b;

	if (first->count != second->count)
		return first->count > second->count ? -1 : 1;
	return (first->value > second->value) - (first->value < second->value);
}

static int
axis_compare_values(const void *a, const void *b)
{
	const struct axis_value *first = a, *second = b;

	return (first->value > second->value) - (first->value < second->value);
}

/* Lists the categories that occur, by ascending value: all of them, or the largest VALUES_MAX. *count: how many occur.
 * The caller's to free(). NULL: out of memory. */
static struct axis_value *
axis_list_values(const struct categories *categories, size_t *count)
{
	CLEANUP_FREE double *values = categories_values(categories);
	struct axis_value *list = calloc(categories->known + 1, sizeof(*list));
	size_t n = 0;

	if (!values || !list) {
		free(list);
		return NULL;
	}
	for (size_t k = 0; k < categories->known; k++)
		list[k] = (struct axis_value){.number = k, .value = values[k]};
	for (size_t i = 0; i < categories->view->dynamics.count; i++)
		if (categories->numbers[i] >= 0)
			list[categories->numbers[i]].count++;
	for (size_t k = 0; k < categories->known; k++)
		if (list[k].count > 0)
			list[n++] = list[k];
	*count = n;
	if (n > VALUES_MAX)
		qsort(list, n, sizeof(*list), axis_compare_counts);
	qsort(list, n < VALUES_MAX ? n : VALUES_MAX, sizeof(*list), axis_compare_values);
	return list;
}

static int
axis_report_values(struct report *report, const struct categories *categories, struct portolan_error *error)
{
	size_t count = 0;
	CLEANUP_FREE struct axis_value *list = axis_list_values(categories, &count);
	size_t listed = count < VALUES_MAX ? count : VALUES_MAX;

	if (!list)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	report_begin_list(report, "values");
	for (size_t v = 0; v < listed; v++) {
		report_begin(report, NULL);
		categories_report_label(report, categories, list[v].number);
		report_whole(report, "value", (uint64_t)list[v].value);
		report_whole(report, "count", list[v].count);
		report_end(report);
	}
	report_end(report);
	report_whole(report, "more", count - listed);
	return 0;
}

static uint64_t
axis_count_without(const struct axis *axis, const struct dynamics *dynamics)
{
	uint64_t without = 0;

	for (size_t i = 0; i < dynamics->count; i++)
		without += isnan(axis->values[dynamics->order[i]]);
	return without;
}

static int
axis_report(struct report *report, const struct axis *axis, const struct view *view, const char *name,
            struct portolan_error *error)
{
	double least = axis->are_categories ? 0 : axis_least(axis, view);
	int code = 0;

	report_begin(report, NULL);
	report_text(report, "name", name);
	report_text(report, "kind", axis->are_categories ? "category" : "number");
	report_flag(report, "integer", axis->is_integer);
	report_whole(report, "none", axis_count_without(axis, &view->dynamics));
	report_real(report, "low", axis->low);
	report_real(report, "high", axis->high);
	report_real(report, "least", least > 0 ? least : (double)NAN); /* null */
	if (axis->are_categories)
		code = axis_report_values(report, &axis->categories, error);
	report_end(report);
	return code;
}

int
answer_axis(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const char *name = http_argument(question->request, "name");
	CLEANUP(axis_free) struct axis axis = {0};
	int code = axis_make(&axis, "name", question->view, question->data->texts, name ? name : "", false, error);

	(void)answer;
	return code < 0 ? code : axis_report(question->report, &axis, question->view, name, error);
}
