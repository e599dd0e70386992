/*
 * report.c: portolan report: one page that says what is wrong with a run's data, what to train on, and whether to believe
 * it. It computes nothing: it asks the other commands (child.c), puts what they answer on a page (answers.c, next.c),
 * and writes that (writers.h).
 */
#include "report_request.h"

#include "base/message.h"
#include "base/number.h"
#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "files/kept_texts.h"
#include "options/format.h"
#include "output/claims.h"
#include "output/report.h"
#include "regions/provenance.h"
#include "writers.h"

#include <portolan/store.h>

#include <math.h>
#include <string.h>

#define SHOWN_SUSPECTS "15"
#define SHOWN_EXAMPLES "8"
#define WORDS_LEAST "20" /* records that hold a word: with fewer, no share is more than chance */

enum report_format { FORMAT_TEXT, FORMAT_HTML, FORMAT_MARKDOWN, FORMAT_JSON };
static const char *const format_names[] = {"text", "html", "md", "json", NULL};

static int
report_check(void *context, struct portolan_error *error)
{
	struct report_request *request = context;
	struct common_options *common = &request->common;
	int status;

	if (request->data && strcmp(request->data, "-") == 0)
		return options_wrong(common, "--data -: several commands read the data, so they must be a file");
	for (int r = 1; r < common->operand_count; r++)
		for (int other = 0; other < r; other++)
			if (strcmp(common->operands[r], common->operands[other]) == 0)
				return options_wrong(common, "run '%s' is named twice", common->operands[r]);
	request->format = common->json ? FORMAT_JSON : -1;
	status = format_choose(common, format_names, &request->format);
	if (status != 0 || request->format != FORMAT_MARKDOWN)
		return status;
	CLEANUP_FREE char *picture = memory_text("%s.map.png", common->output);

	return claims_add_output("the map", picture, error);
}

/* Adds --loss-threshold to a command that shows where losses cross it, as `check` and `epochs` do not. */
static void
report_ask_threshold(const struct report_request *request, struct child *child)
{
	const char *command = child_name(child);
	char threshold[NUMBER_ROOM];

	if (!request->of_losses || isnan(request->common.query.loss_threshold) || strcmp(command, "check") == 0 ||
	    strcmp(command, "epochs") == 0)
		return;
	number_print(request->common.query.loss_threshold, threshold);
	child_add_option(child, "--loss-threshold", threshold);
}

void
report_ask(struct report_request *request, struct child *child, const char *command, const char *run, bool with_epochs)
{
	child_begin(child, command);
	if (run)
		child_name_run(child, run);
	if (run && option_given(&request->common, "store"))
		child_add_option(child, "--store", request->common.query.store);
	if (with_epochs)
		child_add_option(child, "--epochs", request->epochs);
	if (run)
		report_ask_threshold(request, child);
}

void
report_ask_data(const struct report_request *request, struct child *child)
{
	child_add_option(child, "--data", request->data);
	child_add_option(child, "--id-field", request->id_field);
	if (request->glue)
		child_add(child, "--glue");
}

/* Does the run record losses? What cannot be read is said by the commands. */
static bool
report_is_of_losses(const struct common_options *common)
{
	struct portolan_error error;
	CLEANUP_FREE struct store_run_info *runs = NULL;
	struct store *store;
	bool of_losses = false;
	size_t count = 0;

	if (store_open(common->query.store, &store, &error) < 0)
		return false;
	if (store_runs(store, &runs, &count, &error) < 0)
		count = 0;
	for (size_t r = 0; r < count; r++)
		of_losses = of_losses || (runs[r].of_losses && strcmp(runs[r].name, common->operands[0]) == 0);
	store_close(store);
	return of_losses;
}

static void
report_ask_examples(struct report_request *request, struct child *child, const char *rule)
{
	report_ask(request, child, "select", request->common.operands[0], true);
	child_add_option(child, "--by", rule);
	child_add_option(child, "--count", SHOWN_EXAMPLES);
	child_add(child, "--with-measures");
	child_add_option(child, "--format", "jsonl");
	child->lines = true;
}

