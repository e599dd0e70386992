/*
 * layout.h: the store's records as C structures, for all of its files. collector/STORE.md describes them byte by byte.
 *
 * Keys are big-endian, so that LMDB's bytewise order is numeric order. Values are little-endian and are copied to and
 * from the structures below, which have no padding: a host of the other byte order is refused at compile time.
 */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include <portolan/store.h>

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the store is little-endian and read without conversion");

enum store_db {
	DB_META,        /* text                      → schema version and store id; next run */
	DB_RUNS,        /* name                      → number of the run */
	DB_RUN,         /* run, part                 → state, identity, labels, user columns */
	DB_SESSIONS,    /* run, session              → session */
	DB_SESSION_IDS, /* session id, run           → number of the session */
	DB_IDS,         /* run, first index          → a segment of ids; never crosses a chunk's border */
	DB_LOG,         /* run, epoch, position      → a batch */
	DB_EPOCHS,      /* run, epoch                → positions and counts of the epoch's log and columns */
	DB_COLUMNS,     /* run, epoch, chunk, column → a column, or (STORE_PRESENCE set) a presence */
	DB_REMOVALS, /* run, epoch                → log entries that are folded; STORE_EPOCH_RUN: a run that is gone */
	DB_COUNT
};

/* The databases whose keys begin with a run's number. A run's state, in the first, says that it is removed. */
#define DB_OF_RUN 6
static const enum store_db databases_of_run[DB_OF_RUN] = {DB_RUN, DB_SESSIONS, DB_EPOCHS, DB_IDS, DB_LOG, DB_COLUMNS};

static inline bool
database_has_runs(enum store_db db)
{
	for (size_t i = 0; i < DB_OF_RUN; i++)
		if (databases_of_run[i] == db)
			return true;
	return false;
}

enum record_kind {
	RECORD_SCHEMA = 'S',
	RECORD_RUN_NUMBER = 'N',
	RECORD_RUN_STATE = 'R',
	RECORD_RUN_IDENTITY = 'I',
	RECORD_COUNTERS = 'K',
	RECORD_CLIENT = 'k',
	RECORD_PROCESS = 'p',
	RECORD_LABELS = 'T',
	RECORD_USER_COLUMNS = 'U',
	RECORD_SESSION = 's',
	RECORD_SESSION_NUMBER = 'n',
	RECORD_IDS = 'D',
	RECORD_BATCH = 'B',
	RECORD_EPOCH = 'E',
	RECORD_COLUMN = 'C',
	RECORD_PRESENCE = 'P',
	RECORD_REMOVAL = 'X',
	RECORD_TEXTS = 'V',
	RECORD_TEXT = 'v',
};

#define RECORD_VERSION 1
#define RECORD_HEADER 16

/* Parts of a run in DB_RUN. Under run 0, a number that no run has, stand the counters of the whole store. */
enum {
	RUN_STATE = 0,
	RUN_IDENTITY = 1,
	RUN_LABELS = 2,
	RUN_USER_COLUMNS = 3,
	RUN_COUNTERS = 4,
	RUN_CLIENT = 5,
	RUN_PROCESS = 6,
	RUN_TEXTS = 7, /* how many examples have texts */
	RUN_TEXT = 8,  /* the texts of an example; its id follows in the key */
};

/* Values that are kept per example, not per epoch (gold, and which examples were seen at all), have this epoch in their
 * keys. */
#define STORE_EPOCH_RUN UINT32_MAX

/* Added to the column in a key: the record is that column's presence; with gold_prob, that of the observations. */
#define STORE_PRESENCE 0x80

/* Further values of store_state, never shown to callers. */
#define STORE_RUN_REMOVED 3
#define STORE_RUN_UNNAMED 4 /* recording, and not to be found by its name yet */

struct schema_record {
	uint32_t version, chunk;
	uint8_t id[16];
};

struct run_state_record {
	uint32_t state, id_kind;
	uint64_t rows, examples, observations, epochs, log_rows;
	uint64_t replaced, refused, changed_labels;
	uint64_t columns; /* every column ever logged */
	uint64_t declared;
	uint32_t sessions;
	uint32_t reserved; /* not used any more: chunks whose ids were one record */
};

struct run_identity_record { /* followed by name, group, config */
	uint32_t mode, name_size, group_size, config_size;
	uint64_t label_count;
	int64_t created;
};

#define USER_COLUMN_NAME 64  /* one length byte, 63 bytes of name */
struct user_columns_record { /* followed by count names of USER_COLUMN_NAME bytes */
	uint32_t count, reserved;
};

struct texts_record { /* followed by count names of TEXT_NAME_ROOM bytes: one length byte, the name, zeros */
	uint64_t examples, bytes;
	uint32_t count, writes;
};
#define TEXT_NAME_ROOM 64

struct text_head { /* followed by the fields: u1 length and the name, u4 length and the text */
	uint32_t session, fields;
};

