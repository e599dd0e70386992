/* regions.c: tells the three regions of a data map apart: easy-to-learn, ambiguous, hard-to-learn. */
#include "regions.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

const char *const region_names[REGION_COUNT] = {"easy-to-learn", "ambiguous", "hard-to-learn"};

bool
regions_parse_cuts(const char *text, struct region_cuts *cuts)
{
	const char *comma = strchr(text, ',');
	struct region_cuts parsed;
	char first[64] = "";

	if (!comma || (size_t)(comma - text) >= sizeof(first))
		return false;
	memcpy(first, text, (size_t)(comma - text));
	if (!number_parse(first, &parsed.variability) || !number_parse(comma + 1, &parsed.confidence) ||
	    parsed.variability < 0)
		return false;
	*cuts = parsed;
	return true;
}

struct region_cuts
regions_default_cuts(const double *descending_variability, size_t n)
{
	size_t third = n / 3;

	/* With fewer than three examples, no example is in the top third. */
	return (struct region_cuts){
	        .variability = third > 0 ? descending_variability[third - 1] : INFINITY,
	        .confidence = 0.5,
	};
}

enum region
region_of(double variability, double confidence, const struct region_cuts *cuts)
{
	/* If no example varies, as with one epoch, none is ambiguous. */
	if (variability >= cuts->variability && variability > 0)
		return REGION_AMBIGUOUS;
	return confidence >= cuts->confidence ? REGION_EASY : REGION_HARD;
}
