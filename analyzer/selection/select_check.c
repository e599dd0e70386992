/* select_check.c: checks that the options of `portolan select` go together, once all are read: rules, sizes, files and
 * formats. */
#include "base/message.h"
#include "options/format.h"
#include "rule_options.h"
#include "select_files.h"
#include "select_options.h"

#include <string.h>

#define PLACE_OF_NPY (1 + TABLE_NPY) /* among select_format_names */

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
	if (!by_clusters && option_given(common, "starts"))
		return options_wrong(common, "--starts is for --by s2l");
	if (!by_clusters && request->source_field)
		return options_wrong(common, "--sources is for --by s2l");
	if (request->source_file && !request->id_field)
		return options_wrong(common, "--sources-data needs --id-field: which of its fields holds the ids?");
	if (request->source_field && !request->source_file && strcmp(request->join, "-") == 0)
		return options_wrong(common, "--sources reads --data twice, and standard input can be read only once");
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

/* Checks what goes with --minus: what ranks by the measures themselves, as they are differences then. */
static int
select_check_minus(struct select_request *request)
{
	const struct common_options *common = &request->common;
	static const char *const others[] = {"why", "without-suspects", "within", "regions"};

	if (!common->query.minus)
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (option_given(common, others[i]))
			return options_wrong(
			        common, "--%s does not go with --minus: it is about one run's own measures", others[i]);
	for (size_t i = 0; i <= request->plan.mix_count; i++) {
		enum selection_kind kind = (i > 0 ? request->plan.mixes[i - 1].rule : request->plan.rule).kind;

		if (kind != SELECT_MEASURE && kind != SELECT_RANDOM && kind != SELECT_BY_ID)
			return options_wrong(common,
			                     "--minus: say MEASURE:asc or MEASURE:desc, as in loss:desc; %s is "
			                     "about one run's own measures",
			                     i > 0 ? request->mix_rules[i - 1] : request->rule);
	}
	request->runs[request->run_count++] = (char *)common->query.minus;
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
	if (request->has_cuts && !select_has_kind(request, SELECT_REGION) && !request->why)
		return options_wrong(common, "--regions is for rules like region:ambiguous, and for --why");
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
	if (format >= 0 && format_choose(common, select_format_names, &format) != 0)
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
	status = format_choose(common, select_format_names, &format);
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

/* Checks the options about wrong labels, and about what the selection is made of. */
static int
select_check_labels(const struct select_request *request)
{
	const struct common_options *common = &request->common;
	bool is_standard = !common->output || strcmp(common->output, "-") == 0;

	if (common->json && !request->why)
		return options_wrong(common, "--json prints the report of --why: say --why as well");
	if (common->json && is_standard)
		return options_wrong(common, "--json prints on standard output, where the examples go: name a file for "
		                             "them, as -o subset.txt");
	if (request->text_count > 0 && !request->why)
		return options_wrong(common, "--text is for --why, which compares these fields to find duplicates");
	if (request->why && request->join && strcmp(request->join, "-") == 0)
		return options_wrong(common, "--why reads --data twice, and standard input can be read only once");
	if (request->label_field && !request->join)
		return options_wrong(common, "--label-field is a field of --data FILE");
	if (request->corrections && request->format == SELECT_LINES && !request->label_field)
		return options_wrong(common, "--corrections with --data: which field has the labels? --label-field "
		                             "FIELD, so that the lines get the corrected ones");
	return 0;
}

/* Checks the rule. Without one, all examples within the polygons are selected, or all that are left of the run. */
static int
select_check_rule(struct select_request *request)
{
	const struct common_options *common = &request->common;
	static const char *const needing[] = {"fraction", "count",   "fractions", "threshold",
	                                      "offset",   "regions", "features",  "strata"};

	if (request->rule)
		return 0;
	if (!request->within_file && !request->corrections && !request->without_suspects)
		return options_wrong(common, "by which rule? as in --by ambiguous");
	for (size_t i = 0; i < sizeof(needing) / sizeof(*needing); i++)
		if (option_given(common, needing[i]))
			return options_wrong(common, "--%s needs --by: by which rule?", needing[i]);
	request->rule = request->within_file ? "within" : "all";
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
		status = select_check_minus(request);
	if (status == 0)
		status = select_check_drawn(request);
	if (status == 0)
		status = select_check_features(request);
	if (status == 0)
		status = select_choose_format(request);
	if (status == 0)
		status = select_check_labels(request);
	return status == 0 ? select_check_files(request, error) : status;
}

int
select_check_rules(struct select_request *request, const struct dynamics *dynamics)
{
	for (size_t i = 0; i <= request->plan.mix_count; i++) {
		struct selection_rule *rule = i > 0 ? &request->plan.mixes[i - 1].rule : &request->plan.rule;

		selection_rule_settle(rule, dynamics);
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
