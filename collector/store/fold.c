/*
 * fold.c: folds an epoch: turns its log, the batches as they came, into columns, which are smaller and quicker to read.
 * The collector does so for a few milliseconds at a time, between storing batches.
 *
 * The entries to fold are fixed at the beginning: those before `end`. They are merged in memory with the stored columns
 * (fold_log.c), for a range of chunks at a time, and these chunks are written in place. A chunk says up to which entry
 * it is merged, and its rows are counted in the transaction that writes it. So the store is consistent between any two
 * steps: a reader merges into each chunk the entries that it lacks, and so does a fold that begins anew after a crash
 * or an abort. The step that writes the last chunk also moves the beginning of the log; the entries before it are
 * deleted later (collect.c).
 */
#include "fold.h"

#include <assert.h>
#include <stdlib.h>

#define SPANS_PART 16 /* the spans may take 1/SPANS_PART of the memory */
#define SHARED_PART 8 /* chunks share arrays if the log has rows for 1/SHARED_PART of the examples, or more */

/* The most bytes that a chunk takes in memory, with the values of its examples that are kept per example, not per
 * epoch. */
static size_t
fold_chunk_bytes(const struct store_fold *fold)
{
	const size_t words = STORE_CHUNK * sizeof(uint32_t), bits = STORE_CHUNK_WORDS * sizeof(uint64_t);
	const uint64_t entries = fold->end - fold->begin;
	/* at most so many sessions meet others */
	const size_t met = entries < fold->sessions ? (size_t)entries : fold->sessions;
	size_t bytes = sizeof(struct fold_chunk) + words + bits; /* the sessions and the presence */

	bytes += 2 * met * sizeof(struct merge_met);
	for (uint64_t mask = fold->columns & ~STORE_COLUMN_BIT(STORE_GOLD); mask; mask &= mask - 1)
		bytes += column_is_bits(mask_first(mask)) ? bits : words + bits;
	return fold->examples ? bytes + 2 * (words + bits) : bytes;
}

/* Allocates spans that take at most 1/SPANS_PART of the memory. Without spans all of the log is read again. */
static void
fold_take_spans(struct store_fold *fold, size_t memory)
{
	const uint64_t entries = fold->end - fold->begin, most = memory / SPANS_PART / sizeof(*fold->spans);

	fold->per_span = most ? (entries + most - 1) / most : entries;
	fold->spans = calloc((size_t)((entries + fold->per_span - 1) / fold->per_span), sizeof(*fold->spans));
}

/* What arrays that all chunks share take beyond those of single chunks: large ones end with a whole huge page. */
static size_t
fold_rounding(const struct store_fold *fold)
{
	const size_t words = sizeof(uint32_t) * fold->chunk_count * STORE_CHUNK;
	const size_t bits = sizeof(uint64_t) * fold->chunk_count * STORE_CHUNK_WORDS;
	const size_t more_words = store_merge_shared_size(words) - words;
	const size_t more_bits = store_merge_shared_size(bits) - bits;
	uint64_t columns = (fold->columns & ~STORE_COLUMN_BIT(STORE_GOLD)) | STORE_COLUMN_BIT(STORE_SESSION);
	size_t more = more_bits; /* the observations' presence */

	for (; columns; columns &= columns - 1) {
		more += column_is_bits(mask_first(columns)) ? more_bits : more_words;
		more += column_is_implied(mask_first(columns)) ? 0 : more_bits;
	}
	return more;
}

/* Takes the arrays of the last fold, if they are of the same size and the same columns, else makes new ones. */
static void
fold_take_shared(struct store_fold *fold)
{
	struct merge_shared *last = fold->writer->arrays;

	if (last && last->chunks == fold->chunk_count && last->columns == fold->columns) {
		fold->shared = last;
		fold->writer->arrays = NULL;
		return;
	}
	store_fold_rest(fold->writer);
	fold->shared = calloc(1, sizeof(*fold->shared));
	if (fold->shared)
		*fold->shared = (struct merge_shared){.chunks = fold->chunk_count, .columns = fold->columns};
}

