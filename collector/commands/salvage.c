/*
 * salvage.c: `portolan salvage`: what can be read of a damaged store becomes a new one.
 *
 * Each run is copied by a process of its own, so that what its damage does to that process ends it alone; what it had
 * committed stays. Like a backup, the new store is made in the directory TARGET.portolan-salvage, which is renamed when
 * everything is on disk. A signal that ends the salvage waits until that directory is removed. The damaged store is
 * only read.
 */
#include "commands.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

struct target {
	char path[PATH_MAX], parent[PATH_MAX], temporary[PATH_MAX];
	bool made;       /* the temporary directory, by this salvage */
	sigset_t before; /* the signals that were blocked before */
};

static int
fail(const struct target *target, const char *doing, struct portolan_error *error)
{
	return error_set(error, STORE_E_SYSTEM, "salvage to '%s': %s: %s", target->path, doing, strerror(errno));
}

static int
check_target(struct target *target, const char *store, const char *path, struct portolan_error *error)
{
	struct stat status;
	int result = backup_name_paths(path, ".portolan-salvage", target->path, target->parent, target->temporary);

	if (result < 0)
		return fail(target, "cannot be made", error);
	if (lstat(target->path, &status) == 0)
		return error_set(error, STORE_E_EXISTS, "salvage to '%s': exists: name a new directory", target->path);
	if (backup_is_inside(target->parent, store))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "salvage to '%s': is inside the damaged store: name a directory elsewhere",
		                 target->path);
	return 0;
}

/* Makes the new store, still without runs. */
static int
make_store(struct target *target, struct store_salvage *salvage, struct portolan_error *error)
{
	struct store_writer *writer;
	int result;

	target->made = mkdir(target->temporary, 0700) == 0;
	if (!target->made && errno == EEXIST)
		return error_set(
		        error, STORE_E_EXISTS,
		        "salvage to '%s': %s is there: another salvage is making it, or was broken off: wait for "
		        "that, or remove it",
		        target->path, target->temporary);
	if (!target->made)
		return fail(target, "cannot be made", error);
	result = store_writer_open(target->temporary, &writer, error);
	if (result < 0)
		return result;
	result = store_salvage_prepare(salvage, writer, error);
	store_writer_close(writer);
	return result;
}

static void
remove_files(const struct target *target)
{
	static const char *const files[] = {"data.mdb", "data.mdb.new", "lock.mdb", "portoland.lock"};
	char path[PATH_MAX + 32];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && target->made; i++) {
		snprintf(path, sizeof(path), "%s/%s", target->temporary, files[i]);
		unlink(path);
	}
	if (target->made)
		rmdir(target->temporary);
}

static int
give_name(struct target *target, struct portolan_error *error)
{
	int parent = open(target->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;

	if (renameat2(AT_FDCWD, target->temporary, AT_FDCWD, target->path, RENAME_NOREPLACE) < 0)
		result = fail(target, "cannot be given its name", error);
	else
		target->made = false;
	if (result == 0 && (parent < 0 || fsync(parent) < 0))
		result = fail(target, "cannot be synced", error);
	if (parent >= 0)
		close(parent);
	return result;
}

/* In a process of its own. It tells what it copied before it gives the run its name: so what is there was reported. */
static bool
copy_run(const struct target *target, struct store_salvage *salvage, struct salvaged_run *run, int to)
{
	struct portolan_error error = {.message = ""};
	struct store_writer *writer = NULL;
	int result = store_writer_open(target->temporary, &writer, &error);

	if (result == 0)
		result = store_salvage_copy(salvage, writer, &run->run, &run->report, &error);
	run->outcome = run->report.whole ? SALVAGED_WHOLE : SALVAGED_PART;
	if (result == 0 && write(to, run, sizeof(*run)) == (ssize_t)sizeof(*run))
		result = store_salvage_name(writer, run->run.name, &run->report, &error);
	store_writer_close(writer);
	run->full = result == STORE_E_FULL;
	snprintf(run->problem, sizeof(run->problem), "%s", error.message);
	return result == 0 || write(to, run, sizeof(*run)) == (ssize_t)sizeof(*run);
}

static bool
is_to_end(void)
{
	sigset_t pending;
	bool is = false;

	sigpending(&pending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		is |= sigismember(&pending, ending[i]) == 1;
	return is;
}

/* Reads what the process says of its run, until it ends. */
static void
read_outcome(int from, pid_t child, struct salvaged_run *run)
{
	struct pollfd waiting = {.fd = from, .events = POLLIN};
	struct salvaged_run said;
	ssize_t got = 1;

	while (got > 0) {
		while (poll(&waiting, 1, 100) <= 0)
			if (is_to_end())
				kill(child, SIGKILL);
		got = read(from, &said, sizeof(said)); /* as a whole: it is shorter than PIPE_BUF */
		if (got == (ssize_t)sizeof(said))
			*run = said;
	}
}
_Static_assert(sizeof(struct salvaged_run) <= PIPE_BUF, "what a process says is written as a whole");

/* Is the run in the new store? */
static bool
is_there(const struct target *target, const struct salvaged_run *run)
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
start_copy(const struct target *target, struct store_salvage *salvage, struct salvaged_run *run,
           struct portolan_error *error)
{
	const struct rlimit no_core = {0};
	int ends[2], ended = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail(target, "cannot start a process", error);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &target->before, NULL);
		setrlimit(RLIMIT_CORE, &no_core);
		_exit(copy_run(target, salvage, run, ends[1]) ? 0 : 1);
	}
	close(ends[1]);
	if (child > 0) {
		read_outcome(ends[0], child, run);
		while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
			;
		if (!is_there(target, run)) {
			run->outcome = SALVAGED_NOTHING;
			run->report = (struct store_salvage_report){0};
			if (!run->problem[0])
				snprintf(run->problem, sizeof(run->problem),
				         "the process that copied it was ended (%s)",
				         WIFSIGNALED(ended) ? strsignal(WTERMSIG(ended)) : "by itself");
		}
	}
	close(ends[0]);
	return child < 0 ? fail(target, "cannot start a process", error) : 0;
}

