/*
 * fold.c: from the log of an epoch to its columns.
 *
 * The entries to fold are fixed at the beginning: those before `end`. A pass scatters them into chunk images, each made
 * from the chunk's present generation when the first row for it comes, until the images fill the memory allowed; rows
 * of other chunks wait for the next pass. Then the images are written, and their memory is used again. In no step can a
 * reader see any of it: everything goes under a generation number that no directory mentions yet. The last step
 * puts the new numbers into the directories, moves the beginning of the log, and retires what both made useless.
 *
 * A crash or an abort on the way leaves records under a number no directory mentions. The number is recorded (DB_FOLDS)
 * in the transaction of the first step, and retired as a whole by whoever finds it there: the next fold of the
 * epoch, or the next start. Numbers are not used twice.
 */
#include "fold.h"

#include <stdlib.h>

int
store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error)
{
	return error_set(error, STORE_E_MEMORY, "store '%s': out of memory turning epoch %u of run '%s' into columns",
	                 fold->writer->directory, fold->epoch, fold->name);
}

/* Takes the next generation number of an epoch (or of what is kept per example). */
static int
take_generation(struct store_writer *writer, uint32_t run, uint32_t epoch, uint32_t *generation,
                struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, epoch);
	struct epoch_record record;
	int rc = store_catalog_epoch(&writer->view, run, epoch, &record, error);

	if (rc)
		return rc;
	*generation = ++record.generation;
	return store_writer_put(writer, DB_EPOCHS, &key, RECORD_EPOCH, &record, sizeof(record), error);
}

static int
record_intent(struct store_fold *fold, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct store_key key = store_key_u32_u32(fold->run, fold->epoch);
	struct fold_record record;
	int rc = store_writer_drop_folds(writer, fold->run, fold->epoch, error);

	if (!rc)
		rc = take_generation(writer, fold->run, fold->epoch, &fold->generation, error);
	if (!rc)
		rc = take_generation(writer, fold->run, STORE_EPOCH_RUN, &fold->example_generation, error);
	record = (struct fold_record){.generation = fold->generation, .run_generation = fold->example_generation};
	if (!rc)
		rc = store_writer_put(writer, DB_FOLDS, &key, RECORD_FOLD, &record, sizeof(record), error);
	return rc;
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
	fold->chunk_bytes = bytes_of_chunk(&state, fold->examples);
	fold->rows_of_run = state.rows;
	fold->sessions = state.sessions;
	fold->chunk_count = store_chunks_of(state.rows);
	fold->replaced = calloc((size_t)fold->sessions + 1, sizeof(*fold->replaced));
	fold->states = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->states));
	fold->active = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->active));
	fold->new_generations = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->new_generations));
	fold->new_example_generations = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->new_example_generations));
	if (fold->chunk_bytes * fold->chunk_count > fold->memory)
		fold->spans = calloc(fold->end - fold->begin, sizeof(*fold->spans)); /* without it all is read again */
	if (!fold->replaced || !fold->states || !fold->active || !fold->new_generations ||
	    !fold->new_example_generations)
		return store_fold_out_of_memory(fold, error);
	rc = store_catalog_order(view, fold->run, fold->sessions, &fold->order, error);
	if (!rc)
		rc = store_catalog_directory(view, fold->run, fold->epoch, fold->chunk_count, &fold->generations,
		                             error);
	if (!rc)
		rc = store_catalog_directory(view, fold->run, STORE_EPOCH_RUN, fold->chunk_count,
		                             &fold->example_generations, error);
	return rc ? rc : record_intent(fold, error);
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
	free(fold->order);
	free(fold->replaced);
	free(fold->states);
	free(fold->active);
	free(fold->generations);
	free(fold->example_generations);
	free(fold->new_generations);
	free(fold->new_example_generations);
	free(fold->spans);
	free(fold);
}

/* Puts a directory: of every chunk, or of those that have something, whichever is shorter. A run may declare many more
 * examples than it logs. */
static int
put_directory(struct store_fold *fold, uint32_t epoch, const uint32_t *old, const uint32_t *new,
              struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(fold->run, epoch);
	size_t stored = 0, size = (size_t)fold->chunk_count * sizeof(uint32_t);
	uint8_t *record, *at;
	bool sparse;
	int rc;

	for (uint32_t chunk = 0; chunk < fold->chunk_count; chunk++)
		stored += (new[chunk] | old[chunk]) != 0;
	sparse = 8 * stored < size;
	size = sparse ? 8 * stored : size;
	rc = store_writer_reserve(fold->writer, DB_DIRECTORY, &key, RECORD_HEADER + size, &record, error);
	if (rc)
		return rc;
	at = record + RECORD_HEADER;
	for (uint32_t chunk = 0; chunk < fold->chunk_count; chunk++) {
		uint32_t generation = new[chunk] ? new[chunk] : old[chunk];

		if (sparse && !generation)
			continue;
		if (sparse) {
			memcpy(at, &chunk, 4);
			at += 4;
		}
		memcpy(at, &generation, 4);
		at += 4;
	}
	store_record_seal(record, sparse ? RECORD_SPARSE_DIRECTORY : RECORD_DIRECTORY, RECORD_HEADER + size);
	return 0;
}

