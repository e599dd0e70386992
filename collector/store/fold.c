/*
 * fold.c: from the log of an epoch to its columns.
 *
 * The entries to fold are fixed at the beginning: those before `end`. They come from an image: the one that was filled
 * while the epoch was recorded, or one that is made from the log, for a range of chunks at a time. Chunks are then
 * written in place. A chunk says up to which entry it is merged, and its rows are counted in
 * the transaction that writes it. So every state between two steps is whole: a reader merges of each chunk the entries
 * that it lacks, and so does a fold that is begun anew after a crash or an abort. The step that writes the last chunk
 * also moves the beginning of the log; the entries before it go later (collect.c).
 */
#include "fold.h"

#include <stdlib.h>

int
store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error)
{
	return error_set(error, STORE_E_MEMORY, "store '%s': out of memory turning epoch %u of run '%s' into columns",
	                 fold->writer->directory, fold->epoch, fold->name);
}

struct chunk_place
store_fold_place(const struct store_fold *fold, uint32_t epoch, uint32_t chunk)
{
	uint64_t left = fold->rows_of_run - (uint64_t)chunk * STORE_CHUNK;

	return (struct chunk_place){.run_name = fold->name,
	                            .run = fold->run,
	                            .epoch = epoch,
	                            .chunk = chunk,
	                            .rows = left < STORE_CHUNK ? (uint32_t)left : STORE_CHUNK,
	                            .sessions = fold->sessions};
}

static int
prepare(struct store_fold *fold, struct portolan_error *error)
{
	const struct view *view = &fold->writer->view;
	struct run_state_record state;
	struct store_run_info info;
	struct epoch_record epoch;
	int rc = store_catalog_state(view, fold->run, &state, error);

	if (!rc)
		rc = store_catalog_info(view, fold->run, &info, error);
	if (!rc)
		rc = store_catalog_epoch(view, fold->run, fold->epoch, &epoch, error);
	if (rc)
		return rc;
	memcpy(fold->name, info.name, sizeof(fold->name));
	fold->begin = fold->position = epoch.log_begin;
	fold->end = epoch.log_end;
	if (fold->position == fold->end) {
		fold->phase = FOLD_DONE;
		return 0;
	}
	fold->examples = state.declared || state.columns & STORE_COLUMN_BIT(STORE_GOLD);
	fold->rows_of_run = state.rows;
	fold->sessions = state.sessions;
	fold->chunk_count = store_chunks_of(state.rows);
	fold->counts.by_session = calloc((size_t)fold->sessions + 1, sizeof(*fold->counts.by_session));
	if (!fold->counts.by_session)
		return store_fold_out_of_memory(fold, error);
	fold->fresh = epoch.observations == 0;
	rc = store_catalog_order(view, fold->run, fold->sessions, &fold->order, error);
	if (rc)
		return rc;
	fold->image = store_images_take(&fold->writer->images, &(struct image_key){fold->run, fold->epoch}, &epoch);
	if (!fold->image)
		return store_fold_from_log(fold, &epoch, error);
	fold->phase = FOLD_WRITE;
	fold->bytes = fold->image->log_bytes;
	return 0;
}

int
store_fold_begin(struct store_writer *writer, uint32_t run, uint32_t epoch, size_t memory, struct store_fold **fold,
                 struct portolan_error *error)
{
	struct store_fold *begun;
	int rc = store_writer_begin(writer, error);

	if (rc)
		return rc;
	begun = calloc(1, sizeof(*begun));
	if (!begun)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", writer->directory);
	begun->writer = writer;
	begun->aborts = writer->aborts;
	begun->run = run;
	begun->epoch = epoch;
	begun->memory = memory;
	rc = prepare(begun, error);
	if (rc) {
		store_fold_free(begun);
		return rc;
	}
	*fold = begun;
	return 0;
}

void
store_fold_free(struct store_fold *fold)
{
	if (!fold)
		return;
	store_merge_free(&fold->scratch.epoch);
	store_merge_free(&fold->scratch.examples);
	if (fold->from_log)
		store_image_free(fold->image);
	else
		store_images_give_back(&fold->writer->images, fold->image);
	free(fold->order);
	free(fold->counts.by_session);
	free(fold->spans);
	free(fold);
}

static int
put_sessions(struct store_fold *fold, struct portolan_error *error)
{
	int rc = 0;

	for (uint32_t session = 0; session < fold->sessions && fold->counts.replaced && !rc; session++) {
		struct run_state_record state;
		struct session_record record;

		if (!fold->counts.by_session[session])
			continue;
		rc = store_writer_load(fold->writer, fold->run, session, &state, &record, error);
		record.replaced += fold->counts.by_session[session];
		if (!rc)
			rc = store_writer_put_session(fold->writer, fold->run, session, &record, error);
		fold->counts.by_session[session] = 0;
	}
	return rc;
}

