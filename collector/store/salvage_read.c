/*
 * salvage_read.c: reads the copy of a damaged run for a salvage as a snapshot would, but goes on where something is
 * missing.
 *
 * The copy is read twice. The first reading counts what is missing, and removes chunks that cannot be read as a whole:
 * an observation without its probability is none. If anything is missing, the second reading stores the observations
 * anew.
 *
 * Reading has a transaction of its own, which sees the copy as the last commit left it. It ends before each commit, as
 * the writer may then map the file anew.
 */
#include "salvage_parts.h"

#include "read.h"
#include "salvage.h"

#include <stdlib.h>

struct reading {
	struct salvage_copy *copy;
	struct store_snapshot snapshot;
	struct salvage_epochs epochs;
	struct merge_chunk image, examples;
	struct salvage_ids ids;
	struct salvage_again *again; /* NULL: what is read is only counted */
	struct store_salvage_report *report;
};

static const uint64_t of_every_observation =
        STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT) | STORE_COLUMN_BIT(STORE_SESSION);

static int
reading_open(struct reading *reading, struct portolan_error *error)
{
	const struct salvage_copy *copy = reading->copy;
	struct store_snapshot *snapshot = &reading->snapshot;
	struct overlay_request request = {.run = copy->run,
	                                  .sessions = copy->state.sessions,
	                                  .rows = copy->state.rows,
	                                  .epochs = reading->epochs.stored,
	                                  .epoch_count = reading->epochs.count};
	int rc = store_environment_begin_read(&copy->writer->environment, &snapshot->view.txn);

	if (rc)
		return store_environment_error(&copy->writer->environment, rc, "reading", error);
	snapshot->view.environment = &copy->writer->environment;
	rc = store_catalog_order(&snapshot->view, copy->run, copy->state.sessions, &snapshot->order, error);
	return rc ?: store_overlay_build(&snapshot->view, &request, &snapshot->overlay, error);
}

static void
reading_close(struct reading *reading)
{
	struct store_snapshot *snapshot = &reading->snapshot;

	store_overlay_free(&snapshot->overlay);
	free(snapshot->order);
	snapshot->order = NULL;
	if (snapshot->view.txn)
		mdb_txn_abort(snapshot->view.txn);
	snapshot->view.txn = NULL;
}

/* Reads the ids of a chunk; declared ones are the indices. */
static int
reading_read_ids(struct reading *reading, uint32_t chunk, uint32_t rows, struct portolan_error *error)
{
	const struct salvage_copy *copy = reading->copy;
	const struct store_key from = store_key_u32_u32(copy->run, chunk * STORE_CHUNK);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct salvage_ids *ids = &reading->ids;
	const uint8_t *body;
	size_t size;
	int rc;

	memset(ids->known, 0, sizeof(ids->known));
	ids->kind = (enum store_id_kind)copy->state.id_kind;
	for (uint32_t row = 0; row < rows && copy->state.declared; row++) {
		bit_set(ids->known, row);
		ids->integers[row] = (uint64_t)chunk * STORE_CHUNK + row;
	}
	if (copy->state.declared)
		return 0;
	store_walk_open(&walk, &reading->snapshot.view, DB_IDS, &from, 4, error);
	while ((rc = store_walk_record(&walk, RECORD_IDS, &body, &size, error)) == 0) {
		const uint32_t first = store_key_read_u32((const uint8_t *)walk.key.mv_data + 4);
		struct ids_segment segment;

		if (first / STORE_CHUNK != chunk)
			break;
		if (!store_ids_open(body, size, &segment) || segment.kind != ids->kind ||
		    first % STORE_CHUNK + segment.count > rows)
			continue;
		for (uint32_t i = 0; i < segment.count; i++) {
			const uint32_t row = first % STORE_CHUNK + i;
			size_t length = 1;

			if (ids->kind == STORE_ID_INT)
				ids->integers[row] = store_ids_integer(&segment, i);
			else
				ids->strings[row] = store_ids_string(&segment, i, &length);
			ids->sizes[row] = (uint8_t)length;
			if (length && length <= UINT8_MAX)
				bit_set(ids->known, row);
		}
	}
	return store_view_or_absent(rc);
}

