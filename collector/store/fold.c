/*
 * fold.c: from the log of an epoch to its columns.
 *
 * The entries to fold are fixed at the beginning: those before `end`. Chunks are filled from the epoch's image, or in
 * passes over its log, and written in place. A chunk says up to which entry it is merged, and its rows are counted in
 * the transaction that writes it. So every state between two steps is whole: a reader merges of each chunk the entries
 * that it lacks, and so does a fold that is begun anew after a crash or an abort. The step that writes the last chunk
 * also moves the beginning of the log; the entries before it go later (collect.c).
 */
#include "fold.h"

#include "fold_write.h"

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

/* What the images of a chunk take: each of the run's columns with its presence, who wrote, and the examples' part. */
static size_t
bytes_of_chunk(const struct run_state_record *state, bool examples)
{
	size_t words = STORE_CHUNK * sizeof(uint32_t), bitmap = STORE_CHUNK_WORDS * sizeof(uint64_t);
	size_t bytes = words + bitmap;

	for (uint64_t mask = state->columns & ~STORE_COLUMN_BIT(STORE_GOLD); mask; mask &= mask - 1)
		bytes += bitmap + (column_is_bits(mask_first(mask)) ? 0 : words);
	return bytes + (examples ? 2 * (words + bitmap) : 0);
}

/* Where the columns come from: the image, or the log. */
static int
choose_source(struct store_fold *fold, const struct run_state_record *state, const struct epoch_record *epoch,
              struct portolan_error *error)
{
	const struct image_key key = {fold->run, fold->epoch};

	fold->image = store_images_take(&fold->writer->images, &key, epoch);
	if (fold->image) {
		fold->phase = FOLD_WRITE;
		fold->bytes = fold->image->log_bytes;
		return 0;
	}
	fold->chunk_bytes = bytes_of_chunk(state, fold->examples);
	fold->states = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->states));
	fold->active = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->active));
	if (fold->chunk_bytes * fold->chunk_count > fold->memory)
		fold->spans = calloc(fold->end - fold->begin, sizeof(*fold->spans)); /* without it all is read again */
	return fold->states && fold->active ? 0 : store_fold_out_of_memory(fold, error);
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
	rc = choose_source(fold, &state, &epoch, error);
	return rc ? rc : store_catalog_order(view, fold->run, fold->sessions, &fold->order, error);
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
	begun->first_pass = true;
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
	for (uint32_t chunk = 0; chunk < fold->chunk_count && fold->active; chunk++)
		store_fold_drop_chunk(fold, chunk);
	store_merge_free(&fold->scratch.epoch);
	store_merge_free(&fold->scratch.examples);
	store_images_give_back(&fold->writer->images, fold->image);
	free(fold->order);
	free(fold->counts.by_session);
	free(fold->states);
	free(fold->active);
	free(fold->spans);
	free(fold);
}

static void
count_chunk(struct store_fold *fold, const struct fold_chunk *chunk)
{
	fold->counts.rows += chunk->rows;
	fold->counts.seen += chunk->examples.seen;
	fold->counts.relabelled += chunk->examples.relabelled;
	for (uint32_t i = 0; i < chunk->epoch.met_count; i++) {
		fold->counts.replaced += chunk->epoch.met[i].count;
		fold->counts.by_session[chunk->epoch.met[i].session] += chunk->epoch.met[i].count;
	}
}

int
store_fold_put_chunk(struct store_fold *fold, struct fold_chunk *chunk, struct portolan_error *error)
{
	struct chunk_place place = store_fold_place(fold, fold->epoch, chunk->number);
	int rc = 0;

	if (chunk->rows == 0) /* a fold that was given up has merged all of this already */
		return 0;
	chunk->epoch.merged = fold->end;
	rc = store_chunk_write(fold->writer, &place, &chunk->epoch, error);
	if (!rc && chunk->examples.changed) {
		place = store_fold_place(fold, STORE_EPOCH_RUN, chunk->number);
		rc = store_chunk_write(fold->writer, &place, &chunk->examples, error);
	}
	if (!rc)
		count_chunk(fold, chunk);
	return rc;
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
	fold->counts = (struct fold_counts){.by_session = counts->by_session};
	return rc;
}

static int
write_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	int rc;

	if (fold->image)
		return store_fold_image_chunk(fold, number, error);
	if (fold->states[number] == DEFERRED)
		fold->states[number] = WAITING;
	if (fold->states[number] != ACTIVE)
		return 0;
	rc = store_fold_put_chunk(fold, fold->active[number], error);
	fold->states[number] = DONE;
	store_fold_drop_chunk(fold, number);
	return rc;
}

/* Writes some chunks; then comes another pass over the log, if some had to wait, or the end. */
static int
write_chunks(struct store_fold *fold, struct portolan_error *error)
{
	size_t before = fold->writer->pending;
	bool last;
	int rc = 0;

	while (fold->next_write < fold->chunk_count && !rc && fold->writer->pending - before < FOLD_WRITE_BYTES)
		rc = write_chunk(fold, fold->next_write++, error);
	if (rc)
		return rc;
	last = fold->next_write == fold->chunk_count;
	rc = put_counts(fold, last && !fold->deferred, error);
	if (!last)
		return rc;
	fold->phase = FOLD_IDS;
	if (fold->deferred) { /* once more over the log, for the chunks there was no memory for */
		fold->position = fold->begin;
		fold->next_write = 0;
		fold->phase = FOLD_SCAN;
	}
	fold->active_bytes = 0;
	fold->deferred = false;
	fold->first_pass = false;
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
	case FOLD_SCAN:
		return store_fold_scan(fold, error);
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
