/*
 * test_fold.c: a fold writes the same records whether it merges chunk by chunk, in little memory, or has arrays that all
 * chunks share, and merges most batches without looking at their chunks; and whether its log was read ahead.
 */
#include "reader_process.h"

#include "fold.h"

#include <stdlib.h>
#include <unistd.h>

#define EXAMPLES (2 * STORE_CHUNK + 9000) /* 60 of them, drawn at random, lie in all three chunks */
#define PLENTY ((size_t)256 << 20)

struct twins { /* two runs that get the same batches */
	struct fixture *fixture;
	uint32_t examples;
	size_t little; /* memory of the second run's folds */
	uint32_t run[2], session[2][2];
	uint32_t *shuffled; /* the examples */
	float *values[2];
	uint8_t *correct;
	int32_t *labels;
	uint64_t *ids;
};

static void *
room(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	assert_non_null(memory);
	return memory;
}

static int
set_up_twins(struct twins *twins, uint32_t examples, size_t little)
{
	uint64_t random = 1;

	twins->examples = examples;
	twins->little = little;
	twins->fixture = fixture_new();
	for (int i = 0; i < 2; i++) {
		twins->run[i] = fixture_run(twins->fixture, i ? "little" : "plenty", examples, NULL, 0);
		twins->session[i][1] = fixture_session(twins->fixture, twins->run[i], 99, 1);
	}
	twins->shuffled = room(examples, sizeof(*twins->shuffled));
	twins->ids = room(examples, sizeof(*twins->ids));
	twins->labels = room(examples, sizeof(*twins->labels));
	twins->correct = room(examples, 1);
	for (int i = 0; i < 2; i++)
		twins->values[i] = room(examples, sizeof(float));
	for (uint32_t i = 0; i < examples; i++)
		twins->shuffled[i] = i;
	for (uint32_t i = examples - 1; i > 0; i--) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		const uint32_t other = (uint32_t)((random >> 33) % (i + 1)), kept = twins->shuffled[i];

		twins->shuffled[i] = twins->shuffled[other];
		twins->shuffled[other] = kept;
		twins->correct[i] = random >> 63;
		twins->values[0][i] = (float)(random >> 40) / (float)(1 << 24);
		twins->values[1][i] = (float)(random >> 34);
		twins->labels[i] = (int32_t)(random >> 60);
	}
	return 0;
}

static int
set_up(void **state)
{
	return set_up_twins(*state = room(1, sizeof(struct twins)), EXAMPLES, 1);
}

/* So many that arrays of all chunks have huge pages. */
static int
set_up_many(void **state)
{
	return set_up_twins(*state = room(1, sizeof(struct twins)), 40 * STORE_CHUNK + 9000, (size_t)4 << 20);
}

static int
tear_down(void **state)
{
	struct twins *twins = *state;

	fixture_free(twins->fixture);
	free(twins->shuffled);
	free(twins->ids);
	free(twins->labels);
	free(twins->correct);
	free(twins->values[0]);
	free(twins->values[1]);
	free(twins);
	return 0;
}

enum { WITH_MARGIN = 1, WITH_LABELS = 2 };

/* Logs examples first … end − 1 of the shuffled ones to both runs. */
static void
log_both(struct twins *twins, uint32_t epoch, unsigned session, uint32_t first, uint32_t end, int with)
{
	struct fixture_batch batch = {.epoch = epoch,
	                              .n = end - first,
	                              .ids = twins->ids,
	                              .gold_prob = twins->values[0] + first,
	                              .correct = twins->correct + first,
	                              .gold = with & WITH_LABELS ? twins->labels + first : NULL};

	if (with & WITH_MARGIN)
		batch.floats[0] = (struct fixture_column){.name = "margin", .values = twins->values[1] + first};
	for (uint32_t i = first; i < end; i++)
		twins->ids[i - first] = twins->shuffled[i];
	for (int i = 0; i < 2; i++) {
		fixture_use(twins->fixture, twins->run[i], twins->session[i][session]);
		assert_int_equal(fixture_log(twins->fixture, twins->run[i], &batch), 0);
	}
}

