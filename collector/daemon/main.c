/*
 * main.c: the program portoland, the collector, which users and client libraries start: serves a store, or runs one
 * command on it (import, rm, keygen, backup, salvage). Reads the arguments, prints what was done, and ends with the
 * exit status.
 */
#include "channel.h"
#include "commands.h"
#include "import.h"
#include "options.h"
#include "parent.h"
#include "server.h"

#include <portolan/clock.h>
#include <portolan/error.h>
#include <portolan/start.h>
#include <portolan/store.h>
#include <progress.h>
#include <spool.h>
#include <visible.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NICE 10 /* with it, the collector gets a tenth of the processor time of a training loop that it competes with */

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INCOMPLETE = 3 };

static int
main_report_error(int code, const struct portolan_error *error)
{
	char line[sizeof(error->message) + 256];

	snprintf(line, sizeof(line), "%s", error->message);
	visible_line(line, sizeof(line));
	fprintf(stderr, "portoland: %s\n", line);
	return code;
}

/* A collector with --detach, as runs start it, leaves the processors to the training. Where the kernel first shares
 * them out among sessions (autogroup), the value of its session counts too; the session has no other process. A
 * collector that serves other machines keeps its priority: it would otherwise fall behind its clients. */
static void
main_lower_priority(void)
{
	FILE *session = fopen("/proc/self/autogroup", "we");

	if (getpriority(PRIO_PROCESS, 0) < NICE)
		(void)setpriority(PRIO_PROCESS, 0, NICE);
	if (session) {
		fprintf(session, "%d", NICE);
		fclose(session);
	}
}

