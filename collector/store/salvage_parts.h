/*
 * salvage_parts.h: the steps of a salvage, for the files that do them: salvage.c copies the records of a run,
 * salvage_mend.c makes the copy readable, salvage_read.c finds what it lacks, and salvage_again.c stores anew what a
 * run that lacks something still has.
 */
#ifndef STORE_SALVAGE_PARTS_H
#define STORE_SALVAGE_PARTS_H

#include "ids.h"
#include "merge.h"
#include "writer.h"

#define SALVAGE_COMMIT_BYTES ((size_t)32 << 20)

struct store_salvage_report;

/* A copy of a damaged run in the new store, which has no name yet. */
struct salvage_copy {
	struct store_writer *writer;
	uint32_t run, again; /* `again`: the run in which its observations are stored anew */
	const char *name;
	struct run_state_record state; /* as it was stored, or made anew */
	bool has_state;
	bool mended;         /* a session, or a record that every run has, was missing */
	bool may_miss;       /* records may be missing without a trace */
	bool bad_columns;    /* of the columns, records are missing, or may be */
	bool bad_ids;        /* of the ids, records are missing, or may be */
	uint64_t bad;        /* records that were found damaged */
	uint64_t bad_texts;  /* of these, texts of examples */
	uint64_t lost_texts; /* that are counted, and of which no record was found */
};

/* salvage_mend.c: before the copy is read */

/* Makes the run's state and sessions, where they are missing, from the records that are left, and counts the texts of
 * examples that are lost. */
int salvage_mend_run(struct salvage_copy *copy, struct portolan_error *error);

/* What is known of an epoch beside its record. `stored` and the numbers after it are counted by salvage_read(). */
struct salvage_epoch {
	bool known;        /* its record was there */
	bool gap;          /* entries of its log are missing */
	uint64_t log_rows; /* rows that the log should have; the entries that are left have record.log_rows */
	/* Observations: in columns; whole ones with known ids; those whose ids are lost. */
	uint64_t stored, observations, unnamed;
	uint64_t chunks; /* that lack something */
};

/* The epochs of which anything is left. `stored` has their records, or records made from the log. */
struct salvage_epochs {
	struct catalog_epoch *stored;
	struct salvage_epoch *notes;
	size_t count;
};

/* Removes entries of the log that do not fit the run, and lists the epochs; both lists are the caller's to free(), also
 * after a failure. */
int salvage_mend_epochs(struct salvage_copy *copy, struct salvage_epochs *epochs, struct portolan_error *error);

/* salvage_read.c */

/* Reads the copy, and counts what it has and lacks; removes what is incomplete. With `again`: stores its observations
 * in another run, `copy->again`. */
int salvage_read(struct salvage_copy *copy, bool again, struct store_salvage_report *report,
                 struct portolan_error *error);

/* The ids of a chunk, as far as they are known. */
struct salvage_ids {
	enum store_id_kind kind;
	uint64_t known[STORE_CHUNK_WORDS];
	uint64_t integers[STORE_CHUNK];
	const uint8_t *strings[STORE_CHUNK]; /* their text in the store */
	uint8_t sizes[STORE_CHUNK];
};

/* salvage_again.c: stores observations anew */

struct salvage_again;

int salvage_again_begin(struct salvage_copy *copy, struct salvage_again **again, struct portolan_error *error);
/* Stores the observations of a chunk whose ids are known; `examples` has their labels. */
int salvage_again_put(struct salvage_again *again, uint32_t epoch, const struct merge_chunk *image,
                      const struct merge_chunk *examples, const struct salvage_ids *ids, struct portolan_error *error);
/* `left`: what the run lacks; its counters say so from now on. */
int salvage_again_finish(struct salvage_again *again, const struct store_left *left, struct portolan_error *error);
void salvage_again_free(struct salvage_again *again); /* NULL accepted */

#endif
