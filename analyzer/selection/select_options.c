/* select_options.c: the table of the options of `portolan select`, which checks each option by itself; select_check.c
 * checks that they go together. */
#include "select_options.h"

#include "rule_options.h"

#include <stdio.h>
#include <string.h>

static int
select_take_rule(void *context, char *text)
{
	struct select_request *request = context;

	request->rule = text;
	return rule_parse(&request->common, text, &request->plan.rule);
}

/* Takes --count: N, or the word smallest. */
static int
select_take_count(void *context, char *text)
{
	struct select_request *request = context;
	struct selection_plan *plan = &request->plan;

	plan->smallest = strcmp(text, "smallest") == 0;
	if (plan->smallest ||
	    (number_parse_u64(text, strlen(text), &plan->count) && plan->count > 0 && plan->count <= INT64_MAX))
		return 0;
	return options_wrong(&request->common,
	                     "--count %s: a whole number from 1 to %lld, or smallest, with --per-class", text,
	                     (long long)INT64_MAX);
}

/* Takes an offset: a share below 1, or a number of examples. */
static int
select_take_offset(void *context, char *text)
{
	struct select_request *request = context;
	struct selection_plan *plan = &request->plan;

	plan->offset = 0;
	if (number_parse_u64(text, strlen(text), &plan->offset_count) && plan->offset_count <= INT64_MAX)
		return 0;
	plan->offset_count = 0;
	if (number_parse(text, &plan->offset) && plan->offset >= 0 && plan->offset < 1)
		return 0;
	return options_wrong(&request->common,
	                     "--offset %s: a share of the examples, below 1, or a whole number of them", text);
}

/* Takes a mix: RULE=FRACTION. */
static int
select_take_mix(void *context, char *text)
{
	struct select_request *request = context;
	struct selection_mix *part = &request->plan.mixes[request->plan.mix_count];
	const char *equals = strrchr(text, '=');
	char rule[300];

	if (!equals || (size_t)(equals - text) >= sizeof(rule))
		return options_wrong(&request->common, "--mix %s: say RULE=FRACTION, as in easy-to-learn=0.1", text);
	if (request->plan.mix_count == SELECTION_MIXES_MAX)
		return options_wrong(&request->common, "--mix at most %d times", SELECTION_MIXES_MAX);
	if (!number_parse(equals + 1, &part->fraction) || part->fraction < 0 || part->fraction > 1)
		return options_wrong(&request->common, "--mix %s: the fraction is a number from 0 to 1", text);
	memcpy(rule, text, (size_t)(equals - text));
	rule[equals - text] = '\0';
	request->mix_rules[request->plan.mix_count++] = text;
	return rule_parse(&request->common, rule, &part->rule);
}

/* The fractions of the published selections (allenai/cartography names their folders by two decimals). */
static const struct {
	double fraction;
	const char *name;
} paper_fractions[] = {{0.01, "0.01"}, {0.05, "0.05"},   {0.1, "0.1"}, {0.1667, "0.17"},
                       {0.25, "0.25"}, {0.3319, "0.33"}, {0.5, "0.5"}, {0.75, "0.75"}};
#define PAPER_FRACTIONS (sizeof(paper_fractions) / sizeof(paper_fractions[0]))

static int
select_add_fraction(struct select_request *request, double fraction, const char *name)
{
	size_t at = request->fraction_count;

	for (size_t i = 0; i < at; i++)
		if (strcmp(request->fraction_names[i], name) == 0)
			return options_wrong(&request->common, "--fractions: %s is there twice", name);
	request->fractions[at] = fraction;
	snprintf(request->fraction_names[at], NUMBER_ROOM, "%s", name);
	request->fraction_count++;
	return 0;
}

static int
select_take_fractions(void *context, char *text)
{
	struct select_request *request = context;
	const char *parts[SELECT_FRACTIONS_MAX];
	size_t count;
	int status = 0;

	request->fraction_count = 0;
	if (strcmp(text, "paper") == 0) {
		for (size_t i = 0; i < PAPER_FRACTIONS; i++)
			select_add_fraction(request, paper_fractions[i].fraction, paper_fractions[i].name);
		return 0;
	}
	count = options_split(text, SELECT_FRACTIONS_MAX, parts);
	if (count == 0)
		return options_wrong(&request->common, "--fractions %s: say up to %d numbers, as in 0.1,0.25, or paper",
		                     text, SELECT_FRACTIONS_MAX);
	for (size_t i = 0; i < count && status == 0; i++) {
		char name[NUMBER_ROOM];
		double fraction;

		if (!number_parse(parts[i], &fraction) || !(fraction > 0 && fraction <= 1))
			return options_wrong(&request->common, "--fractions %s: a number above 0, up to 1", parts[i]);
		number_print(fraction, name);
		status = select_add_fraction(request, fraction, name);
	}
	return status;
}

static int
select_take_cuts(void *context, char *text)
{
	struct select_request *request = context;

	request->has_cuts = true;
	return rule_parse_cuts(&request->common, text, &request->cuts);
}

static int
select_take_list(struct select_request *request, const char *path, bool is_exclusion)
{
	if (request->list_count == POOL_LISTS_MAX)
		return options_wrong(&request->common, "--only and --exclude at most %d times together",
		                     POOL_LISTS_MAX);
	request->lists[request->list_count++] = (struct pool_list){.path = path, .is_exclusion = is_exclusion};
	return 0;
}

static int
select_take_only(void *context, char *text)
{
	return select_take_list(context, text, false);
}

static int
select_take_exclude(void *context, char *text)
{
	return select_take_list(context, text, true);
}

static int
select_take_run(void *context, char *text)
{
	struct select_request *request = context;

	if (request->run_count == AGGREGATE_RUNS_MAX)
		return options_wrong(&request->common, "--with at most %d times", AGGREGATE_RUNS_MAX - 1);
	request->runs[request->run_count++] = text;
	return 0;
}

