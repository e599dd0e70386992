/* corpus_options.h: the options that `portolan artifacts` and `portolan upsample` share: which file of labelled texts
 * they read, which of its fields, and which tokens count. */
#ifndef CORPUS_OPTIONS_H
#define CORPUS_OPTIONS_H

#include "options/options.h"
#include "ranking.h"

/* The requests of both commands begin with this struct, so one table of options serves both. */
struct corpus_options {
	struct common_options common;
	struct corpus_request request;
	struct ranking_request ranking;
	uint64_t top; /* the most tokens that are taken; 0: not given */
};
#define CORPUS_OPTIONS_DEFAULT .request = {.min_length = 1, .ngrams = 1}, .ranking = {.min_count = 1000}

extern const struct option_spec corpus_option_table[];

/* Checks that the user gave the options that both commands need. The operand is DATA. Returns 0, or options_wrong(). */
int corpus_options_check(struct corpus_options *options);

/* Warns of records without tokens, of a ranking without tokens, and of a field that may be no label. Returns
 * STATUS_INCOMPLETE if there was a warning and --strict is set, else STATUS_DONE. */
int corpus_options_report(const struct corpus_options *options, const struct token_counts *counts,
                          const struct ranking *ranking);

#endif
