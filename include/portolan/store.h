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
#define STORE_CHUNK 16320u                   /* rows: 255 × 64; a chunk of float32 fills just under 16 pages */
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
	STORE_E_IDS = -112,     /* no memory for more ids, in a run that did not declare them */
};

/* The columns that every store knows. A run's other columns, which users name, hold float32; each run gives them
 * numbers from STORE_COLUMN_USER on. */
enum store_column {
	STORE_GOLD_PROB = 0, /* float32; present exactly where the example was observed */
	STORE_CORRECT,       /* bit */
	STORE_MARGIN,        /* float32 */
	STORE_OTHER_SQ,      /* float32 */
	STORE_ENTROPY,       /* float32 */
	STORE_MAX_PROB,      /* float32 */
	STORE_PREDICTED,     /* int32 */
	STORE_GOLD,          /* int32; one for each example, the latest known, not one for each epoch */
	STORE_SESSION,       /* uint32: the session that wrote the row, by its number in the run */
	STORE_TASK_LOSS,     /* float32: of a run of losses, see store_is_of_losses() */
	STORE_COLUMN_USER = 32,
	STORE_COLUMN_MAX = 64, /* a column set is one 64-bit mask */
};
#define STORE_COLUMN_BIT(column) (UINT64_C(1) << (column))

/* Does a run with these columns record losses, of any task? Then each observation has task_loss, and no label: readers
 * get task_loss as STORE_GOLD_PROB, the value that every observation has, and STORE_CORRECT is 0. */
static inline bool
store_is_of_losses(uint64_t columns)
{
	return (columns & STORE_COLUMN_BIT(STORE_TASK_LOSS)) != 0;
}

enum store_id_kind { STORE_ID_NONE = 0, STORE_ID_INT = 1, STORE_ID_STR = 2 };
enum store_state {
	STORE_RECORDING = 1,
	STORE_CLOSED = 2,
	STORE_DAMAGED = 5, /* only from store_runs(): the run cannot be read; of its info only name and number are set
			    * (number 0: not known) */
};

struct store_run_info {
	char name[256];
	uint32_t number; /* the run's number in this store; never used again */
	enum store_id_kind id_kind;
	enum portolan_mode mode;
	bool of_losses;         /* it records losses of any task, and no labels: see store_is_of_losses() */
	enum store_state state; /* recording: at least one session is live */
	uint64_t declared;      /* examples declared; 0: not declared */
	uint64_t examples; /* examples observed at least once; if they are not declared, all that have an index. With
	                             declared examples, store_runs() gives a lower bound while the log is large */
	uint64_t rows;     /* indices in use: as many as examples are declared, or else as ids were seen */
	uint64_t epochs;   /* epochs with observations */
	uint64_t observations; /* observations kept, over all epochs; replaced ones do not count. store_runs() gives an
	                             upper bound while the log is large */
	uint64_t replaced;     /* observations that met another one of the same example and epoch. The log is counted
	                             as folds will count it; but not by store_runs() while the log is large: while
	                             reading it would take more than 64 MiB */
	uint64_t returned;     /* of these, how many met one of their own session: the id came back within the epoch */
	uint64_t changed_labels; /* how often a label differed from the one known before; counted as `replaced` is */
	uint64_t refused;
	int64_t created;      /* seconds since 1970 */
	uint64_t label_count; /* how many class names were given */
	char group[256];
};

/* For main(). From now on, a data.mdb that is too short (a copy broken off), or that the disk cannot read, ends the
 * program with a message on stderr and exit status 1, and not with SIGBUS. `take` is for other files that the program
 * has mapped; NULL: there are none. It is called in the signal's handler, with the address that could not be read. It
 * returns true if it has mapped other memory there; otherwise it may set *path to the file's path, for the message. */
void store_expect_short_file(bool (*take)(void *address, const char **path));

struct store; /* one open store; a process opens it at most once */

int store_open(const char *directory, struct store **store, struct portolan_error *error);
void store_close(struct store *store);

/* The store's id in hexadecimal digits. It is given when the store is made; copies keep it. */
#define STORE_ID_ROOM 33
void store_id(const struct store *store, char id[STORE_ID_ROOM]);