static int
copy_runs(const struct target *target, struct store_salvage *salvage, struct salvaged *salvaged,
          struct portolan_error *error)
{
	const struct store_salvage_run *runs;
	int result = 0;

	salvaged->count = store_salvage_runs(salvage, &runs);
	salvaged->runs = calloc(salvaged->count + 1, sizeof(*salvaged->runs));
	if (!salvaged->runs)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the list of runs");
	for (size_t i = 0; i < salvaged->count && result == 0; i++) {
		struct salvaged_run *run = &salvaged->runs[i];

		run->run = runs[i];
		if (runs[i].known)
			result = start_copy(target, salvage, run, error);
		else
			snprintf(run->problem, sizeof(run->problem), "its state is lost, and whether it was removed");
		if (is_to_end())
			result = error_set(error, STORE_E_SYSTEM, "salvage to '%s': interrupted", target->path);
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
	struct target target = {.made = false};
	struct store_salvage *salvage = NULL;
	int result = check_target(&target, store, path, error);
	struct sigaction action;
	sigset_t signals;

	*salvaged = (struct salvaged){0};
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&signals, ending[i]);
	sigprocmask(SIG_BLOCK, &signals, &target.before);
	if (result == 0)
		result = store_salvage_open(store, &salvage, error);
	salvaged->older = result == 0 && store_salvage_is_older(salvage);
	if (result == 0)
		result = make_store(&target, salvage, error);
	if (result == 0)
		result = copy_runs(&target, salvage, salvaged, error);
	if (result == 0)
		result = give_name(&target, error);
	remove_files(&target);
	store_salvage_close(salvage);
	sigprocmask(SIG_SETMASK, &target.before, NULL);
	return result;
}

/* Prints a string of JSON. */
static void
print_string(const char *text)
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
	print_string(store);
	printf(", \"new\": ");
	print_string(path);
	printf(", \"older\": %s, \"runs\": [", salvaged->older ? "true" : "false");
	for (size_t i = 0; i < salvaged->count; i++) {
		const struct salvaged_run *run = &salvaged->runs[i];
		const struct store_salvage_report *report = &run->report;

		printf("%s\n  {\"run\": ", i ? "," : "");
		print_string(run->run.name);
		printf(", \"salvaged\": \"%s\", \"examples\": %llu, \"epochs\": %llu, \"observations\": %llu, \"left\": "
		       "{\"epochs\": %llu, \"chunks\": %llu, \"examples\": %llu, \"observations\": %llu, \"records\": "
		       "%llu}, \"problem\": ",
		       outcomes[run->outcome], (unsigned long long)report->examples, (unsigned long long)report->epochs,
		       (unsigned long long)report->observations, (unsigned long long)report->left.epochs,
		       (unsigned long long)report->left.chunks, (unsigned long long)report->left.examples,
		       (unsigned long long)report->left.observations, (unsigned long long)report->left.records);
		if (run->problem[0])
			print_string(run->problem);
		else
			printf("null");
		putchar('}');
	}
	printf("\n]}\n");
}
