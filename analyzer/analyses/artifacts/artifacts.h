/* artifacts.h: what the user asked of `portolan artifacts`, and what it found, for the files that add to its table or
 * write its other outputs. */
#ifndef ARTIFACTS_H
#define ARTIFACTS_H

#include "corpus_options.h"
#include "files/join.h"
#include "output/table.h"
#include "plot/picture.h"
#include "ppmi.h"
#include "sides.h"
#include "token_errors.h"

struct artifacts {
	struct corpus_options corpus_options;
	const char *plot, *run, *by_epoch, *plot_epochs, *statistics, *summary, *after, *errors, *max_ppmi;
	struct picture picture, epochs_picture;
	/* the results */
	struct corpus corpus;
	struct token_counts counts;
	struct ranking ranking;
	size_t rows; /* how many of the ranking's tokens the table has */
	int format, by_epoch_format, summary_format, errors_format, max_ppmi_format; /* enum table_format */
	uint64_t missing;                          /* the number of tokens of --statistics that stand in no record */
	char side_names[MEASURE_COUNT][SIDES][40]; /* names of the table's columns that --run adds */
	struct dynamics dynamics;                  /* the run's dynamics */
	struct sides sides;
	struct join_oddities oddities;  /* with --glue: what was odd in DATA */
	struct dynamics after_dynamics; /* the dynamics of the run of --after */
	struct sides after_sides;       /* the sides of a token in that run */
	struct token_errors error_list; /* of --errors */
};

/* How many records that hold a token were observed, and the accuracy on them: by side, the last of both together. */
struct token_answers {
	uint64_t n[SIDES + 1];
	double accuracy[SIDES + 1];
};

/* Loads the run, and finds in it the records that hold the tokens. Call artifacts_sides_free() in the end. */
void artifacts_sides_make(struct artifacts *artifacts);
void artifacts_sides_free(struct artifacts *artifacts);

/* Adds to the table the columns of --run, at most ARTIFACTS_SIDES_COLUMNS. `answers` has room for
 * those of each token, for each run. */
#define ARTIFACTS_RUNS 2
#define ARTIFACTS_SIDES_COLUMNS (ARTIFACTS_RUNS * 2 * (SIDES + 1) + SIDES * MEASURE_COUNT)
void artifacts_sides_columns(struct artifacts *artifacts, struct table_column *columns, size_t *count,
                             struct token_answers *answers);

/* Warns of what is odd in the runs and the records. Returns an exit status. */
int artifacts_sides_report(const struct artifacts *artifacts);

/* The output of --max-ppmi. */
void artifacts_write_max_ppmi(const struct artifacts *artifacts);

/* The outputs beside the table, of --plot, --plot-epochs, --by-epoch, --summary and --errors. */
void artifacts_draw(const struct artifacts *artifacts);
void artifacts_draw_epochs(const struct artifacts *artifacts);
void artifacts_write_by_epoch(const struct artifacts *artifacts);
void artifacts_write_summary(const struct artifacts *artifacts);
void artifacts_write_errors(const struct artifacts *artifacts);

#endif
