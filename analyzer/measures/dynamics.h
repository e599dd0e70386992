/*
 * dynamics.h: opens a run of the store, and reads the ids, labels and measures of its examples, for every command that
 * works with a run.
 *
 * All of it is read from one snapshot, so a run that is still being written gives a consistent answer. An example has a
 * dense index, its number in the run from 0, even if it was not observed in the range of epochs; but then it is in no
 * list.
 *
 * dynamics_load() holds every example in arrays of arrays.h, whatever their number. dynamics_open() holds none; scan.h
 * then brings the run part by part, each part being a struct dynamics as well.
 */
#ifndef DYNAMICS_H
#define DYNAMICS_H

#include "dynamics_columns.h"
#include "run_query.h"

struct dynamics_request {
	/* MEASURE_BIT()s; measures for which the run lacks signals or epochs are left out. The column `epochs` is there in
	 * any case, but in a loaded run it has values only if it was asked for. */
	uint32_t measures;
	bool gold;   /* gold labels, where known */
	bool user;   /* means of the users' own columns */
	bool losses; /* the caller knows what to do with a run of losses, which has no labels; else it is an error */
	bool trend;  /* the sums of trend.h, for dynamics_report_variability(), if variability is measured */
	uint64_t signals; /* a mask of the store's columns that the caller reads himself */
};

/* Opens a run and loads what the request names, to be released by dynamics_free(). A run without observations in the
 * range is an error, which names the epochs that have some. */
int dynamics_load(struct dynamics *dynamics, const struct run_query *query, const char *run,
                  const struct dynamics_request *request, struct portolan_error *error);
void dynamics_free(struct dynamics *dynamics);

/* Frees the columns, ids, gold labels and order before dynamics_free(); what describes the run stays. */
void dynamics_drop_values(struct dynamics *dynamics);

/* Ends the snapshot, and keeps the arrays: for callers that keep loaded dynamics for long. */
void dynamics_detach(struct dynamics *dynamics);

/* Opens a run without loading it: columns have names and no values; ids, gold, order, count, gaps and trend are empty.
 */
int dynamics_open(struct dynamics *dynamics, const struct run_query *query, const char *run,
                  const struct dynamics_request *request, struct portolan_error *error);

/* Loads the run that dynamics_open() opened; on failure frees it. */
int dynamics_hold(struct dynamics *dynamics, struct portolan_error *error);

/* Counts so many bytes more for each thread of an opened run, which may then have fewer threads. PORTOLAN_E_MEMORY: not
 * even one fits --max-memory; `what` is the option that needs them. */
int dynamics_take_memory(struct dynamics *dynamics, uint64_t bytes, const char *what, struct portolan_error *error);

/* Appends the ids of all examples of an opened run, observed or not. */
int dynamics_read_ids(const struct dynamics *dynamics, struct ids *ids, struct portolan_error *error);

/* Finds out whether the ids of an opened run ascend, by reading them without keeping them. `extent`, unless it is NULL,
 * gets the extent of string ids. */
int dynamics_look_at_ids(const struct dynamics *dynamics, bool *ascending, struct text_extent *extent,
                         struct portolan_error *error);

/* The error that the run lacks the signals or epochs for a measure. `option` (or NULL) is the option that asked for
 * it. */
int dynamics_no_measure(const struct dynamics *dynamics, const char *option, const char *measure,
                        struct portolan_error *error);

/* The error that the run records losses, and so has nothing that needs a label. */
int dynamics_needs_labels(const struct dynamics *dynamics, struct portolan_error *error);

/* The error that the run has no observations in the range; it names the epochs that have some. */
int dynamics_no_observations(const struct dynamics *dynamics, struct portolan_error *error);

/* For commands that read only chosen examples: warns of the findings of the run's verdict, and if the run is still
 * being recorded. Returns as dynamics_report() does. */
int dynamics_report_run(const struct dynamics *dynamics, bool strict);

/* Warns if the data read from a run are incomplete (still recording, examples or epochs missing), and of the findings
 * of its verdict; returns STATUS_INCOMPLETE under `strict` if anything was missing, else STATUS_DONE. */
int dynamics_report(const struct dynamics *dynamics, bool strict);

/* For commands that rank or draw by `measures`: if variability is one of them, warns when it is 0 for all examples, or
 * mostly the common trend (trend.h), unless the user chose the epochs; and says which epochs mend that. */
void dynamics_report_variability(const struct dynamics *dynamics, uint32_t measures);

/* As dynamics_load() and dynamics_open(), for a second run of the store that `first` has open (a process opens a store
 * once). `first` must be freed later than this one. */
int dynamics_load_beside(struct dynamics *dynamics, const struct dynamics *first, const struct run_query *query,
                         const char *run, const struct dynamics_request *request, struct portolan_error *error);

int dynamics_open_beside(struct dynamics *dynamics, const struct dynamics *first, const struct run_query *query,
                         const char *run, const struct dynamics_request *request, struct portolan_error *error);

#endif
