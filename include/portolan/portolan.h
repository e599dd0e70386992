/*
 * portolan.h: the C library by which a training program records how a model sees every training example, epoch after
 * epoch.
 *
 *     portolan_run *run;
 *     struct portolan_error error;
 *     struct portolan_options options = {.store = "./portolan-store"};
 *     if (portolan_open("snli/seed1", &options, &run, &error) < 0)
 *             errx(1, "%s", error.message);
 *     for (uint32_t epoch = 0; epoch < 6; epoch++) {
 *             for (each mini-batch)
 *                     portolan_log_logits(run, epoch, n, classes, ids, logits, gold, &error);
 *             portolan_end_epoch(run, epoch, &error);
 *     }
 *     portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error);
 *
 * Conventions
 *   Errors    0 is success, a negative PORTOLAN_E… code a failure. `error` may be NULL; when it is not, a failure
 *             leaves the code and one line that says what to do, a success leaves it untouched.
 *   Ownership the caller keeps everything it passes; it may be reused as soon as the call returns.
 *   Threads   one run may be used from several threads. A logging call computes in the calling thread, into bounded
 *             memory, and returns: it makes no system call and takes no lock that I/O holds, unless that memory is
 *             full, a warning is printed (each once), or another thread logs to the run at that moment. One thread per
 *             run, started by portolan_open(), owns socket and spool; it takes no signals.
 *   Trouble   trouble with the collector or the run never makes a logging call or portolan_end_epoch() fail, unless
 *             options.strict is set. While the collector is away, observations wait in memory and in a spool file. Once it
 *             has ended the run, they are dropped and counted, after one line on stderr. portolan_flush(), portolan_close()
 *             and portolan_get_stats() report this.
 *   fork()    the child's copy of a run is inert: every call on it answers PORTOLAN_E_FORKED, and
 *             portolan_close() only frees memory.
 *   Bytes     strings are UTF-8, NUL-terminated where no length is given.
 */
#ifndef PORTOLAN_H
#define PORTOLAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(PORTOLAN_BUILDING)
#define PORTOLAN_PUBLIC __attribute__((visibility("default")))
#else
#define PORTOLAN_PUBLIC
#endif

#define PORTOLAN_VERSION "1.0.0" /* STABILITY.md says what later versions keep */

enum {
	PORTOLAN_E_INVALID = -1,      /* an argument is wrong; nothing of this call was logged */
	PORTOLAN_E_MEMORY = -2,       /* out of memory */
	PORTOLAN_E_NO_COLLECTOR = -3, /* no collector answered or could be started, or it cannot take the run now */
	PORTOLAN_E_REFUSED = -4,      /* the collector refused: the run exists, the kind of id differs, … */
	PORTOLAN_E_TIMEOUT = -5,      /* the time was up before everything was acknowledged */
	PORTOLAN_E_FORKED = -6,       /* the run belongs to the parent process */
	PORTOLAN_E_CLOSED = -7,       /* the run is closed */
	PORTOLAN_E_ROWS = -8,         /* rows were refused and `strict` is set; the other rows were logged */
	PORTOLAN_E_SYSTEM = -9,       /* a system or library call failed */
	PORTOLAN_E_CANCELLED = -10,   /* options.cancelled ended the wait; rows not logged yet are counted as dropped */
	PORTOLAN_E_ENDED = -11, /* the collector has ended the run (removed, damaged, refused): no more is recorded */
};

struct portolan_error {
	int code;          /* one of PORTOLAN_E… */
	char message[504]; /* one line, no newline at its end */
};

typedef struct portolan_run portolan_run;

/* When an epoch's observations are made: in a pass of their own after the epoch's training, or during the training
 * pass. The two give different training dynamics. */
enum portolan_mode {
	PORTOLAN_EPOCH_END = 0, /* after the training: the definition of Swayamdipta et al. 2020, §2.1 */
	PORTOLAN_TRAIN_FORWARD = 1,
};

enum portolan_when_full {
	PORTOLAN_WAIT = 0, /* if memory and spool are full, a log call waits for room, and says so once on stderr */
	PORTOLAN_DROP = 1, /* if they are full, the batch is dropped and counted */
};

