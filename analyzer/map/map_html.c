/*
 * map_html.c: writes the map of a run as a page with the run's data inside, for `map -o FILE.html` (map_html.h).
 *
 * The file has, in this order: the page up to the place of its data; the data that every file has; p(gold) and
 * correctness by epoch, if there is room for them; what was left out; and the rest of the page.
 */
#include "map_html.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "html_data.h"
#include "output/report.h"
#include "regions/provenance.h"
#include "serve/page.h"

#include <string.h>

#define BYTES_MOST 100000000u
#define SAMPLE 200000      /* the most examples in the page, unless --sample says otherwise */
#define LEFT_OUT_MOST 1024 /* room for "left-out", which is written after the size was checked */

struct map_page {
	const struct map_html *html;
	const struct map_request *request;
	struct map_source_request shown; /* the axes and the colour, as they are for this kind of run */
	const struct common_options *common;
	struct view view;
	struct html_data data;
	const struct attribute *column; /* the column of the user's file that colours the points; NULL: none does */
	char colour[320];               /* what colours the points, as the page names it */
	char left_out[256];             /* what was left out of the file, and why; "": nothing */
};

bool
map_html_is_meant(const char *output)
{
	const char *dot = output ? strrchr(output, '.') : NULL;

	return dot && strcasecmp(dot, ".html") == 0;
}

int
map_html_check(const struct common_options *common)
{
	static const char *const of_pictures[] = {"density", "beside",  "shift",  "path",      "frames",
	                                          "from",    "compact", "script", "highlight", "corrections",
	                                          "facet",   "width",   "font"};

	for (size_t i = 0; i < sizeof(of_pictures) / sizeof(of_pictures[0]); i++)
		if (option_given(common, of_pictures[i]))
			return options_wrong(common, "--%s is of pictures: -o FILE.png, FILE.svg or FILE.pdf",
			                     of_pictures[i]);
	if (option_given(common, "data") && !option_given(common, "id-field"))
		return options_wrong(common, "--data of a page needs --id-field FIELD");
	return 0;
}

static void
map_page_check_measure(const struct map_page *file, const char *option, const char *name)
{
	if (!dynamics_column(&file->view.dynamics, name))
		map_source_no_measure(&file->view.dynamics, option, name);
}

/* Finds what colours the points: a measure, "gold", "none", or else the name of a column of the user's file. */
static void
map_page_choose_colour(struct map_page *file)
{
	const char *colour = file->shown.colour ? file->shown.colour : "correctness";
	struct portolan_error unknown;
	bool is_known = strcmp(colour, "gold") == 0 || strcmp(colour, "none") == 0 ||
	                dynamics_column(&file->view.dynamics, colour);

	if (!is_known && file->data.texts && texts_column(file->data.texts, colour, &file->column, &unknown) >= 0) {
		snprintf(file->colour, sizeof(file->colour), "data:%s", colour);
		return;
	}
	if (!is_known)
		map_source_no_measure(&file->view.dynamics, "--colour", colour);
	snprintf(file->colour, sizeof(file->colour), "%s", colour);
}

/* Gives the view the names that `serve` would give it. Its range of epochs is written as --epochs takes it. */
static void
map_page_name_view(struct view *view)
{
	const struct dynamics *dynamics = &view->dynamics;

	if (dynamics->range_given && dynamics->epoch_to != UINT32_MAX)
		snprintf(view->range, sizeof(view->range), "%u:%u", dynamics->epoch_from, dynamics->epoch_to);
	else if (dynamics->range_given)
		snprintf(view->range, sizeof(view->range), "%u:", dynamics->epoch_from);
	snprintf(view->version, sizeof(view->version), "file");
}

