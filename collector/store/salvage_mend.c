/*
 * salvage_mend.c: prepares the copy of a damaged run for salvage_read.c: where something is missing on which all of the
 * run's records depend, makes it anew. If the run's number of examples is lost, it is counted from the records that
 * name examples. A run without ids is then taken for one that had declared its examples, unless its ids may be among
 * what is lost.
 */
#include "salvage_parts.h"

#include "batch.h"
#include "list.h"
#include "texts.h"

/* Makes the sessions that are missing: each below the run's number of sessions must exist. */
static int
mend_sessions(struct salvage_copy *copy, struct portolan_error *error)
{
	const struct store_key from = store_key_u32(copy->run);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	int rc = store_walk_open(&walk, &copy->writer->view, DB_SESSIONS, &from, 4, error);

	while (!rc && !copy->has_state && (rc = store_walk_next(&walk, error)) == 0)
		copy->state.sessions = store_key_read_u32((const uint8_t *)walk.key.mv_data + 4) + 1;
	rc = store_view_or_absent(rc);
	for (uint32_t expected = 0; expected < copy->state.sessions && !rc; expected++) {
		struct store_key key = store_key_u32_u32(copy->run, expected);
		struct session_record session = {.rank = expected};

		rc = store_view_read(&copy->writer->view, DB_SESSIONS, &key, RECORD_SESSION, &session, sizeof(session),
		                     error);
		if (rc != VIEW_ABSENT)
			continue;
		copy->mended = true;
		memcpy(session.id, &copy->run, 4);
		memcpy(session.id + 4, &expected, 4);
		rc = store_writer_put_session(copy->writer, copy->run, expected, &session, error)
		             ?: store_writer_put_session_id(copy->writer, session.id, copy->run, expected, error);
	}
	return rc;
}

/* One more than the highest index that a record of ids, of the log, or of columns names; 0: it names none. */
static uint64_t
mend_end_of(struct salvage_copy *copy, enum store_db db, const struct view_walk *walk)
{
	const uint8_t *key = walk->key.mv_data, *body = (uint8_t *)walk->value.mv_data + RECORD_HEADER;
	struct ids_segment segment;
	struct batch batch;

	if (db == DB_IDS && store_ids_open(body, walk->value.mv_size - RECORD_HEADER, &segment)) {
		copy->state.id_kind = (uint32_t)segment.kind;
		return (uint64_t)store_key_read_u32(key + 4) + segment.count;
	}
	if (db == DB_COLUMNS && walk->key.mv_size == 13)
		return (uint64_t)store_key_read_u32(key + 8) * STORE_CHUNK + load_u32(body);
	if (db != DB_LOG ||
	    !store_batch_open(walk->value.mv_data, walk->value.mv_size, STORE_MAX_EXAMPLES, UINT32_MAX, &batch) ||
	    !batch.rows)
		return 0;
	return batch.highest + 1ull;
}

/* The number of examples, from the records that name them. */
static int
mend_count_rows(struct salvage_copy *copy, struct portolan_error *error)
{
	static const enum store_db of_rows[] = {DB_IDS, DB_COLUMNS, DB_LOG};
	const struct store_key from = store_key_u32(copy->run);
	uint64_t rows = 0, end;

	for (size_t i = 0; i < 3 && !copy->state.id_kind; i++) {
		CLEANUP(store_walk_close) struct view_walk walk = {0};
		int rc = store_walk_open(&walk, &copy->writer->view, of_rows[i], &from, 4, error);

		while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
			end = mend_end_of(copy, of_rows[i], &walk);
			rows = end > rows ? end : rows;
		}
		if (rc < 0)
			return rc;
	}
	copy->state.rows = rows < STORE_MAX_EXAMPLES ? rows : STORE_MAX_EXAMPLES;
	return 0;
}

/* Is a part of the run there? */
static bool
mend_has_part(const struct salvage_copy *copy, uint8_t part)
{
	struct store_key key = store_key_run(copy->run, part);

	return store_view_has(&copy->writer->view, DB_RUN, &key);
}

/* Compares the texts that were copied with how many the run should have. A record whose key is damaged may have been
 * taken for none of the run's. */
static int
mend_count_texts(struct salvage_copy *copy, struct portolan_error *error)
{
	struct store_texts counted, found;
	int rc = store_catalog_count_texts(&copy->writer->view, copy->run, &found, error);

	if (rc)
		return rc;
	if (store_catalog_texts(&copy->writer->view, copy->run, &counted, NULL) != 0)
		copy->mended = true;
	else if (counted.examples > found.examples + copy->bad_texts)
		copy->lost_texts = counted.examples - found.examples - copy->bad_texts;
	else if (counted.examples != found.examples || counted.bytes != found.bytes)
		copy->mended = true; /* its number of texts is lost, or wrong */
	return 0;
}