/* Zero-initialise, then set what should differ from the defaults: zero always means the default. */
struct portolan_options {
	const char *store;    /* directory: start, or join, a collector for it. Exactly one of store and endpoint */
	const char *endpoint; /* a running collector: "tcp://127.0.0.1:5757" or "ipc://PATH" */
	const char *keys; /* with an endpoint tcp://…: directory of the keys for encryption, client.key and server.pub
	                        * (portolan keygen). NULL: the endpoint does not encrypt */
	enum portolan_mode mode;
	uint64_t examples;         /* > 0: ids are 0 … examples−1 (the collector then needs no dictionary of ids) */
	const char *const *labels; /* class names, or NULL; labels and config have at most 255 KiB together */
	size_t label_count;
	const char *config; /* a JSON object kept with the run (seed, model, hyper-parameters), or NULL */
	const char *group;  /* processes of one job that give the same group share the run (client/WIRE.md, Groups) */
	uint32_t rank;      /* this process's rank, different for each process of the group */
	int resume;         /* if the run exists, continue it; an observation logged again replaces the old one. Waits
	                        * while another process seems to record it; PORTOLAN_E_REFUSED names that process */
	int overwrite;      /* if the run exists, remove it first */
	int strict;         /* make two things errors instead of warnings: refused rows (PORTOLAN_E_ROWS), and a run
	                        * that the collector has ended (PORTOLAN_E_ENDED from every later call) */
	enum portolan_when_full when_full;
	size_t ring_bytes;    /* memory for observations not yet sent; default 32 MiB, at least 1 MiB */
	const char *spool;    /* directory for observations that cannot be sent and do not fit into memory. If given, a
	                        * run for which no collector answers is recorded there. Default: STORE/spool, or
	                        * ./portolan-spool */
	uint64_t spool_bytes; /* limit of this run's spool file; default 16 GiB */
	int open_timeout_ms;  /* default 10,000 */
	/* Called about ten times a second while a call waits (for the collector to open the run, or for room to log).
	 * If it returns non-zero, the call ends with PORTOLAN_E_CANCELLED. NULL: never. */
	int (*cancelled)(void *context);
	void *cancelled_context;
	const char *collector_program; /* portoland, for `store`; default: beside the library, then in $PATH */
	const void *reserved[8]; /* all NULL; room for options of later versions, which NULL leaves at their defaults */
};

/* For timeout_ms of portolan_flush() and portolan_close(), which is in milliseconds; 0: do not wait. */
#define PORTOLAN_WAIT_DEFAULT (-1) /* 60 s */
#define PORTOLAN_WAIT_FOREVER (-2)

/* Opens run `name` (1–255 bytes, no control characters) and waits until the collector has accepted it. Spool files that
 * earlier runs left in the spool directory are sent in the background, if they belong to the same store (or, if a file
 * names no store, to the same endpoint). Other files stay there, and a line on stderr says so. On success *run is the
 * caller's to portolan_close(). */
PORTOLAN_PUBLIC int portolan_open(const char *name, const struct portolan_options *options, portolan_run **run,
                                  struct portolan_error *error);

/* Element types of the arrays in a batch; in native byte order. */
enum portolan_type {
	PORTOLAN_F32 = 1,
	PORTOLAN_F64,
	PORTOLAN_I8,
	PORTOLAN_U8,
	PORTOLAN_I16,
	PORTOLAN_U16,
	PORTOLAN_I32,
	PORTOLAN_U32,
	PORTOLAN_I64,
	PORTOLAN_U64,
	PORTOLAN_F16,
	PORTOLAN_BF16, /* half precision: F16 is that of IEEE 754, BF16 is bfloat16 */
};

/* A strided view of memory. Row r, column c lies at data + r·row_stride + c·column_stride, in bytes; strides may be
 * negative; nothing need be aligned. */
struct portolan_array {
	const void *data;
	enum portolan_type type;
	ptrdiff_t row_stride, column_stride;
};

