/*
 * log_under_trouble.c: what a log call of 256 × 3 logits costs while the collector is well, stopped, killed, and back,
 * as multiples of what it costs, in the same process, while it is well. Prints one JSON object.
 *
 *     log_under_trouble PORTOLAND DIRECTORY
 *
 * Calls are PAUSE_NS apart, as a training loop's would be at their fastest: some 200 MB a second. At that pace the ring
 * holds a sixth of a second; what follows goes to the spool, and is sent from it when the collector is back.
 */
#include <portolan/portolan.h>

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROWS 256
#define CLASSES 3
#define WARM_UP 2000
#define CALLS 15000
#define PAUSE_NS 50000

static uint64_t ids[ROWS], taken[CALLS];
static float logits[ROWS * CLASSES];
static int32_t gold[ROWS];

struct cost {
	uint64_t median, late, most; /* ns */
};

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The pause is busy, as training is. */
static void
log_calls(portolan_run *run, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = now_ns();

		if (portolan_log_logits(run, 0, ROWS, CLASSES, ids, logits, gold, NULL) < 0)
			errx(1, "a log call failed");
		taken[i] = now_ns() - begin;
		while (now_ns() - begin < PAUSE_NS)
			continue;
	}
}

static struct cost
measure(portolan_run *run)
{
	log_calls(run, CALLS);
	qsort(taken, CALLS, sizeof(taken[0]), ascending);
	return (struct cost){taken[CALLS / 2], taken[CALLS / 100 * 99], taken[CALLS - 1]};
}

static pid_t
start(const char *program, const char *store, const char *endpoint)
{
	pid_t child = fork();

	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		execl(program, program, "--store", store, "--listen", endpoint, (char *)NULL);
		_exit(1);
	}
	return child;
}

static void
end(pid_t child, int number)
{
	kill(child, number);
	while (waitpid(child, NULL, 0) < 0)
		continue;
}

static void
print(const char *name, struct cost cost, struct cost well)
{
	printf("  \"%s\": {\"p50_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64
	       ", \"p50_ratio\": %.2f, \"p99_ratio\": %.2f, \"max_ratio\": %.2f},\n",
	       name, cost.median, cost.late, cost.most, (double)cost.median / (double)well.median,
	       (double)cost.late / (double)well.late, (double)cost.most / (double)well.most);
}

int
main(int argc, char **argv)
{
	struct portolan_options options = {.overwrite = 1};
	struct cost well, stopped, going_on, killed, back, again;
	struct portolan_stats stats;
	struct portolan_error error;
	char store[3000], spool[3000], endpoint[100];
	portolan_run *run;
	pid_t collector;

	if (argc != 3)
		errx(2, "usage: log_under_trouble PORTOLAND DIRECTORY");
	mkdir(argv[2], 0777);
	snprintf(store, sizeof(store), "%s/store", argv[2]);
	snprintf(spool, sizeof(spool), "%s/spool", argv[2]);
	snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", 20000 + getpid() % 20000);
	for (int i = 0; i < ROWS; i++) {
		ids[i] = (uint64_t)i;
		gold[i] = i % CLASSES;
		for (int c = 0; c < CLASSES; c++)
			logits[i * CLASSES + c] = (float)((i * 7 + c * 3) % 11) - 5.0f;
	}
	options.endpoint = endpoint;
	options.spool = spool;
	collector = start(argv[1], store, endpoint);
	if (portolan_open("bench", &options, &run, &error) < 0)
		errx(1, "%s", error.message);
	log_calls(run, WARM_UP);
	well = measure(run);
	portolan_flush(run, PORTOLAN_WAIT_DEFAULT, NULL);
	kill(collector, SIGSTOP);
	stopped = measure(run);
	kill(collector, SIGCONT);
	going_on = measure(run);
	end(collector, SIGKILL);
	killed = measure(run);
	collector = start(argv[1], store, endpoint);
	back = measure(run);
	if (portolan_flush(run, 300000, &error) < 0)
		errx(1, "%s", error.message);
	again = measure(run);
	portolan_get_stats(run, &stats);
	if (portolan_close(run, 300000, &error) < 0)
		errx(1, "%s", error.message);
	end(collector, SIGTERM);
	printf("{\n");
	print("well", well, well);
	print("stopped", stopped, well);
	print("continued", going_on, well);
	print("killed", killed, well);
	print("back", back, well);
	print("well_again", again, well);
	printf("  \"waits\": %" PRIu64 ", \"dropped\": %" PRIu64 ", \"logged\": %" PRIu64 ", \"spooled\": %" PRIu64
	       ", \"reconnects\": %" PRIu64 "\n}\n",
	       stats.waits, stats.dropped, stats.logged, stats.spooled, stats.reconnects);
	return stats.dropped > 0;
}
