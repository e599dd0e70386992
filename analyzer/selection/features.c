/* features.c: rows are found by id once, and looked up by dense index from then on. */
#include "features.h"

#include "base/arrays.h"
#include "files/list.h"

#include <portolan/error.h>

#include <stdlib.h>

void
features_close(struct features *features)
{
	npy_close(&features->array);
	array_free(features->rows);
	*features = (struct features){0};
}

struct assignment {
	struct features *features;
	const struct ids_index *index;
	const struct dynamics *dynamics;
	const char *path, *unit;
	uint64_t row;
};

static int
assign(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	struct assignment *assignment = context;
	uint64_t row = assignment->row++;
	int64_t position = ids_index_find(assignment->index, id, length);
	uint32_t *to;

	if (position < 0 || row >= assignment->features->array.header.shape[0])
		return 0;
	to = &assignment->features->rows[assignment->dynamics->order[position]];
	if (*to != FEATURES_NO_ROW)
		return error_set(error, PORTOLAN_E_INVALID, "%s: '%.*s' stands there twice, the second time in %s %llu",
		                 assignment->path, (int)(length < 60 ? length : 60), id, assignment->unit,
		                 (unsigned long long)place);
	*to = (uint32_t)row;
	return 0;
}

static int
assign_by_list(struct features *features, const char *ids_path, const struct dynamics *dynamics,
               struct portolan_error *error)
{
	uint64_t rows = features->array.header.shape[0];
	struct ids_index index;
	struct assignment assignment = {features, &index, dynamics, ids_path, NULL, 0};
	int code = ids_index_init(&index, &dynamics->ids, dynamics->order, dynamics->count, error);

	if (code < 0)
		return code;
	code = list_read(ids_path, LIST_IDS, &assignment.unit, assign, &assignment, error);
	ids_index_free(&index);
	if (code >= 0 && assignment.row != rows)
		code = error_set(error, PORTOLAN_E_INVALID, "%s has %llu ids, and %s has %llu rows", ids_path,
		                 (unsigned long long)assignment.row, features->array.path, (unsigned long long)rows);
	return code;
}

static int
assign_by_number(struct features *features, const struct dynamics *dynamics, struct portolan_error *error)
{
	if (dynamics->ids.kind != STORE_ID_INT)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "the ids of run '%s' are strings: say which row of %s is whose with --feature-ids FILE",
		        dynamics->info->name, features->array.path);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint64_t id = dynamics->ids.integers[dynamics->order[i]];

		if (id < features->array.header.shape[0])
			features->rows[dynamics->order[i]] = (uint32_t)id;
	}
	return 0;
}

int
features_open(struct features *features, const char *path, const char *ids_path, const struct dynamics *dynamics,
              bool any, struct portolan_error *error)
{
	int code;

	*features = (struct features){0};
	code = npy_open(&features->array, path, error);
	if (code >= 0)
		code = any ? npy_check_matrix_any(&features->array, error) : npy_check_matrix(&features->array, error);
	if (code >= 0 && !any)
		code = npy_check_finite(&features->array, error);
	if (code >= 0 && features->array.header.shape[0] >= FEATURES_NO_ROW)
		code = error_set(error, PORTOLAN_E_INVALID, "%s has more rows than a run can have examples", path);
	if (code >= 0) {
		features->rows = array_new(dynamics->ids.rows, sizeof(*features->rows), "rows of features", error);
		code = features->rows ? 0 : PORTOLAN_E_MEMORY;
	}
	for (size_t i = 0; code >= 0 && i < dynamics->ids.rows; i++)
		features->rows[i] = FEATURES_NO_ROW;
	if (code >= 0)
		code = ids_path ? assign_by_list(features, ids_path, dynamics, error)
		                : assign_by_number(features, dynamics, error);
	if (code < 0)
		features_close(features);
	return code;
}
