/*
 * checks.c: checks the operands of a command, and options against one another. Then it claims the files
 * (output/claims.h), so that a command that would overwrite its input fails before it reads or writes anything.
 */
#include "checks.h"

#include "output/claims.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
option_is_named(const char *words, const char *name)
{
	for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
		if (strcspn(words, " ") == strlen(name) && strncmp(words, name, strlen(name)) == 0)
			return true;
	return false;
}

/* Takes the action from the operands, and counts the others. 0, or wrong. */
static int
options_check_operands(struct common_options *request)
{
	const struct command *command = request->command;

	if (command->actions && request->operand_count == 0)
		return options_wrong(request, "which action? portolan %s %s", command->name, command->operands);
	if (command->actions) {
		request->action = options_choice(request, "action", request->operands[0], command->actions);
		if (request->action < 0)
			return STATUS_USAGE;
		request->operands++;
		request->operand_count--;
	}
	if (request->operand_count < command->least && command->actions)
		return options_wrong(request, "which %s? portolan %s %s%s", command->operand, command->name,
		                     command->actions[request->action], strchr(command->operands, ' '));
	if (request->operand_count < command->least)
		return options_wrong(request, "which %s? portolan %s %s", command->operand, command->name,
		                     command->operands);
	if (request->operand_count <= command->most)
		return 0;
	if (command->most == 0)
		return options_wrong(request, "takes no operand: '%s'", request->operands[0]);
	if (command->most == 1)
		return options_wrong(request, "one %s at a time: '%s' is one too many", command->operand,
		                     request->operands[1]);
	return options_wrong(request, "at most %d %ss at a time", command->most, command->operand);
}

/* The first option beside `self` that is named in `words` and was given; NULL: none. */
static const char *
options_find_given(const struct common_options *request, const char *words, const struct option_spec *self)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(request->command, i)) != NULL; i++)
		if (option != self && request->given & UINT64_C(1) << i && option_is_named(words, option->name))
			return option->name;
	return NULL;
}

/* One of the options it needs must have been given: "--mix needs --fraction F or --count N". */
static int
options_check_needs(const struct common_options *request, const struct option_spec *option)
{
	const struct option_spec *other;
	char text[256] = "";

	if (options_find_given(request, option->needs, option))
		return 0;
	for (size_t i = 0; (other = option_at(request->command, i)) != NULL; i++) {
		size_t used = strlen(text);

		if (option_is_named(option->needs, other->name))
			snprintf(text + used, sizeof(text) - used, "%s--%s%s%s", used ? " or " : "", other->name,
			         other->argument ? " " : "", other->argument ? other->argument : "");
	}
	return *text ? options_wrong(request, "--%s needs %s", option->name, text) : 0;
}

/* Checks options against one another and against the action. */
static int
options_check_option(const struct common_options *request, const struct option_spec *option, bool is_given)
{
	const char *action = request->command->actions ? request->command->actions[request->action] : "";
	bool taken = !option->actions || option_is_named(option->actions, action);
	const char *other = options_find_given(request, option->excludes, option);

	if (!is_given)
		return option->missing && taken ? options_wrong(request, "%s", option->missing) : 0;
	if (!taken)
		return options_wrong(request, "%s does not take --%s", action, option->name);
	if (other)
		return options_wrong(request, "--%s and --%s do not go together: leave one of them out", option->name,
		                     other);
	return options_check_needs(request, option);
}

static int
options_claim_store(const struct common_options *request, struct portolan_error *error)
{
	static const char *const files[] = {"data.mdb", "lock.mdb", "portoland.lock", "portoland.log"};
	int code = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && code >= 0; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", request->query.store, files[i]) < 0)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the name of the store");
		code = claims_add_input("the store's", path, error);
		free(path);
	}
	return code;
}

/* The store, whether or not the command reads it, operands that are files, and every output; the inputs that options
 * named were claimed before. */
static int
options_claim_files(const struct common_options *request)
{
	const struct command *command = request->command;
	const struct option_spec *option;
	struct portolan_error error;
	int code = options_claim_store(request, &error);

	for (int i = 0; i < request->operand_count && strcmp(command->operand, "file") == 0 && code >= 0; i++)
		code = claims_add_input("DATA", request->operands[i], &error);
	for (size_t i = 0; (option = option_at(command, i)) != NULL && code >= 0; i++) {
		const void *path = (const char *)request + option->offset;
		char label[OPTION_LABEL_ROOM];

		if (option->kind == OPTION_OUTPUT && request->given & UINT64_C(1) << i)
			code = claims_add_output(option_label(option, label), *(const char *const *)path, &error);
	}
	if (code >= 0 && command->common & COMMON_OUTPUT && !request->output)
		code = claims_add_output("the result", "-", &error);
	return code < 0 ? options_wrong(request, "%s", error.message) : 0;
}

int
options_check(struct common_options *request)
{
	const struct option_spec *option;
	int status = options_check_operands(request);

	for (size_t i = 0; (option = option_at(request->command, i)) != NULL && status == 0; i++)
		status = options_check_option(request, option, request->given & UINT64_C(1) << i);
	return status == 0 ? options_claim_files(request) : status;
}