/* What the scores of a batch are. */
enum portolan_scores {
	PORTOLAN_LOGITS =
	        1, /* n × classes; classes = 1: the logit of class 1 against class 0 (sigmoid). −inf allowed off the gold label */
	PORTOLAN_PROBS = 2,      /* n × classes, each row sums to 1; classes = 1: the probability of class 1 */
	PORTOLAN_GOLD_PROBS = 3, /* n × 1: p(gold); `correct` must be given, `gold` may be */
	PORTOLAN_SIGNALS =
	        4, /* n × 6, F32, adjacent, derived already: p(gold), margin, Σ p² of the others, entropy, max p, predicted class */
	PORTOLAN_LOSSES = 5, /* n × 1: the loss of any task, finite; without `gold` and `correct` */
};

#define PORTOLAN_OWN_COLUMNS 16 /* how many struct portolan_column, by name, a run may have at most */

/* A column of the caller's own: one more number for each observation, n × F32 or F64, under a name that the caller
 * chooses. It is kept with the observations. The mean of an example's numbers over the epochs is a measure of that
 * name. */
struct portolan_column {
	const char *name; /* 1–32 characters: a–z, and after the first also 0–9 and _. Not the name of a column that
			   * the client derives. If a batch has a name twice, the later column counts */
	struct portolan_array values;
};

/* n observations of one epoch, in the general form. The calls below portolan_log() are shorthands. */
struct portolan_batch {
	uint32_t epoch;
	size_t n;
	size_t classes; /* columns of scores; 1 for PORTOLAN_GOLD_PROBS and PORTOLAN_LOSSES, 6 for PORTOLAN_SIGNALS */
	enum portolan_scores kind;
	struct portolan_array scores;  /* F16, BF16, F32 or F64 */
	struct portolan_array ids;     /* any integer type, values ≥ 0; data is NULL if string_ids is used */
	const char *const *string_ids; /* n strings, 1–255 bytes of UTF-8, no control characters; or NULL */
	const size_t *string_lengths;  /* their lengths in bytes; NULL: the strings end with NUL */
	struct portolan_array gold; /* any integer type, 0 … classes−1 (0 or 1 when classes = 1); NULL: not known */
	struct portolan_array correct;         /* U8: 0 or 1; for PORTOLAN_GOLD_PROBS only */
	const struct portolan_column *columns; /* column_count of the caller's own columns, or NULL */
	size_t column_count;
	const void *reserved[4]; /* all NULL; room for what later versions can be given */
};

/*
 * Logs n observations of one epoch. From logits the client derives, for each row, in one numerically stable pass: the
 * gold probability, correct (argmax = gold, ties to the lowest class), margin, Σ p² over the other classes, entropy,
 * the largest probability and the predicted class. From probabilities it derives all of these but the margin.
 *
 * A run records losses, or probabilities of labels: its first rows decide, and rows of the other kind are
 * PORTOLAN_E_INVALID. Measures that need a label do not exist for a run of losses.
 *
 * A wrong shape, type, id, label or name of a column fails the whole call (PORTOLAN_E_INVALID). A row is left out, and
 * counted as refused, if its scores have NaN, +inf, or −inf at the gold label, or are no probabilities where they
 * should be; or if one of the caller's own columns has a value that is not finite. A warning is then printed once. n
 * may be 0.
 */
PORTOLAN_PUBLIC int portolan_log(portolan_run *run, const struct portolan_batch *batch, struct portolan_error *error);

/* Shorthands of portolan_log() for contiguous row-major arrays and integer ids. */
PORTOLAN_PUBLIC int portolan_log_logits(portolan_run *run, uint32_t epoch, size_t n, size_t classes,
                                        const uint64_t *ids, const float *logits, const int32_t *gold,
                                        struct portolan_error *error);
PORTOLAN_PUBLIC int portolan_log_probs(portolan_run *run, uint32_t epoch, size_t n, size_t classes, const uint64_t *ids,
                                       const float *probs, const int32_t *gold, struct portolan_error *error);
PORTOLAN_PUBLIC int portolan_log_gold(portolan_run *run, uint32_t epoch, size_t n, const uint64_t *ids,
                                      const float *gold_probs, const uint8_t *correct, struct portolan_error *error);

PORTOLAN_PUBLIC int portolan_log_loss(portolan_run *run, uint32_t epoch, size_t n, const uint64_t *ids,
                                      const float *losses, struct portolan_error *error);

#define PORTOLAN_TEXT_FIELDS 8     /* of one call of portolan_log_examples() */
#define PORTOLAN_TEXTS_BYTES 61440 /* of all texts of an example in portolan_log_examples(), together */

