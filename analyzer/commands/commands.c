/* commands.c: the table of portolan's subcommands (`map`, `show`, …); and command_run(), by which main() runs one of
 * them: it reads the options, has them checked, runs the command, and says how it ended and what it has written. */
#include "commands.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "options/command_line.h"
#include "output/claims.h"
#include "output/written.h"

#include <portolan/clock.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

const struct command *const command_table[] = {
        &report_command,     &runs_command,
        &check_command,      &metrics_command,
        &dynamics_command,   &show_command,
        &epochs_command,     &map_command,
        &select_command,     &suspects_command,
        &noise_command,      &triage_command,
        &compare_command,    &groups_command,
        &aflite_command,     &artifacts_command,
        &upsample_command,   &watch_command,
        &serve_command,      &import_command,
        &rm_command,         &backup_command,
        &salvage_command,    &keygen_command,
        &completion_command, NULL,
};

static int
command_check(const struct command *command, void *request)
{
	struct portolan_error error;
	int status = command->check ? command->check(request, &error) : 0;

	return status < 0 ? options_wrong(request, "%s", error.message) : status;
}

/* The request of the command that is running, and when it began: for command_end(), which die() calls. */
static struct common_options *running;
static double began;

static void
command_say_resources(void)
{
	struct rusage usage;

	if (running->verbose && getrusage(RUSAGE_SELF, &usage) == 0)
		message_note("%.2f s; %s MB of memory at most, with what is mapped of files", clock_s() - began,
		             NUMBER_GROUPED((uint64_t)usage.ru_maxrss * 1024 / 1000000));
}

/* Says why the command failed, and which files it had already written. Returns the exit status. */
static int
command_end(const char *message)
{
	int status = STATUS_FAILED;

	if (claims_were_refused())
		status = options_wrong(running, "%s", message);
	else
		message_error("%s", message);
	written_say();
	command_say_resources();
	return status;
}

static int
command_do(const struct command *command, void *request)
{
	struct portolan_error error;
	int status;

	running = request;
	die_through(command_end);
	status = command->run(request, &error);
	if (status < 0)
		return command_end(error.message);
	written_say();
	command_say_resources();
	return status;
}

int
command_run(const struct command *command, int argc, char **argv)
{
	void *request;
	int status;

	began = clock_s();
	request = memory_new(1, command->request_size);
	status = options_read(command, argc, argv, request);
	if (status == OPTIONS_READ) {
		((struct common_options *)request)->commands = command_table;
		status = command_check(command, request);
		if (status == 0)
			status = command_do(command, request);
	}
	free(request);
	return status;
}