static struct store_fold *
begin_fold(struct twins *twins, int which, uint32_t epoch, size_t memory)
{
	struct store_fold *fold;

	ok(store_fold_begin(fixture_writer(twins->fixture), twins->run[which], epoch, memory, &fold, &error));
	return fold;
}

static void
fold_in(struct twins *twins, int which, uint32_t epoch, size_t memory)
{
	struct store_fold *fold = begin_fold(twins, which, epoch, memory);
	bool done = false;

	assert_int_equal(fold->shared != NULL, memory == PLENTY);
	while (!done)
		ok(store_fold_step(fold, &done, &error));
	store_fold_free(fold);
}

/* The records of both runs are the same, but for the number of the run. */
static void
assert_same_records(struct twins *twins, enum store_db db, size_t least)
{
	struct store_writer *writer = fixture_writer(twins->fixture);
	struct view_walk walks[2] = {{0}, {0}};
	size_t count = 0;
	int found;

	ok(store_writer_begin(writer, &error));
	for (int i = 0; i < 2; i++) {
		const struct store_key from = store_key_u32_u32(twins->run[i], 0);

		ok(store_walk_open(&walks[i], &writer->view, db, &from, 4, &error));
	}
	do {
		found = store_walk_next(&walks[0], NULL);
		assert_int_equal(store_walk_next(&walks[1], NULL), found);
		if (found)
			break;
		assert_int_equal(walks[0].key.mv_size, walks[1].key.mv_size);
		assert_memory_equal((uint8_t *)walks[0].key.mv_data + 4, (uint8_t *)walks[1].key.mv_data + 4,
		                    walks[0].key.mv_size - 4);
		assert_int_equal(walks[0].value.mv_size, walks[1].value.mv_size);
		/* The header has a hash of the key. */
		assert_memory_equal((uint8_t *)walks[0].value.mv_data + 16, (uint8_t *)walks[1].value.mv_data + 16,
		                    walks[0].value.mv_size - 16);
		count++;
	} while (true);
	store_walk_close(&walks[0]);
	store_walk_close(&walks[1]);
	assert_true(count >= least);
}

/* Both folds write the same, and readers see what they saw before, when the log was merged for them. */
static void
fold_both(struct twins *twins, uint32_t epoch)
{
	const uint64_t before = digest_of(fixture_store(twins->fixture), "plenty");
	struct store_run_info infos[2];

	assert_true(before != 0);
	fold_in(twins, 0, epoch, PLENTY);
	fold_in(twins, 1, epoch, twins->little);
	assert_same_records(twins, DB_EPOCHS, 1);
	assert_same_records(twins, DB_COLUMNS, 3);
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

	log_both(twins, 0, 0, 0, 60, WITH_MARGIN | WITH_LABELS);
	log_both(twins, 0, 0, 60, EXAMPLES / 2, WITH_MARGIN | WITH_LABELS);
	log_both(twins, 0, 0, EXAMPLES / 2, EXAMPLES, WITH_MARGIN | WITH_LABELS);
	fold_both(twins, 0);
}

static void
second_session(void **state)
{
	struct twins *twins = *state;

	log_both(twins, 0, 1, 0, 60, 0);
	log_both(twins, 0, 1, 60, EXAMPLES / 2, 0);
	log_both(twins, 0, 0, EXAMPLES / 2, EXAMPLES / 2 + 60, 0);
	log_both(twins, 0, 0, EXAMPLES / 2 + 60, EXAMPLES - 1000, WITH_LABELS);
	fold_both(twins, 0);
	log_both(twins, 1, 1, 0, 2000, 0); /* the examples again: the values kept for them exist */
	log_both(twins, 1, 0, 2000, EXAMPLES - 1000, WITH_LABELS);
	fold_both(twins, 1);
}

