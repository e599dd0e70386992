/* share_hint.c: finds out whether a selection is a small share of hard or ambiguous examples alone, and says what
 * trained better in studies (share_hint.h). PRUNING.md has the figures. */
#include "share_hint.h"

#include "base/message.h"

#include <string.h>

#define SHARE_SMALL 0.3       /* below this, such examples alone trained worse than random ones */
#define SHARE_TO_TRAIN_ON 0.1 /* --count: a smaller share is a list to look at */
#define EXAMPLES_LEAST 100

/* The measures by which the hard or the ambiguous examples come first, in this direction. */
static const struct {
	const char *name;
	bool descending;
} hard_first[] = {
        {"variability", true},
        {"confidence", false},
        {"correctness", false},
        {"forgetting_events", true},
        {"never_learned", true},
        {"aum", false},
        {"prob_margin", false},
        {"el2n", true},
        {"threshold_closeness", true},
        {"aleatoric", true},
        {"entropy", true},
        {"max_prob", false},
        {"loss", true},
        {"task_loss", true},
        {"dyn_unc", true},
        {"dual", true},
        {"tdds", true},
        {"first_learned", true},
        {"detrended_variability", true},
};

static bool
share_ranks_hard_first(const struct selection_rule *rule)
{
	if (rule->kind == SELECT_FORGETTABLE || rule->kind == SELECT_FORGETTING)
		return rule->descending;
	if (rule->kind == SELECT_REGION || rule->kind == SELECT_GROUP)
		return rule->region != REGION_EASY;
	if (rule->kind != SELECT_MEASURE || rule->strata > 0)
		return false;
	for (size_t i = 0; i < sizeof(hard_first) / sizeof(hard_first[0]); i++)
		if (strcmp(rule->measure, hard_first[i].name) == 0)
			return rule->descending == hard_first[i].descending;
	return false;
}

void
share_hint(const struct select_request *request, const struct dynamics *dynamics, size_t eligible, size_t count)
{
	const struct selection_plan *plan = &request->plan;
	bool is_count = plan->count > 0 || plan->smallest;
	double kept = eligible > 0 ? (double)count / (double)eligible : 1;
	double share = is_count ? kept : plan->fraction; /* as it was asked for, before it was rounded */

	if (!plan->has_size || request->fraction_count > 0 || plan->mix_count > 0 || plan->top_share < 1 ||
	    plan->offset > 0 || plan->offset_count > 0 || !share_ranks_hard_first(&plan->rule))
		return;
	if (share >= SHARE_SMALL || eligible < EXAMPLES_LEAST || (is_count && share < SHARE_TO_TRAIN_ON))
		return;
	message_note("hint: to train on, below about 30%% of the examples the hard or ambiguous alone did worse than "
	             "random ones (Sorscher et al. 2022; Zheng et al. 2023; and at 10%% of two small data sets of "
	             "ours); better there: %s--by aum:asc (or confidence:asc) --strata 50 --cut 0.3, or --by random "
	             "(see portolan help select)",
	             dynamics->epoch_count >= dynamics->window ? "--by dual-beta, " : "");
}
