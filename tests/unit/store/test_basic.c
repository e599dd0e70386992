/* test_basic.c: what is logged is what is read, from the log and from columns. */
#include "store_test.h"

static const float gold_prob[] = {0.1f, 0.9f, 0.4f, 0.7f};
static const uint8_t correct[] = {0, 1, 1, 1};
static const int32_t gold[] = {2, 0, 1, 1};
static const char *const labels[] = {"no", "yes", "perhaps"};

static void
check_three(struct store *store)
{
	struct reading reading = reading_open(store, "run", UINT64_MAX);
	const struct store_run_info *info = store_snapshot_info(reading.snapshot);
	const uint32_t *epochs;
	struct store_block block;
	struct store_ids ids;

	assert_string_equal(info->name, "run");
	assert_int_equal(info->examples, 4);
	assert_int_equal(info->rows, 4);
	assert_int_equal(info->epochs, 2);
	assert_int_equal(info->observations, 6);
	assert_int_equal(store_snapshot_epochs(reading.snapshot, &epochs), 2);
	assert_int_equal(epochs[0], 0);
	assert_int_equal(epochs[1], 3);
	assert_string_equal(store_snapshot_label(reading.snapshot, 2), "perhaps");
	assert_null(store_snapshot_label(reading.snapshot, 3));
	assert_int_equal(store_snapshot_blocks(reading.snapshot), 1);
	reading_block(&reading, 0, &block, &ids);
	assert_int_equal(block.rows, 4);
	assert_int_equal(ids.rows, 4);
	for (uint32_t row = 0; row < 4; row++) {
		assert_int_equal(ids.integers[row], 100 + row);
		assert_true(has(&block, 0, STORE_GOLD_PROB, row));
		assert_true(float_of(&block, 0, STORE_GOLD_PROB, row) == gold_prob[row]);
		assert_int_equal(bit_of(&block, 0, STORE_CORRECT, row), correct[row]);
		assert_int_equal(((const int32_t *)block.gold.values)[row], gold[row]);
		assert_int_equal(has(&block, 1, STORE_GOLD_PROB, row), row % 2);
	}
	assert_true(store_block_values(&block, 0, STORE_GOLD_PROB)->complete);
	assert_false(store_block_values(&block, 1, STORE_GOLD_PROB)->complete);
	assert_null(store_block_values(&block, 0, STORE_MARGIN)->values);
	assert_true(float_of(&block, 1, STORE_GOLD_PROB, 1) == 0.25f);
	assert_true(float_of(&block, 1, STORE_GOLD_PROB, 3) == 0.75f);
	assert_int_equal(bit_of(&block, 1, STORE_CORRECT, 0), 0);
	assert_int_equal(bit_of(&block, 1, STORE_CORRECT, 1), 1);
	reading_close(&reading);
}

static void
log_and_fold(void **state)
{
	const uint64_t ids[] = {100, 101, 102, 103}, odd[] = {101, 103};
	const float odd_prob[] = {0.25f, 0.75f};
	const uint8_t odd_correct[] = {1, 0};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, labels, 3);

	(void)state;
	fixture_log(
	        fixture, run,
	        &(struct fixture_batch){.n = 4, .ids = ids, .gold_prob = gold_prob, .correct = correct, .gold = gold});
	fixture_log(
	        fixture, run,
	        &(struct fixture_batch){.epoch = 3, .n = 2, .ids = odd, .gold_prob = odd_prob, .correct = odd_correct});
	check_three(fixture_store(fixture)); /* all in the log */
	fixture_fold(fixture, run, 0);
	check_three(fixture_store(fixture)); /* one of each */
	fixture_end(fixture, run);
	check_three(fixture_store(fixture)); /* all in columns */
	fixture_free(fixture);
}

