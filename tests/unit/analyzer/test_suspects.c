/* test_suspects.c: which labels are called wrong, in what order, and with which suggestion; files of corrections. */
#include "unit.h"

#include "measures/dynamics.h"
#include "store_fixture.h"
#include "suspects/corrections.h"
#include "suspects/labels.h"
#include "suspects/suspects.h"

#include <unistd.h>

#define N 12u
#define EPOCHS 4u

static struct fixture *fixture;
static const char *const labels[] = {"cat", "dog", "fox\tred", "drop it"};

/* Examples 0 … 11 of three classes. 3 and 8 are sure of another class: 3 of "dog", 8 of "cat"; `learned`: but not in the
 * last epoch. */
static void
make_run(const char *name, const char *const *names, size_t count, bool with_margins, bool learned)
{
	uint32_t run = fixture_run(fixture, name, 0, names, count);

	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		int32_t gold[N], predicted[N];
		float p[N], highest[N], margin[N];

		for (uint32_t i = 0; i < N; i++) {
			bool wrong = (i == 3 || i == 8) && !(learned && epoch == EPOCHS - 1);

			gold[i] = (int32_t)(i % 3);
			p[i] = wrong ? 0.05f : 0.8f + 0.01f * (float)i;
			predicted[i] = !wrong ? gold[i] : i == 3 ? 1 : 0;
			highest[i] = wrong ? 0.9f : p[i];
			margin[i] = wrong ? (i == 3 ? -3.2f : -4.0f) : 2.0f + 0.1f * (float)i;
		}
		fixture_log(fixture, run,
		            &(struct fixture_batch){
		                    .epoch = epoch,
		                    .n = N,
		                    .gold_prob = p,
		                    .gold = gold,
		                    .predicted = predicted,
		                    .floats = {{"max_prob", highest}, {with_margins ? "margin" : NULL, margin}}});
	}
	fixture_end(fixture, run);
}

/* Three examples of which only p of the label is known; of the second the model is sure that it is wrong. */
static void
make_plain(const char *name, const char *const *names, size_t count, bool with_gold)
{
	static const float p[3] = {0.9f, 0.1f, 0.8f};
	static const int32_t gold[3] = {0, 1, 0};
	uint32_t run = fixture_run(fixture, name, 0, names, count);

	fixture_log(fixture, run, &(struct fixture_batch){.n = 3, .gold_prob = p, .gold = with_gold ? gold : NULL});
	fixture_end(fixture, run);
}

static int
setup(void **state)
{
	(void)state;
	fixture = fixture_new();
	make_run("named", labels, 4, true, false);
	make_run("numbers", NULL, 0, true, false);
	make_run("probs", NULL, 0, false, false);
	make_run("learned", NULL, 0, true, true);
	make_plain("plain", NULL, 0, true);
	make_plain("two", labels, 2, true);
	make_plain("unlabelled", NULL, 0, false);
	fixture_close(fixture);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	fixture_free(fixture);
	return 0;
}

static void
load(struct dynamics *dynamics, const char *run)
{
	const struct run_query query = {.store = fixture_directory(fixture), .epoch_to = UINT32_MAX, .threads = 1};
	struct dynamics_request wanted = {.gold = true};

	suspects_request(&wanted);
	assert_int_equal(dynamics_load(dynamics, &query, run, &wanted, NULL), 0);
}

/* Both wrong labels are called, the surer one first, with the class that was predicted. */
static void
check_found(const char *run, enum suspects_by by, bool memorised)
{
	struct dynamics dynamics;
	struct suspects suspects;

	load(&dynamics, run);
	assert_int_equal(suspects_check(&dynamics, NULL), 0);
	suspects_find(&suspects, &dynamics);
	assert_int_equal(suspects.by, by);
	assert_int_equal(suspects.count, N);
	assert_int_equal(suspects.called, 2);
	assert_int_equal(suspects.ranked[0] + suspects.ranked[1], 3 + 8);
	assert_true(suspects.is_called[3] && suspects.is_called[8] && !suspects.is_called[0]);
	assert_int_equal(suspects.suggested[3], 1);
	assert_int_equal(suspects.suggested[8], 0);
	assert_int_equal(suspects.suggested[4], -1);
	assert_false(suspects.out_of_fold);
	assert_int_equal(suspects.doubts[suspects.doubt_count - 1], SUSPECTS_FEW_EPOCHS);
	assert_int_equal(suspects.doubt_count, memorised ? 2 : 1);
	assert_true(!memorised || suspects.doubts[0] == SUSPECTS_MEMORISED);
	if (by == SUSPECTS_BY_AUM && !memorised) {
		assert_int_equal(suspects.ranked[0], 8);
		assert_close(suspects.scores[8], 4, 1e-6);
		assert_close(suspects.threshold, 2.0 / 3 * 2.55, 1e-6); /* c = 4 · 2/12 */
	}
	suspects_free(&suspects);
	dynamics_free(&dynamics);
}

static void
test_found(void **state)
{
	(void)state;
	check_found("named", SUSPECTS_BY_AUM, false);
	check_found("probs", SUSPECTS_BY_LOG_ODDS, false);
	check_found("learned", SUSPECTS_BY_AUM, true);
}

