/*
 * live.c: what is known of a run while it is being recorded (its epochs, its counts, its verdict), for `watch`, `epochs`
 * and `serve`, which look again and again. A look reads only the epochs that the look before did not find settled.
 *
 * An epoch is folded once its rows have gone from the log into the store's columns. The settled epochs are the first
 * ones, without a gap, that are folded and have no rows waiting in the log. The sums over the settled epochs are kept
 * from look to look. Later epochs are read at every look, and added to a copy of the sums. If a settled epoch has
 * changed (by a patch), the sums are dropped and made anew.
 *
 * The epochs' records are read before and after the snapshot is opened. The snapshot has an epoch whole if its record
 * is folded, has nothing waiting, and did not change in between.
 */
#include "live.h"

#include "collector_lock.h"
#include "verdict/completeness.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
live_free(struct live *live)
{
	free(live->blocks);
	free(live->epochs);
	free(live->settled);
	free(live->sample.points);
	free(live->shown.points);
	live->blocks = NULL;
	live->epochs = NULL;
	live->settled = NULL;
	live->sample = live->shown = (struct tally_sample){0};
	live->block_count = live->settled_count = live->epoch_room = 0;
	live->number = 0;
}

static bool
live_is_settled(const struct store_epoch *epoch)
{
	return epoch->folds > 0 && epoch->waiting == 0;
}

static bool
live_is_same(const struct store_epoch *a, const struct store_epoch *b)
{
	return a->epoch == b->epoch && a->folds == b->folds && a->folded == b->folded && a->waiting == b->waiting;
}

/* How many epochs, from the first one on, are settled in `after` and the same in `before`. */
static size_t
live_count_settled(const struct store_epoch *before, size_t before_count, const struct store_epoch *after,
                   size_t after_count)
{
	size_t n = 0;

	while (n < before_count && n < after_count && live_is_settled(&after[n]) && live_is_same(&before[n], &after[n]))
		n++;
	return n;
}

/* Are the sums that were kept still valid: are all settled epochs unchanged? */
static bool
live_holds(const struct live *live, const struct store_epoch *epochs, size_t count)
{
	if (live->settled_count > count)
		return false;
	for (size_t e = 0; e < live->settled_count; e++)
		if (!live_is_same(&live->settled[e], &epochs[e]))
			return false;
	return true;
}

/* Makes room for the sums over a snapshot with so many rows and epochs. */
static int
live_make_room(struct live *live, uint64_t rows, size_t epochs, struct portolan_error *error)
{
	size_t blocks = (size_t)((rows + STORE_CHUNK - 1) / STORE_CHUNK);
	struct tally_block *more;

	if (epochs > live->epoch_room) {
		size_t room = epochs + 64;
		struct tally_epoch *list = realloc(live->epochs, room * sizeof(*list));
		struct store_epoch *settled;

		live->epochs = list ? list : live->epochs;
		settled = list ? realloc(live->settled, room * sizeof(*settled)) : NULL;
		if (!settled)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu epochs", epochs);
		live->settled = settled;
		live->epoch_room = room;
	}
	if (!live->sample.points)
		live->sample.points = calloc(TALLY_POINTS, sizeof(*live->sample.points));
	if (!live->shown.points)
		live->shown.points = calloc(TALLY_POINTS, sizeof(*live->shown.points));
	more = blocks > live->block_count ? realloc(live->blocks, blocks * sizeof(*more)) : live->blocks;
	if (!live->sample.points || !live->shown.points || (blocks && !more))
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %llu examples", (unsigned long long)rows);
	live->blocks = more;
	if (blocks > live->block_count) {
		memset(more + live->block_count, 0, (blocks - live->block_count) * sizeof(*more));
		live->block_count = blocks;
	}
	tally_sample_grow(&live->sample, rows);
	return 0;
}

/* The reading of one snapshot, which has `count` epochs, from the run's epoch number `first` on. The first `fresh` of
 * them become settled; the later ones are only shown. */
struct reading {
	struct live *live;
	struct live_view *view;
	size_t first, fresh, count; /* numbers of epochs */
};

