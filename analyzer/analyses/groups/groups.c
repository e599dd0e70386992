/*
 * groups.c: the command `portolan groups`: checks the options, loads the run, and gives one of four answers: how
 * a selection of examples differs from the whole (groups_summary.c), how often examples were forgotten (forgetting.c),
 * how each class was learned (by_class.c), or how accurate the model is by class and attribute (accuracy.c).
 */
#include "groups.h"

#include "base/number.h"
#include "die/die.h"
#include "options/format.h"
#include "plot/chart.h"
#include "selection/rule_options.h"

#include <math.h>
#include <string.h>

#define REPLICATES 1000
#define REPLICATES_MAX 1000000
#define LEVEL 0.95

static int
groups_take_columns(void *context, char *text)
{
	struct groups *groups = context;
	struct columns_request *columns = &groups->columns;

	columns->name_count = options_split(text, COLUMNS_MAX, columns->names);
	return columns->name_count ? 0 : options_wrong(&groups->common, "--columns %s: say A,B,C", text);
}

static int
groups_take_text_pair(void *context, char *text)
{
	struct groups *groups = context;

	if (options_split(text, 2, groups->columns.texts) == 2)
		return 0;
	return options_wrong(&groups->common, "--text-pair %s: say A,B, the fields of the two texts", text);
}

static int
groups_take_rule(void *context, char *text)
{
	struct groups *groups = context;

	groups->rule_text = text;
	return rule_parse_plain(&groups->common, text, &groups->rule);
}

static int
groups_take_cut(void *context, char *text)
{
	struct groups *groups = context;
	const char *parts[COLUMNS_MAX];
	size_t count = options_split(text, COLUMNS_MAX - groups->cut_count, parts);

	for (size_t i = 0; i < count; i++) {
		char *equals = strrchr(parts[i], '=');
		struct accuracy_cut *cut = &groups->cuts[groups->cut_count++];

		if (!equals || !number_parse(equals + 1, &cut->at))
			return options_wrong(&groups->common, "--cut %s: say NAME=VALUE, as word_overlap=0.5",
			                     parts[i]);
		*equals = '\0';
		cut->attribute = parts[i];
	}
	return count ? 0 : options_wrong(&groups->common, "--cut %s: say NAME=VALUE[,NAME=VALUE]", text);
}

static int
groups_check_accuracy(const struct groups *groups)
{
	const struct common_options *common = &groups->common;

	if (!groups->accuracy && common->operand_count > 1)
		return options_wrong(common, "a second run, '%s', goes with --accuracy", common->operands[1]);
	if (common->operand_count > 1 && strcmp(common->operands[0], common->operands[1]) == 0)
		return options_wrong(common, "run '%s' is named twice", common->operands[0]);
	return 0;
}

static int
groups_check(void *context, struct portolan_error *error)
{
	struct groups *groups = context;
	struct common_options *common = &groups->common;

	if (!groups->forgetting && !groups->classes && !groups->accuracy && !groups->columns.path)
		return options_wrong(common, "which file has the attributes? --data FILE --id-field FIELD; or "
		                             "--accuracy, --classes, or --forgetting");
	if (groups_check_accuracy(groups) != 0)
		return STATUS_USAGE;
	if (groups->plot &&
	    picture_init(&groups->picture, PICTURE_CHART, "--plot", groups->plot, common->script, error) < 0)
		return PORTOLAN_E_INVALID;
	if (!option_given(common, "by"))
		selection_rule_parse(groups->rule_text, &groups->rule);
	if (!option_given(common, "fraction"))
		groups->fraction = NAN;
	if (groups->never_learned < 0)
		groups->never_learned = groups->rule.kind == SELECT_FORGETTING && !groups->forgetting
		                                ? NEVER_LEARNED_EPOCHS
		                                : NEVER_LEARNED_FLAG;
	return format_choose_rows(common, &groups->format);
}

