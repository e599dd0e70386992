/*
 * write.h: writes a store: its runs, sessions, batches and counters. For portoland only, that is, for its storer, and
 * for salvages (include/portolan/store.h is for readers).
 *
 * A store_writer holds portoland.lock, so there is one per store. Not thread-safe: it belongs to the storer.
 *
 * Transactions: changes gather in one pending LMDB transaction, begun by the first change; store_writer_commit() writes
 * and syncs it. Nothing may be acknowledged before that. When any call fails with STORE_E_FULL, STORE_E_SYSTEM,
 * STORE_E_MEMORY or STORE_E_CORRUPT the pending transaction is lost: call store_writer_abort(), after which all numbers
 * of this header (acknowledged sequence numbers, rows, counters) are again those of the last commit, and runs and
 * sessions created since then are gone. Other codes concern the one call and leave the transaction intact. A commit
 * that failed may still have reached the disk (its last write did, although the call failed). So after a failure the
 * store may have more than was acknowledged; repeated frames then change nothing.
 */
#ifndef STORE_WRITE_H
#define STORE_WRITE_H

#include <portolan/store.h>

struct store_writer;

/* Opens the store; creates directory and store if there are none. STORE_E_LOCKED names the process that serves it;
 * STORE_E_NEWER; network file systems are refused (STORE_E_SYSTEM). */
int store_writer_open(const char *directory, struct store_writer **writer, struct portolan_error *error);
void store_writer_close(struct store_writer *writer); /* drops the pending transaction; NULL accepted */

/* Lets the directory's group read the store, whatever the umask. (A new store is for its owner alone.) */
int store_open_to_group(const char *directory, struct portolan_error *error);
/* Can every user of this machine read the store? */
bool store_is_open_to_others(const char *directory);

/* The store's id: 16 random bytes, which were made with the store and which copies of it keep. Valid until the writer
 * is closed. */
const uint8_t *store_writer_id(const struct store_writer *writer);

/* Commits; 0 at once if nothing is pending. STORE_E_NO_STORE: the store's file was removed meanwhile, so nothing can be
 * stored any more. */
int store_writer_commit(struct store_writer *writer, struct portolan_error *error);
void store_writer_abort(struct store_writer *writer);
/* Did LMDB itself find a page damaged in the pending transaction? It is lost then, even if the call that answered
 * STORE_E_CORRUPT had written nothing. */
bool store_writer_is_spoilt(const struct store_writer *writer);
/* STORE_E_NO_STORE: the store's file or its lock was removed meanwhile, so the store must not be written to any
 * more. */
int store_writer_check(const struct store_writer *writer, struct portolan_error *error);
/* Call it regularly: returns true, once for each such reader, if a reader keeps more than `bytes` of freed pages from
 * being used again (store_long_reader()). */
bool store_writer_long_reader(struct store_writer *writer, uint64_t bytes, struct store_long_reader *reader);
size_t store_writer_pending(const struct store_writer *writer); /* bytes put into the pending transaction */

struct store_text {
	const char *data;
	size_t size;
};

struct store_run_request {
	struct store_text name, group, config;
	const struct store_text *labels;
	size_t label_count;
	enum portolan_mode mode;
	uint64_t examples; /* 0: not declared */
	bool resume, overwrite;
	bool whole;       /* the run is made, but has no name until store_writer_publish() */
	bool late;        /* recorded earlier, without a collector: it counts as if it had come at `started` */
	uint64_t started; /* start of the session that asks, ns since 1970 */
	uint32_t rank;    /* its rank in the group */
	bool live;        /* a session records into the run of this name */
};

/*
 * Finds or creates the run a session asks for. In this order: a run that does not exist is created; a run of the same
 * launch is joined; `resume` continues the existing run (both: STORE_E_DIFFERS if mode or declared examples are not the
 * same); `overwrite` removes it and creates it anew; else STORE_E_EXISTS. A session is of the same launch if it gives
 * the run's group, which is not empty, and a rank that has no session in the run. If the run has a session of its rank,
 * `overwrite` removes the run only if it is not `live` (else STORE_E_EXISTS). For late sessions see WIRE.md: they also
 * join a run that a later session created with `resume`, and `overwrite` removes only a run that began earlier. *run is
 * the run's number in this store.
 */
int store_writer_run(struct store_writer *writer, const struct store_run_request *request, uint32_t *run,
                     struct portolan_error *error);

/* Gives a `whole` run its name; changes nothing if it has that already. Another run of this name is removed if the
 * session asked for `overwrite`; else the answer is STORE_E_EXISTS. */
int store_writer_publish(struct store_writer *writer, uint32_t run, struct portolan_error *error);
/* Removes a `whole` run that has no name yet. Opening the store removes such runs too. */
int store_writer_drop_unnamed(struct store_writer *writer, uint32_t run, struct portolan_error *error);

/* Removes a run: frees its name at once; store_writer_collect() deletes its records later. STORE_E_NO_RUN: there is
 * none of this name. */
int store_writer_remove_run(struct store_writer *writer, struct store_text name, struct portolan_error *error);

