/*
 * completeness.h: checks whether a run has all its observations, and whether the store holds them as they were written.
 * For `portolan check`; `runs`, `watch` and `serve` use its sums over sessions.
 *
 * An observation is what was recorded of one example in one epoch. An example is expected in every epoch that has
 * observations. The expected examples are the declared ones, or, where none were declared, all that were ever seen. An
 * epoch is open while a live session has not ended it. It is interrupted if it holds observations of a session that
 * ended neither it nor itself. Else it is ended.
 */
#ifndef COMPLETENESS_H
#define COMPLETENESS_H

#include "verdict.h"

enum epoch_state { EPOCH_ENDED, EPOCH_OPEN, EPOCH_INTERRUPTED };

struct completeness_epoch {
	struct store_epoch stored;
	enum epoch_state state;
	uint64_t observed, missing; /* examples */
};

/* What the predictions of a session tell about its number of classes. */
struct completeness_classes {
	uint64_t rows;
	int32_t predicted; /* the highest class */
	float entropy;     /* the largest, in nats */
};

struct completeness {
	struct store_run_info info;        /* of a damaged run, name and number at least */
	uint64_t expected;                 /* examples */
	struct completeness_epoch *epochs; /* the epochs that have observations, ascending */
	size_t epoch_count;
	uint64_t skipped_epochs; /* epochs between the first and the last without any observation */
	/* observations that are missing in all epochs that are not open; skipped epochs do not count */
	uint64_t missing;
	struct store_counters counters;
	struct store_session *sessions;
	size_t session_count;
	uint64_t live, closed, lost; /* numbers of sessions; lost: neither live nor closed */
	/* sums of the counts that clients sent; `told` is the number of sessions whose clients did */
	struct store_client clients;
	/* observations that the counts of ended sessions have, and that the store never got */
	uint64_t not_arrived;
	uint64_t records; /* the number of records that were verified */
	char **damage;    /* one line for each damaged record, the first COMPLETENESS_LINES of them */
	uint64_t damaged;
	struct completeness_classes *classes; /* by session */
	struct verdict verdict;
	struct findings findings; /* each way in which the run is incomplete */
};
#define COMPLETENESS_LINES 100

/* Checks one run; progress bars on a terminal. Every fault of the run is in the result; an error means that the run
 * could not be checked. On success the result is the caller's to completeness_free(). */
int completeness_check(struct store *store, uint32_t run, const char *name, struct completeness *result,
                       struct portolan_error *error);
void completeness_free(struct completeness *result);

/* Sums up the sessions in `result`: the counts that their clients sent, and how many of them are live, closed or
 * lost. */
void completeness_sum_sessions(struct completeness *result);

#endif