/* Asks all that does not depend on another answer. */
static void
report_ask_first(struct report_request *request)
{
	struct child *children = request->children;
	char *const *runs = request->common.operands;
	const int count = request->common.operand_count;

	report_ask(request, &children[ASK_MAP], "map", runs[0], true);
	child_add_output(&children[ASK_MAP], "map.png");
	child_add(&children[ASK_MAP], "--json");
	report_ask(request, &children[ASK_EPOCHS], "epochs", runs[0], false);
	child_add(&children[ASK_EPOCHS], "--json");
	if (!request->of_losses) {
		report_ask(request, &children[ASK_CLASSES], "groups", runs[0], true);
		child_add(&children[ASK_CLASSES], "--classes");
		child_add(&children[ASK_CLASSES], "--json");
		report_ask(request, &children[ASK_SUSPECTS], "suspects", runs[0], request->common.query.epochs_given);
		child_add_option(&children[ASK_SUSPECTS], "--count", SHOWN_SUSPECTS);
		child_add_option(&children[ASK_SUSPECTS], "--flips", request->flips);
		child_add(&children[ASK_SUSPECTS], "--json");
	}
	report_ask_examples(request, &children[ASK_AMBIGUOUS], "ambiguous");
	report_ask_examples(request, &children[ASK_HARDEST], request->of_losses ? "hard-to-learn" : "forgettable");
	for (int r = 0; r < count; r++) {
		report_ask(request, &children[ASK_CHECK + r], "check", runs[r], false);
		child_add(&children[ASK_CHECK + r], "--json");
	}
	if (request->data) {
		report_ask(request, &children[ASK_GROUPS], "groups", runs[0], true);
		report_ask_data(request, &children[ASK_GROUPS]);
		child_add_option(&children[ASK_GROUPS], "--by", "hard-to-learn");
		child_add_option(&children[ASK_GROUPS], "--fraction", "0.1");
		child_add(&children[ASK_GROUPS], "--json");
	}
	if (count > 1) {
		report_ask(request, &children[ASK_COMPARE], "compare", runs[0], true);
		for (int r = 1; r < count; r++)
			child_name_run(&children[ASK_COMPARE], runs[r]);
		child_add(&children[ASK_COMPARE], "--json");
	}
}

/* Asks which words of the texts give the label away. The command asks about no run, so texts that the run keeps are named
 * together with it. */
static void
report_ask_words(struct report_request *request)
{
	CLEANUP_FREE char *kept = memory_text(KEPT_TEXTS_OF "%s", request->common.operands[0]);
	const bool is_kept = kept_texts_is(request->data);
	struct child *child = &request->children[ASK_WORDS];
	const char *label_field = request->label_field ? request->label_field : answer_find_label_field(request);

	if (!request->texts || !label_field)
		return;
	report_ask(request, child, "artifacts", NULL, false);
	if (is_kept && option_given(&request->common, "store"))
		child_add_option(child, "--store", request->common.query.store);
	child_add_operand(child, is_kept ? kept : request->data);
	child_add_option(child, "--text", request->texts);
	child_add_option(child, "--label-field", label_field);
	child_add_option(child, "--min-count", WORDS_LEAST);
	child_add_option(child, "--count", "10");
	child_add_output(child, "words.jsonl");
	child->lines = true;
}

/* Asks for the texts of the examples that other commands have named. */
static void
report_ask_texts(struct report_request *request)
{
	static const int lists[] = {ASK_SUSPECTS, ASK_AMBIGUOUS, ASK_HARDEST};
	struct child *child = &request->children[ASK_TEXTS];
	const json_t *answer, *row;
	size_t i, named = 0;

	if (!request->texts)
		return;
	report_ask(request, child, "show", request->common.operands[0], true);
	report_ask_data(request, child);
	child_add_option(child, "--text", request->texts);
	child_add(child, "--json");
	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		answer = request->children[lists[l]].answer;
		json_array_foreach (json_is_array(answer) ? answer : json_object_get(answer, "suspects"), i, row) {
			CLEANUP_FREE char *id = page_cell(json_object_get(row, "id"), "name");

			child_add_operand(child, id);
			named++;
		}
	}
	if (named == 0)
		child_free(child);
}

