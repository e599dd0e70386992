/*
 * wire.h: the frames between client and collector, for both: limits, version, and the interface of the codec that
 * writes and reads them. Private.
 *
 * The protocol itself is described in client/WIRE.md. The codec is client/wire/wire_*.c, the only files that include
 * msgpack.
 *
 * Thread rule: no shared state; one encoder or decoder per thread.
 */
#ifndef PORTOLAN_WIRE_H
#define PORTOLAN_WIRE_H

#include <portolan/portolan.h>

#include <stdbool.h>

#define WIRE_VERSION 2

/* Limits, checked before anything is allocated. */
#define WIRE_MAX_FRAME (256u << 10) /* bytes of a whole frame; also ZMQ_MAXMSGSIZE */
#define WIRE_MAX_ROWS (256u << 10)  /* rows of a batch */
#define WIRE_MAX_COLUMNS 32         /* columns of a batch, ids not counted */
#define WIRE_MAX_PING 256           /* bytes of a ping: the collector keeps room for one ping of each session */
#define WIRE_MAX_NAME 255           /* bytes: run, group, label, string id, client */
#define WIRE_MAX_COLUMN_NAME 32     /* bytes: [a-z][a-z0-9_]* */
#define WIRE_MAX_LABELS 65536
#define WIRE_MAX_CONFIG 65536 /* bytes of JSON */
#define WIRE_MAX_EPOCH 0xfffffffdu
#define WIRE_MAX_DEPTH 4 /* nesting of msgpack containers */
#define WIRE_SESSION_SIZE 16
#define WIRE_STORE_SIZE 16
#define WIRE_OWNER_SIZE 16
#define WIRE_MAX_PATH 4095
#define WIRE_MAX_HOST 64
#define WIRE_MAX_TEXT_FIELDS 8 /* named texts of an example in one frame */
#define WIRE_MAX_TEXTS 61440   /* bytes of the texts of one example, together */

/* Times by which both sides go (see WIRE.md). */
#define WIRE_PING_MS 2000             /* a client that has sent nothing for so long sends a ping */
#define WIRE_SESSION_TIMEOUT_MS 15000 /* a session that has sent nothing for so long is no longer live */

enum wire_kind {
	/* client → collector */
	WIRE_OPEN = 1,  /* begin or continue a session */
	WIRE_BATCH,     /* observations; carries a sequence number */
	WIRE_END_EPOCH, /* carries a sequence number */
	WIRE_CLOSE,     /* carries a sequence number: the last of its session */
	WIRE_PING,
	WIRE_REMOVE, /* remove a run; accepted only at the store's own local endpoint; `session` is any 16 bytes */
	/* collector → client */
	WIRE_OPENED,
	WIRE_ACK,
	WIRE_ERROR,
	/* client → collector; last, as spool files hold the numbers of the kinds */
	WIRE_EXAMPLES, /* texts of examples; carries a sequence number */
	WIRE_LAST_KIND = WIRE_EXAMPLES,
};

enum wire_id_kind { WIRE_ID_NONE = 0 /* not fixed yet */, WIRE_ID_INT = 1, WIRE_ID_STR = 2 };

/* Element types of a column on the wire; all little-endian, unaligned. */
enum wire_type {
	WIRE_F4 = 1, /* "f4": IEEE 754 binary32 */
	WIRE_I4,     /* "i4": two's complement 32 bits */
	WIRE_U4,     /* "u4": ids only */
	WIRE_U8,     /* "u8": ids only, 64 bits */
	WIRE_BIT,    /* "bit": ⌈n/8⌉ bytes, row r is bit r%8 of byte r/8 */
	WIRE_STR,    /* "str": ids only: n length bytes (1–255), then the strings, end to end */
};

struct wire_bytes {
	const uint8_t *data;
	size_t size;
};

struct wire_column {
	struct wire_bytes name;
	enum wire_type type;
	struct wire_bytes data; /* its size fits type and rows: that was checked */
};

