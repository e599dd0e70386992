/*
 * fold.c: chooses which epoch the storer folds next, between its rounds, and has the store (store/fold.c) turn that
 * epoch's log into columns.
 *
 * The folder goes through a run from the first epoch that was touched to the last. The range shrinks on the way, so
 * that a run of many small epochs is gone through once, not once for each epoch. An epoch leaves the range only when
 * nothing in its log is due: so an epoch whose fold failed, and entries that came during a fold, are found again.
 *
 * While a step of a fold works and waits for the disk, a second thread reads the log of the run's next large epoch. It
 * ends before the step does, so nobody else need know of it.
 */
#include "fold.h"

#include <portolan/clock.h>

#define TOGETHER 64               /* epochs folded in one step, at most, */
#define TOGETHER_BYTES (1u << 18) /* … while they have written no more than this, */
#define TOGETHER_US 5000          /* … and have not taken longer than this */
#define READ_AHEAD (1u << 20)     /* logs of so many bytes are worth a thread that reads them */

void
folder_init(struct folder *folder, struct store_writer *writer, struct sessions *sessions, size_t memory)
{
	*folder = (struct folder){.writer = writer, .sessions = sessions, .memory = memory};
}

void
folder_deinit(struct folder *folder)
{
	folder_drop(folder);
	*folder = (struct folder){0};
}

void
folder_drop(struct folder *folder)
{
	store_fold_free(folder->next);
	store_fold_free(folder->fold);
	folder->fold = folder->next = NULL;
	folder->run = NULL;
}

bool
fold_is_due(const struct run *run, bool live, const struct store_log_epoch *epoch)
{
	if (epoch->epoch >= run->frontier)
		return false;
	if (!live || !epoch->folded)
		return true;
	if (epoch->epoch >= run->due.from && epoch->epoch < run->due.to)
		return true;
	return epoch->bytes > FOLD_PATCH_BYTES && epoch->rows > epoch->folded / 4;
}

static bool
folder_wants(const struct run *run)
{
	return run_is_touched(run) && !run->removed && !run->unfoldable;
}

bool
folder_has_work(const struct folder *folder)
{
	const struct run *run = folder->sessions->runs;

	while (run && !folder_wants(run))
		run = run->next;
	return folder->fold || run;
}

/* Finds the run's next epoch from `from` on that is due; rows 0: there is none. */
static int
folder_find_due(const struct folder *folder, const struct run *run, uint64_t from, uint64_t to,
                struct store_log_epoch *epoch, struct portolan_error *error)
{
	const bool live = run_is_live(run);
	int result;

	to = to < run->frontier ? to : run->frontier;
	do {
		result = store_writer_next_log(folder->writer, run->number, from, to, epoch, error);
		from = epoch->epoch + UINT64_C(1);
	} while (result == 0 && epoch->rows && !fold_is_due(run, live, epoch));
	return result;
}

/* Pauses the fold that is read ahead; drops it if it is of no use. */
static void
folder_pause(struct folder *folder)
{
	if (!folder->next || store_fold_pause(folder->next))
		return;
	store_fold_free(folder->next);
	folder->next = NULL;
	folder->alone = true;
}

/* Begins the next fold of `run`, or goes on with it if it was read ahead: `range` then begins with the epoch that is
 * folded. If nothing is due, `range` becomes empty. */
static int
folder_begin_next(struct folder *folder, struct run *run, struct epochs *range, struct portolan_error *error)
{
	struct store_log_epoch epoch;
	int result;

	folder_pause(folder);
	folder->alone = false;
	result = folder_find_due(folder, run, range->from, range->to, &epoch, error);
	if (result == 0 && epoch.rows && run == folder->run && epoch.epoch == folder->next_epoch) {
		folder->fold = folder->next;
		folder->next = NULL;
	}
	store_fold_free(folder->next);
	folder->next = NULL;
	if (result < 0)
		return result;
	if (epoch.rows == 0) {
		*range = (struct epochs){0};
		return 0;
	}
	range->from = folder->epoch = epoch.epoch;
	if (folder->fold)
		return 0;
	return store_fold_begin(folder->writer, run->number, epoch.epoch, folder->memory, &folder->fold, error);
}