/* With p of the label alone nothing is called; of two named classes p tells the other one. */
static void
test_plain(void **state)
{
	struct portolan_error error;
	struct dynamics dynamics;
	struct suspects suspects;

	(void)state;
	load(&dynamics, "plain");
	suspects_find(&suspects, &dynamics);
	assert_int_equal(suspects.by, SUSPECTS_BY_CONFIDENCE);
	assert_int_equal(suspects.called, 0);
	assert_int_equal(suspects.ranked[0], 1);
	assert_int_equal(suspects.suggested[1], -1);
	assert_int_equal(suspects.doubts[0], SUSPECTS_NO_MARGINS);
	suspects_free(&suspects);
	dynamics_free(&dynamics);
	load(&dynamics, "two");
	suspects_find(&suspects, &dynamics);
	assert_int_equal(suspects.by, SUSPECTS_BY_LOG_ODDS);
	assert_int_equal(suspects.called, 1);
	assert_int_equal(suspects.suggested[1], 0);
	assert_close(suspects.scores[1], log(9), 1e-6);
	suspects_free(&suspects);
	dynamics_free(&dynamics);
	load(&dynamics, "unlabelled");
	assert_int_equal(suspects_check(&dynamics, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "no gold labels"));
	dynamics_free(&dynamics);
}

static int
read_corrections(struct corrections *corrections, const char *run, const char *content, struct portolan_error *error)
{
	char path[] = "/tmp/test-suspects-XXXXXX";
	int fd = mkstemp(path), code;
	struct dynamics dynamics;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
	load(&dynamics, run);
	code = corrections_read(corrections, "--corrections", path, &dynamics, error);
	dynamics_free(&dynamics);
	unlink(path);
	return code;
}

static void
test_corrections(void **state)
{
	struct corrections corrections;
	struct portolan_error error;

	(void)state;
	assert_int_equal(read_corrections(&corrections, "named",
	                                  "\xef\xbb\xbfid\trank\told\tnew\ttext\r\n"
	                                  "3\t1\tcat\tdog\tsome words\r\n"
	                                  "8\t2\tfox red\tdrop\t\r\n"
	                                  "\r\n"
	                                  "1\t3\tdog\tdog\t\r\n"
	                                  "4\t4\tdog\t\t\r\n"
	                                  "2\t5\tfox red\tdrop it\t\r\n"
	                                  "77\t6\tdog\tcat\t\r\n",
	                                  &error),
	                 0);
	assert_int_equal(corrections.count, 5);
	assert_int_equal(corrections.changed, 2);
	assert_int_equal(corrections.dropped, 1);
	assert_int_equal(corrections.right, 2);
	assert_int_equal(corrections.unknown, 1);
	assert_string_equal(corrections.first_unknown, "77");
	assert_int_equal(corrections.list[0].row, 3);
	assert_int_equal(corrections.list[0].old_label, 0);
	assert_int_equal(corrections.list[0].new_label, 1);
	assert_int_equal(corrections.list[1].new_label, CORRECTION_DROP);
	assert_int_equal(corrections.list[4].new_label, 3);
	corrections_free(&corrections);
	assert_int_equal(read_corrections(&corrections, "numbers",
	                                  "{\"id\": 3, \"old\": 0, \"new\": 1.0}\n"
	                                  "{\"id\": \"8\", \"old\": \"2\", \"new\": \"drop\"}\n"
	                                  "{\"id\": 0, \"old\": 0, \"new\": null}\n",
	                                  &error),
	                 0);
	assert_int_equal(corrections.changed, 1);
	assert_int_equal(corrections.dropped, 1);
	assert_int_equal(corrections.right, 1);
	corrections_free(&corrections);
}

static const struct wrong {
	const char *run, *content, *message; /* what the message has after the path */
} wrongs[] = {
        {"named", "", " is empty"},
        {"named", "id\told\n3\tcat\n", " has no column 'new'; it has: id, old"},
        {"named", "id\told\tnew\n3\tcat\tdog\n3\tcat\tdog\n", ": line 3: field id: '3' stands in line 2 already"},
        {"named", "id\told\tnew\n3\tdog\tcat\n",
         ": line 2: field old: 'dog' is not the label that '3' has in run "
         "'named', which is cat: is the file of another run?"},
        {"named", "id\told\tnew\n3\tcat\tdgo\n",
         ": line 2: field new: 'dgo' is no class of run 'named' (did you mean "
         "'dog'?): write a class, or \"drop\" to leave the example out"},
        {"named", "id\told\tnew\n3\tcat\t2\n",
         ": line 2: field new: '2' is no class of run 'named': write a class, or "
         "\"drop\" to leave the example out"},
        {"named", "id\told\tnew\n3\tcat\n", ": line 2: not three fields (id, old, new) separated by tabs"},
        {"named", "id\told\tnew\ttext\n3\tcat\tdog\n", ": line 2: more or fewer fields than the first line"},
        {"numbers", "id\told\tnew\n3\t0\tDROP\n",
         ": line 2: field new: 'DROP' is no class of run 'numbers': write a "
         "class, or \"drop\" to leave the example out"},
        {"numbers", "{\"id\": 3, \"old\": 0}\n", ": line 1: field new: there is none"},
        {"numbers", "{\"id\": 3, \"old\": 0, \"new\": []}\n", ": line 1: field new: is neither a text nor a number"},
};

static void
test_wrong_corrections(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		struct portolan_error error = {0};
		struct corrections corrections;
		const char *at;

		assert_int_equal(read_corrections(&corrections, wrongs[i].run, wrongs[i].content, &error),
		                 PORTOLAN_E_INVALID);
		assert_null(corrections.list);
		at = strstr(error.message, "/tmp/test-suspects-");
		assert_non_null(at);
		assert_string_equal(at + strlen("/tmp/test-suspects-XXXXXX"), wrongs[i].message);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_found),
	        cmocka_unit_test(test_plain),
	        cmocka_unit_test(test_corrections),
	        cmocka_unit_test(test_wrong_corrections),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
