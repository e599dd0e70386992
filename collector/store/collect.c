/*
 * collect.c: removing what nobody needs any more.
 *
 * The list (DB_RETIRED) is in order of the commits that retired its items: an item can go when every listed reader is
 * at that commit or a later one. Items no reader can need are filed under commit 0. A call removes a bounded number of
 * records; an item goes when nothing of it is left, so work half done is simply found again. A reader that registers
 * after the list of readers was looked at begins its view later still, with what is committed.
 */
#include "writer.h"

#include "registry.h"

#define RECORDS 512 /* removed by one call at most */
#define BYTES ((size_t)4 << 20)

static struct store_key
retired_key(uint64_t commit, uint64_t serial)
{
	struct store_key key = {.size = 0};

	store_key_add_u64(&key, commit);
	store_key_add_u64(&key, serial);
	return key;
}

/* The serial number after the last one filed under `commit`. */
static int
next_serial(struct store_writer *writer, uint64_t commit, uint64_t *serial, struct portolan_error *error)
{
	struct store_key after = retired_key(commit + 1, 0);
	MDB_val key = {.mv_data = after.data, .mv_size = after.size}, value;
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(writer->view.txn, writer->environment.dbi[DB_RETIRED], &cursor);

	if (rc)
		return store_environment_error(&writer->environment, rc, "retiring", error);
	*serial = 0;
	rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	rc = mdb_cursor_get(cursor, &key, &value, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
	if (rc == 0 && key.mv_size == 16 && store_key_read_u64(key.mv_data) == commit)
		*serial = store_key_read_u64((const uint8_t *)key.mv_data + 8) + 1;
	mdb_cursor_close(cursor);
	return rc == 0 || rc == MDB_NOTFOUND ? 0 : store_environment_error(&writer->environment, rc, "retiring", error);
}

int
store_writer_retire(struct store_writer *writer, const struct retired_record *record, bool at_once,
                    struct portolan_error *error)
{
	uint64_t commit = at_once ? 0 : mdb_txn_id(writer->view.txn), serial;
	struct store_key key;
	int rc = next_serial(writer, commit, &serial, error);

	if (rc)
		return rc;
	key = retired_key(commit, serial);
	return store_writer_put(writer, DB_RETIRED, &key, RECORD_RETIRED, record, sizeof(*record), error);
}

/* No reader can have seen records of a fold that was not finished. */
int
store_writer_drop_folds(struct store_writer *writer, uint32_t run, uint32_t epoch, struct portolan_error *error)
{
	struct store_key from = {.size = 0};
	struct view_walk walk;
	const uint8_t *body;
	size_t size;
	int rc = store_writer_begin(writer, error);

	if (run)
		from = store_key_u32_u32(run, epoch);
	if (!rc)
		rc = store_walk_open(&walk, &writer->view, DB_FOLDS, &from, from.size, error);
	if (rc)
		return rc;
	while ((rc = store_walk_next(&walk, error)) == 0) {
		struct retired_record retired = {.kind = RETIRED_GENERATION};
		struct fold_record fold;

		/* What a damaged one names stays where it is; nothing else depends on it. */
		if (!store_record_open(walk.value.mv_data, walk.value.mv_size, RECORD_FOLD, &body, &size) ||
		    size != sizeof(fold) || walk.key.mv_size != 8) {
			rc = store_walk_delete(&walk, error);
			if (rc)
				break;
			continue;
		}
		memcpy(&fold, body, sizeof(fold));
		retired.run = store_key_read_u32(walk.key.mv_data);
		retired.epoch = store_key_read_u32((const uint8_t *)walk.key.mv_data + 4);
		retired.generation = fold.generation;
		rc = store_walk_delete(&walk, error);
		if (!rc)
			rc = store_writer_retire(writer, &retired, true, error);
		retired.epoch = STORE_EPOCH_RUN;
		retired.generation = fold.run_generation;
		if (!rc)
			rc = store_writer_retire(writer, &retired, true, error);
		if (rc)
			break;
	}
	store_walk_close(&walk);
	return rc == VIEW_ABSENT ? 0 : rc;
}

struct budget {
	size_t records, bytes;
	bool spent;
};

/* Removes records from `from` on while the key begins with its first `prefix` bytes and is below `to` (NULL: no bound).
 */
static int
remove_range(struct store_writer *writer, enum store_db db, const struct store_key *from, size_t prefix,
             const struct store_key *to, struct budget *budget, struct portolan_error *error)
{
	struct view_walk walk;
	int rc = store_walk_open(&walk, &writer->view, db, from, prefix, error);

	while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
		if (to && walk.key.mv_size == to->size && memcmp(walk.key.mv_data, to->data, to->size) >= 0)
			break;
		if (budget->records >= RECORDS || budget->bytes >= BYTES) {
			budget->spent = true;
			break;
		}
		budget->records++;
		budget->bytes += walk.key.mv_size + walk.value.mv_size;
		rc = store_walk_delete(&walk, error);
	}
	store_walk_close(&walk);
	return rc == VIEW_ABSENT ? 0 : rc;
}

