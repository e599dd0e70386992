/*
 * sessions.c: keeps for the storer the table of sessions and of the runs they record into, and finds which epochs all
 * of a run's sessions have ended, so that they can be folded.
 *
 * A session has ended every epoch below its frontier. Always true: sessions.live counts the sessions in state
 * SESSION_LIVE, connection.live those of one connection; a run's frontier is the least frontier of its live sessions,
 * or SESSIONS_NO_FRONTIER without any; whenever that frontier passes an epoch, the epoch is due.
 */
#include "sessions.h"

#include "ledger.h"
#include "shares.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOCATIONS 7       /* memory blocks of one session: it, its run and frontiers, two connections, member, ping */
#define ALLOCATION_BYTES 16 /* bytes that malloc() adds to each block */

/* Divides the memory for sessions by what one session takes. Each session may have a run of its own, and a connection
 * in the tables of both threads. Its run may hold four frontiers for it, and half as many again for a moment when it
 * makes room for more (sessions_reserve_frontiers()). */
size_t
sessions_most(size_t max_memory)
{
	const size_t storers = sizeof(struct session) + sizeof(struct run) + 6 * sizeof(struct frontier);
	const size_t receivers = sizeof(struct member) + ARRIVAL_BYTES + WIRE_MAX_PING;
	const size_t most = shares_of(max_memory, SHARES_SESSIONS) /
	                    (storers + receivers + 2 * sizeof(struct connection) + ALLOCATIONS * ALLOCATION_BYTES);

	return most < SESSIONS_MAX ? most : SESSIONS_MAX;
}

int
sessions_init(struct sessions *sessions)
{
	*sessions = (struct sessions){0};
	if (table_init(&sessions->by_id) < 0 || connections_init(&sessions->connections) < 0 ||
	    table_init(&sessions->numbered) < 0 || table_init(&sessions->named) < 0) {
		sessions_deinit(sessions);
		return PORTOLAN_E_MEMORY;
	}
	return 0;
}

void
sessions_deinit(struct sessions *sessions)
{
	while (sessions->runs) {
		struct run *run = sessions->runs;

		while (run->sessions)
			sessions_remove(sessions, run->sessions);
		sessions_remove_run(sessions, run);
	}
	table_deinit(&sessions->by_id);
	connections_deinit(&sessions->connections);
	table_deinit(&sessions->numbered);
	table_deinit(&sessions->named);
}

struct session *
sessions_find(const struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE])
{
	return TABLE_ITEM(table_find(&sessions->by_id, id, WIRE_SESSION_SIZE), struct session, node);
}

/* Counts one session more, or one less, that has its frontier at this epoch. A run may have thousands of ranks, whose
 * epochs may be far apart. Frontiers mostly leave at the low end, and come in at the high end, where nothing has to be
 * moved. */
static void
sessions_count_frontier(struct run *run, uint64_t epoch, bool is_more)
{
	size_t low = 0, high = run->frontier_count;
	struct frontier *all, *at;

	if (run->first + run->frontier_count == run->room) {
		memmove(run->frontiers, run->frontiers + run->first, run->frontier_count * sizeof(*all));
		run->first = 0;
	}
	all = run->frontiers + run->first;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (all[middle].epoch < epoch)
			low = middle + 1;
		else
			high = middle;
	}
	at = &all[low];
	if (low == run->frontier_count || at->epoch != epoch) {
		memmove(at + 1, at, (run->frontier_count++ - low) * sizeof(*at));
		*at = (struct frontier){.epoch = epoch};
	}
	at->sessions += is_more ? 1 : -(size_t)1;
	if (at->sessions > 0)
		return;
	run->frontier_count--;
	if (low == 0)
		run->first++;
	else
		memmove(at, at + 1, (run->frontier_count - low) * sizeof(*at));
}

static void
sessions_update_frontier(struct run *run)
{
	uint64_t before = run->frontier;

	run->frontier = run->frontier_count ? run->frontiers[run->first].epoch : SESSIONS_NO_FRONTIER;
	if (run->frontier == SESSIONS_NO_FRONTIER && before != run->frontier)
		run_make_due(run, 0, run->frontier);
	else if (run->frontier > before)
		run_make_due(run, before, run->frontier);
}

static void
sessions_count_live(struct sessions *sessions, struct session *session, bool is_live)
{
	struct connection *connection = session->connection;

	if (is_live)
		sessions->parties += !connection || connection->live++ == 0;
	else
		sessions->parties -= !connection || --connection->live == 0;
}

const struct peer *
sessions_peer(const struct session *session)
{
	static const struct peer unknown;

	return session->connection ? &session->connection->peer : &unknown;
}

void
sessions_set_peer(struct sessions *sessions, struct session *session, const struct peer *peer)
{
	bool is_live = session->now.state == SESSION_LIVE;

	if (session->connection && peer_is_same(&session->connection->peer, peer))
		return;
	if (is_live)
		sessions_count_live(sessions, session, false);
	connections_leave(&sessions->connections, session->connection);
	session->connection = connections_enter(&sessions->connections, peer);
	if (is_live)
		sessions_count_live(sessions, session, true);
}

