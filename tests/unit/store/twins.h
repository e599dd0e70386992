/*
 * twins.h: for tests of folds: two runs of one store that get the same batches, so that what one fold wrote can be compared
 * with what another wrote.
 */
#ifndef TWINS_H
#define TWINS_H

#include "reader_process.h"

#include "fold.h"

#define TWINS_EXAMPLES (2 * STORE_CHUNK + 9000) /* 60 of them, drawn at random, lie in all three chunks */
#define TWINS_PLENTY ((size_t)256 << 20)

struct twins {
	struct fixture *fixture;
	uint32_t examples;
	size_t little; /* memory of the second run's folds */
	uint32_t run[2], session[2][2];
	uint32_t *shuffled; /* the examples */
	float *values[2];
	uint8_t *correct;
	int32_t *labels;
	uint64_t *ids;
};

/* Setups and teardown for cmocka; *state is the twins. `many`: so many examples that arrays of all chunks have huge pages. */
int twins_set_up(void **state);
int twins_set_up_many(void **state);
int twins_tear_down(void **state);

enum { WITH_MARGIN = 1, WITH_LABELS = 2 };

/* Logs examples first … end − 1 of the shuffled ones to both runs. */
void twins_log(struct twins *twins, uint32_t epoch, unsigned session, uint32_t first, uint32_t end, int with);
struct store_fold *twins_begin_fold(struct twins *twins, int which, uint32_t epoch, size_t memory);
/* Folds an epoch of one run to the end. */
void twins_fold(struct twins *twins, int which, uint32_t epoch, size_t memory);
/* The records of both runs are the same, but for the number of the run. */
void twins_assert_same(struct twins *twins, enum store_db db, size_t least);

#endif
