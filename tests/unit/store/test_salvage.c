/*
 * test_salvage.c: what a salvage keeps of the sessions of a damaged run. tests/cli/run_salvage.py compares observations,
 * after hundreds of random damages.
 */
#include "store_test.h"

#include "salvage.h"
#include "writer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
#define SESSIONS 400 /* more than the records of one page */

struct file {
	uint8_t *data;
	size_t size;
};

/* Maps the data of a closed store. What is changed there is changed on disk. */
static struct file
map_data(const struct fixture *fixture)
{
	struct stat status;
	struct file file;
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/data.mdb", fixture_directory(fixture));
	fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &status), 0);
	file.size = (size_t)status.st_size;
	file.data = mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(file.data, MAP_FAILED);
	close(fd);
	return file;
}

/* A run whose sessions each say which process their client is; the second says that the first records beside it. */
static uint32_t
make_run(struct fixture *fixture, uint32_t sessions)
{
	static const char host[] = "node-of-the-test";
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0), session;

	for (uint32_t i = 1; i <= sessions; i++) {
		struct store_session_request request = {
		        .started = 2000 + i, .rank = i, .host = {host, strlen(host)}, .process = 5000 + i};

		memcpy(request.id, "session", 7);
		memcpy(request.id + 8, &i, sizeof(i));
		ok(store_writer_session(fixture_writer(fixture), run, &request, &session, &error));
		assert_int_equal(session, i);
	}
	ok(store_writer_beside(fixture_writer(fixture), run, 2, 1, &error));
	return run;
}

/* Salvages the one run of a closed store into another store. */
static struct store_salvage_report
salvage_run(const struct fixture *from, struct fixture *to)
{
	struct store_salvage_report report = {0};
	const struct store_salvage_run *runs;
	struct store_salvage *salvage;

	ok(store_salvage_open(fixture_directory(from), &salvage, &error));
	assert_int_equal(store_salvage_runs(salvage, &runs), 1);
	ok(store_salvage_prepare(salvage, fixture_writer(to), &error));
	ok(store_salvage_copy(salvage, fixture_writer(to), &runs[0], &report, &error));
	ok(store_salvage_name(fixture_writer(to), "run", &report, &error));
	store_salvage_close(salvage);
	return report;
}

static void
count_damage(void *context, const char *what)
{
	unsigned *damaged = context;

	(void)what;
	++*damaged;
}

static void
expect_processes(struct fixture *fixture, uint32_t run, uint32_t expected)
{
	struct store_session *sessions;
	size_t count;

	ok(store_sessions(fixture_store(fixture), run, &sessions, &count, &error));
	assert_int_equal(count, expected + 1);
	for (uint32_t i = 1; i <= expected; i++) {
		assert_int_equal(sessions[i].process.process, 5000 + i);
		assert_string_equal(sessions[i].process.host, "node-of-the-test");
		assert_int_equal(sessions[i].beside, i == 2 ? 2 : 0);
	}
	free(sessions);
}

/* All branches of all trees are lost; each leaf is found by the records in it, whatever kind they are of. */
static void
leaves_below_lost_branches(void **state)
{
	struct fixture *fixture = fixture_new(), *salvaged = fixture_new();
	struct store_salvage_report report;
	struct file file;
	size_t lost = 0;

	(void)state;
	make_run(fixture, SESSIONS);
	fixture_close(fixture);
	file = map_data(fixture);
	for (size_t at = 2 * PAGE; at < file.size; at += PAGE) {
		if (file.data[at + 10] != 1)
			continue;
		memset(file.data + at, 0, PAGE);
		lost++;
	}
	assert_true(lost > 0);
	munmap(file.data, file.size);
	report = salvage_run(fixture, salvaged);
	assert_true(report.whole);
	expect_processes(salvaged, report.made, SESSIONS);
	fixture_free(fixture);
	fixture_free(salvaged);
}

/* An id is lost, so the observations of the others are stored anew, in the same sessions. */
static void
sessions_of_a_run_stored_anew(void **state)
{
	static const char *const lost[] = {"the-lost-one"}, *const kept[] = {"a", "b", "c"};
	static const float gold_prob[] = {0.25f, 0.5f, 0.75f};
	struct fixture *fixture = fixture_new(), *salvaged = fixture_new();
	struct store_salvage_report report;
	struct file file;
	uint8_t *id;
	uint32_t run;

	(void)state;
	run = make_run(fixture, 3);
	fixture_log(fixture, run, &(struct fixture_batch){.n = 1, .strings = lost, .gold_prob = gold_prob});
	fixture_log(fixture, run, &(struct fixture_batch){.n = 3, .strings = kept, .gold_prob = gold_prob});
	fixture_end(fixture, run);
	fixture_close(fixture);
	file = map_data(fixture);
	while ((id = memmem(file.data, file.size, lost[0], strlen(lost[0]))))
		*id ^= 4;
	munmap(file.data, file.size);
	report = salvage_run(fixture, salvaged);
	assert_false(report.whole);
	assert_int_equal(report.observations, 3);
	assert_int_equal(report.left.examples, 1);
	expect_processes(salvaged, report.made, 3);
	fixture_free(fixture);
	fixture_free(salvaged);
}

