/* noise.h: the command line of `portolan noise`, for the files that carry out its actions, and these actions. Each
 * returns an exit status. */
#ifndef NOISE_H
#define NOISE_H

#include "measures/measure.h"
#include "options/options.h"
#include "plot/picture.h"
#include "regions/regions.h"

enum noise_method { NOISE_METHOD_FLIPS, NOISE_METHOD_AUM };
enum noise_by { NOISE_BY_CONFIDENCE, NOISE_BY_AUM, NOISE_BY_LOSS, NOISE_BY_VARIABILITY };

/* How many of the ranked examples are printed: all, unless a fraction, a count or a threshold was given. only_called:
 * only those are printed that the method calls mislabelled, at most `count` of them. */
struct suspects_size {
	bool has_fraction, has_count, has_threshold, only_called;
	double fraction; /* of the scored examples, rounded half up */
	uint64_t count;
	double threshold; /* the least score */
};

struct noise_request {
	struct common_options common;
	const char *run;
	int method;   /* of the action plan: enum noise_method */
	uint64_t set; /* of the action plan: which of the disjoint sets of threshold samples */
	uint64_t seed;
	struct suspects_size size;
	int format; /* enum table_format */
	int by;     /* of the actions fit and mixture: enum noise_by; see noise_measure() */
	bool has_cuts;
	struct region_cuts cuts;
	const char *flips, *before, *model, *threshold_samples, *plot;
	struct picture picture; /* that of `plot` */
};

/* The measure of --by. */
enum measure noise_measure(const struct noise_request *request);

int noise_action_plan(const struct noise_request *request);
int noise_action_fit(const struct noise_request *request);
int noise_action_apply(const struct noise_request *request);
int noise_action_mixture(const struct noise_request *request);
int noise_action_aum(const struct noise_request *request);
int noise_action_confident(const struct noise_request *request);

#endif
