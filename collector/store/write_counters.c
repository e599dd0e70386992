/*
 * write_counters.c: adds to the counters of a run and of its clients: what was received, refused, lost, and how long
 * commits took, which `portolan check` and `watch` report. In the writer's pending transaction.
 *
 * A damaged record of counters is left unchanged, so that the check finds it: storing observations must not depend on
 * their counts.
 */
#include "writer.h"

void
store_counters_add(struct store_counters *counters, const struct store_counters *more)
{
	uint64_t max = counters->commits.max, last = counters->last, *numbers = (uint64_t *)counters;
	const uint64_t *added = (const uint64_t *)more;

	for (size_t i = 0; i < sizeof(*counters) / sizeof(*numbers); i++)
		numbers[i] += added[i];
	counters->commits.max = more->commits.max > max ? more->commits.max : max;
	counters->last = more->last > last ? more->last : last;
}

void
store_latency_add(struct store_latency *latency, uint64_t microseconds)
{
	unsigned bin = microseconds ? 63u - (unsigned)__builtin_clzll(microseconds) : 0;

	latency->count++;
	latency->sum += microseconds;
	latency->max = microseconds > latency->max ? microseconds : latency->max;
	latency->bins[bin < STORE_LATENCY_BINS ? bin : STORE_LATENCY_BINS - 1]++;
}

int
store_writer_count(struct store_writer *writer, uint32_t run, const struct store_counters *more,
                   struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_COUNTERS);
	uint64_t numbers[COUNTERS_MOST];
	size_t count, known = sizeof(*more) / sizeof(*numbers);
	int rc = store_writer_begin(writer, error)
	                 ?: store_catalog_counters(&writer->view, &key, RECORD_COUNTERS, numbers, &count, error);

	if (rc)
		return rc == STORE_E_CORRUPT && !store_writer_is_spoilt(writer) ? 0 : rc;
	store_counters_add((struct store_counters *)numbers, more);
	return store_writer_put(writer, DB_RUN, &key, RECORD_COUNTERS, numbers,
	                        (count > known ? count : known) * sizeof(*numbers), error);
}

int
store_writer_client(struct store_writer *writer, uint32_t run, uint32_t session, const struct store_client *client,
                    struct portolan_error *error)
{
	struct store_key key = store_key_session(run, RUN_CLIENT, session);
	uint64_t numbers[COUNTERS_MOST];
	size_t count, known = sizeof(*client) / sizeof(*numbers);
	struct store_client *stored = (struct store_client *)numbers;
	int rc = store_writer_begin(writer, error)
	                 ?: store_catalog_counters(&writer->view, &key, RECORD_CLIENT, numbers, &count, error);

	if (rc)
		return rc == STORE_E_CORRUPT && !store_writer_is_spoilt(writer) ? 0 : rc;
	if (client->told)
		*stored = *client;
	stored->closed = client->closed;
	return store_writer_put(writer, DB_RUN, &key, RECORD_CLIENT, numbers,
	                        (count > known ? count : known) * sizeof(*numbers), error);
}
