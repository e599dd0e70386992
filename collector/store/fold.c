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
#include "fold_write.h"

#include <stdlib.h>

#define STEP_BYTES ((size_t)2 << 20) /* read or written in one step */
#define GROUP 1024                   /* rows merged at a time */

enum chunk_state { WAITING = 0, ACTIVE, DEFERRED, DONE };

struct fold_chunk {
	uint32_t number;
	struct merge_chunk epoch, examples;
};

struct store_fold {
	struct store_writer *writer;
	uint64_t aborts;
	uint32_t run, epoch, generation, example_generation;
	char name[256];
	size_t memory;
	bool examples; /* the run keeps something per example: labels, or which of the declared were seen */
	uint64_t rows_of_run, position, end;
	uint32_t sessions, *order;
	uint64_t *replaced; /* per session */
	uint32_t chunk_count;
	uint32_t *generations, *example_generations; /* present ones */
	uint32_t *new_generations, *new_example_generations;
	uint8_t *states;
	struct fold_chunk **active; /* per chunk; NULL unless ACTIVE */
	size_t active_bytes;
	bool deferred, first_pass;
	uint32_t next_write;
	uint64_t rows, bytes, all_replaced, seen, changed;
	enum { FOLD_SCAN, FOLD_WRITE, FOLD_IDS, FOLD_FINISH, FOLD_DONE } phase;
};

static int
out_of_memory(const struct store_fold *fold, struct portolan_error *error)
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
	fold->position = epoch.log_begin;
	fold->end = epoch.log_end;
	if (fold->position == fold->end) {
		fold->phase = FOLD_DONE;
		return 0;
	}
	fold->examples = state.declared || state.columns & STORE_COLUMN_BIT(STORE_GOLD);
	fold->rows_of_run = state.rows;
	fold->sessions = state.sessions;
	fold->chunk_count = store_chunks_of(state.rows);
	fold->replaced = calloc((size_t)fold->sessions + 1, sizeof(*fold->replaced));
	fold->states = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->states));
	fold->active = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->active));
	fold->new_generations = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->new_generations));
	fold->new_example_generations = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->new_example_generations));
	if (!fold->replaced || !fold->states || !fold->active || !fold->new_generations ||
	    !fold->new_example_generations)
		return out_of_memory(fold, error);
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

static void
free_chunk(struct store_fold *fold, uint32_t number)
{
	struct fold_chunk *chunk = fold->active[number];

	if (!chunk)
		return;
	store_merge_free(&chunk->epoch);
	store_merge_free(&chunk->examples);
	free(chunk);
	fold->active[number] = NULL;
}

void
store_fold_free(struct store_fold *fold)
{
	if (!fold)
		return;
	for (uint32_t chunk = 0; chunk < fold->chunk_count && fold->active; chunk++)
		free_chunk(fold, chunk);
	free(fold->order);
	free(fold->replaced);
	free(fold->states);
	free(fold->active);
	free(fold->generations);
	free(fold->example_generations);
	free(fold->new_generations);
	free(fold->new_example_generations);
	free(fold);
}

static struct chunk_place
place_of(const struct store_fold *fold, uint32_t epoch, uint32_t generation, uint32_t chunk)
{
	uint64_t left = fold->rows_of_run - (uint64_t)chunk * STORE_CHUNK;

	return (struct chunk_place){.run_name = fold->name,
	                            .run = fold->run,
	                            .epoch = epoch,
	                            .generation = generation,
	                            .chunk = chunk,
	                            .rows = left < STORE_CHUNK ? (uint32_t)left : STORE_CHUNK,
	                            .sessions = fold->sessions};
}