/* Writes a copy of the whole store, as it is at one moment, to `fd`. Once it is complete, the copy is a data.mdb. It is
 * read in one transaction, and the collector can work meanwhile. STORE_E_FULL: the disk of the copy is full. */
int store_copy(struct store *store, int fd, struct portolan_error *error);

/* Lists all runs by ascending name (bytewise), damaged ones among them; *runs is the caller's to free(). Takes one
 * short transaction. */
int store_runs(struct store *store, struct store_run_info **runs, size_t *count, struct portolan_error *error);

/* Finds the number of a run by its name. The message of STORE_E_NO_RUN names the run, and the most similar name of a
 * run, if there is one. */
int store_find_run(struct store *store, const char *name, uint32_t *run, struct portolan_error *error);

/*
 * Counters of what clients have sent, and of what became of it. They only grow. They are stored together with other
 * data, so what has happened since the last commit for a run is not in them yet.
 */

/* Why an observation can never be stored. */
enum store_refusal {
	STORE_REFUSED_ID = 0,    /* the id is beyond the declared examples, or the run has no index left for it */
	STORE_REFUSED_GOLD_PROB, /* not within 0 and 1 */
	STORE_REFUSED_CLASS,     /* gold or predicted below 0 */
	STORE_REFUSED_NAN,       /* NaN in another column */
	STORE_REFUSED_BATCH,     /* its batch as a whole: ids of the other kind, or columns that do not fit */
	STORE_REFUSALS,
	STORE_REFUSALS_ROOM = 7,
};

/* A histogram of durations, in microseconds. */
#define STORE_LATENCY_BINS 32
struct store_latency {
	uint64_t count, sum, max;
	uint64_t bins
	        [STORE_LATENCY_BINS]; /* bin b: 2^b up to 2^(b+1) − 1, the first also 0, the last everything longer */
};

/* What `portolan salvage` left of a run in a damaged store. */
struct store_left {
	uint64_t epochs;       /* that lack something */
	uint64_t chunks;       /* that lack something; a chunk has one epoch of at most STORE_CHUNK examples */
	uint64_t examples;     /* whose ids are lost, and so all their observations */
	uint64_t observations; /* that are lost, as far as they can be counted */
	uint64_t records;      /* that were found damaged, or are missing; as far as they can be counted */
};

struct store_counters {
	uint64_t frames, bytes; /* of the frames of sessions; the store's counters count `open` frames too */
	uint64_t received;      /* observations in them */
	uint64_t repeated;      /* of these, in batches that were stored before, or whose commit had failed */
	uint64_t skipped;       /* of these, in batches that were not taken, as an earlier one was missing,
	                                          or the store could not be written; the client sends them again */
	uint64_t gaps;          /* how often a sequence number was missing */
	uint64_t malformed;     /* malformed frames */
	uint64_t failures;      /* commits that failed: clients were told to repeat */
	uint64_t refused[STORE_REFUSALS_ROOM]; /* observations, by enum store_refusal */
	uint64_t texts_refused;                /* examples whose texts were not taken, counted each time */
	struct store_latency commits; /* how long commits with clients' frames took, until these were on disk */
	uint64_t dropped;             /* frames beyond a session's credit; in the store's counters only */
	uint64_t last;                /* seconds since 1970 when observations last came; 0: never */
	uint64_t returned;            /* see struct store_run_info; in folded epochs only, and in a run's
	                                          counters only */
	struct store_left left;       /* in a run's counters only */
};

/* Reads the counters of a run by its number; `run` 0: those of the whole store, removed runs included. */
int store_counters(struct store *store, uint32_t run, struct store_counters *counters, struct portolan_error *error);

/* What a client has sent with its last `ping` or `close`: counts of observations, unless said otherwise. */
struct store_client {
	uint64_t told;   /* seconds since 1970 when it last sent them; 0: never, and the rest is 0 */
	uint64_t logged; /* accepted by its log calls */
	uint64_t refused, dropped, spooled;
	uint64_t waits;  /* log calls that had to wait */
	uint64_t closed; /* seconds since 1970 when its `close` came; 0: none has come */
};

/* Which process a session's client is, as it says itself. */
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
	uint64_t frontier;     /* all epochs below this number were ended by the session */
	uint64_t observations, replaced, refused;
	struct store_client client;
	struct store_process process;
	uint32_t beside; /* 1 + the number of another session that recorded at the same time, from a process that
	                  * does not belong to the same launch; 0: there is none */
};

