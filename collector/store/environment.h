/*
 * environment.h: the access of the store's files to LMDB: opens the environment (data.mdb) of a store, and finds
 * records there, by key or one after another. Each record is checked before it is given out. A view is one transaction.
 *
 * Codes: 0 is success; STORE_E_… are negative; VIEW_ABSENT and a caller's own conditions are positive. So a() ?: b()
 * calls b() only where a() succeeded, and is the first code that is not 0.
 *
 * Threads: an environment may be shared. A view belongs to one thread at a time, unless it has a lock.
 */
#ifndef STORE_ENVIRONMENT_H
#define STORE_ENVIRONMENT_H

#include "record.h"

#include <portolan/cleanup.h>
#include <portolan/error.h>

#include <limits.h>
#include <lmdb.h>
#include <pthread.h>

struct environment {
	MDB_env *env; /* NULL: not open */
	MDB_dbi dbi[DB_COUNT];
	char *directory;
	uint8_t id[16]; /* the store's id */
	bool cramped;   /* the map could not be doubled: it is used to its end */
};

#define STORE_MAX_READERS 510

enum store_opening {
	STORE_READ,
	STORE_WRITE,
	STORE_CREATE, /* open data.mdb.new instead; for the holder of the store's lock */
};

/* Opens the environment in `directory`; a missing one is STORE_E_NO_STORE to readers. `map_size`: the first size of a
 * writer's map; 0: the usual. Checks the schema version (STORE_E_NEWER). On failure nothing is left open. */
int store_environment_open(struct environment *environment, const char *directory, enum store_opening opening,
                           size_t map_size, struct portolan_error *error);
void store_environment_close(struct environment *environment);

/* Begins a read transaction; answers LMDB's code. */
int store_environment_begin_read(const struct environment *environment, MDB_txn **txn);

/* Writer only, with no transaction open: doubles the map when half of it is in use, or when `force` is set; enlarges it
 * by less if the system refuses. On failure the environment is closed. */
int store_environment_grow(struct environment *environment, bool force, struct portolan_error *error);

/* What to do about damage; takes the directory. */
#define STORE_DAMAGE_REMEDY "restore it from a backup, or copy what can be read: portolan salvage %s -o NEW"

/* The one place where LMDB's codes (negative ones and positive errno) are translated. Returns the store's code. */
int store_environment_error(const struct environment *environment, int rc, const char *doing,
                            struct portolan_error *error);

/* For mdb_env_set_assert(): LMDB met a damaged page. Ends the program with a message and exit status 1, without a core. */
void store_environment_end(MDB_env *env, const char *assertion);

extern const char *const store_database_names[DB_COUNT];

/* The path of a file of the store; empty where it would be too long. */
static inline void
store_path(char path[PATH_MAX], const char *directory, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
		path[0] = '\0';
}

/* One transaction on one environment. */
struct view {
	const struct environment *environment;
	MDB_txn *txn;
	pthread_mutex_t *shared; /* held while LMDB is called, if several threads use the view; NULL: one thread does */
};

/* Finds the reader that store_long_reader() speaks of. On entry *reader is a reader that is known already, or zeros. It
 * stays as it is if that reader still reads the oldest state. */
void store_view_long_reader(const struct view *view, uint64_t bytes, struct store_long_reader *reader);

#define VIEW_ABSENT 1 /* not an error: there is no such record */

/* Turns VIEW_ABSENT into 0, for callers that can do without the record, or have come to a walk's end. */
static inline int
store_view_or_absent(int rc)
{
	return rc == VIEW_ABSENT ? 0 : rc;
}

/* Finds a record, checks it and gives its body, which is valid until the next write or the transaction's end. */
int store_view_get(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind,
                   const uint8_t **body, size_t *size, struct portolan_error *error);
/* As store_view_get(), for a record of a fixed size, which is copied to `record`; fields that it lacks are 0. */
int store_view_read(const struct view *view, enum store_db db, const struct store_key *key, enum record_kind kind,
                    void *record, size_t size, struct portolan_error *error);

/* Did LMDB itself find a page damaged in this transaction? It then reads nothing more, and can only be ended: what it
 * answers since says nothing about other records. */
bool store_view_is_spoilt(const struct view *view);

/* How many bytes has the record, whole or not? 0: there is none. */
size_t store_view_size(const struct view *view, enum store_db db, const struct store_key *key);
/* Is there a record, whole or not? */
bool store_view_has(const struct view *view, enum store_db db, const struct store_key *key);

/* Sets STORE_E_MEMORY, with a message. */
int store_view_no_memory(const struct view *view, struct portolan_error *error);

const char *store_column_name(unsigned column); /* of a built-in column; "user" for others */

/* Describes a record: "run 'a': column of margin, epoch 3, chunk 5". */
#define STORE_DESCRIPTION 400
void store_view_describe(const struct view *view, enum store_db db, const void *key, size_t size, char *text,
                         size_t room);
/* Sets STORE_E_CORRUPT with a message that names the damaged record. */
int store_view_corrupt(const struct view *view, enum store_db db, const void *key, size_t size,
                       struct portolan_error *error);

/* A walk over the records from `from` on (NULL: from the first) whose keys begin with its first `prefix` bytes. */
struct view_walk {
	const struct view *view;
	enum store_db db;
	MDB_cursor *cursor;
	struct store_key from;
	size_t prefix_size;
	bool started;
	int failed; /* why there is no cursor */
	MDB_val key, value;
};

/* Opens a walk. If that fails, the first store_walk_next() answers the same code, so a caller may ignore this one. */
int store_walk_open(struct view_walk *walk, const struct view *view, enum store_db db, const struct store_key *from,
                    size_t prefix_size, struct portolan_error *error);
/* 0: key and value are set; VIEW_ABSENT: there are no more. */
int store_walk_next(struct view_walk *walk, struct portolan_error *error);
bool store_walk_belongs(const struct view_walk *walk); /* see store_record_belongs() */
/* As store_walk_next(), and checks the record. */
int store_walk_record(struct view_walk *walk, enum record_kind kind, const uint8_t **body, size_t *size,
                      struct portolan_error *error);
int store_walk_corrupt(const struct view_walk *walk, struct portolan_error *error); /* of the record last given */
int store_walk_delete(struct view_walk *walk, struct portolan_error *error);        /* the record last given */
void store_walk_close(struct view_walk *walk); /* accepts zeros; for CLEANUP() too */

#endif
