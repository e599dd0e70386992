/*
 * make_store.c: a program for tests: writes a store from arrays on standard input.
 *
 *     make_store DIRECTORY < description
 *     make_store record < description   a store that is read meanwhile: prints its directory, and a line whenever a line
 *                                       of the description is on disk; removes it when its input ends
 *     make_store hold DIRECTORY         reads one state of a store for so long that its file grows
 *
 * The description is lines of text, some followed by raw little-endian arrays:
 *     run NAME DECLARED LABELS          then LABELS lines, one class name each; begins a run
 *     session STARTED RANK              another session of the run, which logs from now on
 *     log EPOCH N KIND GOLD COLUMN...   KIND int or str, GOLD 0 or 1; then N ids (u64, or lines), gold_prob (f4),
 *                                       correct (u1), gold (i4) if GOLD, and each column (f4; predicted: i4)
 *     end                               folds and closes the run; without it the run stays in progress
 *     close                             closes the run, and folds nothing
 */
#include "store_fixture.h"

#include <err.h>
#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void *
read_array(size_t count, size_t size)
{
	void *array = malloc(count * size + 1);

	if (!array || fread(array, size, count, stdin) != count)
		errx(1, "the description ends early");
	return array;
}

static char *
read_line(void)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length = getline(&line, &room, stdin);

	if (length < 0)
		errx(1, "the description ends early");
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static char **
read_lines(size_t count)
{
	char **lines = calloc(count + 1, sizeof(*lines));

	for (size_t i = 0; lines && i < count; i++)
		lines[i] = read_line();
	return lines;
}

static void
free_lines(char **lines)
{
	for (size_t i = 0; lines && lines[i]; i++)
		free(lines[i]);
	free(lines);
}

/* Cuts it off, with the blank before it. */
static uint64_t
take_last_number(char *arguments)
{
	char *blank = strrchr(arguments, ' ');

	if (!blank)
		errx(1, "run NAME DECLARED LABELS: '%s'", arguments);
	*blank = '\0';
	return strtoull(blank + 1, NULL, 10);
}

static uint32_t
begin_run(struct fixture *fixture, char *arguments)
{
	uint64_t labels = take_last_number(arguments), declared = take_last_number(arguments);
	const char *name = arguments; /* it may hold blanks */
	char **names = read_lines(labels);
	uint32_t run = fixture_run(fixture, name, declared, (const char *const *)names, labels);

	free_lines(names);
	if (store_writer_session_live(fixture_writer(fixture), run, 0, true, NULL) != 0)
		errx(1, "the session cannot be made live");
	return run;
}

/* Closes the session in use, and begins another. */
static uint32_t
change_session(struct fixture *fixture, uint32_t run, uint32_t session, uint64_t started, uint32_t rank)
{
	const struct store_client closed = {.closed = 1};
	struct store_writer *writer = fixture_writer(fixture);

	if (store_writer_session_live(writer, run, session, false, NULL) != 0 ||
	    store_writer_client(writer, run, session, &closed, NULL) != 0)
		errx(1, "the session cannot be closed");
	return fixture_session(fixture, run, started, rank);
}

static void
log_batch(struct fixture *fixture, uint32_t run, char *arguments)
{
	struct fixture_batch batch = {0};
	char *name, **lines = NULL;
	size_t columns = 0;
	bool strings, gold, predicted = false; /* the last column */

	batch.epoch = (uint32_t)strtoul(strtok(arguments, " "), NULL, 10);
	batch.n = (uint32_t)strtoul(strtok(NULL, " "), NULL, 10);
	strings = strcmp(strtok(NULL, " "), "str") == 0;
	gold = strcmp(strtok(NULL, " "), "1") == 0;
	while ((name = strtok(NULL, " ")) != NULL && columns < 8) {
		predicted = strcmp(name, "predicted") == 0;
		if (!predicted)
			batch.floats[columns++].name = name;
	}
	if (strings)
		batch.strings = (const char *const *)(lines = read_lines(batch.n));
	else
		batch.ids = read_array(batch.n, 8);
	batch.gold_prob = read_array(batch.n, 4);
	batch.correct = read_array(batch.n, 1);
	if (gold)
		batch.gold = read_array(batch.n, 4);
	for (size_t c = 0; c < columns; c++)
		batch.floats[c].values = read_array(batch.n, 4);
	if (predicted)
		batch.predicted = read_array(batch.n, 4);
	fixture_log(fixture, run, &batch);
	free_lines(lines);
	free((void *)batch.ids);
	free((void *)batch.gold_prob);
	free((void *)batch.correct);
	free((void *)batch.gold);
	free((void *)batch.predicted);
	for (size_t c = 0; c < columns; c++)
		free((void *)batch.floats[c].values);
}

