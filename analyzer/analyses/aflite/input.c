/*
 * input.c: gives every example a row of the features, a label and, if asked for, a group. Of a run, those examples take part
 * that have a row and a gold label, by ascending id. Without a run, every row is an example. Those that --exclude lists take no
 * part.
 */
#include "input.h"

#include "die/memory.h"
#include "row_ids.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
input_close(struct input *input)
{
	matrix_source_free(&input->source);
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
	return (struct row_ids_request){.rows = (size_t)input->features.array.header.shape[0],
	                                .features = request->features,
	                                .list = request->feature_ids,
	                                .data = request->data,
	                                .id_field = request->id_field,
	                                .glue = request->glue};
}

/* Labels and groups are taken row by row. If they are fields of the user's own file, its records have to be in the order of the
 * rows. */
static int
input_check_order(const struct input *input, const struct input_request *request, struct portolan_error *error)
{
	const struct row_ids_request ids = input_row_ids(input, request);

	if (!request->feature_ids ||
	    !(input_is_own(request, request->labels) || input_is_own(request, request->groups)))
		return 0;
	return row_ids_check_order(&ids, error);
}

/* Refuses labels or groups that are not as many as the rows. */
static int
input_refuse_count(const struct input *input, const char *path, const char *what, const struct labels *labels,
                   struct portolan_error *error)
{
	size_t count = labels->count;

	if (labels->passed > 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has %zu %s without the %zu records that --glue passes over, and %s has %llu rows: "
		                 "make features of the others alone",
		                 path, count, what, labels->passed, input->features.array.path,
		                 (unsigned long long)input->features.array.header.shape[0]);
	return error_set(error, PORTOLAN_E_INVALID, "%s has %zu %s, and %s has %llu rows", path, count, what,
	                 input->features.array.path, (unsigned long long)input->features.array.header.shape[0]);
}

/* Makes room for n examples, and fills in[i] with whether example order[i] takes part, as far as --exclude says. */
static int
input_exclude(struct input *input, const struct input_request *request, const uint32_t *order, size_t n, uint8_t *in,
              struct portolan_error *error)
{
	struct ids_index index;
	int code;

	input->examples = memory_new(n, sizeof(*input->examples));
	input->rows = memory_new(n, sizeof(*input->rows));
	memset(in, 1, n);
	if (!request->exclude)
		return 0;
	input->exclude = (struct pool_list){.path = request->exclude, .is_exclusion = true};
	code = ids_index_init(&index, input->ids, order, n, error);
	if (code >= 0)
		code = pool_apply(&index, input->has_run ? "the run" : "the rows", &input->exclude, in, n, error);
	ids_index_free(&index);
	return code;
}

static void
input_add_example(struct input *input, uint32_t example, uint32_t row)
{
	input->examples[input->count] = example;
	input->rows[input->count++] = row;
}

/* Makes an example of every row that takes part. */
static int
input_take_rows(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	const struct row_ids_request ids = input_row_ids(input, request);
	size_t n = ids.rows;
	CLEANUP_FREE uint32_t *order = memory_new(n, sizeof(*order));
	CLEANUP_FREE uint8_t *in = memory_new(n, 1);
	int code = row_ids_read(&input->row_ids, &ids, error);

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	input->ids = &input->row_ids;
	if (code >= 0)
		code = input_exclude(input, request, order, n, in, error);
	for (size_t i = 0; code >= 0 && i < n; i++)
		if (in[i])
			input_add_example(input, (uint32_t)i, (uint32_t)i);
	input->excluded = n - input->count;
	return code;
}

static int
input_read_files(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	struct npy_array *array = &input->features.array;
	int code = npy_open(array, request->features, error);

	if (code >= 0)
		code = npy_check_matrix_any(array, error);
	if (code >= 0 && array->header.shape[0] >= UINT32_MAX)
		code = error_set(error, PORTOLAN_E_INVALID, "%s has too many rows: at most 4,294,967,294",
		                 request->features);
	if (code >= 0)
		code = labels_read(&input->labels, "--labels", request->labels, "--label-field", request->label_field,
		                   input_glue_id(request, request->labels), error);
	if (code >= 0 && input->labels.count != array->header.shape[0])
		code = input_refuse_count(input, request->labels, "labels", &input->labels, error);
	if (code >= 0)
		code = input_take_rows(input, request, error);
	if (code >= 0 && input->excluded > 0)
		labels_keep(&input->labels, input->rows, input->count);
	return code;
}

