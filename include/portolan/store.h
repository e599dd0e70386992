/*
 * store.h: the store, in which the collector keeps what runs have recorded, and how to read it. Private; shared by
 * collector and analyzer. collector/STORE.md describes the records byte by byte. The reading half is the library
 * `store_read` (collector/store/read*.c), the writing half is the collector's alone.
 *
 * A store is a directory: data.mdb and lock.mdb (LMDB), portoland.lock (held by the one collector that serves it), and
 * other files of the collector.
 *
 * How a run is laid out
 *   Every example has a dense index, 0, 1, 2, … in order of first appearance (declared ids: the id itself).
 *   Examples are cut into chunks of STORE_CHUNK rows. New batches wait in the log. To fold an epoch is to move its rows
 *   from the log into the chunks' records: then each chunk has, for this epoch, one record per column. Batches not yet
 *   folded belong to an epoch in progress, or patch a folded one; each chunk says up to which log entry it is merged.
 *
 * Winner rule: of two observations of one example in one epoch the *later* stays, as a whole. Later compares
 *   (session start, rank, session id), then the sequence number: never the order of arrival. The other one is counted
 *   as replaced.
 *
 * Snapshots: a snapshot holds one LMDB transaction until it is closed, and merges the log's rows in memory. It never
 *   changes. While it is open, no freed page of the file is used again, so the file grows: close it soon.
 */
#ifndef PORTOLAN_STORE_H
#define PORTOLAN_STORE_H

#include <portolan/portolan.h>

#include <stdbool.h>

#define STORE_SCHEMA_VERSION 2
#define STORE_CHUNK 16320u                   /* rows: 255 × 64; a float32 chunk fills just under 16 pages */
#define STORE_CHUNK_WORDS (STORE_CHUNK / 64) /* 64-bit words of a bitmap over a chunk */
#define STORE_MAX_EXAMPLES 0xfffffff0u

enum {
	STORE_E_NO_STORE = -101, /* no such directory, or no store in it */
	STORE_E_NO_RUN = -102,
	STORE_E_NEWER = -103,   /* written by a newer version */
	STORE_E_OLDER = -111,   /* written by an older version */
	STORE_E_CORRUPT = -104, /* a checksum or a size does not fit */
	STORE_E_LOCKED = -105,  /* another collector serves it */
	STORE_E_EXISTS = -106,
	STORE_E_FULL = -107, /* no space on the device, or a quota */
	STORE_E_SYSTEM = -108,
	STORE_E_MEMORY = -109,
	STORE_E_DIFFERS = -110, /* id kind, mode or number of examples is not the run's */
	STORE_E_IDS = -112,     /* no memory is left for more ids that are not declared */
};

/* Columns every build knows; users' own float columns get numbers from STORE_COLUMN_USER on, by name, per run. */
enum store_column {
	STORE_GOLD_PROB = 0, /* float32; present exactly where the example was observed */
	STORE_CORRECT,       /* bit */
	STORE_MARGIN,        /* float32 */
	STORE_OTHER_SQ,      /* float32 */
	STORE_ENTROPY,       /* float32 */
	STORE_MAX_PROB,      /* float32 */
	STORE_PREDICTED,     /* int32 */
	STORE_GOLD,          /* int32; kept per example, not per epoch: the latest known */
	STORE_SESSION,       /* uint32: number of the session that wrote the row, in the run's table of sessions */
	STORE_COLUMN_USER = 32,
	STORE_COLUMN_MAX = 64, /* a column set is one 64-bit mask */
};
#define STORE_COLUMN_BIT(column) (UINT64_C(1) << (column))

enum store_id_kind { STORE_ID_NONE = 0, STORE_ID_INT = 1, STORE_ID_STR = 2 };
enum store_state {
	STORE_RECORDING = 1,
	STORE_CLOSED = 2,
	STORE_DAMAGED = 5, /* store_runs(): the run cannot be read; only name and number of the info are set (0: not
			    * known) */
};

