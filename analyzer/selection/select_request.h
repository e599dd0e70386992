/* select_request.h: what the user asks `portolan select` for: the values of all its options, for the files
 * select_*.c. */
#ifndef SELECT_REQUEST_H
#define SELECT_REQUEST_H

#include "base/number.h"
#include "measures/aggregate.h"
#include "options/options.h"
#include "pool.h"
#include "output/table.h"
#include "selection_plan.h"

#define SELECT_FRACTIONS_MAX 32
#define SELECT_TEXTS_MAX 16

enum select_sizes { SIZES_ROUNDED, SIZES_PUBLISHED };

/* The outputs that are no table of enum table_format: an id a line, and the lines of the user's own file. */
enum { SELECT_IDS = TABLE_NPY + 1, SELECT_LINES };

struct select_request {
	struct common_options common;
	struct selection_plan plan;
	uint64_t seed;
	const char *rule; /* the text of the rule; NULL: not given yet */
	const char *mix_rules[SELECTION_MIXES_MAX];
	bool for_people; /* the output is a terminal, which gets measures in aligned columns */
	bool has_threshold, has_cuts, with_measures, without_manifest, per_class, stratified;
	double threshold;
	uint64_t strata; /* 0: not asked for */
	uint64_t clusters, starts;
	const char *source_field, *source_file; /* of --sources; file NULL: that of --data */
	double cut, beta_c;
	struct region_cuts cuts;
	size_t fraction_count; /* the number of --fractions; each then gets a file */
	double fractions[SELECT_FRACTIONS_MAX];
	char fraction_names[SELECT_FRACTIONS_MAX][NUMBER_ROOM]; /* the fractions as the files' names have them */
	/* the paths to be written; NULL: standard output. See select_claim_files() */
	char *files[SELECT_FRACTIONS_MAX];
	size_t file_count;
	struct pool_list lists[POOL_LISTS_MAX];
	size_t list_count;
	const char *within_file;
	struct within *within; /* the selection that the file holds */
	const char *features, *feature_ids;
	/* enum table_format, or SELECT_…. Before select_check(): the index among the choices of --format, or −1: not
	 * given */
	int format;
	int sizes;                   /* enum select_sizes */
	int never_learned;           /* enum never_learned; -1: not given */
	const char *join, *id_field; /* NULL: no join */
	bool glue;                   /* the joined file is read as files/glue.h says */
	bool why, without_suspects;
	bool any_run;                        /* examples that any of the runs has, in place of those that all have */
	const char *texts[SELECT_TEXTS_MAX]; /* the fields of the joined file whose texts --why compares */
	size_t text_count;
	const char *corrections, *label_field;
	struct select_labels *labels;   /* what is known of wrong labels; see select_labels.h */
	char *runs[AGGREGATE_RUNS_MAX]; /* the runs: the operand, once all options are read, and those of --with */
	size_t run_count;
};

#endif
