/*
 * verify.c: reads every record of a run and compares it with its checksum.
 *
 * A walk through the databases as they lie, which asks for nothing but whole records: so it goes on after damage, and
 * finds it also where no reader looks. Each piece of the walk is a transaction of its own, begun again behind the last
 * key: a long one would keep the collector from using freed pages again.
 */
#include "batch.h"
#include "chunk.h"
#include "ids.h"
#include "read.h"

#include <stdlib.h>

#define PIECE_BYTES ((size_t)32 << 20)
#define PIECE_RECORDS 4096

struct verify {
	struct store *store;
	const struct store_verify *options;
	const char *name; /* of the run */
	uint32_t run;
	uint64_t records;
	uint32_t *epochs; /* ascending, for the progress */
	size_t epoch_count;
	uint64_t chunks, total;
};

struct where {
	const uint8_t *key;
	size_t size;
};

static uint32_t
key_u32(const struct where *where, size_t at)
{
	return where->size >= at + 4 ? store_key_read_u32(where->key + at) : 0;
}

/* "column margin, epoch 3, chunk 5". */
static void
describe_column(const struct where *where, char *text, size_t room)
{
	uint8_t column = where->size > 12 ? where->key[12] : 0;
	uint32_t epoch = key_u32(where, 4);
	char when[32] = "kept per example";

	if (epoch != STORE_EPOCH_RUN)
		snprintf(when, sizeof(when), "epoch %u", epoch);
	snprintf(text, room, "%s of %s, %s, chunk %u", column & STORE_PRESENCE ? "presence" : "column",
	         store_column_name(column & 0x7f), when, key_u32(where, 8));
}

static void
describe(enum store_db db, const struct where *where, char *text, size_t room)
{
	static const char *const parts[] = {"state",        "identity", "labels",
	                                    "user columns", "counters", "client of session"};
	uint8_t part = where->size > 4 ? where->key[4] : 0;

	switch (db) {
	case DB_RUN:
		snprintf(text, room, "%s",
		         part < sizeof(parts) / sizeof(parts[0]) ? parts[part] : "part of a later version");
		if (part == RUN_CLIENT)
			snprintf(text, room, "%s %u", parts[RUN_CLIENT], key_u32(where, 5));
		break;
	case DB_SESSIONS:
		snprintf(text, room, "session %u", key_u32(where, 4));
		break;
	case DB_IDS:
		snprintf(text, room, "ids from example %u on", key_u32(where, 4));
		break;
	case DB_LOG:
		snprintf(text, room, "log of epoch %u, entry %llu", key_u32(where, 4),
		         where->size >= 16 ? (unsigned long long)store_key_read_u64(where->key + 8) : 0);
		break;
	case DB_EPOCHS:
		snprintf(text, room, "record of epoch %u", key_u32(where, 4));
		break;
	case DB_COLUMNS:
		describe_column(where, text, room);
		break;
	default:
		snprintf(text, room, "record");
		break;
	}
}

static void
report(const struct verify *verify, const char *what)
{
	char line[504];

	if (verify->run)
		snprintf(line, sizeof(line), "run '%s': %s: damaged", verify->name, what);
	else
		snprintf(line, sizeof(line), "the store's %s: damaged", what);
	verify->options->damaged(verify->options->context, line);
}

static void
report_key(const struct verify *verify, enum store_db db, const struct where *where)
{
	char what[160];

	describe(db, where, what, sizeof(what));
	report(verify, what);
}

/* The kind a record must be of; a part of a run this version does not know may be anything. */
static enum record_kind
kind_of(enum store_db db, const struct where *where, const void *value)
{
	static const enum record_kind parts[] = {RECORD_RUN_STATE,    RECORD_RUN_IDENTITY, RECORD_LABELS,
	                                         RECORD_USER_COLUMNS, RECORD_COUNTERS,     RECORD_CLIENT};
	static const enum record_kind kinds[DB_COUNT] = {
	        [DB_SESSIONS] = RECORD_SESSION,
	        [DB_IDS] = RECORD_IDS,
	        [DB_LOG] = RECORD_BATCH,
	        [DB_EPOCHS] = RECORD_EPOCH,
	};

	if (db == DB_COLUMNS)
		return where->size > 12 && where->key[12] & STORE_PRESENCE ? RECORD_PRESENCE : RECORD_COLUMN;
	if (db != DB_RUN)
		return kinds[db];
	if (where->size > 4 && where->key[4] < sizeof(parts) / sizeof(parts[0]))
		return parts[where->key[4]];
	return (enum record_kind)(*(const uint8_t *)value);
}

/* What is inside, as far as it can be judged alone. */
static bool
is_sound(enum store_db db, const uint8_t *body, size_t size)
{
	struct ids_segment segment;

	return db != DB_IDS || store_ids_open(body, size, &segment);
}