/* Finds the run whose turn it is: of the runs with epochs to check, the one with the next number after the last,
 * wrapping round. */
static struct run *
folder_next_run(const struct folder *folder)
{
	struct run *next = NULL;

	for (struct run *run = folder->sessions->runs; run; run = run->next)
		if (folder_wants(run) && (!next || run->number - folder->last - 1 < next->number - folder->last - 1))
			next = run;
	return next;
}

/* Begins the fold of the run's next epoch, unless that is small, or another run's turn comes first, or memory has no room
 * for it beside the fold in progress. Damage that it meets may end the step; the next try looks no further than its epoch. */
static void
folder_begin_beside(struct folder *folder, struct run *run, uint64_t to)
{
	struct store_log_epoch epoch = {.rows = 0};

	if (folder_next_run(folder) == run &&
	    folder_find_due(folder, run, folder->epoch + UINT64_C(1), to, &epoch, NULL) == 0 &&
	    epoch.bytes >= READ_AHEAD)
		store_fold_begin_beside(folder->writer, run->number, epoch.epoch, folder->memory, folder->fold,
		                        &folder->next, NULL);
	folder->alone = !folder->next;
	folder->never = store_writer_is_spoilt(folder->writer);
	folder->next_epoch = epoch.epoch;
	folder->run = run;
}

/* A fold is begun beside the one in progress only when nothing is pending, not even the folds of small epochs before. */
static void
folder_read_ahead(struct folder *folder, struct run *run, uint64_t to)
{
	if (!folder->next && !folder->alone && !folder->never && store_writer_pending(folder->writer) == 0)
		folder_begin_beside(folder, run, to);
	if (folder->next)
		store_fold_read_ahead(folder->next);
}

/* Continues the fold in progress, or folds the run's next epoch, or several small ones. `range` is the range of epochs
 * that is left. */
static int
folder_fold_some(struct folder *folder, struct run *run, struct epochs *range, struct portolan_error *error)
{
	const bool is_begun = folder->fold != NULL;
	const int64_t began = clock_us();
	bool done = true;
	int result = 0;

	for (int i = 0; i < TOGETHER && result == 0 && done; i++) {
		if (!folder->fold)
			result = folder_begin_next(folder, run, range, error);
		if (result < 0 || !folder->fold)
			break;
		folder_read_ahead(folder, run, range->to);
		result = store_fold_advance(folder->fold, &done, error);
		if (result < 0 || !done)
			break;
		store_fold_free(folder->fold);
		folder->fold = NULL;
		if (is_begun || store_writer_pending(folder->writer) > TOGETHER_BYTES ||
		    clock_us() - began > TOGETHER_US)
			break;
	}
	return result;
}

int
folder_work(struct folder *folder, struct portolan_error *error)
{
	struct run *run = folder->fold ? folder->run : folder_next_run(folder);
	struct epochs range;
	int result, committed = 0;

	if (!run)
		return 0;
	folder->last = run->number;
	range = run->touched;
	result = folder_fold_some(folder, run, &range, error);
	/* Commits at once: the fold must not share the commit of clients' batches. */
	if (result == 0)
		committed = store_writer_commit(folder->writer, error);
	folder_pause(folder);
	if (result == 0 && committed == 0) {
		run->touched = range;
		if (!run_is_touched(run))
			run->due = (struct epochs){0};
	}
	if (result == STORE_E_CORRUPT)
		run->unfoldable = true;
	if (result == STORE_E_NO_RUN)
		run->removed = true;
	if (result < 0 || committed < 0)
		folder_drop(folder);
	else
		folder->run = folder->fold || folder->next ? run : NULL;
	if (result == STORE_E_CORRUPT)
		return FOLDER_DAMAGED;
	return result < 0 && result != STORE_E_NO_RUN ? result : committed;
}