/* Makes a chunk active: its images as they are in the store now. */
static int
load_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	const struct view *view = &fold->writer->view;
	struct fold_chunk *chunk = calloc(1, sizeof(*chunk));
	struct chunk_place place = place_of(fold, fold->epoch, fold->generations[number], number);
	int rc;

	if (!chunk)
		return out_of_memory(fold, error);
	chunk->number = number;
	fold->active[number] = chunk;
	if (store_merge_reset(&chunk->epoch) < 0 || (fold->examples && store_merge_reset(&chunk->examples) < 0))
		return out_of_memory(fold, error);
	rc = store_chunk_load(view, &place, UINT64_MAX & ~STORE_COLUMN_BIT(STORE_GOLD), &chunk->epoch, error);
	if (!rc && fold->examples) {
		place = place_of(fold, STORE_EPOCH_RUN, fold->example_generations[number], number);
		rc = store_chunk_load(view, &place, STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION),
		                      &chunk->examples, error);
	}
	fold->states[number] = ACTIVE;
	return rc;
}

/* Decides what becomes of a row of chunk `number` in this pass. */
static int
admit(struct store_fold *fold, uint32_t number, size_t *loaded, struct portolan_error *error)
{
	const size_t estimate = 6 * STORE_CHUNK * sizeof(uint32_t); /* of a chunk with the usual columns */

	if (fold->states[number] != WAITING)
		return 0;
	if (fold->active_bytes && fold->active_bytes + estimate > fold->memory) {
		fold->states[number] = DEFERRED;
		fold->deferred = true;
		return 0;
	}
	*loaded += estimate;
	fold->active_bytes += estimate;
	return load_chunk(fold, number, error);
}

static int
merge_group(struct store_fold *fold, const struct batch *batch, struct merge_row *rows, size_t count,
            struct portolan_error *error)
{
	uint64_t replaced = 0;
	int rc = 0;

	if (fold->examples) {
		struct merge_row examples[GROUP];

		for (size_t i = 0; i < count; i++) {
			uint32_t number = load_u32(batch->index + 4 * (size_t)rows[i].row) / STORE_CHUNK;

			examples[i] = rows[i];
			examples[i].chunk = &fold->active[number]->examples;
		}
		rc = store_merge_examples(batch, fold->order, examples, count, &fold->seen, &fold->changed);
	}
	if (!rc)
		rc = store_merge_rows(batch, UINT64_MAX, fold->order, rows, count, &replaced);
	if (rc)
		return out_of_memory(fold, error);
	fold->replaced[batch->session] += replaced;
	fold->all_replaced += replaced;
	return 0;
}

static int
merge_batch(struct store_fold *fold, const struct batch *batch, size_t *loaded, struct portolan_error *error)
{
	int rc = 0;

	for (uint32_t row = 0; row < batch->rows && !rc;) {
		struct merge_row rows[GROUP];
		size_t count = 0;

		for (; row < batch->rows && count < GROUP && !rc; row++) {
			uint32_t index = load_u32(batch->index + 4 * (size_t)row), number = index / STORE_CHUNK;

			if (fold->states[number] != ACTIVE)
				rc = admit(fold, number, loaded, error);
			if (!rc && fold->states[number] == ACTIVE)
				rows[count++] = (struct merge_row){
				        .chunk = &fold->active[number]->epoch, .at = index % STORE_CHUNK, .row = row};
		}
		if (!rc)
			rc = merge_group(fold, batch, rows, count, error);
	}
	return rc;
}

static int
scan(struct store_fold *fold, struct portolan_error *error)
{
	struct store_key from = store_key_log(fold->run, fold->epoch, fold->position);
	const struct view *view = &fold->writer->view;
	struct view_walk walk;
	size_t work = 0;
	int rc = store_walk_open(&walk, view, DB_LOG, &from, 8, error);

	while (!rc && work < STEP_BYTES && fold->position < fold->end) {
		struct batch batch;

		rc = store_walk_next(&walk, error);
		if (!rc && (walk.key.mv_size != 16 ||
		            store_key_read_u64((const uint8_t *)walk.key.mv_data + 8) != fold->position ||
		            !store_batch_open(walk.value.mv_data, walk.value.mv_size, fold->rows_of_run, fold->sessions,
		                              &batch)))
			rc = store_view_corrupt(view, DB_LOG, walk.key.mv_data, walk.key.mv_size, error);
		else if (rc == VIEW_ABSENT)
			rc = store_view_corrupt(view, DB_LOG, from.data, from.size, error);
		if (rc)
			break;
		work += walk.value.mv_size;
		rc = merge_batch(fold, &batch, &work, error);
		if (fold->first_pass) {
			fold->rows += batch.rows;
			fold->bytes += walk.value.mv_size;
		}
		fold->position++;
	}
	store_walk_close(&walk);
	if (!rc && fold->position == fold->end) {
		fold->phase = FOLD_WRITE;
		fold->next_write = 0;
	}
	return rc;
}