/* Counts what this step has written; `finished`: every chunk is merged, so the log begins anew. */
static int
put_counts(struct store_fold *fold, bool finished, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct store_key key = store_key_u32_u32(fold->run, fold->epoch);
	const struct fold_counts *counts = &fold->counts;
	uint64_t kept = counts->rows - counts->replaced;
	struct run_state_record state;
	struct epoch_record epoch;
	bool more;
	int rc = store_catalog_epoch(&writer->view, fold->run, fold->epoch, &epoch, error);

	if (!rc)
		rc = store_catalog_state(&writer->view, fold->run, &state, error);
	if (rc)
		return rc;
	epoch.log_rows -= counts->rows;
	epoch.observations += kept;
	if (finished) {
		epoch.log_begin = fold->end;
		epoch.log_bytes -= fold->bytes;
		epoch.folds++;
	}
	state.log_rows -= counts->rows;
	state.observations += kept;
	state.replaced += counts->replaced;
	state.changed_labels += counts->relabelled;
	state.examples += state.declared ? counts->seen : 0;
	rc = store_writer_put(writer, DB_EPOCHS, &key, RECORD_EPOCH, &epoch, sizeof(epoch), error);
	if (!rc)
		rc = store_writer_put_state(writer, fold->run, &state, error);
	if (!rc)
		rc = put_sessions(fold, error);
	if (!rc && finished)
		rc = store_writer_list_removal(writer, fold->run, fold->epoch, fold->end, error);
	if (!rc && finished)
		rc = store_writer_collect(writer, &more, error);
	fold->counts = (struct fold_counts){.by_session = counts->by_session};
	return rc;
}

/* Writes some chunks; then comes the next range of them, if not all found room in memory, or the end. */
static int
write_chunks(struct store_fold *fold, struct portolan_error *error)
{
	size_t before = fold->writer->pending;
	bool written, finished;
	int rc = 0;

	while (fold->next_write < fold->image->to && !rc && fold->writer->pending - before < FOLD_WRITE_BYTES &&
	       fold->counts.chunks < FOLD_WRITE_CHUNKS)
		rc = store_fold_chunk(fold, fold->next_write++, error);
	if (rc)
		return rc;
	written = fold->next_write == fold->image->to;
	finished = written && (!fold->from_log || fold->image->to >= fold->chunk_count);
	rc = put_counts(fold, finished, error);
	if (finished)
		fold->phase = FOLD_IDS;
	else if (written)
		rc = rc ? rc : store_fold_next_range(fold, error);
	return rc;
}

static int
consolidate_ids(struct store_fold *fold, struct portolan_error *error)
{
	size_t before = fold->writer->pending;
	bool more = true;
	int rc = 0;

	while (!rc && more && fold->writer->pending - before < FOLD_WRITE_BYTES)
		rc = store_dictionary_consolidate(fold->writer, fold->run, &more, error);
	if (!more)
		fold->phase = FOLD_DONE;
	return rc;
}

static int
work(struct store_fold *fold, struct portolan_error *error)
{
	switch (fold->phase) {
	case FOLD_COUNT:
		return store_fold_count(fold, error);
	case FOLD_FILL:
		return store_fold_fill(fold, error);
	case FOLD_WRITE:
		return write_chunks(fold, error);
	case FOLD_IDS:
		return consolidate_ids(fold, error);
	case FOLD_DONE:
		break;
	}
	return 0;
}

int
store_fold_advance(struct store_fold *fold, bool *done, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct run_state_record state;
	size_t before;
	int phase, rc = store_writer_begin(writer, error);

	if (!rc && fold->aborts != writer->aborts)
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s': the fold of epoch %u of run '%s' was given up; begin again",
		                 writer->directory, fold->epoch, fold->name);
	if (!rc)
		rc = store_catalog_state(&writer->view, fold->run, &state, error);
	if (rc)
		return rc;
	before = writer->pending;
	do { /* of a small epoch all phases at once: one sync, not three */
		phase = fold->phase;
		rc = work(fold, error);
	} while (!rc && (int)fold->phase != phase && fold->phase != FOLD_DONE &&
	         (fold->bytes < FOLD_SMALL_BYTES || writer->pending - before < FOLD_SMALL_BYTES));
	if (!rc)
		*done = fold->phase == FOLD_DONE;
	return rc;
}

int
store_fold_step(struct store_fold *fold, bool *done, struct portolan_error *error)
{
	bool at_end;
	int rc = store_fold_advance(fold, &at_end, error);

	if (!rc)
		rc = store_writer_commit(fold->writer, error);
	if (!rc)
		*done = at_end;
	return rc;
}
