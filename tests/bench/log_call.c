/*
 * log_call.c: what a log call of 256 × 3 logits costs the training loop, against a memcpy of the same bytes (its
 * logits, ids and gold labels), and against deriving the signals alone. Prints one JSON object; times are nanoseconds.
 *
 * A collector of its own takes what is logged: a thread with a ROUTER that acknowledges everything, so that the ring
 * never fills. Calls and copies are timed in turns, one by one, after a warm-up, with a pause now and then
 * in which the ring is emptied: a training loop, too, does something between its batches.
 */
#include "fake_collector.h"
#include "signals.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROWS 256
#define CLASSES 3
#define WARM_UP 2000
#define CALLS 20000
#define PER_FLUSH 200
#define COPIES 16 /* one copy is shorter than the clock can tell */

static uint64_t ids[ROWS];
static float logits[ROWS * CLASSES];
static int32_t gold[ROWS];
static char copy[2][sizeof(logits) + sizeof(ids) + sizeof(gold)];

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
copy_once(void)
{
	memcpy(copy[1], copy[0], sizeof(copy[0]));
	__asm__ volatile("" : : "r"(copy) : "memory");
}

static void
derive_once(void)
{
	static float out[5][ROWS];
	static int32_t predicted[ROWS];
	static uint8_t correct[ROWS], refused[ROWS];
	const struct signals_columns columns = {out[0], out[1], out[2], out[3], out[4], predicted, correct};
	const struct portolan_array scores = {logits, PORTOLAN_F32, CLASSES * 4, 4};

	signals_from_logits(&scores, ROWS, CLASSES, gold, &columns, refused);
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
report(uint64_t *call, uint64_t *memory, uint64_t *derive)
{
	size_t middle = CALLS / 2, late = CALLS / 100 * 99;

	qsort(call, CALLS, sizeof(*call), ascending);
	qsort(memory, CALLS, sizeof(*memory), ascending);
	qsort(derive, CALLS, sizeof(*derive), ascending);
	printf("{\"median_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64
	       ", \"memcpy_bytes\": %zu, \"memcpy_median_ns\": %.1f, "
	       "\"memcpy_p99_ns\": %.1f, \"derive_median_ns\": %" PRIu64
	       ", \"median_ratio\": %.2f, \"p99_ratio\": %.2f, "
	       "\"derive_ratio\": %.3f}\n",
	       call[middle], call[late], sizeof(copy[0]), (double)memory[middle] / COPIES,
	       (double)memory[late] / COPIES, derive[middle], (double)call[middle] * COPIES / (double)memory[middle],
	       (double)call[late] * COPIES / (double)memory[late], (double)call[middle] / (double)derive[middle]);
}

static void
measure(portolan_run *run)
{
	static uint64_t call[CALLS], memory[CALLS], derive[CALLS];

	for (int i = -WARM_UP; i < CALLS; i++) {
		uint64_t start = now_ns(), called, copied, derived;

		if (portolan_log_logits(run, 0, ROWS, CLASSES, ids, logits, gold, NULL) < 0)
			abort();
		called = now_ns();
		for (int j = 0; j < COPIES; j++)
			copy_once();
		copied = now_ns();
		derive_once();
		derived = now_ns();
		if (i >= 0) {
			call[i] = called - start;
			memory[i] = copied - called;
			derive[i] = derived - copied;
		}
		if (i % PER_FLUSH == 0)
			portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL);
	}
	report(call, memory, derive);
}

int
main(void)
{
	struct fake *fake = fake_new();
	struct portolan_options options = {.endpoint = fake->endpoint};
	struct portolan_error error;
	portolan_run *run;

	for (int i = 0; i < ROWS; i++) {
		ids[i] = (uint64_t)i;
		gold[i] = i % CLASSES;
	}
	srand48(1);
	for (int i = 0; i < ROWS * CLASSES; i++)
		logits[i] = (float)(drand48() * 8 - 4);
	fake_start(fake);
	if (portolan_open("bench", &options, &run, &error) < 0) {
		fprintf(stderr, "log_call: %s\n", error.message);
		return 1;
	}
	measure(run);
	portolan_close(run, PORTOLAN_WAIT_DEFAULT, NULL);
	fake_stop(fake);
	fake_free(fake);
	return 0;
}
