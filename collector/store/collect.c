/*
 * collect.c: deletes for the collector the records that its store no longer needs: log entries that are folded into
 * columns, and the records of removed runs.
 *
 * Readers need not be waited for: a reader's transaction keeps the pages that it reads. A list (DB_REMOVALS) names the
 * epochs and runs whose records are to go. A call deletes a bounded number of records. An item leaves the list when all
 * its records are deleted, so a call that was broken off needs no repair.
 *
 * Where a page is damaged that deleting would read or change, the records of that database stay.
 */
#include "pages.h"
#include "writer.h"

/* A call deletes at most RECORDS records, and stops after the record with which it has deleted BYTES. */
#define RECORDS 512
#define BYTES ((size_t)32 << 20)

struct budget {
	size_t records, bytes;
	bool damaged; /* records of this item stay */
};

static bool
collect_is_spent(const struct budget *budget)
{
	return budget->records >= RECORDS || budget->bytes >= BYTES;
}

/* PAGES_UNSOUND: nothing may be deleted among the keys that begin with a number from `from` to `to`. */
static int
collect_check(const struct store_writer *writer, enum store_db db, uint64_t from, uint64_t to, struct budget *budget,
              struct portolan_error *error)
{
	const size_t most = db == DB_SESSION_IDS ? SIZE_MAX : RECORDS; /* ids come in no order */
	const int rc = pages_check_range(&writer->view, db, from, to, most, error);

	budget->damaged |= rc == PAGES_UNSOUND;
	return rc;
}

/* Deletes a session's entry in session-ids. This must come before the session's record is deleted, which has the id of
 * the entry. */
static int
collect_remove_session_id(struct store_writer *writer, const struct view_walk *session, struct portolan_error *error)
{
	struct store_key id;
	const uint8_t *body;
	size_t size;

	if (!store_record_open(session->value.mv_data, session->value.mv_size, RECORD_SESSION, &body, &size) ||
	    size < 16)
		return 0;
	id = store_key_session_id(body, store_key_read_u32(session->key.mv_data));
	return store_writer_delete(writer, DB_SESSION_IDS, &id, error);
}

/* Removes records from `from` on while the key begins with its first `prefix` bytes and is below `to` (NULL: no bound),
 * until the budget is spent. */
static int
collect_remove_range(struct store_writer *writer, enum store_db db, const struct store_key *from, size_t prefix,
                     const struct store_key *to, struct budget *budget, struct portolan_error *error)
{
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	const uint64_t run = (uint64_t)store_key_read_u32(from->data) << 32;
	const uint64_t first = prefix < 8 ? run : store_key_read_u64(from->data);
	int rc = collect_check(writer, db, first, prefix < 8 ? run | UINT32_MAX : first, budget, error);
	bool ids = db == DB_SESSIONS;

	if (rc)
		return rc < 0 ? rc : 0;
	if (ids && (rc = collect_check(writer, DB_SESSION_IDS, 0, UINT64_MAX, budget, error)) < 0)
		return rc;
	ids &= rc == 0; /* else the ids stay */
	rc = store_walk_open(&walk, &writer->view, db, from, prefix, error);
	while (!rc && !collect_is_spent(budget) && (rc = store_walk_next(&walk, error)) == 0) {
		if (to && walk.key.mv_size == to->size && memcmp(walk.key.mv_data, to->data, to->size) >= 0)
			break;
		budget->records++;
		budget->bytes += walk.key.mv_size + walk.value.mv_size;
		if (ids)
			rc = collect_remove_session_id(writer, &walk, error);
		rc = rc ?: store_walk_delete(&walk, error);
	}
	return store_view_or_absent(rc);
}

/* Deletes records of a removed run. Those in DB_RUN, one of which says that the run is removed, go last. */
static int
collect_remove_run(struct store_writer *writer, uint32_t run, struct budget *budget, struct portolan_error *error)
{
	const struct store_key prefix = store_key_u32(run);
	int rc = 0;

	for (size_t i = DB_OF_RUN; i-- > 0 && !rc && !collect_is_spent(budget);)
		rc = collect_remove_range(writer, databases_of_run[i], &prefix, prefix.size, NULL, budget, error);
	return rc;
}

/* Deletes the records that an item of the list names. A damaged item names none: its records stay, and nothing depends
 * on them. */
static int
collect_remove_item(struct store_writer *writer, const struct view_walk *item, struct budget *budget,
                    struct portolan_error *error)
{
	struct store_key from, to;
	const uint8_t *body;
	uint32_t run, epoch;
	size_t size;

	budget->records++;
	budget->damaged = false;
	if (item->key.mv_size != 8 ||
	    !store_record_open(item->value.mv_data, item->value.mv_size, RECORD_REMOVAL, &body, &size) ||
	    size != sizeof(struct removal_record))
		return 0;
	run = store_key_read_u32(item->key.mv_data);
	epoch = store_key_read_u32((const uint8_t *)item->key.mv_data + 4);
	if (epoch == STORE_EPOCH_RUN)
		return collect_remove_run(writer, run, budget, error);
	from = store_key_log(run, epoch, 0);
	to = store_key_log(run, epoch, load_u64(body));
	return collect_remove_range(writer, DB_LOG, &from, 8, &to, budget, error);
}

int
store_writer_collect(struct store_writer *writer, bool *more, struct portolan_error *error)
{
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct budget budget = {0};
	int rc = store_writer_begin(writer, error), dead;

	writer->left = 0;
	rc = rc ?: collect_check(writer, DB_REMOVALS, 0, UINT64_MAX, &budget, error);
	if (rc == PAGES_UNSOUND)
		rc = store_environment_error(&writer->environment, MDB_CORRUPTED, "removing", error);
	if (rc)
		return rc;
	mdb_reader_check(writer->environment.env, &dead);
	rc = store_walk_open(&walk, &writer->view, DB_REMOVALS, NULL, 0, error);
	while (!rc && !writer->left && !collect_is_spent(&budget) && (rc = store_walk_next(&walk, error)) == 0) {
		rc = collect_remove_item(writer, &walk, &budget, error);
		if (rc || collect_is_spent(&budget))
			continue;
		if (budget.damaged)
			writer->left = store_key_read_u32(walk.key.mv_data);
		rc = store_walk_delete(&walk, error);
	}
	if (rc < 0)
		return rc;
	*more = rc == 0;
	return 0;
}

uint32_t
store_writer_left(const struct store_writer *writer)
{
	return writer->left;
}