static int
write_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	struct fold_chunk *chunk = fold->active[number];
	struct chunk_place place = place_of(fold, fold->epoch, fold->generation, number);
	int rc = store_chunk_write(fold->writer, &place, &chunk->epoch, error);

	fold->new_generations[number] = fold->generation;
	if (!rc && chunk->examples.changed) {
		place = place_of(fold, STORE_EPOCH_RUN, fold->example_generation, number);
		rc = store_chunk_write(fold->writer, &place, &chunk->examples, error);
		fold->new_example_generations[number] = fold->example_generation;
	}
	fold->states[number] = DONE;
	free_chunk(fold, number);
	return rc;
}

static int
write_chunks(struct store_fold *fold, struct portolan_error *error)
{
	size_t before = fold->writer->pending;
	int rc = 0;

	for (; fold->next_write < fold->chunk_count && !rc; fold->next_write++) {
		if (fold->writer->pending - before >= STEP_BYTES)
			return 0;
		if (fold->states[fold->next_write] == ACTIVE)
			rc = write_chunk(fold, fold->next_write, error);
		else if (fold->states[fold->next_write] == DEFERRED)
			fold->states[fold->next_write] = WAITING;
	}
	if (rc)
		return rc;
	fold->phase = FOLD_IDS;
	if (fold->deferred) { /* once more over the log, for the chunks there was no memory for */
		struct epoch_record epoch;

		rc = store_catalog_epoch(&fold->writer->view, fold->run, fold->epoch, &epoch, error);
		fold->position = epoch.log_begin;
		fold->phase = FOLD_SCAN;
	}
	fold->active_bytes = 0;
	fold->deferred = false;
	fold->first_pass = false;
	return rc;
}

/* Puts a directory with the new numbers in it, and retires the old ones. */
static int
switch_directory(struct store_fold *fold, uint32_t epoch, const uint32_t *old, const uint32_t *new,
                 struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(fold->run, epoch);
	size_t size = (size_t)fold->chunk_count * sizeof(uint32_t);
	uint8_t *record;
	int rc;

	rc = store_writer_reserve(fold->writer, DB_DIRECTORY, &key, RECORD_HEADER + size, &record, error);
	if (rc)
		return rc;
	for (uint32_t chunk = 0; chunk < fold->chunk_count; chunk++) {
		uint32_t generation = new[chunk] ? new[chunk] : old[chunk];

		memcpy(record + RECORD_HEADER + 4 * (size_t)chunk, &generation, 4);
	}
	store_record_seal(record, RECORD_DIRECTORY, RECORD_HEADER + size);
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

int
store_fold_step(struct store_fold *fold, bool *done, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct run_state_record state;
	bool more = false;
	int rc = store_writer_begin(writer, error);

	if (!rc && fold->aborts != writer->aborts)
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s': the fold of epoch %u of run '%s' was given up; begin again",
		                 writer->directory, fold->epoch, fold->name);
	if (!rc)
		rc = store_catalog_state(&writer->view, fold->run, &state, error);
	if (rc)
		return rc;
	switch (fold->phase) {
	case FOLD_SCAN:
		rc = scan(fold, error);
		break;
	case FOLD_WRITE:
		rc = write_chunks(fold, error);
		break;
	case FOLD_IDS:
		rc = store_dictionary_consolidate(writer, fold->run, &more, error);
		if (!rc && !more)
			fold->phase = FOLD_FINISH;
		break;
	case FOLD_FINISH:
		rc = finish(fold, error);
		break;
	case FOLD_DONE:
		break;
	}
	if (!rc)
		rc = store_writer_commit(writer, error);
	if (!rc)
		*done = fold->phase == FOLD_DONE;
	return rc;
}
