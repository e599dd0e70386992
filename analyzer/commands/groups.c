/* groups.c: portolan groups: how a selection differs from the whole; or how often examples were forgotten. */
#include "commands.h"

#include "dynamics/arrays.h"
#include "groups.h"
#include "plot/chart.h"
#include "program/message.h"
#include "program/number.h"
#include "program/options.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPLICATES 1000
#define REPLICATES_MAX 1000000
#define LEVEL 0.95
#define STATUS_STOPPED 1000 /* no exit status: the options have theirs */

enum {
	KEY_ATTRIBUTES = OPTION_KEY,
	KEY_ID_FIELD,
	KEY_COLUMNS,
	KEY_BY,
	KEY_FRACTION,
	KEY_COUNT,
	KEY_SEED,
	KEY_TEXT_PAIR,
	KEY_WORDS,
	KEY_REPLICATES,
	KEY_LEVEL,
	KEY_FORGETTING,
	KEY_PLOT,
};

/* Splits `text` at commas: its copy, and how many parts; more than `most`, or an empty one: 0. */
static size_t
split(const char *text, size_t most, char **copy, const char **parts)
{
	size_t count = 0;
	char *at;

	free(*copy);
	*copy = at = strdup(text);
	while (at) {
		char *comma = strchr(at, ',');

		if (comma)
			*comma = '\0';
		if (count == most || !*at)
			return 0;
		parts[count++] = at;
		at = comma ? comma + 1 : NULL;
	}
	return count;
}

static int
take_rule(struct groups *groups, const struct command *command, const char *text)
{
	groups->rule_text = text;
	if (selection_rule_parse(text, &groups->rule))
		return groups->rule.kind != SELECT_K_CENTER
		               ? 0
		               : options_wrong(command,
		                               "--by k-center: only portolan select takes the features it needs");
	options_choice(command, "rule", text, selection_names, SELECTION_NAMES);
	return STATUS_USAGE;
}

/* An option that the other answer would pass over is wrong, not ignored. */
static void
note_option(struct groups *groups, const struct command *command, int key)
{
	const struct command_option *option = command->options;

	while (option->name && option->key != key)
		option++;
	if (key != KEY_FORGETTING && key != KEY_PLOT)
		groups->of_selection = option->name;
}

/* Takes one option; its status when it is wrong, else 0. */
static int
take_option(struct groups *groups, const struct command *command, int key, const char *text)
{
	struct columns_request *columns = &groups->columns;

	switch (key) {
	case KEY_ATTRIBUTES:
		columns->path = text;
		return 0;
	case KEY_ID_FIELD:
		columns->id_field = text;
		return 0;
	case KEY_COLUMNS:
		columns->name_count = split(text, COLUMNS_MAX, &groups->column_names, columns->names);
		return columns->name_count ? 0 : options_wrong(command, "--columns %s: say A,B,C", text);
	case KEY_BY:
		return take_rule(groups, command, text);
	case KEY_FRACTION:
		if (!number_parse(text, &groups->fraction) || !(groups->fraction > 0 && groups->fraction <= 1))
			return options_wrong(command, "--fraction %s: a number above 0, up to 1", text);
		return 0;
	case KEY_COUNT:
		return options_number(command, "--count", text, 1, UINT64_MAX, &groups->count);
	case KEY_SEED:
		return options_number(command, "--seed", text, 0, INT64_MAX, &groups->seed); /* JSON has no more */
	case KEY_TEXT_PAIR:
		if (split(text, 2, &groups->text_names, columns->texts) != 2)
			return options_wrong(command, "--text-pair %s: say A,B, the fields of the two texts", text);
		return 0;
	case KEY_WORDS:
		columns->words = text;
		return 0;
	case KEY_REPLICATES:
		return options_number(command, "--replicates", text, 0, REPLICATES_MAX, &groups->replicates);
	case KEY_LEVEL:
		if (!number_parse(text, &groups->level) || !(groups->level > 0 && groups->level < 1))
			return options_wrong(command, "--level %s: a number between 0 and 1", text);
		return 0;
	case KEY_FORGETTING:
		groups->forgetting = true;
		return 0;
	default:
		groups->plot = text;
		return 0;
	}
}

static int
check_options(struct groups *groups, const struct command *command)
{
	const struct columns_request *columns = &groups->columns;
	struct portolan_error error;

	if (options_one_operand(&groups->options, "run") != 0)
		return STATUS_USAGE;
	if (groups->forgetting && columns->path)
		return options_wrong(command, "one of --attributes and --forgetting");
	if (groups->forgetting && groups->of_selection)
		return options_wrong(command, "--forgetting counts all examples, and does not take --%s",
		                     groups->of_selection);
	if (groups->plot && !groups->forgetting)
		return options_wrong(command, "--plot goes with --forgetting");
	if (groups->plot && picture_init(&groups->picture, "--plot", groups->plot, CHART_DATA_ENDING, &error) < 0)
		return options_wrong(command, "%s", error.message);
	if (groups->forgetting)
		return 0;
	if (!columns->path)
		return options_wrong(command, "which attributes? --attributes FILE --id-field NAME, or --forgetting");
	if (!columns->id_field)
		return options_wrong(command, "--attributes needs --id-field NAME: which field has the ids");
	if (columns->words && !columns->texts[0])
		return options_wrong(command, "--words are looked for in texts: say --text-pair A,B");
	if (groups->count && !isnan(groups->fraction))
		return options_wrong(command, "one of --fraction and --count");
	return 0;
}

