/*
 * frontier.c: a binary heap. run->live[0] has the least frontier; each session knows its place.
 *
 * A run of thousands of ranks that all move at each epoch is what this is for: looking at every session at each move
 * would take seconds there.
 */
#include "frontier.h"

#include <stdlib.h>

int
frontier_reserve(struct run *run, size_t count)
{
	struct session **live;
	size_t room = run->live_room ? run->live_room : 4;

	while (room < count)
		room *= 2;
	if (room == run->live_room)
		return 0;
	live = realloc(run->live, room * sizeof(*live));
	if (!live)
		return PORTOLAN_E_MEMORY;
	run->live = live;
	run->live_room = room;
	return 0;
}

static void
put(struct run *run, size_t place, struct session *session)
{
	run->live[place] = session;
	session->place = place;
}

static void
rise(struct run *run, struct session *session)
{
	size_t place = session->place;

	while (place > 0 && session->now.frontier < run->live[(place - 1) / 2]->now.frontier) {
		put(run, place, run->live[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put(run, place, session);
}

static void
sink(struct run *run, struct session *session)
{
	size_t place = session->place, child;

	while ((child = 2 * place + 1) < run->live_count) {
		if (child + 1 < run->live_count && run->live[child + 1]->now.frontier < run->live[child]->now.frontier)
			child++;
		if (session->now.frontier <= run->live[child]->now.frontier)
			break;
		put(run, place, run->live[child]);
		place = child;
	}
	put(run, place, session);
}

void
frontier_add(struct run *run, struct session *session)
{
	put(run, run->live_count++, session);
	rise(run, session);
}

void
frontier_remove(struct run *run, struct session *session)
{
	struct session *last = run->live[--run->live_count];

	if (last == session)
		return;
	put(run, session->place, last);
	frontier_moved(run, last);
}

void
frontier_moved(struct run *run, struct session *session)
{
	rise(run, session);
	sink(run, session);
}

uint64_t
frontier_least(const struct run *run)
{
	return run->live_count ? run->live[0]->now.frontier : SESSIONS_NO_FRONTIER;
}
