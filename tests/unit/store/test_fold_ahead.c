/*
 * test_fold_ahead.c: a fold writes the same records whether its log was read ahead, while another was written, or not; and
 * what must not be read ahead is not.
 */
#include "twins.h"

#include <unistd.h>

/* Reads the whole log of `next` ahead. */
static void
read_ahead(struct store_fold *next)
{
	while (next->phase == FOLD_FILL) {
		store_fold_read_ahead(next);
		usleep(1000);
		assert_true(store_fold_pause(next));
	}
}

static struct store_fold *
begin_beside(struct twins *twins, uint32_t epoch, const struct store_fold *beside)
{
	struct store_fold *fold;

	ok(store_fold_begin_beside(fixture_writer(twins->fixture), twins->run[0], epoch, TWINS_PLENTY, beside, &fold,
	                           &error));
	assert_non_null(fold);
	return fold;
}

/* Folds to the end, while the log of `next` is read, if there is one. Returns whether that is of use then. */
static bool
fold_beside(struct store_fold *fold, struct store_fold *next)
{
	bool done = false, useful = true;

	while (!done) {
		if (next)
			store_fold_read_ahead(next);
		ok(store_fold_step(fold, &done, &error));
		if (next)
			useful &= store_fold_pause(next);
	}
	store_fold_free(fold);
	return useful;
}

/* What was read ahead is written as if it had been read then. Examples are new in each epoch. */
static void
ahead_without_labels(void **state)
{
	struct twins *twins = *state;
	struct store_fold *fold, *next;

	for (uint32_t epoch = 0; epoch < 4; epoch++) {
		twins_log(twins, epoch, 0, 0, 300, WITH_MARGIN);
		twins_log(twins, epoch, epoch == 2, 200, TWINS_EXAMPLES / 4 * (epoch + 1), WITH_MARGIN);
	}
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	for (uint32_t epoch = 1; epoch < 4; epoch++) {
		next = begin_beside(twins, epoch, fold);
		if (epoch != 2)
			read_ahead(next); /* before the other is written */
		assert_true(fold_beside(fold, next));
		fold = next;
	}
	assert_true(fold_beside(fold, NULL));
	for (uint32_t epoch = 0; epoch < 4; epoch++)
		twins_fold(twins, 1, epoch, twins->little);
	twins_assert_same(twins, DB_EPOCHS, 4);
	twins_assert_same(twins, DB_COLUMNS, 12);
}

/* Labels are read ahead; if the fold before has written some, it was in vain. */
static void
ahead_with_labels(void **state)
{
	struct twins *twins = *state;
	struct store_fold *fold, *next;

	for (uint32_t epoch = 0; epoch < 3; epoch++) {
		twins_log(twins, epoch, epoch % 2, 0, 300, WITH_LABELS);
		twins_log(twins, epoch, epoch % 2, 300, TWINS_EXAMPLES / 2 * (epoch ? 2 : 1), WITH_LABELS);
	}
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	next = begin_beside(twins, 1, fold);
	read_ahead(next);
	assert_false(fold_beside(fold, next)); /* writes the labels of half the examples */
	store_fold_free(next);
	twins_fold(twins, 0, 1, TWINS_PLENTY);
	twins_log(twins, 1, 1, 0, 300, 0); /* a patch, and an epoch of which all labels are known */
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	fold = twins_begin_fold(twins, 0, 1, TWINS_PLENTY);
	next = begin_beside(twins, 2, fold);
	read_ahead(next);
	assert_true(fold_beside(fold, next));
	assert_true(fold_beside(next, NULL));
	for (uint32_t epoch = 0; epoch < 3; epoch++)
		twins_fold(twins, 1, epoch, twins->little);
	twins_assert_same(twins, DB_COLUMNS, 9);
}

/* Both folds together stay within the memory. */
static void
ahead_in_memory(void **state)
{
	struct twins *twins = *state;
	struct store_writer *writer = fixture_writer(twins->fixture);
	struct store_fold *fold, *next;

	for (uint32_t epoch = 0; epoch < 2; epoch++)
		twins_log(twins, epoch, 0, 0, 100000, 0);
	ok(store_writer_commit(writer, &error));
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	ok(store_fold_begin_beside(writer, twins->run[0], 1, 2 * fold->memory, fold, &next, &error));
	assert_non_null(next);
	assert_non_null(next->shared);
	assert_true(next->memory == fold->memory);
	store_fold_free(next);
	/* Without the arrays that all chunks share, it takes less. */
	ok(store_fold_begin_beside(writer, twins->run[0], 1, 2 * fold->memory - 1, fold, &next, &error));
	assert_non_null(next);
	assert_null(next->shared);
	store_fold_free(next);
	ok(store_fold_begin_beside(writer, twins->run[0], 1, fold->memory + fold->memory / 2, fold, &next, &error));
	assert_null(next);
	store_fold_free(fold);
	fold = twins_begin_fold(twins, 0, 0, twins->little); /* goes through the log more than once */
	ok(store_fold_begin_beside(writer, twins->run[0], 1, TWINS_PLENTY, fold, &next, &error));
	assert_null(next);
	store_fold_free(fold);
}