static bool
reading_has_column(const struct reading *reading, uint32_t epoch, uint32_t chunk, unsigned column)
{
	const struct store_key key = store_key_column(reading->copy->run, epoch, chunk, (uint8_t)column);

	return store_view_has(&reading->snapshot.view, DB_COLUMNS, &key);
}

/* Removes columns of a chunk that cannot be read, with their presences; or all records of the chunk. */
static int
reading_remove_columns(const struct reading *reading, uint32_t epoch, uint32_t chunk, bool all, uint64_t columns,
                       struct portolan_error *error)
{
	const uint32_t run = reading->copy->run;
	const struct store_key whole = store_key_chunk(run, epoch, chunk);
	struct store_writer *writer = reading->copy->writer;
	int rc = store_writer_begin(writer, error);

	if (!rc && all)
		return store_writer_delete_all(writer, DB_COLUMNS, &whole, error);
	for (; columns && !rc; columns &= columns - 1) {
		const uint8_t column = (uint8_t)mask_first(columns);
		const struct store_key values = store_key_column(run, epoch, chunk, column);
		const struct store_key presence = store_key_column(run, epoch, chunk, column | STORE_PRESENCE);

		rc = store_writer_delete(writer, DB_COLUMNS, &values, error)
		             ?: store_writer_delete(writer, DB_COLUMNS, &presence, error);
	}
	return rc;
}

enum lack { LACKS_NOTHING, LACKS_COLUMNS, LACKS_ALL };

/* The columns without which the chunk says nothing. The epoch's record may be lost: then only the chunk itself, or the
 * run's state, shows that it is of losses. */
static uint64_t
reading_needs(const struct reading *reading, uint32_t epoch, uint32_t chunk)
{
	const struct salvage_copy *copy = reading->copy;
	const bool of_losses = reading_has_column(reading, epoch, chunk, STORE_TASK_LOSS) ||
	                       (copy->has_state && store_is_of_losses(copy->state.columns));

	if (epoch == STORE_EPOCH_RUN)
		return STORE_COLUMN_BIT(STORE_SESSION);
	return of_losses ? of_every_observation | STORE_COLUMN_BIT(STORE_TASK_LOSS) : of_every_observation;
}

/* Loads a chunk into the image, and says what it lacks. If it lacks anything, what cannot be read is removed from the
 * copy, and the image is not to be used. */
static int
reading_load_chunk(struct reading *reading, uint32_t epoch, uint32_t chunk, uint64_t columns, struct merge_chunk *image,
                   enum lack *lacks, struct portolan_error *error)
{
	const struct store_snapshot *snapshot = &reading->snapshot;
	const uint64_t needed = reading_needs(reading, epoch, chunk);
	const bool observed = reading_has_column(reading, epoch, chunk, STORE_GOLD_PROB | STORE_PRESENCE);
	bool any = observed;
	uint64_t bad = 0;
	int rc = store_snapshot_load(snapshot, epoch, chunk, columns, image, NULL, NULL);

	for (uint64_t mask = columns; mask && (rc == 0 || rc == STORE_E_CORRUPT); mask &= mask - 1) {
		const unsigned column = mask_first(mask);
		const bool there = reading_has_column(reading, epoch, chunk, column);
		const bool broken = rc == STORE_E_CORRUPT && there &&
		                    store_snapshot_load(snapshot, epoch, chunk, mask & -mask, image, NULL, NULL) != 0;

		any |= there;
		if (broken || (!there && (needed & mask & -mask)))
			bad |= mask & -mask;
	}
	if (rc && rc != STORE_E_CORRUPT)
		return error_set(error, rc, "store '%s': run '%s', epoch %u cannot be read",
		                 reading->copy->writer->directory, reading->copy->name, epoch);
	*lacks = !any || (observed && !bad) ? LACKS_NOTHING : !observed || bad & needed ? LACKS_ALL : LACKS_COLUMNS;
	return *lacks == LACKS_NOTHING ? 0
	                               : reading_remove_columns(reading, epoch, chunk, *lacks == LACKS_ALL, bad, error);
}