/* Adds the name of the example's class; if the run has no names, its number. */
static void
input_add_label(struct input *input, uint32_t example)
{
	const char *label = dynamics_label(&input->dynamics, example);
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)input->dynamics.gold[example]);
	label = label ? label : number;
	labels_add(&input->labels, label, strlen(label));
}

/* Makes examples of those of the run that have a row and a label, and are not left out. */
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

static int
input_read_run(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	struct dynamics_request wanted = {.gold = true};
	struct dynamics *dynamics = &input->dynamics;
	CLEANUP_FREE uint8_t *in = NULL;
	int code = dynamics_load(dynamics, request->query, request->run, &wanted, error);

	if (code < 0)
		return code;
	input->has_run = true;
	input->ids = &dynamics->ids;
	in = memory_new(dynamics->count, 1);
	code = features_open(&input->features, request->features, request->feature_ids, dynamics, true, error);
	if (code >= 0)
		code = input_exclude(input, request, dynamics->order, dynamics->count, in, error);
	if (code < 0)
		return code;
	input_take_observed(input, in);
	labels_finish(&input->labels);
	return 0;
}

/* Reads a group for each row of the features, and brings the groups into the order of the examples. */
static int
input_read_groups(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	int code = labels_read(&input->groups, "--groups", request->groups, "--group-field", request->group_field,
	                       input_glue_id(request, request->groups), error);

	if (code < 0)
		return code;
	if (input->groups.count != input->features.array.header.shape[0])
		return input_refuse_count(input, request->groups, "groups", &input->groups, error);
	input->has_groups = true;
	labels_keep(&input->groups, input->rows, input->count);
	return 0;
}

/* Refuses labels that all differ: most likely, ids were given. */
static int
input_refuse_ids(const struct input *input, const struct input_request *request, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s%s: all %zu labels are different, as ids are, and nothing can be learned of them: %s",
	                 request->run ? "run " : "", request->run ? request->run : request->labels, input->count,
	                 request->label_field ? "say the field of the labels with --label-field FIELD"
	                                      : "say the file of the labels with --labels FILE");
}

/* Refuses an input without examples. */
static int
input_refuse_nobody(const struct input *input, const struct input_request *request, struct portolan_error *error)
{
	if (input->excluded > 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s leaves no example that could take part",
		                 request->exclude);
	if (!request->run)
		return error_set(error, PORTOLAN_E_INVALID, "%s has no rows", request->features);
	return error_set(error, PORTOLAN_E_INVALID, "no example of run '%s' has a row in %s and a gold label",
	                 request->run, request->features);
}

int
input_open(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	int code;

	*input = (struct input){0};
	code = request->run ? input_read_run(input, request, error) : input_read_files(input, request, error);
	if (code >= 0 && input->count == 0)
		code = input_refuse_nobody(input, request, error);
	if (code >= 0 && input->count > 2 && input->labels.class_count == input->count)
		code = input_refuse_ids(input, request, error);
	if (code >= 0 && request->data) {
		code = join_open(&input->join, request->data, request->id_field, request->glue, input->ids,
		                 input->examples, input->count, error);
		input->has_join = code >= 0;
	}
	if (code >= 0 && request->groups)
		code = input_read_groups(input, request, error);
	if (code >= 0)
		code = input_check_order(input, request, error);
	if (code < 0)
		return code;
	input->source = (struct matrix_source){.array = &input->features.array,
	                                       .rows = input->rows,
	                                       .count = input->count,
	                                       .kernels = request->kernels,
	                                       .threads = request->threads,
	                                       .standardise = request->standardise};
	return matrix_survey(&input->source, error);
}