/* The records of epochs say which columns these have. Without them the chunks tell, of labels and of losses. */
static void
records_of_epochs_are_lost(void **state)
{
	static const float gold_prob[] = {0.25f, 0.5f, 0.75f}, losses[] = {7, -1, 3};
	static const uint8_t head[] = {'E', 1};

	(void)state;
	for (int of_losses = 0; of_losses < 2; of_losses++) {
		struct fixture *fixture = fixture_new(), *salvaged = fixture_new();
		uint32_t run = make_run(fixture, 1);
		struct fixture_batch batch = {.n = 3, .gold_prob = gold_prob};
		struct store_salvage_report report;
		struct store_run_info info;
		struct file file;
		size_t lost = 0;

		if (of_losses)
			batch.floats[0] = (struct fixture_column){.name = "task_loss", .values = losses};
		fixture_log(fixture, run, &batch);
		fixture_end(fixture, run);
		fixture_collect(fixture); /* else the log still has what the columns have */
		fixture_close(fixture);
		file = map_data(fixture);
		for (size_t at = 0; at + 72 <= file.size; at += 2)
			if (memcmp(file.data + at, head, sizeof(head)) == 0 && file.data[at + 4] == 72 &&
			    file.data[at + 5] == 0) {
				file.data[at + 20] ^= 1;
				lost++;
			}
		assert_true(lost > 0);
		munmap(file.data, file.size);
		report = salvage_run(fixture, salvaged);
		assert_int_equal(report.observations, 3);
		ok(store_writer_run_info(fixture_writer(salvaged), report.made, &info, &error));
		assert_int_equal(info.of_losses, of_losses);
		fixture_free(fixture);
		fixture_free(salvaged);
	}
}

/* The key of some texts is changed, so that they seem to be another run's. All others are kept, and the run says of how
 * many. */
static void
texts_under_changed_keys_are_missing(void **state)
{
	(void)state;
	for (size_t byte = 0; byte < 5; byte++) {
		struct fixture *fixture = fixture_new(), *salvaged = fixture_new();
		uint32_t run = make_run(fixture, 1);
		struct store_salvage_report report;
		struct store_verify check = {.damaged = count_damage};
		struct store_texts texts;
		struct store_counters counters;
		unsigned damaged = 0;
		uint64_t records;

		fixture_texts(fixture, run, 0, 6, "some words");
		fixture_flip_text_key(fixture, run, 2, byte);
		fixture_flip_text_key(fixture, run, 5, byte);
		report = salvage_run(fixture, salvaged);
		assert_false(report.whole);
		assert_int_equal(report.left.records, 2);
		ok(store_counters(fixture_store(salvaged), report.made, &counters, &error));
		assert_int_equal(counters.left.records, 2);
		ok(store_texts(fixture_store(salvaged), report.made, &texts, &error));
		assert_int_equal(texts.examples, 4);
		assert_string_equal(texts.fields[0], "text");
		check.context = &damaged;
		ok(store_verify(fixture_store(salvaged), report.made, &check, &records, &error));
		assert_int_equal(damaged, 0);
		fixture_free(fixture);
		fixture_free(salvaged);
	}
}

/* The number of texts is lost: it is counted anew. */
static void
the_number_of_texts_is_lost(void **state)
{
	struct fixture *fixture = fixture_new(), *salvaged = fixture_new();
	const uint32_t run = make_run(fixture, 1);
	const struct store_key total = store_key_run(run, RUN_TEXTS);
	struct store_salvage_report report;
	struct store_texts texts;

	(void)state;
	fixture_texts(fixture, run, 0, 6, "some words");
	ok(store_writer_begin(fixture_writer(fixture), &error));
	ok(store_writer_delete(fixture_writer(fixture), DB_RUN, &total, &error));
	fixture_close(fixture);
	report = salvage_run(fixture, salvaged);
	assert_int_equal(report.left.records, 1);
	ok(store_texts(fixture_store(salvaged), report.made, &texts, &error));
	assert_int_equal(texts.examples, 6);
	fixture_free(fixture);
	fixture_free(salvaged);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(leaves_below_lost_branches),  cmocka_unit_test(sessions_of_a_run_stored_anew),
	        cmocka_unit_test(records_of_epochs_are_lost),  cmocka_unit_test(texts_under_changed_keys_are_missing),
	        cmocka_unit_test(the_number_of_texts_is_lost),
	};

	return cmocka_run_group_tests_name("store salvage", tests, NULL, NULL);
}