/* Allows at least one chunk, however little memory there is; arrays by session and by chunk are needed in any case. */
static int
fold_take_memory(struct store_fold *fold, size_t memory, uint64_t log_rows)
{
	const size_t fixed = fold->sessions * (sizeof(*fold->order) + sizeof(*fold->counts.by_session)) +
	                     fold->chunk_count * sizeof(*fold->chunks);
	const size_t left = memory > fixed ? memory - fixed : 0, each = fold_chunk_bytes(fold);
	const size_t some = (left - left / SPANS_PART) / each;
	const bool fits = left / each >= fold->chunk_count;

	fold->most = fits ? fold->chunk_count : some ? (uint32_t)some : 1;
	fold->to = fold->chunk_count;
	fold->memory = fits ? fixed + fold->chunk_count * each : SIZE_MAX;
	fold->chunks = calloc((size_t)fold->chunk_count + 1, sizeof(*fold->chunks));
	if (!fits)
		fold_take_spans(fold, left);
	/* A few rows, scattered over the run, would take a huge page each. */
	if (fits && log_rows >= fold->rows_of_run / SHARED_PART &&
	    left - fold->chunk_count * each >= fold_rounding(fold)) {
		fold_take_shared(fold);
		fold->memory += fold_rounding(fold);
	} else
		store_fold_rest(fold->writer);
	return fold->chunks ? 0 : STORE_E_MEMORY;
}

static int
fold_read_epoch(struct store_fold *fold, size_t memory, struct portolan_error *error)
{
	const struct view *view = &fold->writer->view;
	struct run_state_record state;
	struct store_run_info info;
	struct epoch_record epoch;
	int rc = store_catalog_state(view, fold->run, &state, error)
	         ?: store_catalog_info(view, fold->run, &info, error)
	         ?: store_catalog_epoch(view, fold->run, fold->epoch, &epoch, error);

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
	fold->columns = epoch.columns;
	rc = store_catalog_order(view, fold->run, fold->sessions, &fold->order, error);
	if (rc)
		return rc;
	return fold_take_memory(fold, memory, epoch.log_rows) < 0 ? store_fold_out_of_memory(fold, error) : 0;
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
	begun->view = &writer->view;
	begun->aborts = writer->aborts;
	begun->examples_written = writer->examples_written;
	begun->run = run;
	begun->epoch = epoch;
	rc = fold_read_epoch(begun, memory, error);
	if (rc) {
		store_fold_free(begun);
		return rc;
	}
	*fold = begun;
	return 0;
}

static void
fold_drop_chunk(struct store_fold *fold, uint32_t number)
{
	fold->chunks[number]->next = fold->unused;
	fold->unused = fold->chunks[number];
	fold->chunks[number] = NULL;
}

void
store_fold_rest(struct store_writer *writer)
{
	store_merge_shared_free(writer->arrays);
	writer->arrays = NULL;
}

void
store_fold_free(struct store_fold *fold)
{
	if (!fold)
		return;
	store_fold_pause(fold);
	for (uint32_t number = 0; number < fold->chunk_count && fold->chunks; number++)
		if (fold->chunks[number])
			fold_drop_chunk(fold, number);
	while (fold->unused) {
		struct fold_chunk *chunk = fold->unused;

		fold->unused = chunk->next;
		store_merge_free(&chunk->epoch);
		store_merge_free(&chunk->examples);
		free(chunk);
	}
	if (fold->shared) {
		store_fold_rest(fold->writer);
		fold->writer->arrays = fold->shared;
	}
	free(fold->chunks);
	free(fold->order);
	free(fold->counts.by_session);
	free(fold->spans);
	free(fold);
}

