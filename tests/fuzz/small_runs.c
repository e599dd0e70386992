/* small_runs.c: see small_runs.h. */
#include "small_runs.h"

#include "fuzz.h"
#include "store_fixture.h"

#define EPOCHS 3

static struct fixture *fixture;

static void
log_epoch(uint32_t run, uint32_t epoch, bool strings)
{
	static char text[SMALL_RUNS_N][16];
	const char *names[SMALL_RUNS_N];
	uint64_t ids[SMALL_RUNS_N];
	float gold_prob[SMALL_RUNS_N], margin[SMALL_RUNS_N], heat[SMALL_RUNS_N];
	int32_t gold[SMALL_RUNS_N];
	struct fixture_batch batch = {.epoch = epoch, .ids = ids, .gold_prob = gold_prob};

	for (uint32_t i = 0; i < SMALL_RUNS_N; i++) {
		snprintf(text[i], sizeof(text[i]), "id-%u", i);
		names[i] = text[i];
		ids[i] = i;
		gold_prob[i] = (float)((i * 7 + epoch * i) % 21) / 20;
		margin[i] = (float)i - 40;
		heat[i] = (float)(i % 8);
		gold[i] = (int32_t)(i % 3);
	}
	batch.n = !strings && epoch == EPOCHS - 1 ? SMALL_RUNS_N - 20 : SMALL_RUNS_N;
	if (strings) {
		batch.strings = names;
	} else {
		batch.gold = gold;
		batch.floats[0] = (struct fixture_column){"margin", margin};
		batch.floats[1] = (struct fixture_column){"heat", heat};
	}
	fixture_log(fixture, run, &batch);
}

static void
remove_store(void)
{
	fixture_free(fixture);
}

const char *
small_runs(void)
{
	static const char *const labels[] = {"x", "y", "z"};
	uint32_t numbers, names;

	if (fixture)
		return fixture_directory(fixture);
	fixture = fixture_new();
	atexit(remove_store);
	numbers = fixture_run(fixture, "a/b", SMALL_RUNS_N, labels, 3);
	names = fixture_run(fixture, "names", 0, NULL, 0);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		log_epoch(numbers, epoch, false);
		log_epoch(names, epoch, true);
	}
	fixture_end(fixture, numbers);
	fixture_end(fixture, names);
	fixture_close(fixture);
	return fixture_directory(fixture);
}
