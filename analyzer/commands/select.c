/*
 * select.c: portolan select: the ids, or the user's own lines, of the examples a rule ranks first.
 *
 * Joined lines come in rank order, like ids do: the first lines are the most ambiguous (hardest, …) ones. The file is
 * mapped, so that takes no memory for its text.
 */
#include "commands.h"

#include "files/join.h"
#include "program/message.h"
#include "program/number.h"
#include "selection/selection_plan.h"
#include "select_output.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

enum {
	KEY_FORMAT = 'f',
	KEY_BY = OPTION_KEY,
	KEY_FRACTION,
	KEY_COUNT,
	KEY_JOIN,
	KEY_ID_FIELD,
	KEY_PER_CLASS,
	KEY_MIX,
	KEY_SEED,
	KEY_WITH_MEASURES
};

struct selection {
	struct options options;
	struct selection_plan plan;
	bool has_rule, with_measures;
	int format; /* enum select_format; -1: not given */
	const char *join, *id_field;
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
take_mix(struct selection *selection, const struct command *command, const char *text)
{
	const char *equals = strrchr(text, '=');
	struct selection_mix *part = &selection->plan.mixes[selection->plan.mix_count];
	char rule[300];

	if (!equals || (size_t)(equals - text) >= sizeof(rule))
		return options_wrong(command, "--mix %s: say RULE=FRACTION, as in easy-to-learn=0.1", text);
	if (selection->plan.mix_count == SELECTION_MIXES_MAX)
		return options_wrong(command, "--mix at most %d times", SELECTION_MIXES_MAX);
	memcpy(rule, text, (size_t)(equals - text));
	rule[equals - text] = '\0';
	if (!selection_rule_parse(rule, &part->rule))
		return wrong_rule(command, rule);
	selection->plan.mix_count++;
	return take_fraction(command, "--mix", equals + 1, &part->fraction);
}

/* Takes one option; its status when it is wrong, else 0. */
static int
take_option(struct selection *selection, const struct command *command, int key, const char *text)
{
	switch (key) {
	case KEY_BY:
		selection->has_rule = true;
		return selection_rule_parse(text, &selection->plan.rule) ? 0 : wrong_rule(command, text);
	case KEY_FRACTION:
		if (selection->plan.has_size)
			return options_wrong(command, "one of --fraction and --count");
		selection->plan.has_size = true;
		return take_fraction(command, "--fraction", text, &selection->plan.fraction);
	case KEY_COUNT:
		if (selection->plan.has_size)
			return options_wrong(command, "one of --fraction and --count");
		selection->plan.has_size = true;
		if (!number_parse_u64(text, strlen(text), &selection->plan.count) || selection->plan.count == 0)
			return options_wrong(command, "--count %s: a whole number from 1", text);
		return 0;
	case KEY_FORMAT:
		selection->format = options_choice(command, "format", text, select_format_names, SELECT_FORMATS);
		return selection->format < 0 ? STATUS_USAGE : 0;
	case KEY_JOIN:
		selection->join = text;
		return 0;
	case KEY_ID_FIELD:
		selection->id_field = text;
		return 0;
	case KEY_PER_CLASS:
		selection->plan.per_class = true;
		return 0;
	case KEY_MIX:
		return take_mix(selection, command, text);
	case KEY_SEED:
		if (!number_parse_u64(text, strlen(text), &selection->plan.seed))
			return options_wrong(command, "--seed %s: a whole number", text);
		return 0;
	default:
		selection->with_measures = true;
		return 0;
	}
}

/* Options that do not go together. */
static int
check_options(struct selection *selection, const struct command *command)
{
	double mixed = 0;

	if (!selection->has_rule)
		return options_wrong(command, "by which rule? as in --by ambiguous");
	if ((selection->join != NULL) != (selection->id_field != NULL))
		return options_wrong(command, "--join FILE and --id-field NAME go together");
	if (selection->join && selection->format >= 0 && selection->format != SELECT_NPY)
		return options_wrong(command,
		                     "--join prints FILE's lines; --format can only be npy, for their numbers");
	for (size_t i = 0; i < selection->plan.mix_count; i++)
		mixed += selection->plan.mixes[i].fraction;
	if (mixed > 1 + 1e-9)
		return options_wrong(command, "the fractions of --mix are more than 1 together");
	if (selection->plan.mix_count > 0 && selection->plan.per_class)
		return options_wrong(command, "--mix and --per-class do not go together");
	if (selection->plan.mix_count > 0 && !selection->plan.has_size)
		return options_wrong(command, "--mix needs --fraction or --count");
	if (selection->plan.per_class && !selection->plan.has_size)
		return options_wrong(command, "--per-class needs --fraction or --count");
	if (selection->format < 0)
		selection->format = selection->join ? SELECT_LINES : selection->with_measures ? SELECT_CSV : SELECT_IDS;
	if (selection->with_measures && (selection->format == SELECT_IDS || selection->format == SELECT_NPY))
		return options_wrong(command, "--with-measures needs --format csv or jsonl, or --join");
	return 0;
}

/* The rules can be judged only when the run's own columns are known. */
static int
check_rules(const struct selection *selection, const struct dynamics *dynamics)
{
	const char *names[MEASURE_COUNT];

	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		names[m] = measure_infos[m].name;
	for (size_t i = 0; i <= selection->plan.mix_count; i++) {
		const struct selection_rule *rule = i > 0 ? &selection->plan.mixes[i - 1].rule : &selection->plan.rule;

		if (!selection_rule_is_known(rule, dynamics)) {
			options_choice(selection->options.command, "measure", rule->measure, names, MEASURE_COUNT);
			return STATUS_USAGE;
		}
	}
	if (selection->format == SELECT_NPY && !selection->join && dynamics->ids.kind == STORE_ID_STR)
		return options_wrong(
		        selection->options.command,
		        "npy holds numbers, and the ids of run '%s' are strings: use --join, or another format",
		        dynamics->info->name);
	return 0;
}

/* An exit status, or a negative code with `error` filled. */
static int
print_selection(const struct selection *selection, const struct dynamics *dynamics, struct portolan_error *error)
{
	struct select_output_options output_options = {
	        .format = (enum select_format)selection->format,
	        .path = selection->options.common.output,
	        .join = selection->join,
	        .id_field = selection->id_field,
	        .with_measures = selection->with_measures,
	};
	uint32_t *chosen;
	size_t count;
	int status, gaps;

	status = check_rules(selection, dynamics);
	if (status != 0)
		return status;
	status = selection_plan_choose(&selection->plan, dynamics, &chosen, &count, error);
	if (status < 0)
		return status;
	status = select_output(&output_options, dynamics, chosen, count, error);
	free(chosen);
	if (status < 0)
		return status;
	dynamics_report_first_epoch(dynamics);
	gaps = dynamics_report_gaps(dynamics, selection->options.common.strict);
	return status ? status : gaps;
}

static int
select_examples(const struct selection *selection, struct portolan_error *error)
{
	struct dynamics_request request = {
	        .measures = selection->with_measures ? MEASURE_ALL : 0,
	        .user = selection->with_measures,
	        .gold = selection->with_measures,
	};
	struct dynamics dynamics;
	int status;

	selection_plan_request(&selection->plan, &request);
	status = dynamics_load(&dynamics, &selection->options.common, selection->options.operands[0], &request, error);
	if (status < 0)
		return status;
	status = print_selection(selection, &dynamics, error);
	dynamics_free(&dynamics);
	return status;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct selection selection = {.plan.fraction = 1, .format = -1};
	struct portolan_error error;
	int key, status;

	options_begin(&selection.options, command, argc, argv);
	while ((key = options_next(&selection.options)) > 0) {
		status = take_option(&selection, command, key, selection.options.argument);
		if (status != 0)
			return status;
	}
	if (key != OPTIONS_END)
		return selection.options.status;
	if (options_one_operand(&selection.options, "run") != 0 || check_options(&selection, command) != 0)
		return STATUS_USAGE;
	status = select_examples(&selection, &error);
	if (status < 0) {
		message_error("%s", error.message);
		return STATUS_FAILED;
	}
	return status;
}

static const struct command_option select_options[] = {
        {"by", KEY_BY, "RULE",
         "ambiguous (variability:desc), hard-to-learn (confidence:asc), easy-to-learn (confidence:desc), "
         "forgettable, random, or MEASURE:asc or MEASURE:desc for any measure."},
        {"fraction", KEY_FRACTION, "F", "Take this fraction of the examples observed, rounded half up."},
        {"count", KEY_COUNT, "N", "Take so many. Without either: all that the rule ranks."},
        {"per-class", KEY_PER_CLASS, NULL,
         "Take the fraction, or the count, of each gold class; examples without label are a class."},
        {"mix", KEY_MIX, "RULE=FRACTION",
         "Let this fraction of the selection come from another rule, after those of --by. May be repeated."},
        {"seed", KEY_SEED, "N", "Seed of random. Default: 0."},
        {"format", KEY_FORMAT, "FORMAT", "ids (one per line), csv, jsonl, or npy. Default: ids."},
        {"with-measures", KEY_WITH_MEASURES, NULL, "Add every measure: to csv and jsonl, or to the lines of --join."},
        {"join", KEY_JOIN, "FILE",
         "Print the lines of FILE (JSON lines, CSV or TSV) that belong to the ids; - is standard input."},
        {"id-field", KEY_ID_FIELD, "NAME", "The column, or JSON field, of FILE that holds the id."},
        {0},
};

const struct command select_command = {
        .name = "select",
        .operands = "RUN --by RULE",
        .summary = "choose a subset: ids, or lines of your own file",
        .examples = "the ids of the third that the model finds ambiguous\n"
                    "portolan select snli/seed1 --by ambiguous --fraction 0.33\n"
                    "your own lines of the hundred hardest, likely mislabelled\n"
                    "portolan select snli/seed1 --by hard-to-learn --count 100 --join train.tsv --id-field guid\n"
                    "everything that was forgotten at least once, or never learned\n"
                    "portolan select snli/seed1 --by forgettable -o forgettable.txt\n"
                    "a quarter, one tenth of it easy (Swayamdipta et al. 2020, section 5)\n"
                    "portolan select snli/seed1 --by ambiguous --fraction 0.25 --mix easy-to-learn=0.1\n",
        .help = "Prints what the rule ranks first, in rank order; ties go by ascending id. Examples that a measure is "
                "not defined "
                "for come last. forgettable is the set with at least one forgetting event, or never learned: the never "
                "learned "
                "first, then by forgetting events; all of it unless a size is given.\n\n"
                "With --join, FILE's lines are printed unchanged, in rank order too, the header of CSV and TSV first; "
                "with --with-measures each gets the measures as further columns (fields). A FILE that has one of these "
                "already is refused, as its own would be ambiguous then: rename or remove it there. If ids are missing "
                "from FILE, the exit status is 3. Integer ids may be written as other programs do: 4.0 and \" 4\" are "
                "4.\n\n"
                "npy is an array of the ids (uint64), or with --join of the lines' numbers (int64, from 0, the header "
                "not "
                "counted).",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STRICT,
        .options = select_options,
        .run = run,
};