struct store_session_info {
	uint8_t id[16];
	uint64_t started; /* ns since 1970 */
	uint32_t rank;
	uint64_t acknowledged; /* highest sequence number stored; 0: none */
	uint64_t frontier;     /* epochs below it are ended for this session */
	bool live;             /* as last recorded by store_writer_session_live() */
	uint64_t content;      /* the hash given when it was registered; 0: not known */
	uint64_t observations, refused;
	uint64_t replaced; /* its observations that met another one, whichever stayed; counted by folds */
};

/* Corrects *started, the start that a new session of `run` with `resume` names: it becomes later than the starts of all
 * sessions of the run. */
int store_writer_started(struct store_writer *writer, uint32_t run, uint64_t *started, struct portolan_error *error);
struct store_session_request {
	uint8_t id[16];
	uint64_t started; /* ns since 1970 */
	uint32_t rank;
	bool resume, overwrite; /* options of its `open` */
	uint64_t after;         /* the last number that was acknowledged before */
	uint64_t content;       /* a hash of its `open`, to be compared with that of a later one */
	struct store_text host; /* where the client runs, and as which process; empty and 0: not told */
	uint64_t process;
};

/* Registers a session in `run`, or finds the one with this id there unchanged; *session is its number in the run. */
int store_writer_session(struct store_writer *writer, uint32_t run, const struct store_session_request *request,
                         uint32_t *session, struct portolan_error *error);
/* Looks `id` up in all runs, so that a session can continue after a restart; STORE_E_NO_RUN: not known. */
int store_writer_find_session(struct store_writer *writer, const uint8_t id[16], uint32_t *run, uint32_t *session,
                              struct portolan_error *error);
int store_writer_session_info(struct store_writer *writer, uint32_t run, uint32_t session,
                              struct store_session_info *info, struct portolan_error *error);
int store_writer_session_live(struct store_writer *writer, uint32_t run, uint32_t session, bool live,
                              struct portolan_error *error);

/* Reads which process a session's client is, as the client said. */
int store_writer_process(struct store_writer *writer, uint32_t run, uint32_t session, struct store_process *process,
                         struct portolan_error *error);
/* Marks that `session` went on recording beside session `other`: two processes that do not know of each other. Only the
 * first such session is kept. */
int store_writer_beside(struct store_writer *writer, uint32_t run, uint32_t session, uint32_t other,
                        struct portolan_error *error);

int store_writer_run_info(struct store_writer *writer, uint32_t run, struct store_run_info *info,
                          struct portolan_error *error);
struct store_each {
	/* Gets each run with the number of its sessions. A non-zero result ends the walk and is returned. */
	int (*run)(void *context, uint32_t run, uint32_t sessions, struct portolan_error *error);
	/* Gets each run that cannot be read, or for which run() returned STORE_E_CORRUPT, with the error's message
	 * `what`; the number is 0 if it is damaged itself. NULL: such a run ends the walk. */
	void (*damaged)(void *context, const char *name, uint32_t run, const char *what);
	void *context;
};

/* Goes through every run. For start-up and bookkeeping. Where LMDB itself finds a page of a run damaged, what run() has
 * changed since the last commit is lost. */
int store_writer_each_run(struct store_writer *writer, const struct store_each *each, struct portolan_error *error);
int store_writer_set_state(struct store_writer *writer, uint32_t run, enum store_state state,
                           struct portolan_error *error);

struct store_append_column {
	struct store_text name; /* "gold_prob", "correct", …: names of the built-in columns; others become user columns
	                           (f4 only) */
	enum { STORE_TYPE_F4 = 1, STORE_TYPE_I4, STORE_TYPE_BIT } type;
	const void *data; /* little-endian, unaligned; bits as in wire.h */
};

struct store_append {
	uint64_t sequence;
	uint32_t epoch, rows;
	enum store_id_kind id_kind;
	unsigned id_size; /* 4 or 8 (STORE_ID_INT); STORE_ID_STR: 1, `ids` = length bytes then strings */
	const void *ids;
	size_t ids_bytes;
	const struct store_append_column *columns;
	size_t column_count;
};

/*
 * Appends a batch to the log of `run`, giving new ids their index. The sequence number must be acknowledged + 1
 * (asserted: the caller sorts out gaps); this call uses it up, even if rows are refused. A batch that is acknowledged
 * already changes nothing. gold_prob and correct are required, or task_loss; a run has the one or the other. *refused counts rows left out (an id beyond the declared
 * examples, a class below 0, a gold_prob outside [0,1], NaN in any column). STORE_E_DIFFERS: ids are of the other kind,
 * or columns are missing, given twice, of another type or too many; all rows are left out. STORE_E_IDS: there is no
 * room for its new ids (store_writer_limit_ids()); the sequence number is not used up then.
 */
int store_writer_append(struct store_writer *writer, uint32_t run, uint32_t session, const struct store_append *append,
                        uint32_t *refused, struct portolan_error *error);

