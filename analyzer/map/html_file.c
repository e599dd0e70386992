/*
 * html_file.c: writes the file in this order: the page up to the place of its data; data that do not depend on the
 * file's size; p(gold) and correctness by epoch, if they fit; a description of the file, which says what was left out;
 * the rest of the page.
 */
#include "html_file.h"

#include "html_data.h"
#include "serve/answers.h"
#include "serve/page.h"

#include "base/number.h"
#include "map_sample.h"
#include "output/report.h"
#include "selection/manifest.h"
#include "source.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT_MOST 1024 /* bytes of "left-out", which is written after the size is known */

struct work {
	const struct html_file_request *request;
	struct html_file *file;
	struct view view; /* with the file's dynamics */
	struct texts *texts;
	const struct attribute *column; /* that colours the points, of the user's file; or NULL */
	char colour[320];               /* its name in the page */
	uint32_t *places;
	struct html_data data;
};

/* Measures of the run, by the names on the command line. */
static int
check_measure(const struct work *work, const char *option, const char *name, struct portolan_error *error)
{
	const struct dynamics *dynamics = &work->view.dynamics;

	return dynamics_column(dynamics, name) ? 0 : map_source_unknown(dynamics, option, name, error);
}

static int
choose_colour(struct work *work, struct portolan_error *error)
{
	const char *colour = work->request->colour ? work->request->colour : "correctness";
	struct portolan_error unknown;
	bool is_known = strcmp(colour, "gold") == 0 || strcmp(colour, "none") == 0 ||
	                dynamics_column(&work->view.dynamics, colour);

	if (!is_known && work->texts && texts_column(work->texts, colour, &work->column, &unknown) >= 0) {
		snprintf(work->colour, sizeof(work->colour), "data:%s", colour);
		return 0;
	}
	snprintf(work->colour, sizeof(work->colour), "%s", colour);
	return is_known ? 0 : check_measure(work, "--colour", colour, error);
}

static void
name_range(struct view *view)
{
	const struct dynamics *dynamics = &view->dynamics;

	if (dynamics->range_given && dynamics->epoch_to != UINT32_MAX)
		snprintf(view->range, sizeof(view->range), "%u:%u", dynamics->epoch_from, dynamics->epoch_to);
	else if (dynamics->range_given)
		snprintf(view->range, sizeof(view->range), "%u:", dynamics->epoch_from);
	snprintf(view->version, sizeof(view->version), "file");
}

static int
load(struct work *work, struct portolan_error *error)
{
	const struct html_file_request *request = work->request;
	const struct dynamics_request wanted = {.measures = MEASURE_ALL, .gold = true, .user = true};
	struct view *view = &work->view;
	int code = 0;

	if (request->data)
		code = texts_open(&work->texts, request->data, request->id_field, request->glue, request->text_fields,
		                  request->text_count, error);
	if (code >= 0)
		code = dynamics_load(&view->dynamics, request->query, request->run, &wanted, error);
	if (code < 0)
		return code;
	code = view_complete(view, view->dynamics.store, error);
	if (request->cuts)
		view->cuts = *request->cuts;
	name_range(view);
	if (code >= 0)
		code = check_measure(work, "--x", request->x, error);
	if (code >= 0)
		code = check_measure(work, "--y", request->y, error);
	return code < 0 ? code : choose_colour(work, error);
}

