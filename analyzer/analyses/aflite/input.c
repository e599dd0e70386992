/*
 * input.c: every example gets a row of the features, a label and, if asked for, a group. Of a run those examples take
 * part that have a row and a gold label, by ascending id. Without a run every row is an example. Whoever is to be left
 * out is not among them.
 */
#include "input.h"

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

/* Is `path`, which may be NULL, the user's own file? */
static bool
is_own(const struct input_request *request, const char *path)
{
	struct stat one, other;

	return path && request->data && stat(path, &one) == 0 && stat(request->data, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* The field of the ids of `path`, if this is the user's own file and is to be read as files/glue.h says; else NULL. */
static const char *
glue_id(const struct input_request *request, const char *path)
{
	return request->glue && is_own(request, path) ? request->id_field : NULL;
}

/* Labels and groups are taken row by row: those of the user's own file need its records in the order of the rows. */
static int
check_order(const struct input *input, const struct input_request *request, struct portolan_error *error)
{
	const struct row_ids_request ids = {(size_t)input->features.array.header.shape[0],
	                                    request->features,
	                                    request->feature_ids,
	                                    request->data,
	                                    request->id_field,
	                                    request->glue};

	if (!request->feature_ids || !(is_own(request, request->labels) || is_own(request, request->groups)))
		return 0;
	return row_ids_check_order(&ids, error);
}

static int
wrong_count(const struct input *input, const char *path, const char *what, const struct labels *labels,
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

/* Room for so many examples, and `in`, by position in the index: who is not left out. */
static int
begin(struct input *input, const struct input_request *request, const uint32_t *order, size_t n, uint8_t **in,
      struct portolan_error *error)
{
	struct ids_index index;
	int code;

	input->examples = malloc((n + 1) * sizeof(*input->examples));
	input->rows = malloc((n + 1) * sizeof(*input->rows));
	*in = malloc(n + 1);
	if (!input->examples || !input->rows || !*in)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", n);
	memset(*in, 1, n);
	if (!request->exclude)
		return 0;
	input->exclude = (struct pool_list){.path = request->exclude, .is_exclusion = true};
	code = ids_index_init(&index, input->ids, order, n, error);
	if (code >= 0)
		code = pool_apply(&index, input->has_run ? "the run" : "the rows", &input->exclude, *in, n, error);
	ids_index_free(&index);
	return code;
}

static void
add_example(struct input *input, uint32_t example, uint32_t row)
{
	input->examples[input->count] = example;
	input->rows[input->count++] = row;
}

/* Every row is an example. */
static int
take_rows(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	size_t n = (size_t)input->features.array.header.shape[0];
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	uint8_t *in = NULL;
	struct row_ids_request ids = {
	        n, request->features, request->feature_ids, request->data, request->id_field, request->glue};
	int code = order ? row_ids_read(&input->row_ids, &ids, error)
	                 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu rows", n);

	for (size_t i = 0; code >= 0 && i < n; i++)
		order[i] = (uint32_t)i;
	input->ids = &input->row_ids;
	if (code >= 0)
		code = begin(input, request, order, n, &in, error);
	for (size_t i = 0; code >= 0 && i < n; i++)
		if (in[i])
			add_example(input, (uint32_t)i, (uint32_t)i);
	input->excluded = n - input->count;
	free(order);
	free(in);
	return code;
}

static int
read_files(struct input *input, const struct input_request *request, struct portolan_error *error)
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
		                   glue_id(request, request->labels), error);
	if (code >= 0 && input->labels.count != array->header.shape[0])
		code = wrong_count(input, request->labels, "labels", &input->labels, error);
	if (code >= 0)
		code = take_rows(input, request, error);
	if (code >= 0 && input->excluded > 0)
		code = labels_keep(&input->labels, input->rows, input->count, error);
	return code;
}

/* The run's classes are named by its labels, where it has them. */
static int
add_label(struct input *input, uint32_t example, struct portolan_error *error)
{
	const char *label = dynamics_label(&input->dynamics, example);
	char number[16];

	if (label)
		return labels_add(&input->labels, label, strlen(label), error);
	snprintf(number, sizeof(number), "%d", (int)input->dynamics.gold[example]);
	return labels_add(&input->labels, number, strlen(number), error);
}

/* Those that have a row and a label, and are not left out. */
static int
take_observed(struct input *input, const uint8_t *in, struct portolan_error *error)
{
	const struct dynamics *dynamics = &input->dynamics;
	int code = 0;

	for (size_t i = 0; code >= 0 && i < dynamics->count; i++) {
		uint32_t example = dynamics->order[i], row = input->features.rows[example];

		if (!in[i]) {
			input->excluded++;
			continue;
		}
		if (row == FEATURES_NO_ROW || dynamics->gold[example] < 0) {
			*(row == FEATURES_NO_ROW ? &input->without_row : &input->without_label) += 1;
			continue;
		}
		add_example(input, example, row);
		code = add_label(input, example, error);
	}
	return code;
}

static int
read_run(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	struct dynamics_request wanted = {.gold = true};
	struct dynamics *dynamics = &input->dynamics;
	int code = dynamics_load(dynamics, request->query, request->run, &wanted, error);
	uint8_t *in = NULL;

	if (code < 0)
		return code;
	input->has_run = true;
	input->ids = &dynamics->ids;
	code = features_open(&input->features, request->features, request->feature_ids, dynamics, true, error);
	if (code >= 0)
		code = begin(input, request, dynamics->order, dynamics->count, &in, error);
	if (code >= 0)
		code = take_observed(input, in, error);
	free(in);
	return code >= 0 ? labels_finish(&input->labels, error) : code;
}

/* One for each row of the features; they are brought into the order of the examples. */
static int
read_groups(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	int code = labels_read(&input->groups, "--groups", request->groups, "--group-field", request->group_field,
	                       glue_id(request, request->groups), error);

	if (code < 0)
		return code;
	if (input->groups.count != input->features.array.header.shape[0])
		return wrong_count(input, request->groups, "groups", &input->groups, error);
	input->has_groups = true;
	return labels_keep(&input->groups, input->rows, input->count, error);
}

/* Every label is another: what was given are ids, most likely. */
static int
refuse_ids(const struct input *input, const struct input_request *request, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s%s: all %zu labels are different, as ids are, and nothing can be learned of them: %s",
	                 request->run ? "run " : "", request->run ? request->run : request->labels, input->count,
	                 request->label_field ? "say the field of the labels with --label-field FIELD"
	                                      : "say the file of the labels with --labels FILE");
}

/* Nobody takes part. */
static int
refuse_nobody(const struct input *input, const struct input_request *request, struct portolan_error *error)
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
	code = request->run ? read_run(input, request, error) : read_files(input, request, error);
	if (code >= 0 && input->count == 0)
		code = refuse_nobody(input, request, error);
	if (code >= 0 && input->count > 2 && input->labels.class_count == input->count)
		code = refuse_ids(input, request, error);
	if (code >= 0 && request->data) {
		code = join_open(&input->join, request->data, request->id_field, request->glue, input->ids,
		                 input->examples, input->count, error);
		input->has_join = code >= 0;
	}
	if (code >= 0 && request->groups)
		code = read_groups(input, request, error);
	if (code >= 0)
		code = check_order(input, request, error);
	if (code >= 0) {
		input->source = (struct matrix_source){.array = &input->features.array,
		                                       .rows = input->rows,
		                                       .count = input->count,
		                                       .kernels = request->kernels,
		                                       .threads = request->threads,
		                                       .standardise = request->standardise};
		code = matrix_survey(&input->source, error);
	}
	if (code < 0)
		input_close(input);
	return code;
}
