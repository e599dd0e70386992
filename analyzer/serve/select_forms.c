/* select_forms.c: the selected examples in the requested form (?as=). */
#include "select_forms.h"

#include "categories.h"
#include "examples.h"
#include "word_shares.h"

#include "base/number.h"
#include "output/output.h"
#include "output/report.h"
#include "selection/manifest.h"
#include "output/text.h"
#include "tables/run_table.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

static void
send_ids(const struct picked *picked, struct http_answer *answer)
{
	struct report report;

	if (!answer_begin(&report, answer))
		return;
	report_begin(&report, NULL);
	report_whole(&report, "count", picked->count);
	report_begin_list(&report, "ids");
	for (size_t i = 0; i < picked->count; i++)
		examples_report_id(&report, NULL, &picked->view->dynamics.ids, picked->order[i]);
	report_end(&report);
	report_end(&report);
	answer_finish(&report, answer);
}

static void
send_list(const struct picked *picked, struct http_answer *answer)
{
	struct portolan_error error;
	struct output output;

	if (output_open_memory(&output, 1u << 16, &error) < 0) {
		http_error(answer, 503, "%s", error.message);
		return;
	}
	for (size_t i = 0; i < picked->count; i++) {
		text_id(&output, &picked->view->dynamics.ids, picked->order[i]);
		output_text(&output, "\n");
	}
	answer_output(&output, "text/plain; charset=utf-8", answer);
	answer->filename = "selection.txt";
}

static void
send_mask(const struct picked *picked, struct http_answer *answer)
{
	const struct dynamics *dynamics = &picked->view->dynamics;
	size_t size = (dynamics->count + 7) / 8;
	unsigned char *bits = calloc(size + 1, 1);

	if (!bits) {
		http_error(answer, 503, "out of memory");
		return;
	}
	for (size_t place = 0, i = 0; place < dynamics->count && i < picked->count; place++) /* both ascend by id */
		if (dynamics->order[place] == picked->order[i]) {
			bits[place / 8] |= (unsigned char)(1u << place % 8);
			i++;
		}
	http_bytes(answer, "application/octet-stream", bits, size);
}

/* As `portolan select --with-measures --format csv` prints it, except for texts that a spreadsheet would take for
 * formulas. */
static void
send_csv(const struct picked *picked, struct http_answer *answer)
{
	const struct dynamics *dynamics = &picked->view->dynamics;
	struct portolan_error error;
	struct output output;
	struct run_table run_table;

	if (output_open_memory(&output, 1u << 16, &error) < 0) {
		http_error(answer, 503, "%s", error.message);
		return;
	}
	run_table_init(&run_table, dynamics);
	run_table.table.order = picked->order;
	run_table.table.rows = picked->count;
	run_table.table.for_spreadsheets = true;
	table_put_head(&run_table.table, &output, TABLE_CSV);
	table_put_rows(&run_table.table, &output, TABLE_CSV, 0, picked->count);
	answer_output(&output, "text/csv; charset=utf-8", answer);
	answer->filename = "selection.csv";
}

/* The user's own lines, as `select --data` prints them; examples without one are left out. */
static void
send_lines(const struct server *server, const struct picked *picked, struct http_answer *answer)
{
	struct portolan_error error;
	struct output output;
	const char *text;
	size_t length;
	int code;

	if (!server->texts) {
		http_error(answer, 400, "the server was started without --data");
		return;
	}
	if (output_open_memory(&output, 1u << 16, &error) < 0) {
		http_error(answer, 503, "%s", error.message);
		return;
	}
	text = texts_header(server->texts, &length);
	if (text) {
		output_bytes(&output, text, length);
		output_text(&output, "\n");
	}
	for (size_t i = 0; i < picked->count; i++) {
		size_t record = texts_find(server->texts, &picked->view->dynamics.ids, picked->order[i]);

		if (record == TEXTS_NONE)
			continue;
		text = texts_line(server->texts, record, &length);
		output_bytes(&output, text, length);
		output_text(&output, "\n");
	}
	code = texts_check(server->texts, &error);
	if (code < 0) {
		output_discard(&output);
		answer_failure(answer, code, &error);
		return;
	}
	answer_output(&output, "text/plain; charset=utf-8", answer);
	answer->filename = strcmp(texts_ending(server->texts), "csv") == 0   ? "selection.csv"
	                   : strcmp(texts_ending(server->texts), "tsv") == 0 ? "selection.tsv"
	                                                                     : "selection.jsonl";
}

