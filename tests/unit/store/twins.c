/* twins.c: see twins.h. */
#include "twins.h"

#include <stdlib.h>

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

int
twins_set_up(void **state)
{
	return set_up_twins(*state = room(1, sizeof(struct twins)), TWINS_EXAMPLES, 1);
}

int
twins_set_up_many(void **state)
{
	return set_up_twins(*state = room(1, sizeof(struct twins)), 40 * STORE_CHUNK + 9000, (size_t)4 << 20);
}

int
twins_tear_down(void **state)
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

void
twins_log(struct twins *twins, uint32_t epoch, unsigned session, uint32_t first, uint32_t end, int with)
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

struct store_fold *
twins_begin_fold(struct twins *twins, int which, uint32_t epoch, size_t memory)
{
	struct store_fold *fold;

	ok(store_fold_begin(fixture_writer(twins->fixture), twins->run[which], epoch, memory, &fold, &error));
	return fold;
}

void
twins_fold(struct twins *twins, int which, uint32_t epoch, size_t memory)
{
	struct store_fold *fold = twins_begin_fold(twins, which, epoch, memory);
	bool done = false;

	assert_int_equal(fold->shared != NULL, memory == TWINS_PLENTY);
	while (!done)
		ok(store_fold_step(fold, &done, &error));
	store_fold_free(fold);
}

void
twins_assert_same(struct twins *twins, enum store_db db, size_t least)
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
