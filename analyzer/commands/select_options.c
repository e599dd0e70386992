/*
 * select_options.c: the words of portolan select.
 *
 * Each word is judged when it is read, what does not go together once all are; both say which words.
 */
#include "select_options.h"

#include "program/message.h"

#include <string.h>

enum {
	KEY_FORMAT = 'f',
	KEY_BY = OPTION_KEY,
	KEY_FRACTION,
	KEY_COUNT,
	KEY_THRESHOLD,
	KEY_FRACTIONS,
	KEY_BOTH_ENDS,
	KEY_PER_CLASS,
	KEY_STRATIFIED,
	KEY_MIX,
	KEY_ONLY,
	KEY_EXCLUDE,
	KEY_REGIONS,
	KEY_FEATURES,
	KEY_FEATURE_IDS,
	KEY_SEED,
	KEY_WITH_MEASURES,
	KEY_JOIN,
	KEY_ID_FIELD,
	KEY_NO_MANIFEST,
	KEY_WITH,
};

const struct command_option select_option_table[] = {
        {"by", KEY_BY, "RULE",
         "ambiguous (variability:desc), hard-to-learn (confidence:asc), easy-to-learn (confidence:desc), "
         "forgettable, random, MEASURE:asc or MEASURE:desc for any measure, region:ambiguous, region:easy-to-learn, "
         "region:hard-to-learn, or a baseline, see above."},
        {"fraction", KEY_FRACTION, "F",
         "Take this fraction of the examples there are to choose from, rounded half up."},
        {"count", KEY_COUNT, "N", "Take so many. Without any size: all that the rule ranks."},
        {"threshold", KEY_THRESHOLD, "X", "Take all whose value is X or more; with MEASURE:asc, X or less."},
        {"fractions", KEY_FRACTIONS, "LIST",
         "As 0.01,0.1: one file for each, named after -o with the fraction in it. paper: those of Swayamdipta et al. "
         "2020."},
        {"both-ends", KEY_BOTH_ENDS, "SHARE",
         "Take this share of the selection from the rule's top and the rest from its other end, as 0.7 of "
         "hard-to-learn."},
        {"per-class", KEY_PER_CLASS, NULL,
         "Take the fraction, or the count, of each gold class; examples without label are a class."},
        {"stratified", KEY_STRATIFIED, NULL, "Keep the shares that the gold classes have of those to choose from."},
        {"mix", KEY_MIX, "RULE=FRACTION",
         "Replace this fraction of the selection by what another rule ranks first. May be repeated."},
        {"only", KEY_ONLY, "FILE",
         "Choose among the ids in FILE: one a line, or a NumPy array. May be repeated: who is in all."},
        {"exclude", KEY_EXCLUDE, "FILE", "Leave the ids in FILE out. May be repeated."},
        {"with", KEY_WITH, "RUN",
         "Select from this run and RUN as one (other seeds of the same data): the examples that all have, means of "
         "their "
         "measures, forgetting events summed. May be repeated."},
        {"regions", KEY_REGIONS, "V,C",
         "Where region: rules cut: ambiguous from variability V on; of the rest, easy-to-learn from confidence C on. "
         "Default: the run's top third; 0.5."},
        {"features", KEY_FEATURES, "X.npy", "For k-center: a matrix of float32 or float64, one row for each example."},
        {"feature-ids", KEY_FEATURE_IDS, "FILE",
         "The ids of its rows, one a line or a NumPy array. Without it row 0 is that of id 0."},
        {"seed", KEY_SEED, "N", "Seed of random. Default: 0."},
        {"format", KEY_FORMAT, "FORMAT", "ids (one per line), csv, jsonl, or npy. Default: ids."},
        {"with-measures", KEY_WITH_MEASURES, NULL, "Add every measure: to csv and jsonl, or to the lines of --join."},
        {"join", KEY_JOIN, "FILE",
         "Print the lines of FILE (JSON lines, CSV or TSV) that belong to the ids; - is standard input."},
        {"id-field", KEY_ID_FIELD, "NAME", "The column, or JSON field, of FILE that holds the id."},
        {"no-manifest", KEY_NO_MANIFEST, NULL, "Do not write FILE.manifest.json beside the output."},
        {0},
};

