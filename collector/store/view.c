/*
 * view.c: finds records in a transaction (a view) for all of the store's files, checks them, and says in words which
 * one is damaged.
 *
 * A record stays in place while its transaction lasts, so a lock is held only for the look-up. Every record is checked
 * before its values are used. A record of fixed size may be shorter or longer than this program's: a field that an
 * earlier version did not write is 0, and fields of a later version are ignored.
 */
#include "environment.h"

static const char *const view_columns[] = {
        [STORE_GOLD_PROB] = "gold_prob", [STORE_CORRECT] = "correct", [STORE_MARGIN] = "margin",
        [STORE_OTHER_SQ] = "other_sq",   [STORE_ENTROPY] = "entropy", [STORE_MAX_PROB] = "max_prob",
        [STORE_PREDICTED] = "predicted", [STORE_GOLD] = "gold",       [STORE_SESSION] = "session",
        [STORE_TASK_LOSS] = "task_loss",
};

const char *
store_column_name(unsigned column)
{
	return column < sizeof(view_columns) / sizeof(view_columns[0]) ? view_columns[column] : "user";
}

struct oldest {
	long process;
	unsigned long long transaction;
};

/* Reads a line of LMDB's table: process, thread, transaction. Other lines are its header, or readers without a
 * transaction. */
static int
view_read_reader_line(const char *line, void *context)
{
	struct oldest *oldest = context, reader;

	if (sscanf(line, "%ld %*s %llu", &reader.process, &reader.transaction) == 2 &&
	    (oldest->process == 0 || reader.transaction < oldest->transaction))
		*oldest = reader;
	return 0;
}

/* LMDB's first database lists the pages that each transaction freed, under its number: how many, then which. LMDB does
 * not reuse pages freed by the oldest transaction that is still read, or by later ones. */
void
store_view_long_reader(const struct view *view, uint64_t bytes, struct store_long_reader *reader)
{
	MDB_env *env = view->environment->env;
	struct oldest oldest = {0};
	MDB_cursor *cursor;
	MDB_stat stat;
	MDB_val key, freed;
	uint64_t held = 0;
	size_t from, pages;
	int dead;

	if (mdb_reader_check(env, &dead) != 0 || mdb_reader_list(env, view_read_reader_line, &oldest) < 0)
		return;
	if (reader->process && reader->process == oldest.process && reader->state == oldest.transaction)
		return;
	*reader = (struct store_long_reader){0};
	if (oldest.process == 0 || oldest.transaction >= mdb_txn_id(view->txn) || mdb_env_stat(env, &stat) != 0 ||
	    mdb_cursor_open(view->txn, 0, &cursor) != 0)
		return;
	from = oldest.transaction;
	key = (MDB_val){.mv_data = &from, .mv_size = sizeof(from)};
	for (int rc = mdb_cursor_get(cursor, &key, &freed, MDB_SET_RANGE); rc == 0;
	     rc = mdb_cursor_get(cursor, &key, &freed, MDB_NEXT)) {
		pages = 0;
		memcpy(&pages, freed.mv_data, freed.mv_size < sizeof(pages) ? freed.mv_size : sizeof(pages));
		held += (uint64_t)pages * stat.ms_psize;
	}
	mdb_cursor_close(cursor);
	if (held > bytes)
		*reader = (struct store_long_reader){.process = oldest.process,
		                                     .state = oldest.transaction,
		                                     .behind = mdb_txn_id(view->txn) - oldest.transaction,
		                                     .bytes = held};
}

static void
view_lock(const struct view *view)
{
	if (view->shared)
		pthread_mutex_lock(view->shared);
}

static void
view_unlock(const struct view *view)
{
	if (view->shared)
		pthread_mutex_unlock(view->shared);
}

