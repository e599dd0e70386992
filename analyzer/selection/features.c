/* features.c: reads a user's feature vectors for `portolan select` (k-center) and `aflite`, and finds for each example
 * of the run the row that has its id, once for all (features.h). */
#include "features.h"

#include "die/die.h"
#include "die/memory.h"
#include "files/list.h"

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
	const char *path, *unit; /* of the list of ids */
	uint64_t row;
};

static int
features_assign_id(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	struct assignment *assignment = context;
	uint64_t row = assignment->row++;
	int64_t position = ids_index_find(assignment->index, id, length);
	uint32_t *to;

	(void)error;
	if (position < 0 || row >= assignment->features->count)
		return 0;
	to = &assignment->features->rows[assignment->dynamics->order[position]];
	if (*to != FEATURES_NO_ROW)
		die("%s: '%.*s' stands there twice, the second time in %s %llu", assignment->path,
		    (int)(length < 60 ? length : 60), id, assignment->unit, (unsigned long long)place);
	*to = (uint32_t)row;
	return 0;
}

static void
features_assign_by_list(struct features *features, const char *ids_path, const struct dynamics *dynamics)
{
	struct ids_index index;
	struct assignment assignment = {features, &index, dynamics, ids_path, NULL, 0};

	must(ids_index_init(&index, &dynamics->ids, dynamics->order, dynamics->count, &failure));
	must(list_read(ids_path, LIST_IDS, &assignment.unit, features_assign_id, &assignment, &failure));
	ids_index_free(&index);
	if (assignment.row != features->count)
		die("%s has %llu ids, and %s has %zu %ss", ids_path, (unsigned long long)assignment.row, features->path,
		    features->count, features->unit);
}

static void
features_assign_by_number(struct features *features, const struct dynamics *dynamics)
{
	if (dynamics->ids.kind != STORE_ID_INT)
		die("the ids of run '%s' are strings: say which %s of %s is whose with --feature-ids FILE",
		    dynamics->info->name, features->unit, features->path);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint64_t id = ids_integer(&dynamics->ids, dynamics->order[i]);

		if (id < features->count)
			features->rows[dynamics->order[i]] = (uint32_t)id;
	}
}

void
features_assign(struct features *features, const char *ids_path, const struct dynamics *dynamics)
{
	if (features->count >= FEATURES_NO_ROW)
		die("%s has more %ss than a run can have examples", features->path, features->unit);
	features->rows = memory_array(dynamics->ids.rows, sizeof(*features->rows), "rows of features");
	for (size_t i = 0; i < dynamics->ids.rows; i++)
		features->rows[i] = FEATURES_NO_ROW;
	if (ids_path)
		features_assign_by_list(features, ids_path, dynamics);
	else
		features_assign_by_number(features, dynamics);
}

void
features_open(struct features *features, const char *path, const char *ids_path, const struct dynamics *dynamics)
{
	*features = (struct features){.path = path, .unit = "row"};
	must(npy_open(&features->array, path, &failure));
	must(npy_check_matrix(&features->array, &failure));
	must(npy_check_finite(&features->array, &failure));
	features->count = (size_t)features->array.header.shape[0];
	features_assign(features, ids_path, dynamics);
}
