/*
 * sessions.c: the table of sessions and of the runs they record into.
 *
 * Always true: sessions.live counts the sessions in state SESSION_LIVE, connection.live those of one connection; a
 * run's frontier is the least frontier of its live sessions, or SESSIONS_NO_FRONTIER without any; whenever that
 * frontier passes an epoch, the epoch is due.
 *
 * Session ids come from the network, so the hash is seeded: nobody can choose ids that share a bucket.
 */
#include "sessions.h"

#include "frontier.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define BUCKETS 4096

int
sessions_init(struct sessions *sessions)
{
	*sessions = (struct sessions){.bucket_mask = BUCKETS - 1};
	sessions->buckets = calloc(BUCKETS, sizeof(*sessions->buckets));
	sessions->numbered = calloc(SESSIONS_RUN_BUCKETS, sizeof(*sessions->numbered));
	sessions->named = calloc(SESSIONS_RUN_BUCKETS, sizeof(*sessions->named));
	if (!sessions->buckets || !sessions->numbered || !sessions->named) {
		sessions_deinit(sessions);
		return PORTOLAN_E_MEMORY;
	}
	/* Without randomness the table still works; it is only easier to slow down. */
	if (getrandom(&sessions->seed, sizeof(sessions->seed), GRND_NONBLOCK) < 0)
		sessions->seed = (uintptr_t)sessions->buckets;
	if (connections_init(&sessions->connections, sessions->seed) < 0) {
		sessions_deinit(sessions);
		return PORTOLAN_E_MEMORY;
	}
	return 0;
}

void
sessions_deinit(struct sessions *sessions)
{
	for (size_t i = 0; sessions->buckets && i <= sessions->bucket_mask; i++) {
		while (sessions->buckets[i]) {
			struct session *session = sessions->buckets[i];

			sessions->buckets[i] = session->next_in_bucket;
			session_forget_complaints(session);
			free(session);
		}
	}
	free(sessions->buckets);
	free(sessions->numbered);
	free(sessions->named);
	connections_deinit(&sessions->connections);
	while (sessions->runs) {
		struct run *run = sessions->runs;

		sessions->runs = run->next;
		free(run->live);
		free(run);
	}
	*sessions = (struct sessions){0};
}

static struct session **
bucket_of(const struct sessions *sessions, const uint8_t *id)
{
	return &sessions->buckets[XXH3_64bits_withSeed(id, WIRE_SESSION_SIZE, sessions->seed) & sessions->bucket_mask];
}

struct session *
sessions_find(const struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE])
{
	struct session *session = *bucket_of(sessions, id);

	while (session && memcmp(session->id, id, WIRE_SESSION_SIZE) != 0)
		session = session->next_in_bucket;
	return session;
}

static void
update_frontier(struct run *run)
{
	uint64_t before = run->frontier;

	run->frontier = frontier_least(run);
	if (run->frontier == SESSIONS_NO_FRONTIER && before != run->frontier)
		run_make_due(run, 0, run->frontier);
	else if (run->frontier > before)
		run_make_due(run, before, run->frontier);
}

static void
count_live(struct sessions *sessions, struct session *session, bool is_live)
{
	struct connection *connection = session->connection;

	if (is_live)
		sessions->parties += !connection || connection->live++ == 0;
	else
		sessions->parties -= !connection || --connection->live == 0;
}

void
sessions_set_peer(struct sessions *sessions, struct session *session, const struct peer *peer)
{
	bool is_live = session->now.state == SESSION_LIVE;

	if (session->connection && peer_is_same(&session->peer, peer))
		return;
	if (is_live)
		count_live(sessions, session, false);
	connections_leave(&sessions->connections, session->connection);
	session->peer = *peer;
	session->connection = connections_enter(&sessions->connections, peer);
	if (is_live)
		count_live(sessions, session, true);
}

struct session *
sessions_add(struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE], struct run *run)
{
	struct session **bucket = bucket_of(sessions, id), *session;

	/* Room for all of them, so that an abort can make each live again. */
	if (sessions->count >= SESSIONS_MAX || frontier_reserve(run, run->session_count + 1) < 0)
		return NULL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	memcpy(session->id, id, WIRE_SESSION_SIZE);
	session->run = run;
	session->now.state = SESSION_LIVE;
	session->next_in_bucket = *bucket;
	*bucket = session;
	session->next_in_run = run->sessions;
	session->link_in_run = &run->sessions;
	if (run->sessions)
		run->sessions->link_in_run = &session->next_in_run;
	run->sessions = session;
	run->session_count++;
	sessions->count++;
	sessions->live++;
	count_live(sessions, session, true);
	frontier_add(run, session);
	update_frontier(run);
	return session;
}

void
sessions_remove(struct sessions *sessions, struct session *session)
{
	struct session **link;

	sessions_set_state(sessions, session, SESSION_GONE);
	for (link = bucket_of(sessions, session->id); *link != session; link = &(*link)->next_in_bucket)
		;
	*link = session->next_in_bucket;
	*session->link_in_run = session->next_in_run;
	if (session->next_in_run)
		session->next_in_run->link_in_run = session->link_in_run;
	session->run->session_count--;
	if (session->changed) {
		for (link = &sessions->changed; *link != session; link = &(*link)->next_changed)
			;
		*link = session->next_changed;
	}
	sessions->count--;
	connections_leave(&sessions->connections, session->connection);
	session_forget_complaints(session);
	free(session);
}