static void
map_page_load(struct map_page *file)
{
	const struct map_source_request *source = &file->request->source;
	const struct dynamics_request wanted = {
	        .measures = MEASURE_ALL, .gold = true, .user = true, .trend = true, .losses = true};
	struct view *view = &file->view;

	if (file->html->data)
		must(texts_open(&file->data.texts, file->html->data, source->id_field, source->glue, file->html->texts,
		                file->html->text_count, &failure));
	must(dynamics_load(&view->dynamics, file->request->query, file->request->run, &wanted, &failure));
	must(view_complete(view, view->dynamics.store, &failure));
	if (source->cuts)
		view->cuts = *source->cuts;
	map_page_name_view(view);
	if (view->dynamics.info->of_losses)
		file->shown = map_source_of_losses(&view->dynamics, source);
	map_page_check_measure(file, "--x", file->shown.x);
	map_page_check_measure(file, "--y", file->shown.y);
	map_page_choose_colour(file);
}

static void
map_page_choose_places(struct map_page *file)
{
	uint64_t most = option_given(file->common, "sample") ? file->request->options.sample : SAMPLE;
	struct map_sample sample;

	map_sample_draw(&sample, NULL, NULL, file->view.dynamics.count, most, file->request->options.seed);
	file->data.n = sample.count;
	file->data.places = memory_new(sample.count, sizeof(*file->data.places));
	for (size_t i = 0; i < sample.count; i++)
		file->data.places[i] = (uint32_t)sample.items[i].key;
	map_sample_free(&sample);
}

static void
map_page_write_stories(struct map_page *file)
{
	uint64_t whole =
	        file->data.written + html_data_stories_size(&file->data) + LEFT_OUT_MOST + page_document_end_size;

	if (whole <= BYTES_MOST)
		html_data_stories(&file->data, file->view.dynamics.store);
	else
		snprintf(file->left_out, sizeof(file->left_out),
		         "%s by epoch, with which the file would have %s bytes, over %s; a "
		         "smaller --sample makes room",
		         file->view.dynamics.info->of_losses ? "losses" : "p(gold) and correctness",
		         NUMBER_GROUPED(whole), NUMBER_GROUPED(BYTES_MOST));
}

/* Adds what the page must know of the column. The labels of categories come with their ranks, which are the values on
 * an axis: JavaScript would sort texts in another order, and the page may show a text otherwise than the file has it. */
static void
map_page_add_column(struct report *report, const struct attribute *column)
{
	const bool is_number = column->kind == ATTRIBUTE_NUMBER;
	CLEANUP_FREE uint32_t *ranks = is_number ? NULL : memory_need(names_rank(&column->names));
	uint32_t count = is_number ? 0 : column->names.count;
	size_t length;

	report_begin(report, NULL);
	report_text(report, "name", column->name);
	report_text(report, "kind", is_number ? "number" : "category");
	report_begin_list(report, "labels");
	for (uint32_t i = 0; i < count; i++)
		report_text(report, NULL, names_text(&column->names, i, &length));
	report_end(report);
	report_begin_list(report, "ranks");
	for (uint32_t i = 0; i < count; i++)
		report_whole(report, NULL, ranks[i]);
	report_end(report);
	report_end(report);
}

/* Writes an element that holds a report as JSON, and releases the report, which is in memory. */
static void
map_page_write_json(struct map_page *file, const char *name, struct report *json)
{
	must(output_check(&json->output, &failure));
	html_json_begin(&file->data, name);
	html_json_write(&file->data, json->output.buffer, json->output.used);
	html_end(&file->data);
	output_discard(&json->output);
}

/* Writes "view": what `serve` answers to GET api/view. */
static void
map_page_write_view(struct map_page *file)
{
	struct report json;

	must(report_open_memory(&json, &failure));
	view_report(&json, &file->view, file->data.texts, NULL);
	map_page_write_json(file, "view", &json);
}

