/*
 * clocks.c: when a session began, by clocks that need not agree.
 *
 * Of two observations of one example and epoch the session that began later wins, so what a client says of its
 * beginning is taken with care.
 */
#include "clocks.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define STARTED_AHEAD_S 60

static void
say_clock(struct ingest *ingest, const char *name, uint64_t ns, const char *what, int64_t now)
{
	throttle_log(&ingest->clocks, 1, now, "run '%s': a session's clock is %" PRIu64 " s %s", name, ns / NS_PER_S,
	             what);
}

uint64_t
clocks_started(struct ingest *ingest, const struct wire_open *open, const char *name, int64_t now)
{
	const uint64_t ahead = STARTED_AHEAD_S * NS_PER_S;
	struct timespec clock;
	uint64_t most;

	clock_gettime(CLOCK_REALTIME, &clock);
	most = (uint64_t)clock.tv_sec * NS_PER_S + (uint64_t)clock.tv_nsec + ahead;
	if (open->started <= most)
		return open->started;
	say_clock(ingest, name, open->started - most + ahead, "ahead: it is taken to begin now", now);
	return most;
}

int
clocks_place(struct ingest *ingest, const struct wire_open *open, const char *name, uint32_t number, int64_t now,
             uint64_t *started, struct portolan_error *error)
{
	const uint64_t said = *started;
	int result = 0;

	if (open->resume && !open->late)
		result = store_writer_started(ingest->writer, number, started, error);
	if (result == 0 && *started - said >= STARTED_AHEAD_S * NS_PER_S)
		say_clock(ingest, name, *started - said,
		          "behind an earlier one's: it counts as the later one all the same", now);
	return result;
}
