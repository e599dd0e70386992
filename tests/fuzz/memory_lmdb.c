/*
 * memory_lmdb.c: what of LMDB the store uses, in memory, for fuzzing: some thousand stores a second, and every record
 * in a block of exactly its size, so that a sanitizer sees who reads beyond it or keeps it too long.
 *
 * One disk, whatever the directory: mdb_env_open() by a writer makes data.mdb there, of one byte, so that it is found.
 * Records are at even addresses that are no multiples of four, as LMDB's own may be. Records never change; a
 * transaction has tables of its own that share them, and a commit makes its tables the disk's. One thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "pages.h"

#define TABLES 16
#define SHIFT 2 /* see above */

struct record {
	unsigned holders;
	uint8_t *key, *value; /* blocks; what is filed begins SHIFT behind */
	size_t key_size, size;
};

struct table {
	struct record **records; /* ascending by key */
	size_t count, room;
};

struct tables {
	struct table table[TABLES];
};

static struct {
	char *names[TABLES];
	struct tables tables;
	size_t commits;
} disk;

struct MDB_env {
	bool read_only;
	size_t map_size;
	int file;
};

struct MDB_txn {
	MDB_env *env;
	bool read_only;
	size_t id;
	struct tables tables;
};

struct MDB_cursor {
	MDB_txn *txn;
	MDB_dbi dbi;
	bool placed;
	uint8_t key[512]; /* of the record it is at, or was before that was deleted */
	size_t key_size;
};

static void *
allocate(size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (!memory)
		abort();
	return memory;
}

static void
drop(struct record *record)
{
	if (--record->holders > 0)
		return;
	free(record->key);
	free(record->value);
	free(record);
}

static void
empty(struct tables *tables)
{
	for (int t = 0; t < TABLES; t++) {
		for (size_t i = 0; i < tables->table[t].count; i++)
			drop(tables->table[t].records[i]);
		free(tables->table[t].records);
	}
	*tables = (struct tables){0};
}

static void
share(struct tables *tables)
{
	for (int t = 0; t < TABLES; t++) {
		const struct table *from = &disk.tables.table[t];
		struct table *to = &tables->table[t];

		*to = (struct table){allocate(from->count * sizeof(*from->records)), from->count, from->count};
		for (size_t i = 0; i < from->count; i++) {
			to->records[i] = from->records[i];
			to->records[i]->holders++;
		}
	}
}

static int
compare(const struct record *record, const void *key, size_t size)
{
	size_t least = record->key_size < size ? record->key_size : size;
	int difference = least ? memcmp(record->key + SHIFT, key, least) : 0;

	return difference ? difference : (record->key_size > size) - (record->key_size < size);
}

/* Where the key is, or would be. */
static size_t
place_of(const struct table *table, const void *key, size_t size, bool *found)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare(table->records[middle], key, size) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*found = low < table->count && compare(table->records[low], key, size) == 0;
	return low;
}

static void
show(const struct record *record, MDB_val *key, MDB_val *value)
{
	if (key)
		*key = (MDB_val){record->key_size, record->key + SHIFT};
	*value = (MDB_val){record->size, record->value + SHIFT};
}

static void
remove_at(struct table *table, size_t place)
{
	drop(table->records[place]);
	table->count--;
	memmove(table->records + place, table->records + place + 1, (table->count - place) * sizeof(*table->records));
}

int
mdb_env_create(MDB_env **env)
{
	*env = calloc(1, sizeof(**env));
	if (!*env)
		return ENOMEM;
	(*env)->file = -1;
	(*env)->map_size = 1 << 20;
	return 0;
}

void
mdb_env_close(MDB_env *env)
{
	if (env->file >= 0)
		close(env->file);
	free(env);
}

int
mdb_env_open(MDB_env *env, const char *path, unsigned int flags, mdb_mode_t mode)
{
	char file[4096];

	env->read_only = flags & MDB_RDONLY;
	snprintf(file, sizeof(file), flags & MDB_NOSUBDIR ? "%s" : "%s/data.mdb", path);
	env->file = open(file, env->read_only ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, mode);
	if (env->file >= 0 && !env->read_only && pwrite(env->file, "", 1, 0) != 1)
		return errno;
	return env->file < 0 ? errno : 0;
}

int
mdb_env_get_fd(MDB_env *env, mdb_filehandle_t *fd)
{
	*fd = env->file;
	return 0;
}

int
mdb_env_info(MDB_env *env, MDB_envinfo *info)
{
	*info = (MDB_envinfo){.me_mapsize = env->map_size, .me_last_pgno = 1, .me_last_txnid = disk.commits};
	return 0;
}

int
mdb_env_stat(MDB_env *env, MDB_stat *stat)
{
	(void)env;
	*stat = (MDB_stat){.ms_psize = 4096};
	return 0;
}

/* No transaction here ever meets a damaged page. */
int
mdb_stat(MDB_txn *txn, MDB_dbi dbi, MDB_stat *stat)
{
	(void)txn;
	(void)dbi;
	*stat = (MDB_stat){.ms_psize = 4096};
	return 0;
}

int
mdb_env_set_mapsize(MDB_env *env, size_t size)
{
	env->map_size = size ? size : env->map_size;
	return 0;
}

int
mdb_env_set_assert(MDB_env *env, MDB_assert_func *func)
{
	(void)env;
	(void)func;
	return 0;
}

int
mdb_env_set_maxdbs(MDB_env *env, MDB_dbi dbs)
{
	(void)env;
	return dbs <= TABLES ? 0 : EINVAL;
}

int
mdb_env_set_maxreaders(MDB_env *env, unsigned int readers)
{
	(void)env, (void)readers;
	return 0;
}