static void
live_read_block(const struct reading *reading, const struct store_block *block)
{
	struct live *live = reading->live;
	struct tally_block *settled = &live->blocks[block->first / STORE_CHUNK], now;

	for (size_t e = 0; e < reading->fresh; e++) {
		const struct store_values *gold_prob = store_block_values(block, e, STORE_GOLD_PROB);
		const struct store_values *correct = store_block_values(block, e, STORE_CORRECT);

		tally_add(settled, gold_prob, correct, block->rows, &live->epochs[reading->first + e]);
		tally_sample_add(&live->sample, gold_prob, correct, block->first, block->rows);
		tally_sample_add(&live->shown, gold_prob, correct, block->first, block->rows);
	}
	now = *settled;
	for (size_t e = reading->fresh; e < reading->count; e++) {
		const struct store_values *gold_prob = store_block_values(block, e, STORE_GOLD_PROB);
		const struct store_values *correct = store_block_values(block, e, STORE_CORRECT);

		tally_add(&now, gold_prob, correct, block->rows, &live->epochs[reading->first + e]);
		tally_sample_add(&live->shown, gold_prob, correct, block->first, block->rows);
	}
	tally_count(&now, &reading->view->counts);
}

static int
live_read_blocks(const struct reading *reading, struct store_snapshot *snapshot, struct portolan_error *error)
{
	struct store_cursor *cursor;
	size_t blocks = store_snapshot_blocks(snapshot);
	int code = 0;

	if (reading->count == 0) { /* no epoch is new: the kept sums are enough */
		for (size_t b = 0; b < reading->live->block_count; b++)
			tally_count(&reading->live->blocks[b], &reading->view->counts);
		return 0;
	}
	code = store_cursor_open(snapshot, &cursor, error);
	if (code < 0)
		return code;
	for (size_t b = 0; b < blocks && code >= 0; b++) {
		struct store_block block;

		if (reading->live->stopped && reading->live->stopped())
			code = error_set(error, PORTOLAN_E_CANCELLED, "stopped");
		else
			code = store_cursor_block(cursor, b, &block, error);
		if (code >= 0)
			live_read_block(reading, &block);
	}
	store_cursor_close(cursor);
	return code;
}

static int
live_read_snapshot(struct live *live, struct store_snapshot *snapshot, const struct store_epoch *after, size_t settled,
                   struct live_view *view, struct portolan_error *error)
{
	struct reading reading = {.live = live, .view = view, .first = live->settled_count};
	const uint32_t *numbers;
	struct tally_point *points;
	int code;

	reading.count = store_snapshot_epochs(snapshot, &numbers);
	reading.fresh = settled - live->settled_count;
	code = live_make_room(live, view->info.rows, reading.first + reading.count, error);
	if (code < 0)
		return code;
	points = live->shown.points;
	memcpy(points, live->sample.points, TALLY_POINTS * sizeof(*points));
	live->shown = live->sample;
	live->shown.points = points;
	for (size_t e = 0; e < reading.count; e++)
		live->epochs[reading.first + e] =
		        (struct tally_epoch){.epoch = numbers[e], .of_losses = view->info.of_losses};
	code = live_read_blocks(&reading, snapshot, error);
	if (code < 0)
		return code;
	for (size_t e = live->settled_count; e < settled; e++)
		live->settled[e] = after[e];
	live->settled_count = settled;
	view->epochs = live->epochs;
	view->epoch_count = reading.first + reading.count;
	view->sample = live->shown;
	return 0;
}

/* Reads the epochs of run live->number, and keeps the sums over those that are settled. */
static int
live_look_at_epochs(struct live *live, struct store *store, struct live_view *view, struct portolan_error *error)
{
	struct store_snapshot_options options = {
	        .epoch_to = UINT32_MAX,
	        .columns = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT),
	};
	struct store_epoch *before = NULL, *after = NULL;
	struct store_snapshot *snapshot = NULL;
	size_t before_count, after_count, settled;
	int code = store_epochs(store, live->number, &before, &before_count, error);

	if (code < 0)
		return code;
	if (!live_holds(live, before, before_count)) {
		uint32_t number = live->number;

		live_free(live);
		live->number = number;
	}
	if (live->settled_count > 0)
		options.epoch_from = live->settled[live->settled_count - 1].epoch + 1;
	code = store_snapshot_open(store, live->run, &options, &snapshot, error);
	if (code >= 0)
		code = store_epochs(store, live->number, &after, &after_count, error);
	if (code >= 0) {
		view->info = *store_snapshot_info(snapshot);
		settled = live_count_settled(before, before_count, after, after_count);
		if (view->info.number != live->number || settled < live->settled_count)
			code = error_set(error, STORE_E_NO_RUN, "run '%s' is being overwritten", live->run);
	}
	if (code >= 0)
		code = live_read_snapshot(live, snapshot, after, settled, view, error);
	store_snapshot_close(snapshot);
	free(before);
	free(after);
	return code;
}

