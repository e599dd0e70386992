/* run_fixture.h: a run of the library with a fake collector, for the tests of what it does. */
#ifndef RUN_FIXTURE_H
#define RUN_FIXTURE_H

#include "fake_collector.h"
#include "run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Starts in the collector's own directory, so that spool files of one test are not left over for the next. */
static inline int
setup(void **state)
{
	struct fake *fake = fake_new();
	char directory[sizeof(fake->endpoint)];

	*state = fake;
	snprintf(directory, sizeof(directory), "%s", fake->endpoint + strlen("ipc://"));
	*strrchr(directory, '/') = '\0';
	return chdir(directory);
}

static inline int
teardown(void **state)
{
	fake_free(*state);
	return 0;
}

static inline portolan_run *
open_with(struct fake *fake, struct portolan_options options)
{
	struct portolan_error error = {0};
	portolan_run *run = NULL;

	options.endpoint = fake->endpoint;
	if (portolan_open("words/seed1", &options, &run, &error) < 0)
		fail_msg("%s", error.message);
	return run;
}

/* n observations of examples first … first+n−1 with classes 0 and 1: logits (0, 1), gold = id mod 2. */
static inline void
log_rows(portolan_run *run, uint32_t epoch, uint64_t first, size_t n)
{
	struct portolan_error error = {0};
	uint64_t *ids = malloc(n * sizeof(*ids));
	float *logits = malloc(2 * n * sizeof(*logits));
	int32_t *gold = malloc(n * sizeof(*gold));

	for (size_t i = 0; i < n; i++) {
		ids[i] = first + i;
		logits[2 * i] = 0;
		logits[2 * i + 1] = 1;
		gold[i] = (int32_t)(ids[i] % 2);
	}
	if (portolan_log_logits(run, epoch, n, 2, ids, logits, gold, &error) < 0)
		fail_msg("%s", error.message);
	free(ids);
	free(logits);
	free(gold);
}

static inline struct portolan_stats
stats_of(const portolan_run *run)
{
	struct portolan_stats stats;

	assert_int_equal(portolan_get_stats(run, &stats), 0);
	return stats;
}

#endif
