/* test_suspects.c: which labels are called wrong, in what order, and with which suggestion; files of corrections. */
#include "unit.h"

#include "measures/dynamics.h"
#include "store_fixture.h"
#include "suspects/corrections.h"
#include "suspects/labels.h"

#include <unistd.h>

#define N 12u
#define EPOCHS 4u

static struct fixture *fixture;
static const char *const labels[] = {"cat", "dog", "fox\tred", "drop it"};

/* Examples 0 … 11 of three classes. 3 and 8 are sure of another class: 3 of "dog", 8 of "cat". */
static void
make_run(const char *name, const char *const *names, size_t count)
{
	uint32_t run = fixture_run(fixture, name, 0, names, count);

	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		int32_t gold[N], predicted[N];
		float p[N], highest[N], margin[N];

		for (uint32_t i = 0; i < N; i++) {
			bool wrong = i == 3 || i == 8;

			gold[i] = (int32_t)(i % 3);
			p[i] = wrong ? 0.05f : 0.8f + 0.01f * (float)i;
			predicted[i] = i == 3 ? 1 : i == 8 ? 0 : gold[i];
			highest[i] = wrong ? 0.9f : p[i];
			margin[i] = wrong ? (i == 3 ? -3.0f : -4.0f) : 2.0f + 0.1f * (float)i;
		}
		fixture_log(fixture, run,
		            &(struct fixture_batch){.epoch = epoch,
		                                    .n = N,
		                                    .gold_prob = p,
		                                    .gold = gold,
		                                    .predicted = predicted,
		                                    .floats = {{"max_prob", highest}, {"margin", margin}}});
	}
	fixture_end(fixture, run);
}

static int
setup(void **state)
{
	(void)state;
	fixture = fixture_new();
	make_run("named", labels, 4);
	make_run("numbers", NULL, 0);
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
	const struct dynamics_request wanted = {.gold = true};

	assert_int_equal(dynamics_load(dynamics, &query, run, &wanted, NULL), 0);
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
	        cmocka_unit_test(test_corrections),
	        cmocka_unit_test(test_wrong_corrections),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
