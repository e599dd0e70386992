/*
 * ingest_fixture.h: an ingest on a real store in a directory of its own, with a clock and a peer that the test moves,
 * and a store whose commits can be made to fail.
 */
#ifndef TESTS_INGEST_FIXTURE_H
#define TESTS_INGEST_FIXTURE_H

#include "ingest.h"

#define FIXTURE_REPLIES 2048

struct fixture_reply {
	enum wire_kind kind;
	uint8_t session, peer; /* the first byte of each id */
	uint64_t acknowledged, credit, replaced, refused;
	enum wire_id_kind id_kind;
	enum wire_error_code code;
	uint64_t sequence;
	char message[256];
};

struct fixture {
	char directory[64];
	struct store_writer *writer;
	struct ingest ingest;
	int64_t now;
	float slope;                                   /* of gold_prob in ids, so that they do not all have one value */
	const int32_t *labels;                         /* of the rows of coming batches; NULL: they have none */
	size_t max_memory;                             /* the collector's, from the next start on */
	const struct limits *limits;                   /* of the key that coming frames are sent with; NULL: none */
	struct fixture_reply replies[FIXTURE_REPLIES]; /* since fixture_forget() */
	size_t reply_count;
	char trouble[512]; /* the last line, empty: none */
	unsigned troubles;
};

/* Setup and teardown for cmocka; *state is the fixture. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* As if the collector had been killed, and started again: what was not committed is gone. */
void fixture_restart(struct fixture *fixture);

/* Makes this many coming commits fail as a full disk would. */
void fixture_fail_commits(unsigned count);

/* Makes this many coming attempts to remove old records find damage. */
void fixture_fail_collecting(unsigned count);

/* One frame each, from peer `session`, as a sender with fixture->limits. Nothing is committed. */
void fixture_open(struct fixture *fixture, uint8_t session, const char *run, const struct wire_open *more);
/* Rows with ids first … first+rows−1, gold_prob p and correct. */
void fixture_batch(struct fixture *fixture, uint8_t session, uint64_t sequence, uint32_t epoch, uint64_t first,
                   uint32_t rows, float gold_prob, bool correct);
void fixture_text_batch(struct fixture *fixture, uint8_t session, uint64_t sequence, const char *id);
/* Texts of one field, "text", of the examples first … first+rows−1. */
void fixture_examples(struct fixture *fixture, uint8_t session, uint64_t sequence, uint64_t first, uint32_t rows,
                      const char *text);
/* … of that field. `again`: all rows are of the example `first`. */
void fixture_examples_of(struct fixture *fixture, uint8_t session, uint64_t sequence, uint64_t first, uint32_t rows,
                         const char *field, const char *text, bool again);
void fixture_end(struct fixture *fixture, uint8_t session, uint64_t sequence, uint32_t epoch);
void fixture_close(struct fixture *fixture, uint8_t session, uint64_t sequence);
void fixture_ping(struct fixture *fixture, uint8_t session);
/* A ping with counts, or (sequence > 0) a close. */
void fixture_tell(struct fixture *fixture, uint8_t session, uint64_t sequence, const struct wire_counts *counts);
void fixture_remove(struct fixture *fixture, const char *run, bool trusted);

void fixture_commit(struct fixture *fixture);
/* Lets time pass, with a tick each second, and commits. */
void fixture_wait(struct fixture *fixture, int64_t ms);
/* Folds until there is nothing to do. */
void fixture_work(struct fixture *fixture);

void fixture_forget(struct fixture *fixture);
/* The last reply to this session; fails if there is none, or it is of another kind. */
const struct fixture_reply *fixture_last(struct fixture *fixture, uint8_t session, enum wire_kind kind);

/* How many of the replies to this session are this error. */
unsigned fixture_errors(const struct fixture *fixture, uint8_t session, enum wire_error_code code);

bool fixture_has_run(struct fixture *fixture, const char *run);
/* What the store says; fails if it does not know. */
struct store_run_info fixture_run(struct fixture *fixture, const char *run);
/* Rows of `epoch` in the log, and those folded. */
struct store_log_epoch fixture_log(struct fixture *fixture, const char *run, uint32_t epoch);

/* Reads the store from another process, while the writer has it open here: LMDB opens a store once per process. Returns 0,
 * or a code with `error`, which fails the test. */
typedef int fixture_reader(struct store *store, const char *run, void *data, struct portolan_error *error);
/* Lets `read` change the `size` bytes of `data`; what these point to is the other process's. */
void fixture_read(const struct fixture *fixture, const char *run, fixture_reader *read, void *data, size_t size);

/* As a reader sees them; run 0: of the store. *client may be NULL; it is that of the run's first session. */
struct store_counters fixture_counters(struct fixture *fixture, uint32_t run, struct store_client *client);

/* As a reader sees it: gold_prob of integer id `id` at `epoch`, < 0: not there. */
float fixture_gold_prob(struct fixture *fixture, const char *run, uint64_t id, uint32_t epoch);

#endif
