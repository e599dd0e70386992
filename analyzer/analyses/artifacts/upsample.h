/* upsample.h: portolan upsample: the request and its results. */
#ifndef UPSAMPLE_H
#define UPSAMPLE_H

#include "balance.h"
#include "corpus_options.h"
#include "output/report.h"
#include "plot/picture.h"

#define UPSAMPLE_NONE "no token stands with a label more often than chance explains" /* of --significant */

enum upsample_weights { UPSAMPLE_RECORDS = -1, UPSAMPLE_COUNTS, UPSAMPLE_SHARES }; /* as --weights numbers them */

struct upsample {
	struct corpus_options corpus_options;
	enum upsample_weights weights;
	double step;
	uint64_t iterations, patience, max_multiplicity, seed;
	enum balance_pick pick;
	bool as_published;
	const char *plot;
	struct picture picture;
	/* and then */
	struct corpus corpus;
	struct token_counts counts;
	struct ranking ranking;
	size_t token_count; /* the first of the ranking: S */
	struct holders holders;
	struct balance balance;
	double *shares_after; /* of the labels */
};

/* The up-sampled data, or the weights, as common.output says. */
int upsample_write(const struct upsample *upsample, struct portolan_error *error);

/* The report on standard output, as text or JSON. */
int upsample_report(const struct upsample *upsample, struct portolan_error *error);

/* Of token s of S, before or after; by the ranking's priors, which are those of DATA. */
struct token_statistic upsample_statistic(const struct upsample *upsample, size_t s, bool after);

/* The report, and for the manifest the member "request" with the options. */
void upsample_add_report(struct report *report, const char *key, const struct upsample *upsample);
void upsample_add_request(struct report *report, const struct upsample *upsample);

/* The picture that --plot asked for. */
int upsample_draw(const struct upsample *upsample, struct portolan_error *error);

#endif
