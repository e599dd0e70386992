/*
 * handover.c: portolan import, rm, backup, salvage and keygen. Their work is the collector's, as it changes a store or
 * makes one. So each of them finds the collector's program, portoland, and replaces this process by it.
 *
 * $PORTOLAND, if set, names that program. Otherwise it is beside this one (installed), in ../collector (a build tree),
 * or on $PATH. It gets the options that the user gave, and checks their values.
 */
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

/* The request of any of the five commands. */
struct handover_request {
	struct common_options common;
	const char *run;    /* of import */
	const char *client; /* of keygen */
	const char *new;    /* of salvage */
	bool overwrite;     /* of import */
	bool yes;           /* of rm */
};

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

/* Replaces this process by the program. Returns only if that cannot be started: errno says why. */
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

/* Runs any of these commands: replaces this process by portoland, and passes on the options that the user gave and the
 * one operand. Returns STATUS_FAILED if there is no portoland. */
static int
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

/* Asks whether to remove the run, and waits for the answer. */
static bool
handover_confirm_rm(const char *run, const char *store)
{
	char answer[16];

	message_set_quiet(false); /* --quiet leaves out closing lines, but a question is not one */
	message_note("remove run '%s', and all that was recorded of it, from %s? [y/N]", run, store);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int
handover_run_rm(void *context, struct portolan_error *error)
{
	const struct handover_request *request = context;
	const struct common_options *common = &request->common;
	const char *run = common->operands[0];

	if (request->yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) ||
	    handover_confirm_rm(run, common->query.store))
		return handover(context, error);
	message_error("run '%s' was not removed", run);
	return STATUS_FAILED;
}

#define TO(member) .offset = offsetof(struct handover_request, member)
static const struct option_spec import_options[] = {
        {"run", "NAME", OPTION_TEXT, TO(run), .group = OPTION_GROUP_HOW},
        {"overwrite", NULL, OPTION_FLAG, TO(overwrite), .group = OPTION_GROUP_HOW},
        {0},
};

static const struct option_spec rm_options[] = {
        {"yes", NULL, OPTION_FLAG, TO(yes), .letter = 'y', .group = OPTION_GROUP_HOW},
        {0},
};

static const struct option_spec salvage_options[] = {
        {"output", "NEW", OPTION_FOLDER, TO(new), .letter = 'o', .group = OPTION_GROUP_OUTPUT, .often = true,
         .missing = "say which store to make with -o NEW"},
        {0},
};

static const struct option_spec keygen_options[] = {
        {"client", "NAME", OPTION_TEXT, TO(client), .group = OPTION_GROUP_HOW},
        {0},
};

extern const struct help help_import, help_rm, help_backup, help_salvage, help_keygen;

const struct command import_command = {
        .name = "import",
        .operands = "DIR|FILE [--run NAME]",
        .help = &help_import,
        .common = COMMON_STORE,
        .options = import_options,
        .operand = "file",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct handover_request),
        .run = handover,
};

const struct command rm_command = {
        .name = "rm",
        .operands = "RUN",
        .help = &help_rm,
        .common = COMMON_STORE,
        .options = rm_options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct handover_request),
        .run = handover_run_rm,
};

const struct command backup_command = {
        .name = "backup",
        .operands = "DIR",
        .help = &help_backup,
        .common = COMMON_STORE,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct handover_request),
        .run = handover,
};

const struct command salvage_command = {
        .name = "salvage",
        .operands = "STORE",
        .help = &help_salvage,
        .common = COMMON_JSON,
        .options = salvage_options,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct handover_request),
        .run = handover,
};

const struct command keygen_command = {
        .name = "keygen",
        .operands = "DIR [--client NAME]",
        .help = &help_keygen,
        .common = COMMON_STORE,
        .options = keygen_options,
        .operand = "directory",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct handover_request),
        .run = handover,
};
