/*
 * aggregate.h: combines several runs of one store, matched by id, into one, for `portolan select --with` and `portolan
 * compare`. The result has the mean of each measure, and can be ranked, printed or selected from like any run.
 *
 *     struct aggregate_report report;
 *     dynamics_load_aggregate(&dynamics, &common, runs, count, &request, &report, &error)
 *     … dynamics as from dynamics_load() …
 *     status = aggregate_report_gaps(&report, strict); dynamics_free(&dynamics);
 */
#ifndef AGGREGATE_H
#define AGGREGATE_H

#include "dynamics.h"

#define AGGREGATE_RUNS_MAX 64

struct aggregate_report {
	size_t runs;
	struct {
		char name[256];
		uint64_t examples; /* observed */
		uint64_t gaps;     /* of these, examples that lack some of the run's epochs */
		bool recording;
		struct verdict verdict;
	} run[AGGREGATE_RUNS_MAX];
	uint64_t shared;       /* examples that all runs have */
	uint64_t other_labels; /* gold labels that differ from those of the first run, which stay */
};

/* Checks that two runs can be put side by side. PORTOLAN_E_INVALID: the ids of one are integers and those of the other
 * strings, or one records losses and the other probabilities of labels. */
int dynamics_check_alike(const struct dynamics *a, const struct dynamics *b, struct portolan_error *error);

/* Lists the examples observed in both runs, by ascending id, as their dense indices in each run. rows_a and rows_b have
 * room for the smaller of the two counts. rows_a may be a->order, which is then cut down (the caller sets a->count).
 * Returns how many there are. */
size_t dynamics_match(const struct dynamics *a, const struct dynamics *b, uint32_t *rows_a, uint32_t *rows_b);

enum aggregate_how {
	AGGREGATE_SHARED,    /* of the examples that all runs have, means */
	AGGREGATE_ANY,       /* of the examples that any run has, means over those that have it */
	AGGREGATE_DIFFERENCE /* of the examples that both runs have, the first run's measures less the other's */
};

/*
 * Loads 1 … AGGREGATE_RUNS_MAX different runs, one after another (memory: that of two), over the examples that all of
 * them have, or as `how` says. Ids, dense indices, labels and epochs are the first run's. Only columns that all runs have are kept. Of
 * these, epochs and forgetting_events are summed; a run that never learned an example adds the number that stands for
 * "never learned" (with EPOCHS as in the code of Toneva et al. 2019). never_learned is 1 if no run learned the example.
 * All other columns are means over the runs that have the example, empty if they are empty in any of these. PORTOLAN_E_INVALID: a run has no
 * observations in the range, or ids of another kind, or no example is in all runs.
 * Examples that only further runs have stand after the first run's, so with AGGREGATE_ANY only the ids, labels and columns may
 * be read, and no block of the store.
 */
int dynamics_load_aggregate(struct dynamics *dynamics, const struct run_query *query, char *const *runs, size_t count,
                            const struct dynamics_request *request, enum never_learned never_learned,
                            enum aggregate_how how, struct aggregate_report *report, struct portolan_error *error);

/* Loads a run less query->minus, which is another: as above, and a difference of counts is a real number, empty where
 * either run's measure is, and 0 where both are the same infinity. Only `epochs` stays the first run's. */
int dynamics_load_minus(struct dynamics *dynamics, const struct run_query *query, const char *run,
                        const struct dynamics_request *request, enum never_learned never_learned,
                        struct aggregate_report *report, struct portolan_error *error);

/* Adds a run to a report, which begins as {0}, for callers that match runs themselves. `shared` is UINT64_MAX if it is
 * not to be reported. */
void aggregate_note_run(struct aggregate_report *report, const struct dynamics *run);

/* Takes the place of dynamics_report() for several runs: warns of what is incomplete in each. Returns STATUS_INCOMPLETE
 * under `strict` if anything is, else STATUS_DONE. */
int aggregate_report_gaps(const struct aggregate_report *report, bool strict);

#endif