static int
do_groups(struct groups *groups, struct portolan_error *error)
{
	struct dynamics_request request = {.gold = true};
	int code = groups->plot ? picture_check(&groups->picture, error) : 0, gaps;

	if (groups->forgetting)
		request.measures = MEASURE_BIT(MEASURE_FORGETTING_EVENTS) | MEASURE_BIT(MEASURE_NEVER_LEARNED);
	else
		selection_rule_request(&groups->rule, &request);
	request.gold = true;
	if (code >= 0)
		code = dynamics_load(&groups->dynamics, &groups->options.common, groups->options.operands[0], &request,
		                     error);
	if (code < 0)
		return code;
	code = groups->forgetting ? groups_count_forgetting(groups, error) : groups_summarise(groups, error);
	if (code >= 0) {
		dynamics_report_first_epoch(&groups->dynamics);
		gaps = dynamics_report_gaps(&groups->dynamics, groups->options.common.strict);
		code = code ? code : gaps;
	}
	array_free(groups->selected);
	array_free(groups->gold);
	dynamics_free(&groups->dynamics);
	return code;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct groups groups = {.fraction = NAN, .level = LEVEL, .replicates = REPLICATES, .rule_text = "forgettable"};
	struct portolan_error error;
	int key, code = 0;

	selection_rule_parse(groups.rule_text, &groups.rule);
	options_begin(&groups.options, command, argc, argv);
	while (code == 0 && (key = options_next(&groups.options)) > 0) {
		note_option(&groups, command, key);
		code = take_option(&groups, command, key, groups.options.argument);
	}
	if (code == 0)
		code = key == OPTIONS_END ? check_options(&groups, command) : STATUS_STOPPED;
	if (code == 0) {
		code = do_groups(&groups, &error);
		if (code < 0) {
			message_error("%s", error.message);
			code = STATUS_FAILED;
		}
	}
	free(groups.column_names);
	free(groups.text_names);
	return code == STATUS_STOPPED ? groups.options.status : code;
}

static const struct command_option options[] = {
        {"attributes", KEY_ATTRIBUTES, "FILE",
         "Your attributes: JSON lines, CSV or TSV, a record for each example, with its id."},
        {"id-field", KEY_ID_FIELD, "NAME", "The field of FILE that has the ids."},
        {"columns", KEY_COLUMNS, "A,B", "The columns to summarise. Default: all but the ids and long texts."},
        {"by", KEY_BY, "RULE", "The selection, as in portolan select. Default: forgettable."},
        {"fraction", KEY_FRACTION, "F",
         "Select this share of the examples. Default: a third; of forgettable and region: rules all."},
        {"count", KEY_COUNT, "N", "Select so many examples."},
        {"text-pair", KEY_TEXT_PAIR, "A,B",
         "Summarise word_overlap as well: the words that the texts in fields A and B share, over all of theirs "
         "(Jaccard)."},
        {"words", KEY_WORDS, "LIST",
         "With --text-pair: the share of texts that have any of these words, as in no,not,never; columns words_in_A "
         "and words_in_B."},
        {"replicates", KEY_REPLICATES, "N", "Samples drawn for the intervals. Default: 1000; 0: no intervals."},
        {"level", KEY_LEVEL, "P", "The intervals' level. Default: 0.95."},
        {"seed", KEY_SEED, "N", "For the samples, and the rule random. Default: 0."},
        {"forgetting", KEY_FORGETTING, NULL,
         "Instead: how many examples were forgotten how often, and how many are forgettable."},
        {"plot", KEY_PLOT, "FILE", "With --forgetting: draw that as well; .png, .svg or .pdf."},
        {0},
};

const struct command groups_command = {
        .name = "groups",
        .operands = "RUN",
        .summary = "how a selection differs from the whole",
        .examples = "are the forgettable examples longer, or from another source?\n"
                    "portolan groups snli/seed1 --attributes train.csv --id-field id --columns length,source\n"
                    "do the hard ones share fewer words, and have more negations?\n"
                    "portolan groups snli/seed1 --by hard-to-learn --fraction 0.1 --attributes train.jsonl --id-field "
                    "id --text-pair premise,hypothesis --words no,not,never,nobody\n"
                    "how often were examples forgotten?\n"
                    "portolan groups snli/seed1 --forgetting --plot forgotten.svg\n",
        .help = "Summarises your attributes for all examples and for a selection, overall (gold: all) and, where "
                "there are several, per gold "
                "label. Columns of numbers give their mean, others the share of each value. Prints attribute, value "
                "(of categories), gold, "
                "label, examples (with a value), all (mean or share), selected_examples, selected, difference "
                "(selected less all), low and "
                "high: its percentile bootstrap interval, the selection and the rest each drawn from by itself. It "
                "takes time in "
                "proportion to examples and replicates.\n\n"
                "Words are runs of letters, digits, apostrophes and characters beyond ASCII; ASCII letters are "
                "compared without case. "
                "Without --columns, those that are neither numbers nor have few different values are passed over.\n\n"
                "With --forgetting it prints forgetting_events, examples, share and, of these, never_learned. "
                "Forgettable is what was "
                "forgotten at least once, or never learned.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY,
        .options = options,
        .run = run,
};