static int
fold_put_sessions(struct store_fold *fold, struct portolan_error *error)
{
	int rc = 0;

	for (uint32_t session = 0; session < fold->sessions && fold->counts.merged.replaced && !rc; session++) {
		struct session_record record;

		if (!fold->counts.by_session[session])
			continue;
		rc = store_writer_load(fold->writer, fold->run, session, NULL, &record, error);
		record.replaced += fold->counts.by_session[session];
		if (!rc)
			rc = store_writer_put_session(fold->writer, fold->run, session, &record, error);
		fold->counts.by_session[session] = 0;
	}
	return rc;
}

/* Stores the counts of the chunks that this step wrote; `finished`: every chunk is merged, so the log's beginning
 * moves. */
static int
fold_put_counts(struct store_fold *fold, bool finished, struct portolan_error *error)
{
	struct store_writer *writer = fold->writer;
	struct store_key key = store_key_u32_u32(fold->run, fold->epoch);
	const struct fold_counts *counts = &fold->counts;
	const struct store_counters more = {.returned = counts->merged.returned};
	struct run_state_record state;
	struct epoch_record epoch;
	int rc = store_catalog_epoch(&writer->view, fold->run, fold->epoch, &epoch, error)
	                 ?: store_catalog_state(&writer->view, fold->run, &state, error);

	if (rc)
		return rc;
	epoch.log_rows -= counts->kept + counts->merged.replaced;
	epoch.observations += counts->kept;
	if (finished) {
		epoch.log_begin = fold->end;
		epoch.log_bytes -= fold->bytes;
		epoch.folds++;
	}
	state.log_rows -= counts->kept + counts->merged.replaced;
	state.observations += counts->kept;
	state.replaced += counts->merged.replaced;
	state.changed_labels += counts->merged.relabelled;
	state.examples += state.declared ? counts->merged.seen : 0;
	rc = store_writer_put(writer, DB_EPOCHS, &key, RECORD_EPOCH, &epoch, sizeof(epoch), error)
	     ?: store_writer_put_state(writer, fold->run, &state, error)
	     ?: fold_put_sessions(fold, error);
	if (!rc && counts->merged.returned)
		rc = store_writer_count(writer, fold->run, &more, error);
	if (!rc && finished)
		rc = store_writer_list_removal(writer, fold->run, fold->epoch, fold->end, error);
	fold->counts = (struct fold_counts){.by_session = counts->by_session};
	return rc;
}

static uint32_t
fold_session_at(const struct merge_chunk *chunk, uint32_t at)
{
	return chunk->columns & STORE_COLUMN_BIT(STORE_SESSION) ? ((const uint32_t *)chunk->values[STORE_SESSION])[at]
	                                                        : chunk->session;
}

/* The examples among 64 that are seen for the first time. */
static uint64_t
fold_seen_first(const struct fold_chunk *chunk, uint32_t word)
{
	return chunk->epoch.present[STORE_GOLD_PROB][word] & ~chunk->examples.present[STORE_GOLD_PROB][word];
}

/* Marks the examples that are seen for the first time; examples that came with a label are marked already. For a log
 * without labels only the presence of the values kept per example has been read, as in most epochs no example is new.
 * The values themselves are read here, if one is. */
static int
fold_mark_seen(const struct store_fold *fold, uint32_t number, struct fold_chunk *chunk, struct portolan_error *error)
{
	const uint32_t words = (chunk->epoch.rows + 63) / 64;
	struct batch batch = {.session = 0}; /* without labels */
	uint32_t word = 0;
	int rc = 0;

	while (word < words && !fold_seen_first(chunk, word))
		word++;
	if (word < words && !(fold->columns & STORE_COLUMN_BIT(STORE_GOLD)))
		rc = store_fold_load_examples(fold, number, true, &chunk->examples, error);
	for (; word < words && !rc; word++) {
		for (uint64_t new = fold_seen_first(chunk, word); new; new &= new - 1) {
			const uint32_t at = 64 * word + (uint32_t)__builtin_ctzll(new);

			batch.session = fold_session_at(&chunk->epoch, at);
			store_merge_example(&batch, fold->order,
			                    (struct merge_row){.chunk = &chunk->examples, .at = at});
		}
	}
	return rc;
}

