/* rules.c: the selection rules by name ("ambiguous", "confidence:asc"): parses a rule, puts it into words for
 * manifests, and says what it needs of a run (selection.h). */
#include "data_iq.h"
#include "selection.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	struct selection_rule rule;
} named_rules[SELECTION_NAMES] = {
        {"ambiguous", {SELECT_MEASURE, "variability", true, REGION_AMBIGUOUS}},
        {"hard-to-learn", {SELECT_MEASURE, "confidence", false, REGION_HARD}},
        {"easy-to-learn", {SELECT_MEASURE, "confidence", true, REGION_EASY}},
        {"forgettable", {SELECT_FORGETTABLE, "", true, REGION_COUNT}},
        {"random", {SELECT_RANDOM, "", false, REGION_COUNT}},
        {"all", {SELECT_BY_ID, "", false, REGION_COUNT}},
        {"high-confidence", {SELECT_MEASURE, "confidence", true, REGION_COUNT}},
        {"low-variability", {SELECT_MEASURE, "variability", false, REGION_COUNT}},
        {"high-correctness", {SELECT_MEASURE, "correctness", true, REGION_COUNT}},
        {"low-correctness", {SELECT_MEASURE, "correctness", false, REGION_COUNT}},
        {"forgetting", {SELECT_FORGETTING, "", true, REGION_COUNT}},
        {"uncertainty", {SELECT_MEASURE, "entropy", true, REGION_COUNT}},
        {"least-confidence", {SELECT_MEASURE, "max_prob", false, REGION_COUNT}},
        {"k-center", {SELECT_K_CENTER, "", false, REGION_COUNT}},
        {"dual-beta", {SELECT_DUAL_BETA, "dual", false, REGION_COUNT}},
        {"s2l", {SELECT_S2L, "", false, REGION_COUNT}},
        {"region:ambiguous", {SELECT_REGION, "variability", true, REGION_AMBIGUOUS}},
        {"region:easy-to-learn", {SELECT_REGION, "confidence", true, REGION_EASY}},
        {"region:hard-to-learn", {SELECT_REGION, "confidence", false, REGION_HARD}},
        {"group:easy", {SELECT_GROUP, "confidence", true, REGION_EASY}},
        {"group:ambiguous", {SELECT_GROUP, "aleatoric", true, REGION_AMBIGUOUS}},
        {"group:hard", {SELECT_GROUP, "confidence", false, REGION_HARD}},
};

const char *const selection_names[] = {
        "ambiguous",
        "hard-to-learn",
        "easy-to-learn",
        "forgettable",
        "random",
        "all",
        "high-confidence",
        "low-variability",
        "high-correctness",
        "low-correctness",
        "forgetting",
        "uncertainty",
        "least-confidence",
        "k-center",
        "dual-beta",
        "s2l",
        "region:ambiguous",
        "region:easy-to-learn",
        "region:hard-to-learn",
        "group:easy",
        "group:ambiguous",
        "group:hard",
        NULL,
};

bool
selection_rule_parse(const char *text, struct selection_rule *rule)
{
	const char *colon = strrchr(text, ':');
	size_t length;

	for (size_t i = 0; i < SELECTION_NAMES; i++) {
		if (strcmp(text, named_rules[i].name) == 0) {
			*rule = named_rules[i].rule;
			return true;
		}
	}
	if (!colon || (strcmp(colon, ":asc") != 0 && strcmp(colon, ":desc") != 0))
		return false;
	length = (size_t)(colon - text);
	if (length == 0 || length >= sizeof(rule->measure))
		return false;
	*rule = (struct selection_rule){
	        .kind = SELECT_MEASURE, .descending = strcmp(colon, ":desc") == 0, .region = REGION_COUNT};
	memcpy(rule->measure, text, length);
	return true;
}

