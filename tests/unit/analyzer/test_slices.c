/* test_slices.c: scans in any number of threads, and slices that together are the run by ascending id. */
#include "unit.h"

#include "dynamics/scan.h"
#include "dynamics/slices.h"
#include "program/parallel.h"

#include "store_fixture.h"

#include <portolan/error.h>

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

static int
setup(void **state)
{
	(void)state;
	fixture = fixture_new();
	make_run("sorted", SORTED, false);
	make_run("shuffled", SHUFFLED, false);
	make_run("swapped", SWAPPED, false);
	make_run("strings", SHUFFLED, true);
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
	struct common_options common = {
	        .store = fixture_directory(fixture), .epoch_from = from, .epoch_to = UINT32_MAX, .threads = threads};
	struct dynamics_request request = {.measures = MEASURE_BIT(MEASURE_VARIABILITY), .gold = true};

	assert_int_equal(dynamics_open(run, &common, name, &request, NULL), 0);
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
test_ascending(void **state)
{
	struct dynamics run;
	struct slices slices;

	(void)state;
	open_run(&run, "sorted", 2, 0);
	assert_int_equal(slices_plan(&run, 1 << 20, &slices, NULL), 0);
	assert_true(slices.ascending && slices.count == 0);
	slices_free(&slices);
	dynamics_free(&run);
	open_run(&run, "swapped", 2, 0);
	assert_int_equal(slices_plan(&run, 1 << 30, &slices, NULL), 0);
	assert_true(!slices.ascending && slices.count == 1);
	slices_free(&slices);
	dynamics_free(&run);
}

/* What slices hold, in their order: the ids 0, 3, 6, … for integers; ascending text for strings. */
static void
check_slice(const struct dynamics *slice, uint64_t *next, char last[16])
{
	const double *confidence = dynamics_measure(slice, MEASURE_CONFIDENCE);

	for (size_t i = 0; i < slice->count; i++) {
		uint32_t at = slice->order[i];
		char text[16] = "";
		uint64_t id;

		if (slice->ids.kind == STORE_ID_INT) {
			id = slice->ids.integers[at];
			assert_true(id == 3 * *next);
		} else {
			size_t length;
			const char *stored = ids_text(&slice->ids, at, &length);

			assert_true(length < sizeof(text));
			memcpy(text, stored, length);
			assert_true(strcmp(last, text) < 0);
			memcpy(last, text, sizeof(text));
			id = strtoull(text + 2, NULL, 10);
		}
		assert_true(3ull * shuffled(slice->indices[at]) == id); /* the first one logged has index 0 */
		assert_close(confidence[at], (double)(id % 101) / 100, 1e-6);
		++*next;
	}
}

static void
check_slices(const char *name, unsigned threads, uint64_t memory, bool several)
{
	struct dynamics run, slice;
	struct slices slices;
	char last[16] = "";
	uint64_t next = 0;
	size_t rows = 0;

	open_run(&run, name, threads, 0);
	assert_int_equal(slices_plan(&run, memory, &slices, NULL), 0);
	assert_false(slices.ascending);
	assert_int_equal(slices.longest, run.info->id_kind == STORE_ID_STR ? strlen("id119997") : 0);
	assert_true(several ? slices.count > 4 : slices.count == 1);
	for (size_t s = 0; s < slices.count; s++) {
		assert_true(slices.rows[s] * slices_row_bytes(&run, 0) + slices.text[s] <= memory);
		rows += slices.rows[s];
		assert_int_equal(slices_load(&run, &slices, s, &slice, NULL), 0);
		check_slice(&slice, &next, last);
		slices_release(&slice);
	}
	assert_int_equal(next, N);
	assert_int_equal(rows, N);
	assert_int_equal(run.count, N);
	slices_free(&slices);
	dynamics_free(&run);
}

static void
test_slices(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 3; threads++) {
		check_slices("shuffled", threads, 400000, true);
		check_slices("shuffled", threads, 1 << 30, false);
		check_slices("strings", threads, 400000, true);
		check_slices("strings", threads, 1 << 30, false);
	}
}

/* Half of the examples are not observed in the second epoch: they are in no slice. */
static void
test_unobserved(void **state)
{
	struct dynamics run, slice;
	struct slices slices;
	size_t count = 0;

	(void)state;
	open_run(&run, "shuffled", 2, 1);
	assert_int_equal(slices_plan(&run, 400000, &slices, NULL), 0);
	for (size_t s = 0; s < slices.count; s++) {
		assert_int_equal(slices_load(&run, &slices, s, &slice, NULL), 0);
		count += slice.count;
		for (size_t i = 0; i < slice.count; i++)
			assert_true(slice.indices[i] < SEEN_AT_1);
		slices_release(&slice);
	}
	assert_int_equal(count, SEEN_AT_1);
	slices_free(&slices);
	dynamics_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_scan),   cmocka_unit_test(test_scan_fails), cmocka_unit_test(test_ascending),
	        cmocka_unit_test(test_slices), cmocka_unit_test(test_unobserved),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
