/*
 * select_forms.c: sends the examples that a selection selects, in the form that the request asks for (POST
 * api/runs/RUN/select?as=): ids, a mask, files, groups or words; or keeps the selection for programs. For the live page
 * and programs. Each form is a function in the table at the end.
 */
#include "select_forms.h"

#include "categories.h"
#include "examples.h"
#include "word_shares.h"

#include "base/cleanup.h"
#include "output/report.h"
#include "output/text.h"
#include "regions/provenance.h"
#include "tables/run_table.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

static int
forms_ids(const struct question *question, struct picked *picked, struct http_answer *answer,
          struct portolan_error *error)
{
	struct report *report = question->report;

	(void)answer, (void)error;
	report_begin(report, NULL);
	report_whole(report, "count", picked->count);
	report_begin_list(report, "ids");
	for (size_t i = 0; i < picked->count; i++)
		examples_report_id(report, NULL, &question->view->dynamics.ids, picked->order[i]);
	report_end(report);
	report_end(report);
	return 0;
}

static int
forms_list(const struct question *question, struct picked *picked, struct http_answer *answer,
           struct portolan_error *error)
{
	struct output *output = &question->report->output;

	(void)error;
	for (size_t i = 0; i < picked->count; i++) {
		text_id(output, &question->view->dynamics.ids, picked->order[i]);
		output_text(output, "\n");
	}
	answer->filename = "selection.txt";
	answer->type = "text/plain; charset=utf-8";
	return 0;
}

/* An array by place: 1 where the example is selected, else 0. NULL: out of memory. */
static unsigned char *
forms_mark(const struct dynamics *dynamics, const struct picked *picked)
{
	unsigned char *selected = calloc(dynamics->count + 1, 1);

	for (size_t place = 0, i = 0; selected && place < dynamics->count && i < picked->count; place++)
		if (dynamics->order[place] == picked->order[i]) { /* both are in the order of ids */
			selected[place] = 1;
			i++;
		}
	return selected;
}

static int
forms_mask(const struct question *question, struct picked *picked, struct http_answer *answer,
           struct portolan_error *error)
{
	size_t n = question->view->dynamics.count;
	CLEANUP_FREE unsigned char *selected = forms_mark(&question->view->dynamics, picked);
	unsigned char *bits;

	if (!http_argument(question->request, "version"))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "a mask is by place, and places belong to a version: add &version=V of the view");
	bits = calloc(n / 8 + 1, 1);
	if (!selected || !bits) {
		free(bits);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	for (size_t place = 0; place < n; place++)
		bits[place / 8] |= (unsigned char)(selected[place] << place % 8);
	http_bytes(answer, "application/octet-stream", bits, (n + 7) / 8);
	return 0;
}

/* Answers with the table that `portolan select --with-measures --format csv` prints, but keeps spreadsheets from taking
 * texts for formulas. */
static int
forms_csv(const struct question *question, struct picked *picked, struct http_answer *answer,
          struct portolan_error *error)
{
	struct output *output = &question->report->output;
	struct run_table run_table;

	(void)error;
	run_table_init(&run_table, &question->view->dynamics);
	run_table.table.order = picked->order;
	run_table.table.rows = picked->count;
	run_table.table.for_spreadsheets = true;
	table_put_head(&run_table.table, output, TABLE_CSV);
	table_put_rows(&run_table.table, output, TABLE_CSV, 0, picked->count);
	answer->filename = "selection.csv";
	answer->type = "text/csv; charset=utf-8";
	return 0;
}

static int
forms_need_texts(const struct texts *texts, struct portolan_error *error)
{
	return texts ? 0 : error_set(error, PORTOLAN_E_INVALID, "the server was started without --data");
}

/* Answers with the lines of the user's file, as `select --data` prints them. Examples without a line are left out. */
static int
forms_lines(const struct question *question, struct picked *picked, struct http_answer *answer,
            struct portolan_error *error)
{
	const struct texts *texts = question->data->texts;
	struct output *output = &question->report->output;
	const char *text;
	size_t length;
	int code = forms_need_texts(texts, error);