struct store_run_info {
	char name[256];
	uint32_t number; /* the run's number in this store; never used again */
	enum store_id_kind id_kind;
	enum portolan_mode mode;
	enum store_state state; /* recording: at least one session is live */
	uint64_t declared;      /* examples declared; 0: not declared */
	uint64_t examples;      /* examples observed at least once (undeclared ids: all that have an index). From
	                             store_runs() with declared examples: a lower bound while the log is large */
	uint64_t rows;          /* indices in use: declared, or the number of ids seen */
	uint64_t epochs;        /* epochs with observations */
	uint64_t observations;  /* observations kept, over all epochs; a replaced one does not count. From
	                             store_runs(): an upper bound while the log is large */
	uint64_t replaced;      /* observations that met another. The log is counted as folds will count it; but not by
	                             store_runs() while the log is large: while reading it would take more than 64 MiB */
	uint64_t returned;      /* of these, observations that met one of their own session: the id came back within the
	                             epoch */
	uint64_t changed_labels; /* labels that differed from the known one, epoch after epoch; as `replaced` */
	uint64_t refused;
	int64_t created;      /* seconds since 1970 */
	uint64_t label_count; /* class names given */
	char group[256];
};

/* For main(): from now on, reading a data.mdb that ends before its data does (a copy broken off), or whose disk cannot
 * be read, ends the program with a message on stderr and exit status 1, instead of SIGBUS. `take` handles the program's
 * other mapped files (NULL: there are none), and is called in the signal's handler. It returns true if it mapped other
 * memory in place of the missing part; otherwise it may set *path to the file that the message names. */
void store_expect_short_file(bool (*take)(void *address, const char **path));

struct store; /* one open store; a process opens it at most once */

int store_open(const char *directory, struct store **store, struct portolan_error *error);
void store_close(struct store *store);

/* The store's id in hexadecimal digits. It is given when the store is made; copies keep it. */
#define STORE_ID_ROOM 33
void store_id(const struct store *store, char id[STORE_ID_ROOM]);

/* Writes a copy of the whole store at one moment to `fd` (a data.mdb, once it is complete), from one read transaction;
 * the collector can work meanwhile. STORE_E_FULL: the copy's disk. */
int store_copy(struct store *store, int fd, struct portolan_error *error);

/* All runs by ascending name (bytewise), damaged ones among them; *runs is the caller's to free(). One short transaction. */
int store_runs(struct store *store, struct store_run_info **runs, size_t *count, struct portolan_error *error);

/* The number of a run by its name. STORE_E_NO_RUN names the run, and the nearest existing name if there is one. */
int store_find_run(struct store *store, const char *name, uint32_t *run, struct portolan_error *error);

/*
 * Counters of what came in and what became of it. They are stored by commits that are made anyway, so events since the
 * last commit of a run are not in them yet. They only grow.
 */

/* Why an observation can never be stored. */
enum store_refusal {
	STORE_REFUSED_ID = 0,    /* the id is beyond the declared examples, or the run has no index left for it */
	STORE_REFUSED_GOLD_PROB, /* not within 0 and 1 */
	STORE_REFUSED_CLASS,     /* gold or predicted below 0 */
	STORE_REFUSED_NAN,       /* NaN in another column */
	STORE_REFUSED_BATCH,     /* its batch as a whole: ids of the other kind, or columns that do not fit */
	STORE_REFUSALS,
	STORE_REFUSALS_ROOM = 8,
};

/* Durations, in microseconds. */
#define STORE_LATENCY_BINS 32
struct store_latency {
	uint64_t count, sum, max;
	uint64_t bins
	        [STORE_LATENCY_BINS]; /* bin b: 2^b up to 2^(b+1) − 1, the first also 0, the last everything longer */
};

/* What `portolan salvage` left of a run in a damaged store. */
struct store_left {
	uint64_t epochs;       /* that lack something */
	uint64_t chunks;       /* that lack something: each is an epoch of at most STORE_CHUNK examples */
	uint64_t examples;     /* whose ids are lost, with all that was observed of them */
	uint64_t observations; /* as far as they can be counted */
	uint64_t records;      /* that were found damaged, or are missing; as far as they can be counted */
};

