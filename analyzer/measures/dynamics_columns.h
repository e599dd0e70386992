/*
 * dynamics_columns.h: struct dynamics: the examples of a run as commands see them, with ids, labels, and measures
 * column by column; and how a column is found and filled. dynamics.h opens and loads one; scan.h makes one of each part
 * of a run.
 */
#ifndef DYNAMICS_COLUMNS_H
#define DYNAMICS_COLUMNS_H

#include "base/ids.h"
#include "measures.h"
#include "run_query.h"
#include "sums.h"
#include "trend.h"
#include "verdict/verdict.h"

/* The number of forgetting events that stands for "never learned", on which tools disagree. */
enum never_learned {
	NEVER_LEARNED_FLAG,   /* none: the events are 0, and the measure never_learned tells */
	NEVER_LEARNED_1000,   /* the tools of Dataset Cartography */
	NEVER_LEARNED_EPOCHS, /* the number of epochs read: the code of Toneva et al. 2019, which adds it for each run */
	NEVER_LEARNED_INFINITY, /* Toneva et al. 2019, section 3: unlearned examples are forgotten without end */
	NEVER_LEARNED_0,
	NEVER_LEARNED_CONVENTIONS
};
extern const char *const never_learned_names[]; /* ends with NULL */

struct dynamics_column {
	/* the measure's name, or the user's column's, with mean_ before it if a measure has the same name */
	char name[272];
	bool integer;    /* the values are whole numbers */
	bool sometimes;  /* may be empty (NaN) for an observed example */
	bool passing;    /* computed for others, and not asked for: it is never held */
	double *values;  /* by dense index; NULL: not held, see scan.h */
	int measure;     /* -1: a user's column */
	unsigned stored; /* of a user's: its number in the store */
};
#define DYNAMICS_CLASSES_MAX (STORE_COLUMN_MAX - STORE_COLUMN_USER)
#define DYNAMICS_COLUMNS_MAX (MEASURE_COUNT + STORE_COLUMN_MAX - STORE_COLUMN_USER)

/* Epochs of a run that are not read, as what they add to the sums of sums.h is known. */
struct dynamics_earlier {
	struct sums_kind kind;
	size_t from; /* the number, among the run's epochs, of the first that is read */
	void *context;
	/* Fills the sums of a block, chunk `chunk` of the run: what is known, and the epochs of `block`, which has those
	 * from `from` on. From any thread. */
	int (*sum)(void *context, size_t index, uint32_t chunk, const struct store_block *block,
	           struct block_sums *sums, struct portolan_error *error);
};

struct dynamics {
	struct store *store;
	bool store_borrowed; /* the store is that of another struct dynamics: see dynamics_load_beside() */
	struct store_snapshot *snapshot;
	const struct store_run_info *info;
	struct verdict verdict;
	const uint32_t *epochs; /* the epochs in the range that have observations; ascending */
	size_t epoch_count;
	double loss_threshold;                  /* see struct run_query */
	int never;                              /* likewise */
	size_t window;                          /* how many epochs one window of dyn_unc, dual and tdds has */
	unsigned classes[DYNAMICS_CLASSES_MAX]; /* for tdds: the numbers of the users' columns prob_0, prob_1, … */
	size_t class_count;                     /* 0: fewer than two; 1: classes[0] has the moves of measures_tdds.h */
	struct ids ids;
	/* the observed examples (dense indices) by ascending id; of a part: places in the part, by dense index */
	uint32_t *order;
	size_t count;   /* the number of observed examples */
	uint32_t first; /* of a part: the dense index of its first example */
	uint64_t place; /* of a part, where scan.h was asked for it: how many observed examples the run has before it */
	int32_t *gold;  /* by dense index; -1: not known. NULL when not asked for */
	struct dynamics_column columns[DYNAMICS_COLUMNS_MAX]; /* `epochs` is always there, maybe without values */
	size_t column_count;
	/* how forgetting_events counts examples that were never learned; FLAG when loaded */
	enum never_learned never_learned;
	/* the number of observed examples that miss at least one of the epochs */
	uint64_t gaps;
	struct trend_epoch *trend;     /* sums of each epoch, once read; NULL: not asked for */
	uint32_t epoch_from, epoch_to; /* the range asked for */
	bool range_given, with_gold, with_trend;
	bool range_chosen;                      /* the range was chosen by --epochs auto */
	unsigned threads;                       /* the number of threads to work with */
	uint64_t max_memory;                    /* see struct run_query */
	const struct dynamics_earlier *earlier; /* NULL: all epochs are read */
};

/* The column of a name or measure, or the measure's values. NULL: it was not asked for, or the run has no signals for
 * it, or too few epochs. */
const struct dynamics_column *dynamics_column(const struct dynamics *dynamics, const char *name);
struct dynamics_column *dynamics_measure_column(struct dynamics *dynamics, enum measure measure);
const double *dynamics_measure(const struct dynamics *dynamics, enum measure measure);

/* The mean over the epochs of what the run records: confidence, or task_loss. NULL as above. */
const double *dynamics_mean(const struct dynamics *dynamics);

/* The class name of example `index`, or NULL. */
const char *dynamics_label(const struct dynamics *dynamics, uint32_t index);

/* Is this the name of a column that every table has already? A column of the user's with such a name is called
 * mean_NAME. */
bool dynamics_is_reserved(const char *name);

/* Has the measure a number where what it asks for never came true (--never)? */
bool dynamics_fills_never(const struct dynamics *dynamics, int measure);

/* Computes the columns for the examples of a block, over its epochs. Column c is written from values[c] on; where
 * `values` is NULL, into its own array. */
void dynamics_fill(const struct dynamics *dynamics, const struct store_block *block, double *const *values);

/* The same from sums that the block's epochs were added to, for the examples `at` … at + rows − 1 of these. */
void dynamics_fill_from(const struct dynamics *dynamics, const struct block_sums *sums, uint32_t at, uint32_t rows);

/* The number of forgetting events that the convention gives an example that was never learned. NaN: its events stay as
 * they are, which is 0. */
double never_learned_number(enum never_learned convention, size_t epochs);

/* Gives each example that was never learned this number of forgetting events, in a run or a part of one that has both
 * columns. NaN changes nothing. */
void never_learned_mark(struct dynamics *part, double number);

/* Applies the convention to a run: as never_learned_mark() with the number that follows from its number of epochs. It
 * also notes the convention. Without both columns nothing changes. */
void never_learned_count(struct dynamics *dynamics, enum never_learned convention);

#endif