static int
wrong_rule(const struct command *command, const char *text)
{
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (strcmp(text, measure_infos[m].name) == 0)
			return options_wrong(command, "by %s in which direction? %s:asc or %s:desc", text, text, text);
	options_choice(command, "rule", text, selection_names, SELECTION_NAMES);
	return STATUS_USAGE;
}

static int
take_fraction(const struct command *command, const char *option, const char *text, double *fraction)
{
	if (!number_parse(text, fraction) || *fraction < 0 || *fraction > 1)
		return options_wrong(command, "%s %s: a number from 0 to 1", option, text);
	return 0;
}

static int
take_mix(struct select_request *request, const struct command *command, const char *text)
{
	const char *equals = strrchr(text, '=');
	struct selection_mix *part = &request->plan.mixes[request->plan.mix_count];
	char rule[300];

	if (!equals || (size_t)(equals - text) >= sizeof(rule))
		return options_wrong(command, "--mix %s: say RULE=FRACTION, as in easy-to-learn=0.1", text);
	if (request->plan.mix_count == SELECTION_MIXES_MAX)
		return options_wrong(command, "--mix at most %d times", SELECTION_MIXES_MAX);
	memcpy(rule, text, (size_t)(equals - text));
	rule[equals - text] = '\0';
	if (!selection_rule_parse(rule, &part->rule))
		return wrong_rule(command, rule);
	request->mix_rules[request->plan.mix_count++] = text;
	return take_fraction(command, "--mix", equals + 1, &part->fraction);
}

/* The fractions of the published selections (allenai/cartography names their folders by two decimals). */
static const struct {
	double fraction;
	const char *name;
} paper_fractions[] = {{0.01, "0.01"}, {0.05, "0.05"},   {0.1, "0.1"}, {0.1667, "0.17"},
                       {0.25, "0.25"}, {0.3319, "0.33"}, {0.5, "0.5"}, {0.75, "0.75"}};
#define PAPER_FRACTIONS (sizeof(paper_fractions) / sizeof(paper_fractions[0]))

static int
take_fractions(struct select_request *request, const struct command *command, const char *text)
{
	size_t *count = &request->fraction_count;

	*count = 0;
	if (strcmp(text, "paper") == 0) {
		for (; *count < PAPER_FRACTIONS; ++*count) {
			request->fractions[*count] = paper_fractions[*count].fraction;
			strncpy(request->fraction_names[*count], paper_fractions[*count].name, NUMBER_ROOM - 1);
		}
		return 0;
	}
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");
		char number[64] = "";

		if (*count == SELECT_FRACTIONS_MAX)
			return options_wrong(command, "--fractions: at most %d", SELECT_FRACTIONS_MAX);
		memcpy(number, at, length < sizeof(number) ? length : sizeof(number) - 1);
		if (take_fraction(command, "--fractions", number, &request->fractions[*count]) != 0)
			return STATUS_USAGE;
		number_print(request->fractions[*count] + 0.0, request->fraction_names[*count]);
		for (size_t i = 0; i < *count; i++)
			if (strcmp(request->fraction_names[i], request->fraction_names[*count]) == 0)
				return options_wrong(command, "--fractions %s: %s is there twice", text, number);
		++*count;
		at += length;
		if (*at == '\0')
			return 0;
	}
}

static int
take_regions(struct select_request *request, const struct command *command, const char *text)
{
	request->has_cuts = regions_parse_cuts(text, &request->cuts);
	return request->has_cuts
	               ? 0
	               : options_wrong(command, "--regions %s: say V,C, as in 0.3,0.5: a variability and a confidence",
	                               text);
}

static int
take_list(struct select_request *request, const struct command *command, const char *path, bool is_exclusion)
{
	if (request->list_count == POOL_LISTS_MAX)
		return options_wrong(command, "--only and --exclude at most %d times together", POOL_LISTS_MAX);
	request->lists[request->list_count++] = (struct pool_list){.path = path, .is_exclusion = is_exclusion};
	return 0;
}