struct run *
sessions_find_run(const struct sessions *sessions, uint32_t number)
{
	struct run *run = sessions->numbered[number % SESSIONS_RUN_BUCKETS];

	while (run && run->number != number)
		run = run->next_numbered;
	return run;
}

static struct run **
bucket_of_name(const struct sessions *sessions, const char *name)
{
	return &sessions->named[XXH3_64bits_withSeed(name, strlen(name), sessions->seed) % SESSIONS_RUN_BUCKETS];
}

struct run *
sessions_next_named(const struct sessions *sessions, const char *name, const struct run *run)
{
	struct run *next = run ? run->next_named : *bucket_of_name(sessions, name);

	while (next && strcmp(next->name, name) != 0)
		next = next->next_named;
	return next;
}

struct run *
sessions_add_run(struct sessions *sessions, uint32_t number, const char *name)
{
	struct run *run = sessions_find_run(sessions, number), **bucket;

	if (run) {
		assert(strcmp(run->name, name) == 0);
		return run;
	}
	run = calloc(1, sizeof(*run));
	if (!run)
		return NULL;
	run->number = number;
	run->frontier = SESSIONS_NO_FRONTIER;
	snprintf(run->name, sizeof(run->name), "%s", name);
	run->next = sessions->runs;
	run->link = &sessions->runs;
	if (run->next)
		run->next->link = &run->next;
	sessions->runs = run;
	bucket = &sessions->numbered[number % SESSIONS_RUN_BUCKETS];
	run->next_numbered = *bucket;
	*bucket = run;
	bucket = bucket_of_name(sessions, run->name);
	run->next_named = *bucket;
	*bucket = run;
	return run;
}

void
sessions_remove_run(struct sessions *sessions, struct run *run)
{
	struct run **link;

	assert(!run->sessions);
	*run->link = run->next;
	if (run->next)
		run->next->link = run->link;
	for (link = &sessions->numbered[run->number % SESSIONS_RUN_BUCKETS]; *link != run;
	     link = &(*link)->next_numbered)
		;
	*link = run->next_numbered;
	for (link = bucket_of_name(sessions, run->name); *link != run; link = &(*link)->next_named)
		;
	*link = run->next_named;
	free(run->live);
	free(run);
}

void
session_hear(struct session *session, int64_t now)
{
	session->heard = session->run->heard = now;
}

bool
run_is_live(const struct run *run)
{
	return run->live_count > 0;
}

void
sessions_change(struct sessions *sessions, struct session *session)
{
	if (session->changed)
		return;
	session->changed = true;
	session->next_changed = sessions->changed;
	sessions->changed = session;
}

struct session *
sessions_take_changed(struct sessions *sessions)
{
	struct session *session = sessions->changed;

	if (session) {
		sessions->changed = session->next_changed;
		session->changed = false;
	}
	return session;
}

int
session_complain(struct session *session, enum wire_error_code code, uint64_t sequence, const char *message)
{
	struct complaint *complaint = calloc(1, sizeof(*complaint)), **last = &session->complaints;

	if (!complaint)
		return PORTOLAN_E_MEMORY;
	complaint->code = code;
	complaint->sequence = sequence;
	snprintf(complaint->message, sizeof(complaint->message), "%s", message);
	if (*last)
		last = session->last_complaint;
	*last = complaint;
	session->last_complaint = &complaint->next;
	return 0;
}

void
session_forget_complaints(struct session *session)
{
	while (session->complaints) {
		struct complaint *complaint = session->complaints;

		session->complaints = complaint->next;
		free(complaint);
	}
}

void
sessions_set_state(struct sessions *sessions, struct session *session, enum session_state state)
{
	bool was_live = session->now.state == SESSION_LIVE;
	bool is_live = state == SESSION_LIVE;

	session->now.state = state;
	if (was_live == is_live)
		return;
	sessions->live = is_live ? sessions->live + 1 : sessions->live - 1;
	count_live(sessions, session, is_live);
	if (is_live)
		frontier_add(session->run, session);
	else
		frontier_remove(session->run, session);
	update_frontier(session->run);
}

void
sessions_set_frontier(struct session *session, uint64_t frontier)
{
	if (session->now.frontier == frontier)
		return;
	session->now.frontier = frontier;
	if (session->now.state == SESSION_LIVE)
		frontier_moved(session->run, session);
	update_frontier(session->run);
}

static void
extend(struct epochs *epochs, uint64_t from, uint64_t to)
{
	bool empty = epochs->from >= epochs->to;

	if (empty || from < epochs->from)
		epochs->from = from;
	if (empty || to > epochs->to)
		epochs->to = to;
}

void
run_make_due(struct run *run, uint64_t from, uint64_t to)
{
	extend(&run->due, from, to);
	run_touch(run, from, to);
}

void
run_touch(struct run *run, uint64_t from, uint64_t to)
{
	extend(&run->touched, from, to);
}

bool
run_is_touched(const struct run *run)
{
	return run->touched.from < run->touched.to;
}