static int
groups_run(void *context, struct portolan_error *error)
{
	struct groups *groups = context;
	struct dynamics_request request = {.gold = true, .trend = true, .losses = !groups->classes};
	int status = STATUS_DONE, gaps;

	(void)error;
	if (groups->plot)
		must(picture_check(&groups->picture, &failure));
	if (groups->accuracy) {
		status = groups_measure_accuracy(groups);
		dynamics_free(&groups->dynamics);
		return status;
	}
	if (groups->forgetting)
		request.measures = MEASURE_BIT(MEASURE_FORGETTING_EVENTS) | MEASURE_BIT(MEASURE_NEVER_LEARNED);
	else if (groups->classes)
		request.measures = groups_class_measures();
	else
		selection_rule_request(&groups->rule, &request);
	must(dynamics_load(&groups->dynamics, &groups->common.query, groups->common.operands[0], &request, &failure));
	if (groups->forgetting && !dynamics_measure(&groups->dynamics, MEASURE_FORGETTING_EVENTS))
		must(dynamics_no_measure(&groups->dynamics, "--forgetting",
		                         measure_infos[MEASURE_FORGETTING_EVENTS].name, &failure));
	selection_rule_settle(&groups->rule, &groups->dynamics);
	if (groups->forgetting) {
		groups_count_forgetting(groups);
	} else if (groups->classes) {
		groups_count_classes(groups);
	} else {
		never_learned_count(&groups->dynamics, (enum never_learned)groups->never_learned);
		status = groups_summarise(groups);
	}
	dynamics_report_variability(&groups->dynamics, request.measures);
	gaps = dynamics_report(&groups->dynamics, groups->common.strict);
	dynamics_free(&groups->dynamics);
	return status ? status : gaps;
}

#define TO(member) .offset = offsetof(struct groups, member)
#define OF_ATTRIBUTES .excludes = "forgetting classes"
#define OF_SELECTION .excludes = "forgetting classes accuracy"
static const struct option_spec options[] = {
        {"data", "FILE", OPTION_INPUT, TO(columns.path), .needs = "id-field", OF_ATTRIBUTES, .old_names = "attributes",
         .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(columns.id_field), OF_ATTRIBUTES, .often = true},
        {"columns", "NAME[,NAME]", OPTION_TEXT, .take = groups_take_columns, .needs = "data", OF_ATTRIBUTES,
         .often = true},
        {"by", "RULE", OPTION_RULE, .take = groups_take_rule, OF_SELECTION, .often = true},
        {"fraction", "F", OPTION_REAL, TO(fraction), .range = RANGE_ABOVE_TO, .to = 1,
         .excludes = "count forgetting classes accuracy"},
        {"count", "N", OPTION_WHOLE, TO(count), .least = 1, OF_SELECTION},
        {"text-pair", "A,B", OPTION_TEXT, .take = groups_take_text_pair, .needs = "data", OF_ATTRIBUTES},
        {"words", "LIST", OPTION_TEXT, TO(columns.words), .needs = "text-pair", OF_ATTRIBUTES},
        {"replicates", "N", OPTION_WHOLE, TO(replicates), .most = REPLICATES_MAX, OF_SELECTION,
         .group = OPTION_GROUP_HOW},
        {"level", "P", OPTION_REAL, TO(level), .range = RANGE_BETWEEN, .to = 1, OF_ATTRIBUTES,
         .group = OPTION_GROUP_HOW},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, OF_SELECTION, .group = OPTION_GROUP_HOW},
        {"forgetting", NULL, OPTION_FLAG, TO(forgetting), .often = true},
        {"classes", NULL, OPTION_FLAG, TO(classes), .excludes = "forgetting", .often = true},
        {"accuracy", NULL, OPTION_FLAG, TO(accuracy), .excludes = "forgetting classes", .often = true},
        {"cut", "NAME=VALUE", OPTION_TEXT, .take = groups_take_cut, .needs = "accuracy", .group = OPTION_GROUP_HOW},
        {"glue", NULL, OPTION_FLAG, TO(columns.glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"never-learned", "CONVENTION", OPTION_CHOICE, TO(never_learned), .choices = never_learned_names,
         .excludes = "accuracy", .group = OPTION_GROUP_HOW},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .needs = "forgetting accuracy"},
        {0},
};

static const struct groups defaults = {
        .level = LEVEL, .replicates = REPLICATES, .never_learned = -1, .rule_text = "forgettable"};

extern const struct help help_groups;

const struct command groups_command = {
        .name = "groups",
        .operands = "RUN [RUN]",
        .help = &help_groups,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_WINDOW | COMMON_JSON | COMMON_STRICT |
                  COMMON_THREADS | COMMON_MEMORY | COMMON_SCRIPT,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 2,
        .request_size = sizeof(struct groups),
        .defaults = &defaults,
        .check = groups_check,
        .run = groups_run,
};
