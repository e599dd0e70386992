/*
 * collect.c: removing what is not needed any more.
 *
 * That is log entries before an epoch's log begins, and runs that were removed. Readers keep their pages by the
 * transaction they hold, so it goes at once. Which epochs and runs these are stands in a list (DB_REMOVALS). A call
 * removes a bounded number of records; an item leaves the list when nothing of it is left, so work half done is simply
 * found again.
 */
#include "writer.h"

#define RECORDS 512 /* removed by one call at most */
#define BYTES ((size_t)32 << 20)

int
store_writer_list_removal(struct store_writer *writer, uint32_t run, uint32_t epoch, uint64_t to,
                          struct portolan_error *error)
{
	const struct removal_record removal = {.to = to};
	struct store_key key = store_key_u32_u32(run, epoch);

	return store_writer_put(writer, DB_REMOVALS, &key, RECORD_REMOVAL, &removal, sizeof(removal), error);
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
	static const enum store_db of_run[] = {DB_LOG, DB_COLUMNS, DB_EPOCHS, DB_IDS};
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

/* The first item of the list; VIEW_ABSENT: it is empty. A damaged one is dropped: what it names stays where it is, and
 * nothing else depends on that. */
static int
first_item(struct store_writer *writer, struct store_key *key, uint64_t *to, struct portolan_error *error)
{
	struct store_key all = {.size = 0};
	struct removal_record removal;
	struct view_walk walk;
	const uint8_t *body;
	size_t size;
	int rc = store_walk_open(&walk, &writer->view, DB_REMOVALS, &all, 0, error);

	while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
		if (walk.key.mv_size == 8 &&
		    store_record_open(walk.value.mv_data, walk.value.mv_size, RECORD_REMOVAL, &body, &size) &&
		    size == sizeof(removal)) {
			memcpy(&removal, body, sizeof(removal));
			key->size = 0;
			store_key_add_bytes(key, walk.key.mv_data, 8);
			*to = removal.to;
			break;
		}
		rc = store_walk_delete(&walk, error);
	}
	store_walk_close(&walk);
	return rc;
}

int
store_writer_collect(struct store_writer *writer, bool *more, struct portolan_error *error)
{
	struct budget budget = {0};
	int rc = store_writer_begin(writer, error), dead;

	if (!rc)
		mdb_reader_check(writer->environment.env, &dead);
	while (!rc && !budget.spent && budget.records < RECORDS) {
		uint32_t run, epoch;
		struct store_key item;
		uint64_t to;

		rc = first_item(writer, &item, &to, error);
		if (rc)
			break;
		run = store_key_read_u32(item.data);
		epoch = store_key_read_u32(item.data + 4);
		budget.records++;
		if (epoch == STORE_EPOCH_RUN) {
			rc = remove_run(writer, run, &budget, error);
		} else {
			struct store_key from = store_key_log(run, epoch, 0), end = store_key_log(run, epoch, to);

			rc = remove_range(writer, DB_LOG, &from, 8, &end, &budget, error);
		}
		if (!rc && !budget.spent)
			rc = store_writer_delete(writer, DB_REMOVALS, &item, error);
	}
	if (rc < 0)
		return rc;
	*more = rc == 0;
	return 0;
}