static int
main_serve(const struct options *options)
{
	struct portolan_error error = {0};
	int parent = -1, result = options->detach ? parent_detach(&parent, &error) : 0;

	if (result == 0 && options->detach)
		main_lower_priority();
	if (options->starter && !parent_follow(options->starter))
		return EXIT_FAILED; /* no process is left to be told */
	if (result == 0)
		result = server_run(options, &parent, &error);
	if (result < 0 && parent >= 0)
		parent_answer(&parent, options->store, error.message);
	else if (result < 0)
		main_report_error(EXIT_FAILED, &error);
	return result < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int
main_import_file(const struct import_options *import)
{
	struct import_report report = {0};
	struct portolan_error error = {0};

	if (import_spool(import, &report, &error) < 0)
		return main_report_error(report.interrupted ? 128 + report.interrupted : EXIT_FAILED, &error);
	visible_line(report.run, sizeof(report.run)); /* the key was read from a file */
	printf("imported %" PRIu64 " observations into run '%s'", report.sent, report.run);
	if (report.known)
		printf(" (%" PRIu64 " were there already)", report.known);
	printf("; it now holds %" PRIu64 " of %" PRIu64 " examples in %" PRIu64 " epochs\n", report.observations,
	       report.examples, report.epochs);
	if (report.replaced)
		printf("replaced, or not later than what was there: %" PRIu64 " observations\n", report.replaced);
	if (report.texts)
		printf("kept the texts of %" PRIu64 " examples\n", report.texts - report.texts_refused);
	if (report.refused)
		fprintf(stderr, "portoland: %" PRIu64 " observations were refused\n", report.refused);
	if (report.texts_refused)
		fprintf(stderr,
		        "portoland: the texts of %" PRIu64
		        " examples were refused; the log of the store's collector says why\n",
		        report.texts_refused);
	if (report.damage[0])
		fprintf(stderr, "portoland: %s\n", report.damage);
	return report.refused || report.texts_refused || report.damage[0] ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int
main_import_files(const struct options *options, const struct import_options *import)
{
	struct import_report report = {0};
	struct portolan_error error = {0};

	if (import_dynamics(import, &report, &error) < 0)
		return main_report_error(report.interrupted ? 128 + report.interrupted : EXIT_FAILED, &error);
	if (report.examples * report.epochs == report.observations)
		printf("imported %" PRIu64 " examples × %" PRIu64 " epochs = %" PRIu64 " observations into run '%s'\n",
		       report.examples, report.epochs, report.observations, import->run);
	else
		printf("imported %" PRIu64 " observations of %" PRIu64 " examples in %" PRIu64
		       " epochs into run '%s'\n",
		       report.observations, report.examples, report.epochs, import->run);
	if (report.replaced)
		printf("replaced: %" PRIu64 " observations of an example seen again later in the same epoch\n",
		       report.replaced);
	if (report.changed_labels && !options->quiet)
		fprintf(stderr,
		        "portoland: warning: \"gold\" changed: %" PRIu64
		        " times an example had another than before; the later stays\n",
		        report.changed_labels);
	if (report.refused)
		fprintf(stderr, "portoland: %" PRIu64 " line%s left out\n", report.refused,
		        report.refused == 1 ? " was" : "s were");
	return report.refused ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int
main_import(const struct options *options)
{
	struct import_options import = {
	        .store = options->store, .path = options->path, .run = options->run, .overwrite = options->overwrite};
	struct portolan_error error;

	if (spool_is_one(import.path))
		return main_import_file(&import);
	if (import.run)
		return main_import_files(options, &import);
	error_set(&error, PORTOLAN_E_INVALID, "import: say which run to make with --run NAME");
	return main_report_error(EXIT_USAGE, &error);
}

static int
main_remove_run(const struct options *options)
{
	struct portolan_error error = {0};
	struct channel *channel = NULL;
	int interrupted, result = channel_open(options->store, false, &channel, &error);

	if (result == 0)
		result = channel_remove(channel, options->run, &error);
	interrupted = channel_close(channel);
	if (result < 0 && interrupted)
		error_set(&error, result, "interrupted; `portolan runs` tells whether the run is still there");
	if (result < 0)
		return main_report_error(interrupted ? 128 + interrupted : EXIT_FAILED, &error);
	if (isatty(STDOUT_FILENO))
		printf("removed run '%s' from the store %s\n", options->run, options->store);
	return EXIT_DONE;
}

static int
main_make_keys(const struct options *options)
{
	const char *directory = options->path, *client = options->client;
	struct portolan_error error = {0};
	int result = client ? keygen_client(directory, client, &error) : keygen_collector(directory, &error);

	if (result < 0)
		return main_report_error(EXIT_FAILED, &error);
	if (client)
		printf("made the keys of the client %s in %s/%s\n"
		       "Move that directory to where the client runs, and give it as keys=.\n"
		       "Lines above the key in %s/clients/%s.pub limit it: prefix = \"alice/\" to\n"
		       "runs whose names begin so, overwrite = no to neither overwriting nor\n"
		       "removing runs.\n"
		       "To let the client in no longer, remove that file. What it has open then goes\n"
		       "on until it has to open it again: to end it, restart the collector. Other\n"
		       "clients connect again, and lose nothing.\n",
		       client, directory, client, directory, client);
	else
		printf("made the keys of a collector and a first client in %s\n"
		       "Collector:  portoland --keys %s --listen tcp://ADDRESS:5757\n"
		       "Client:     copy %s/client.key and %s/server.pub to a directory\n"
		       "            there, and give that as keys=\n"
		       "More of them, each with a key of its own: portolan keygen %s --client NAME\n",
		       directory, directory, directory, directory, directory);
	return EXIT_DONE;
}

static int
main_back_up(const struct options *options)
{
	struct portolan_error error = {0};
	uint64_t bytes = 0;

	if (backup_run(options->store, options->path, &bytes, &error) < 0)
		return main_report_error(EXIT_FAILED, &error);
	printf("copied the store %s to %s: %.1f MB\n", options->store, options->path, (double)bytes / 1e6);
	return EXIT_DONE;
}

static void
main_report_left(const struct salvaged_run *run)
{
	const struct store_left *left = &run->report.left;
	char line[1024];

	if (run->outcome == SALVAGED_NOTHING)
		snprintf(line, sizeof(line), "run '%s': nothing could be read: %s", run->run.name, run->problem);
	else
		snprintf(line, sizeof(line),
		         "run '%s': %" PRIu64 " observations of %" PRIu64 " examples in %" PRIu64
		         " epochs were read; left: %" PRIu64 " observations and %" PRIu64
		         " examples; incomplete: %" PRIu64 " epochs and %" PRIu64
		         " chunks; records damaged or missing: %" PRIu64,
		         run->run.name, run->report.observations, run->report.examples, run->report.epochs,
		         left->observations, left->examples, left->epochs, left->chunks, left->records);
	visible_line(line, sizeof(line));
	fprintf(stderr, "portoland: %s\n", line);
}

static int
main_salvage(const struct options *options)
{
	struct portolan_error error = {0};
	struct salvaged salvaged;
	int result = salvage_run(options->path, options->output, &salvaged, &error);

	if (result == 0 && options->json)
		salvage_print_json(options->path, options->output, &salvaged);
	for (size_t i = 0; i < salvaged.count && result == 0 && !options->json; i++)
		if (salvaged.runs[i].outcome != SALVAGED_WHOLE)
			main_report_left(&salvaged.runs[i]);
	if (result == 0 && !options->json)
		printf("salvaged %zu of %zu runs whole, and %zu in part, from %s to %s\n",
		       salvaged.outcomes[SALVAGED_WHOLE], salvaged.count, salvaged.outcomes[SALVAGED_PART],
		       options->path, options->output);
	if (result == 0 && salvaged.older)
		fputs("portoland: the page of the last commit is damaged: what was stored last may be missing\n",
		      stderr);
	free(salvaged.runs);
	if (result < 0)
		return main_report_error(EXIT_FAILED, &error);
	return !salvaged.older && salvaged.outcomes[SALVAGED_WHOLE] == salvaged.count ? EXIT_DONE : EXIT_INCOMPLETE;
}

static int
main_run(const struct options *options)
{
	switch (options->command) {
	case OPTIONS_SERVE:
		return main_serve(options);
	case OPTIONS_IMPORT:
		return main_import(options);
	case OPTIONS_REMOVE:
		return main_remove_run(options);
	case OPTIONS_KEYGEN:
		return main_make_keys(options);
	case OPTIONS_BACKUP:
		return main_back_up(options);
	case OPTIONS_SALVAGE:
		return main_salvage(options);
	case OPTIONS_HELP:
		fputs(options_help, stdout);
		return EXIT_DONE;
	case OPTIONS_VERSION:
		puts("portoland " PORTOLAN_VERSION);
		return EXIT_DONE;
	}
	return EXIT_FAILED;
}

static void
main_report_resources(double began)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		fprintf(stderr, "portoland: %.2f s; %ld MB of memory at most, with what is mapped of files\n",
		        clock_s() - began, usage.ru_maxrss * 1024 / 1000000);
}

int
main(int argc, char **argv)
{
	const double began = clock_s();
	struct portolan_error error = {0};
	struct options options;
	int status;

	start_main();
	store_expect_short_file(NULL);
	if (options_parse(&options, argc, argv, &error) < 0)
		return main_report_error(EXIT_USAGE, &error);
	if (options.quiet && !options.json && options.command != OPTIONS_HELP && options.command != OPTIONS_VERSION &&
	    !freopen("/dev/null", "w", stdout)) /* standard output only says what was done */
		return EXIT_FAILED;
	progress_set_quiet(options.quiet);
	status = main_run(&options);
	if (status != EXIT_FAILED && (fflush(stdout) != 0 || ferror(stdout))) {
		error_set(&error, PORTOLAN_E_SYSTEM, "cannot write standard output: %s", strerror(errno));
		status = main_report_error(EXIT_FAILED, &error);
	}
	if (options.verbose && !options.quiet)
		main_report_resources(began);
	return status;
}
