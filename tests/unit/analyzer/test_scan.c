/* test_scan.c: scans in any number of threads; runs that are held, in memory or in temporary files. */
#include "unit.h"

#include "base/arrays.h"
#include "base/parallel.h"
#include "measures/dynamics.h"
#include "measures/scan.h"

#include "store_fixture.h"

#include <portolan/error.h>

#include <signal.h>
#include <sys/resource.h>

#define N 40000u /* three blocks of the store */
#define SEEN_AT_1 (N / 2)

static struct fixture *fixture;
static uint64_t ids[N];
static char texts[N][16];

/* Where example i stands: each number once, in no order. */
static uint32_t
shuffled(uint32_t i)
{
	return (uint32_t)((uint64_t)i * 7919 % N);
}

enum order { SORTED, SHUFFLED, SWAPPED /* sorted within every block of the store, but the first comes last */ };

static uint64_t
id_of(uint32_t i, enum order order)
{
	if (order == SHUFFLED)
		return 3ull * shuffled(i);
	return order == SORTED ? 3ull * i : 3ull * ((i + N - STORE_CHUNK) % N);
}

static void
make_run(const char *name, enum order order, bool strings)
{
	static const char *pointers[N];
	static float p[N];
	uint32_t run = fixture_run(fixture, name, 0, NULL, 0);

	for (uint32_t i = 0; i < N; i++) {
		ids[i] = id_of(i, order);
		snprintf(texts[i], sizeof(texts[i]), "id%llu", (unsigned long long)ids[i]);
		pointers[i] = texts[i];
		p[i] = (float)(ids[i] % 101) / 100.0f;
	}
	for (uint32_t epoch = 0; epoch < 2; epoch++)
		fixture_log(fixture, run,
		            &(struct fixture_batch){.epoch = epoch,
		                                    .n = epoch == 0 ? N : SEEN_AT_1,
		                                    .ids = ids,
		                                    .strings = strings ? pointers : NULL,
		                                    .gold_prob = p});
	fixture_end(fixture, run);
}

/* The id of example i of the declared run, none of whose second chunk was observed. */
static uint64_t
declared_id(uint32_t i)
{
	return i < STORE_CHUNK ? i : i + STORE_CHUNK;
}

static void
make_declared_run(void)
{
	static float p[N];
	uint32_t run = fixture_run(fixture, "declared", 4ull * N, NULL, 0);

	for (uint32_t i = 0; i < N; i++) {
		ids[i] = declared_id(i);
		p[i] = (float)(ids[i] % 101) / 100.0f;
	}
	fixture_log(fixture, run, &(struct fixture_batch){.epoch = 0, .n = N, .ids = ids, .gold_prob = p});
	fixture_end(fixture, run);
}

