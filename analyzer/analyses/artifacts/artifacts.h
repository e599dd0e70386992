/* artifacts.h: portolan artifacts: what it was asked for, and what came of it. */
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
	/* and then */
	struct corpus corpus;
	struct token_counts counts;
	struct ranking ranking;
	size_t rows;                                 /* of the ranking, that the table has */
	int format, by_epoch_format, summary_format; /* enum table_format */
	uint64_t missing;                            /* tokens of --statistics that stand in no record */
	char side_names[MEASURE_COUNT][SIDES][40];   /* of the table's columns */
	struct dynamics dynamics;                    /* of the run, as the sides below */
	struct sides sides;
	struct join_oddities oddities;  /* of DATA, read with --glue */
	struct dynamics after_dynamics; /* of --after */
	struct sides after_sides;
};

/* Adds the columns that --run adds to the table: at most so many. `accuracies` has room for SIDES of each token. */
#define ARTIFACTS_SIDES_COLUMNS (4 + SIDES * MEASURE_COUNT)
void artifacts_sides_columns(struct artifacts *artifacts, struct table_column *columns, size_t *count,
                             double *accuracies);

/* Loads the run, looks for the records of the tokens in it, and writes what --by-epoch and --plot-epochs ask for. A
 * status, or an error; artifacts_sides_free() then. */
int artifacts_sides_make(struct artifacts *artifacts, struct portolan_error *error);
int artifacts_sides_finish(const struct artifacts *artifacts, struct portolan_error *error);
void artifacts_sides_free(struct artifacts *artifacts);

/* The table that --summary asked for. */
int artifacts_summary_write(const struct artifacts *artifacts, struct portolan_error *error);

#endif
