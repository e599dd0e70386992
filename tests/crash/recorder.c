/*
 * recorder.c: a client that is made to be killed.
 *
 *     recorder SIDE_FILE store|endpoint WHERE RUN int|str|declared EXAMPLES SESSION FIRST_EPOCH ROWS ROWS_PER_SECOND
 *
 * Logs the rows of model.h, in batches of many sizes, and keeps in the side file how many it has given to the log call
 * and how many it knows to be acknowledged. It closes the run after ROWS (0: none) or a SIGTERM.
 */
#include "model.h"

#include <portolan/portolan.h>

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BATCH 700u

static volatile sig_atomic_t stop;

static void
on_signal(int number)
{
	(void)number;
	stop = 1;
}

struct recorder {
	struct crash_side *side;
	portolan_run *run;
	bool strings, spread;
	uint32_t examples, session, first_epoch;
	uint64_t rows, rows_per_second;
};

static struct crash_side *
map_side(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct crash_side *side;

	if (fd < 0 || ftruncate(fd, sizeof(*side)) != 0)
		err(1, "%s", path);
	side = mmap(NULL, sizeof(*side), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (side == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	return side;
}

static void
note_acknowledged(struct recorder *recorder)
{
	struct portolan_stats stats;

	if (portolan_get_stats(recorder->run, &stats) == 0)
		__atomic_store_n(&recorder->side->acked, stats.acknowledged, __ATOMIC_RELEASE);
}

/* Logs rows from … from + n − 1, which are of one epoch. */
static void
log_rows(struct recorder *recorder, uint64_t from, uint32_t n)
{
	static char text[BATCH][CRASH_STRING];
	const char *strings[BATCH];
	size_t lengths[BATCH];
	uint64_t ids[BATCH];
	float gold_prob[BATCH];
	uint8_t correct[BATCH];
	struct portolan_error error;
	struct portolan_batch batch = {
	        .n = n,
	        .classes = 1,
	        .kind = PORTOLAN_GOLD_PROBS,
	        .scores = {gold_prob, PORTOLAN_F32, sizeof(float), 0},
	        .correct = {correct, PORTOLAN_U8, 1, 0},
	};

	for (uint32_t i = 0; i < n; i++) {
		struct crash_row row =
		        crash_row(recorder->session, recorder->first_epoch, recorder->examples, from + i);

		batch.epoch = row.epoch;
		lengths[i] = crash_string(row.example, text[i]);
		strings[i] = text[i];
		ids[i] = recorder->spread ? crash_integer(row.example) : row.example;
		gold_prob[i] = row.gold_prob;
		correct[i] = row.correct;
	}
	if (recorder->strings) {
		batch.string_ids = strings;
		batch.string_lengths = lengths;
	} else {
		batch.ids = (struct portolan_array){ids, PORTOLAN_U64, sizeof(uint64_t), 0};
	}
	__atomic_store_n(&recorder->side->logged, from + n, __ATOMIC_RELEASE);
	if (portolan_log(recorder->run, &batch, &error) < 0)
		errx(4, "log: %s", error.message);
}

static int64_t
now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Sleeps until the row is due, so that several clients share a small machine. */
static void
pace(const struct recorder *recorder, int64_t begin, uint64_t row)
{
	int64_t wait = begin + (int64_t)(row * 1000000000 / recorder->rows_per_second) - now_ns();
	struct timespec pause = {.tv_nsec = wait % 1000000000, .tv_sec = wait / 1000000000};

	if (wait > 0)
		nanosleep(&pause, NULL);
}

static void
record(struct recorder *recorder)
{
	int64_t begin = now_ns();
	struct portolan_error error;
	uint64_t row = 0;

	while (!stop && (!recorder->rows || row < recorder->rows)) {
		uint32_t n = 1 + (uint32_t)(crash_mix(row ^ recorder->session) % BATCH);
		uint32_t left = recorder->examples - (uint32_t)(row % recorder->examples);

		n = n < left ? n : left;
		log_rows(recorder, row, n);
		row += n;
		if (n == left &&
		    portolan_end_epoch(recorder->run, recorder->first_epoch + (uint32_t)(row / recorder->examples) - 1,
		                       &error) < 0)
			errx(4, "end of epoch: %s", error.message);
		note_acknowledged(recorder);
		pace(recorder, begin, row);
		note_acknowledged(recorder);
	}
	if (portolan_flush(recorder->run, PORTOLAN_WAIT_DEFAULT, &error) < 0)
		errx(5, "flush: %s", error.message);
	recorder->side->acked = row;
	if (portolan_close(recorder->run, PORTOLAN_WAIT_DEFAULT, &error) < 0)
		errx(5, "close: %s", error.message);
	recorder->side->done = 1;
}

int
main(int argc, char **argv)
{
	struct recorder recorder = {0};
	struct portolan_options options = {.resume = 1, .group = "crash"};
	struct portolan_error error;

	if (argc != 11)
		errx(2, "usage: recorder SIDE_FILE store|endpoint WHERE RUN int|str|declared EXAMPLES SESSION "
		        "FIRST_EPOCH ROWS "
		        "ROWS_PER_SECOND");
	signal(SIGTERM, on_signal);
	recorder.side = map_side(argv[1]);
	*(strcmp(argv[2], "store") == 0 ? &options.store : &options.endpoint) = argv[3];
	recorder.strings = strcmp(argv[5], "str") == 0;
	recorder.spread = strcmp(argv[5], "int") == 0;
	recorder.examples = (uint32_t)strtoul(argv[6], NULL, 10);
	recorder.session = (uint32_t)strtoul(argv[7], NULL, 10);
	recorder.first_epoch = (uint32_t)strtoul(argv[8], NULL, 10);
	recorder.rows = strtoull(argv[9], NULL, 10);
	recorder.rows_per_second = strtoull(argv[10], NULL, 10);
	if (recorder.examples == 0 || recorder.examples & (recorder.examples - 1) || recorder.rows_per_second == 0)
		errx(2, "EXAMPLES is a power of two, ROWS_PER_SECOND above 0");
	options.rank = recorder.session; /* how verify.c finds the session in the store */
	options.examples = strcmp(argv[5], "declared") == 0 ? recorder.examples : 0;
	if (portolan_open(argv[4], &options, &recorder.run, &error) < 0)
		errx(3, "%s", error.message);
	recorder.side->opened = 1;
	record(&recorder);
	return 0;
}