static int
setup(void **state)
{
	(void)state;
	fixture = fixture_new();
	make_run("sorted", SORTED, false);
	make_run("shuffled", SHUFFLED, false);
	make_run("swapped", SWAPPED, false);
	make_run("strings", SHUFFLED, true);
	make_declared_run();
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
open_run(struct dynamics *run, const char *name, unsigned threads, uint32_t from)
{
	struct run_query query = {
	        .store = fixture_directory(fixture), .epoch_from = from, .epoch_to = UINT32_MAX, .threads = threads};
	struct dynamics_request request = {.measures = MEASURE_BIT(MEASURE_VARIABILITY), .gold = true};

	assert_int_equal(dynamics_open(run, &query, name, &request, NULL), 0);
	assert_int_equal(run->threads, threads);
}

struct seen {
	double sums[64];
	uint32_t firsts[64], count;
	double sum;
	uint32_t fails_at;
};

static int
sum_part(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	struct seen *seen = context;
	const double *confidence = dynamics_measure(part, MEASURE_CONFIDENCE);

	if (part->first == seen->fails_at)
		return error_set(error, PORTOLAN_E_INVALID, "as wanted");
	seen->firsts[slot] = part->first;
	seen->sums[slot] = 0;
	for (size_t i = 0; i < part->count; i++)
		seen->sums[slot] += confidence[part->order[i]];
	return 0;
}

static int
add_part(void *context, unsigned slot, struct portolan_error *error)
{
	struct seen *seen = context;

	(void)error;
	assert_int_equal(seen->firsts[slot], seen->count * STORE_CHUNK);
	seen->count++;
	seen->sum += seen->sums[slot];
	return 0;
}

static void
test_scan(void **state)
{
	double first = 0;

	(void)state;
	for (unsigned threads = 1; threads <= 6; threads++) {
		struct seen seen = {.fails_at = UINT32_MAX};
		struct scan_steps steps = {&seen, sum_part, add_part};
		struct dynamics run;

		open_run(&run, "shuffled", threads, 0);
		assert_int_equal(scan_run(&run, &steps, NULL), 0);
		assert_int_equal(run.count, N);
		assert_int_equal(run.gaps, N - SEEN_AT_1);
		assert_int_equal(seen.count, 3);
		first = threads == 1 ? seen.sum : first;
		assert_true(seen.sum == first && first > 0);
		dynamics_free(&run);
	}
}

static void
test_scan_fails(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 3; threads++) {
		struct seen seen = {.fails_at = STORE_CHUNK};
		struct scan_steps steps = {&seen, sum_part, add_part};
		struct portolan_error error = {0};
		struct dynamics run;

		open_run(&run, "sorted", threads, 0);
		assert_int_equal(scan_run(&run, &steps, &error), PORTOLAN_E_INVALID);
		assert_string_equal(error.message, "as wanted");
		assert_int_equal(seen.count, 1);
		dynamics_free(&run);
	}
}

static void
check_look(const char *name, bool ascending, size_t longest)
{
	struct text_extent extent;
	struct dynamics run;
	bool ascend;

	open_run(&run, name, 2, 0);
	assert_int_equal(dynamics_look_at_ids(&run, &ascend, &extent, NULL), 0);
	assert_true(ascend == ascending);
	assert_int_equal(extent.longest, longest);
	assert_int_equal(extent.texts, longest > 0 ? N : 0);
	dynamics_free(&run);
}

static void
test_look(void **state)
{
	(void)state;
	check_look("sorted", true, 0);
	check_look("shuffled", false, 0);
	check_look("swapped", false, 0);
	check_look("strings", false, strlen("id119997"));
}

/* The ids 0, 3, 6, … for integers; ascending text for strings. */
static void
check_held(const struct dynamics *run, size_t count, enum order order)
{
	const double *confidence = dynamics_measure(run, MEASURE_CONFIDENCE);
	uint64_t least = 0;
	char last[16] = "";

	assert_int_equal(run->count, count);
	for (size_t i = 0; i < run->count; i++) {
		uint32_t at = run->order[i];
		char text[16] = "";
		uint64_t id;

		if (run->ids.kind == STORE_ID_INT) {
			id = ids_integer(&run->ids, at);
			assert_true(count < N || id == 3 * i);
			assert_true(i == 0 || id > least);
			least = id;
		} else {
			size_t length;
			const char *stored = ids_text(&run->ids, at, &length);

			assert_true(length < sizeof(text));
			memcpy(text, stored, length);
			assert_true(strcmp(last, text) < 0);
			memcpy(last, text, sizeof(text));
			id = strtoull(text + 2, NULL, 10);
		}
		assert_true(id_of(at, order) == id); /* the first one logged has index 0 */
		assert_true(count == N || at < SEEN_AT_1);
		assert_close(confidence[at], (double)(id % 101) / 100, 1e-6);
	}
}

/* With a limit so low, all arrays are in temporary files. */
static void
test_hold(void **state)
{
	static const struct {
		const char *name;
		enum order order;
	} runs[] = {{"sorted", SORTED}, {"shuffled", SHUFFLED}, {"swapped", SWAPPED}, {"strings", SHUFFLED}};

	(void)state;
	for (unsigned n = 0; n < sizeof(runs) / sizeof(runs[0]); n++)
		for (unsigned threads = 1; threads <= 3; threads++)
			for (uint64_t limit = 0; limit <= 1 << 30; limit += 1 << 30)
				for (uint32_t from = 0; from < 2; from++) {
					struct dynamics run;

					open_run(&run, runs[n].name, threads, from);
					arrays_set_limit(limit);
					assert_int_equal(dynamics_hold(&run, NULL), 0);
					check_held(&run, from == 0 ? N : SEEN_AT_1, runs[n].order);
					dynamics_free(&run);
				}
}

