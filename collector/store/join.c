/*
 * join.c: decides for the writer what happens when a session opens a run whose name exists: it joins that run, replaces
 * it, or is refused.
 *
 * A group is one launch of a job, in which each rank has one session; the same string means the same launch, whatever
 * the clocks say. So a session joins the run of its group if the run has no session of its rank. If the run has one,
 * the launch was started again under the old name: with `resume` it continues the run, and with `overwrite` it begins
 * anew once no session records into the run any more.
 *
 * A late session was recorded while no collector could be reached: it is judged as if it had come when it began
 * (client/WIRE.md, "Late sessions").
 */
#include "writer.h"

/* The sessions of one run. */
struct survey {
	uint32_t sessions;
	uint64_t newest; /* the latest start of the run's sessions */
	struct session_record first;
	bool has_rank;
};

/* Surveys a run's sessions in one walk. This takes about 0.1 µs for each, so even the 10,000th rank gets its place in 1
 * ms. */
static int
join_survey(struct store_writer *writer, uint32_t run, uint32_t rank, struct survey *survey,
            struct portolan_error *error)
{
	const struct store_key from = store_key_u32_u32(run, 0);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct session_record session;
	const uint8_t *body;
	size_t size;
	int rc;

	*survey = (struct survey){0};
	store_walk_open(&walk, &writer->view, DB_SESSIONS, &from, 4, error);
	while ((rc = store_walk_record(&walk, RECORD_SESSION, &body, &size, error)) == 0) {
		if (size != sizeof(session))
			return store_walk_corrupt(&walk, error);
		memcpy(&session, body, sizeof(session));
		if (survey->sessions++ == 0)
			survey->first = session;
		survey->newest = session.started > survey->newest ? session.started : survey->newest;
		survey->has_rank |= session.rank == rank;
	}
	return store_view_or_absent(rc);
}

/* Decides as if the sessions of this name had come in the order in which they began. The options of a run's first
 * session say how the run was created; only if it resumed can other sessions have begun before it. */
static enum join
join_late(const struct survey *survey, const struct store_run_request *request)
{
	/* A session that resumed has resumed the run of that time, not a run that was begun anew since. */
	if (request->resume && survey->sessions && survey->first.started <= request->started)
		return JOIN_SESSION;
	if (survey->newest < request->started)
		return request->overwrite ? JOIN_REPLACES : JOIN_REFUSED;
	return (survey->first.asked & SESSION_RESUME) && survey->first.started > request->started ? JOIN_SESSION
	                                                                                          : JOIN_REFUSED;
}

int
store_join(struct store_writer *writer, const struct store_run_info *info, const struct store_run_request *request,
           enum join *join, struct portolan_error *error)
{
	bool same_group = request->group.size && strlen(info->group) == request->group.size &&
	                  memcmp(info->group, request->group.data, request->group.size) == 0;
	struct survey survey = {0};
	int rc = 0;

	if (request->whole) {
		*join = request->overwrite ? JOIN_BESIDE : JOIN_REFUSED;
		return 0;
	}
	if (same_group || request->late)
		rc = join_survey(writer, info->number, request->rank, &survey, error);
	if (rc)
		return rc;
	if (same_group && !survey.has_rank)
		*join = JOIN_SESSION;
	else if (request->late)
		*join = join_late(&survey, request);
	else if (request->resume)
		*join = JOIN_SESSION;
	else
		*join = request->overwrite && !(same_group && request->live) ? JOIN_REPLACES : JOIN_REFUSED;
	return 0;
}

int
store_writer_started(struct store_writer *writer, uint32_t run, uint64_t *started, struct portolan_error *error)
{
	struct survey survey;
	int rc = store_writer_begin(writer, error) ?: join_survey(writer, run, 0, &survey, error);

	if (!rc && survey.newest >= *started)
		*started = survey.newest + 1;
	return rc;
}
