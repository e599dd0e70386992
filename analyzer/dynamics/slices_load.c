/*
 * slices_load.c: reading one slice.
 *
 * Each worker copies what its block has of the slice to a place that it takes under a lock: in whatever order, since
 * the slice is sorted afterwards, and no id occurs twice.
 */
#include "slices.h"

#include "scan.h"

#include <portolan/error.h>

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct loading {
	struct dynamics *slice;
	uint32_t *indices;
	size_t most_rows;
	uint64_t most_text;
	size_t (*choose)(void *context, const struct dynamics *part, uint32_t *chosen);
	void *context;
	pthread_mutex_t lock; /* guards what follows */
	size_t rows;
	uint64_t text;
};

struct range {
	const struct slices *slices;
	size_t number;
};

static bool
is_within(const struct range *range, const struct ids *ids, uint32_t i)
{
	const struct ids *bounds = &range->slices->bounds;
	size_t s = range->number;

	return (s == 0 || ids_compare(ids, i, bounds, (uint32_t)s - 1) >= 0) &&
	       (s >= bounds->rows || ids_compare(ids, i, bounds, (uint32_t)s) < 0);
}

static size_t
choose_range(void *context, const struct dynamics *part, uint32_t *chosen)
{
	size_t n = 0;

	for (size_t i = 0; i < part->count; i++) {
		chosen[n] = part->order[i];
		n += is_within(context, &part->ids, part->order[i]);
	}
	return n;
}

static void
copy_ids(const struct dynamics *part, const uint32_t *chosen, size_t n, struct ids *to, size_t at, uint64_t text)
{
	for (size_t i = 0; i < n; i++) {
		size_t length;
		const char *from;

		if (part->ids.kind == STORE_ID_INT) {
			to->integers[at + i] = part->ids.integers[chosen[i]];
			continue;
		}
		from = ids_text(&part->ids, chosen[i], &length);
		memcpy(to->text + text, from, length);
		to->offsets[at + i] = text;
		text += length;
	}
}

static void
copy_values(const struct dynamics *part, const uint32_t *chosen, size_t n, struct loading *loading, size_t at)
{
	struct dynamics *slice = loading->slice;

	for (size_t c = 0; c < part->column_count; c++) {
		const double *from = part->columns[c].values;
		double *to = slice->columns[c].values + at;

		for (size_t i = 0; i < n; i++)
			to[i] = from[chosen[i]];
	}
	for (size_t i = 0; i < n && slice->gold; i++)
		slice->gold[at + i] = part->gold[chosen[i]];
	for (size_t i = 0; i < n; i++)
		loading->indices[at + i] = part->first + chosen[i];
}

static int
copy_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	struct loading *loading = context;
	uint32_t chosen[STORE_CHUNK];
	size_t n = loading->choose(loading->context, part, chosen), at;
	uint64_t bytes = 0, text;

	(void)slot;
	(void)error;
	for (size_t i = 0; part->ids.kind == STORE_ID_STR && i < n; i++)
		bytes += part->ids.offsets[chosen[i] + 1] - part->ids.offsets[chosen[i]];
	pthread_mutex_lock(&loading->lock);
	at = loading->rows;
	text = loading->text;
	loading->rows += n;
	loading->text += bytes;
	pthread_mutex_unlock(&loading->lock);
	assert(at + n <= loading->most_rows && text + bytes <= loading->most_text);
	copy_ids(part, chosen, n, &loading->slice->ids, at, text);
	copy_values(part, chosen, n, loading, at);
	return 0;
}

static int
allocate(struct loading *loading, size_t rows, uint64_t text, struct portolan_error *error)
{
	struct dynamics *slice = loading->slice;
	struct ids *ids = &slice->ids;
	bool strings = slice->info->id_kind == STORE_ID_STR, enough = true;

	ids->kind = slice->info->id_kind;
	ids->integers = strings ? NULL : malloc((rows + 1) * sizeof(*ids->integers));
	ids->offsets = strings ? malloc((rows + 1) * sizeof(*ids->offsets)) : NULL;
	ids->text = strings ? malloc(text + 1) : NULL;
	slice->order = malloc((rows + 1) * sizeof(*slice->order));
	slice->gold = slice->with_gold ? malloc((rows + 1) * sizeof(*slice->gold)) : NULL;
	loading->indices = malloc((rows + 1) * sizeof(*loading->indices));
	slice->indices = loading->indices;
	for (size_t c = 0; c < slice->column_count; c++) {
		slice->columns[c].values = dynamics_allocate_values(rows + 1);
		enough = enough && slice->columns[c].values;
	}
	enough = enough && slice->order && loading->indices && (slice->gold || !slice->with_gold) &&
	         (strings ? ids->offsets && ids->text : ids->integers != NULL);
	return enough ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", rows);
}

static int
sort(struct dynamics *slice, struct portolan_error *error)
{
	slice->count = slice->ids.rows;
	for (size_t i = 0; i < slice->count; i++)
		slice->order[i] = (uint32_t)i;
	return ids_sort(&slice->ids, slice->order, slice->count, error);
}

int
slices_collect(struct dynamics *run, size_t rows, uint64_t text,
               size_t (*choose)(void *context, const struct dynamics *part, uint32_t *chosen), void *context,
               struct dynamics *slice, struct portolan_error *error)
{
	struct loading loading = {.slice = slice,
	                          .most_rows = rows,
	                          .most_text = text,
	                          .choose = choose,
	                          .context = context,
	                          .lock = PTHREAD_MUTEX_INITIALIZER};
	struct scan_steps steps = {.context = &loading, .work = copy_part};
	int code;

	*slice = *run;
	slice->ids = (struct ids){0};
	code = allocate(&loading, rows, text, error);
	if (code >= 0)
		code = scan_run(run, &steps, error);
	slice->ids.rows = loading.rows;
	if (code >= 0 && slice->ids.offsets)
		slice->ids.offsets[loading.rows] = loading.text;
	if (code >= 0)
		code = sort(slice, error);
	if (code < 0)
		slices_release(slice);
	pthread_mutex_destroy(&loading.lock);
	return code;
}

int
slices_load(struct dynamics *run, const struct slices *slices, size_t s, struct dynamics *slice,
            struct portolan_error *error)
{
	struct range range = {slices, s};

	return slices_collect(run, slices->rows[s], slices->text[s], choose_range, &range, slice, error);
}

void
slices_release(struct dynamics *slice)
{
	for (size_t c = 0; c < slice->column_count; c++)
		free(slice->columns[c].values);
	free(slice->order);
	free(slice->gold);
	free((uint32_t *)slice->indices);
	ids_free(&slice->ids);
	*slice = (struct dynamics){0};
}
