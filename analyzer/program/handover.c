/*
 * handover.c: finds portoland and becomes it.
 *
 * $PORTOLAND, if set, names the program. Otherwise it is beside this program (installed), in ../collector (a build
 * tree), or on $PATH. The arguments are passed on unchanged, and portoland checks them.
 */
#include "handover.h"

#include "message.h"
#include "options/help.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of this program. */
static bool
own_folder(char folder[PATH_MAX])
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

/* Does not return if the program could be started. */
static void
become(const char *program, char **arguments)
{
	arguments[0] = (char *)program;
	signal(SIGPIPE, SIG_DFL);
	execvp(program, arguments);
}

int
handover_become(char **arguments)
{
	static const char *const places[] = {"portoland", "../collector/portoland"};
	const char *chosen = getenv("PORTOLAND");
	char folder[PATH_MAX], program[PATH_MAX + 32];

	if (chosen && *chosen) {
		become(chosen, arguments);
		message_error("cannot start %s ($PORTOLAND): %s", chosen, strerror(errno));
		return STATUS_FAILED;
	}
	for (size_t i = 0; own_folder(folder) && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(program, sizeof(program), "%s/%s", folder, places[i]);
		if (access(program, X_OK) == 0)
			become(program, arguments);
	}
	become("portoland", arguments);
	message_error("cannot start portoland: %s (it is installed beside portolan; if it is elsewhere, set $PORTOLAND)",
	              strerror(errno));
	return STATUS_FAILED;
}

int
handover_to_collector(const struct command *command, char **argv)
{
	for (int i = 2; argv[i] && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return help_short(command, NULL);
	return handover_become(argv);
}
