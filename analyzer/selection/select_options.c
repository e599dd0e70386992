/*
 * select_options.c: the options of `portolan select`: their table, and the checks that they go together.
 *
 * The table checks each option by itself. The functions check rules, sizes and files against one another, once all are
 * read.
 */
#include "select_options.h"

#include "base/message.h"
#include "options/format.h"
#include "rule_options.h"
#include "select_files.h"

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
	strncpy(request->fraction_names[at], name, NUMBER_ROOM - 1);
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

static const char *const sizes_names[] = {"rounded", "published", NULL};

/* The choices of --format: the first is SELECT_IDS, the others are those of table_format_names. */
static const char *const format_names[] = {"ids", "csv", "tsv", "jsonl", "npy", NULL};
#define PLACE_OF_NPY (1 + TABLE_NPY)

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
        {"with", "RUN", OPTION_RUN, .take = select_take_run},
        {"never-learned", "CONVENTION", OPTION_CHOICE, TO(never_learned), .choices = never_learned_names,
         .group = OPTION_GROUP_HOW},
        {"regions", "V,C", OPTION_TEXT, .take = select_take_cuts, .group = OPTION_GROUP_HOW},
        {"c-d", "C", OPTION_REAL, TO(beta_c), .range = RANGE_ABOVE_TO, .to = 1000, .group = OPTION_GROUP_HOW},
        {"clusters", "K", OPTION_WHOLE, TO(clusters), .least = 1, .most = 1000000, .group = OPTION_GROUP_HOW},
        {"features", "X.npy", OPTION_INPUT, TO(features)},
        {"feature-ids", "FILE", OPTION_INPUT, TO(feature_ids), .needs = "features"},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, .group = OPTION_GROUP_HOW},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = format_names, .group = OPTION_GROUP_OUTPUT},
        {"with-measures", NULL, OPTION_FLAG, TO(with_measures), .group = OPTION_GROUP_OUTPUT, .often = true},
        {"data", "FILE", OPTION_INPUT, TO(join), .needs = "id-field", .old_names = "join", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(id_field), .needs = "data", .often = true},
        {"glue", NULL, OPTION_FLAG, TO(glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"no-manifest", NULL, OPTION_FLAG, TO(without_manifest), .group = OPTION_GROUP_OUTPUT},
        {0},
};

/* Has a part of the plan a rule of this kind? */
static bool
select_has_kind(const struct select_request *request, enum selection_kind kind)
{
	bool has = request->plan.rule.kind == kind;

	for (size_t i = 0; i < request->plan.mix_count; i++)
		has = has || request->plan.mixes[i].rule.kind == kind;
	return has;
}

/* Checks sizes, ends, classes and mixes against one another. */
static int
select_check_plan(struct select_request *request)
{
	const struct common_options *common = &request->common;
	struct selection_plan *plan = &request->plan;
	struct selection_rule other = plan->rule;
	bool has_ends = selection_rule_reverse(&other);
	double mixed = 0;

	plan->has_size =
	        option_given(common, "fraction") || option_given(common, "count") || request->fraction_count > 0;
	plan->classes = request->per_class    ? SELECTION_CLASSES_EACH
	                : request->stratified ? SELECTION_CLASSES_STRATIFIED
	                                      : SELECTION_CLASSES_ANY;
	plan->published = request->sizes == SIZES_PUBLISHED;
	if (request->never_learned < 0)
		request->never_learned = request->run_count > 1 || select_has_kind(request, SELECT_FORGETTING)
		                                 ? NEVER_LEARNED_EPOCHS
		                                 : NEVER_LEARNED_FLAG;
	request->has_threshold = option_given(common, "threshold");
	if (request->strata > 0 && plan->rule.kind != SELECT_MEASURE)
		return options_wrong(common, "--strata: %s ranks by no measure; say MEASURE:asc or MEASURE:desc",
		                     request->rule);
	plan->rule.strata = (size_t)request->strata;
	plan->rule.cut = request->cut;
	for (size_t i = 0; i < plan->mix_count; i++)
		mixed += plan->mixes[i].fraction;
	if (mixed > 1 + 1e-9)
		return options_wrong(common, "the fractions of --mix are more than 1 together");
	if (plan->top_share < 1 && !has_ends)
		return options_wrong(common, "--both-ends: %s has no other end", request->rule);
	if (plan->smallest && !request->per_class)
		return options_wrong(common, "--count smallest is for --per-class");
	if (request->has_threshold && !has_ends)
		return options_wrong(common, "--threshold: %s has no values", request->rule);
	return 0;
}

static int
select_check_drawn(const struct select_request *request)
{
	const struct common_options *common = &request->common;
	bool by_beta = select_has_kind(request, SELECT_DUAL_BETA), by_clusters = select_has_kind(request, SELECT_S2L);

	if (!by_beta && option_given(common, "c-d"))
		return options_wrong(common, "--c-d is for --by dual-beta");
	if (!by_clusters && option_given(common, "clusters"))
		return options_wrong(common, "--clusters is for --by s2l");
	if (by_clusters && request->run_count > 1)
		return options_wrong(common, "s2l clusters the losses of one run: leave out --with");
	if (by_clusters && request->plan.classes != SELECTION_CLASSES_ANY)
		return options_wrong(common,
		                     "s2l clusters all classes at once: leave out --per-class and --stratified");
	if (!by_beta)
		return 0;
	if (!request->plan.has_size || request->fraction_count > 1)
		return options_wrong(common, "dual-beta draws otherwise for each size: say one --fraction or --count");
	if (request->plan.classes != SELECTION_CLASSES_ANY)
		return options_wrong(
		        common, "dual-beta draws from all classes at once: leave out --per-class and --stratified");
	return 0;
}