/* Lists the sessions of a run, in the order of their numbers; *sessions is the caller's to free(). */
int store_sessions(struct store *store, uint32_t run, struct store_session **sessions, size_t *count,
                   struct portolan_error *error);

/* Reads what the run was opened with: a JSON object, as the client sent it, or an empty text. *config is the caller's to
 * free(). */
int store_config(struct store *store, uint32_t run, char **config, struct portolan_error *error);

struct store_epoch {
	uint32_t epoch;
	uint32_t folds;   /* how often it was folded: more than once if patches came */
	uint64_t folded;  /* observations in columns */
	uint64_t waiting; /* rows in the log: all rows if the epoch was never folded, else its patches */
	uint64_t batches; /* how many batches came for it: as long as this stays the same, so do its observations */
};

/* Lists the epochs of a run that have observations, ascending; *epochs is the caller's to free(). */
int store_epochs(struct store *store, uint32_t run, struct store_epoch **epochs, size_t *count,
                 struct portolan_error *error);

/* The texts of examples that a run keeps, because its user logged them. */
#define STORE_TEXT_FIELDS 32 /* most fields of a run */
#define STORE_TEXT_NAME 32   /* most bytes of the name of a field */
struct store_texts {
	uint64_t examples; /* that have texts; 0: the run keeps none */
	uint64_t bytes;    /* of their records */
	uint32_t writes;   /* how often texts were written, modulo 2^32: as long as this stays the same, so do they */
	size_t field_count;
	char fields[STORE_TEXT_FIELDS][STORE_TEXT_NAME + 1]; /* names */
};
int store_texts(struct store *store, uint32_t run, struct store_texts *texts, struct portolan_error *error);

/* An example with its texts; all pointers are valid during the visit. */
struct store_example {
	enum store_id_kind id_kind;
	uint64_t integer; /* STORE_ID_INT */
	const char *id;   /* STORE_ID_STR: id_size bytes */
	size_t id_size;
	const char
	        *texts[STORE_TEXT_FIELDS]; /* by field, UTF-8 of sizes[f] bytes; NULL: the example has no such text */
	size_t sizes[STORE_TEXT_FIELDS];
};

/* Visits every example of a run that has texts, by ascending id, in one transaction. *fields is set before the first
 * visit. A result of visit() that is not 0 ends this, and is returned. */
typedef int store_text_visit(void *context, const struct store_example *example, struct portolan_error *error);
int store_each_text(struct store *store, uint32_t run, struct store_texts *fields, store_text_visit *visit,
                    void *context, struct portolan_error *error);
/* Visits one example, whose record alone is read; of `wanted` the members of the id are used. No visit: it has no
 * texts. */
int store_text_of(struct store *store, uint32_t run, const struct store_example *wanted, struct store_texts *fields,
                  store_text_visit *visit, void *context, struct portolan_error *error);

struct store_verify {
	/* Is called for each damaged record, with a line that names it. */
	void (*damaged)(void *context, const char *what);
	void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
	void *context;
};

/*
 * Compares every record of run number `run`, and of the store itself, with its checksum. Works in transactions of some
 * MB, so a run may be recorded meanwhile. *records: how many were read. Returns 0 even if records are damaged. LMDB's
 * own pages have no checksums: if those are damaged, reading the file may end the process with a signal.
 */
int store_verify(struct store *store, uint32_t run, const struct store_verify *options, uint64_t *records,
                 struct portolan_error *error);

/* A process whose read transaction makes the store's file grow: as long as the transaction lasts, no page that was
 * freed since its beginning is used again. */
struct store_long_reader {
	long process;    /* the process that reads the oldest state; 0: none, or none that matters */
	uint64_t state;  /* the number of the transaction that made that state */
	uint64_t behind; /* how many transactions were made since */
	uint64_t bytes;  /* of the pages that were freed since, which cannot be used again until it ends */
};
#define STORE_HELD_BACK ((uint64_t)256 << 20) /* bytes of such pages from which on users are told */

/* Finds the reader that holds back more than `bytes`. If that cannot be known, finds none. */
void store_long_reader(struct store *store, uint64_t bytes, struct store_long_reader *reader);

struct store_snapshot;

