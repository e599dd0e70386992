/* stories.c: reads the stories of some examples from the store, for the live page: what was observed of them in each
 * epoch. A block of the store is read once, even if several of the examples are in it. */
#include "stories.h"

#include "base/cleanup.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An example to be read, and its index in a snapshot that leaves no block out. For declared examples, the index is the
 * id. */
struct wanted {
	uint64_t index;
	size_t example;
};

static int
stories_compare_wanted(const void *a, const void *b)
{
	const struct wanted *first = a, *second = b;

	return (first->index > second->index) - (first->index < second->index);
}

static struct wanted *
stories_list_wanted(const struct view *view, const uint32_t *places, size_t n)
{
	const struct dynamics *dynamics = &view->dynamics;
	struct wanted *wanted = malloc((n + 1) * sizeof(*wanted));

	for (size_t i = 0; wanted && i < n; i++) {
		uint32_t dense = dynamics->order[places[i]];

		wanted[i] = (struct wanted){dynamics->info->declared ? ids_integer(&dynamics->ids, dense) : dense, i};
	}
	if (wanted)
		qsort(wanted, n, sizeof(*wanted), stories_compare_wanted);
	return wanted;
}

int
stories_new(struct stories *stories, size_t n, size_t epochs, struct portolan_error *error)
{
	*stories = (struct stories){.epochs = epochs,
	                            .gold_prob = malloc((n * epochs + 1) * sizeof(float)),
	                            .correct = calloc(n * epochs + 1, 1)};
	if (!stories->gold_prob || !stories->correct)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < n * epochs; i++)
		stories->gold_prob[i] = NAN;
	return 0;
}

bool
stories_take(struct stories *stories, size_t i, size_t e, const struct store_block *block, size_t at, uint32_t row)
{
	const struct store_values *gold_prob = store_block_values(block, at, STORE_GOLD_PROB);
	size_t to = i * stories->epochs + e;

	if (!gold_prob->values || row >= block->rows || !stories_bit(gold_prob->present, row))
		return false;
	stories->gold_prob[to] = ((const float *)gold_prob->values)[row];
	stories->correct[to] = stories_bit(store_block_values(block, at, STORE_CORRECT)->values, row);
	return true;
}

static int
stories_read_blocks(struct stories *stories, struct store_snapshot *snapshot, const struct view *view,
                    const struct wanted *wanted, size_t n, struct portolan_error *error)
{
	const struct dynamics *dynamics = &view->dynamics;
	struct store_cursor *cursor = NULL;
	const uint32_t *epochs;
	size_t count = store_snapshot_epochs(snapshot, &epochs);
	int code = store_cursor_open(snapshot, &cursor, error);

	for (size_t i = 0; i < n && code >= 0;) {
		size_t block_index = wanted[i].index / STORE_CHUNK;
		struct store_block block;

		if (block_index >= store_snapshot_blocks(snapshot))
			break;
		code = store_cursor_block(cursor, block_index, &block, error);
		for (; code >= 0 && i < n && wanted[i].index / STORE_CHUNK == block_index; i++)
			for (size_t e = 0, at = 0; e < dynamics->epoch_count; e++) {
				while (at < count && epochs[at] < dynamics->epochs[e])
					at++;
				if (at < count && epochs[at] == dynamics->epochs[e])
					stories_take(stories, wanted[i].example, e, &block, at,
					             (uint32_t)(wanted[i].index - block.first));
			}
	}
	store_cursor_close(cursor);
	return code;
}

static int
stories_read_now(struct stories *stories, struct store *store, const struct view *view, const struct wanted *wanted,
                 size_t n, struct portolan_error *error)
{
	const struct dynamics *dynamics = &view->dynamics;
	const struct store_snapshot_options options = {
	        .epoch_from = dynamics->epochs[0],
	        .epoch_to = dynamics->epochs[dynamics->epoch_count - 1] + 1,
	        .columns = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT),
	};
	struct store_snapshot *snapshot;
	int code = store_snapshot_open(store, dynamics->info->name, &options, &snapshot, error);

	if (code < 0)
		return code;
	if (store_snapshot_info(snapshot)->number == dynamics->info->number)
		code = stories_read_blocks(stories, snapshot, view, wanted, n, error);
	else
		code = error_set(error, VIEW_E_VERSION, "run '%s' was overwritten: load its view again",
		                 dynamics->info->name);
	store_snapshot_close(snapshot);
	return code;
}

int
stories_read_from(struct stories *stories, struct store *store, const struct view *view, const uint32_t *places,
                  size_t n, struct portolan_error *error)
{
	CLEANUP_FREE struct wanted *wanted = stories_list_wanted(view, places, n);
	int code = stories_new(stories, n, view->dynamics.epoch_count, error);

	if (code >= 0 && !wanted)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code >= 0)
		code = stories_read_now(stories, store, view, wanted, n, error);
	if (code < 0)
		stories_free(stories);
	return code;
}

int
stories_read(struct stories *stories, struct open_stores *stores, const struct view *view, const uint32_t *places,
             size_t n, struct portolan_error *error)
{
	struct store *store;
	ino_t inode;
	int code = open_stores_take(stores, &store, &inode, error);

	if (code < 0)
		return code;
	code = inode == view->inode ? stories_read_from(stories, store, view, places, n, error)
	                            : error_set(error, VIEW_E_VERSION,
	                                        "another store has taken the place of run '%s': load its view again",
	                                        view->dynamics.info->name);
	open_stores_return(stores, store);
	return code;
}

void
stories_free(struct stories *stories)
{
	free(stories->gold_prob);
	free(stories->correct);
	*stories = (struct stories){0};
}