/* The run's name, or its number if the name cannot be read. */
static void
view_print_run(const struct view *view, uint32_t run, char *text, size_t room)
{
	const struct store_key key = store_key_run(run, RUN_IDENTITY);
	struct {
		struct run_identity_record head;
		char name[255];
	} identity;

	if (store_view_read(view, DB_RUN, &key, RECORD_RUN_IDENTITY, &identity, sizeof(identity), NULL) == 0 &&
	    identity.head.name_size <= sizeof(identity.name))
		snprintf(text, room, "run '%.*s'", (int)identity.head.name_size, identity.name);
	else
		snprintf(text, room, "run number %u", run);
	for (; *text; text++) /* the name may be damaged too */
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

/* Describes a run's record by its key, which is padded with zeros. */
static void
view_print_record(enum store_db db, const uint8_t *key, char *text, size_t room)
{
	static const char *const parts[] = {"state",  "identity", "labels",          "user columns",       "counters",
	                                    "client", "process",  "number of texts", "texts of an example"};
	const uint32_t second = store_key_read_u32(key + 4);
	const unsigned part = key[4], column = key[12] & ~STORE_PRESENCE;
	int length;

	switch (db) {
	case DB_RUN:
		length = snprintf(text, room, "%s", part <= RUN_TEXT ? parts[part] : "part of a later version");
		if (part == RUN_CLIENT || part == RUN_PROCESS)
			snprintf(text + length, room - (size_t)length, " of session %u", store_key_read_u32(key + 5));
		break;
	case DB_SESSIONS:
		snprintf(text, room, "session %u", second);
		break;
	case DB_IDS:
		snprintf(text, room, "ids from example %u on", second);
		break;
	case DB_LOG:
		snprintf(text, room, "log of epoch %u, entry %llu", second,
		         (unsigned long long)store_key_read_u64(key + 8));
		break;
	case DB_EPOCHS:
		snprintf(text, room, "record of epoch %u", second);
		break;
	default: /* DB_COLUMNS */
		length = snprintf(text, room, "%s of %s, ", key[12] & STORE_PRESENCE ? "presence" : "column",
		                  store_column_name(column));
		text += length;
		room -= (size_t)length;
		if (second == STORE_EPOCH_RUN)
			snprintf(text, room, "kept per example, chunk %u", store_key_read_u32(key + 8));
		else
			snprintf(text, room, "epoch %u, chunk %u", second, store_key_read_u32(key + 8));
	}
}

void
store_view_describe(const struct view *view, enum store_db db, const void *key, size_t size, char *text, size_t room)
{
	const bool of_run = database_has_runs(db);
	char owner[STORE_DESCRIPTION] = "the store", record[STORE_DESCRIPTION] = "";
	uint8_t bytes[KEY_MAX] = {0};

	memcpy(bytes, key, size < sizeof(bytes) ? size : sizeof(bytes));
	if (of_run && store_key_read_u32(bytes))
		view_print_run(view, store_key_read_u32(bytes), owner, sizeof(owner));
	if (of_run)
		view_print_record(db, bytes, record, sizeof(record));
	for (size_t i = 0; i < size && i < 32 && !of_run; i++)
		snprintf(record + 2 * i, 3, "%02x", bytes[i]);
	if (of_run)
		snprintf(text, room, "%s: %s", owner, record);
	else
		snprintf(text, room, "%s: record in '%s', key %s", owner, store_database_names[db], record);
}

int
store_view_corrupt(const struct view *view, enum store_db db, const void *key, size_t size,
                   struct portolan_error *error)
{
	char what[STORE_DESCRIPTION];

	/* Without `error` no message is read; and view_print_run(), which writes one, looks up a record itself. */
	if (!error)
		return STORE_E_CORRUPT;
	store_view_describe(view, db, key, size, what, sizeof(what));
	return error_set(error, STORE_E_CORRUPT, "store '%s': %s is damaged; " STORE_DAMAGE_REMEDY,
	                 view->environment->directory, what, view->environment->directory);
}

int
store_view_no_memory(const struct view *view, struct portolan_error *error)
{
	return error_set(error, STORE_E_MEMORY, "store '%s': reading: out of memory", view->environment->directory);
}

int
store_walk_corrupt(const struct view_walk *walk, struct portolan_error *error)
{
	return store_view_corrupt(walk->view, walk->db, walk->key.mv_data, walk->key.mv_size, error);
}

static int
view_find(const struct view *view, enum store_db db, const struct store_key *key, MDB_val *value)
{
	MDB_val k = {.mv_data = (void *)key->data, .mv_size = key->size};
	int rc;

	view_lock(view);
	rc = mdb_get(view->txn, view->environment->dbi[db], &k, value);
	view_unlock(view);
	return rc;
}

bool
store_view_has(const struct view *view, enum store_db db, const struct store_key *key)
{
	MDB_val value;

	return view_find(view, db, key, &value) == 0;
}

size_t
store_view_size(const struct view *view, enum store_db db, const struct store_key *key)
{
	MDB_val value;

	return view_find(view, db, key, &value) == 0 ? value.mv_size : 0;
}

bool
store_view_is_spoilt(const struct view *view)
{
	MDB_stat stat;
	bool spoilt;

	view_lock(view);
	spoilt = view->txn && mdb_stat(view->txn, view->environment->dbi[DB_META], &stat) == MDB_BAD_TXN;
	view_unlock(view);
	return spoilt;
}

int
store_view_get(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind,
               const uint8_t **body, size_t *size, struct portolan_error *error)
{
	MDB_val value;
	int rc = view_find(view, db, key, &value);

	if (rc == MDB_NOTFOUND)
		return VIEW_ABSENT;
	if (rc)
		return store_environment_error(view->environment, rc, "reading", error);
	if (!store_record_open(value.mv_data, value.mv_size, kind, body, size) ||
	    !store_record_belongs(value.mv_data, value.mv_size, key->data, key->size))
		return store_view_corrupt(view, db, key->data, key->size, error);
	return 0;
}

int
store_view_read(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind,
                void *record, size_t size, struct portolan_error *error)
{
	const uint8_t *body;
	size_t body_size;
	int rc = store_view_get(view, db, key, kind, &body, &body_size, error);

	if (rc)
		return rc;
	memset(record, 0, size);
	memcpy(record, body, body_size < size ? body_size : size);
	return 0;
}

int
store_walk_open(struct view_walk *walk, const struct view *view, enum store_db db, const struct store_key *from,
                size_t prefix_size, struct portolan_error *error)
{
	int rc;

	*walk = (struct view_walk){.view = view, .db = db, .prefix_size = prefix_size};
	if (from)
		walk->from = *from;
	view_lock(view);
	rc = mdb_cursor_open(view->txn, view->environment->dbi[db], &walk->cursor);
	view_unlock(view);
	if (rc)
		walk->failed = store_environment_error(view->environment, rc, "reading", error);
	return walk->failed;
}

int
store_walk_next(struct view_walk *walk, struct portolan_error *error)
{
	MDB_cursor_op op = walk->started ? MDB_NEXT : walk->from.size ? MDB_SET_RANGE : MDB_FIRST;
	int rc;

	if (walk->failed)
		return walk->failed;
	if (!walk->started)
		walk->key = (MDB_val){.mv_data = walk->from.data, .mv_size = walk->from.size};
	walk->started = true;
	view_lock(walk->view);
	rc = mdb_cursor_get(walk->cursor, &walk->key, &walk->value, op);
	view_unlock(walk->view);
	if (rc == MDB_NOTFOUND)
		return VIEW_ABSENT;
	if (rc)
		return store_environment_error(walk->view->environment, rc, "reading", error);
	return walk->key.mv_size < walk->prefix_size ||
	                       memcmp(walk->key.mv_data, walk->from.data, walk->prefix_size) != 0
	               ? VIEW_ABSENT
	               : 0;
}

bool
store_walk_belongs(const struct view_walk *walk)
{
	return store_record_belongs(walk->value.mv_data, walk->value.mv_size, walk->key.mv_data, walk->key.mv_size);
}

int
store_walk_record(struct view_walk *walk, enum record_kind kind, const uint8_t **body, size_t *size,
                  struct portolan_error *error)
{
	int rc = store_walk_next(walk, error);

	if (rc)
		return rc;
	return store_record_open(walk->value.mv_data, walk->value.mv_size, kind, body, size) && store_walk_belongs(walk)
	               ? 0
	               : store_walk_corrupt(walk, error);
}

int
store_walk_delete(struct view_walk *walk, struct portolan_error *error)
{
	int rc = mdb_cursor_del(walk->cursor, 0);

	return rc ? store_environment_error(walk->view->environment, rc, "removing", error) : 0;
}

void
store_walk_close(struct view_walk *walk)
{
	if (!walk->cursor)
		return;
	view_lock(walk->view);
	mdb_cursor_close(walk->cursor);
	view_unlock(walk->view);
	walk->cursor = NULL;
}