/* Asks the commands. The report of a run that cannot be found, or whose store cannot be read at all, is refused. */
static void
report_ask_all(struct report_request *request)
{
	const unsigned threads = parallel_threads((unsigned)request->common.query.threads);
	const size_t count = ASK_CHECK + (size_t)request->common.operand_count;

	report_ask_first(request);
	children_run(request->children, count, threads);
	for (size_t i = ASK_CHECK; i < count; i++)
		if (request->children[i].end == CHILD_REFUSED)
			die("%s", request->children[i].why);
	report_ask_words(request);
	report_ask_texts(request);
	children_run(request->children, count, threads);
}

/* The page with what it begins with: of what it is, and when and by which version it was made. */
static void
report_begin_page(struct report_request *request)
{
	const struct common_options *common = &request->common;
	struct page *page = &request->page;
	CLEANUP_FREE char *store = realpath(common->query.store, NULL), *title = NULL, *about = NULL;
	json_t *runs = memory_need(json_array());
	struct report report;

	must(report_open_memory(&report, &failure));
	provenance_begin(&report, "report", NULL, NULL);
	report_text(&report, "store", store ? store : common->query.store);
	report_end(&report);
	page->root = memory_need(json_loadb(report.output.buffer, report.output.used, 0, NULL));
	output_discard(&report.output);
	for (int r = 0; r < common->operand_count; r++)
		json_array_append_new(runs, memory_need(json_string_nocheck(common->operands[r])));
	title = common->operand_count > 1 ? memory_text("Report on %s, beside %d other%s", common->operands[0],
	                                                common->operand_count - 1, common->operand_count > 2 ? "s" : "")
	                                  : memory_text("Report on %s", common->operands[0]);
	about = memory_text("portolan %s, %s, store %s", json_string_value(json_object_get(page->root, "portolan")),
	                    json_string_value(json_object_get(page->root, "created")),
	                    json_string_value(json_object_get(page->root, "store")));
	page_set_text(page->root, "title", title);
	page_set_text(page->root, "about", about);
	json_object_set_new(page->root, "runs", runs);
	json_object_set_new(page->root, "next", memory_need(json_array()));
	json_object_set_new(page->root, "sections", memory_need(json_array()));
	json_object_set_new(page->root, "commands", memory_need(json_array()));
}

static void
report_write_json(const struct report_request *request)
{
	struct report report;

	must(report_open(&report, request->common.output, 1, &failure));
	report_json(&report, NULL, request->page.root);
	must(report_close(&report, &failure));
}

/* Writes the map beside a page in Markdown, before the page. */
static void
report_write_markdown(const struct report_request *request, struct output *output)
{
	const struct page *page = &request->page;
	const char *path = output->file.path, *slash = strrchr(path, '/');
	CLEANUP_FREE char *picture = memory_text("%s.map.png", path);
	CLEANUP_FREE char *name = memory_text("%s.map.png", slash ? slash + 1 : path);
	struct output map;

	if (page->picture) {
		must(output_open(&map, picture, &failure));
		output_bytes(&map, page->picture->bytes, page->picture->size);
		must(output_finish(&map, &failure));
	}
	page_write_markdown(page, output, name);
}

static void
report_write(const struct report_request *request)
{
	struct output output;

	if (request->format == FORMAT_JSON) {
		report_write_json(request);
		return;
	}
	must(output_open(&output, request->common.output, &failure));
	if (request->format == FORMAT_HTML)
		page_write_html(&request->page, &output);
	else if (request->format == FORMAT_MARKDOWN)
		report_write_markdown(request, &output);
	else
		page_write_text(&request->page, &output);
	must(output_finish(&output, &failure));
}