struct store_counters {
	uint64_t frames, bytes;                /* of a session's frames; in the store's counters of `open` frames too */
	uint64_t received;                     /* observations in them */
	uint64_t repeated;                     /* of these, in batches stored before, or whose commit had failed */
	uint64_t skipped;                      /* and in batches not taken, because an earlier one was missing or the
	                                          store could not be written; the client sends them again */
	uint64_t gaps;                         /* how often a number was missing */
	uint64_t malformed;                    /* malformed frames */
	uint64_t failures;                     /* commits that failed: clients were told to repeat */
	uint64_t refused[STORE_REFUSALS_ROOM]; /* observations, by enum store_refusal */
	struct store_latency commits;          /* of commits that stored frames of clients, until they were on disk */
	uint64_t dropped;                      /* frames beyond a session's credit; in the store's counters only */
	uint64_t last;                         /* seconds since 1970 when observations last came; 0: never */
	uint64_t returned;                     /* see struct store_run_info; as far as epochs are folded. In a run's
	                                          counters only */
	struct store_left left;                /* in a run's counters only */
};

/* The counters of run `run` (its number), or, for 0, of the whole store, removed runs included. */
int store_counters(struct store *store, uint32_t run, struct store_counters *counters, struct portolan_error *error);

/* The counts that a client sent with its last `ping` or `close`: observations, except `waits`. */
struct store_client {
	uint64_t told;   /* seconds since 1970 when it last sent them; 0: never, and the rest is 0 */
	uint64_t logged; /* accepted by its log calls */
	uint64_t refused, dropped, spooled;
	uint64_t waits;  /* log calls that had to wait */
	uint64_t closed; /* seconds since 1970 when its `close` came; 0: none has come */
};

/* The process that a session's client says it is. */
#define STORE_HOST 64 /* most bytes of a host's name */
struct store_process {
	char host[STORE_HOST + 1]; /* empty: not told */
	uint64_t process;          /* its number there; 0: not told */
};

struct store_session {
	uint8_t id[16];
	uint64_t started; /* ns since 1970 */
	uint32_t rank;
	bool live;
	uint64_t acknowledged; /* highest sequence number stored */
	uint64_t frontier;     /* the session has ended the epochs below it */
	uint64_t observations, replaced, refused;
	struct store_client client;
	struct store_process process;
	uint32_t beside; /* 1 + the number of the session that went on recording beside it, from another process that
	                  * does not belong to the same launch; 0: none */
};

/* The sessions of a run, in the order of their numbers; *sessions is the caller's to free(). */
int store_sessions(struct store *store, uint32_t run, struct store_session **sessions, size_t *count,
                   struct portolan_error *error);

struct store_epoch {
	uint32_t epoch;
	uint32_t folds;   /* how often it was folded: more than once if patches came */
	uint64_t folded;  /* observations in columns */
	uint64_t waiting; /* rows in the log: all rows if the epoch was never folded, else its patches */
	uint64_t batches; /* rows that ever came for it; while this is unchanged, so are its observations */
};

/* The epochs of a run that have observations, ascending; *epochs is the caller's to free(). */
int store_epochs(struct store *store, uint32_t run, struct store_epoch **epochs, size_t *count,
                 struct portolan_error *error);

struct store_verify {
	/* Gets one line for each damaged record, which names it. */
	void (*damaged)(void *context, const char *what);
	void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
	void *context;
};

/*
 * Compares every record of run `run` (its number), and the store's own records, with their checksums. Works in
 * transactions of some MB, so a run may be recorded meanwhile. *records counts the records read. Damage is no failure
 * of the call. LMDB's own pages have no checksums: reading a file damaged there may end the process with a signal.
 */
int store_verify(struct store *store, uint32_t run, const struct store_verify *options, uint64_t *records,
                 struct portolan_error *error);

/* A reader that holds back pages: while it holds a read transaction, no page freed since its beginning is used again,
 * and the file grows. */
struct store_long_reader {
	long process;    /* the process that reads the oldest state; 0: none, or none that matters */
	uint64_t state;  /* the number of the transaction that made that state */
	uint64_t behind; /* transactions made since */
	uint64_t bytes;  /* pages freed since, and held back until it ends */
};
#define STORE_HELD_BACK ((uint64_t)256 << 20) /* bytes of these pages */

/* Finds the reader that holds back more than `bytes`; none if it cannot be known. */
void store_long_reader(struct store *store, uint64_t bytes, struct store_long_reader *reader);

struct store_snapshot;