/* Stretches of examples in their order, of two sessions by turns, as ranks of one job send them. */
static void
in_order(void **state)
{
	struct twins *twins = *state;

	for (uint32_t i = 0; i < EXAMPLES; i++)
		twins->shuffled[i] = i;
	for (uint32_t first = 0; first < EXAMPLES - 1000; first += 1000)
		log_both(twins, 0, first / 1000 % 3 == 0, first, first + 1000, first < 20000 ? WITH_LABELS : 0);
	log_both(twins, 0, 1, 0, 3000, WITH_MARGIN);
	log_both(twins, 0, 0, 2500, 5000, 0);
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
	log_both(twins, 0, 1, 40, 400, 0);
	log_both(twins, 0, 0, 0, 40, 0);
	log_both(twins, 0, 1, 400, 40000, 0);
	fold_both(twins, 0);
}

/* Examples that come again, in the same session and in another. */
static void
places_taken(void **state)
{
	struct twins *twins = *state;

	log_both(twins, 0, 0, 0, 100, 0);
	log_both(twins, 0, 0, 100, 20000, 0);
	log_both(twins, 0, 0, 19000, 30000, 0);
	log_both(twins, 0, 1, 29000, 40000, 0);
	log_both(twins, 0, 0, 10, 9000, 0);
	fold_both(twins, 0);
}

static void
other_columns(void **state)
{
	struct twins *twins = *state;

	log_both(twins, 0, 0, 0, 100, 0);
	log_both(twins, 0, 0, 100, 20000, WITH_MARGIN);
	log_both(twins, 0, 0, 20000, 30000, WITH_MARGIN);
	log_both(twins, 0, 0, 30000, 40000, 0);
	fold_both(twins, 0);
}

/* What came after a fold is merged with the columns that it made. */
static void
folded_again(void **state)
{
	struct twins *twins = *state;

	log_both(twins, 0, 0, 0, 15000, WITH_MARGIN);
	fold_both(twins, 0);
	log_both(twins, 0, 0, 15000, 30000, WITH_MARGIN);
	log_both(twins, 0, 0, 30000, EXAMPLES, WITH_MARGIN);
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
		log_both(twins, epoch, epoch % 2, 0, 300, WITH_MARGIN);
		log_both(twins, epoch, epoch % 2, 200 + 3000 * epoch, EXAMPLES - 5000 * epoch, WITH_MARGIN);
	}
	log_both(twins, 3, 0, 0, EXAMPLES, 0);
	fold_in(twins, 0, 0, PLENTY);
	left = fixture_writer(twins->fixture)->arrays;
	assert_non_null(left);
	fold = begin_fold(twins, 0, 1, PLENTY);
	assert_ptr_equal(fold->shared, left);
	assert_null(fixture_writer(twins->fixture)->arrays);
	store_fold_free(fold);
	fold_in(twins, 0, 1, PLENTY);
	fold_in(twins, 0, 2, PLENTY);
	fold = begin_fold(twins, 0, 3, PLENTY);
	assert_false(fold->shared->columns & STORE_COLUMN_BIT(STORE_MARGIN));
	store_fold_free(fold);
	store_fold_rest(fixture_writer(twins->fixture));
	assert_null(fixture_writer(twins->fixture)->arrays);
	for (uint32_t epoch = 0; epoch < 3; epoch++)
		fold_in(twins, 1, epoch, 1);
	assert_same_records(twins, DB_COLUMNS, 9);
}