/* Does this command read a file that the user has given to the report? */
static bool
report_reads_a_file(const struct report_request *request, int asked)
{
	return asked == ASK_GROUPS || asked == ASK_WORDS || asked == ASK_TEXTS ||
	       (asked == ASK_SUSPECTS && request->flips);
}

/* Warns if something is missing from the page: a record is damaged, a command crashed, or a command could not use a file
 * of the user's. Returns the exit status: STATUS_INCOMPLETE for the first two, and with `strict` also if a command said
 * so. */
static int
report_status(const struct report_request *request)
{
	int status = STATUS_DONE;

	for (int i = 0; i < ASK_CHECK + request->common.operand_count; i++) {
		const struct child *child = &request->children[i];
		bool is_damaged = i >= ASK_CHECK && child->status == STATUS_FAILED;

		if (is_damaged)
			message_warning("the record of run '%s' is damaged; see the report",
			                request->common.operands[i - ASK_CHECK]);
		if (child->end == CHILD_REFUSED && report_reads_a_file(request, i))
			message_warning("portolan %s: %s", child_name(child), child->why);
		if (child->end == CHILD_CRASHED)
			message_warning("portolan %s: %s: the report is without what it answers", child_name(child),
			                child->why);
		if (is_damaged || child->end == CHILD_CRASHED ||
		    (request->common.strict && child->end == CHILD_ANSWERED && child->status != STATUS_DONE))
			status = STATUS_INCOMPLETE;
	}
	return status;
}

/* A report that is handed on hands on the texts in it, which nobody asked for where the run keeps them. */
static void
report_say_texts(const struct report_request *request)
{
	const struct common_options *common = &request->common;

	if (common->output && strcmp(common->output, "-") != 0 && kept_texts_is(request->data))
		message_warning("%s has texts of examples that run '%s' keeps; --data " KEPT_TEXTS_NONE
		                " leaves them out",
		                common->output, common->operands[0]);
}

static int
report_run(void *context, struct portolan_error *error)
{
	struct report_request *request = context;
	const struct run_query *query = &request->common.query;
	int status;

	(void)error;
	if (query->epochs_given && !query->epochs_auto && query->epoch_to != UINT32_MAX)
		request->epochs = memory_text("%u:%u", query->epoch_from, query->epoch_to);
	else if (query->epochs_given && !query->epochs_auto)
		request->epochs = memory_text("%u:", query->epoch_from);
	else
		request->epochs = memory_text("auto");
	request->of_losses = report_is_of_losses(&request->common);
	report_ask_all(request);
	report_begin_page(request);
	report_answer(request);
	report_advise(request);
	report_write(request);
	report_say_texts(request);
	status = report_status(request);
	for (size_t i = 0; i < sizeof(request->children) / sizeof(request->children[0]); i++)
		child_free(&request->children[i]);
	json_decref(request->page.root);
	free(request->epochs);
	return status;
}

#define TO(member) .offset = offsetof(struct report_request, member)
static const struct option_spec options[] = {
        {"data", "FILE", OPTION_INPUT, TO(data), .needs = "id-field", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(id_field), .needs = "data", .often = true},
        {"text", "FIELD[,FIELD]", OPTION_TEXT, TO(texts), .needs = "data", .often = true},
        {"label-field", "FIELD", OPTION_TEXT, TO(label_field), .old_names = "label", .needs = "text", .often = true},
        {"flips", "FILE", OPTION_INPUT, TO(flips)},
        {"glue", NULL, OPTION_FLAG, TO(glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {0},
};
#undef TO

extern const struct help help_report;

const struct command report_command = {
        .name = "report",
        .operands = "RUN [RUN]...",
        .help = &help_report,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_LOSS_THRESHOLD | COMMON_JSON | COMMON_STRICT |
                  COMMON_THREADS,
        .options = options,
        .shows_texts = true,
        .operand = "run",
        .least = 1,
        .most = REPORT_RUNS_MAX,
        .request_size = sizeof(struct report_request),
        .check = report_check,
        .run = report_run,
};
