/*
 * salvage.c: copies what can be read of a damaged store into a new one, for `portolan salvage`, run by run.
 *
 * Each run is copied by a process of its own. So what its damage does to that process ends that process alone, and what
 * it had committed stays. A signal that ends the salvage waits until the unfinished directory is removed. The damaged
 * store is only read.
 */
#include "commands.h"
#include "interruption.h"
#include "target.h"

#include <portolan/cleanup.h>
#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct salvage {
	struct target target;
	struct store_salvage *source;
	bool made; /* the temporary directory was made by this salvage */
	struct interruption interruption;
};

static int
salvage_check_target(const struct target *target, const char *store, struct portolan_error *error)
{
	struct stat status;

	if (lstat(target->path, &status) == 0)
		return error_set(error, STORE_E_EXISTS, "salvage to '%s': exists: name a new directory", target->path);
	if (target_is_inside(target, store))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "salvage to '%s': is inside the damaged store: name a directory elsewhere",
		                 target->path);
	return 0;
}

/* Makes the new store, still without runs. */
static int
salvage_make_store(struct salvage *salvage, struct portolan_error *error)
{
	const struct target *target = &salvage->target;
	struct store_writer *writer;
	int result;

	salvage->made = mkdir(target->temporary, 0700) == 0;
	if (!salvage->made && errno == EEXIST)
		return error_set(
		        error, STORE_E_EXISTS,
		        "salvage to '%s': %s is there: another salvage is making it, or was broken off: wait for "
		        "that, or remove it",
		        target->path, target->temporary);
	if (!salvage->made)
		return target_fail(target, "cannot be made", error);
	result = store_writer_open(target->temporary, &writer, error);
	if (result < 0)
		return result;
	result = store_salvage_prepare(salvage->source, writer, error);
	store_writer_close(writer);
	return result;
}

static void
salvage_clean_up(struct salvage *salvage)
{
	static const char *const files[] = {"data.mdb", "data.mdb.new", "lock.mdb", "portoland.lock"};
	char path[PATH_MAX + 32];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && salvage->made; i++) {
		snprintf(path, sizeof(path), "%s/%s", salvage->target.temporary, files[i]);
		unlink(path);
	}
	if (salvage->made)
		rmdir(salvage->target.temporary);
	store_salvage_close(salvage->source);
	sigprocmask(SIG_SETMASK, &salvage->interruption.before, NULL);
}

/* Copies a run, in a process of its own. It tells what it copied before it gives the run its name. So every run that has
 * its name was reported. */
static bool
salvage_copy_run(const struct salvage *salvage, struct salvaged_run *run, int to)
{
	struct portolan_error error = {.message = ""};
	struct store_writer *writer = NULL;
	int result = store_writer_open(salvage->target.temporary, &writer, &error)
	                     ?: store_salvage_copy(salvage->source, writer, &run->run, &run->report, &error);

	run->outcome = run->report.whole ? SALVAGED_WHOLE : SALVAGED_PART;
	if (result == 0 && write(to, run, sizeof(*run)) == (ssize_t)sizeof(*run))
		result = store_salvage_name(writer, run->run.name, &run->report, &error);
	store_writer_close(writer);
	run->full = result == STORE_E_FULL;
	snprintf(run->problem, sizeof(run->problem), "%s", error.message);
	return result == 0 || write(to, run, sizeof(*run)) == (ssize_t)sizeof(*run);
}

/* Reads what the process says of its run, until it ends. */
static void
salvage_read_outcome(const struct salvage *salvage, int from, pid_t child, struct salvaged_run *run)
{
	struct pollfd waiting = {.fd = from, .events = POLLIN};
	struct salvaged_run said;
	ssize_t got = 1;

	while (got > 0) {
		while (poll(&waiting, 1, 100) <= 0)
			if (interruption_came(&salvage->interruption))
				kill(child, SIGKILL);
		got = read(from, &said, sizeof(said)); /* as a whole: it is shorter than PIPE_BUF */
		if (got == (ssize_t)sizeof(said))
			*run = said;
	}
}
_Static_assert(sizeof(struct salvaged_run) <= PIPE_BUF, "what a process says is written as a whole");

/* Is the run in the new store? */
static bool
salvage_has_run(const struct target *target, const struct salvaged_run *run)
{
	struct store *store;
	uint32_t number;
	bool is = store_open(target->temporary, &store, NULL) == 0;

	if (is) {
		is = store_find_run(store, run->run.name, &number, NULL) == 0 && number == run->report.made;
		store_close(store);
	}
	return is;
}