struct store_snapshot_options {
	uint32_t epoch_from, epoch_to; /* half-open; 0, UINT32_MAX: all */
	uint64_t columns;              /* mask of the columns to read; others cost nothing */
	bool occupied;                 /* leave out blocks without observations: see store_snapshot_blocks() */
};

/* STORE_E_NO_RUN: as store_find_run(). */
int store_snapshot_open(struct store *store, const char *run, const struct store_snapshot_options *options,
                        struct store_snapshot **snapshot, struct portolan_error *error);
void store_snapshot_close(struct store_snapshot *snapshot);

/* Ends the snapshot's transaction. Its info, epochs, labels and names stay valid; no cursor may be open, or be opened
 * later. The store may be closed before the snapshot. */
void store_snapshot_detach(struct store_snapshot *snapshot);

const struct store_run_info *store_snapshot_info(const struct store_snapshot *snapshot);

/* The epochs with observations within the range asked for, ascending. */
size_t store_snapshot_epochs(const struct store_snapshot *snapshot, const uint32_t **epochs);

/* Columns (of those asked for) that were logged in the epochs in range; a user column's name, or NULL. */
uint64_t store_snapshot_columns(const struct store_snapshot *snapshot);
const char *store_snapshot_column_name(const struct store_snapshot *snapshot, unsigned column);

const char *store_snapshot_label(const struct store_snapshot *snapshot, uint64_t class_index); /* NULL: not named */

/* ⌈rows / STORE_CHUNK⌉. If `occupied` was asked for, and the run declares more examples than it has observed, blocks in
 * which no epoch has an observation are left out, and the others are numbered without gaps. Then indices, and the
 * info's `rows`, count only rows of the blocks that are left, and only its id tells which example a row is. */
size_t store_snapshot_blocks(const struct store_snapshot *snapshot);

/* Reading is done through cursors, one per thread; a snapshot may have several at work, all closed before it is. */
struct store_cursor;

int store_cursor_open(struct store_snapshot *snapshot, struct store_cursor **cursor, struct portolan_error *error);
void store_cursor_close(struct store_cursor *cursor);

struct store_values {
	/* float, int32_t or uint32_t[rows], or (STORE_CORRECT) uint64_t words of bits; NULL: the block has none. The value of
	 * a row that is not present is unspecified (bits: 0). */
	const void *values;
	const uint64_t *present; /* bitmap over the block; NULL together with values, otherwise never NULL */
	bool complete;           /* all rows of the block are present */
};

struct store_block {
	uint32_t first, rows; /* indices first … first+rows−1 */
	size_t epoch_count;   /* as store_snapshot_epochs() */
	/* values of one column at the e-th epoch: block.columns[e * STORE_COLUMN_MAX + column], filled only for columns
	 * asked for; use store_block_values() */
	const struct store_values *columns;
	struct store_values gold; /* filled if STORE_GOLD was wanted */
};

/* Reads block `index`: all columns asked for, at all epochs in range. Pointers are 8-byte aligned and valid until this
 * cursor reads values again. Checksums are verified: STORE_E_CORRUPT names run, epoch, column and chunk. */
int store_cursor_block(struct store_cursor *cursor, size_t index, struct store_block *block,
                       struct portolan_error *error);

/* The same for epochs `from` … from + count − 1 of store_snapshot_epochs(), and for the columns of the mask `columns`
 * that the snapshot asked for: epoch e of the block is epoch from + e. Takes memory for `count` epochs only. */
int store_cursor_epochs(struct store_cursor *cursor, size_t index, size_t from, size_t count, uint64_t columns,
                        struct store_block *block, struct portolan_error *error);

static inline const struct store_values *
store_block_values(const struct store_block *block, size_t epoch, enum store_column column)
{
	return &block->columns[epoch * STORE_COLUMN_MAX + column];
}

struct store_ids {
	uint32_t first, rows;
	const uint64_t *integers; /* STORE_ID_INT */
	const char *text;         /* STORE_ID_STR: string r is text + offsets[r] … offsets[r+1] */
	const uint32_t *offsets;
};

/* The users' ids of block `index`; valid until this cursor reads ids again. */
int store_cursor_ids(struct store_cursor *cursor, size_t index, struct store_ids *ids, struct portolan_error *error);

#endif