static int
choose_places(struct work *work, struct portolan_error *error)
{
	struct map_sample sample;

	map_sample_draw(&sample, NULL, work->view.dynamics.count, work->request->sample, work->request->seed);
	work->places = malloc((sample.count + 1) * sizeof(*work->places));
	for (size_t i = 0; work->places && i < sample.count; i++)
		work->places[i] = (uint32_t)sample.items[i].key;
	work->file->examples = sample.count;
	map_sample_free(&sample);
	return work->places ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

static int
write_stories(struct work *work, struct portolan_error *error)
{
	uint64_t whole = work->data.blocks.written + html_data_stories_size(&work->data) + LEFT_OUT_MOST +
	                 page_document_end_size;

	if (whole <= HTML_FILE_MOST)
		return html_data_stories(&work->data, work->view.dynamics.store, error);
	snprintf(
	        work->file->left_out, sizeof(work->file->left_out),
	        "p(gold) and correctness by epoch, with which the file would have %s bytes, over %s; a smaller --sample "
	        "makes room",
	        NUMBER_GROUPED(whole), NUMBER_GROUPED(HTML_FILE_MOST));
	return 0;
}

/* "view": as GET api/view answers. */
static void
add_view(struct report *report, const struct work *work)
{
	view_report(report, &work->view, work->texts);
}

static void
add_labels(struct report *report, const struct dynamics *dynamics)
{
	report_begin_list(report, "labels");
	for (uint64_t l = 0; l < dynamics->info->label_count; l++)
		report_text(report, NULL, store_snapshot_label(dynamics->snapshot, l));
	report_end(report);
}

static void
add_column(struct report *report, const struct attribute *column)
{
	size_t length;

	report_begin_list(report, "data_columns");
	if (column) {
		report_begin(report, NULL);
		report_text(report, "name", column->name);
		report_text(report, "kind", column->kind == ATTRIBUTE_NUMBER ? "number" : "category");
		report_begin_list(report, "labels");
		for (uint32_t i = 0; column->kind == ATTRIBUTE_CATEGORY && i < column->names.count; i++)
			report_text(report, NULL, names_text(&column->names, i, &length));
		report_end(report);
		report_end(report);
	}
	report_end(report);
}

/* "about": facts that the page has from nowhere else. */
static void
add_about(struct report *report, const struct work *work)
{
	const struct html_file_request *request = work->request;

	report_begin(report, NULL);
	report_text(report, "portolan", PORTOLAN_VERSION);
	manifest_add_created(report);
	report_whole(report, "examples", work->file->examples);
	report_whole(report, "seed", request->seed);
	report_text(report, "title", request->title);
	report_begin(report, "shown");
	report_text(report, "x", request->x);
	report_text(report, "y", request->y);
	report_text(report, "colour", work->colour);
	report_end(report);
	add_labels(report, &work->view.dynamics);
	add_column(report, work->column);
	report_end(report);
}

/* What was left out, and why; null: nothing was. */
static void
add_left_out(struct report *report, const struct work *work)
{
	report_text(report, NULL, *work->file->left_out ? work->file->left_out : NULL);
}

static int
write_json(struct work *work, const char *name, void (*add)(struct report *report, const struct work *work),
           struct portolan_error *error)
{
	struct html_blocks *blocks = &work->data.blocks;
	struct report report;
	int code = report_open_memory(&report, error);

	if (code < 0)
		return code;
	add(&report, work);
	code = output_check(&report.output, error);
	html_block_begin(blocks, name, HTML_JSON);
	html_block_write(blocks, report.output.buffer, report.output.used);
	html_block_end(blocks);
	output_discard(&report.output);
	return code;
}

static int
write_document(struct work *work, struct portolan_error *error)
{
	struct html_data *data = &work->data;
	int code;

	html_blocks_text(&data->blocks, page_document_begin, page_document_begin_size);
	code = write_json(work, "view", add_view, error);
	if (code >= 0)
		code = write_json(work, "about", add_about, error);
	if (code >= 0)
		code = html_data_examples(data, error);
	if (code >= 0 && work->request->text_count > 0)
		code = html_data_texts(data, error);
	if (code >= 0 && work->column)
		code = html_data_column(data, work->column, error);
	if (code >= 0)
		code = write_stories(work, error);
	if (code >= 0)
		code = write_json(work, "left-out", add_left_out, error);
	html_blocks_text(&data->blocks, page_document_end, page_document_end_size);
	work->file->bytes = data->blocks.written;
	return code;
}

static int
write_file(struct work *work, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, work->request->output, error);

	if (code < 0)
		return code;
	work->data = (struct html_data){
	        .blocks.output = &output,
	        .view = &work->view,
	        .texts = work->texts,
	        .places = work->places,
	        .n = work->file->examples,
	};
	code = write_document(work, error);
	if (code >= 0)
		code = texts_check(work->texts, error);
	if (code >= 0)
		code = output_finish(&output, error);
	output_discard(&output);
	return code;
}

int
html_file_write(struct html_file *file, const struct html_file_request *request, struct portolan_error *error)
{
	struct work work = {.request = request, .file = file};
	int code;

	*file = (struct html_file){0};
	code = load(&work, error);
	if (code >= 0)
		code = choose_places(&work, error);
	if (code >= 0)
		code = write_file(&work, error);
	file->dynamics = work.view.dynamics;
	work.view.dynamics = (struct dynamics){0};
	view_finish(&work.view);
	texts_free(work.texts);
	free(work.places);
	return code;
}

void
html_file_free(struct html_file *file)
{
	dynamics_free(&file->dynamics);
}