static void
many_chunks(void **state)
{
	struct twins *twins = *state;

	log_both(twins, 0, 0, 0, 4000, 0);
	log_both(twins, 0, 0, 4000, 100000, 0);
	log_both(twins, 0, 0, 90000, 110000, 0);
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
	size_t without = 1, with = PLENTY;

	assert_int_equal(store_merge_shared_size(((size_t)2 << 20) + 1), (size_t)4 << 20);
	log_both(twins, 0, 0, 0, 100000, 0);
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	while (with - without > 1) {
		const size_t memory = without + (with - without) / 2;
		struct store_fold *fold = begin_fold(twins, 0, 0, memory);

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

	log_both(twins, 0, 0, 0, EXAMPLES / 8 - 1, 0);
	fold = begin_fold(twins, 0, 0, PLENTY);
	assert_null(fold->shared);
	store_fold_free(fold);
	log_both(twins, 0, 0, EXAMPLES / 8 - 1, EXAMPLES / 8, 0);
	fold = begin_fold(twins, 0, 0, PLENTY);
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
	uint32_t rows, end = EXAMPLES;

	for (size_t i = 0; i < sizeof(kept_back) / sizeof(*kept_back); i++)
		for (uint32_t at = 0; at < EXAMPLES; at++)
			if (twins->shuffled[at] == kept_back[i]) { /* goes to the end, which is not logged */
				twins->shuffled[at] = twins->shuffled[--end];
				twins->shuffled[end] = kept_back[i];
				break;
			}
	log_both(twins, 0, 0, 0, EXAMPLES / 2, 0);
	fold = begin_fold(twins, 0, 0, PLENTY);
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

	ok(store_fold_begin_beside(fixture_writer(twins->fixture), twins->run[0], epoch, PLENTY, beside, &fold,
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
		log_both(twins, epoch, 0, 0, 300, WITH_MARGIN);
		log_both(twins, epoch, epoch == 2, 200, EXAMPLES / 4 * (epoch + 1), WITH_MARGIN);
	}
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	fold = begin_fold(twins, 0, 0, PLENTY);
	for (uint32_t epoch = 1; epoch < 4; epoch++) {
		next = begin_beside(twins, epoch, fold);
		if (epoch != 2)
			read_ahead(next); /* before the other is written */
		assert_true(fold_beside(fold, next));
		fold = next;
	}
	assert_true(fold_beside(fold, NULL));
	for (uint32_t epoch = 0; epoch < 4; epoch++)
		fold_in(twins, 1, epoch, twins->little);
	assert_same_records(twins, DB_EPOCHS, 4);
	assert_same_records(twins, DB_COLUMNS, 12);
}

/* Labels are read ahead; if the fold before has written some, it was in vain. */
static void
ahead_with_labels(void **state)
{
	struct twins *twins = *state;
	struct store_fold *fold, *next;

	for (uint32_t epoch = 0; epoch < 3; epoch++) {
		log_both(twins, epoch, epoch % 2, 0, 300, WITH_LABELS);
		log_both(twins, epoch, epoch % 2, 300, EXAMPLES / 2 * (epoch ? 2 : 1), WITH_LABELS);
	}
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	fold = begin_fold(twins, 0, 0, PLENTY);
	next = begin_beside(twins, 1, fold);
	read_ahead(next);
	assert_false(fold_beside(fold, next)); /* writes the labels of half the examples */
	store_fold_free(next);
	fold_in(twins, 0, 1, PLENTY);
	log_both(twins, 1, 1, 0, 300, 0); /* a patch, and an epoch of which all labels are known */
	ok(store_writer_commit(fixture_writer(twins->fixture), &error));
	fold = begin_fold(twins, 0, 1, PLENTY);
	next = begin_beside(twins, 2, fold);
	read_ahead(next);
	assert_true(fold_beside(fold, next));
	assert_true(fold_beside(next, NULL));
	for (uint32_t epoch = 0; epoch < 3; epoch++)
		fold_in(twins, 1, epoch, twins->little);
	assert_same_records(twins, DB_COLUMNS, 9);
}

/* Both folds together stay within the memory. */
static void
ahead_in_memory(void **state)
{
	struct twins *twins = *state;
	struct store_writer *writer = fixture_writer(twins->fixture);
	struct store_fold *fold, *next;

	for (uint32_t epoch = 0; epoch < 2; epoch++)
		log_both(twins, epoch, 0, 0, 100000, 0);
	ok(store_writer_commit(writer, &error));
	fold = begin_fold(twins, 0, 0, PLENTY);
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
	fold = begin_fold(twins, 0, 0, twins->little); /* goes through the log more than once */
	ok(store_fold_begin_beside(writer, twins->run[0], 1, PLENTY, fold, &next, &error));
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
		log_both(twins, epoch, 0, 50 * epoch, epoch < 2 ? 100 : EXAMPLES, WITH_LABELS);
	ok(store_writer_commit(writer, &error));
	fold = begin_fold(twins, 0, 0, PLENTY);
	ok(store_fold_advance(fold, &done, &error));
	assert_true(done);
	store_fold_free(fold);
	fold = begin_fold(twins, 0, 1, PLENTY);
	ok(store_fold_begin_beside(writer, twins->run[0], 2, PLENTY, fold, &next, &error));
	assert_null(next);
	ok(store_writer_commit(writer, &error));
	next = begin_beside(twins, 2, fold);
	read_ahead(next);
	assert_true(fold_beside(fold, next)); /* writes nothing that is kept per example */
	assert_true(fold_beside(next, NULL));
	for (uint32_t epoch = 0; epoch < 3; epoch++)
		fold_in(twins, 1, epoch, twins->little);
	assert_same_records(twins, DB_COLUMNS, 9);
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
			first = (uint32_t)(random >> 36) % (EXAMPLES / 2);
			end = first + 1 + (uint32_t)(random >> 40) % (EXAMPLES / (random >> 60 & 1 ? 2 : 400));
			for (uint32_t i = 0; i < EXAMPLES; i++) /* labels that contradict one another */
				twins->labels[i] = (int32_t)(i + (random >> 50)) & 15;
			log_both(twins, epoch, random >> 61 & 1, first, end,
			         round >= ROUNDS / 2 && (random >> 62 & 1) ? WITH_LABELS : 0);
			logged[epoch] = true;
		}
		ok(store_writer_commit(writer, &error));
		for (uint32_t epoch = 0, after; epoch < EPOCHS; epoch = after) {
			for (after = epoch + 1; after < EPOCHS && !logged[after]; after++)
				;
			if (!logged[epoch])
				continue;
			fold = fold ? fold : begin_fold(twins, 0, epoch, PLENTY);
			next = after < EPOCHS ? begin_beside(twins, after, fold) : NULL;
			if (next && (random >> epoch & 1))
				read_ahead(next);
			if (!fold_beside(fold, next)) {
				store_fold_free(next);
				next = NULL;
			}
			taken += next != NULL;
			fold = next;
			fold_in(twins, 1, epoch, twins->little);
		}
		assert_same_records(twins, DB_EPOCHS, 1);
		assert_same_records(twins, DB_COLUMNS, 3);
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
		log_both(twins, epoch, 0, 0, 300, 0);
		log_both(twins, epoch, 0, 300, EXAMPLES, 0);
	}
	ok(store_writer_delete(writer, DB_LOG, &key, &error));
	ok(store_writer_commit(writer, &error));
	fold = begin_fold(twins, 0, 0, PLENTY);
	next = begin_beside(twins, 1, fold);
	for (int i = 0; i < 1000 && useful; i++) {
		store_fold_read_ahead(next);
		usleep(1000);
		useful = store_fold_pause(next);
	}
	assert_false(useful);
	store_fold_free(next);
	assert_true(fold_beside(fold, NULL));
	next = begin_fold(twins, 0, 1, PLENTY);
	assert_int_equal(store_fold_step(next, &done, NULL), STORE_E_CORRUPT);
	store_fold_free(next);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_MANY(name) cmocka_unit_test_setup_teardown(name, set_up_many, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(whole_epoch),
	        TEST(second_session),
	        TEST(in_order),
	        TEST(sessions_in_one_chunk),
	        TEST(places_taken),
	        TEST(other_columns),
	        TEST(folded_again),
	        TEST(few_rows),
	        TEST(merged_as_a_whole),
	        TEST(arrays_used_again),
	        TEST_MANY(many_chunks),
	        TEST_MANY(memory_of_shared),
	        TEST(ahead_without_labels),
	        TEST(ahead_with_labels),
	        TEST_MANY(ahead_in_memory),
	        TEST(ahead_damaged),
	        TEST(ahead_of_nothing_pending),
	        TEST(ahead_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
