/*
 * test_fold.c: a fold writes the same records whether it merges chunk by chunk, in little memory, or has arrays that all
 * chunks share, and merges most batches without looking at their chunks.
 */
#include "twins.h"

/* Both folds write the same, and readers see what they saw before, when the log was merged for them. */
static void
fold_both(struct twins *twins, uint32_t epoch)
{
	const uint64_t before = digest_of(fixture_store(twins->fixture), "plenty");
	struct store_run_info infos[2];

	assert_true(before != 0);
	twins_fold(twins, 0, epoch, TWINS_PLENTY);
	twins_fold(twins, 1, epoch, twins->little);
	twins_assert_same(twins, DB_EPOCHS, 1);
	twins_assert_same(twins, DB_COLUMNS, 3);
	assert_true(digest_of(fixture_store(twins->fixture), "plenty") == before);
	for (int i = 0; i < 2; i++)
		ok(store_writer_run_info(fixture_writer(twins->fixture), twins->run[i], &infos[i], &error));
	assert_int_equal(infos[0].replaced, infos[1].replaced);
	assert_int_equal(infos[0].changed_labels, infos[1].changed_labels);
	assert_int_equal(infos[0].examples, infos[1].examples);
}

/* The first batch is small, so that most examples lie behind the last ones that it has of each chunk. */
static void
whole_epoch(void **state)
{
	struct twins *twins = *state;

	twins_log(twins, 0, 0, 0, 60, WITH_MARGIN | WITH_LABELS);
	twins_log(twins, 0, 0, 60, TWINS_EXAMPLES / 2, WITH_MARGIN | WITH_LABELS);
	twins_log(twins, 0, 0, TWINS_EXAMPLES / 2, TWINS_EXAMPLES, WITH_MARGIN | WITH_LABELS);
	fold_both(twins, 0);
}

static void
second_session(void **state)
{
	struct twins *twins = *state;

	twins_log(twins, 0, 1, 0, 60, 0);
	twins_log(twins, 0, 1, 60, TWINS_EXAMPLES / 2, 0);
	twins_log(twins, 0, 0, TWINS_EXAMPLES / 2, TWINS_EXAMPLES / 2 + 60, 0);
	twins_log(twins, 0, 0, TWINS_EXAMPLES / 2 + 60, TWINS_EXAMPLES - 1000, WITH_LABELS);
	fold_both(twins, 0);
	twins_log(twins, 1, 1, 0, 2000, 0); /* the examples again: the values kept for them exist */
	twins_log(twins, 1, 0, 2000, TWINS_EXAMPLES - 1000, WITH_LABELS);
	fold_both(twins, 1);
}

/* Stretches of examples in their order, of two sessions by turns, as ranks of one job send them. */
static void
in_order(void **state)
{
	struct twins *twins = *state;

	for (uint32_t i = 0; i < TWINS_EXAMPLES; i++)
		twins->shuffled[i] = i;
	for (uint32_t first = 0; first < TWINS_EXAMPLES - 1000; first += 1000)
		twins_log(twins, 0, first / 1000 % 3 == 0, first, first + 1000, first < 20000 ? WITH_LABELS : 0);
	twins_log(twins, 0, 1, 0, 3000, WITH_MARGIN);
	twins_log(twins, 0, 0, 2500, 5000, 0);
	fold_both(twins, 0);
}

/* A second session has examples of the last chunk alone: so that chunk keeps sessions, the others do not. */
static void
sessions_in_one_chunk(void **state)
{
	struct twins *twins = *state;

	for (uint32_t i = 0, found = 0; found < 40; i++)
		if (twins->shuffled[i] >= 2 * STORE_CHUNK) {
			const uint32_t kept = twins->shuffled[found];

			twins->shuffled[found++] = twins->shuffled[i];
			twins->shuffled[i] = kept;
		}
	twins_log(twins, 0, 1, 40, 400, 0);
	twins_log(twins, 0, 0, 0, 40, 0);
	twins_log(twins, 0, 1, 400, 40000, 0);
	fold_both(twins, 0);
}

/* Examples that come again, in the same session and in another. */
static void
places_taken(void **state)
{
	struct twins *twins = *state;

	twins_log(twins, 0, 0, 0, 100, 0);
	twins_log(twins, 0, 0, 100, 20000, 0);
	twins_log(twins, 0, 0, 19000, 30000, 0);
	twins_log(twins, 0, 1, 29000, 40000, 0);
	twins_log(twins, 0, 0, 10, 9000, 0);
	fold_both(twins, 0);
}

static void
other_columns(void **state)
{
	struct twins *twins = *state;

	twins_log(twins, 0, 0, 0, 100, 0);
	twins_log(twins, 0, 0, 100, 20000, WITH_MARGIN);
	twins_log(twins, 0, 0, 20000, 30000, WITH_MARGIN);
	twins_log(twins, 0, 0, 30000, 40000, 0);
	fold_both(twins, 0);
}

/* What came after a fold is merged with the columns that it made. */
static void
folded_again(void **state)
{
	struct twins *twins = *state;

	twins_log(twins, 0, 0, 0, 15000, WITH_MARGIN);
	fold_both(twins, 0);
	twins_log(twins, 0, 0, 15000, 30000, WITH_MARGIN);
	twins_log(twins, 0, 0, 30000, TWINS_EXAMPLES, WITH_MARGIN);
	fold_both(twins, 0);
}