static void
fold_count_chunk(struct fold_counts *counts, const struct fold_chunk *chunk)
{
	counts->chunks++;
	counts->kept += store_merge_count(&chunk->epoch) - chunk->before;
	store_merge_add_counts(&chunk->epoch, &counts->merged);
	store_merge_add_counts(&chunk->examples, &counts->merged);
	for (uint32_t i = 0; i < chunk->epoch.met_count; i++)
		counts->by_session[chunk->epoch.met[i].session] += chunk->epoch.met[i].count;
}

static int
fold_write_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	struct chunk_place place = store_fold_place(fold, fold->epoch, number);
	struct fold_chunk *chunk = fold->chunks[number];
	int rc = 0;

	chunk->epoch.rows = store_merge_end(&chunk->epoch); /* tightens what fold_even.c left */
	if (fold->examples)
		rc = fold_mark_seen(fold, number, chunk, error);
	if (rc)
		return rc;
	chunk->epoch.merged = fold->end;
	rc = store_chunk_write(fold->writer, &place, &chunk->epoch, error);
	if (!rc && chunk->examples.changed) {
		place.epoch = STORE_EPOCH_RUN;
		fold->writer->examples_written++;
		rc = store_chunk_write(fold->writer, &place, &chunk->examples, error);
	}
	fold_count_chunk(&fold->counts, chunk);
	fold_drop_chunk(fold, number);
	return rc;
}

/* Writes some chunks. After the last one of the range the next range begins, if not all chunks had room in memory; else
 * the fold is done. */
static int
fold_write_chunks(struct store_fold *fold, struct portolan_error *error)
{
	size_t before = fold->writer->pending;
	bool written, finished;
	int rc = 0;

	for (; fold->next_write < fold->to && !rc && fold->writer->pending - before < FOLD_WRITE_BYTES &&
	       fold->counts.chunks < FOLD_WRITE_CHUNKS;
	     fold->next_write++)
		if (fold->chunks[fold->next_write])
			rc = fold_write_chunk(fold, fold->next_write, error);
	if (rc)
		return rc;
	/* Passes over chunks without rows at the end of the range, so that they take no step of their own. */
	while (fold->next_write < fold->to && !fold->chunks[fold->next_write])
		fold->next_write++;
	written = fold->next_write == fold->to;
	finished = written && fold->to == fold->chunk_count;
	rc = fold_put_counts(fold, finished, error);
	if (finished)
		fold->phase = FOLD_DONE;
	else if (written)
		store_fold_next_range(fold);
	return rc;
}

static int
fold_do_phase(struct store_fold *fold, struct portolan_error *error)
{
	switch (fold->phase) {
	case FOLD_FILL:
		return store_fold_fill(fold, error);
	case FOLD_WRITE:
		return fold_write_chunks(fold, error);
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

	assert(!fold->ahead.runs);
	if (!rc && fold->aborts != writer->aborts)
		return error_set(error, STORE_E_SYSTEM,
		                 "store '%s': the fold of epoch %u of run '%s' was given up; begin again",
		                 writer->directory, fold->epoch, fold->name);
	if (!rc)
		rc = store_catalog_state(&writer->view, fold->run, &state, error);
	if (rc)
		return rc;
	before = writer->pending;
	do { /* a small epoch goes through all phases in one step, with one sync instead of three */
		phase = fold->phase;
		rc = fold_do_phase(fold, error);
	} while (!rc && (int)fold->phase > phase && fold->phase != FOLD_DONE &&
	         (fold->bytes < FOLD_SMALL_BYTES || writer->pending - before < FOLD_SMALL_BYTES));
	if (!rc)
		*done = fold->phase == FOLD_DONE;
	return rc;
}

int
store_fold_step(struct store_fold *fold, bool *done, struct portolan_error *error)
{
	bool at_end;
	int rc = store_fold_advance(fold, &at_end, error) ?: store_writer_commit(fold->writer, error);

	if (!rc)
		*done = at_end;
	return rc;
}
