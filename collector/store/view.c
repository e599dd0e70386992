/*
 * view.c: typed reads in one transaction.
 *
 * A record found stays where it is while its transaction lasts, so a lock is only held for the look-up. It is checked
 * before anything in it is believed. One of fixed size may be shorter or longer than this program's: a field that an
 * earlier version did not write is 0, one of a later version is not looked at.
 */
#include "environment.h"

static void
enter(const struct view *view)
{
	if (view->shared)
		pthread_mutex_lock(view->shared);
}

static void
leave(const struct view *view)
{
	if (view->shared)
		pthread_mutex_unlock(view->shared);
}

int
store_view_corrupt(const struct view *view, enum store_db db, const void *key, size_t key_size,
                   struct portolan_error *error)
{
	char hex[2 * 32 + 1] = "";

	for (size_t i = 0; i < key_size && i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)key)[i]);
	return error_set(error, STORE_E_CORRUPT, "store '%s': damaged record in '%s', key %s; restore it from a backup",
	                 view->environment->directory, store_database_name(db), hex);
}

int
store_view_get(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind,
               const uint8_t **body, size_t *size, struct portolan_error *error)
{
	MDB_val k = {.mv_data = (void *)key->data, .mv_size = key->size}, v;
	int rc;

	enter(view);
	rc = mdb_get(view->txn, view->environment->dbi[db], &k, &v);
	leave(view);
	if (rc == MDB_NOTFOUND)
		return VIEW_ABSENT;
	if (rc)
		return store_environment_error(view->environment, rc, "reading", error);
	if (!store_record_open(v.mv_data, v.mv_size, kind, body, size))
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

	*walk = (struct view_walk){.view = view, .db = db, .prefix = *from, .at = *from};
	walk->prefix.size = prefix_size;
	enter(view);
	rc = mdb_cursor_open(view->txn, view->environment->dbi[db], &walk->cursor);
	leave(view);
	return rc ? store_environment_error(view->environment, rc, "reading", error) : 0;
}

int
store_walk_next(struct view_walk *walk, struct portolan_error *error)
{
	MDB_cursor_op op = walk->started ? MDB_NEXT : walk->at.size ? MDB_SET_RANGE : MDB_FIRST;
	int rc;

	if (!walk->started)
		walk->key = (MDB_val){.mv_data = walk->at.data, .mv_size = walk->at.size};
	walk->started = true;
	enter(walk->view);
	rc = mdb_cursor_get(walk->cursor, &walk->key, &walk->value, op);
	leave(walk->view);
	if (rc == MDB_NOTFOUND)
		return VIEW_ABSENT;
	if (rc)
		return store_environment_error(walk->view->environment, rc, "reading", error);
	if (walk->key.mv_size < walk->prefix.size ||
	    memcmp(walk->key.mv_data, walk->prefix.data, walk->prefix.size) != 0)
		return VIEW_ABSENT;
	return 0;
}

int
store_walk_record(struct view_walk *walk, enum record_kind kind, const uint8_t **body, size_t *size,
                  struct portolan_error *error)
{
	int rc = store_walk_next(walk, error);

	if (rc)
		return rc;
	if (!store_record_open(walk->value.mv_data, walk->value.mv_size, kind, body, size))
		return store_view_corrupt(walk->view, walk->db, walk->key.mv_data, walk->key.mv_size, error);
	return 0;
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
	enter(walk->view);
	mdb_cursor_close(walk->cursor);
	leave(walk->view);
	walk->cursor = NULL;
}