/* The arrays that one fold leaves serve the next, whose epoch has the same columns; one with others makes its own. */
static void
arrays_used_again(void **state)
{
	struct twins *twins = *state;
	const struct merge_shared *left;
	struct store_fold *fold;

	for (uint32_t epoch = 0; epoch < 3; epoch++) {
		twins_log(twins, epoch, epoch % 2, 0, 300, WITH_MARGIN);
		twins_log(twins, epoch, epoch % 2, 200 + 3000 * epoch, TWINS_EXAMPLES - 5000 * epoch, WITH_MARGIN);
	}
	twins_log(twins, 3, 0, 0, TWINS_EXAMPLES, 0);
	twins_fold(twins, 0, 0, TWINS_PLENTY);
	left = fixture_writer(twins->fixture)->arrays;
	assert_non_null(left);
	fold = twins_begin_fold(twins, 0, 1, TWINS_PLENTY);
	assert_ptr_equal(fold->shared, left);
	assert_null(fixture_writer(twins->fixture)->arrays);
	store_fold_free(fold);
	twins_fold(twins, 0, 1, TWINS_PLENTY);
	twins_fold(twins, 0, 2, TWINS_PLENTY);
	fold = twins_begin_fold(twins, 0, 3, TWINS_PLENTY);
	assert_false(fold->shared->columns & STORE_COLUMN_BIT(STORE_MARGIN));
	store_fold_free(fold);
	store_fold_rest(fixture_writer(twins->fixture));
	assert_null(fixture_writer(twins->fixture)->arrays);
	for (uint32_t epoch = 0; epoch < 3; epoch++)
		twins_fold(twins, 1, epoch, 1);
	twins_assert_same(twins, DB_COLUMNS, 9);
}

static void
many_chunks(void **state)
{
	struct twins *twins = *state;

	twins_log(twins, 0, 0, 0, 4000, 0);
	twins_log(twins, 0, 0, 4000, 100000, 0);
	twins_log(twins, 0, 0, 90000, 110000, 0);
	fold_both(twins, 0);
}

/* Images share arrays only if these fit into the memory, with the whole huge pages that they end with. */
static void
memory_of_shared(void **state)
{
	struct twins *twins = *state;
	const size_t chunks = store_chunks_of(twins->examples);
	const size_t words = chunks * STORE_CHUNK * sizeof(uint32_t);
	const size_t bits = chunks * STORE_CHUNK_WORDS * sizeof(uint64_t);
	/* gold_prob and the session, correct and the observations' presence; which examples were seen, and by whom */
	const size_t taken = 2 * store_merge_shared_size(words) + 2 * store_merge_shared_size(bits) + words + bits;
	size_t without = 1, with = TWINS_PLENTY;

	assert_int_equal(store_merge_shared_size(((size_t)2 << 20) + 1), (size_t)4 << 20);
	twins_log(twins, 0, 0, 0, 100000, 0);
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	while (with - without > 1) {
		const size_t memory = without + (with - without) / 2;
		struct store_fold *fold = twins_begin_fold(twins, 0, 0, memory);

		*(fold->shared ? &with : &without) = memory;
		store_fold_free(fold);
	}
	assert_in_range(with, taken, taken + taken / 2);
}

/* A few rows, scattered over a run, do not take huge pages. */
static void
few_rows(void **state)
{
	struct twins *twins = *state;
	struct store_fold *fold;

	twins_log(twins, 0, 0, 0, TWINS_EXAMPLES / 8 - 1, 0);
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	assert_null(fold->shared);
	store_fold_free(fold);
	twins_log(twins, 0, 0, TWINS_EXAMPLES / 8 - 1, TWINS_EXAMPLES / 8, 0);
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	assert_non_null(fold->shared);
	store_fold_free(fold);
}

/* With all chunks alike, a batch is merged as a whole; from a place that is taken on, it is left. */
static void
merged_as_a_whole(void **state)
{
	static const uint32_t kept_back[] = {2 * STORE_CHUNK + 7, 3, STORE_CHUNK, 5, 6, 7};
	static const float gold_prob[] = {.1f, .2f, .3f, .4f};
	static const uint8_t correct[] = {5};
	struct batch batch = {.rows = 4,
	                      .columns = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT),
	                      .first = BATCH_SCATTERED,
	                      .index = (const uint8_t *)kept_back};
	const uint32_t again[] = {kept_back[4], kept_back[0], kept_back[5]};
	struct twins *twins = *state;
	struct store_fold *fold;
	uint32_t rows, end = TWINS_EXAMPLES;

	for (size_t i = 0; i < sizeof(kept_back) / sizeof(*kept_back); i++)
		for (uint32_t at = 0; at < TWINS_EXAMPLES; at++)
			if (twins->shuffled[at] == kept_back[i]) { /* goes to the end, which is not logged */
				twins->shuffled[at] = twins->shuffled[--end];
				twins->shuffled[end] = kept_back[i];
				break;
			}
	twins_log(twins, 0, 0, 0, TWINS_EXAMPLES / 2, 0);
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	ok(store_fold_fill(fold, &error));
	batch.data[STORE_GOLD_PROB] = (const uint8_t *)gold_prob;
	batch.data[STORE_CORRECT] = correct;
	assert_int_equal(store_fold_even(fold, &batch, &rows), 0);
	assert_int_equal(rows, 4);
	batch.rows = 3;
	batch.index = (const uint8_t *)again;
	assert_int_equal(store_fold_even(fold, &batch, &rows), 0);
	assert_int_equal(rows, 1);
	store_fold_free(fold);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, twins_set_up, twins_tear_down)
#define TEST_MANY(name) cmocka_unit_test_setup_teardown(name, twins_set_up_many, twins_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(whole_epoch),       TEST(second_session),    TEST(in_order),         TEST(sessions_in_one_chunk),
	        TEST(places_taken),      TEST(other_columns),     TEST(folded_again),     TEST(few_rows),
	        TEST(merged_as_a_whole), TEST(arrays_used_again), TEST_MANY(many_chunks), TEST_MANY(memory_of_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
