/*
 * work.c: what the storer does between rounds: it folds the log into columns, and removes old records.
 *
 * This work must never hinder recording. When a step fails (the disk has room for batches, but not for columns as
 * well), no client's frame is lost, credit stays, and the step is tried again after a pause; readers find everything in
 * the log meanwhile.
 */
#include "ingest.h"

#include "log.h"

#include <assert.h>

static void
work_take_back(struct ingest *ingest)
{
	folder_drop(&ingest->folder);
	store_writer_abort(ingest->writer);
}

static void
work_step_failed(struct ingest *ingest, const char *kept, const struct portolan_error *error, int64_t now)
{
	work_take_back(ingest);
	if (!ingest->work_failed)
		log_line("%s; %s", error->message, kept);
	ingest->work_failed = true;
	ingest->work_at = now + INGEST_WORK_RETRY_MS;
}

static void
work_fold(struct ingest *ingest, int64_t now)
{
	static const char kept[] = "epochs stay in the log for now, and can be read";
	struct portolan_error error = {0};
	const int result = folder_work(&ingest->folder, &error);

	ingest->garbage = ingest->folded = true;
	if (result < 0) {
		work_step_failed(ingest, kept, &error, now);
		return;
	}
	ingest->work_failed = false;
	if (result == FOLDER_DAMAGED) {
		work_take_back(ingest);
		log_line("%s; %s", error.message, kept);
	}
}

/* Removes some old records. Damage is found again with the next fold or tick, and stops no run: old records then
 * stay, and nothing depends on them. */
static void
work_collect(struct ingest *ingest, int64_t now)
{
	static const char kept[] = "old records stay for now, and take room";
	struct portolan_error error = {0};
	const int result = store_writer_collect(ingest->writer, &ingest->garbage, &error);

	ingest->folded = false;
	ingest->garbage &= result == 0;
	if (result < 0 && result != STORE_E_CORRUPT) {
		work_step_failed(ingest, kept, &error, now);
		return;
	}
	ingest->work_failed = false;
	if (store_writer_left(ingest->writer))
		log_line(
		        "removed records of run number %u stay in the file, and take room: pages among them are damaged",
		        store_writer_left(ingest->writer));
	ingest->uncollected = result == STORE_E_CORRUPT;
	if (ingest->uncollected) {
		work_take_back(ingest);
		throttle_log(&ingest->damage, 1, now, "%s; %s", error.message, kept);
	}
}

bool
ingest_has_work(const struct ingest *ingest)
{
	return !ingest->work_failed && folder_has_work(&ingest->folder);
}

bool
ingest_work(struct ingest *ingest, int64_t now)
{
	const bool collects = ingest->garbage && !(ingest->uncollected && (ingest->folder.fold || ingest->folder.next));

	assert(!ingest->sessions.changed);
	/* Works while the store is being tried again too: there may be no client left whose frame would try it. */
	if (ingest->health == INGEST_UNAVAILABLE || now < ingest->work_at)
		return false;
	/* Folds and removals take turns: removals free pages that new columns use. */
	if (folder_has_work(&ingest->folder) && !(collects && ingest->folded))
		work_fold(ingest, now);
	else if (collects)
		work_collect(ingest, now);
	else
		return false;
	return true;
}
