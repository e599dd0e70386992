/*
 * writer.c: keeps the one pending transaction of a writer, and stores records in it, for the files of the writing half.
 *
 * The first change begins the transaction, a commit ends it. All state is in the transaction, so an abort needs no
 * undo. After a failed commit LMDB may refuse all further work (its meta page is in doubt). So the abort then closes
 * the environment, and the next transaction opens it again; the store's lock is held throughout.
 */
#include "writer.h"

#include "directory.h"

#include <sys/stat.h>

/* A killed reader leaves its slot in LMDB's table, and would keep freed pages from being used again. */
static void
writer_free_dead_readers(struct store_writer *writer)
{
	time_t now = time(NULL);
	int dead;

	if (now == writer->looked_for_dead)
		return;
	writer->looked_for_dead = now;
	mdb_reader_check(writer->environment.env, &dead);
}

int
store_writer_begin(struct store_writer *writer, struct portolan_error *error)
{
	int rc;

	if (writer->view.txn)
		return 0;
	if (writer->reopen) {
		store_environment_close(&writer->environment);
		rc = store_environment_open(&writer->environment, writer->directory, STORE_WRITE, 0, error);
		if (rc)
			return rc;
		writer->reopen = false;
	}
	rc = store_environment_grow(&writer->environment, writer->enlarge, error);
	if (rc) {
		writer->reopen = true;
		return rc;
	}
	writer->enlarge = false;
	writer_free_dead_readers(writer);
	rc = mdb_txn_begin(writer->environment.env, NULL, 0, &writer->view.txn);
	if (rc) {
		writer->view.txn = NULL;
		writer->reopen = true;
		return store_environment_error(&writer->environment, rc, "beginning a transaction", error);
	}
	writer->pending = 0;
	return 0;
}

/* Was the store's file removed? A file without a name is lost when it is closed. */
static bool
writer_is_removed(const struct store_writer *writer)
{
	struct stat status;
	mdb_filehandle_t file;

	return writer->environment.env && mdb_env_get_fd(writer->environment.env, &file) == 0 &&
	       fstat(file, &status) == 0 && status.st_nlink == 0;
}

int
store_writer_commit(struct store_writer *writer, struct portolan_error *error)
{
	int rc;

	if (!writer->view.txn)
		return 0;
	rc = mdb_txn_commit(writer->view.txn);
	writer->view.txn = NULL;
	writer->pending = 0;
	if (rc) {
		writer->reopen = true;
		writer->enlarge = rc == MDB_MAP_FULL;
		return store_environment_error(&writer->environment, rc, "committing", error);
	}
	store_dictionary_committed(&writer->dictionary);
	if (writer_is_removed(writer))
		return error_set(error, STORE_E_NO_STORE, "store '%s' was removed while it was written to",
		                 writer->directory);
	return 0;
}

int
store_writer_check(const struct store_writer *writer, struct portolan_error *error)
{
	if (writer_is_removed(writer))
		return error_set(error, STORE_E_NO_STORE, "store '%s' was removed while it was served",
		                 writer->directory);
	if (!store_lock_is_held(writer->lock))
		return error_set(error, STORE_E_NO_STORE,
		                 "store '%s' is no longer locked: its portoland.lock was removed while it was served, "
		                 "and another process may write to it; start portoland again",
		                 writer->directory);
	return 0;
}

void
store_writer_abort(struct store_writer *writer)
{
	if (writer->view.txn)
		mdb_txn_abort(writer->view.txn);
	writer->view.txn = NULL;
	writer->pending = 0;
	writer->aborts++;
	store_dictionary_aborted(&writer->dictionary);
}

bool
store_writer_is_spoilt(const struct store_writer *writer)
{
	return store_view_is_spoilt(&writer->view);
}

size_t
store_writer_pending(const struct store_writer *writer)
{
	return writer->pending;
}

static int
writer_put_failed(struct store_writer *writer, int rc, struct portolan_error *error)
{
	writer->enlarge |= rc == MDB_MAP_FULL;
	return store_environment_error(&writer->environment, rc, "writing", error);
}

