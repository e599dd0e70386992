/* select_rows.c: answers POST api/runs/RUN/select?as=rows: one page of the table in which the live page shows the
 * selected examples. They are searched for a text, sorted, and then cut to the page. */
#include "select_forms.h"

#include "axes.h"
#include "examples.h"

#include "base/cleanup.h"
#include "statistics/top.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 1000

struct rows_query {
	const double *values; /* to sort by; NULL: the ids */
	struct axis axis;     /* which has them, */
	double *listed;       /* or which were made of the list of ids; to be freed */
	uint64_t descending, from, most;
	uint64_t around;    /* a place: the page that has it is wanted, if it is selected; UINT64_MAX: none */
	const char *search; /* only examples with this text; NULL: all */
};

/* The place of each picked example in the list of ids by which the selection filters, by dense index; NaN: it is not
 * there. NULL: out of memory, or the selection has no such list. */
static double *
rows_list_values(const struct view *view, const struct picked *picked, struct portolan_error *error)
{
	const struct dynamics *dynamics = &view->dynamics;
	const json_t *list = json_object_get(json_object_get(picked->within->filters, "id"), "in"), *id;
	CLEANUP(ids_index_free) struct ids_index index = {0};
	double *values;
	size_t place;

	if (!list) {
		error_set(error, PORTOLAN_E_INVALID, "sort=listed: the selection has no filter with a list of ids");
		return NULL;
	}
	if (ids_index_init(&index, &dynamics->ids, picked->order, picked->count, error) < 0)
		return NULL;
	values = malloc((dynamics->ids.rows + 1) * sizeof(*values));
	if (!values) {
		error_set(error, PORTOLAN_E_MEMORY, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < picked->count; i++)
		values[picked->order[i]] = NAN;
	json_array_foreach (list, place, id) {
		int64_t at = within_find_id(&index, id);

		if (at >= 0 && isnan(values[picked->order[at]]))
			values[picked->order[at]] = (double)place;
	}
	return values;
}

static int
rows_read_query(const struct question *question, const struct picked *picked, struct rows_query *query,
                struct portolan_error *error)
{
	const struct http_request *request = question->request;
	const char *sort = http_argument(request, "sort");
	int code = 0;

	query->search = http_argument(request, "q");
	if (query->search && !*query->search)
		query->search = NULL;
	if (sort && strcmp(sort, "listed") == 0) {
		query->values = query->listed = rows_list_values(question->view, picked, error);
		code = query->listed ? 0 : error->code;
	} else if (sort && strcmp(sort, "id") != 0) {
		code = axis_make(&query->axis, "sort", question->view, question->data->texts, sort, false, error);
		query->values = query->axis.values;
	}
	if (code < 0)
		return code;
	code = answer_number(request, "from", 0, UINT32_MAX, 0, &query->from, error);
	if (code >= 0)
		code = answer_number(request, "most", 1, ROWS_MOST, 100, &query->most, error);
	if (code >= 0)
		code = answer_number(request, "descending", 0, 1, 0, &query->descending, error);
	return code < 0 ? code : answer_number(request, "around", 0, UINT32_MAX, UINT64_MAX, &query->around, error);
}

/* Keeps the picked examples that contain the text. *searched: how many were searched. False: out of memory. */
static bool
rows_keep_found(const struct question *question, struct picked *picked, const char *text, size_t *searched)
{
	CLEANUP_FREE uint32_t *found = malloc((picked->count + 1) * sizeof(*found));
	size_t count;

	if (!found)
		return false;
	count = examples_search(question->view, question->data->texts, picked->order, picked->count, text, found,
	                        searched);
	for (size_t i = 0; i < count; i++)
		picked->order[i] = picked->order[found[i]]; /* found[i] ≥ i */
	picked->count = count;
	return true;
}

static void
rows_reverse(uint32_t *order, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t other = order[count - 1 - i];

		order[count - 1 - i] = order[i];
		order[i] = other;
	}
}