static void
string_ids(void **state)
{
	static const char *const names[] = {"a", "bee", "ceeeeee", "dd"};
	static const char *const more[] = {"bee", "new"};
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);

	(void)state;
	for (int folded = 0; folded < 2; folded++) {
		static const char *const all[] = {"a", "bee", "ceeeeee", "dd", "new"};
		struct reading reading;
		struct store_block block;
		struct store_ids ids;

		if (!folded) {
			fixture_log(fixture, run,
			            &(struct fixture_batch){.n = 4, .strings = names, .gold_prob = gold_prob});
			fixture_log(
			        fixture, run,
			        &(struct fixture_batch){.epoch = 1, .n = 2, .strings = more, .gold_prob = gold_prob});
		} else {
			fixture_end(fixture, run);
		}
		reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
		reading_block(&reading, 0, &block, &ids);
		assert_int_equal(ids.rows, 5);
		for (uint32_t row = 0; row < 5; row++) {
			assert_int_equal(ids.offsets[row + 1] - ids.offsets[row], strlen(all[row]));
			assert_memory_equal(ids.text + ids.offsets[row], all[row], strlen(all[row]));
		}
		assert_true(has(&block, 0, STORE_GOLD_PROB, 3));
		assert_false(has(&block, 0, STORE_GOLD_PROB, 4));
		assert_true(has(&block, 1, STORE_GOLD_PROB, 4));
		assert_true(float_of(&block, 1, STORE_GOLD_PROB, 1) == 0.1f);
		reading_close(&reading);
	}
	fixture_free(fixture);
}

enum { IN_ORDER = 100 };

/* What is logged of an id in an epoch. */
static float
prob_of(uint64_t id, uint32_t epoch)
{
	return (float)((id * 31 + epoch * 7) % 97) / 97;
}

static uint64_t
scattered_id(uint32_t i)
{
	return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Epochs in the order of the first, and with a change here and there: each value is found with its own id. */
static void
ids_in_the_same_order(void **state)
{
	struct fixture *fixture = fixture_new();
	uint32_t run = fixture_run(fixture, "run", 0, NULL, 0);
	struct reading reading;
	struct store_block block;
	struct store_ids read;

	(void)state;
	for (uint32_t epoch = 0; epoch < 6; epoch++) {
		uint64_t ids[IN_ORDER];
		float values[IN_ORDER];

		for (uint32_t i = 0; i < IN_ORDER; i++)
			ids[i] = scattered_id(i);
		if (epoch == 2) { /* two change places, and one is new */
			ids[63] = scattered_id(64);
			ids[64] = scattered_id(63);
			ids[70] = scattered_id(IN_ORDER);
		}
		if (epoch == 4) /* the new one comes where the epochs before ended */
			ids[0] = scattered_id(IN_ORDER);
		for (uint32_t i = 0; i < IN_ORDER; i++)
			values[i] = prob_of(ids[i], epoch);
		for (uint32_t from = 0, n; from < IN_ORDER; from += n) { /* batches are as long as in no other epoch */
			n = IN_ORDER - from < 30 + epoch ? IN_ORDER - from : 30 + epoch;
			fixture_log(fixture, run,
			            &(struct fixture_batch){
			                    .epoch = epoch, .n = n, .ids = ids + from, .gold_prob = values + from});
		}
	}
	fixture_end(fixture, run);
	reading = reading_open(fixture_store(fixture), "run", UINT64_MAX);
	reading_block(&reading, 0, &block, &read);
	assert_int_equal(read.rows, IN_ORDER + 1);
	for (uint32_t row = 0; row < read.rows; row++) {
		assert_true(read.integers[row] == scattered_id(row));
		for (uint32_t epoch = 0; epoch < 6; epoch++) {
			bool there = row == IN_ORDER ? epoch == 2 || epoch == 4
			                             : !(epoch == 2 && row == 70) && !(epoch == 4 && row == 0);

			assert_int_equal(has(&block, epoch, STORE_GOLD_PROB, row), there);
			if (there)
				assert_true(float_of(&block, epoch, STORE_GOLD_PROB, row) ==
				            prob_of(scattered_id(row), epoch));
		}
	}
	reading_close(&reading);
	fixture_free(fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(log_and_fold),
	        cmocka_unit_test(string_ids),
	        cmocka_unit_test(ids_in_the_same_order),
	};

	return cmocka_run_group_tests_name("store basic", tests, NULL, NULL);
}