int
store_writer_reserve(struct store_writer *writer, enum store_db db, const struct store_key *key, size_t length,
                     uint8_t **record, struct portolan_error *error)
{
	MDB_val k = {.mv_data = (void *)key->data, .mv_size = key->size}, v = {.mv_size = length};
	int rc = mdb_put(writer->view.txn, writer->environment.dbi[db], &k, &v, MDB_RESERVE);

	if (rc)
		return writer_put_failed(writer, rc, error);
	writer->pending += key->size + length;
	*record = v.mv_data;
	return 0;
}

int
store_writer_put_parts(struct store_writer *writer, enum store_db db, const struct store_key *key,
                       enum record_kind kind, const struct store_part *parts, size_t count,
                       struct portolan_error *error)
{
	size_t length = RECORD_HEADER;
	uint8_t *record, *at;
	int rc;

	for (size_t i = 0; i < count; i++)
		length += parts[i].size;
	rc = store_writer_reserve(writer, db, key, length, &record, error);
	if (rc)
		return rc;
	at = record + RECORD_HEADER;
	for (size_t i = 0; i < count; i++)
		at = parts[i].size ? mempcpy(at, parts[i].data, parts[i].size) : at;
	store_record_seal(record, key, kind, length);
	return 0;
}

int
store_writer_put(struct store_writer *writer, enum store_db db, const struct store_key *key, enum record_kind kind,
                 const void *body, size_t size, struct portolan_error *error)
{
	return store_writer_put_parts(writer, db, key, kind, &(struct store_part){body, size}, 1, error);
}

int
store_writer_delete(struct store_writer *writer, enum store_db db, const struct store_key *key,
                    struct portolan_error *error)
{
	MDB_val k = {.mv_data = (void *)key->data, .mv_size = key->size};
	int rc = mdb_del(writer->view.txn, writer->environment.dbi[db], &k, NULL);

	return rc == 0 || rc == MDB_NOTFOUND ? 0 : writer_put_failed(writer, rc, error);
}

int
store_writer_delete_all(struct store_writer *writer, enum store_db db, const struct store_key *prefix,
                        struct portolan_error *error)
{
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	int rc = store_walk_open(&walk, &writer->view, db, prefix, prefix->size, error);

	while (!rc && (rc = store_walk_next(&walk, error)) == 0)
		rc = store_walk_delete(&walk, error);
	return store_view_or_absent(rc);
}

int
store_writer_put_state(struct store_writer *writer, uint32_t run, const struct run_state_record *state,
                       struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_STATE);

	return store_writer_put(writer, DB_RUN, &key, RECORD_RUN_STATE, state, sizeof(*state), error);
}

int
store_writer_put_session(struct store_writer *writer, uint32_t run, uint32_t session,
                         const struct session_record *record, struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, session);

	return store_writer_put(writer, DB_SESSIONS, &key, RECORD_SESSION, record, sizeof(*record), error);
}

int
store_writer_put_session_id(struct store_writer *writer, const uint8_t id[16], uint32_t run, uint32_t session,
                            struct portolan_error *error)
{
	const struct store_key key = store_key_session_id(id, run);

	return store_writer_put(writer, DB_SESSION_IDS, &key, RECORD_SESSION_NUMBER, &session, sizeof(session), error);
}

int
store_writer_list_removal(struct store_writer *writer, uint32_t run, uint32_t epoch, uint64_t to,
                          struct portolan_error *error)
{
	const struct removal_record removal = {.to = to};
	struct store_key key = store_key_u32_u32(run, epoch);

	return store_writer_put(writer, DB_REMOVALS, &key, RECORD_REMOVAL, &removal, sizeof(removal), error);
}

int
store_writer_load(struct store_writer *writer, uint32_t run, uint32_t session, struct run_state_record *state,
                  struct session_record *record, struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, session);
	struct run_state_record own;
	int rc = store_writer_begin(writer, error);

	if (!rc)
		rc = store_catalog_state(&writer->view, run, state ? state : &own, error);
	if (!rc)
		rc = store_view_read(&writer->view, DB_SESSIONS, &key, RECORD_SESSION, record, sizeof(*record), error);
	if (rc == VIEW_ABSENT)
		rc = error_set(error, STORE_E_NO_RUN, "store '%s': run number %u has no session %u", writer->directory,
		               run, session);
	return rc;
}
