/*
 * store_fixture.h: a store in a temporary directory, filled from plain arrays. For tests of whatever reads a store.
 *
 *     struct fixture *fixture = fixture_new();
 *     uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
 *     fixture_log(fixture, run, &(struct fixture_batch){.epoch = 0, .n = 3, .ids = ids, .gold_prob = p, .correct = c});
 *     fixture_end(fixture, run);
 *     store_snapshot_open(fixture_store(fixture), "run", …);
 *     fixture_free(fixture);
 *
 * LMDB must not be opened twice in a process, so writer and store are open by turns: fixture_store() commits and closes
 * the writer, a logging call closes the store (snapshots of it must be closed by then). Whatever fails ends the
 * program with a message.
 */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "write.h"

struct fixture;

struct fixture *fixture_new(void);
void fixture_free(struct fixture *fixture); /* removes the directory */

const char *fixture_directory(const struct fixture *fixture);
struct store_writer *fixture_writer(struct fixture *fixture);
struct store *fixture_store(struct fixture *fixture);
void fixture_close(struct fixture *fixture); /* commits, and closes both */

/* A run and a session for it; `declared` 0: ids get a dictionary. */
uint32_t fixture_run(struct fixture *fixture, const char *name, uint64_t declared, const char *const *labels,
                     size_t label_count);
/* Another session for the run, which is used from now on. */
uint32_t fixture_session(struct fixture *fixture, uint32_t run, uint64_t started, uint32_t rank);
/* Which session logs from now on. */
void fixture_use(struct fixture *fixture, uint32_t run, uint32_t session);

struct fixture_column { /* a float column: a built-in name or a user's */
	const char *name;
	const float *values;
};

struct fixture_batch {
	uint32_t epoch, n;
	const uint64_t *ids; /* NULL and no strings: 0 … n−1 */
	const char *const *strings;
	const float *gold_prob;
	const uint8_t *correct;          /* 0 or 1; NULL: gold_prob > 0.5 */
	const int32_t *gold, *predicted; /* may be NULL */
	struct fixture_column floats[8]; /* up to the first without a name */
};

/* Answers how many rows were refused. */
uint32_t fixture_log(struct fixture *fixture, uint32_t run, const struct fixture_batch *batch);

/* Logs texts of the examples first … first+n−1, in the field "text". */
void fixture_texts(struct fixture *fixture, uint32_t run, uint64_t first, uint32_t n, const char *text);

/* Closes the store, and changes a bit of one of the first five bytes of the key under which an example's texts are: in
 * the number of the run, or (byte 4) in the part of the run. */
void fixture_flip_text_key(struct fixture *fixture, uint32_t run, uint64_t id, size_t byte);

void fixture_fold(struct fixture *fixture, uint32_t run, uint32_t epoch);
void fixture_collect(struct fixture *fixture); /* removes and commits all that folds and removed runs left behind */
void fixture_end(struct fixture *fixture, uint32_t run);          /* folds every epoch; closes session and run */
void fixture_end_unfolded(struct fixture *fixture, uint32_t run); /* closes them, and folds nothing */

#endif
