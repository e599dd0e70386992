/* artifacts.h: the request of portolan artifacts, and its results. */
#ifndef ARTIFACTS_H
#define ARTIFACTS_H

#include "corpus_options.h"
#include "files/join.h"
#include "output/table.h"
#include "plot/picture.h"
#include "sides.h"

struct artifacts {
	struct corpus_options corpus_options;
	const char *plot, *run, *by_epoch, *plot_epochs, *statistics, *summary, *after;
	struct picture picture, epochs_picture;
	/* the results */
	struct corpus corpus;
	struct token_counts counts;
	struct ranking ranking;
	size_t rows;                                 /* how many of the ranking's tokens the table has */
	int format, by_epoch_format, summary_format; /* enum table_format */
	uint64_t missing;                            /* the number of tokens of --statistics that stand in no record */
	char side_names[MEASURE_COUNT][SIDES][40];   /* names of the table's columns */
	struct dynamics dynamics;                    /* the run's dynamics */
	struct sides sides;
	struct join_oddities oddities;  /* what was odd in DATA, with --glue */
	struct dynamics after_dynamics; /* the dynamics and the sides of --after's run */
	struct sides after_sides;
};

/* Adds the columns that --run adds to the table: at most so many. `accuracies` has room for SIDES of each token. */
#define ARTIFACTS_SIDES_COLUMNS (4 + SIDES * MEASURE_COUNT)
void artifacts_sides_columns(struct artifacts *artifacts, struct table_column *columns, size_t *count,
                             double *accuracies);

/* Loads the run, finds in it the records that hold the tokens, and writes the outputs of --by-epoch and --plot-epochs.
 * Returns an exit status, or an error. Call artifacts_sides_free() in either case. */
int artifacts_sides_make(struct artifacts *artifacts, struct portolan_error *error);
int artifacts_sides_finish(const struct artifacts *artifacts, struct portolan_error *error);
void artifacts_sides_free(struct artifacts *artifacts);

/* Writes the table that --summary asks for. */
int artifacts_summary_write(const struct artifacts *artifacts, struct portolan_error *error);

#endif
