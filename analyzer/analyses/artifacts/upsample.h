/* upsample.h: the request of portolan upsample, and its results. */
#ifndef UPSAMPLE_H
#define UPSAMPLE_H

#include "balance.h"
#include "corpus_options.h"
#include "output/report.h"
#include "plot/picture.h"

#define UPSAMPLE_NONE "no token stands with a label more often than chance explains" /* of --significant */

enum upsample_weights { UPSAMPLE_RECORDS = -1, UPSAMPLE_COUNTS, UPSAMPLE_SHARES }; /* the choices of --weights */

struct upsample {
	struct corpus_options corpus_options;
	enum upsample_weights weights;
	double step;
	uint64_t iterations, patience, max_multiplicity, seed;
	enum balance_pick pick;
	bool as_published;
	const char *plot;
	struct picture picture;
	/* the results */
	struct corpus corpus;
	struct token_counts counts;
	struct ranking ranking;
	size_t token_count; /* S: the tokens are the first ones of the ranking */
	struct holders holders;
	struct balance balance;
	double *shares_after; /* by label: its share of the records after up-sampling */
};

/* Writes the up-sampled data, or the weights, to common.output. */
int upsample_write(const struct upsample *upsample, struct portolan_error *error);

/* Writes the report to standard output, as text or JSON. */
int upsample_report(const struct upsample *upsample, struct portolan_error *error);

/* The statistic of token s, before or after up-sampling, with the ranking's priors, which are those of DATA. */
struct token_statistic upsample_statistic(const struct upsample *upsample, size_t s, bool after);

/* Adds the report's members; and, for the manifest, the member "request" with the options. */
void upsample_add_report(struct report *report, const char *key, const struct upsample *upsample);
void upsample_add_request(struct report *report, const struct upsample *upsample);

/* Draws the picture of --plot. */
int upsample_draw(const struct upsample *upsample, struct portolan_error *error);

#endif