/* Takes --text: names of fields, with commas between them. */
static int
select_take_texts(void *context, char *text)
{
	struct select_request *request = context;
	size_t room = SELECT_TEXTS_MAX - request->text_count;
	size_t count = options_split(text, room, request->texts + request->text_count);

	request->text_count += count;
	return count > 0 ? 0
	                 : options_wrong(&request->common,
	                                 "--text takes names of fields, with commas between them, %d at most",
	                                 SELECT_TEXTS_MAX);
}

static const char *const sizes_names[] = {"rounded", "published", NULL};

const char *const select_format_names[] = {"ids", "csv", "tsv", "jsonl", "npy", NULL};

#define TO(member) .offset = offsetof(struct select_request, member)
#define SIZES "fraction count fractions"
const struct option_spec select_option_table[] = {
        {"by", "RULE", OPTION_RULE, .take = select_take_rule, .often = true},
        {"fraction", "F", OPTION_REAL, TO(plan.fraction), .range = RANGE_ABOVE_TO, .to = 1,
         .excludes = "threshold " SIZES, .often = true},
        {"count", "N", OPTION_TEXT, .take = select_take_count, .excludes = "threshold " SIZES, .often = true},
        {"threshold", "X", OPTION_REAL, TO(threshold), .excludes = "threshold " SIZES},
        {"fractions", "LIST", OPTION_TEXT, .take = select_take_fractions, .excludes = "threshold " SIZES,
         .group = OPTION_GROUP_OUTPUT},
        {"sizes", "WHICH", OPTION_CHOICE, TO(sizes), .choices = sizes_names, .needs = "fraction fractions",
         .excludes = "per-class stratified", .group = OPTION_GROUP_HOW},
        {"offset", "K", OPTION_TEXT, .take = select_take_offset, .excludes = "both-ends offset"},
        {"both-ends", "SHARE", OPTION_REAL, TO(plan.top_share), .range = RANGE_FROM_BELOW, .to = 1, .needs = SIZES},
        {"per-class", NULL, OPTION_FLAG, TO(per_class), .needs = SIZES, .excludes = "stratified"},
        {"stratified", NULL, OPTION_FLAG, TO(stratified), .needs = SIZES},
        {"strata", "N", OPTION_WHOLE, TO(strata), .least = 1, .most = 1000000, .needs = SIZES,
         .excludes = "threshold offset both-ends per-class stratified"},
        {"cut", "SHARE", OPTION_REAL, TO(cut), .range = RANGE_FROM_BELOW, .to = 1, .needs = "strata"},
        {"mix", "RULE=FRACTION", OPTION_TEXT, .take = select_take_mix, .needs = SIZES},
        {"within", "FILE.json", OPTION_INPUT, TO(within_file)},
        {"only", "FILE", OPTION_INPUT, .take = select_take_only},
        {"exclude", "FILE", OPTION_INPUT, .take = select_take_exclude},
        {"with", "RUN", OPTION_RUN, .take = select_take_run, .excludes = "minus"},
        {"union", NULL, OPTION_FLAG, TO(any_run), .needs = "with", .excludes = "why without-suspects",
         .group = OPTION_GROUP_HOW},
        {"never-learned", "CONVENTION", OPTION_CHOICE, TO(never_learned), .choices = never_learned_names,
         .group = OPTION_GROUP_HOW},
        {"regions", "V,C", OPTION_TEXT, .take = select_take_cuts, .group = OPTION_GROUP_HOW},
        {"c-d", "C", OPTION_REAL, TO(beta_c), .range = RANGE_ABOVE_TO, .to = 1000, .group = OPTION_GROUP_HOW},
        {"clusters", "K", OPTION_WHOLE, TO(clusters), .least = 1, .most = 1000000, .group = OPTION_GROUP_HOW},
        {"starts", "N", OPTION_WHOLE, TO(starts), .least = 1, .most = 1000, .group = OPTION_GROUP_HOW},
        {"sources", "FIELD", OPTION_TEXT, TO(source_field), .needs = "data sources-data", .group = OPTION_GROUP_HOW},
        {"features", "X.npy", OPTION_INPUT, TO(features)},
        {"feature-ids", "FILE", OPTION_INPUT, TO(feature_ids), .needs = "features"},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, .group = OPTION_GROUP_HOW},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = select_format_names,
         .group = OPTION_GROUP_OUTPUT},
        {"with-measures", NULL, OPTION_FLAG, TO(with_measures), .group = OPTION_GROUP_OUTPUT},
        {"data", "FILE", OPTION_INPUT, TO(join), .needs = "id-field", .old_names = "join", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(id_field), .needs = "data sources-data"},
        {"glue", NULL, OPTION_FLAG, TO(glue), .needs = "data sources-data", .group = OPTION_GROUP_HOW},
        {"sources-data", "FILE", OPTION_INPUT, TO(source_file), .needs = "sources", .group = OPTION_GROUP_HOW},
        {"why", NULL, OPTION_FLAG, TO(why), .group = OPTION_GROUP_OUTPUT, .often = true},
        {"text", "FIELD[,FIELD]", OPTION_TEXT, .take = select_take_texts, .needs = "data", .group = OPTION_GROUP_HOW},
        {"without-suspects", NULL, OPTION_FLAG, TO(without_suspects)},
        {"corrections", "FILE", OPTION_INPUT, TO(corrections)},
        {"label-field", "FIELD", OPTION_TEXT, TO(label_field), .needs = "corrections", .excludes = "glue"},
        {"no-manifest", NULL, OPTION_FLAG, TO(without_manifest), .group = OPTION_GROUP_OUTPUT},
        {0},
};