struct wire_open {
	struct wire_bytes run, group, client; /* group empty: none */
	struct wire_bytes config;             /* JSON text, empty: none; not parsed here */
	const struct wire_bytes *labels;
	size_t label_count;
	uint64_t started;  /* ns since 1970 when the session began: orders sessions (see store.h, winner rule) */
	uint64_t examples; /* 0: ids not declared */
	uint32_t rank;
	enum portolan_mode mode;
	bool resume, overwrite;
	bool whole; /* the run gets its name only when the session closes; if it never does, the run is removed */
	bool late;  /* the session was recorded before, without this collector; `started` says where it belongs among
	                 * the sessions (see admit.c) */
	uint64_t after;       /* frames up to this number were acknowledged before, and are not sent again */
	bool partial;         /* only if late: takes the frames after `after` even if the store lacks those before */
	const uint8_t *store; /* 16 bytes: the only store that may take the session; NULL: any */
	const uint8_t *owner; /* 16 bytes: the store's secret (owner.h); NULL: none */
	uint64_t turn; /* how often the client has begun to open the session; repeated in `opened`; 0: not told */
	struct wire_bytes host; /* where the client runs, and as which process; empty and 0: not told */
	uint64_t process;
};

struct wire_batch {
	uint32_t epoch;
	uint32_t rows;
	enum wire_type id_type; /* WIRE_U4, WIRE_U8 or WIRE_STR */
	struct wire_bytes ids;
	size_t column_count;
	struct wire_column columns[WIRE_MAX_COLUMNS];
};

/* Texts of examples: each row has one text for each field. */
struct wire_examples {
	uint32_t rows;
	enum wire_type id_type; /* WIRE_U4, WIRE_U8 or WIRE_STR */
	struct wire_bytes ids;
	size_t field_count;
	struct wire_bytes fields[WIRE_MAX_TEXT_FIELDS]; /* names, each once */
	struct wire_bytes texts; /* row after row, field after field: u4 length, little-endian, and the text */
};

struct wire_opened {
	uint64_t acknowledged;     /* highest sequence number of this session on disk; 0: none */
	uint64_t credit;           /* bytes of unacknowledged frames the client may have under way */
	enum wire_id_kind id_kind; /* the kind of ids that the run has */
	const uint8_t *store;      /* 16 bytes: the store's id; NULL: not told */
	uint64_t turn;             /* that of the `open` which it answers */
	bool texts;                /* the collector takes WIRE_EXAMPLES */
};

struct wire_ack {
	uint64_t acknowledged, credit;
	uint64_t replaced, refused; /* observations, totals of this session */
};

/* The counts in `ping` and `close`: of the session's observations, except `waits`. */
struct wire_counts {
	bool told;                          /* the frame has counts */
	uint64_t logged;                    /* accepted by its log calls */
	uint64_t refused, dropped, spooled; /* left out by the client; dropped; written to a spool file */
	uint64_t waits;                     /* log calls that had to wait for room */
};

/* Codes of WIRE_ERROR frames. On the wire they are the words in quotes. */
enum wire_error_code {
	WIRE_E_VERSION = 1, /* "version": the collector does not know the frame's version */
	WIRE_E_MALFORMED,   /* "malformed": not a valid frame */
	WIRE_E_NO_SESSION,  /* "no-session": open the session again, then repeat what was not acknowledged */
	WIRE_E_SEQUENCE,    /* "sequence": a gap; go back to the number after `acknowledged` */
	WIRE_E_RUN_EXISTS,  /* "run-exists" */
	WIRE_E_RUN_DIFFERS, /* "run-differs": id kind, mode or examples are not the run's */
	WIRE_E_REFUSED,     /* "refused": these rows can never be stored; the sequence number is used up */
	WIRE_E_UNAVAILABLE, /* "unavailable": the store cannot take the frame now (disk full); keep it, and try again */
	WIRE_E_RUN_REMOVED, /* "run-removed": removed or overwritten while the session was live */
	WIRE_E_NO_RUN,      /* "no-run": nothing to remove */
	WIRE_E_RUN_DAMAGED, /* "run-damaged": records of the run cannot be read; nothing more is stored in it */
	WIRE_E_OTHER_STORE, /* "other-store": the session belongs to another store */
	WIRE_E_NO_BEGINNING,    /* "no-beginning": the store lacks acknowledged frames of the session */
	WIRE_E_OVER_CREDIT,     /* "over-credit": the frame was dropped; open again, and repeat as after "no-session" */
	WIRE_E_TOO_MANY_IDS,    /* "too-many-ids": there is no memory for more ids that are not declared */
	WIRE_E_SESSION_DIFFERS, /* "session-differs": the session was opened with other content before */
	WIRE_E_OWNER,           /* "owner": only a client that proves to be the store's own user may do this */
	WIRE_E_RIGHTS,          /* "rights": the key of this client may not do this */
	WIRE_E_OTHER,           /* any code this version does not know */
};

