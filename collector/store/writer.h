/*
 * writer.h: the writer as the files of the writing half see it: its pending transaction, and storing records in that.
 * (The collector sees of it what write.h has.)
 *
 * All state of the writer is in the pending transaction, except the dictionary's tables, which follow it. So aborting
 * the transaction undoes everything.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "write.h"

#include <time.h>

#include "catalog.h"
#include "dictionary.h"

struct store_writer {
	struct environment environment;
	struct view view; /* txn NULL: nothing pending */
	size_t pending;   /* bytes put into the pending transaction */
	uint64_t aborts;  /* number of aborts, by which a fold notices that its transaction is gone */
	bool reopen;      /* a commit failed: LMDB's environment must be opened again */
	bool enlarge;     /* the map was full */
	int lock;         /* descriptor of portoland.lock */
	char *directory;
	uint8_t id[16]; /* the store's id, kept here as the environment may be closed for a while */
	struct dictionary dictionary;
	time_t looked_for_dead;        /* when it last looked for readers that are dead */
	struct store_long_reader told; /* the last reader that store_writer_long_reader() reported */
	uint32_t left;                 /* see store_writer_left() */
	uint32_t *index;               /* working space of an append: indices and kept rows */
	uint32_t *kept;
	size_t row_room;
	uint64_t examples_written;   /* chunks of values kept per example, by all folds */
	struct merge_shared *arrays; /* of the last fold, for the next one; NULL: none */
};

/* Begins the pending transaction unless there is one. */
int store_writer_begin(struct store_writer *writer, struct portolan_error *error);

/* Makes room for a record of `length` bytes, header included; set every byte after the header, and seal the record,
 * before the next call. */
int store_writer_reserve(struct store_writer *writer, enum store_db db, const struct store_key *key, size_t length,
                         uint8_t **record, struct portolan_error *error);
/* Stores a record whose body is the parts, one after another; store_writer_put() is for a body of one part. */
struct store_part {
	const void *data;
	size_t size;
};
int store_writer_put_parts(struct store_writer *writer, enum store_db db, const struct store_key *key,
                           enum record_kind kind, const struct store_part *parts, size_t count,
                           struct portolan_error *error);
int store_writer_put(struct store_writer *writer, enum store_db db, const struct store_key *key, enum record_kind kind,
                     const void *body, size_t size, struct portolan_error *error);
int store_writer_delete(struct store_writer *writer, enum store_db db, const struct store_key *key,
                        struct portolan_error *error); /* absent: 0 */
/* Deletes all records whose keys begin with `prefix`. */
int store_writer_delete_all(struct store_writer *writer, enum store_db db, const struct store_key *prefix,
                            struct portolan_error *error);

int store_writer_put_state(struct store_writer *writer, uint32_t run, const struct run_state_record *state,
                           struct portolan_error *error);

/* Begins the transaction, and reads a session of a run and (unless NULL) the run's state; STORE_E_NO_RUN if either is
 * unknown. */
int store_writer_load(struct store_writer *writer, uint32_t run, uint32_t session, struct run_state_record *state,
                      struct session_record *record, struct portolan_error *error);
int store_writer_put_session(struct store_writer *writer, uint32_t run, uint32_t session,
                             const struct session_record *record, struct portolan_error *error);

/* Lets the session be found by its id. */
int store_writer_put_session_id(struct store_writer *writer, const uint8_t id[16], uint32_t run, uint32_t session,
                                struct portolan_error *error);

/* Adds an item to DB_REMOVALS: the log entries of an epoch before position `to`, or (STORE_EPOCH_RUN) a run. */
int store_writer_list_removal(struct store_writer *writer, uint32_t run, uint32_t epoch, uint64_t to,
                              struct portolan_error *error);

/* join.c: what happens to a session whose run exists already. */
enum join {
	JOIN_SESSION = 1, /* the session joins the run */
	JOIN_REPLACES,    /* the run is removed, and made anew */
	JOIN_BESIDE,      /* another run is made, which may take its name later */
	JOIN_REFUSED,
};
int store_join(struct store_writer *writer, const struct store_run_info *info, const struct store_run_request *request,
               enum join *join, struct portolan_error *error);

/* Stores the texts of an example as a salvage found them, and counts them. */
struct text_record;
int store_writer_keep_text(struct store_writer *writer, uint32_t run, const struct store_key *key,
                           const struct text_record *texts, struct portolan_error *error);

/* Removes the runs that never got their name. */
int store_writer_drop_all_unnamed(struct store_writer *writer, struct portolan_error *error);

#endif
