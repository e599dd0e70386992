/*
 * fold.c: chooses what to fold next and drives the store's folds.
 *
 * A run is looked at when it is `touched`; when nothing of it is due any more, the mark and the due range are cleared.
 * Entries that arrive while an epoch is being folded stay in the log and touch the run again.
 */
#include "fold.h"

#include <portolan/error.h>

#include <stdlib.h>

void
folder_init(struct folder *folder, struct store_writer *writer, struct sessions *sessions, size_t memory)
{
	*folder = (struct folder){.writer = writer, .sessions = sessions, .memory = memory};
}

void
folder_deinit(struct folder *folder)
{
	folder_drop(folder);
	free(folder->epochs);
	*folder = (struct folder){0};
}

void
folder_drop(struct folder *folder)
{
	store_fold_free(folder->fold);
	folder->fold = NULL;
	folder->run = NULL;
}

bool
fold_is_due(const struct run *run, bool live, const struct store_log_epoch *epoch)
{
	if (epoch->epoch >= run->frontier)
		return false;
	if (!live || !epoch->folded)
		return true;
	if (epoch->epoch >= run->due_from && epoch->epoch < run->due_to)
		return true;
	return epoch->bytes > FOLD_PATCH_BYTES && epoch->rows > epoch->folded / 4;
}

static bool
wants_a_look(const struct run *run)
{
	return run->touched && !run->removed && !run->unfoldable;
}

bool
folder_has_work(const struct folder *folder)
{
	const struct run *run = folder->sessions->runs;

	while (run && !wants_a_look(run))
		run = run->next;
	return folder->fold || run;
}

/* Fills folder->epochs with all of the run's; *count is their number. */
static int
list_log(struct folder *folder, const struct run *run, size_t *count, struct portolan_error *error)
{
	int result;

	while ((result = store_writer_log(folder->writer, run->number, folder->epochs, folder->room, count, error)) ==
	               0 &&
	       *count > folder->room) {
		size_t room = *count + 16;
		struct store_log_epoch *epochs = realloc(folder->epochs, room * sizeof(*epochs));

		if (!epochs)
			return error_set(error, STORE_E_MEMORY, "out of memory");
		folder->epochs = epochs;
		folder->room = room;
	}
	return result;
}

/* Begins the next fold of `run`, or finds that nothing is due there. */
static int
begin_next(struct folder *folder, struct run *run, struct portolan_error *error)
{
	bool live = run_is_live(run);
	size_t count;
	int result = list_log(folder, run, &count, error);

	if (result < 0)
		return result;
	for (size_t i = 0; i < count; i++) {
		if (!fold_is_due(run, live, &folder->epochs[i]))
			continue;
		folder->run = run;
		folder->epoch = folder->epochs[i].epoch;
		return store_fold_begin(folder->writer, run->number, folder->epoch, folder->memory, &folder->fold,
		                        error);
	}
	run->touched = false;
	run->due_from = run->due_to = 0;
	return 0;
}

int
folder_work(struct folder *folder, struct portolan_error *error)
{
	struct run *run = folder->run;
	bool done = false;
	int result = 0;

	if (!folder->fold) {
		for (run = folder->sessions->runs; run && !wants_a_look(run); run = run->next)
			;
		if (run)
			result = begin_next(folder, run, error);
	}
	/* At once: what beginning has written must not be left to a commit of clients' batches. */
	if (result == 0 && folder->fold)
		result = store_fold_step(folder->fold, &done, error);
	if (result == STORE_E_CORRUPT)
		run->unfoldable = true;
	if (result == STORE_E_NO_RUN)
		run->removed = true;
	if (result < 0 || done)
		folder_drop(folder);
	return result == STORE_E_NO_RUN ? 0 : result;
}
