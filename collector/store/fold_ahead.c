/*
 * fold_ahead.c: reads the log of the next fold ahead, on a thread of its own, while the writer's thread writes the fold
 * before and waits for the disk.
 *
 * The thread reads what is committed, in a transaction of its own. The next fold begins when nothing else is pending, so
 * at first both threads see the same. Of what the reading thread reads, the fold before may change one thing: the values
 * kept per example. Of these, a log without labels needs only which examples were seen, and before the fold writes that,
 * it looks again (fold.c). A log with labels is read anew if such values were written since the fold began.
 */
#include "fold.h"

int
store_fold_begin_beside(struct store_writer *writer, uint32_t run, uint32_t epoch, size_t memory,
                        const struct store_fold *beside, struct store_fold **fold, struct portolan_error *error)
{
	const size_t left = memory > beside->memory ? memory - beside->memory : 0;
	int rc;

	*fold = NULL;
	if (writer->pending)
		return 0;
	rc = store_fold_begin(writer, run, epoch, left, fold, error);
	if (!rc && (*fold)->memory > left) {
		store_fold_free(*fold);
		*fold = NULL;
	}
	return rc;
}

static void *
ahead_main(void *argument)
{
	struct store_fold *fold = argument;

	while (fold->phase == FOLD_FILL && !fold->ahead.result && !atomic_load(&fold->ahead.stop))
		fold->ahead.result = store_fold_fill(fold, NULL);
	return NULL;
}

static void
ahead_end_reading(struct store_fold *fold)
{
	mdb_txn_abort(fold->ahead.view.txn);
	fold->view = &fold->writer->view;
}

void
store_fold_read_ahead(struct store_fold *fold)
{
	struct fold_ahead *ahead = &fold->ahead;

	/* The map grows only when the writer begins a transaction, and nobody may read then: so it begins one now. */
	if (fold->phase != FOLD_FILL || ahead->runs || store_writer_begin(fold->writer, NULL))
		return;
	ahead->view = (struct view){.environment = &fold->writer->environment};
	if (store_environment_begin_read(ahead->view.environment, &ahead->view.txn))
		return;
	fold->view = &ahead->view;
	ahead->runs = pthread_create(&ahead->thread, NULL, ahead_main, fold) == 0;
	if (ahead->runs)
		pthread_setname_np(ahead->thread, "fold ahead");
	else
		ahead_end_reading(fold);
}

bool
store_fold_pause(struct store_fold *fold)
{
	struct fold_ahead *ahead = &fold->ahead;

	if (ahead->runs) {
		atomic_store(&ahead->stop, true);
		pthread_join(ahead->thread, NULL);
		atomic_store(&ahead->stop, false);
		ahead->runs = false;
		ahead_end_reading(fold);
	}
	return !ahead->result && (!(fold->columns & STORE_COLUMN_BIT(STORE_GOLD)) ||
	                          fold->examples_written == fold->writer->examples_written);
}
