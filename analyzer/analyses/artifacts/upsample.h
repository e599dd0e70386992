/* upsample.h: what the user asked of `portolan upsample`, and what it did, for the files that report and draw it. */
#ifndef UPSAMPLE_H
#define UPSAMPLE_H

#include "balance.h"
#include "corpus_options.h"
#include "output/report.h"
#include "plot/picture.h"

#define UPSAMPLE_NONE "no token stands with a label more often than chance explains" /* with --significant */

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
	struct output output;
	bool is_begun;         /* DATA was copied to the output while it was counted */
	struct digest *digest; /* of the output; NULL: it has no manifest */
	/* the results */
	struct corpus corpus;
	struct token_counts counts;
	struct ranking ranking;
	size_t token_count; /* the tokens that are balanced: the first so many of the ranking */
	struct holders holders;
	struct balance balance;
	double *shares_after; /* by label: its share of the records after up-sampling */
};

/* Writes the report to standard output, as text or JSON. */
void upsample_report(const struct upsample *upsample);

/* The statistic of token s, before or after up-sampling, with the ranking's priors: those of DATA before
 * up-sampling. */
struct token_statistic upsample_statistic(const struct upsample *upsample, size_t s, bool after);

/* Adds the report to another one, as an object with this key. */
void upsample_add_report(struct report *report, const char *key, const struct upsample *upsample);
/* Adds the member "request" of the manifest: the options. */
void upsample_add_request(struct report *report, const struct upsample *upsample);

/* Draws the picture of --plot. */
void upsample_draw(const struct upsample *upsample);

#endif
