/*
 * count.c: counters travel with the commits that are made anyway.
 *
 * Between commits they stand in memory, per run; a commit that writes something takes along those of every run it
 * changes. They are taken back with it when it fails, because they are only set to zero once it has succeeded. How long
 * a commit took is known after it, and so is stored by the next.
 */
#include "count.h"

#include <time.h>

void
count_client(struct session *session, const struct wire_counts *counts)
{
	struct store_client *client = &session->client;

	if (!counts->told)
		return;
	*client = (struct store_client){.told = 1,
	                                .logged = counts->logged,
	                                .refused = counts->refused,
	                                .dropped = counts->dropped,
	                                .spooled = counts->spooled,
	                                .waits = counts->waits,
	                                .closed = client->closed};
	session->client_news = true;
}

void
count_close(struct session *session)
{
	session->client.closed = (uint64_t)time(NULL);
	session->client_news = true;
}

/* A run's commits are the store's as well, which counts those by itself. */
static void
add_run(struct store_counters *all, const struct run *run)
{
	struct store_counters counters = run->counters;

	counters.commits = (struct store_latency){0};
	store_counters_add(all, &counters);
}

/* A removed run's records are gone or going: nothing may be added to them. */
static bool
is_in_store(const struct session *session)
{
	return session->now.state != SESSION_REMOVED && !session->run->removed;
}

int
count_store(struct ingest *ingest, struct portolan_error *error)
{
	struct store_counters all = ingest->counters;
	int result = 0;

	ingest->commits++;
	for (struct session *session = ingest->sessions.changed; session && result == 0;
	     session = session->next_changed) {
		struct run *run = session->run;

		if (run->counted != ingest->commits) {
			run->counted = ingest->commits;
			add_run(&all, run);
			if (is_in_store(session))
				result = store_writer_count(ingest->writer, run->number, &run->counters, error);
		}
		if (result == 0 && session->client_news && is_in_store(session))
			result = store_writer_client(ingest->writer, run->number, session->number, &session->client,
			                             error);
	}
	return result < 0 ? result : store_writer_count(ingest->writer, 0, &all, error);
}

void
count_commit(struct ingest *ingest, uint64_t microseconds)
{
	ingest->counters = (struct store_counters){0};
	store_latency_add(&ingest->counters.commits, microseconds);
	for (struct session *session = ingest->sessions.changed; session; session = session->next_changed) {
		struct run *run = session->run;

		session->client_news = false;
		if (run->counted == ingest->commits) {
			run->counted = 0;
			run->counters = (struct store_counters){0};
			store_latency_add(&run->counters.commits, microseconds);
		}
	}
}
