/*
 * write.c: opens a store for writing, and keeps its one pending transaction.
 *
 * The first change begins the transaction, a commit ends it. All state is in the transaction, so an abort needs no
 * undo. After a failed commit LMDB may refuse all further work (its meta page is in doubt). So the abort then closes
 * the environment, and the next transaction opens it again; the store's lock is held throughout.
 */
#include "writer.h"

#include "directory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int
store_writer_open(const char *directory, struct store_writer **writer, struct portolan_error *error)
{
	struct store_writer *opened = calloc(1, sizeof(*opened));
	int rc = 0;

	if (!opened || !(opened->directory = strdup(directory))) {
		free(opened);
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	}
	opened->lock = -1;
	rc = store_dictionary_init(&opened->dictionary);
	if (rc)
		error_set(error, rc, "store '%s': no random numbers: %s", directory, strerror(errno));
	else
		rc = store_lock_take(directory, &opened->lock, error);
	if (!rc)
		rc = store_environment_create(directory, error);
	if (!rc)
		rc = store_environment_open(&opened->environment, directory, STORE_WRITE, 0, error);
	if (!rc) {
		store_lock_let_group_read(directory);
		opened->view.environment = &opened->environment;
		memcpy(opened->id, opened->environment.id, sizeof(opened->id));
		rc = store_writer_drop_all_unnamed(opened, error);
	}
	if (!rc)
		rc = store_writer_commit(opened, error);
	if (rc) {
		store_writer_close(opened);
		return rc;
	}
	*writer = opened;
	return 0;
}

void
store_writer_close(struct store_writer *writer)
{
	if (!writer)
		return;
	if (writer->view.txn)
		mdb_txn_abort(writer->view.txn);
	store_environment_close(&writer->environment);
	if (writer->lock >= 0)
		close(writer->lock);
	store_dictionary_free(&writer->dictionary);
	free(writer->directory);
	free(writer->index);
	free(writer->kept);
	free(writer);
}

const uint8_t *
store_writer_id(const struct store_writer *writer)
{
	return writer->id;
}

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

bool
store_writer_long_reader(struct store_writer *writer, uint64_t bytes, struct store_long_reader *reader)
{
	struct view view = {.environment = &writer->environment};

	*reader = writer->told;
	if (!writer->environment.env || store_environment_begin_read(&writer->environment, &view.txn) != 0)
		return false;
	store_view_long_reader(&view, bytes, reader);
	mdb_txn_abort(view.txn);
	if (!reader->process || (reader->process == writer->told.process && reader->state == writer->told.state))
		return false;
	writer->told = *reader;
	return true;
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

/* A file without a name is lost when it is closed. */
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