	if (code < 0)
		return code;
	text = texts_header(texts, &length);
	if (text) {
		output_bytes(output, text, length);
		output_text(output, "\n");
	}
	for (size_t i = 0; i < picked->count; i++) {
		size_t record = texts_find(texts, &question->view->dynamics.ids, picked->order[i]);

		if (record == TEXTS_NONE)
			continue;
		text = texts_line(texts, record, &length);
		output_bytes(output, text, length);
		output_text(output, "\n");
	}
	answer->filename = strcmp(texts_ending(texts), "csv") == 0   ? "selection.csv"
	                   : strcmp(texts_ending(texts), "tsv") == 0 ? "selection.tsv"
	                                                             : "selection.jsonl";
	answer->type = "text/plain; charset=utf-8";
	return texts_check(texts, error);
}

/* Writes {"name", "count", "all", "groups": [{"label", "value", "inside", "all"}, …]}. For each category, "all" is the
 * number of its examples, and "inside" how many of them are selected. */
static int
forms_report_groups(struct report *report, const struct categories *categories, const unsigned char *selected,
                    size_t chosen, const char *name, struct portolan_error *error)
{
	size_t n = categories->view->dynamics.count;
	CLEANUP_FREE uint64_t *counts = calloc(2 * categories->known + 1, sizeof(*counts));

	if (!counts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t place = 0; place < n; place++) {
		int32_t number = categories->numbers[place];

		if (number >= 0) {
			counts[2 * number]++;
			counts[2 * number + 1] += selected[place];
		}
	}
	report_begin(report, NULL);
	report_text(report, "name", name);
	REPORT_WHOLES(report, {"count", chosen}, {"all", n});
	report_begin_list(report, "groups");
	for (size_t g = 0; g < categories->known; g++) {
		if (counts[2 * g] == 0)
			continue;
		report_begin(report, NULL);
		categories_report(report, categories, g);
		REPORT_WHOLES(report, {"inside", counts[2 * g + 1]}, {"all", counts[2 * g]});
		report_end(report);
	}
	report_end(report);
	report_end(report);
	return 0;
}

static int
forms_groups(const struct question *question, struct picked *picked, struct http_answer *answer,
             struct portolan_error *error)
{
	const struct view *view = question->view;
	const char *asked = http_argument(question->request, "column"), *name = asked ? asked : "gold";
	CLEANUP(categories_free) struct categories categories = {0};
	CLEANUP_FREE unsigned char *selected = forms_mark(&view->dynamics, picked);
	const struct attribute *column;
	int code = selected ? categories_make(&categories, view, question->data->texts, name, &column, error)
	                    : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	(void)answer;
	if (code == 0)
		code = error_set(error, PORTOLAN_E_INVALID, "'%.100s' holds numbers, and groups are categories", name);
	return code < 0 ? code
	                : forms_report_groups(question->report, &categories, selected, picked->count, name, error);
}

static int
forms_words(const struct question *question, struct picked *picked, struct http_answer *answer,
            struct portolan_error *error)
{
	const struct texts *texts = question->data->texts;
	CLEANUP_FREE unsigned char *selected = NULL;
	uint64_t most;
	int code = answer_number(question->request, "most", 1, 1000, 50, &most, error);

	(void)answer;
	if (code >= 0)
		code = forms_need_texts(texts, error);
	if (code < 0)
		return code;
	selected = forms_mark(&question->view->dynamics, picked);
	code = selected ? word_shares(question->report, question->view, texts, selected, (size_t)most, error)
	                : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	return code < 0 ? code : texts_check(texts, error);
}

/* Writes the digests of the columns and labels that the selection uses. They show whether a repeated selection is made
 * on the same data. */