/* One text for each example, under a name that the caller chooses: the same by which --text-field and --text of the
 * commands name it. */
struct portolan_text_field {
	const char *name;         /* 1–32 characters: A–Z, a–z, and after the first also 0–9 and _; not "id" */
	const char *const *texts; /* n texts of UTF-8 without null characters */
	const size_t *lengths;    /* their lengths in bytes; NULL: the texts end with NUL */
};

/* Texts of n examples. */
struct portolan_examples {
	size_t n;
	struct portolan_array ids; /* ids, string_ids and string_lengths: as in struct portolan_batch */
	const char *const *string_ids;
	const size_t *string_lengths;
	const struct portolan_text_field *fields;
	size_t field_count;      /* 1 … PORTOLAN_TEXT_FIELDS */
	const void *reserved[4]; /* all NULL; room for what later versions can be given */
};

/*
 * Keeps texts of examples in the store, with the run, so that commands which show examples need no --data. Without this
 * call no text leaves the program. Removing the run removes them; their bytes stay in the store's file until the collector
 * uses those pages again. An example may have texts before it is observed, and texts that are logged again replace those
 * of that example, all fields together.
 *
 * Waits, spools and is acknowledged as portolan_log(); PORTOLAN_DROP: texts that find no room are dropped, with a line on
 * stderr. An id, a name or a text that is not as it must be, or an example with more than PORTOLAN_TEXTS_BYTES, fails the
 * whole call (PORTOLAN_E_INVALID, and the message names the id). Where the run has more texts than the collector keeps
 * (portoland --max-texts), a line on stderr says so, and the others stay. A collector of an earlier version keeps none:
 * PORTOLAN_E_REFUSED if the run is strict, else a line on stderr. May be called from any thread.
 */
PORTOLAN_PUBLIC int portolan_log_examples(portolan_run *run, const struct portolan_examples *examples,
                                          struct portolan_error *error);

/* Says that this client has logged everything it will log of `epoch`. Waits only for room, as a log call does. If
 * there is no room, and when_full is PORTOLAN_DROP, nothing happens: the end of a later epoch, or of the run, says
 * the same. */
PORTOLAN_PUBLIC int portolan_end_epoch(portolan_run *run, uint32_t epoch, struct portolan_error *error);

/* Waits until everything that was logged before the call is on the collector's disk. PORTOLAN_E_TIMEOUT: not all of it
 * is there yet. PORTOLAN_E_ENDED, strict or not: it never will be; the message says why. */
PORTOLAN_PUBLIC int portolan_flush(portolan_run *run, int timeout_ms, struct portolan_error *error);

/* Flushes, ends the session, stops the thread, and frees the run, whatever the call returns. NULL is accepted.
 * PORTOLAN_E_TIMEOUT: some observations were not acknowledged and are in a spool file; the message says how many,
 * where, and how to import them. PORTOLAN_E_ENDED: the collector had ended the run; the message says why, and how many
 * observations are not recorded. A run for which no collector ever answered ends at once, with 0 and one line on
 * stderr. */
PORTOLAN_PUBLIC int portolan_close(portolan_run *run, int timeout_ms, struct portolan_error *error);

/* Counts of observations, unless another unit is named. */
struct portolan_stats {
	uint64_t logged;       /* accepted by the log calls */
	uint64_t acknowledged; /* of these, how many are on the collector's disk */
	uint64_t refused;      /* rows left out, here or by the collector */
	uint64_t replaced;    /* observations of this session that met another one of the same example and epoch, as far
			        * as the collector has counted */
	uint64_t dropped;     /* dropped because memory was full (PORTOLAN_DROP) or because the run had ended */
	uint64_t spooled;     /* written to a spool file */
	uint64_t bytes_sent;  /* bytes of frames sent, repeats included */
	uint64_t reconnects;  /* times the session was opened again */
	uint64_t waits;       /* calls that had to wait for room */
	uint64_t reserved[7]; /* 0; room for counts of later versions */
};

/* Copies to *stats what has been counted up to now. */
PORTOLAN_PUBLIC int portolan_get_stats(const portolan_run *run, struct portolan_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