static int
select_check_features(const struct select_request *request)
{
	const struct common_options *common = &request->common;
	bool by_cover = select_has_kind(request, SELECT_K_CENTER);

	if (by_cover && !request->features)
		return options_wrong(common, "k-center needs --features X.npy, one row for each example");
	if (by_cover && !request->plan.has_size)
		return options_wrong(common, "k-center needs --fraction or --count");
	if (by_cover && request->plan.classes != SELECTION_CLASSES_ANY)
		return options_wrong(common,
		                     "k-center covers all classes at once: leave out --per-class and --stratified");
	if (!by_cover && request->features)
		return options_wrong(common, "--features is for --by k-center");
	if (request->has_cuts && !select_has_kind(request, SELECT_REGION))
		return options_wrong(common, "--regions is for rules like region:ambiguous");
	return 0;
}

/* Chooses the format of the user's lines (--data): they stay as FILE has them, in whichever format; select_output()
 * checks that against the output's name. */
static int
select_choose_lines(struct select_request *request)
{
	const struct common_options *common = &request->common;
	const char *ending = format_of_ending(common->output);
	int format = request->format;

	if (format >= 0 && format != PLACE_OF_NPY)
		return options_wrong(common, "--data prints FILE's lines; --format can only be npy, for their numbers");
	if (format < 0 && ending && strcmp(ending, table_format_names[TABLE_NPY]) == 0)
		format = PLACE_OF_NPY;
	request->format = format < 0 ? SELECT_LINES : TABLE_NPY;
	if (format >= 0 && format_choose(common, format_names, &format) != 0)
		return STATUS_USAGE;
	if (request->with_measures && request->format == TABLE_NPY)
		return options_wrong(common,
		                     "--with-measures has no place in an array of line numbers: change the name of -o");
	return 0;
}

static int
select_choose_format(struct select_request *request)
{
	const struct common_options *common = &request->common;
	int format = request->format, status;

	if (request->with_measures && format == 0)
		return options_wrong(common, "--with-measures needs --format csv, tsv, jsonl or npy, or --data");
	if (request->join)
		return select_choose_lines(request);
	if (request->with_measures) {
		request->for_people = format_is_for_people(common);
		request->format = format < 0 ? -1 : format - 1;
		return format_choose(common, table_format_names, &request->format);
	}
	status = format_choose(common, format_names, &format);
	request->format = format == 0 ? SELECT_IDS : format - 1;
	return status;
}

/* Checks that standard input is read only once, and that several files have names. */
static int
select_check_files(struct select_request *request, struct portolan_error *error)
{
	const struct common_options *common = &request->common;

	if (request->fraction_count > 1 && request->join && strcmp(request->join, "-") == 0)
		return options_wrong(common, "standard input can be read only once");
	if (request->fraction_count > 0 && (!common->output || strcmp(common->output, "-") == 0))
		return options_wrong(common, "--fractions writes one file each: name them with -o, as -o subset.txt");
	return select_claim_files(request, error);
}

/* Checks the rule. Without one, all examples within the polygons are selected. */
static int
select_check_rule(struct select_request *request)
{
	const struct common_options *common = &request->common;
	static const char *const needing[] = {"fraction", "count",   "fractions", "threshold",
	                                      "offset",   "regions", "features",  "strata"};

	if (request->rule)
		return 0;
	if (!request->within_file)
		return options_wrong(common, "by which rule? as in --by ambiguous");
	for (size_t i = 0; i < sizeof(needing) / sizeof(*needing); i++)
		if (option_given(common, needing[i]))
			return options_wrong(common, "--%s needs --by: by which rule?", needing[i]);
	request->rule = "within";
	request->plan.rule = (struct selection_rule){.kind = SELECT_BY_ID};
	return 0;
}

int
select_check(void *context, struct portolan_error *error)
{
	struct select_request *request = context;
	int status = select_check_rule(request);

	if (status == 0)
		status = select_check_plan(request);
	request->runs[0] = request->common.operands[0];
	if (status == 0)
		status = select_check_drawn(request);
	if (status == 0)
		status = select_check_features(request);
	if (status == 0)
		status = select_choose_format(request);
	return status == 0 ? select_check_files(request, error) : status;
}

int
select_check_rules(const struct select_request *request, const struct dynamics *dynamics)
{
	for (size_t i = 0; i <= request->plan.mix_count; i++) {
		const struct selection_rule *rule = i > 0 ? &request->plan.mixes[i - 1].rule : &request->plan.rule;

		if (rule_check(&request->common, rule, dynamics) != 0)
			return STATUS_USAGE;
		if (request->run_count > 1 && rule->kind == SELECT_MEASURE &&
		    !dynamics_column(dynamics, rule->measure)) {
			message_error("%s cannot be had: not all of these runs were recorded with the signal it needs",
			              rule->measure);
			return STATUS_FAILED;
		}
	}
	if (request->format == TABLE_NPY && !request->join && !request->with_measures &&
	    dynamics->info->id_kind == STORE_ID_STR)
		return options_wrong(
		        &request->common,
		        "npy holds numbers, and the ids of run '%s' are strings: use --data, --with-measures, or another format",
		        dynamics->info->name);
	return 0;
}