/* Puts a directory with the new numbers in it, and retires the old ones. */
static int
switch_directory(struct store_fold *fold, uint32_t epoch, const uint32_t *old, const uint32_t *new,
                 struct portolan_error *error)
{
	int rc = put_directory(fold, epoch, old, new, error);

	for (uint32_t chunk = 0; chunk < fold->chunk_count && !rc; chunk++) {
		struct retired_record retired = {.kind = RETIRED_CHUNK,
		                                 .run = fold->run,
		                                 .epoch = epoch,
		                                 .generation = old[chunk],
		                                 .chunk = chunk};

		if (new[chunk] && old[chunk])
			rc = store_writer_retire(fold->writer, &retired, false, error);
	}
	return rc;
}

static int
finish_counts(struct store_fold *fold, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct store_key key = store_key_u32_u32(fold->run, fold->epoch);
	struct run_state_record state;
	struct epoch_record epoch;
	int rc = store_catalog_epoch(&writer->view, fold->run, fold->epoch, &epoch, error);

	if (!rc)
		rc = store_catalog_state(&writer->view, fold->run, &state, error);
	if (rc)
		return rc;
	epoch.log_begin = fold->end;
	epoch.log_rows -= fold->rows;
	epoch.log_bytes -= fold->bytes;
	epoch.observations += fold->rows - fold->all_replaced;
	state.log_rows -= fold->rows;
	state.observations += fold->rows - fold->all_replaced;
	state.replaced += fold->all_replaced;
	state.changed_labels += fold->changed;
	state.examples += state.declared ? fold->seen : 0;
	rc = store_writer_put(writer, DB_EPOCHS, &key, RECORD_EPOCH, &epoch, sizeof(epoch), error);
	if (!rc)
		rc = store_writer_put_state(writer, fold->run, &state, error);
	for (uint32_t session = 0; session < fold->sessions && !rc; session++) {
		struct session_record record;

		if (!fold->replaced[session])
			continue;
		rc = store_writer_load(writer, fold->run, session, &state, &record, error);
		record.replaced += fold->replaced[session];
		if (!rc)
			rc = store_writer_put_session(writer, fold->run, session, &record, error);
	}
	return rc;
}

static int
finish(struct store_fold *fold, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct store_key key = store_key_u32_u32(fold->run, fold->epoch);
	struct retired_record log = {.kind = RETIRED_LOG, .run = fold->run, .epoch = fold->epoch, .to = fold->end};
	struct epoch_record epoch;
	int rc = store_catalog_epoch(&writer->view, fold->run, fold->epoch, &epoch, error);

	log.from = epoch.log_begin;
	if (!rc)
		rc = switch_directory(fold, fold->epoch, fold->generations, fold->new_generations, error);
	if (!rc && fold->examples)
		rc = switch_directory(fold, STORE_EPOCH_RUN, fold->example_generations, fold->new_example_generations,
		                      error);
	if (!rc)
		rc = finish_counts(fold, error);
	if (!rc)
		rc = store_writer_delete(writer, DB_FOLDS, &key, error);
	/* Snapshots have copied the log: nobody needs these entries. */
	if (!rc)
		rc = store_writer_retire(writer, &log, true, error);
	if (!rc)
		fold->phase = FOLD_DONE;
	return rc;
}

static int
work(struct store_fold *fold, struct portolan_error *error)
{
	bool more = false;
	int rc = 0;

	switch (fold->phase) {
	case FOLD_SCAN:
		return store_fold_scan(fold, error);
	case FOLD_WRITE:
		return store_fold_write(fold, error);
	case FOLD_IDS:
		rc = store_dictionary_consolidate(fold->writer, fold->run, &more, error);
		if (!rc && !more)
			fold->phase = FOLD_FINISH;
		return rc;
	case FOLD_FINISH:
		return finish(fold, error);
	case FOLD_DONE:
		break;
	}
	return rc;
}

int
store_fold_advance(struct store_fold *fold, bool *done, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct run_state_record state;
	int phase, rc = store_writer_begin(writer, error);

	if (!rc && fold->aborts != writer->aborts)
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s': the fold of epoch %u of run '%s' was given up; begin again",
		                 writer->directory, fold->epoch, fold->name);
	if (!rc)
		rc = store_catalog_state(&writer->view, fold->run, &state, error);
	if (rc)
		return rc;
	do { /* of a small epoch all phases at once: one sync, not four */
		phase = fold->phase;
		rc = work(fold, error);
	} while (!rc && (int)fold->phase != phase && fold->phase != FOLD_DONE && fold->bytes < FOLD_SMALL_BYTES);
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
