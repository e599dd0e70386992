/*
 * salvage.c: `portolan salvage`: what can be read of a damaged store becomes a new one.
 *
 * Each run is copied by a process of its own, so that what its damage does to that process ends it alone; what it had
 * committed stays. Like a backup, the new store is made in the directory TARGET.portolan-salvage, which is renamed when
 * everything is on disk. The damaged store is only read.
 */
#include "commands.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct target {
	char path[PATH_MAX], parent[PATH_MAX], temporary[PATH_MAX];
	bool made; /* the temporary directory, by this salvage */
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
	if (lstat(target->temporary, &status) == 0)
		return error_set(
		        error, STORE_E_EXISTS,
		        "salvage to '%s': %s is there: another salvage is making it, or was broken off: wait for "
		        "that, or remove it",
		        target->path, target->temporary);
	if (access(target->parent, F_OK) != 0)
		return fail(target, "cannot be made", error);
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

	target->made = true;
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

/* In a process of its own. */
static void
copy_run(const struct target *target, struct store_salvage *salvage, struct salvaged_run *run)
{
	struct portolan_error error = {.message = ""};
	struct store_writer *writer = NULL;
	int result = store_writer_open(target->temporary, &writer, &error);

	if (result == 0)
		result = store_salvage_copy(salvage, writer, &run->run, &run->report, &error);
	store_writer_close(writer);
	run->outcome = result < 0 ? SALVAGED_NOTHING : run->report.whole ? SALVAGED_WHOLE : SALVAGED_PART;
	run->full = result == STORE_E_FULL;
	snprintf(run->problem, sizeof(run->problem), "%s", result < 0 ? error.message : "");
}

/* Reads what the process says of its run; false: it ended before. */
static bool
read_outcome(int from, struct salvaged_run *run)
{
	struct salvaged_run said;
	size_t have = 0;
	ssize_t got = 1;

	while (have < sizeof(said) && (got > 0 || errno == EINTR)) {
		got = read(from, (uint8_t *)&said + have, sizeof(said) - have);
		if (got == 0)
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	if (have == sizeof(said))
		*run = said;
	return have == sizeof(said);
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
		setrlimit(RLIMIT_CORE, &no_core);
		copy_run(target, salvage, run);
		_exit(write(ends[1], run, sizeof(*run)) == (ssize_t)sizeof(*run) ? 0 : 1);
	}
	close(ends[1]);
	if (child > 0 && !read_outcome(ends[0], run)) {
		while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
			;
		run->outcome = SALVAGED_NOTHING;
		snprintf(run->problem, sizeof(run->problem), "the process that copied it was ended (%s)",
		         WIFSIGNALED(ended) ? strsignal(WTERMSIG(ended)) : "by itself");
	} else if (child > 0) {
		waitpid(child, NULL, 0);
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

	*salvaged = (struct salvaged){0};
	if (result == 0)
		result = store_salvage_open(store, &salvage, error);
	if (result == 0)
		result = make_store(&target, salvage, error);
	if (result == 0)
		result = copy_runs(&target, salvage, salvaged, error);
	if (result == 0)
		result = give_name(&target, error);
	remove_files(&target);
	store_salvage_close(salvage);
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
	printf(", \"runs\": [");
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