static int
take_size(struct select_request *request, const struct command *command, int key, const char *text)
{
	struct selection_plan *plan = &request->plan;

	if (plan->has_size || request->has_threshold || request->fraction_count > 0)
		return options_wrong(command, "one of --fraction, --count, --threshold and --fractions");
	if (key == KEY_THRESHOLD) {
		request->has_threshold = true;
		return number_parse(text, &request->threshold)
		               ? 0
		               : options_wrong(command, "--threshold %s: a number", text);
	}
	plan->has_size = true;
	if (key == KEY_FRACTIONS)
		return take_fractions(request, command, text);
	if (key == KEY_FRACTION)
		return take_fraction(command, "--fraction", text, &plan->fraction);
	if (!number_parse_u64(text, strlen(text), &plan->count) || plan->count == 0 || plan->count > INT64_MAX)
		return options_wrong(command, "--count %s: a whole number from 1", text);
	return 0;
}

static int
take_both_ends(struct select_request *request, const struct command *command, const char *text)
{
	double *share = &request->plan.top_share;

	if (!number_parse(text, share) || *share < 0 || *share >= 1)
		return options_wrong(command, "--both-ends %s: a number from 0, and below 1", text);
	return 0;
}

int
select_take_option(struct select_request *request, const struct command *command, int key, const char *text)
{
	switch (key) {
	case KEY_BY:
		request->rule = text;
		return selection_rule_parse(text, &request->plan.rule) ? 0 : wrong_rule(command, text);
	case KEY_FRACTION:
	case KEY_COUNT:
	case KEY_THRESHOLD:
	case KEY_FRACTIONS:
		return take_size(request, command, key, text);
	case KEY_BOTH_ENDS:
		return take_both_ends(request, command, text);
	case KEY_PER_CLASS:
	case KEY_STRATIFIED:
		if (request->plan.classes != SELECTION_CLASSES_ANY)
			return options_wrong(command, "one of --per-class and --stratified");
		request->plan.classes = key == KEY_PER_CLASS ? SELECTION_CLASSES_EACH : SELECTION_CLASSES_STRATIFIED;
		return 0;
	case KEY_MIX:
		return take_mix(request, command, text);
	case KEY_ONLY:
	case KEY_EXCLUDE:
		return take_list(request, command, text, key == KEY_EXCLUDE);
	case KEY_REGIONS:
		return take_regions(request, command, text);
	case KEY_FEATURES:
		request->features = text;
		return 0;
	case KEY_FEATURE_IDS:
		request->feature_ids = text;
		return 0;
	case KEY_SEED:
		/* The manifest has it, and JSON's whole numbers have 64 bits with a sign. */
		return number_parse_u64(text, strlen(text), &request->seed) && request->seed <= INT64_MAX
		               ? 0
		               : options_wrong(command, "--seed %s: a whole number below 2^63", text);
	case KEY_FORMAT:
		request->format = options_choice(command, "format", text, select_format_names, SELECT_FORMATS);
		return request->format < 0 ? STATUS_USAGE : 0;
	case KEY_WITH:
		if (request->run_count == AGGREGATE_RUNS_MAX)
			return options_wrong(command, "--with at most %d times", AGGREGATE_RUNS_MAX - 1);
		request->runs[request->run_count++] = (char *)text;
		return 0;
	case KEY_WITH_MEASURES:
		request->with_measures = true;
		return 0;
	case KEY_JOIN:
		request->join = text;
		return 0;
	case KEY_ID_FIELD:
		request->id_field = text;
		return 0;
	default:
		request->without_manifest = true;
		return 0;
	}
}

/* Does a part of the plan have a rule of this kind? */
static bool
has_kind(const struct select_request *request, enum selection_kind kind)
{
	bool has = request->plan.rule.kind == kind;

	for (size_t i = 0; i < request->plan.mix_count; i++)
		has = has || request->plan.mixes[i].rule.kind == kind;
	return has;
}

/* What the sizes, ends, classes and mixes ask of one another. */
static int
check_plan(const struct select_request *request, const struct command *command)
{
	const struct selection_plan *plan = &request->plan;
	struct selection_rule other = plan->rule;
	bool has_ends = selection_rule_reverse(&other);
	double mixed = 0;

	for (size_t i = 0; i < plan->mix_count; i++)
		mixed += plan->mixes[i].fraction;
	if (mixed > 1 + 1e-9)
		return options_wrong(command, "the fractions of --mix are more than 1 together");
	if (plan->mix_count > 0 && !plan->has_size)
		return options_wrong(command, "--mix needs --fraction or --count");
	if (plan->classes != SELECTION_CLASSES_ANY && !plan->has_size)
		return options_wrong(command, "%s needs --fraction or --count",
		                     plan->classes == SELECTION_CLASSES_EACH ? "--per-class" : "--stratified");
	if (plan->top_share < 1 && !plan->has_size)
		return options_wrong(command, "--both-ends needs --fraction or --count");
	if (plan->top_share < 1 && !has_ends)
		return options_wrong(command, "--both-ends: %s has no other end", request->rule);
	if (request->has_threshold && !has_ends)
		return options_wrong(command, "--threshold: %s has no values", request->rule);
	return 0;
}