/* By place: 1 where the example is selected. NULL: out of memory. */
static unsigned char *
mark(const struct picked *picked)
{
	const struct dynamics *dynamics = &picked->view->dynamics;
	unsigned char *selected = calloc(dynamics->count + 1, 1);

	for (size_t place = 0, i = 0; selected && place < dynamics->count && i < picked->count; place++)
		if (dynamics->order[place] == picked->order[i]) { /* both ascend by id */
			selected[place] = 1;
			i++;
		}
	return selected;
}

/* {"name", "count", "all", "groups": [{"label", "value", "inside", "all"}, …]}: for each category the number of its
 * examples, and how many of them are selected. */
static int
report_groups(struct report *report, const struct categories *categories, const unsigned char *selected, size_t chosen,
              const char *name, struct portolan_error *error)
{
	size_t n = categories->view->dynamics.count;
	uint64_t *counts = calloc(2 * categories->known + 1, sizeof(*counts));

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
	free(counts);
	return 0;
}

static void
send_groups(struct server *server, const struct http_request *request, const struct picked *picked,
            struct http_answer *answer)
{
	const char *name = http_argument(request, "column");
	unsigned char *selected = mark(picked);
	const struct attribute *column;
	struct categories categories = {0};
	struct portolan_error error;
	struct report report;
	int code;

	name = name ? name : "gold";
	code = selected ? categories_make(&categories, picked->view, server->texts, name, &column, &error)
	                : error_set(&error, PORTOLAN_E_MEMORY, "out of memory");
	if (code == 0)
		code = error_set(&error, PORTOLAN_E_INVALID, "'%.100s' holds numbers, and groups are categories", name);
	if (code < 0) {
		answer_failure(answer, code, &error);
	} else if (answer_begin(&report, answer)) {
		code = report_groups(&report, &categories, selected, picked->count, name, &error);
		answer_finish_or_fail(&report, code, &error, answer);
	}
	categories_free(&categories);
	free(selected);
}

static void
send_words(struct server *server, const struct http_request *request, const struct picked *picked,
           struct http_answer *answer)
{
	unsigned char *selected;
	struct portolan_error error;
	struct report report;
	uint64_t most;
	int code;

	if (!answer_number(request, "most", 1, 1000, 50, &most, answer))
		return;
	if (!server->texts) {
		http_error(answer, 400, "the server was started without --data");
		return;
	}
	if (!answer_begin(&report, answer))
		return;
	selected = mark(picked);
	code = selected ? word_shares(&report, picked->view, server->texts, selected, (size_t)most, &error)
	                : error_set(&error, PORTOLAN_E_MEMORY, "out of memory");
	if (code >= 0)
		code = texts_check(server->texts, &error);
	answer_finish_or_fail(&report, code, &error, answer);
	free(selected);
}

/* The digests of the columns and labels that the selection uses, which show whether it is repeated on the same data. */
static void
report_digests(struct report *report, const struct picked *picked)
{
	const struct dynamics *dynamics = &picked->view->dynamics;
	struct dynamics_request looked_at = {0};
	char gold[WITHIN_DIGEST_ROOM];

	within_request(picked->within, &looked_at);
	report_begin(report, "digests");
	for (size_t c = 0; c < dynamics->column_count; c++) {
		const struct dynamics_column *column = &dynamics->columns[c];

		if (column->measure < 0 ? looked_at.user : looked_at.measures & MEASURE_BIT(column->measure))
			report_text(report, column->name, picked->view->extents[c].digest);
	}
	if (looked_at.gold) {
		within_digest(dynamics, NULL, gold);
		report_text(report, "gold", gold);
	}
	report_end(report);
}