/* Sorts picked->order as far as its first `end` entries; those after them are not to be used. */
static bool
rows_sort(struct picked *picked, const struct rows_query *query, size_t end)
{
	CLEANUP_FREE struct sort_item *items = NULL;

	if (!query->values) {
		if (query->descending)
			rows_reverse(picked->order, picked->count);
		return true;
	}
	items = malloc((2 * end + 1) * sizeof(*items));
	if (!items)
		return false;
	top_of_values(query->values, query->descending, picked->order, picked->count, end, items);
	for (size_t i = 0; i < end; i++)
		picked->order[i] = (uint32_t)items[i].value;
	return true;
}

/* The row of an example, counted among the sorted rows; SIZE_MAX: it is not among them. */
static size_t
rows_find(const struct picked *picked, const struct rows_query *query, uint32_t index)
{
	size_t at = 0, before = 0;
	uint64_t key;

	while (at < picked->count && picked->order[at] != index)
		at++;
	if (at == picked->count)
		return SIZE_MAX;
	if (!query->values)
		return query->descending ? picked->count - 1 - at : at;
	key = sort_key(query->values[index], query->descending);
	for (size_t i = 0; i < picked->count; i++) {
		uint64_t other = sort_key(query->values[picked->order[i]], query->descending);

		before += other < key || (other == key && i < at);
	}
	return before;
}

/* The first row of the requested page. */
static size_t
rows_find_from(const struct dynamics *dynamics, const struct picked *picked, const struct rows_query *query)
{
	size_t row =
	        query->around < dynamics->count ? rows_find(picked, query, dynamics->order[query->around]) : SIZE_MAX;

	return row == SIZE_MAX ? (size_t)query->from : row - row % (size_t)query->most;
}

/* Sorts picked->order, and cuts it to the page's rows, which begin with row `from`. */
static bool
rows_cut(struct picked *picked, const struct rows_query *query, size_t from)
{
	size_t first = from < picked->count ? from : picked->count;
	size_t rows = (size_t)query->most < picked->count - first ? (size_t)query->most : picked->count - first;

	if (!rows_sort(picked, query, first + rows))
		return false;
	memmove(picked->order, picked->order + first, rows * sizeof(*picked->order));
	picked->count = rows;
	return true;
}

static int
rows_send(const struct question *question, const struct rows_query *query, struct picked *picked,
          struct portolan_error *error)
{
	const struct server *server = question->server;
	const struct view *view = question->view;
	struct report *report = question->report;
	CLEANUP(stories_free) struct stories stories = {0};
	size_t all = picked->count, searched = all, count, from;
	int code;

	if (query->search && !rows_keep_found(question, picked, query->search, &searched))
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	count = picked->count;
	from = rows_find_from(&view->dynamics, picked, query);
	if (!rows_cut(picked, query, from))
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < picked->count; i++)
		picked->order[i] = (uint32_t)view_find(view, &view->dynamics.ids, picked->order[i]);
	code = stories_read(&stories, server->stores, view, picked->order, picked->count, error);
	if (code < 0)
		return code;
	report_begin(report, NULL);
	REPORT_WHOLES(report, {"count", count}, {"from", from}, {"searched", searched});
	report_flag(report, "complete", searched == all);
	report_begin_list(report, "rows");
	for (size_t i = 0; i < picked->count; i++)
		examples_report(report, view, question->data->texts, question->data->media, picked->order[i], &stories,
		                i);
	report_end(report);
	report_end(report);
	return texts_check(question->data->texts, error);
}

int
select_send_rows(const struct question *question, struct picked *picked, struct http_answer *answer,
                 struct portolan_error *error)
{
	struct rows_query query = {0};
	int code = rows_read_query(question, picked, &query, error);

	(void)answer;
	if (code >= 0)
		code = rows_send(question, &query, picked, error);
	free(query.listed);
	axis_free(&query.axis);
	return code;
}
