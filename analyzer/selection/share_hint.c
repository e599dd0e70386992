/* share_hint.c: finds out whether a selection is a small share from one end of a ranking, and says what trained better in
 * studies (share_hint.h). PRUNING.md has the figures. */
#include "share_hint.h"

#include "base/message.h"

#include <string.h>

#define SHARE_SMALL 0.3       /* below this, such examples alone trained worse than random ones */
#define SHARE_TO_TRAIN_ON 0.1 /* --count: a smaller share is a list to look at */
#define EXAMPLES_LEAST 100

/* Measures by which the hard or the ambiguous examples come first in one direction, and maybe the easy in the other. */
static const struct {
	const char *name;
	bool descending, has_easy_end;
} rankings[] = {
        {"variability", true, false},   {"threshold_closeness", true, false},
        {"aleatoric", true, false},     {"entropy", true, true},
        {"dyn_unc", true, false},       {"dual", true, false},
        {"tdds", true, false},          {"confidence", false, true},
        {"correctness", false, true},   {"aum", false, true},
        {"prob_margin", false, true},   {"max_prob", false, true},
        {"loss", true, true},           {"task_loss", true, true},
        {"el2n", true, true},           {"forgetting_events", true, false},
        {"never_learned", true, false}, {"first_learned", true, true},
};

static bool
share_is_of_one_end(const struct selection_rule *rule)
{
	if (rule->kind == SELECT_MEASURE && rule->strata == 0)
		for (size_t i = 0; i < sizeof(rankings) / sizeof(rankings[0]); i++)
			if (strcmp(rule->measure, rankings[i].name) == 0)
				return rankings[i].has_easy_end || rule->descending == rankings[i].descending;
	return rule->kind == SELECT_FORGETTABLE || rule->kind == SELECT_FORGETTING || rule->kind == SELECT_REGION ||
	       rule->kind == SELECT_GROUP;
}

void
share_hint(const struct select_request *request, size_t eligible, size_t count)
{
	const struct selection_plan *plan = &request->plan;
	bool is_count = plan->count > 0 || plan->smallest;
	double kept = eligible > 0 ? (double)count / (double)eligible : 1;
	double share = is_count ? kept : plan->fraction; /* as it was asked for, before it was rounded */

	if (!plan->has_size || request->fraction_count > 0 || plan->mix_count > 0 || plan->top_share < 1 ||
	    plan->offset > 0 || plan->offset_count > 0 || !share_is_of_one_end(&plan->rule))
		return;
	if (share >= SHARE_SMALL || eligible < EXAMPLES_LEAST || (is_count && share < SHARE_TO_TRAIN_ON))
		return;
	message_note(
	        "hint: below about 30%% of the examples, the ambiguous, the hardest or the easiest alone mostly trained worse "
	        "than random ones (at 10%% the first two on all of four small data sets, tools/study shares; Sorscher et "
	        "al. 2022, Zheng et al. 2023); --by random did better there, and, where logits were logged, --by aum:asc "
	        "--strata 50 --cut 0.3");
}