/* The fixture's directory may be on another file system, and it removes it; all that was committed is in data.mdb. */
static void
copy_store(const char *from, const char *to)
{
	static char part[1 << 16];
	char path[4096];
	FILE *source, *target;
	size_t got;

	snprintf(path, sizeof(path), "%s/data.mdb", from);
	source = fopen(path, "rb");
	if (mkdir(to, 0777) < 0)
		err(1, "cannot make %s", to);
	snprintf(path, sizeof(path), "%s/data.mdb", to);
	target = fopen(path, "wb");
	if (!source || !target)
		err(1, "cannot copy the store to %s", to);
	while ((got = fread(part, 1, sizeof(part), source)) > 0)
		fwrite(part, 1, got, target);
	if (ferror(source) || fclose(target) != 0)
		err(1, "cannot copy the store to %s", to);
	fclose(source);
}

/* Reads one state of the store, says so when the file has grown for it, and goes on until its input ends. */
static void
hold_back(const char *directory)
{
	const size_t size = 8 << 20;
	char name[] = "filler";
	MDB_val key = {.mv_data = name, .mv_size = 6}, value = {.mv_data = calloc(1, size), .mv_size = size};
	MDB_txn *reading, *txn;
	MDB_env *env;
	MDB_dbi dbi;
	int rc = mdb_env_create(&env);

	if (!rc)
		rc = mdb_env_set_mapsize(env, (size_t)4 << 30);
	if (!rc)
		rc = mdb_env_open(env, directory, MDB_NOTLS | MDB_NOSYNC, 0666);
	if (!rc)
		rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &reading);
	for (uint64_t done = 0; !rc && done <= STORE_HELD_BACK + 2 * size; done += size) {
		rc = mdb_txn_begin(env, NULL, 0, &txn);
		if (!rc)
			rc = mdb_dbi_open(txn, NULL, 0, &dbi);
		if (!rc)
			rc = mdb_put(txn, dbi, &key, &value, 0); /* in the place of the one before */
		if (!rc)
			rc = mdb_txn_commit(txn);
	}
	if (rc)
		errx(1, "%s: %s", directory, mdb_strerror(rc));
	puts("held back");
	fflush(stdout);
	while (getchar() != EOF)
		;
	mdb_txn_abort(reading);
	mdb_env_close(env);
	free(value.mv_data);
}

/* Does what the description says; with `tells`, a line is committed before the next is read, and a line says so. */
static void
read_description(struct fixture *fixture, bool tells)
{
	uint32_t run = 0, session = 0, rank;
	uint64_t started;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "run ", 4) == 0) {
			run = begin_run(fixture, line + 4);
			session = 0;
		} else if (sscanf(line, "session %" SCNu64 " %" SCNu32, &started, &rank) == 2)
			session = change_session(fixture, run, session, started, rank);
		else if (strncmp(line, "log ", 4) == 0)
			log_batch(fixture, run, line + 4);
		else if (strcmp(line, "end") == 0)
			fixture_end(fixture, run);
		else if (strcmp(line, "close") == 0)
			fixture_end_unfolded(fixture, run);
		else
			errx(1, "unknown line: %s", line);
		if (!tells)
			continue;
		if (store_writer_commit(fixture_writer(fixture), NULL) != 0)
			errx(1, "the store cannot be written");
		puts("on disk");
		fflush(stdout);
	}
	free(line);
}

int
main(int argc, char **argv)
{
	struct fixture *fixture;

	if (argc == 3 && strcmp(argv[1], "hold") == 0) {
		hold_back(argv[2]);
		return 0;
	}
	if (argc != 2)
		errx(2, "make_store DIRECTORY | record | hold DIRECTORY");
	fixture = fixture_new();
	if (strcmp(argv[1], "record") == 0) {
		fixture_writer(fixture);
		puts(fixture_directory(fixture));
		fflush(stdout);
		read_description(fixture, true);
	} else {
		read_description(fixture, false);
		fixture_collect(fixture);
		fixture_close(fixture);
		copy_store(fixture_directory(fixture), argv[1]);
	}
	fixture_free(fixture);
	return 0;
}
