/*
 * input.c: every example gets a row of the features, a label and, if asked for, a group. Of a run those examples take
 * part that have a row and a gold label, by ascending id.
 */
#include "input.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
input_close(struct input *input)
{
	matrix_source_free(&input->source);
	features_close(&input->features);
	labels_free(&input->labels);
	labels_free(&input->groups);
	if (input->has_run)
		dynamics_free(&input->dynamics);
	free(input->examples);
	free(input->rows);
	*input = (struct input){0};
}

static int
wrong_count(const struct input *input, const char *path, const char *what, size_t count, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s has %zu %s, and %s has %llu rows", path, count, what,
	                 input->features.array.path, (unsigned long long)input->features.array.header.shape[0]);
}

static int
read_files(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	struct npy_array *array = &input->features.array;
	int code = npy_open(array, request->features, error);

	if (code >= 0)
		code = npy_check_matrix_or_half(array, error);
	if (code >= 0 && array->header.shape[0] >= UINT32_MAX)
		code = error_set(error, PORTOLAN_E_INVALID, "%s has too many rows: at most 4,294,967,294",
		                 request->features);
	if (code >= 0)
		code = labels_read(&input->labels, "--labels", request->labels, "--label-field", request->label_field,
		                   error);
	if (code >= 0 && input->labels.count != array->header.shape[0])
		code = wrong_count(input, request->labels, "labels", input->labels.count, error);
	input->count = code >= 0 ? (size_t)array->header.shape[0] : 0;
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

static int
read_run(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	struct dynamics_request wanted = {.gold = true};
	struct dynamics *dynamics = &input->dynamics;
	int code = dynamics_load(dynamics, request->common, request->run, &wanted, error);

	if (code < 0)
		return code;
	input->has_run = true;
	code = features_open(&input->features, request->features, request->feature_ids, dynamics, true, error);
	if (code < 0)
		return code;
	input->examples = malloc((dynamics->count + 1) * sizeof(*input->examples));
	input->rows = malloc((dynamics->count + 1) * sizeof(*input->rows));
	if (!input->examples || !input->rows)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", dynamics->count);
	for (size_t i = 0; code >= 0 && i < dynamics->count; i++) {
		uint32_t example = dynamics->order[i], row = input->features.rows[example];

		if (row == FEATURES_NO_ROW || dynamics->gold[example] < 0) {
			*(row == FEATURES_NO_ROW ? &input->without_row : &input->without_label) += 1;
			continue;
		}
		input->examples[input->count] = example;
		input->rows[input->count++] = row;
		code = add_label(input, example, error);
	}
	return code >= 0 ? labels_finish(&input->labels, error) : code;
}

/* One for each row of the features; with a run they are brought into the order of the examples. */
static int
read_groups(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	int code =
	        labels_read(&input->groups, "--groups", request->groups, "--group-field", request->group_field, error);
	uint32_t *values;

	if (code < 0)
		return code;
	if (input->groups.count != input->features.array.header.shape[0])
		return wrong_count(input, request->groups, "groups", input->groups.count, error);
	input->has_groups = true;
	if (!input->rows)
		return 0;
	values = malloc((input->count + 1) * sizeof(*values));
	if (!values)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the groups");
	for (size_t i = 0; i < input->count; i++)
		values[i] = input->groups.values[input->rows[i]];
	free(input->groups.values);
	input->groups.values = values;
	input->groups.count = input->count;
	return 0;
}

int
input_open(struct input *input, const struct input_request *request, struct portolan_error *error)
{
	int code;

	*input = (struct input){0};
	code = request->run ? read_run(input, request, error) : read_files(input, request, error);
	if (code >= 0 && input->count == 0)
		code = request->run ? error_set(error, PORTOLAN_E_INVALID,
		                                "no example of run '%s' has a row in %s and a gold label", request->run,
		                                request->features)
		                    : error_set(error, PORTOLAN_E_INVALID, "%s has no rows", request->features);
	if (code >= 0 && input->count > 2 && input->labels.class_count == input->count)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "%s%s: all %zu labels are different, as ids are: a class needs more than one example",
		                 request->run ? "run " : "", request->run ? request->run : request->labels,
		                 input->count);
	if (code >= 0 && request->groups)
		code = read_groups(input, request, error);
	if (code >= 0) {
		input->source = (struct matrix_source){.array = &input->features.array,
		                                       .rows = input->rows,
		                                       .count = input->count,
		                                       .kernels = request->kernels,
		                                       .threads = request->threads};
		code = matrix_survey(&input->source, error);
	}
	if (code < 0)
		input_close(input);
	return code;
}