/* Texts of examples, as a frame has them. What is checked there (lengths, UTF-8, names) is taken as checked. */
struct store_append_texts {
	uint64_t sequence;
	uint32_t rows;
	enum store_id_kind id_kind;
	unsigned id_size; /* as in struct store_append */
	const void *ids;
	const struct store_text *fields; /* their names */
	size_t field_count;
	const void *texts; /* row after row, field after field: u4 length, and the text */
	size_t texts_bytes;
};

/* Keeps the texts of examples with `run`, in place of those that the examples had, unless a later session has logged
 * those. Uses up the sequence number, as store_writer_append() does. STORE_E_DIFFERS: the ids are of the other kind or
 * beyond the declared examples, the run has too many fields, or more than `most` bytes of texts; none is kept then. */
int store_writer_texts(struct store_writer *writer, uint32_t run, uint32_t session,
                       const struct store_append_texts *append, uint64_t most, struct portolan_error *error);

/* Limits the memory for ids that are not declared, of all runs together; 0, the default: no limit. */
void store_writer_limit_ids(struct store_writer *writer, size_t bytes);

/* Stores that `session` has ended every epoch below `frontier`, and uses up the sequence number (0: none).
 */
int store_writer_end_epoch(struct store_writer *writer, uint32_t run, uint32_t session, uint64_t sequence,
                           uint64_t frontier, struct portolan_error *error);

/* Adds to the counters of a run, or (0) of the store. store_writer_append() counts refused observations for both; the
 * caller counts everything else. */
int store_writer_count(struct store_writer *writer, uint32_t run, const struct store_counters *more,
                       struct portolan_error *error);
/* Stores the counts that a client has sent (if `told`), and when it closed. */
int store_writer_client(struct store_writer *writer, uint32_t run, uint32_t session, const struct store_client *client,
                        struct portolan_error *error);
void store_counters_add(struct store_counters *counters, const struct store_counters *more);
void store_latency_add(struct store_latency *latency, uint64_t microseconds);

struct store_log_epoch {
	uint32_t epoch;
	uint64_t rows, bytes; /* in the log, not yet folded */
	uint64_t folded;      /* observations that the epoch has in columns; 0: never folded */
};

/* The first epoch of `run` from `from` on, and below `to`, that has something in the log; rows 0: there is none. */
int store_writer_next_log(struct store_writer *writer, uint32_t run, uint64_t from, uint64_t to,
                          struct store_log_epoch *epoch, struct portolan_error *error);

/*
 * Folding merges the log of one epoch into its columns by the winner rule; only chunks that the log touches change. It
 * works in steps of some milliseconds, so that batches can be stored between them; each step commits (with all that is
 * pending). Readers see the same before and after each step: a chunk says up to which log entry it is merged. So a fold
 * may stop anywhere and begin anew. Entries appended meanwhile stay for the next fold. `memory` bounds the columns
 * built at a time, with the fold's notes on the log, the sessions and the chunks; at least one chunk is built. A larger
 * epoch takes several passes over its log. One fold at a time advances. After a failed step, or store_writer_abort(),
 * free the folds; begin again later.
 */
struct store_fold;
int store_fold_begin(struct store_writer *writer, uint32_t run, uint32_t epoch, size_t memory, struct store_fold **fold,
                     struct portolan_error *error);
int store_fold_step(struct store_fold *fold, bool *done, struct portolan_error *error);
/* As store_fold_step(), but without the commit, so that several small epochs can share one. */
int store_fold_advance(struct store_fold *fold, bool *done, struct portolan_error *error);
/*
 * While a fold is written, the log of the next one may be read ahead, on a thread of its own.
 * store_fold_begin_beside(): begins that fold; *fold is NULL if the other leaves no room for it in `memory`, or if
 * something is pending.
 * store_fold_read_ahead(): starts the thread, if the system has one. Until it is paused, the caller may advance and free
 * the other fold and commit, and do nothing else with the writer.
 * store_fold_pause(): ends the thread within milliseconds. False: free this fold, and begin it anew: what was read is
 * damaged or too large for the memory, or the other fold changed it.
 */
int store_fold_begin_beside(struct store_writer *writer, uint32_t run, uint32_t epoch, size_t memory,
                            const struct store_fold *beside, struct store_fold **fold, struct portolan_error *error);
void store_fold_read_ahead(struct store_fold *fold);
bool store_fold_pause(struct store_fold *fold);
/* NULL accepted. Before store_writer_close(). */
void store_fold_free(struct store_fold *fold);
/* Frees memory that the last fold left for the next one, as new memory would have to be cleared. For when nothing is
 * folded for a while. */
void store_fold_rest(struct store_writer *writer);

/* Removes some log entries that are folded, and records of removed runs (bounded work; pending until the next commit).
 */
int store_writer_collect(struct store_writer *writer, bool *more, struct portolan_error *error);
/* The number of a run of which store_writer_collect() has just given up to remove some, as pages among its records are
 * damaged: they stay in the file. 0: none. */
uint32_t store_writer_left(const struct store_writer *writer);

#endif
