/* rule_options.c: reads selection rules, and the cuts of the regions, from a command line, and says what is wrong with
 * them (rule_options.h). */
#include "rule_options.h"

#include "die/die.h"
#include "base/suggest.h"

#include <string.h>

/* Names the rules that are asked for most; the help has the others. */
static int
no_such_rule(const struct common_options *request, const char *text)
{
	const char *nearest;
	size_t count = 0;

	while (selection_names[count])
		count++;
	nearest = suggest_nearest(text, selection_names, count);
	if (nearest)
		return options_wrong(request, "rule %s: did you mean %s?", text, nearest);
	return options_wrong(
	        request,
	        "rule %s: one of ambiguous, hard-to-learn, easy-to-learn, forgettable, random, MEASURE:asc, "
	        "MEASURE:desc, and those in portolan help select",
	        text);
}

int
rule_parse(const struct common_options *request, const char *text, struct selection_rule *rule)
{
	size_t length = strcspn(text, ":");

	if (selection_rule_parse(text, rule))
		return 0;
	for (unsigned m = 0; m < MEASURE_COUNT; m++) {
		const char *name = measure_infos[m].name;

		if (strlen(name) == length && strncmp(text, name, length) == 0)
			return options_wrong(request, "by %s in which direction? %s:asc or %s:desc", name, name, name);
	}
	return no_such_rule(request, text);
}

int
rule_parse_plain(const struct common_options *request, const char *text, struct selection_rule *rule)
{
	int status = rule_parse(request, text, rule);

	if (status == 0 && rule->kind == SELECT_K_CENTER)
		return options_wrong(request, "--by k-center: only portolan select takes the features it needs");
	if (status == 0 && (rule->kind == SELECT_DUAL_BETA || rule->kind == SELECT_S2L))
		return options_wrong(request, "--by %s: only portolan select draws so", text);
	return status;
}

int
rule_parse_cuts(const struct common_options *request, const char *text, struct region_cuts *cuts)
{
	if (regions_parse_cuts(text, cuts))
		return 0;
	return options_wrong(request, "--regions %s: say V,C, as in 0.3,0.5: a variability and a confidence", text);
}

/* Ends the program if the run lacks what a rule that is more than one measure goes by. */
static void
rule_check_measures(const struct selection_rule *rule, const struct dynamics *run)
{
	struct dynamics_request needed = {0};

	selection_rule_request(rule, &needed);
	for (unsigned m = 0; m < MEASURE_COUNT && rule->kind != SELECT_MEASURE; m++)
		if (needed.measures & MEASURE_BIT(m) && !dynamics_column(run, measure_infos[m].name))
			must(dynamics_no_measure(run, NULL, measure_infos[m].name, &failure));
}

int
rule_check(const struct common_options *request, const struct selection_rule *rule, const struct dynamics *run)
{
	const char *names[MEASURE_COUNT + 1] = {NULL};

	if (selection_rule_is_known(rule, run)) {
		rule_check_measures(rule, run);
		return 0;
	}
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		names[m] = measure_infos[m].name;
	options_choice(request, "measure", rule->measure, names);
	return STATUS_USAGE;
}