/* The number of epochs is held where it is asked for; ids of declared examples are right without an array. */
static void
test_declared(void **state)
{
	(void)state;
	arrays_set_limit(UINT64_MAX);
	for (unsigned turn = 0; turn < 6; turn++) {
		const struct run_query query = {
		        .store = fixture_directory(fixture), .epoch_to = UINT32_MAX, .threads = turn / 2 + 1};
		const bool asked = turn % 2;
		const struct dynamics_request request = {.measures = MEASURE_BIT(MEASURE_CONFIDENCE) |
		                                                     (asked ? MEASURE_BIT(MEASURE_EPOCHS) : 0)};
		const double *epochs, *confidence;
		struct dynamics run;

		assert_int_equal(dynamics_load(&run, &query, "declared", &request, NULL), 0);
		epochs = dynamics_measure(&run, MEASURE_EPOCHS);
		confidence = dynamics_measure(&run, MEASURE_CONFIDENCE);
		assert_int_equal(epochs != NULL, asked);
		assert_null(run.ids.integers);
		assert_int_equal(run.count, N);
		for (uint32_t i = 0; i < N; i++) {
			const uint32_t at = run.order[i];

			assert_true(ids_integer(&run.ids, at) == declared_id(i));
			assert_close(confidence[at], (double)(declared_id(i) % 101) / 100, 1e-6);
			assert_true(!epochs || epochs[at] == 1);
		}
		dynamics_free(&run);
	}
}

static void
test_arrays(void **state)
{
	enum { LONG = 1 << 20 };
	uint32_t *in_memory, *in_file, *grown;

	(void)state;
	arrays_set_limit(5 << 20);
	in_memory = array_new(LONG, sizeof(*in_memory), "numbers", NULL);
	in_file = array_new(LONG, sizeof(*in_file), "numbers", NULL);
	for (uint32_t i = 0; i < LONG; i++) {
		assert_true(in_memory[i] == 0 && in_file[i] == 0);
		in_memory[i] = in_file[i] = i;
	}
	array_free(in_memory);
	grown = array_grow(in_file, LONG, 2 * LONG, sizeof(*grown), "numbers", NULL);
	for (uint32_t i = 0; i < 2 * LONG; i++)
		assert_true(grown[i] == (i < LONG ? i : 0));
	array_free(grown);
	array_free(array_new(0, 8, "numbers", NULL));
	array_free(NULL);
	assert_null(array_new(SIZE_MAX / 4, 8, "numbers", NULL));
}

/* A disk that is full: here, files that may not be that long. */
static void
test_full_disk(void **state)
{
	struct rlimit limit, low;
	struct portolan_error error = {0};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	low = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	arrays_set_limit(0);
	setenv("TMPDIR", fixture_directory(fixture), 1);
	assert_null(array_new(4 << 20, 1, "numbers", &error));
	assert_non_null(strstr(error.message, "4 MiB of numbers"));
	assert_non_null(strstr(error.message, fixture_directory(fixture)));
	assert_non_null(strstr(error.message, "--max-memory"));
	setenv("TMPDIR", "/nowhere", 1);
	assert_null(array_new(4 << 20, 1, "numbers", &error));
	assert_non_null(strstr(error.message, "/nowhere: No such file"));
	unsetenv("TMPDIR");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	arrays_set_limit(UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_scan),     cmocka_unit_test(test_scan_fails), cmocka_unit_test(test_look),
	        cmocka_unit_test(test_hold),     cmocka_unit_test(test_arrays),     cmocka_unit_test(test_full_disk),
	        cmocka_unit_test(test_declared),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