/* Writes "about": facts that the page has from nowhere else. */
static void
map_page_write_about(struct map_page *file)
{
	const struct map_request *request = file->request;
	const struct dynamics *dynamics = &file->view.dynamics;
	struct report json;

	must(report_open_memory(&json, &failure));
	report_begin(&json, NULL);
	report_text(&json, "portolan", PORTOLAN_VERSION);
	provenance_add_created(&json);
	report_whole(&json, "examples", file->data.n);
	report_whole(&json, "seed", request->options.seed);
	report_text(&json, "title", request->title);
	report_begin(&json, "shown");
	report_text(&json, "x", file->shown.x);
	report_text(&json, "y", file->shown.y);
	report_text(&json, "colour", file->colour);
	report_end(&json);
	report_begin_list(&json, "labels");
	for (uint64_t l = 0; l < dynamics->info->label_count; l++)
		report_text(&json, NULL, store_snapshot_label(dynamics->snapshot, l));
	report_end(&json);
	report_begin_list(&json, "data_columns");
	if (file->column)
		map_page_add_column(&json, file->column);
	report_end(&json);
	report_end(&json);
	map_page_write_json(file, "about", &json);
}

/* Writes "left-out": what was left out of the page, and why; null: nothing was. */
static void
map_page_write_left_out(struct map_page *file)
{
	struct report json;

	must(report_open_memory(&json, &failure));
	report_text(&json, NULL, *file->left_out ? file->left_out : NULL);
	map_page_write_json(file, "left-out", &json);
}

static void
map_page_write_document(struct map_page *file)
{
	struct html_data *data = &file->data;

	html_write(data, page_document_begin, page_document_begin_size);
	map_page_write_view(file);
	map_page_write_about(file);
	html_data_examples(data);
	if (file->html->text_count > 0)
		html_data_texts(data);
	if (file->column)
		html_data_column(data, file->column);
	must(output_check(data->output, &failure));
	map_page_write_stories(file);
	map_page_write_left_out(file);
	html_write(data, page_document_end, page_document_end_size);
	must(texts_check(data->texts, &failure));
}

static void
map_page_write(struct map_page *file)
{
	struct output output;

	must(output_open(&output, file->common->output, &failure));
	file->data.view = &file->view;
	file->data.output = &output;
	map_page_write_document(file);
	must(output_finish(&output, &failure));
}

static void
map_page_report(const struct map_page *file)
{
	const struct dynamics *dynamics = &file->view.dynamics;
	struct report report;

	must(report_open(&report, NULL, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", dynamics->info->name);
	report_whole(&report, "examples", dynamics->info->examples);
	report_whole(&report, "observed", dynamics->count);
	report_whole(&report, "in_file", file->data.n);
	report_text(&report, "left_out", *file->left_out ? file->left_out : NULL);
	report_whole(&report, "bytes", file->data.written);
	report_begin_list(&report, "files");
	report_text(&report, NULL, file->common->output);
	report_end(&report);
	report_end(&report);
	must(report_close(&report, &failure));
}

/* Tells the user what was left out of the page, and what is incomplete in the run. Returns an exit status. */
static int
map_page_warn(const struct map_page *file)
{
	const struct dynamics *dynamics = &file->view.dynamics;
	const char *output = file->common->output;

	if (file->data.n < dynamics->count)
		message_note("%s holds a random sample: %s of %s examples (--sample)", output,
		             NUMBER_GROUPED(file->data.n), NUMBER_GROUPED(dynamics->count));
	if (*file->left_out)
		message_warning("%s was written without %s", output, file->left_out);
	dynamics_report_variability(dynamics, MEASURE_BIT(MEASURE_VARIABILITY));
	return dynamics_report(dynamics, file->common->strict);
}

int
map_html_write(const struct map_html *html, const struct map_request *request, const struct common_options *common)
{
	struct map_page file = {.html = html, .request = request, .shown = request->source, .common = common};
	int status;

	map_page_load(&file);
	map_page_choose_places(&file);
	map_page_write(&file);
	if (common->json)
		map_page_report(&file);
	status = map_page_warn(&file);
	view_finish(&file.view);
	texts_free(file.data.texts);
	free(file.data.places);
	return status;
}