/* The number of observations of a chunk that are stored in columns. */
static uint64_t
reading_count_stored(const struct reading *reading, uint32_t epoch, uint32_t chunk)
{
	struct store_key key = store_key_column(reading->copy->run, epoch, chunk, STORE_GOLD_PROB | STORE_PRESENCE);
	struct presence_record presence;

	return store_view_read(&reading->snapshot.view, DB_COLUMNS, &key, RECORD_PRESENCE, &presence, sizeof(presence),
	                       NULL) == 0
	               ? presence.present
	               : 0;
}

/* Does the chunk lack a column that its epoch has? A sound chunk may lack one as well; so this says yes only in a run
 * of which columns are, or may be, missing. */
static bool
reading_lacks_column(const struct reading *reading, size_t epoch, uint32_t chunk)
{
	const struct catalog_epoch *stored = &reading->epochs.stored[epoch];
	uint64_t mask = reading->epochs.notes[epoch].known ? stored->record.columns & ~STORE_COLUMN_BIT(STORE_GOLD) : 0;

	for (; mask && reading->copy->bad_columns; mask &= mask - 1)
		if (!reading_has_column(reading, stored->epoch, chunk, mask_first(mask)))
			return true;
	return false;
}

static int
reading_read_epoch(struct reading *reading, size_t number, uint32_t chunk, uint64_t *seen, struct portolan_error *error)
{
	const uint32_t epoch = reading->epochs.stored[number].epoch;
	struct salvage_epoch *notes = &reading->epochs.notes[number];
	const uint64_t columns = reading->epochs.stored[number].record.columns | of_every_observation;
	const uint64_t stored = reading_count_stored(reading, epoch, chunk), *present;
	enum lack lacks;
	int rc = reading_load_chunk(reading, epoch, chunk, columns & ~STORE_COLUMN_BIT(STORE_GOLD), &reading->image,
	                            &lacks, error);
	uint64_t unnamed = 0;

	if (rc)
		return rc;
	if (lacks) {
		notes->chunks++;
		notes->stored += lacks == LACKS_COLUMNS ? stored : 0;
		return 0;
	}
	present = reading->image.present[STORE_GOLD_PROB];
	for (size_t i = 0; i < STORE_CHUNK_WORDS; i++) {
		const uint64_t known = present[i] & reading->ids.known[i];

		seen[i] |= known;
		notes->observations += (uint64_t)__builtin_popcountll(known);
		unnamed += (uint64_t)__builtin_popcountll(present[i] & ~known);
	}
	notes->stored += stored;
	notes->unnamed += unnamed;
	notes->chunks += unnamed || (stored && reading_lacks_column(reading, number, chunk));
	if (!reading->again)
		return 0;
	return salvage_again_put(reading->again, epoch, &reading->image, &reading->examples, &reading->ids, error);
}

/* Reads a chunk at all epochs. */
static int
reading_read_chunk(struct reading *reading, uint32_t chunk, struct portolan_error *error)
{
	const struct salvage_copy *copy = reading->copy;
	const uint32_t rows = store_chunk_rows(reading->snapshot.rows, chunk);
	const uint64_t of_examples = STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION);
	const bool keeps = copy->state.declared || copy->state.columns & STORE_COLUMN_BIT(STORE_GOLD);
	uint64_t seen[STORE_CHUNK_WORDS] = {0}, examples = 0, stored = 0;
	enum lack lacks = LACKS_NOTHING;
	int rc = reading_read_ids(reading, chunk, rows, error)
	                 ?: reading_load_chunk(reading, STORE_EPOCH_RUN, chunk, of_examples, &reading->examples, &lacks,
	                                       error);

	for (size_t e = 0; e < reading->epochs.count && !rc; e++) {
		stored += reading_count_stored(reading, reading->epochs.stored[e].epoch, chunk);
		rc = reading_read_epoch(reading, e, chunk, seen, error);
	}
	for (size_t i = 0; i < STORE_CHUNK_WORDS; i++)
		examples += (uint64_t)__builtin_popcountll(seen[i]);
	reading->report->examples += examples;
	if (reading->again || rc)
		return rc;
	if (lacks || (copy->bad_columns && keeps && stored &&
	              !reading_has_column(reading, STORE_EPOCH_RUN, chunk, STORE_GOLD_PROB | STORE_PRESENCE)))
		reading->report->left.chunks++;
	for (uint32_t row = 0; row < rows; row++)
		reading->report->left.examples += !bit_get(reading->ids.known, row);
	return 0;
}

