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

/* The predictions of a session. */
struct completeness_classes {
	uint64_t rows;
	int32_t predicted; /* the highest class */
	float entropy;     /* the largest, in nats */
};

struct completeness {
	struct store_run_info info;        /* damaged: name and number at least */
	uint64_t expected;                 /* examples */
	struct completeness_epoch *epochs; /* with observations, ascending */
	size_t epoch_count;
	uint64_t skipped_epochs; /* between the first and the last, with no observation at all */
	uint64_t missing;        /* observations, over all epochs that are not open; skipped ones not counted */
	struct store_counters counters;
	struct store_session *sessions;
	size_t session_count;
	uint64_t live, closed, lost; /* sessions; lost: neither live nor closed */
	struct store_client clients; /* sums over the sessions that sent counts; `told` is their number */
	uint64_t not_arrived;        /* observations in the counts of ended sessions that the store never got */
	uint64_t records;            /* verified */
	char **damage;               /* one line for each damaged record, the first COMPLETENESS_LINES of them */
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

/* Sums the counts that sessions sent, and counts how they ended. */
void completeness_sum_sessions(struct completeness *result);

#endif