struct wire_error {
	enum wire_error_code code;
	struct wire_bytes message;
	uint64_t sequence;      /* of the frame it answers; 0: none */
	struct wire_bytes path; /* WIRE_E_OWNER: the file of the secret; empty: not told */
	bool held;              /* WIRE_E_UNAVAILABLE: another session records into the run */
};

/* The keys that say what a frame is, and where it belongs. */
struct wire_head {
	enum wire_kind kind;
	uint8_t session[WIRE_SESSION_SIZE];
	uint64_t sequence; /* 0: none */
};

struct wire_frame {
	enum wire_kind kind;
	uint8_t session[WIRE_SESSION_SIZE];
	uint64_t sequence; /* of the kinds that carry one, from 1 on; 0: the kind has none */
	union {
		struct wire_open open;
		struct wire_batch batch;
		struct wire_examples examples;
		struct {
			uint32_t epoch;
		} end_epoch;
		struct {
			struct wire_counts counts;
		} close;
		struct {
			struct wire_counts counts;
		} ping;
		struct {
			struct wire_bytes run;
			const uint8_t *owner;
		} remove;
		struct wire_opened opened;
		struct wire_ack ack;
		struct wire_error error;
	};
};

typedef struct wire_decoder wire_decoder;

wire_decoder *wire_decoder_new(void); /* NULL: out of memory */
void wire_decoder_free(wire_decoder *decoder);

/* Decodes one frame. Everything is checked: limits, types, sizes, UTF-8, depth. Unknown keys are skipped; a frame with
 * a repeated key is malformed. *frame points into `data` and into the decoder, so it is valid only as long as `data`,
 * and until the next call. Returns 0, or a negative PORTOLAN_E… with a message that names the field; *code (may be
 * NULL) is then the WIRE_E_… to answer. */
int wire_decode(wire_decoder *decoder, const void *data, size_t size, struct wire_frame *frame,
                enum wire_error_code *code, struct portolan_error *error);

/* For a client: is the collector's frame about this session? True also for an error without a session: the collector
 * could not decode the frame that it answers. */
bool wire_answers(const struct wire_frame *frame, const uint8_t session[WIRE_SESSION_SIZE]);

/* Reads the head of a frame. Checks only the frame's tokens, so wire_decode() may still refuse it. False: the frame has
 * no head, or is of another version. Pure. */
bool wire_peek(const void *data, size_t size, struct wire_head *head);

/* Finds how many bytes the frame takes when it is encoded. The frame must be valid (asserted in debug builds).
 * PORTOLAN_E_INVALID: more than WIRE_MAX_FRAME. */
int wire_measure(const struct wire_frame *frame, size_t *size, struct portolan_error *error);

/* Encodes a frame into `data`, which must have room for as many bytes as wire_measure() has found. */
void wire_write(const struct wire_frame *frame, uint8_t *data);

typedef struct wire_encoder wire_encoder;

wire_encoder *wire_encoder_new(void);
void wire_encoder_free(wire_encoder *encoder);

/* Measures and encodes a frame, into memory of the encoder: *bytes is valid until the next call. Also
 * PORTOLAN_E_MEMORY. */
int wire_encode(wire_encoder *encoder, const struct wire_frame *frame, struct wire_bytes *bytes,
                struct portolan_error *error);

/* Is it the name of a field of texts: 1–32 bytes of the form [A-Za-z][A-Za-z0-9_]*, and not "id"? */
bool wire_field_name_is_valid(const void *data, size_t size);

/* The next text of wire_examples.texts, and moves *at behind it; `at` must not be at the end of a checked frame's
 * texts. */
struct wire_bytes wire_next_text(struct wire_bytes texts, size_t *at);

/* Is it valid UTF-8 without U+0000? Other control characters are allowed. */
bool wire_prose_is_valid(const void *data, size_t size);

/* Is it 1–255 bytes (with `may_be_empty`, 0–255) of valid UTF-8 without control characters (U+0000–001F, 007F–009F)? */
bool wire_name_is_valid(const void *data, size_t size, bool may_be_empty);

#endif
