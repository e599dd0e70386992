/*
 * input.c: reads what `portolan aflite` filters (input.h): gives every example a row of the features, a label and, if
 * asked for, a group.
 *
 * With a run, its examples that have a row and a gold label take part, by ascending id. Without a run, every row is an
 * example. Those that --exclude lists take no part.
 */
#include "input.h"

#include "die/die.h"
#include "die/memory.h"
#include "row_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
input_close(struct input *input)
{
	matrix_source_free(&input->source);
	models_free(&input->models);
	features_close(&input->features);
	labels_free(&input->labels);
	labels_free(&input->groups);
	if (input->has_run)
		dynamics_free(&input->dynamics);
	ids_free(&input->row_ids);
	join_free(&input->join);
	free(input->examples);
	free(input->rows);
	*input = (struct input){0};
}

/* Whether `path`, which may be NULL, is the user's own file. */
static bool
input_is_own(const struct input_request *request, const char *path)
{
	struct stat one, other;

	return path && request->data && stat(path, &one) == 0 && stat(request->data, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* The field of the ids of `path`, if this is the user's own file, and is read as files/glue.h says; else NULL. */
static const char *
input_glue_id(const struct input_request *request, const char *path)
{
	return request->glue && input_is_own(request, path) ? request->id_field : NULL;
}

static struct row_ids_request
input_row_ids(const struct input *input, const struct input_request *request)
{
	return (struct row_ids_request){.rows = input->features.count,
	                                .features = input->features.path,
	                                .unit = input->features.unit,
	                                .list = request->feature_ids,
	                                .data = request->data,
	                                .id_field = request->id_field,
	                                .glue = request->glue};
}

/* Checks that the user's own file has its records in the order of the rows, if labels or groups are fields of it: they
 * are taken row by row. */
static void
input_check_order(const struct input *input, const struct input_request *request)
{
	const struct row_ids_request ids = input_row_ids(input, request);

	if (request->feature_ids && (input_is_own(request, request->labels) || input_is_own(request, request->groups)))
		row_ids_check_order(&ids);
}

/* Refuses a list with more or fewer labels (or groups) than rows. */
static void
input_check_count(const struct input *input, const char *path, const char *what, const struct labels *labels)
{
	const struct features *of = &input->features;

	if (labels->count != of->count && labels->passed > 0)
		die("%s has %zu %s without the %zu records that --glue passes over, and %s has %zu %ss: "
		    "make features of the others alone",
		    path, labels->count, what, labels->passed, of->path, of->count, of->unit);
	if (labels->count != of->count)
		die("%s has %zu %s, and %s has %zu %ss", path, labels->count, what, of->path, of->count, of->unit);
}

/* Makes room for n examples. in[i] becomes 0 if --exclude lists example order[i], else 1. */
static void
input_exclude(struct input *input, const struct input_request *request, const uint32_t *order, size_t n, uint8_t *in)
{
	struct ids_index index;

	input->examples = memory_new(n, sizeof(*input->examples));
	input->rows = memory_new(n, sizeof(*input->rows));
	memset(in, 1, n);
	if (!request->exclude)
		return;
	input->exclude = (struct pool_list){.path = request->exclude, .is_exclusion = true};
	must(ids_index_init(&index, input->ids, order, n, &failure));
	pool_apply(&index,
	           input->has_run      ? "the run"
	           : request->features ? "the rows"
	                               : "the columns",
	           &input->exclude, in, n);
	ids_index_free(&index);
}

static void
input_add_example(struct input *input, uint32_t example, uint32_t row)
{
	input->examples[input->count] = example;
	input->rows[input->count++] = row;
}

/* Makes an example of every row that takes part. */
static void
input_take_rows(struct input *input, const struct input_request *request)
{
	const struct row_ids_request ids = input_row_ids(input, request);
	size_t n = ids.rows;
	CLEANUP_FREE uint32_t *order = memory_new(n, sizeof(*order));
	CLEANUP_FREE uint8_t *in = memory_new(n, 1);

	row_ids_read(&input->row_ids, &ids);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	input->ids = &input->row_ids;
	input_exclude(input, request, order, n, in);
	for (size_t i = 0; i < n; i++)
		if (in[i])
			input_add_example(input, (uint32_t)i, (uint32_t)i);
	input->excluded = n - input->count;
}

static void
input_read_files(struct input *input, const struct input_request *request)
{
	if (request->labels) {
		labels_read(&input->labels, "--labels", request->labels, "--label-field", request->label_field,
		            input_glue_id(request, request->labels));
		input_check_count(input, request->labels, "labels", &input->labels);
	}
	input_take_rows(input, request);
	if (input->excluded > 0 && request->labels)
		labels_keep(&input->labels, input->rows, input->count);
}

/* Adds the example's label: the name of its class, or, in a run without names, the class's number. */
static void
input_add_label(struct input *input, uint32_t example)
{
	const char *label = dynamics_label(&input->dynamics, example);
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)input->dynamics.gold[example]);
	label = label ? label : number;
	labels_add(&input->labels, label, strlen(label));
}

