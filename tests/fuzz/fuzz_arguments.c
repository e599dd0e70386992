/*
 * fuzz_arguments: command lines of portolan, up to where a store would be opened: every option that takes a text
 * (epochs, rules, sizes, numbers), and the rules by themselves. A wrong one ends with one line on stderr and status 2.
 *
 * The input: the number of the command, then arguments that end with a NUL or a newline.
 */
#include "fuzz.h"

#include <measures/measures.h>
#include <commands/commands.h>
#include <options/command_line.h>
#include <base/number.h>
#include <selection/selection.h>

#include <math.h>

#define MOST_ARGUMENTS 12

/* Numbers as text, both ways. */
static void
check_numbers(const char *text)
{
	char printed[NUMBER_ROOM];
	uint64_t integer, again;
	double value, back;

	if (number_parse_u64(text, strlen(text), &integer)) {
		number_print_u64(integer, printed);
		require(number_parse_u64(printed, strlen(printed), &again) && again == integer);
		require(number_print_grouped(integer, printed) < NUMBER_ROOM);
	}
	if (number_parse(text, &value)) {
		require(isfinite(value));
		require(number_print(value, printed) == strlen(printed) && strlen(printed) < NUMBER_ROOM);
		require(number_parse(printed, &back) && back == value);
	}
}

static void
check_rule(const char *text)
{
	struct selection_rule rule = {0};

	if (!selection_rule_parse(text, &rule))
		return;
	require(rule.kind == SELECT_MEASURE || rule.kind == SELECT_FORGETTABLE || rule.kind == SELECT_RANDOM);
	require(memchr(rule.measure, '\0', sizeof(rule.measure)));
	if (rule.kind == SELECT_MEASURE)
		require(rule.measure[0]);
}

/* Up to where the command would begin; none is given a run that exists. */
static void
read_command(const struct command *command, int argc, char **argv)
{
	struct common_options *request = malloc(command->request_size);
	struct portolan_error error;
	int status;

	require(request);
	status = options_read(command, argc, argv, request);
	require(status == OPTIONS_READ || status == STATUS_USAGE || status == STATUS_DONE);
	if (status == OPTIONS_READ) {
		require(request->operand_count >= command->least && request->operand_count <= command->most);
		require(request->operand_count < argc);
		require(request->query.epoch_from < request->query.epoch_to);
		status = command->check ? command->check(request, &error) : 0;
		require(status <= 0 || status == STATUS_USAGE);
	}
	free(request);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	size_t commands = 0, count = 2;
	const struct command *command;
	char *argv[MOST_ARGUMENTS + 3], *text, *rest, *word;
	uint8_t number = input_u8(&input);

	if (size > 2048)
		return 0;
	while (command_table[commands])
		commands++;
	command = command_table[number % commands];
	text = input_text(&input, input.size);
	for (size_t i = 0; i < size - 1 && size > 0; i++)
		text[i] = text[i] ? text[i] : '\n';
	argv[0] = (char *)(uintptr_t) "portolan";
	argv[1] = (char *)(uintptr_t)command->name;
	for (word = strtok_r(text, "\n", &rest); word && count < MOST_ARGUMENTS + 2;
	     word = strtok_r(NULL, "\n", &rest)) {
		check_numbers(word);
		check_rule(word);
		command_nearest(command_table, word);
		argv[count++] = word;
	}
	argv[count] = NULL;
	read_command(command, (int)count, argv);
	free(text);
	return 0;
}