void
selection_rule_describe(const struct selection_rule *rule, char *text, size_t room)
{
	const char *direction = rule->descending ? "desc" : "asc";

	switch (rule->kind) {
	case SELECT_MEASURE:
		snprintf(text, room, "%s:%s", rule->measure, direction);
		if (rule->strata > 0)
			snprintf(text + strlen(text), room - strlen(text),
			         ", without its first %g; evenly from %zu strata of equal width", rule->cut,
			         rule->strata);
		break;
	case SELECT_FORGETTABLE:
		snprintf(text, room,
		         "forgetting_events > 0 or never_learned, the latter first, then forgetting_events:desc");
		break;
	case SELECT_FORGETTING:
		snprintf(text, room, "never_learned %s, forgetting_events:%s", rule->descending ? "first" : "last",
		         direction);
		break;
	case SELECT_REGION:
		snprintf(text, room, "the region %s, %s:%s", region_names[rule->region], rule->measure, direction);
		break;
	case SELECT_GROUP:
		snprintf(text, room, "the group %s of Data-IQ, %s:%s", data_iq_names[rule->region], rule->measure,
		         direction);
		break;
	case SELECT_RANDOM:
		snprintf(text, room, "random, xoshiro256**");
		break;
	case SELECT_K_CENTER:
		snprintf(text, room, "k-center greedy, Euclidean, from the lowest id");
		break;
	case SELECT_DUAL_BETA:
		snprintf(text, room, "drawn by dual and a Beta density of confidence, xoshiro256**");
		break;
	case SELECT_S2L:
		snprintf(text, room, "evenly from clusters of loss trajectories (k-means), xoshiro256**");
		break;
	case SELECT_BY_ID:
		snprintf(text, room, "all, by ascending id");
		break;
	}
}

bool
selection_rule_is_set(const struct selection_rule *rule)
{
	return rule->kind == SELECT_FORGETTABLE || rule->kind == SELECT_REGION || rule->kind == SELECT_GROUP;
}

bool
selection_rule_reverse(struct selection_rule *rule)
{
	rule->descending = !rule->descending;
	return rule->kind == SELECT_MEASURE || rule->kind == SELECT_FORGETTING;
}

void
selection_rule_request(const struct selection_rule *rule, struct dynamics_request *request)
{
	int measure;

	if (rule->kind == SELECT_FORGETTABLE || rule->kind == SELECT_FORGETTING)
		request->measures |= MEASURE_BIT(MEASURE_FORGETTING_EVENTS) | MEASURE_BIT(MEASURE_NEVER_LEARNED);
	if (rule->kind == SELECT_REGION)
		request->measures |= MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY);
	if (rule->kind == SELECT_GROUP)
		request->measures |= MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_ALEATORIC);
	if (rule->kind == SELECT_DUAL_BETA)
		request->measures |= MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_DUAL);
	if (rule->kind != SELECT_MEASURE)
		return;
	measure = measure_find(rule->measure);
	if (measure == MEASURE_CONFIDENCE) /* see selection_rule_settle() */
		request->measures |= MEASURE_BIT(MEASURE_TASK_LOSS);
	if (measure >= 0)
		request->measures |= MEASURE_BIT(measure);
	else
		request->user = true;
	if (request->measures & MEASURE_BIT(MEASURE_FORGETTING_EVENTS)) /* never_learned_count() needs both */
		request->measures |= MEASURE_BIT(MEASURE_NEVER_LEARNED);
}

void
selection_rule_settle(struct selection_rule *rule, const struct dynamics *dynamics)
{
	if (dynamics->info->of_losses && rule->kind == SELECT_MEASURE && rule->region != REGION_COUNT &&
	    measure_find(rule->measure) == MEASURE_CONFIDENCE) {
		snprintf(rule->measure, sizeof(rule->measure), "%s", measure_infos[MEASURE_TASK_LOSS].name);
		rule->descending = !rule->descending;
	}
}

bool
selection_rule_is_known(const struct selection_rule *rule, const struct dynamics *dynamics)
{
	return rule->kind != SELECT_MEASURE || measure_find(rule->measure) >= 0 ||
	       dynamics_column(dynamics, rule->measure);
}
