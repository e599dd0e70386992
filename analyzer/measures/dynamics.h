/*
 * dynamics.h: a run's training dynamics: ids, labels and measures of every example, or of a part of them.
 *
 * All of it is read from one snapshot, so a run that is still being written gives a consistent answer. Examples not
 * observed in the range of epochs have a dense index, but are in no list.
 *
 * dynamics_load() holds every example in arrays.h's arrays, whatever their number. dynamics_open() holds none; scan.h
 * then brings them part by part, each part being a struct dynamics as well.
 */
#ifndef DYNAMICS_H
#define DYNAMICS_H

#include "base/ids.h"
#include "measures.h"
#include "never_learned.h"
#include "run_query.h"
#include "verdict/verdict.h"

struct dynamics_column {
	char name[272];  /* of a measure, or of a user's column, with mean_ before it if a measure has the same name */
	bool integer;    /* whole numbers */
	bool sometimes;  /* may be empty (NaN) for an observed example */
	double *values;  /* by dense index; NULL: not held, see scan.h */
	int measure;     /* -1: a user's column */
	unsigned stored; /* of a user's: its number in the store */
};
#define DYNAMICS_CLASSES_MAX (STORE_COLUMN_MAX - STORE_COLUMN_USER)
#define DYNAMICS_COLUMNS_MAX (MEASURE_COUNT + STORE_COLUMN_MAX - STORE_COLUMN_USER)

struct dynamics_request {
	uint32_t measures; /* MEASURE_BIT()s; measures for which the run lacks signals or epochs are left out */
	bool gold;         /* gold labels, where known */
	bool user;         /* means of the users' own columns */
	uint64_t signals;  /* columns of the store that the caller reads himself: a mask */
};

struct dynamics {
	struct store *store;
	bool store_borrowed; /* another's: see dynamics_load_beside() */
	struct store_snapshot *snapshot;
	const struct store_run_info *info;
	struct verdict verdict;
	const uint32_t *epochs; /* with observations, in the range; ascending */
	size_t epoch_count;
	size_t window;                          /* epochs of one, of dyn_unc, dual and tdds */
	unsigned classes[DYNAMICS_CLASSES_MAX]; /* of tdds: the users' columns prob_0, prob_1, …, by their numbers */
	size_t class_count;                     /* 0: there are not two at least */
	struct ids ids;
	uint32_t *order; /* observed examples (dense indices) by ascending id; a part's: places in it, by dense index */
	size_t count;    /* observed examples */
	uint32_t first;  /* of a part: the dense index of its first example */
	uint64_t place; /* of a part, where scan.h was asked for it: how many observed examples the run has before it */
	int32_t *gold;  /* by dense index; -1: not known. NULL when not asked for */
	struct dynamics_column columns[DYNAMICS_COLUMNS_MAX]; /* `epochs` is always there */
	size_t column_count;
	enum never_learned never_learned;        /* how forgetting_events counts them; FLAG as loaded */
	uint64_t gaps;                           /* examples that miss at least one of the epochs */
	struct measures_first_epoch first_epoch; /* filled when variability was asked for */
	uint32_t epoch_from, epoch_to;           /* the range asked for */
	bool range_given, with_gold;
	bool range_chosen; /* by dynamics_choose_epochs() */
	unsigned threads;  /* to work with */
};

/* The dynamics own everything until dynamics_free(). A run without observations in the range is an error, which names
 * the epochs that have some. */
int dynamics_load(struct dynamics *dynamics, const struct run_query *query, const char *run,
                  const struct dynamics_request *request, struct portolan_error *error);
void dynamics_free(struct dynamics *dynamics);

/* Ends the snapshot, and keeps the arrays: for callers that keep loaded dynamics for long. */
void dynamics_detach(struct dynamics *dynamics);

/* Only opens the run: columns have names and no values; ids, gold, order, count, gaps and first_epoch are empty. */
int dynamics_open(struct dynamics *dynamics, const struct run_query *query, const char *run,
                  const struct dynamics_request *request, struct portolan_error *error);

/* Loads a run that dynamics_open() opened; on failure frees it. */
int dynamics_hold(struct dynamics *dynamics, struct portolan_error *error);

/* Appends the ids of all examples of an opened run, observed or not. */
int dynamics_read_ids(const struct dynamics *dynamics, struct ids *ids, struct portolan_error *error);

/* Reads all ids without keeping them, to find out whether they ascend. `extent`, unless it is NULL, gets the extent of
 * string ids. */
int dynamics_look_at_ids(const struct dynamics *dynamics, bool *ascending, struct text_extent *extent,
                         struct portolan_error *error);

/* The error for the measure `name`, for which the run lacks signals or epochs. `option` (or NULL) asked for it. */
int dynamics_no_measure(const struct dynamics *dynamics, const char *option, const char *measure,
                        struct portolan_error *error);

/* The error for a run without observations in the range; it names the epochs that have some. */
int dynamics_no_observations(const struct dynamics *dynamics, struct portolan_error *error);

/* Warns of the findings of the run's verdict, and if the run is still being recorded; returns as dynamics_report(). For
 * commands that read only chosen examples. */
int dynamics_report_run(const struct dynamics *dynamics, bool strict);

/* Warns if the data read from a run are incomplete (still recording, examples or epochs missing), and of the findings
 * of its verdict; returns STATUS_INCOMPLETE under `strict` if anything was missing, else STATUS_DONE. */
int dynamics_report(const struct dynamics *dynamics, bool strict);

/* If variability is one of the measures to rank or draw by: warns when it is 0 for all examples, or mostly shows the
 * first epoch, unless the user chose the epochs. */
void dynamics_report_variability(const struct dynamics *dynamics, uint32_t measures);

/* As dynamics_load() and dynamics_open(), from the store that `first` has open (a process opens a store once), which
 * must be freed later than this. */
int dynamics_load_beside(struct dynamics *dynamics, const struct dynamics *first, const struct run_query *query,
                         const char *run, const struct dynamics_request *request, struct portolan_error *error);

int dynamics_open_beside(struct dynamics *dynamics, const struct dynamics *first, const struct run_query *query,
                         const char *run, const struct dynamics_request *request, struct portolan_error *error);

/* Warns which columns of the user's have mean_ before their names, where these, or the measures that have the names, are
 * among the columns. */
void dynamics_note_renamed(const struct dynamics *dynamics);

/* For --epochs auto: sets query->epoch_from behind the leading epochs of the run, of the store that `dynamics` has
 * open, which dominate its variance, and says so on stderr. Reads the run once, and once more for each epoch that is
 * left out. */
int dynamics_choose_epochs(const struct dynamics *dynamics, struct run_query *query, const char *run,
                           struct portolan_error *error);

/* NULL: not asked for, or the run has no signals for it, or too few epochs. */
const struct dynamics_column *dynamics_column(const struct dynamics *dynamics, const char *name);
struct dynamics_column *dynamics_measure_column(struct dynamics *dynamics, enum measure measure);
const double *dynamics_measure(const struct dynamics *dynamics, enum measure measure);

/* The class name of example `index`, or NULL. */
const char *dynamics_label(const struct dynamics *dynamics, uint32_t index);

#endif
