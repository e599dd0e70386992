/*
 * handover.c: finds portoland, and replaces this process by it.
 *
 * $PORTOLAND, if set, names the program. Otherwise it is beside this program (installed), in ../collector (a build
 * tree), or on $PATH. It gets the options that were given, and checks their values.
 */
#include "handover.h"

#include "base/message.h"
#include "options/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the folder of this program. */
static bool
handover_find_own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length < 0)
		return false;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* Replaces this process. Returns only if the program cannot be started: errno says why. */
static void
handover_become(const char *program, const char **words)
{
	words[0] = program;
	signal(SIGPIPE, SIG_DFL);
	execvp(program, (char **)words);
}

static int
handover_find(const char **words)
{
	static const char *const places[] = {"portoland", "../collector/portoland"};
	const char *chosen = getenv("PORTOLAND");
	char folder[PATH_MAX], program[PATH_MAX + 32];

	if (chosen && *chosen) {
		handover_become(chosen, words);
		message_error("cannot start %s ($PORTOLAND): %s", chosen, strerror(errno));
		return STATUS_FAILED;
	}
	for (size_t i = 0; handover_find_own_folder(folder) && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(program, sizeof(program), "%s/%s", folder, places[i]);
		if (access(program, X_OK) == 0)
			handover_become(program, words);
	}
	handover_become("portoland", words);
	message_error(
	        "cannot start portoland: %s (it is installed beside portolan; if it is elsewhere, set $PORTOLAND)",
	        strerror(errno));
	return STATUS_FAILED;
}

int
handover(void *context, struct portolan_error *error)
{
	const struct common_options *common = context;
	const struct option_spec *option;
	char names[OPTIONS_MAX][OPTION_LABEL_ROOM];
	const char *words[2 * OPTIONS_MAX + 5] = {NULL, common->command->name};
	size_t count = 2;

	(void)error;
	for (size_t i = 0; (option = option_at(common->command, i)) != NULL; i++) {
		if (!option_given(common, option->name) || option_is_named("yes styled", option->name))
			continue; /* portoland neither asks nor has colours */
		words[count++] = option_label(option, names[i]);
		if (option->argument)
			words[count++] = *(const char *const *)((const char *)context + option->offset);
	}
	if (common->operands[0][0] == '-')
		words[count++] = "--";
	words[count++] = common->operands[0];
	return handover_find(words);
}
