/*
 * work.c: what is done between rounds: folds, and the removal of old records.
 *
 * It must never stand in the way of recording. When a step fails (a disk with room for batches, but not for columns as
 * well), nothing of the clients' is lost with it, their credit stays, and it is tried again after a pause: readers find
 * everything in the log meanwhile.
 */
#include "ingest.h"

#include "log.h"

#include <assert.h>

static void
step_failed(struct ingest *ingest, const struct portolan_error *error, int64_t now)
{
	folder_drop(&ingest->folder);
	store_writer_abort(ingest->writer);
	if (!ingest->work_failed)
		log_line("%s; epochs stay in the log for now, and can be read", error->message);
	/* Damage concerns one run, which folder_work() now leaves alone: the others need not wait. */
	ingest->work_failed = error->code != STORE_E_CORRUPT;
	ingest->work_at = ingest->work_failed ? now + INGEST_WORK_RETRY_MS : now;
}

bool
ingest_has_work(const struct ingest *ingest)
{
	return !ingest->work_failed && folder_has_work(&ingest->folder);
}

bool
ingest_work(struct ingest *ingest, int64_t now)
{
	struct portolan_error error = {0};
	int result;

	assert(!ingest->sessions.changed);
	/* While the store is being tried again as well: there may be nobody left whose frame would try it. */
	if (ingest->health == INGEST_UNAVAILABLE || now < ingest->work_at)
		return false;
	if (folder_has_work(&ingest->folder) && !(ingest->garbage && ingest->folded)) {
		result = folder_work(&ingest->folder, &error);
		ingest->garbage = ingest->folded = true;
	} else if (ingest->garbage) { /* by turns with folds: old records give back the pages that new ones take */
		ingest->folded = false;
		result = store_writer_collect(ingest->writer, &ingest->garbage, &error);
		/* Damage would be found again at once: it is looked at with the next tick that looks for garbage. */
		ingest->garbage &= result == 0;
	} else {
		return false;
	}
	if (result < 0)
		step_failed(ingest, &error, now);
	else
		ingest->work_failed = false;
	return true;
}