/* What small epochs wrote, and nobody has committed, would be missed by a thread that reads: so none begins. */
static void
ahead_of_nothing_pending(void **state)
{
	struct twins *twins = *state;
	struct store_writer *writer = fixture_writer(twins->fixture);
	struct store_fold *fold, *next;
	bool done = false;

	for (uint32_t epoch = 0; epoch < 3; epoch++)
		twins_log(twins, epoch, 0, 50 * epoch, epoch < 2 ? 100 : TWINS_EXAMPLES, WITH_LABELS);
	ok(store_writer_commit(writer, &error));
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	ok(store_fold_advance(fold, &done, &error));
	assert_true(done);
	store_fold_free(fold);
	fold = twins_begin_fold(twins, 0, 1, TWINS_PLENTY);
	ok(store_fold_begin_beside(writer, twins->run[0], 2, TWINS_PLENTY, fold, &next, &error));
	assert_null(next);
	ok(store_writer_commit(writer, &error));
	next = begin_beside(twins, 2, fold);
	read_ahead(next);
	assert_true(fold_beside(fold, next)); /* writes nothing that is kept per example */
	assert_true(fold_beside(next, NULL));
	for (uint32_t epoch = 0; epoch < 3; epoch++)
		twins_fold(twins, 1, epoch, twins->little);
	twins_assert_same(twins, DB_COLUMNS, 9);
}

/* Batches that come at random, for any epoch, are folded from the first epoch to the last, with the log of the next one
 * read ahead as far as the thread gets, or not. */
static void
ahead_at_random(void **state)
{
	enum { EPOCHS = 4, ROUNDS = 12 };
	struct twins *twins = *state;
	struct store_writer *writer = fixture_writer(twins->fixture);
	struct store_run_info infos[2];
	uint64_t random = 1;
	unsigned taken = 0;

	for (int round = 0; round < ROUNDS; round++) {
		bool logged[EPOCHS + 1] = {false};
		struct store_fold *fold = NULL, *next;

		for (int batch = 0; batch < 6; batch++) {
			uint32_t epoch, first, end;

			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			epoch = (uint32_t)(random >> 33) % EPOCHS;
			first = (uint32_t)(random >> 36) % (TWINS_EXAMPLES / 2);
			end = first + 1 + (uint32_t)(random >> 40) % (TWINS_EXAMPLES / (random >> 60 & 1 ? 2 : 400));
			for (uint32_t i = 0; i < TWINS_EXAMPLES; i++) /* labels that contradict one another */
				twins->labels[i] = (int32_t)(i + (random >> 50)) & 15;
			twins_log(twins, epoch, random >> 61 & 1, first, end,
			          round >= ROUNDS / 2 && (random >> 62 & 1) ? WITH_LABELS : 0);
			logged[epoch] = true;
		}
		ok(store_writer_commit(writer, &error));
		for (uint32_t epoch = 0, after; epoch < EPOCHS; epoch = after) {
			for (after = epoch + 1; after < EPOCHS && !logged[after]; after++)
				;
			if (!logged[epoch])
				continue;
			fold = fold ? fold : twins_begin_fold(twins, 0, epoch, TWINS_PLENTY);
			next = after < EPOCHS ? begin_beside(twins, after, fold) : NULL;
			if (next && (random >> epoch & 1))
				read_ahead(next);
			if (!fold_beside(fold, next)) {
				store_fold_free(next);
				next = NULL;
			}
			taken += next != NULL;
			fold = next;
			twins_fold(twins, 1, epoch, twins->little);
		}
		twins_assert_same(twins, DB_EPOCHS, 1);
		twins_assert_same(twins, DB_COLUMNS, 3);
		for (int i = 0; i < 2; i++)
			ok(store_writer_run_info(writer, twins->run[i], &infos[i], &error));
		assert_int_equal(infos[0].replaced, infos[1].replaced);
		assert_int_equal(infos[0].changed_labels, infos[1].changed_labels);
		assert_int_equal(infos[0].examples, infos[1].examples);
		assert_int_equal(infos[0].observations, infos[1].observations);
	}
	assert_true(infos[0].replaced > 0 && infos[0].changed_labels > 0);
	assert_true(taken >= ROUNDS);
}

/* Damage that is met ahead is found again by the fold that begins anew. */
static void
ahead_damaged(void **state)
{
	struct twins *twins = *state;
	struct store_writer *writer = fixture_writer(twins->fixture);
	const struct store_key key = store_key_log(twins->run[0], 1, 1);
	struct store_fold *fold, *next;
	bool done = false, useful = true;

	for (uint32_t epoch = 0; epoch < 2; epoch++) {
		twins_log(twins, epoch, 0, 0, 300, 0);
		twins_log(twins, epoch, 0, 300, TWINS_EXAMPLES, 0);
	}
	ok(store_writer_delete(writer, DB_LOG, &key, &error));
	ok(store_writer_commit(writer, &error));
	fold = twins_begin_fold(twins, 0, 0, TWINS_PLENTY);
	next = begin_beside(twins, 1, fold);
	for (int i = 0; i < 1000 && useful; i++) {
		store_fold_read_ahead(next);
		usleep(1000);
		useful = store_fold_pause(next);
	}
	assert_false(useful);
	store_fold_free(next);
	assert_true(fold_beside(fold, NULL));
	next = twins_begin_fold(twins, 0, 1, TWINS_PLENTY);
	assert_int_equal(store_fold_step(next, &done, NULL), STORE_E_CORRUPT);
	store_fold_free(next);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, twins_set_up, twins_tear_down)
#define TEST_MANY(name) cmocka_unit_test_setup_teardown(name, twins_set_up_many, twins_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(ahead_without_labels), TEST(ahead_with_labels),        TEST_MANY(ahead_in_memory),
	        TEST(ahead_damaged),        TEST(ahead_of_nothing_pending), TEST(ahead_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