/* Adds up what the epochs have, and what they lack. What the run should have by its state, and does not, is lacking
 * too. */
static void
reading_add_up(struct reading *reading)
{
	const struct salvage_copy *copy = reading->copy;
	struct store_salvage_report *report = reading->report;
	struct store_left *left = &report->left;
	uint64_t stored = 0, missing = 0;

	report->epochs = report->observations = 0;
	for (size_t e = 0; e < reading->epochs.count; e++) {
		const struct salvage_epoch *notes = &reading->epochs.notes[e];
		const struct epoch_record *record = &reading->epochs.stored[e].record;
		uint64_t lacks = 0, chunks;

		if (notes->known && record->observations > notes->stored)
			lacks = record->observations - notes->stored;
		if (notes->gap && notes->log_rows > record->log_rows)
			lacks += notes->log_rows - record->log_rows;
		chunks = (lacks + STORE_CHUNK - 1) / STORE_CHUNK;
		stored += notes->stored;
		report->epochs += notes->observations > 0;
		report->observations += notes->observations;
		if (reading->again)
			continue;
		missing += lacks;
		left->observations += notes->unnamed;
		left->chunks += chunks > notes->chunks ? chunks : notes->chunks;
		left->epochs += lacks || notes->chunks || notes->gap;
	}
	if (reading->again)
		return;
	if (copy->has_state && copy->state.observations > stored && copy->state.observations - stored > missing)
		missing = copy->state.observations - stored;
	left->observations += missing;
	if (copy->has_state && copy->state.epochs > reading->epochs.count)
		left->epochs += copy->state.epochs - reading->epochs.count;
}

/* Ends the reading's transaction, so that the writer can commit, and begins it anew. */
static int
reading_commit(struct reading *reading, struct portolan_error *error)
{
	int rc;

	reading_close(reading);
	rc = store_writer_commit(reading->copy->writer, error);
	return rc ?: store_writer_begin(reading->copy->writer, error) ?: reading_open(reading, error);
}

static int
reading_read_all(struct reading *reading, struct portolan_error *error)
{
	struct salvage_copy *copy = reading->copy;
	int rc = store_writer_commit(copy->writer, error)
	         ?: store_writer_begin(copy->writer, error)
	         ?: reading_open(reading, error);

	for (uint32_t chunk = 0; chunk < store_chunks_of(copy->state.rows) && !rc; chunk++) {
		rc = reading_read_chunk(reading, chunk, error);
		if (!rc && store_writer_pending(copy->writer) > SALVAGE_COMMIT_BYTES)
			rc = reading_commit(reading, error);
	}
	reading_close(reading);
	if (!rc)
		reading_add_up(reading);
	return rc;
}

static void
reading_free(struct reading **reading)
{
	if (!*reading)
		return;
	salvage_again_free((*reading)->again);
	store_merge_free(&(*reading)->image);
	store_merge_free(&(*reading)->examples);
	free((*reading)->epochs.stored);
	free((*reading)->epochs.notes);
	free(*reading);
}

int
salvage_read(struct salvage_copy *copy, bool again, struct store_salvage_report *report, struct portolan_error *error)
{
	CLEANUP(reading_free) struct reading *reading = calloc(1, sizeof(*reading));
	int rc;

	if (!reading)
		return error_set(error, STORE_E_MEMORY, "out of memory for run '%s'", copy->name);
	reading->copy = copy;
	reading->report = report;
	reading->snapshot.info.number = copy->run;
	reading->snapshot.rows = copy->state.rows;
	reading->snapshot.sessions = copy->state.sessions;
	reading->snapshot.wanted = reading->snapshot.held = UINT64_MAX;
	report->examples = 0;
	rc = store_writer_begin(copy->writer, error) ?: salvage_mend_epochs(copy, &reading->epochs, error);
	if (!rc && again)
		rc = salvage_again_begin(copy, &reading->again, error);
	if (!rc)
		rc = reading_read_all(reading, error);
	if (!rc && again)
		rc = salvage_again_finish(reading->again, &report->left, error);
	return rc ?: store_writer_commit(copy->writer, error);
}