int
salvage_mend_run(struct salvage_copy *copy, struct portolan_error *error)
{
	struct run_identity_record identity;
	const uint8_t *texts;
	int rc = mend_sessions(copy, error);

	if (!rc && !copy->has_state) {
		rc = mend_count_rows(copy, error);
		copy->state.state = STORE_CLOSED;
		copy->state.declared = copy->state.id_kind || copy->bad_ids ? 0 : copy->state.rows;
		copy->state.id_kind = copy->state.id_kind ? copy->state.id_kind : STORE_ID_INT;
		copy->state.columns = UINT64_MAX;
		copy->mended = true;
	}
	if (rc)
		return rc;
	if (store_catalog_identity(&copy->writer->view, copy->run, &identity, &texts, NULL) != 0 ||
	    (identity.label_count && !mend_has_part(copy, RUN_LABELS)) ||
	    (copy->has_state && copy->state.columns >> STORE_COLUMN_USER && !mend_has_part(copy, RUN_USER_COLUMNS)) ||
	    (copy->may_miss && !mend_has_part(copy, RUN_COUNTERS)))
		copy->mended = true;
	return mend_count_texts(copy, error);
}

/* The first epoch from `from` on of which there is a record. VIEW_ABSENT: none. */
static int
mend_find_epoch(const struct salvage_copy *copy, uint32_t from, uint32_t *epoch, struct portolan_error *error)
{
	static const enum store_db of_epochs[] = {DB_EPOCHS, DB_LOG, DB_COLUMNS};
	const struct store_key start = store_key_u32_u32(copy->run, from);

	*epoch = STORE_EPOCH_RUN;
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(store_walk_close) struct view_walk walk = {0};
		int rc = store_walk_open(&walk, &copy->writer->view, of_epochs[i], &start, 4, error)
		                 ?: store_walk_next(&walk, error);

		if (rc < 0)
			return rc;
		if (!rc && walk.key.mv_size >= 8) {
			const uint32_t found = store_key_read_u32((const uint8_t *)walk.key.mv_data + 4);

			*epoch = found < *epoch ? found : *epoch;
		}
	}
	return *epoch == STORE_EPOCH_RUN ? VIEW_ABSENT : 0;
}

/* Reads the log of an epoch: removes entries that do not fit the run, and notes whether some are missing. */
static int
mend_log(struct salvage_copy *copy, struct catalog_epoch *epoch, struct salvage_epoch *notes,
         struct portolan_error *error)
{
	const struct store_key from = store_key_u32_u32(copy->run, epoch->epoch);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct epoch_record *record = &epoch->record;
	uint64_t next = record->log_begin, rows = 0;
	int rc = store_walk_open(&walk, &copy->writer->view, DB_LOG, &from, 8, error);

	while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
		struct batch batch;

		if (walk.key.mv_size != 16 || !store_batch_open(walk.value.mv_data, walk.value.mv_size,
		                                                copy->state.rows, copy->state.sessions, &batch)) {
			copy->bad++;
			rc = store_walk_delete(&walk, error);
			continue;
		}
		notes->gap |= store_key_read_u64((uint8_t *)walk.key.mv_data + 8) != next && notes->known;
		next = store_key_read_u64((uint8_t *)walk.key.mv_data + 8) + 1;
		rows += batch.rows;
	}
	notes->gap |= notes->known && next != record->log_end;
	notes->log_rows = notes->known ? record->log_rows : rows;
	record->log_rows = rows;
	if (!notes->known) {
		record->log_end = next;
		record->columns = UINT64_MAX;
	}
	return store_view_or_absent(rc);
}

int
salvage_mend_epochs(struct salvage_copy *copy, struct salvage_epochs *epochs, struct portolan_error *error)
{
	const struct view *view = &copy->writer->view;
	uint32_t number;
	int rc;

	for (uint64_t from = 0; (rc = mend_find_epoch(copy, (uint32_t)from, &number, error)) == 0;
	     from = (uint64_t)number + 1) {
		struct catalog_epoch *stored;
		struct salvage_epoch *notes;

		if (!list_grow(&epochs->stored, epochs->count, sizeof(*stored)) ||
		    !list_grow(&epochs->notes, epochs->count, sizeof(*notes)))
			return store_view_no_memory(view, error);
		stored = &epochs->stored[epochs->count];
		notes = &epochs->notes[epochs->count++];
		*stored = (struct catalog_epoch){.epoch = number};
		*notes = (struct salvage_epoch){
		        .known = store_catalog_epoch(view, copy->run, number, &stored->record, NULL) == 0 &&
		                 (stored->record.log_end || stored->record.observations)};
		if (!notes->known)
			stored->record = (struct epoch_record){0};
		copy->mended |= !notes->known;
		rc = mend_log(copy, stored, notes, error);
		if (rc)
			return rc;
	}
	return store_view_or_absent(rc);
}