static int
salvage_start_copy(const struct salvage *salvage, struct salvaged_run *run, struct portolan_error *error)
{
	const struct rlimit no_core = {0};
	int ends[2], ended = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return target_fail(&salvage->target, "cannot start a process", error);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &salvage->interruption.before, NULL);
		setrlimit(RLIMIT_CORE, &no_core);
		_exit(salvage_copy_run(salvage, run, ends[1]) ? 0 : 1);
	}
	close(ends[1]);
	if (child > 0) {
		salvage_read_outcome(salvage, ends[0], child, run);
		while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
			;
		if (!salvage_has_run(&salvage->target, run)) {
			run->outcome = SALVAGED_NOTHING;
			run->report = (struct store_salvage_report){0};
			if (!run->problem[0])
				snprintf(run->problem, sizeof(run->problem),
				         "the process that copied it was ended (%s)",
				         WIFSIGNALED(ended) ? strsignal(WTERMSIG(ended)) : "by itself");
		}
	}
	close(ends[0]);
	return child < 0 ? target_fail(&salvage->target, "cannot start a process", error) : 0;
}

static int
salvage_copy_runs(const struct salvage *salvage, struct salvaged *salvaged, struct portolan_error *error)
{
	const struct store_salvage_run *runs;
	int result = 0;

	salvaged->count = store_salvage_runs(salvage->source, &runs);
	salvaged->runs = calloc(salvaged->count + 1, sizeof(*salvaged->runs));
	if (!salvaged->runs)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the list of runs");
	for (size_t i = 0; i < salvaged->count && result == 0; i++) {
		struct salvaged_run *run = &salvaged->runs[i];

		run->run = runs[i];
		if (runs[i].known)
			result = salvage_start_copy(salvage, run, error);
		else
			snprintf(run->problem, sizeof(run->problem), "its state is lost, and whether it was removed");
		if (interruption_came(&salvage->interruption))
			result = error_set(error, STORE_E_SYSTEM, "salvage to '%s': interrupted", salvage->target.path);
		if (run->full)
			result = error_set(error, STORE_E_FULL, "%s", run->problem);
		salvaged->outcomes[run->outcome]++;
	}
	if (result == 0 && salvaged->count && salvaged->outcomes[SALVAGED_NOTHING] == salvaged->count)
		result = error_set(error, STORE_E_CORRUPT, "nothing could be read of any run: the first, '%s': %s",
		                   runs[0].name, salvaged->runs[0].problem);
	return result;
}

int
salvage_run(const char *store, const char *path, struct salvaged *salvaged, struct portolan_error *error)
{
	CLEANUP(salvage_clean_up) struct salvage salvage = {.target.making = "salvage to"};
	bool named = false;
	int result;

	*salvaged = (struct salvaged){0};
	interruption_block(&salvage.interruption);
	result = target_name(&salvage.target, path, ".portolan-salvage", error)
	         ?: salvage_check_target(&salvage.target, store, error)
	         ?: store_salvage_open(store, &salvage.source, error);
	if (result < 0)
		return result;
	salvaged->older = store_salvage_is_older(salvage.source);
	result = salvage_make_store(&salvage, error) ?: salvage_copy_runs(&salvage, salvaged, error);
	if (result < 0)
		return result;
	result = target_finish(&salvage.target, false, &named, error);
	salvage.made = !named;
	if (named)
		interruption_forget(&salvage.interruption); /* the new store is there, and is to be reported */
	return result;
}

/* Prints a string of JSON. */
static void
salvage_print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20) {
			printf("\\u%04x", *text);
			continue;
		}
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

void
salvage_print_json(const char *store, const char *path, const struct salvaged *salvaged)
{
	static const char *const outcomes[] = {"nothing", "part", "whole"};

	printf("{\"store\": ");
	salvage_print_string(store);
	printf(", \"new\": ");
	salvage_print_string(path);
	printf(", \"older\": %s, \"runs\": [", salvaged->older ? "true" : "false");
	for (size_t i = 0; i < salvaged->count; i++) {
		const struct salvaged_run *run = &salvaged->runs[i];
		const struct store_salvage_report *report = &run->report;

		printf("%s\n  {\"run\": ", i ? "," : "");
		salvage_print_string(run->run.name);
		printf(", \"salvaged\": \"%s\", \"examples\": %llu, \"epochs\": %llu, \"observations\": %llu, \"left\": "
		       "{\"epochs\": %llu, \"chunks\": %llu, \"examples\": %llu, \"observations\": %llu, \"records\": "
		       "%llu}, \"problem\": ",
		       outcomes[run->outcome], (unsigned long long)report->examples, (unsigned long long)report->epochs,
		       (unsigned long long)report->observations, (unsigned long long)report->left.epochs,
		       (unsigned long long)report->left.chunks, (unsigned long long)report->left.examples,
		       (unsigned long long)report->left.observations, (unsigned long long)report->left.records);
		if (run->problem[0])
			salvage_print_string(run->problem);
		else
			printf("null");
		putchar('}');
	}
	printf("\n]}\n");
}