static int
check_features(const struct select_request *request, const struct command *command)
{
	bool by_cover = has_kind(request, SELECT_K_CENTER);

	if (by_cover && !request->features)
		return options_wrong(command, "k-center needs --features X.npy, one row for each example");
	if (by_cover && !request->plan.has_size)
		return options_wrong(command, "k-center needs --fraction or --count");
	if (by_cover && request->plan.classes != SELECTION_CLASSES_ANY)
		return options_wrong(command,
		                     "k-center covers all classes at once: leave out --per-class and --stratified");
	if (!by_cover && request->features)
		return options_wrong(command, "--features is for --by k-center");
	if (request->feature_ids && !request->features)
		return options_wrong(command, "--feature-ids is for --features");
	if (request->has_cuts && !has_kind(request, SELECT_REGION))
		return options_wrong(command, "--regions is for rules like region:ambiguous");
	return 0;
}

/* Standard input can be read once, and several files need names. */
static int
check_files(const struct select_request *request, const struct command *command)
{
	size_t inputs = request->join && strcmp(request->join, "-") == 0;
	const char *output = request->options.common.output;

	inputs += request->feature_ids && strcmp(request->feature_ids, "-") == 0;
	for (size_t i = 0; i < request->list_count; i++)
		inputs += strcmp(request->lists[i].path, "-") == 0;
	if (inputs > 1 || (request->fraction_count > 1 && request->join && strcmp(request->join, "-") == 0))
		return options_wrong(command, "standard input can be read only once");
	if (request->fraction_count > 0 && (!output || strcmp(output, "-") == 0))
		return options_wrong(command, "--fractions writes one file each: name them with -o, as -o subset.txt");
	return 0;
}

int
select_check_options(struct select_request *request, const struct command *command)
{
	request->runs[0] = request->options.operands[0];
	if (!request->rule)
		return options_wrong(command, "by which rule? as in --by ambiguous");
	if ((request->join != NULL) != (request->id_field != NULL))
		return options_wrong(command, "--join FILE and --id-field NAME go together");
	if (request->join && request->format >= 0 && request->format != SELECT_NPY)
		return options_wrong(command,
		                     "--join prints FILE's lines; --format can only be npy, for their numbers");
	if (check_plan(request, command) != 0 || check_features(request, command) != 0 ||
	    check_files(request, command) != 0)
		return STATUS_USAGE;
	if (request->format < 0)
		request->format = request->join ? SELECT_LINES : request->with_measures ? SELECT_CSV : SELECT_IDS;
	if (request->with_measures && (request->format == SELECT_IDS || request->format == SELECT_NPY))
		return options_wrong(command, "--with-measures needs --format csv or jsonl, or --join");
	return 0;
}

int
select_check_rules(const struct select_request *request, const struct dynamics *dynamics)
{
	const struct command *command = request->options.command;
	const char *names[MEASURE_COUNT];

	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		names[m] = measure_infos[m].name;
	for (size_t i = 0; i <= request->plan.mix_count; i++) {
		const struct selection_rule *rule = i > 0 ? &request->plan.mixes[i - 1].rule : &request->plan.rule;

		if (!selection_rule_is_known(rule, dynamics)) {
			options_choice(command, "measure", rule->measure, names, MEASURE_COUNT);
			return STATUS_USAGE;
		}
		if (request->run_count > 1 && rule->kind == SELECT_MEASURE &&
		    !dynamics_column(dynamics, rule->measure)) {
			message_error("%s cannot be had: not all of these runs were recorded with the signal it needs",
			              rule->measure);
			return STATUS_FAILED;
		}
	}
	if (request->format == SELECT_NPY && !request->join && dynamics->info->id_kind == STORE_ID_STR)
		return options_wrong(
		        command,
		        "npy holds numbers, and the ids of run '%s' are strings: use --join, or another format",
		        dynamics->info->name);
	return 0;
}
