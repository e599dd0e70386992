/* join.c: see join.h for the rule of groups, and client/WIRE.md for late sessions. */
#include "join.h"

#include "writer.h"

#include <stdlib.h>

#define RANKS_FIRST 64

void
store_roster_free(struct roster *roster)
{
	free(roster->ranks);
	free(roster->taken);
	*roster = (struct roster){0};
}

/* Where the rank is, or would be. */
static size_t
place_of(const struct roster *roster, uint32_t rank)
{
	size_t mask = roster->room - 1, at = (rank * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (roster->taken[at] && roster->ranks[at] != rank)
		at = (at + 1) & mask;
	return at;
}

static int
make_room(struct roster *roster)
{
	struct roster larger = *roster;

	if (2 * (roster->count + 1) <= roster->room)
		return 0;
	larger.room = roster->room ? 2 * roster->room : RANKS_FIRST;
	larger.ranks = calloc(larger.room, sizeof(*larger.ranks));
	larger.taken = calloc(larger.room, sizeof(*larger.taken));
	if (!larger.ranks || !larger.taken) {
		free(larger.ranks);
		free(larger.taken);
		return STORE_E_MEMORY;
	}
	for (size_t i = 0; i < roster->room; i++) {
		if (roster->taken[i]) {
			size_t at = place_of(&larger, roster->ranks[i]);

			larger.ranks[at] = roster->ranks[i];
			larger.taken[at] = 1;
		}
	}
	free(roster->ranks);
	free(roster->taken);
	*roster = larger;
	return 0;
}

static int
add_session(struct roster *roster, const struct session_record *session)
{
	size_t at;

	if (make_room(roster) < 0)
		return STORE_E_MEMORY;
	at = place_of(roster, session->rank);
	roster->count += !roster->taken[at];
	roster->ranks[at] = session->rank;
	roster->taken[at] = 1;
	roster->newest = session->started > roster->newest ? session->started : roster->newest;
	roster->sessions++;
	return 0;
}

/* Sessions are only ever added to a run, except by an abort. */
const struct roster *
store_roster(struct store_writer *writer, uint32_t run, int *rc, struct portolan_error *error)
{
	struct roster *roster = &writer->rosters[run % STORE_ROSTERS];
	struct run_state_record state;
	struct session_record session;

	*rc = store_catalog_state(&writer->view, run, &state, error);
	if (roster->run != run || roster->aborts != writer->aborts) {
		store_roster_free(roster);
		roster->run = run;
		roster->aborts = writer->aborts;
	}
	while (!*rc && roster->sessions < state.sessions) {
		*rc = store_writer_load(writer, run, roster->sessions, &state, &session, error);
		if (!*rc && add_session(roster, &session) < 0)
			*rc = error_set(error, STORE_E_MEMORY, "store '%s': out of memory", writer->directory);
	}
	return *rc ? NULL : roster;
}

static bool
same_group(const struct store_run_info *info, const struct store_run_request *request)
{
	return request->group.size && strlen(info->group) == request->group.size &&
	       memcmp(info->group, request->group.data, request->group.size) == 0;
}

static int
same_launch(struct store_writer *writer, const struct store_run_info *info, const struct store_run_request *request,
            bool *same, struct portolan_error *error)
{
	const uint64_t window = request->overwrite ? STORE_GROUP_WINDOW_OVERWRITE : STORE_GROUP_WINDOW;
	const bool recording = info->state == STORE_RECORDING;
	const struct roster *roster;
	bool in_time;
	int rc;

	*same = false;
	if (!same_group(info, request))
		return 0;
	roster = store_roster(writer, info->number, &rc, error);
	if (!roster)
		return rc;
	in_time = request->started <= roster->newest || request->started - roster->newest <= window;
	if (recording && !request->silent)
		in_time = true;
	else if (recording && request->overwrite)
		in_time = false; /* who recorded into it is dead */
	*same = (request->late || in_time) && !(roster->room && roster->taken[place_of(roster, request->rank)]);
	return 0;
}

/* As if the sessions of this name had come in the order in which they began. The first one of a run stands for how the
 * run was created; only one that resumed can have had others before it. */
static int
join_late(struct store_writer *writer, uint32_t run, const struct store_run_request *request, enum join *join,
          struct portolan_error *error)
{
	const struct roster *roster;
	struct run_state_record state;
	struct session_record first = {.started = 0};
	int rc;

	roster = store_roster(writer, run, &rc, error);
	if (roster && roster->sessions)
		rc = store_writer_load(writer, run, 0, &state, &first, error);
	if (rc)
		return rc;
	/* What resumed has resumed what was there then: not a run that was begun anew since. */
	if (request->resume && roster->sessions && first.started <= request->started)
		*join = JOIN_SESSION;
	else if (roster->newest < request->started)
		*join = request->overwrite ? JOIN_REPLACES : JOIN_REFUSED;
	else
		*join = (first.asked & SESSION_RESUME) && first.started > request->started ? JOIN_SESSION
		                                                                           : JOIN_REFUSED;
	return 0;
}

int
store_join(struct store_writer *writer, const struct store_run_info *info, const struct store_run_request *request,
           enum join *join, struct portolan_error *error)
{
	bool same;
	int rc;

	if (request->whole) {
		*join = request->overwrite ? JOIN_BESIDE : JOIN_REFUSED;
		return 0;
	}
	rc = same_launch(writer, info, request, &same, error);
	if (rc)
		return rc;
	*join = same || (request->resume && !request->late) ? JOIN_SESSION
	        : request->overwrite                       ? JOIN_REPLACES
	                                                   : JOIN_REFUSED;
	if (request->late && *join != JOIN_SESSION)
		return join_late(writer, info->number, request, join, error);
	return 0;
}
