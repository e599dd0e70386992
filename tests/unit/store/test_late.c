/* test_late.c: which run a session gets that was begun earlier than it comes: every order gives what the true one had.
 */
#include "store_test.h"

#include "writer.h"

struct arrival {
	const char *group;
	uint64_t started;
	bool resume, overwrite, late;
	int rc;
	int run; /* arrivals of one table with the same number share a run */
	uint32_t rank;
};

#define MOST 4
struct story {
	const char *title;
	struct arrival arrivals[MOST + 1]; /* ends with started 0 */
};

static const struct story stories[] = {
        {"the run is not there", {{"", 10, false, false, true, 0, 1}, {"", 11, true, false, true, 0, 1}}},
        {"resumed, but begun before that run",
         {{"", 10, false, false, true, 0, 1}, {"", 9, true, false, true, STORE_E_EXISTS, 0}}},
        {"what a run resumed comes after it",
         {{"", 20, true, false, false, 0, 1}, {"", 10, false, false, true, 0, 1}, {"", 5, false, true, true, 0, 1}}},
        {"both spools, the resumed one first", {{"", 20, true, false, true, 0, 1}, {"", 10, false, false, true, 0, 1}}},
        {"the resumed one last", {{"", 10, false, false, true, 0, 1}, {"", 20, true, false, true, 0, 1}}},
        {"another run of that name, begun later",
         {{"", 20, false, false, false, 0, 1}, {"", 10, false, false, true, STORE_E_EXISTS, 0}}},
        {"another run of that name, begun earlier",
         {{"", 10, false, false, false, 0, 1}, {"", 20, false, false, true, STORE_E_EXISTS, 0}}},
        {"overwritten since",
         {{"", 5, false, false, false, 0, 1},
          {"", 20, false, true, false, 0, 2},
          {"", 10, false, false, true, STORE_E_EXISTS, 0},
          {"", 15, false, true, true, STORE_E_EXISTS, 0}}},
        {"overwrites what is older, and only that",
         {{"", 10, false, false, false, 0, 1},
          {"", 20, false, true, true, 0, 2},
          {"", 30, true, false, false, 0, 2},
          {"", 25, false, true, true, STORE_E_EXISTS, 0}}},
        {"resumed, of a run that was overwritten since",
         {{"", 5, false, false, false, 0, 1},
          {"", 20, false, true, false, 0, 2},
          {"", 10, true, false, true, STORE_E_EXISTS, 0}}},
        {"ranks of one job, in any order",
         {{"job", 12, false, false, true, 0, 1, 2},
          {"job", 10, false, false, true, 0, 1, 0},
          {"job", 11, false, true, true, 0, 1, 1},
          {"other", 13, false, false, true, STORE_E_EXISTS, 0, 3}}},
        {"a rank that is there already is another launch's",
         {{"job", 12, false, false, true, 0, 1, 0}, {"job", 10, false, true, true, STORE_E_EXISTS, 0, 0}}},
};

static uint32_t
arrive(struct fixture *fixture, const struct arrival *arrival, uint8_t serial)
{
	struct store_run_request request = {.name = {"run", 3},
	                                    .group = {arrival->group, strlen(arrival->group)},
	                                    .resume = arrival->resume,
	                                    .overwrite = arrival->overwrite,
	                                    .late = arrival->late,
	                                    .started = arrival->started,
	                                    .rank = arrival->rank};
	const struct store_session_request asked = {.id = {serial},
	                                            .started = arrival->started,
	                                            .rank = arrival->rank,
	                                            .resume = arrival->resume,
	                                            .overwrite = arrival->overwrite,
	                                            .after = serial};
	struct store_writer *writer = fixture_writer(fixture);
	struct store_session_info info;
	uint32_t run = 0, session;

	assert_int_equal(store_writer_run(writer, &request, &run, NULL), arrival->rc);
	if (arrival->rc)
		return 0;
	ok(store_writer_session(writer, run, &asked, &session, &error));
	ok(store_writer_session_info(writer, run, session, &info, &error));
	assert_int_equal(info.acknowledged, serial);
	/* Whether the run is recording makes no difference to what comes late. */
	ok(store_writer_set_state(writer, run, STORE_CLOSED, &error));
	return run;
}

static void
every_story(void **state)
{
	(void)state;
	for (size_t s = 0; s < sizeof(stories) / sizeof(stories[0]); s++) {
		struct fixture *fixture = fixture_new();
		uint32_t runs[MOST + 1] = {0};

		print_message("# %s\n", stories[s].title);
		for (uint8_t i = 0; i < MOST && stories[s].arrivals[i].started; i++) {
			const struct arrival *arrival = &stories[s].arrivals[i];
			uint32_t run = arrive(fixture, arrival, (uint8_t)(i + 1));

			if (run && runs[arrival->run])
				assert_int_equal(run, runs[arrival->run]);
			for (int other = 1; run && other < arrival->run; other++)
				assert_int_not_equal(run, runs[other]);
			runs[arrival->run] = run ? run : runs[arrival->run];
		}
		fixture_free(fixture);
	}
}

static void
live_and_asked_share_a_word(void **state)
{
	struct fixture *fixture = fixture_new();
	const struct arrival arrival = {"", 10, true, false, false, 0, 1};
	uint32_t run = arrive(fixture, &arrival, 1);
	struct store_writer *writer = fixture_writer(fixture);
	struct store_session_info info;

	(void)state;
	ok(store_writer_session_info(writer, run, 0, &info, &error));
	assert_false(info.live);
	ok(store_writer_session_live(writer, run, 0, true, &error));
	ok(store_writer_session_live(writer, run, 0, false, &error));
	ok(store_writer_session_info(writer, run, 0, &info, &error));
	assert_false(info.live);
	/* And it is still known that the first one resumed. */
	arrive(fixture, &(struct arrival){"", 5, false, false, true, 0, 1}, 2);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_story),
	                                   cmocka_unit_test(live_and_asked_share_a_word)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