struct session_record {
	uint8_t id[16];
	uint64_t started, acknowledged, frontier, observations, replaced, refused;
	uint32_t rank;
	uint16_t live, asked; /* asked: the SESSION_… options of its `open` */
	uint64_t content;     /* a hash of what its `open` said; 0: not known */
};
enum { SESSION_RESUME = 1, SESSION_OVERWRITE = 2 };

/* Which process a session's client is. */
struct process_record {
	char host[STORE_HOST]; /* zeros behind it; empty: not told */
	uint64_t process;      /* 0: not told */
	uint32_t beside;       /* 1 + the number of a session that recorded beside it, as another process; 0: none */
	uint32_t reserved;
};

struct epoch_record {
	uint64_t log_begin, log_end; /* positions: entries before log_begin are merged into every chunk */
	uint64_t log_rows;           /* rows in the log that are not merged into their chunk yet */
	uint64_t log_bytes;
	uint64_t observations; /* in columns */
	uint64_t columns;      /* logged in this epoch */
	uint32_t folds;        /* finished folds */
	uint32_t reserved;
};

struct ids_record { /* followed by uint64 ids, or by uint32 offsets[count + 1] and the text */
	uint32_t count, kind;
};

/* Followed by uint32 index[rows] unless the indices are first, first + 1, …; then the columns in ascending order. Each
 * is padded to 8 bytes. */
struct batch_record {
	uint32_t session, rows;
	uint64_t sequence, columns;
	uint32_t first, reserved; /* BATCH_SCATTERED: there is an index */
};
#define BATCH_SCATTERED UINT32_MAX

/* Counters (RECORD_COUNTERS: struct store_counters, RECORD_CLIENT: struct store_client) are uint64 one after another.
 * Such a record may be shorter than this version's (the rest is 0), or longer (the rest is kept). */
#define COUNTERS_MOST 256
_Static_assert(sizeof(struct store_counters) % 8 == 0 && sizeof(struct store_counters) / 8 == 59 &&
                       sizeof(struct store_client) == 56,
               "counters are in the order in which they were added");

/* SHARED: its rows are those of the observations; OWN: it has a presence record. */
enum { COLUMN_SHARED = 1, COLUMN_OWN = 2 };
enum { COLUMN_PLAIN = 0, COLUMN_CONSTANT = 1 };
struct column_record { /* followed by the values of the rows present, in order; bits: see chunk.c */
	uint32_t rows, present;
	uint8_t presence, encoding, reserved[6];
};

enum { PRESENCE_COMPLETE = 0, PRESENCE_BITMAP = 1, PRESENCE_LIST = 2 };
struct presence_record { /* followed by ⌈rows / 64⌉ words, or uint16 rows; nothing if complete */
	uint32_t rows, present;
	uint8_t form, reserved[7];
	uint64_t merged; /* of the observations: the log's entries before this position are in the chunk */
};

struct removal_record {
	uint64_t to; /* entries at positions below it; not used for a run */
};

_Static_assert(sizeof(struct schema_record) == 24 && sizeof(struct run_state_record) == 96 &&
                       sizeof(struct run_identity_record) == 32 && sizeof(struct session_record) == 80 &&
                       sizeof(struct process_record) == 80 && sizeof(struct epoch_record) == 56 &&
                       sizeof(struct batch_record) == 32 && sizeof(struct column_record) == 16 &&
                       sizeof(struct presence_record) == 24 && sizeof(struct texts_record) == 24 &&
                       sizeof(struct removal_record) == 8,
               "records have no padding");

/* A column's element type follows from its number. */
static inline bool
column_is_bits(unsigned column)
{
	return column == STORE_CORRECT;
}

static inline bool
column_is_float(unsigned column)
{
	return column != STORE_CORRECT && column != STORE_PREDICTED && column != STORE_GOLD && column != STORE_SESSION;
}

/* Columns that every observation has, so they have no presence of their own. */
static inline bool
column_is_implied(unsigned column)
{
	return column == STORE_GOLD_PROB || column == STORE_CORRECT || column == STORE_SESSION;
}

static inline size_t
pad8(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* Zeroes the padding after `size` bytes. */
static inline void
pad_zero(uint8_t *data, size_t size)
{
	memset(data + size, 0, pad8(size) - size);
}

/* Bytes of a column over `rows` rows, as in a batch. */
static inline size_t
column_bytes(unsigned column, size_t rows)
{
	return column_is_bits(column) ? (rows + 7) / 8 : rows * 4;
}

static inline uint32_t
load_u32(const void *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

static inline uint64_t
load_u64(const void *data)
{
	uint64_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

static inline bool
bit_get(const uint64_t *words, uint32_t at)
{
	return words[at / 64] >> (at % 64) & 1;
}

static inline void
bit_set(uint64_t *words, uint32_t at)
{
	words[at / 64] |= UINT64_C(1) << (at % 64);
}

static inline void
bit_clear(uint64_t *words, uint32_t at)
{
	words[at / 64] &= ~(UINT64_C(1) << (at % 64));
}

/* The lowest column of a mask, for `for (; mask; mask &= mask - 1)`. */
static inline unsigned
mask_first(uint64_t mask)
{
	return (unsigned)__builtin_ctzll(mask);
}

#endif