static int
live_look_at_sessions(struct live *live, struct store *store, struct live_view *view, struct portolan_error *error)
{
	struct completeness sums = {0};
	int code = store_sessions(store, live->number, &sums.sessions, &sums.session_count, error);

	if (code >= 0)
		code = store_counters(store, live->number, &view->counters, error);
	if (code < 0) {
		free(sums.sessions);
		return code;
	}
	completeness_sum_sessions(&sums);
	view->verdict = verdict_make(&view->info, &view->counters, sums.sessions, sums.session_count);
	for (size_t i = 0; i < sums.session_count; i++)
		view->accepted += sums.sessions[i].observations;
	view->clients = sums.clients;
	view->sessions = sums.session_count;
	view->live_sessions = sums.live;
	view->lost_sessions = sums.lost;
	free(sums.sessions);
	return 0;
}

/* Finds the run's number. Drops the sums if they are of another run or store. */
static int
live_find_run(struct live *live, struct store *store, ino_t inode, struct portolan_error *error)
{
	uint32_t number;
	int code = store_find_run(store, live->run, &number, error);

	if (code < 0)
		return code;
	if (number != live->number || inode != live->inode)
		live_free(live);
	live->number = number;
	live->inode = inode;
	return 0;
}

static void
live_finish_view(const struct live *live, struct live_view *view)
{
	const struct store_run_info *info = &view->info;

	view->state = info->state == STORE_CLOSED ? LIVE_CLOSED
	              : view->epoch_count == 0    ? LIVE_NOTHING
	                                          : LIVE_RECORDING;
	view->expected = info->declared;
	for (size_t e = 0; e < view->epoch_count; e++) {
		view->events += view->epochs[e].forgotten;
		if (!info->declared && e + 1 < view->epoch_count && view->epochs[e].observed > view->expected)
			view->expected = view->epochs[e].observed;
	}
	view->collector = collector_lock_is_held(live->directory);
}

int
live_look_in(struct live *live, struct store *store, ino_t inode, struct live_view *view, struct portolan_error *error)
{
	int code;

	*view = (struct live_view){.state = LIVE_NO_RUN};
	code = live_find_run(live, store, inode, error);
	if (code >= 0)
		code = live_look_at_epochs(live, store, view, error);
	if (code >= 0)
		code = live_look_at_sessions(live, store, view, error);
	if (code >= 0) {
		live_finish_view(live, view);
		return 0;
	}
	live_free(live); /* a reading that was broken off may have left incomplete sums */
	if (code != STORE_E_NO_RUN)
		return code;
	*view = (struct live_view){.state = LIVE_NO_RUN};
	snprintf(view->why, sizeof(view->why), "%s", error->message);
	return 0;
}

int
live_look(struct live *live, struct live_view *view, struct portolan_error *error)
{
	struct store *store = NULL;
	struct stat status = {0};
	char path[4096];
	int code;

	snprintf(path, sizeof(path), "%s/data.mdb", live->directory);
	(void)stat(path, &status); /* if this fails, store_open() says why */
	code = store_open(live->directory, &store, error);
	if (code >= 0) {
		code = live_look_in(live, store, status.st_ino, view, error);
		store_close(store);
		return code;
	}
	live_free(live);
	*view = (struct live_view){.state = LIVE_NO_STORE};
	snprintf(view->why, sizeof(view->why), "%s", error->message);
	return code == STORE_E_NO_STORE ? 0 : code;
}