static void
show_progress(const struct verify *verify, enum store_db db, const struct where *where)
{
	uint32_t epoch = key_u32(where, 4);
	uint64_t done = 0;

	if (!verify->options->progress || db != DB_COLUMNS)
		return;
	while (done < verify->epoch_count && verify->epochs[done] < epoch)
		done++;
	verify->options->progress(verify->options->context, done * verify->chunks + key_u32(where, 8), verify->total);
}

/* One transaction's worth, from `at` on (behind it, if `after`); *more: the walk did not come to its end. */
static int
verify_piece(struct verify *verify, enum store_db db, struct store_key *at, bool after, bool *more,
             struct portolan_error *error)
{
	struct view view = {0};
	struct view_walk walk;
	size_t bytes = 0, count = 0;
	int rc = store_read_begin(verify->store, &view, error);

	*more = false;
	if (rc)
		return rc;
	rc = store_walk_open(&walk, &view, db, at, 4, error);
	while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
		struct where where = {walk.key.mv_data, walk.key.mv_size};
		const uint8_t *body;
		size_t size;

		if (after && where.size == at->size && memcmp(where.key, at->data, at->size) == 0)
			continue;
		verify->records++;
		if (walk.value.mv_size == 0 ||
		    !store_record_open(walk.value.mv_data, walk.value.mv_size, kind_of(db, &where, walk.value.mv_data),
		                       &body, &size) ||
		    !is_sound(db, body, size))
			report_key(verify, db, &where);
		bytes += walk.value.mv_size;
		if (++count < PIECE_RECORDS && bytes < PIECE_BYTES)
			continue;
		show_progress(verify, db, &where);
		at->size = where.size < KEY_MAX ? where.size : KEY_MAX;
		memcpy(at->data, where.key, at->size);
		*more = true;
		break;
	}
	store_walk_close(&walk);
	store_read_finish(verify->store, &view);
	return rc == VIEW_ABSENT ? 0 : rc;
}

static int
verify_database(struct verify *verify, enum store_db db, struct portolan_error *error)
{
	struct store_key at = store_key_u32(verify->run);
	bool more = true;
	int rc = 0;

	for (bool after = false; more && !rc; after = true)
		rc = verify_piece(verify, db, &at, after, &more, error);
	return rc;
}

#define MISSING_MAX 100 /* a damaged number of sessions may be any: so many that are missing say enough */

/* Every session must be found by its id. */
static int
verify_session_ids(struct verify *verify, const struct view *view, uint32_t sessions, struct portolan_error *error)
{
	for (uint32_t i = 0, missing = 0; i < sessions && missing < MISSING_MAX; i++) {
		struct store_key key = store_key_u32_u32(verify->run, i), id = {.size = 0};
		struct session_record session;
		uint32_t number = 0;
		char what[48];
		int rc = store_view_read(view, DB_SESSIONS, &key, RECORD_SESSION, &session, sizeof(session), error);

		if (rc < 0 && rc != STORE_E_CORRUPT)
			return rc;
		if (rc == VIEW_ABSENT) {
			report_key(verify, DB_SESSIONS, &(struct where){key.data, key.size});
			missing++;
		}
		if (rc)
			continue; /* reported */
		store_key_add_bytes(&id, session.id, sizeof(session.id));
		store_key_add_u32(&id, verify->run);
		rc = store_view_read(view, DB_SESSION_IDS, &id, RECORD_SESSION_NUMBER, &number, sizeof(number), error);
		verify->records++;
		snprintf(what, sizeof(what), "entry for the id of session %u", i);
		if (rc || number != i)
			report(verify, what);
	}
	return 0;
}

/* The observations in the columns of one epoch; *sound: their presences could be read. */
static int
count_present(const struct verify *verify, const struct view *view, uint32_t epoch, uint64_t *present, bool *sound,
              struct portolan_error *error)
{
	*present = 0;
	*sound = true;
	for (uint32_t chunk = 0; chunk < verify->chunks;) {
		struct store_key key = store_key_column(verify->run, epoch, chunk, STORE_PRESENCE | STORE_GOLD_PROB);
		struct presence_record presence;
		struct view_walk walk;
		uint32_t found = 0;
		int rc = store_walk_open(&walk, view, DB_COLUMNS, &key, 8, error);

		if (!rc)
			rc = store_walk_next(&walk, error);
		if (!rc && walk.key.mv_size >= 12)
			found = store_key_read_u32((const uint8_t *)walk.key.mv_data + 8);
		store_walk_close(&walk);
		if (rc)
			return rc == VIEW_ABSENT ? 0 : rc;
		if (found > chunk) { /* the next one that is stored */
			chunk = found;
			continue;
		}
		rc = store_view_read(view, DB_COLUMNS, &key, RECORD_PRESENCE, &presence, sizeof(presence), NULL);
		if (rc == 0)
			*present += presence.present;
		*sound &= rc != STORE_E_CORRUPT;
		chunk++;
	}
	return 0;
}

