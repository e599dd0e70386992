/* noise.h: the command line of portolan noise, and its actions. An action returns an exit status, or a negative code
 * with `error` filled. */
#ifndef NOISE_H
#define NOISE_H

#include "options/options.h"
#include "plot/picture.h"
#include "selection/regions.h"

enum noise_method { NOISE_METHOD_FLIPS, NOISE_METHOD_AUM };

/* How many of the ranked examples to print: all, unless one of these is given, or a count with only_called. */
struct suspects_size {
	bool has_fraction, has_count, has_threshold, only_called;
	double fraction; /* of the scored examples, rounded half up */
	uint64_t count;
	double threshold; /* the least score */
};

struct noise_request {
	struct common_options common;
	const char *run;
	int method; /* of plan: enum noise_method */
	uint64_t set;
	uint64_t seed;
	struct suspects_size size;
	int format; /* enum table_format */
	int by_aum; /* of mixture: 0, or 1 */
	bool has_cuts;
	struct region_cuts cuts;
	const char *flips, *before, *model, *threshold_samples, *plot;
	struct picture picture; /* of plot */
};

int noise_action_plan(const struct noise_request *request, struct portolan_error *error);
int noise_action_fit(const struct noise_request *request, struct portolan_error *error);
int noise_action_apply(const struct noise_request *request, struct portolan_error *error);
int noise_action_mixture(const struct noise_request *request, struct portolan_error *error);
int noise_action_aum(const struct noise_request *request, struct portolan_error *error);
int noise_action_confident(const struct noise_request *request, struct portolan_error *error);

#endif