int
mdb_reader_check(MDB_env *env, int *dead)
{
	(void)env;
	if (dead)
		*dead = 0;
	return 0;
}

char *
mdb_strerror(int rc)
{
	return rc == MDB_NOTFOUND ? (char *)(uintptr_t) "not found" : strerror(rc);
}

int
mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
	(void)parent;
	*txn = allocate(sizeof(**txn));
	**txn = (MDB_txn){.env = env, .read_only = flags & MDB_RDONLY};
	(*txn)->id = (*txn)->read_only ? disk.commits : disk.commits + 1;
	share(&(*txn)->tables);
	return 0;
}

size_t
mdb_txn_id(MDB_txn *txn)
{
	return txn->id;
}

void
mdb_txn_abort(MDB_txn *txn)
{
	empty(&txn->tables);
	free(txn);
}

int
mdb_txn_commit(MDB_txn *txn)
{
	if (!txn->read_only) {
		empty(&disk.tables);
		disk.tables = txn->tables;
		disk.commits = txn->id;
		txn->tables = (struct tables){0};
	}
	mdb_txn_abort(txn);
	return 0;
}

void
mdb_txn_reset(MDB_txn *txn)
{
	empty(&txn->tables);
}

int
mdb_txn_renew(MDB_txn *txn)
{
	txn->id = disk.commits;
	share(&txn->tables);
	return 0;
}

int
mdb_dbi_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *dbi)
{
	(void)txn;
	for (*dbi = 0; *dbi < TABLES; (*dbi)++) {
		if (!disk.names[*dbi] && !(flags & MDB_CREATE))
			return MDB_NOTFOUND;
		if (!disk.names[*dbi])
			disk.names[*dbi] = strdup(name);
		if (strcmp(disk.names[*dbi], name) == 0)
			return 0;
	}
	return MDB_DBS_FULL;
}

int
mdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *value)
{
	const struct table *table = &txn->tables.table[dbi];
	bool found;
	size_t place = place_of(table, key->mv_data, key->mv_size, &found);

	if (!found)
		return MDB_NOTFOUND;
	show(table->records[place], NULL, value);
	return 0;
}

int
mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *value, unsigned int flags)
{
	struct table *table = &txn->tables.table[dbi];
	bool found;
	size_t place = place_of(table, key->mv_data, key->mv_size, &found);
	struct record *record;

	if (txn->read_only)
		return EACCES;
	if (key->mv_size == 0 || key->mv_size > 511)
		return MDB_BAD_VALSIZE;
	record = allocate(sizeof(*record));
	*record = (struct record){1, allocate(SHIFT + key->mv_size), allocate(SHIFT + value->mv_size), key->mv_size,
	                          value->mv_size};
	memcpy(record->key + SHIFT, key->mv_data, key->mv_size);
	if (flags & MDB_RESERVE)
		value->mv_data = record->value + SHIFT;
	else if (value->mv_size)
		memcpy(record->value + SHIFT, value->mv_data, value->mv_size);
	if (found) {
		drop(table->records[place]);
		table->records[place] = record;
		return 0;
	}
	if (table->count == table->room) {
		table->room = 2 * table->room + 8;
		table->records = realloc(table->records, table->room * sizeof(struct record *));
		if (!table->records)
			abort();
	}
	memmove(table->records + place + 1, table->records + place, (table->count - place) * sizeof(struct record *));
	table->records[place] = record;
	table->count++;
	return 0;
}

int
mdb_del(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *value)
{
	struct table *table = &txn->tables.table[dbi];
	bool found;
	size_t place = place_of(table, key->mv_data, key->mv_size, &found);

	(void)value;
	if (!found)
		return MDB_NOTFOUND;
	remove_at(table, place);
	return 0;
}

int
mdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor)
{
	*cursor = allocate(sizeof(**cursor));
	**cursor = (MDB_cursor){.txn = txn, .dbi = dbi};
	return 0;
}

void
mdb_cursor_close(MDB_cursor *cursor)
{
	free(cursor);
}

int
mdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op op)
{
	const struct table *table = &cursor->txn->tables.table[cursor->dbi];
	bool found = false;
	size_t place = 0;

	if (op == MDB_SET_RANGE) {
		place = place_of(table, key->mv_data, key->mv_size, &found);
	} else if (op == MDB_LAST || (op == MDB_PREV && !cursor->placed)) {
		place = table->count - 1; /* of none: beyond the end */
	} else if (op != MDB_FIRST && cursor->placed) {
		place = place_of(table, cursor->key, cursor->key_size, &found);
		place = op == MDB_PREV ? place - 1 : place + found;
	}
	if (place >= table->count)
		return MDB_NOTFOUND;
	show(table->records[place], key, value);
	cursor->placed = true;
	cursor->key_size = key->mv_size;
	memcpy(cursor->key, key->mv_data, key->mv_size);
	return 0;
}

int
mdb_cursor_del(MDB_cursor *cursor, unsigned int flags)
{
	struct table *table = &cursor->txn->tables.table[cursor->dbi];
	bool found = false;
	size_t place = cursor->placed ? place_of(table, cursor->key, cursor->key_size, &found) : 0;

	(void)flags;
	if (!found)
		return EINVAL;
	remove_at(table, place);
	return 0;
}

/* Instead of pages_sound.c: there are no pages. */
int
pages_check_range(const struct view *view, enum store_db db, uint64_t from, uint64_t to, size_t most,
                  struct portolan_error *error)
{
	(void)view, (void)db, (void)from, (void)to, (void)most, (void)error;
	return 0;
}
