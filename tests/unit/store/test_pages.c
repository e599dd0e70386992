/*
 * test_pages.c: pages that LMDB itself finds damaged. It then reads nothing more in that transaction; runs that have
 * nothing on these pages must be listed, checked and recorded all the same.
 */
#include "store_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE 4096
#define SESSIONS 100 /* several pages of them */

static uint32_t
load(const uint8_t *data, unsigned size)
{
	uint32_t value = 0;

	memcpy(&value, data, size);
	return value;
}

/* Does the page hold records of this kind alone, and of this run alone? */
static bool
is_leaf_of(const uint8_t *page, char kind, uint8_t run)
{
	const unsigned count = load(page + 10, 2) == 2 ? (load(page + 12, 2) - 16) / 2 : 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *key = page + load(page + 16 + 2 * i, 2) + 8, prefix[] = {0, 0, 0, run};

		if (memcmp(key, prefix, 4) != 0 || key[load(key - 2, 2)] != kind)
			return false;
	}
	return count > 0;
}

static void
zero_leaves(const struct fixture *fixture, char kind, uint8_t run)
{
	uint8_t page[PAGE];
	unsigned zeroed = 0;
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/data.mdb", fixture_directory(fixture));
	fd = open(path, O_RDWR);
	for (off_t at = 2 * PAGE; pread(fd, page, PAGE, at) == PAGE; at += PAGE) {
		if (!is_leaf_of(page, kind, run))
			continue;
		memset(page, 0, PAGE);
		assert_int_equal(pwrite(fd, page, PAGE, at), PAGE);
		zeroed++;
	}
	close(fd);
	assert_true(zeroed > 0);
}

/* The runs "bad" and "good". The leaves of the first that hold its sessions alone are lost. */
static struct fixture *
make_store(void)
{
	static const float gold_prob[] = {0.25f, 0.5f, 0.75f};
	struct fixture *fixture = fixture_new();

	for (int i = 0; i < 2; i++) {
		uint32_t run = fixture_run(fixture, i ? "good" : "bad", 0, NULL, 0);

		for (uint32_t rank = 1; rank < SESSIONS; rank++)
			fixture_session(fixture, run, 2000 + rank, rank);
		fixture_log(fixture, run, &(struct fixture_batch){.n = 3, .gold_prob = gold_prob});
		fixture_end_unfolded(fixture, run);
	}
	fixture_close(fixture);
	zero_leaves(fixture, 's', 1);
	return fixture;
}

static void
note_damage(void *context, const char *line)
{
	(void)line;
	++*(int *)context;
}

static void
runs_are_listed(void **state)
{
	struct fixture *fixture = make_store();
	struct store_run_info *runs;
	size_t count;

	(void)state;
	ok(store_runs(fixture_store(fixture), &runs, &count, &error));
	assert_int_equal(count, 2);
	assert_int_equal(runs[0].state, STORE_DAMAGED);
	assert_string_equal(runs[1].name, "good");
	assert_int_equal(runs[1].observations, 3);
	free(runs);
	fixture_free(fixture);
}

static void
the_run_is_checked(void **state)
{
	struct fixture *fixture = make_store();
	int damaged = 0;
	const struct store_verify options = {.damaged = note_damage, .context = &damaged};
	uint64_t records;

	(void)state;
	ok(store_verify(fixture_store(fixture), 1, &options, &records, &error));
	assert_true(damaged > 0);
	damaged = 0;
	ok(store_verify(fixture_store(fixture), 2, &options, &records, &error));
	assert_int_equal(damaged, 0);
	fixture_free(fixture);
}

/* As a collector does that starts. */
static int
read_sessions(void *context, uint32_t run, uint32_t sessions, struct portolan_error *error)
{
	struct store_session_info info;
	int rc = 0;

	for (uint32_t i = 0; i < sessions && !rc; i++)
		rc = store_writer_session_info(context, run, i, &info, error);
	return rc;
}

static const char *named;

static void
note_run(void *context, const char *name, uint32_t run, const char *what)
{
	(void)context;
	assert_null(named);
	assert_int_equal(run, 1);
	assert_string_equal(name, "bad");
	assert_non_null(strstr(what, "portolan salvage"));
	named = "bad";
}

static void
the_writer_goes_on(void **state)
{
	static const float gold_prob[] = {0.125f};
	struct fixture *fixture = make_store();
	struct store_writer *writer = fixture_writer(fixture);
	const struct store_each each = {.run = read_sessions, .damaged = note_run, .context = writer};
	struct store_session_info info;

	(void)state;
	ok(store_writer_each_run(writer, &each, &error));
	assert_non_null(named);
	assert_false(store_writer_is_spoilt(writer));
	assert_int_equal(store_writer_session_info(writer, 1, SESSIONS / 2, &info, NULL), STORE_E_CORRUPT);
	assert_true(store_writer_is_spoilt(writer));
	store_writer_abort(writer);
	fixture_log(fixture, 2, &(struct fixture_batch){.epoch = 1, .n = 1, .gold_prob = gold_prob});
	ok(store_writer_commit(writer, &error));
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(runs_are_listed),
	        cmocka_unit_test(the_run_is_checked),
	        cmocka_unit_test(the_writer_goes_on),
	};

	return cmocka_run_group_tests_name("store pages", tests, NULL, NULL);
}