/* The entries in session-ids are found through the sessions, which therefore go together with them. */
static int
remove_sessions(struct store_writer *writer, uint32_t run, struct budget *budget, struct portolan_error *error)
{
	struct store_key from = store_key_u32(run);
	struct view_walk walk;
	const uint8_t *body;
	size_t size;
	int rc = store_walk_open(&walk, &writer->view, DB_SESSIONS, &from, 4, error);

	while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
		if (budget->records >= RECORDS) {
			budget->spent = true;
			break;
		}
		budget->records++;
		if (store_record_open(walk.value.mv_data, walk.value.mv_size, RECORD_SESSION, &body, &size) &&
		    size >= 16) {
			struct store_key id = {.size = 0};

			store_key_add_bytes(&id, body, 16);
			store_key_add_u32(&id, run);
			rc = store_writer_delete(writer, DB_SESSION_IDS, &id, error);
		}
		if (!rc)
			rc = store_walk_delete(&walk, error);
	}
	store_walk_close(&walk);
	return rc == VIEW_ABSENT ? 0 : rc;
}

static int
remove_run(struct store_writer *writer, uint32_t run, struct budget *budget, struct portolan_error *error)
{
	static const enum store_db of_run[] = {DB_LOG, DB_COLUMNS, DB_DIRECTORY, DB_EPOCHS, DB_IDS, DB_FOLDS};
	struct store_key prefix = store_key_u32(run);
	int rc = 0;

	for (size_t i = 0; i < sizeof(of_run) / sizeof(of_run[0]) && !rc && !budget->spent; i++)
		rc = remove_range(writer, of_run[i], &prefix, prefix.size, NULL, budget, error);
	if (!rc && !budget->spent)
		rc = remove_sessions(writer, run, budget, error);
	/* Last: the state says that the run is removed. */
	if (!rc && !budget->spent)
		rc = remove_range(writer, DB_RUN, &prefix, prefix.size, NULL, budget, error);
	return rc;
}

static int
remove_item(struct store_writer *writer, const struct retired_record *item, struct budget *budget,
            struct portolan_error *error)
{
	struct store_key from = store_key_u32_u32(item->run, item->epoch), to;

	switch (item->kind) {
	case RETIRED_CHUNK:
		store_key_add_u32(&from, item->generation);
		store_key_add_u32(&from, item->chunk);
		return remove_range(writer, DB_COLUMNS, &from, from.size, NULL, budget, error);
	case RETIRED_GENERATION:
		store_key_add_u32(&from, item->generation);
		return remove_range(writer, DB_COLUMNS, &from, from.size, NULL, budget, error);
	case RETIRED_LOG:
		from = store_key_log(item->run, item->epoch, item->from);
		to = store_key_log(item->run, item->epoch, item->to);
		return remove_range(writer, DB_LOG, &from, 8, &to, budget, error);
	case RETIRED_RUN:
		return remove_run(writer, item->run, budget, error);
	default: /* of a program that knew more */
		return 0;
	}
}

int
store_writer_collect(struct store_writer *writer, bool *more, struct portolan_error *error)
{
	struct budget budget = {0};
	struct store_key all = {.size = 0};
	uint64_t oldest = UINT64_MAX;
	bool looked = false;
	int rc = store_writer_begin(writer, error), dead;

	if (!rc)
		mdb_reader_check(writer->environment.env,
		                 &dead); /* slots of readers that were killed keep pages from use */
	while (!rc && !budget.spent && budget.records < RECORDS && budget.bytes < BYTES) {
		struct retired_record item;
		struct store_key key;
		struct view_walk walk;
		const uint8_t *body;
		uint64_t commit;
		size_t size;

		rc = store_writer_begin(writer, error);
		if (!rc)
			rc = store_walk_open(&walk, &writer->view, DB_RETIRED, &all, 0, error);
		if (rc)
			return rc;
		rc = store_walk_next(&walk, error);
		if (!rc && (walk.key.mv_size != 16 ||
		            !store_record_open(walk.value.mv_data, walk.value.mv_size, RECORD_RETIRED, &body, &size) ||
		            size != sizeof(item))) {
			/* What it names stays where it is; nothing else depends on it. */
			rc = store_walk_delete(&walk, error);
			store_walk_close(&walk);
			budget.records++;
			continue;
		}
		if (!rc) {
			memcpy(&item, body, sizeof(item));
			commit = store_key_read_u64(walk.key.mv_data);
			key = retired_key(commit, store_key_read_u64((const uint8_t *)walk.key.mv_data + 8));
		}
		store_walk_close(&walk);
		if (rc)
			break;
		if (commit && !looked) {
			oldest = store_registry_oldest(writer->directory);
			looked = true;
		}
		/* What this very transaction retired, a reader may begin to need until it is committed. */
		if (commit > oldest || commit >= mdb_txn_id(writer->view.txn)) {
			*more = false;
			return 0;
		}
		budget.records++;
		rc = remove_item(writer, &item, &budget, error);
		if (!rc && !budget.spent)
			rc = store_writer_delete(writer, DB_RETIRED, &key, error);
	}
	if (rc < 0)
		return rc;
	*more = rc == 0;
	return 0;
}