struct store_snapshot_options {
	uint32_t epoch_from, epoch_to; /* from epoch_from, up to but without epoch_to; 0, UINT32_MAX: all */
	uint64_t columns;              /* mask of the columns that will be read; the others cost nothing */
	bool occupied;                 /* leave out blocks without observations: see store_snapshot_blocks() */
};

/* Opens a snapshot: the run as it is now. STORE_E_NO_RUN: as from store_find_run(). */
int store_snapshot_open(struct store *store, const char *run, const struct store_snapshot_options *options,
                        struct store_snapshot **snapshot, struct portolan_error *error);
void store_snapshot_close(struct store_snapshot *snapshot);

/* Ends the snapshot's transaction. The snapshot's info, epochs, labels and names stay valid. No cursor may be open, and
 * none may be opened later. The store may then be closed before the snapshot. */
void store_snapshot_detach(struct store_snapshot *snapshot);

const struct store_run_info *store_snapshot_info(const struct store_snapshot *snapshot);

/* The epochs that have observations, within the range that was asked for, ascending. Returns how many. */
size_t store_snapshot_epochs(const struct store_snapshot *snapshot, const uint32_t **epochs);

/* The same epochs, each with what store_epochs() would say of it, as of the snapshot. */
const struct store_epoch *store_snapshot_stored_epochs(const struct store_snapshot *snapshot);

/* Which of the columns that were asked for were logged in the epochs in range: a mask. And the name of a user's column;
 * NULL: the column is not a user's. */
uint64_t store_snapshot_columns(const struct store_snapshot *snapshot);
const char *store_snapshot_column_name(const struct store_snapshot *snapshot, unsigned column);

const char *store_snapshot_label(const struct store_snapshot *snapshot, uint64_t class_index); /* NULL: not named */

/* The number of blocks: ⌈rows / STORE_CHUNK⌉. If `occupied` was asked for, and the run declares more examples than it
 * has observed, blocks in which no epoch has an observation are left out, and the others are numbered without gaps.
 * Indices, and the info's `rows`, then count only rows of the remaining blocks, and only the id of a row tells which
 * example it is. */
size_t store_snapshot_blocks(const struct store_snapshot *snapshot);

/* Snapshots are read through cursors. Each thread that reads needs its own. All must be closed before the snapshot
 * is. */
struct store_cursor;

int store_cursor_open(struct store_snapshot *snapshot, struct store_cursor **cursor, struct portolan_error *error);
void store_cursor_close(struct store_cursor *cursor);

struct store_values {
	/* float, int32_t or uint32_t[rows]; for STORE_CORRECT, bits in uint64_t words; NULL: the block has none. Where
	 * a row is not present, its value is unspecified, its bit 0. */
	const void *values;
	const uint64_t *present; /* bitmap over the block; NULL together with values, otherwise never NULL */
	bool complete;           /* all rows of the block are present */
};

struct store_block {
	uint32_t first, rows; /* indices first … first+rows−1 */
	size_t epoch_count;   /* as store_snapshot_epochs() */
	/* columns[e * STORE_COLUMN_MAX + column] has the values of a column at the e-th epoch, if the column was asked
	 * for; use store_block_values() */
	const struct store_values *columns;
	struct store_values gold; /* set if STORE_GOLD was asked for */
	/* likewise: a bitmap of the examples that any epoch of the run observed, in range or not; NULL: all of them */
	const uint64_t *seen;
};

/* Reads block `index`: all columns that were asked for, at all epochs in range. Pointers are aligned to 8 bytes, and
 * valid until this cursor reads values again. Checksums are verified: the message of STORE_E_CORRUPT names run, epoch,
 * column and chunk. */
int store_cursor_block(struct store_cursor *cursor, size_t index, struct store_block *block,
                       struct portolan_error *error);

/* Reads a part of block `index`: the epochs number `from` … from + count − 1 of store_snapshot_epochs(), and of the
 * columns that were asked for those in the mask `columns`. The block's epoch e is the snapshot's epoch from + e. Takes
 * memory for `count` epochs only. */
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

/* Reads the users' ids of the examples in block `index`. They are valid until this cursor reads ids again. */
int store_cursor_ids(struct store_cursor *cursor, size_t index, struct store_ids *ids, struct portolan_error *error);

#endif