static void
forms_report_digests(struct report *report, const struct view *view, const struct within *within)
{
	const struct dynamics *dynamics = &view->dynamics;
	struct dynamics_request looked_at = {0};
	struct within left = *within; /* what ids do not stand for */
	char gold[WITHIN_DIGEST_ROOM];

	left.x = within_is_drawn_on_file(within) ? NULL : within->x;
	within_request(&left, &looked_at);
	report_begin(report, "digests");
	for (size_t c = 0; c < dynamics->column_count; c++) {
		const struct dynamics_column *column = &dynamics->columns[c];

		if (column->measure < 0 ? looked_at.user : looked_at.measures & MEASURE_BIT(column->measure))
			report_text(report, column->name, view->extents[c].digest);
	}
	if (looked_at.gold) {
		within_digest(dynamics, NULL, gold);
		report_text(report, "gold", gold);
	}
	report_end(report);
}

/* Writes the selection so that it can be repeated, even when the run has grown: with the run's name, its present
 * epochs, digests, and ids in place of what only the server can apply. */
static int
forms_report_selection(const char *key, const struct question *question, struct picked *picked,
                       struct portolan_error *error)
{
	const struct dynamics *dynamics = &question->view->dynamics;
	struct report *report = question->report;
	char epochs[32];
	int code;

	snprintf(epochs, sizeof(epochs), "%u:%u", dynamics->epochs[0], dynamics->epochs[dynamics->epoch_count - 1] + 1);
	report_begin(report, key);
	report_text(report, "run", question->run);
	report_text(report, "epochs", epochs);
	code = file_filters_report(report, &picked->file, picked->within, error);
	forms_report_digests(report, question->view, picked->within);
	report_end(report);
	return code;
}

static int
forms_selection(const struct question *question, struct picked *picked, struct http_answer *answer,
                struct portolan_error *error)
{
	answer->filename = "selection.json";
	return forms_report_selection(NULL, question, picked, error);
}

static int
forms_manifest(const struct question *question, struct picked *picked, struct http_answer *answer,
               struct portolan_error *error)
{
	const struct dynamics *dynamics = &question->view->dynamics;
	struct report *report = question->report;
	int code;

	provenance_begin(report, "serve", dynamics, question->server->settings->query->store);
	report_whole(report, "chosen", picked->count);
	provenance_add_classes(report, dynamics, picked->order, picked->count);
	code = forms_report_selection("selection", question, picked, error);
	report_end(report);
	answer->filename = "selection.manifest.json";
	return code;
}

static int
forms_keep(const struct question *question, struct picked *picked, struct http_answer *answer,
           struct portolan_error *error)
{
	uint64_t serial = selections_put(question->server->selections, question->run, picked->within->object);
	struct report *report = question->report;

	(void)answer;
	if (!serial)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	report_begin(report, NULL);
	REPORT_WHOLES(report, {"serial", serial}, {"count", picked->count});
	report_end(report);
	return 0;
}

static const struct form {
	const char *name;
	int (*send)(const struct question *question, struct picked *picked, struct http_answer *answer,
	            struct portolan_error *error);
} forms[] = {
        {"ids", forms_ids},       {"mask", forms_mask},   {"rows", select_send_rows},     {"list", forms_list},
        {"csv", forms_csv},       {"lines", forms_lines}, {"selection", forms_selection}, {"manifest", forms_manifest},
        {"groups", forms_groups}, {"words", forms_words}, {"keep", forms_keep},
};

int
select_send(const struct question *question, struct picked *picked, struct http_answer *answer,
            struct portolan_error *error)
{
	const char *form = http_argument(question->request, "as");

	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++)
		if (strcmp(form ? form : "ids", forms[f].name) == 0)
			return forms[f].send(question, picked, answer, error);
	return error_set(
	        error, PORTOLAN_E_INVALID,
	        "as is ids, mask, rows, list, csv, lines, selection, manifest, groups, words or keep, not '%.40s'",
	        form);
}