/* A presence that is gone altogether takes its chunk with it, and no checksum tells: the epoch's count does. */
static int
verify_counts(struct verify *verify, const struct view *view, const struct epoch_record *records,
              struct portolan_error *error)
{
	int rc = 0;

	for (size_t i = 0; i < verify->epoch_count && !rc; i++) {
		uint64_t present;
		char what[96];
		bool sound;

		rc = count_present(verify, view, verify->epochs[i], &present, &sound, error);
		if (rc || !sound || present == records[i].observations)
			continue; /* what is not sound is reported by itself */
		snprintf(what, sizeof(what), "epoch %u, which has %llu of its %llu observations", verify->epochs[i],
		         (unsigned long long)present, (unsigned long long)records[i].observations);
		report(verify, what);
	}
	return rc;
}

/* Records that are few, or not under the run's number. */
static int
verify_store(struct verify *verify, struct portolan_error *error)
{
	static const enum store_db shared[] = {DB_META, DB_RUNS, DB_REMOVALS};
	static const enum record_kind kinds[] = {0, RECORD_RUN_NUMBER, RECORD_REMOVAL};
	struct store_key all = {.size = 0};
	struct view view = {0};
	int rc = store_read_begin(verify->store, &view, error);

	if (rc)
		return rc;
	for (int i = 0; i < 3 && !rc; i++) {
		struct view_walk walk;

		rc = store_walk_open(&walk, &view, shared[i], &all, 0, error);
		while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
			const uint8_t *body;
			size_t size;
			uint8_t kind = kinds[i]             ? (uint8_t)kinds[i]
			               : walk.value.mv_size ? *(uint8_t *)walk.value.mv_data
			                                    : 0;

			verify->records++;
			if (!store_record_open(walk.value.mv_data, walk.value.mv_size, (enum record_kind)kind, &body,
			                       &size)) {
				struct portolan_error what;

				store_view_corrupt(&view, shared[i], walk.key.mv_data, walk.key.mv_size, &what);
				verify->options->damaged(verify->options->context, what.message);
			}
		}
		store_walk_close(&walk);
		rc = rc == VIEW_ABSENT ? 0 : rc;
	}
	store_read_finish(verify->store, &view);
	return rc;
}

/* How far there is to go; and sessions, when the run's state can be read at all. */
static int
begin(struct verify *verify, struct portolan_error *error)
{
	struct epoch_record *records = NULL;
	struct run_state_record state;
	struct view view = {0};
	int rc = store_read_begin(verify->store, &view, error);

	if (rc)
		return rc;
	rc = store_catalog_state(&view, verify->run, &state, error);
	if (!rc) {
		verify->chunks = store_chunks_of(state.rows);
		rc = verify_session_ids(verify, &view, state.sessions, error);
	}
	if (!rc)
		rc = store_catalog_epochs(&view, verify->run, 0, UINT32_MAX, &verify->epochs, &records,
		                          &verify->epoch_count, error);
	if (!rc)
		rc = verify_counts(verify, &view, records, error);
	free(records);
	verify->total = verify->epoch_count * verify->chunks + 1;
	store_read_finish(verify->store, &view);
	return rc == STORE_E_CORRUPT ? 0 : rc;
}

/* Damage that LMDB itself notices ends the walk of one database only. */
static int
verify_all(struct verify *verify, const enum store_db *databases, size_t count, struct portolan_error *error)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		struct portolan_error what;

		rc = verify_database(verify, databases[i], &what);
		if (rc == STORE_E_CORRUPT) {
			verify->options->damaged(verify->options->context, what.message);
			rc = 0;
		} else if (rc) {
			error_set(error, rc, "%s", what.message);
		}
	}
	return rc;
}

int
store_verify(struct store *store, uint32_t run, const char *name, const struct store_verify *options, uint64_t *records,
             struct portolan_error *error)
{
	static const enum store_db databases[] = {DB_RUN, DB_SESSIONS, DB_EPOCHS, DB_IDS, DB_LOG, DB_COLUMNS};
	struct verify own = {.store = store, .options = options, .name = name};
	struct verify verify = {.store = store, .options = options, .name = name, .run = run};
	int rc = begin(&verify, error);

	if (!rc)
		rc = verify_store(&own, error);
	if (!rc)
		rc = verify_all(&own, databases, 1, error);
	if (!rc)
		rc = verify_all(&verify, databases, sizeof(databases) / sizeof(databases[0]), error);
	free(verify.epochs);
	*records = own.records + verify.records;
	return rc;
}