/* The selection in a form that can be repeated on a run that grows: with the run, its present epochs, digests, and ids
 * in place of filters that only the server knows. */
static int
report_selection(struct report *report, const char *key, struct picked *picked, struct portolan_error *error)
{
	const struct dynamics *dynamics = &picked->view->dynamics;
	char epochs[32];
	const char *name;
	json_t *value;
	int code;

	snprintf(epochs, sizeof(epochs), "%u:%u", dynamics->epochs[0], dynamics->epochs[dynamics->epoch_count - 1] + 1);
	report_begin(report, key);
	report_text(report, "run", picked->run);
	report_text(report, "epochs", epochs);
	json_object_foreach((json_t *)(uintptr_t)within_json(picked->within), name, value)
	{
		if (strcmp(name, "run") != 0 && strcmp(name, "epochs") != 0 && strcmp(name, "digests") != 0 &&
		    strcmp(name, "filters") != 0)
			report_json(report, name, value);
	}
	code = file_filters_report(report, &picked->file, picked->within, error);
	report_digests(report, picked);
	report_end(report);
	return code;
}

static void
send_selection(struct picked *picked, struct http_answer *answer)
{
	struct portolan_error error;
	struct report report;
	int code;

	if (!answer_begin(&report, answer))
		return;
	code = report_selection(&report, NULL, picked, &error);
	answer_finish_or_fail(&report, code, &error, answer);
	answer->filename = code >= 0 ? "selection.json" : NULL;
}

static void
send_manifest(const struct server *server, struct picked *picked, struct http_answer *answer)
{
	const struct dynamics *dynamics = &picked->view->dynamics;
	struct portolan_error error;
	struct report report;
	int code;

	if (!answer_begin(&report, answer))
		return;
	manifest_begin(&report, "serve", dynamics, server->settings.query->store);
	report_whole(&report, "chosen", picked->count);
	manifest_classes(&report, dynamics, picked->order, picked->count);
	code = report_selection(&report, "selection", picked, &error);
	report_end(&report);
	answer_finish_or_fail(&report, code, &error, answer);
	answer->filename = code >= 0 ? "selection.manifest.json" : NULL;
}

static void
keep(struct server *server, const struct picked *picked, struct http_answer *answer)
{
	uint64_t serial = selections_put(server->selections, picked->run, within_json(picked->within));
	struct report report;

	if (!serial) {
		http_error(answer, 503, "out of memory");
	} else if (answer_begin(&report, answer)) {
		report_begin(&report, NULL);
		REPORT_WHOLES(&report, {"serial", serial}, {"count", picked->count});
		report_end(&report);
		answer_finish(&report, answer);
	}
}

void
select_send(struct server *server, const struct http_request *request, struct picked *picked,
            struct http_answer *answer)
{
	const char *form = http_argument(request, "as");

	if (!form || strcmp(form, "ids") == 0)
		send_ids(picked, answer);
	else if (strcmp(form, "mask") == 0 && !http_argument(request, "version"))
		http_error(answer, 400,
		           "a mask is by place, and places belong to a version: add &version=V of the view");
	else if (strcmp(form, "mask") == 0)
		send_mask(picked, answer);
	else if (strcmp(form, "rows") == 0)
		select_send_rows(server, request, picked, answer);
	else if (strcmp(form, "list") == 0)
		send_list(picked, answer);
	else if (strcmp(form, "csv") == 0)
		send_csv(picked, answer);
	else if (strcmp(form, "lines") == 0)
		send_lines(server, picked, answer);
	else if (strcmp(form, "selection") == 0)
		send_selection(picked, answer);
	else if (strcmp(form, "manifest") == 0)
		send_manifest(server, picked, answer);
	else if (strcmp(form, "groups") == 0)
		send_groups(server, request, picked, answer);
	else if (strcmp(form, "words") == 0)
		send_words(server, request, picked, answer);
	else if (strcmp(form, "keep") == 0)
		keep(server, picked, answer);
	else
		http_error(
		        answer, 400,
		        "as is ids, mask, rows, list, csv, lines, selection, manifest, groups, words or keep, not '%.40s'",
		        form);
}