/* Lists the run's examples that have a row and a label and that --exclude does not list. */
static void
input_take_observed(struct input *input, const uint8_t *in)
{
	const struct dynamics *dynamics = &input->dynamics;

	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t example = dynamics->order[i], row = input->features.rows[example];

		if (!in[i]) {
			input->excluded++;
		} else if (row == FEATURES_NO_ROW) {
			input->without_row++;
		} else if (dynamics->gold[example] < 0) {
			input->without_label++;
		} else {
			input_add_example(input, example, row);
			input_add_label(input, example);
		}
	}
}

static void
input_read_run(struct input *input, const struct input_request *request)
{
	struct dynamics_request wanted = {.gold = true};
	struct dynamics *dynamics = &input->dynamics;
	CLEANUP_FREE uint8_t *in = NULL;

	must(dynamics_load(dynamics, request->query, request->run, &wanted, &failure));
	input->has_run = true;
	input->ids = &dynamics->ids;
	in = memory_new(dynamics->count, 1);
	features_assign(&input->features, request->feature_ids, dynamics);
	input_exclude(input, request, dynamics->order, dynamics->count, in);
	input_take_observed(input, in);
	labels_finish(&input->labels);
}

/* Reads a group for each row of the features, and brings the groups into the order of the examples. */
static void
input_read_groups(struct input *input, const struct input_request *request)
{
	labels_read(&input->groups, "--groups", request->groups, "--group-field", request->group_field,
	            input_glue_id(request, request->groups));
	input_check_count(input, request->groups, "groups", &input->groups);
	input->has_groups = true;
	labels_keep(&input->groups, input->rows, input->count);
}

/* Refuses an input without examples. Also refuses labels that all differ: most likely the user gave ids. */
static void
input_check_examples(const struct input *input, const struct input_request *request)
{
	if (input->count == 0 && input->excluded > 0)
		die("%s leaves no example that could take part", request->exclude);
	if (input->count == 0 && !request->run)
		die("%s has no rows", input->features.path);
	if (input->count == 0)
		die("no example of run '%s' has a row in %s and a gold label", request->run, input->features.path);
	if (input->count > 2 && input->labels.class_count == input->count && !input->has_models)
		die("%s%s: all %zu labels are different, as ids are, and nothing can be learned of them: %s",
		    request->run ? "run " : "", request->run ? request->run : request->labels, input->count,
		    request->label_field ? "say the field of the labels with --label-field FIELD"
		                         : "say the file of the labels with --labels FILE");
}

/* Opens the features, or else the predictions, and finds out how many rows (or columns) there are. */
static void
input_open_rows(struct input *input, const struct input_request *request)
{
	struct features *features = &input->features;

	if (request->models)
		models_open(&input->models, request->models);
	if (request->features) {
		must(npy_open(&features->array, request->features, &failure));
		must(npy_check_matrix_any(&features->array, &failure));
		features->count = (size_t)features->array.header.shape[0];
	} else {
		features->count = (size_t)input->models.array.header.shape[1];
	}
	features->path = request->features ? request->features : request->models;
	features->unit = request->features ? "row" : "column";
	if (features->count >= UINT32_MAX)
		die("%s has too many %ss: at most 4,294,967,294", features->path, features->unit);
	if (request->models && input->models.array.header.shape[1] != features->count)
		die("%s has %llu columns, and %s has %zu rows: it needs a row for each model, and a column for each "
		    "example",
		    request->models, (unsigned long long)input->models.array.header.shape[1], features->path,
		    features->count);
}

static void
input_survey(struct input *input, const struct input_request *request)
{
	input->source = (struct matrix_source){.array = &input->features.array,
	                                       .rows = input->rows,
	                                       .count = input->count,
	                                       .kernels = request->kernels,
	                                       .threads = request->threads,
	                                       .standardise = request->standardise};
	matrix_survey(&input->source);
}

void
input_open(struct input *input, const struct input_request *request)
{
	*input = (struct input){.has_labels = request->labels || request->run,
	                        .has_models = request->models,
	                        .has_features = request->features};
	input_open_rows(input, request);
	if (request->run)
		input_read_run(input, request);
	else
		input_read_files(input, request);
	input_check_examples(input, request);
	if (request->data) {
		must(join_open(&input->join, request->data, request->id_field, request->glue, input->ids,
		               input->examples, input->count, &failure));
		input->has_join = true;
	}
	if (request->groups)
		input_read_groups(input, request);
	input_check_order(input, request);
	if (request->models)
		models_count(&input->models, input->rows, input->count);
	if (request->features)
		input_survey(input, request);
}