/* Makes room for twice as many frontiers as the run will have sessions: one for each, as an abort may make all of them
 * live again, and as many places that are empty at the low end. */
static bool
sessions_reserve_frontiers(struct run *run)
{
	struct frontier *more;
	size_t room = run->room ? 2 * run->room : 4;

	if (2 * (run->session_count + 1) <= run->room)
		return true;
	more = realloc(run->frontiers, room * sizeof(*more));
	if (!more)
		return false;
	run->frontiers = more;
	run->room = room;
	return true;
}

struct session *
sessions_add(struct sessions *sessions, const uint8_t id[WIRE_SESSION_SIZE], struct run *run)
{
	struct session *session;

	if (sessions->count >= SESSIONS_MAX || !sessions_reserve_frontiers(run))
		return NULL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	memcpy(session->id, id, WIRE_SESSION_SIZE);
	session->run = run;
	session->now.state = SESSION_GONE;
	table_add(&sessions->by_id, &session->node, session->id, WIRE_SESSION_SIZE);
	session->next_in_run = run->sessions;
	session->link_in_run = &run->sessions;
	if (run->sessions)
		run->sessions->link_in_run = &session->next_in_run;
	run->sessions = session;
	run->session_count++;
	sessions->count++;
	sessions_set_state(sessions, session, SESSION_LIVE);
	return session;
}

void
sessions_remove(struct sessions *sessions, struct session *session)
{
	struct session **link;

	sessions_set_state(sessions, session, SESSION_GONE);
	table_remove(&sessions->by_id, &session->node);
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
	free(session);
}

struct run *
sessions_find_run(const struct sessions *sessions, uint32_t number)
{
	return TABLE_ITEM(table_find(&sessions->numbered, &number, sizeof(number)), struct run, numbered);
}

struct run *
sessions_next_named(const struct sessions *sessions, const char *name, const struct run *run)
{
	return TABLE_ITEM(run ? table_find_next(&run->named) : table_find(&sessions->named, name, strlen(name)),
	                  struct run, named);
}

struct run *
sessions_live_named(const struct sessions *sessions, const char *name)
{
	struct run *run = NULL;

	while ((run = sessions_next_named(sessions, name, run)))
		if (run_is_live(run) && !run_is_unnamed(run))
			return run;
	return NULL;
}

struct run *
sessions_add_run(struct sessions *sessions, uint32_t number, const char *name)
{
	struct run *run = sessions_find_run(sessions, number);

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
	table_add(&sessions->numbered, &run->numbered, &run->number, sizeof(run->number));
	table_add(&sessions->named, &run->named, run->name, strlen(run->name));
	return run;
}

void
sessions_remove_run(struct sessions *sessions, struct run *run)
{
	assert(!run->sessions);
	*run->link = run->next;
	if (run->next)
		run->next->link = run->link;
	table_remove(&sessions->numbered, &run->numbered);
	table_remove(&sessions->named, &run->named);
	free(run->frontiers);
	free(run);
}

void
session_hear(struct session *session, int64_t now)
{
	session->heard = session->run->heard = now;
}

bool
session_goes_with(const struct session *session, uint64_t launch, uint32_t rank)
{
	return launch && session->launch == launch && session->rank != rank;
}

bool
run_is_live(const struct run *run)
{
	return run->live_count > 0;
}

bool
run_is_unnamed(const struct run *run)
{
	return run->sessions && run->sessions->whole && run->sessions->now.state == SESSION_LIVE;
}

void
sessions_change(struct sessions *sessions, struct session *session, enum session_owed owed)
{
	session->owes |= owed;
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

void
sessions_set_state(struct sessions *sessions, struct session *session, enum session_state state)
{
	bool was_live = session->now.state == SESSION_LIVE;
	bool is_live = state == SESSION_LIVE;

	session->now.state = state;
	if (was_live == is_live)
		return;
	sessions->live = is_live ? sessions->live + 1 : sessions->live - 1;
	sessions_count_live(sessions, session, is_live);
	session->run->live_count += is_live ? 1 : -(size_t)1;
	sessions_count_frontier(session->run, session->now.frontier, is_live);
	sessions_update_frontier(session->run);
}

void
sessions_set_frontier(struct session *session, uint64_t frontier)
{
	if (session->now.frontier == frontier)
		return;
	if (session->now.state == SESSION_LIVE) {
		sessions_count_frontier(session->run, session->now.frontier, false);
		sessions_count_frontier(session->run, frontier, true);
	}
	session->now.frontier = frontier;
	sessions_update_frontier(session->run);
}

static void
epochs_extend(struct epochs *epochs, uint64_t from, uint64_t to)
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
	epochs_extend(&run->due, from, to);
	run_touch(run, from, to);
}

void
run_touch(struct run *run, uint64_t from, uint64_t to)
{
	epochs_extend(&run->touched, from, to);
}

bool
run_is_touched(const struct run *run)
{
	return run->touched.from < run->touched.to;
}
