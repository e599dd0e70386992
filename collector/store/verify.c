/*
 * verify.c: reads every record of a run and compares it with its checksum, for `portolan check`.
 *
 * The check walks through the databases, and needs nothing but whole records. So it continues after damage, and finds
 * damage in records that no reader uses. Each piece of the walk is a transaction of its own, which begins after the
 * last key of the piece before: a long transaction would keep the collector from using freed pages again.
 */
#include "ids.h"
#include "read.h"
#include "texts.h"

#include <stdlib.h>

#define PIECE_BYTES ((size_t)32 << 20)
#define PIECE_RECORDS 4096
/* The check of sessions ends after so many missing ones: the number of sessions may be damaged, and huge. */
#define MISSING_MAX 100

struct verify {
	struct store *store;
	const struct store_verify *options;
	uint32_t run;
	uint64_t records;
	struct catalog_epoch *epochs;
	size_t epoch_count;
	uint64_t chunks;
};

/* Reports a damaged record. `fault`: what is wrong with it, or "". */
static void
verify_report(const struct verify *verify, const struct view *view, enum store_db db, const void *key, size_t size,
              const char *fault)
{
	char what[STORE_DESCRIPTION], line[STORE_DESCRIPTION + 176];

	store_view_describe(view, db, key, size, what, sizeof(what));
	snprintf(line, sizeof(line), "%s%s: damaged", what, fault);
	verify->options->damaged(verify->options->context, line);
}

bool
store_verify_record(enum store_db db, const MDB_val *key, const MDB_val *value)
{
	unsigned kind = store_record_kind(db, key->mv_data, key->mv_size);
	struct ids_segment segment;
	const uint8_t *body;
	size_t size;

	if (value->mv_size == 0)
		return false;
	if (kind == 0)
		kind = *(const uint8_t *)value->mv_data;
	return store_record_open(value->mv_data, value->mv_size, (enum record_kind)kind, &body, &size) &&
	       store_record_belongs(value->mv_data, value->mv_size, key->mv_data, key->mv_size) &&
	       (db != DB_IDS || store_ids_open(body, size, &segment));
}

static void
verify_show_progress(const struct verify *verify, const MDB_val *key)
{
	const uint8_t *bytes = key->mv_data;
	uint64_t done = 0;

	if (!verify->options->progress || key->mv_size < 12)
		return;
	while (done < verify->epoch_count && verify->epochs[done].epoch < store_key_read_u32(bytes + 4))
		done++;
	verify->options->progress(verify->options->context, done * verify->chunks + store_key_read_u32(bytes + 8),
	                          verify->epoch_count * verify->chunks + 1);
}

/* Checks one transaction's worth of the records under a prefix, from `at` on (after it, if `after`); *more: records are
 * left. */
static int
verify_piece(struct verify *verify, enum store_db db, size_t prefix, struct store_key *at, bool after, bool *more,
             struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	size_t bytes = 0, count = 0;
	int rc = store_read_begin(verify->store, &view, error);

	if (rc)
		return rc;
	store_walk_open(&walk, &view, db, at, prefix, error);
	for (*more = false; !*more && (rc = store_walk_next(&walk, error)) == 0;) {
		if (after && walk.key.mv_size == at->size && memcmp(walk.key.mv_data, at->data, at->size) == 0)
			continue;
		verify->records++;
		if (!store_verify_record(db, &walk.key, &walk.value))
			verify_report(verify, &view, db, walk.key.mv_data, walk.key.mv_size, "");
		bytes += walk.value.mv_size;
		*more = ++count >= PIECE_RECORDS || bytes >= PIECE_BYTES;
	}
	if (*more) {
		if (db == DB_COLUMNS)
			verify_show_progress(verify, &walk.key);
		*at = store_key_bytes(walk.key.mv_data, walk.key.mv_size < KEY_MAX ? walk.key.mv_size : KEY_MAX);
	}
	return store_view_or_absent(rc);
}

/* Checks the records of one database. Damage that LMDB itself notices ends the walk through this database only. */
static int
verify_database(struct verify *verify, enum store_db db, struct store_key at, struct portolan_error *error)
{
	struct portolan_error what = {0};
	const size_t prefix = at.size;
	bool more = true;
	int rc = 0;

	for (bool after = false; more && !rc; after = true)
		rc = verify_piece(verify, db, prefix, &at, after, &more, &what);
	if (rc == STORE_E_CORRUPT)
		verify->options->damaged(verify->options->context, what.message);
	return rc && rc != STORE_E_CORRUPT ? error_set(error, rc, "%s", what.message) : 0;
}

/* Every session must exist, and be found by its id. */
static int
verify_session_ids(struct verify *verify, const struct view *view, uint32_t sessions, struct portolan_error *error)
{
	for (uint32_t i = 0, missing = 0; i < sessions && missing < MISSING_MAX; i++) {
		struct store_key key = store_key_u32_u32(verify->run, i), id;
		struct session_record session;
		uint32_t number = 0;
		int rc = store_view_read(view, DB_SESSIONS, &key, RECORD_SESSION, &session, sizeof(session), error);

		if (rc < 0 && (rc != STORE_E_CORRUPT || store_view_is_spoilt(view)))
			return rc;
		if (rc == VIEW_ABSENT) {
			verify_report(verify, view, DB_SESSIONS, key.data, key.size, "");
			missing++;
		}
		if (rc)
			continue; /* this damage was reported above, or will be by the walk */
		id = store_key_session_id(session.id, verify->run);
		rc = store_view_read(view, DB_SESSION_IDS, &id, RECORD_SESSION_NUMBER, &number, sizeof(number), error);
		verify->records++;
		if (rc || number != i)
			verify_report(verify, view, DB_SESSIONS, key.data, key.size, ", which is not found by its id");
		if (rc == STORE_E_CORRUPT && store_view_is_spoilt(view))
			return rc;
	}
	return 0;
}

/* If a presence is missing, its chunk is lost, and no checksum shows it; the epoch's number of observations does. */
static int
verify_count(struct verify *verify, const struct view *view, const struct catalog_epoch *epoch,
             struct portolan_error *error)
{
	const struct store_key of_epoch = store_key_u32_u32(verify->run, epoch->epoch);
	uint64_t present = 0;
	uint32_t chunk = 0;
	char fault[96];
	int rc;

	for (; (rc = store_catalog_next_chunk(view, verify->run, epoch->epoch, &chunk, error)) == 0; chunk++) {
		struct store_key key =
		        store_key_column(verify->run, epoch->epoch, chunk, STORE_PRESENCE | STORE_GOLD_PROB);
		struct presence_record presence = {0};

		rc = store_view_read(view, DB_COLUMNS, &key, RECORD_PRESENCE, &presence, sizeof(presence), NULL);
		if (rc < 0)
			return rc == STORE_E_CORRUPT && !store_view_is_spoilt(view) ? 0 : rc; /* the walk reports it */
		present += presence.present;
	}
	if (rc != VIEW_ABSENT || present == epoch->record.observations)
		return store_view_or_absent(rc);
	snprintf(fault, sizeof(fault), ", which has %llu of its %llu observations", (unsigned long long)present,
	         (unsigned long long)epoch->record.observations);
	verify_report(verify, view, DB_EPOCHS, of_epoch.data, of_epoch.size, fault);
	return 0;
}

/* If the texts of an example are missing, no checksum shows it; the number of texts does. */
static int
verify_texts(struct verify *verify, const struct view *view, struct portolan_error *error)
{
	const struct store_key key = store_key_run(verify->run, RUN_TEXTS);
	struct store_texts counted, found;
	char fault[160];
	int rc = store_catalog_texts(view, verify->run, &counted, error)
	                 ?: store_catalog_count_texts(view, verify->run, &found, error);

	if (rc)
		return rc == STORE_E_CORRUPT && !store_view_is_spoilt(view) ? 0 : rc; /* the walk reports it */
	if (found.examples == counted.examples && found.bytes == counted.bytes)
		return 0;
	snprintf(fault, sizeof(fault), ", which says %llu examples and %llu bytes, where %llu and %llu are found",
	         (unsigned long long)counted.examples, (unsigned long long)counted.bytes,
	         (unsigned long long)found.examples, (unsigned long long)found.bytes);
	verify_report(verify, view, DB_RUN, key.data, key.size, fault);
	return 0;
}

/* Compares the records with each other, as far as they can be read. */
static int
verify_counts(struct verify *verify, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	struct run_state_record state;
	int rc =
	        store_read_begin(verify->store, &view, error) ?: store_catalog_state(&view, verify->run, &state, error);

	if (!rc) {
		verify->chunks = store_chunks_of(state.rows);
		rc = verify_session_ids(verify, &view, state.sessions, error);
	}
	rc = rc ?: verify_texts(verify, &view, error);
	if (!rc)
		rc = store_catalog_epochs(&view, verify->run, &verify->epochs, &verify->epoch_count, error);
	for (size_t i = 0; i < verify->epoch_count && !rc; i++)
		rc = verify_count(verify, &view, &verify->epochs[i], error);
	return rc == STORE_E_CORRUPT && view.txn ? 0 : rc;
}

int
store_verify(struct store *store, uint32_t run, const struct store_verify *options, uint64_t *records,
             struct portolan_error *error)
{
	static const enum store_db of_store[] = {DB_META, DB_RUNS, DB_REMOVALS};
	struct verify verify = {.store = store, .options = options, .run = run};
	int rc = verify_counts(&verify, error);

	for (size_t i = 0; i < sizeof(of_store) / sizeof(of_store[0]) && !rc; i++)
		rc = verify_database(&verify, of_store[i], (struct store_key){.size = 0}, error);
	if (!rc)
		rc = verify_database(&verify, DB_RUN, store_key_u32(0), error);
	for (size_t i = 0; i < DB_OF_RUN && !rc; i++)
		rc = verify_database(&verify, databases_of_run[i], store_key_u32(run), error);
	free(verify.epochs);
	*records = verify.records;
	return rc;
}
