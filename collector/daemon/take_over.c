/*
 * take_over.c: puts sessions and runs of the store into the storer's table: one session when its client opens it, and,
 * at start-up, all that an earlier collector left live, so that their clients can go on.
 */
#include "ingest.h"

#include "log.h"

#include <portolan/error.h>

int
take_over_session(struct ingest *ingest, uint32_t number, uint32_t session_number, const char *name, int64_t now,
                  struct session **session, struct portolan_error *error)
{
	struct store_session_info info;
	struct run *run = sessions_find_run(&ingest->sessions, number);
	bool fresh = !run;
	int result = store_writer_session_info(ingest->writer, number, session_number, &info, error);

	if (result < 0)
		return result;
	if (fresh)
		run = sessions_add_run(&ingest->sessions, number, name);
	*session = run ? sessions_add(&ingest->sessions, info.id, run) : NULL;
	if (!*session) {
		if (fresh && run)
			sessions_remove_run(&ingest->sessions, run);
		return error_set(error, STORE_E_MEMORY, "out of memory");
	}
	run->fresh |= fresh;
	(*session)->number = session_number;
	session_hear(*session, now);
	(*session)->content = info.content;
	(*session)->replaced = info.replaced;
	(*session)->refused = info.refused;
	(*session)->now.sequence = info.acknowledged;
	sessions_set_frontier(*session, info.frontier);
	(*session)->stored = (*session)->now;
	return 0;
}

/* Does the log hold something of the run? The answer is yes also where the log cannot be read: the fold then says what
 * is damaged. */
static bool
take_over_has_log(const struct ingest *ingest, uint32_t number)
{
	struct store_log_epoch epoch;

	return store_writer_next_log(ingest->writer, number, 0, SESSIONS_NO_FRONTIER, &epoch, NULL) < 0 ||
	       epoch.rows > 0;
}

/* Adds one run of the store with its `sessions` sessions. */
static int
take_over_bring_in_run(void *context, uint32_t number, uint32_t sessions, struct portolan_error *error)
{
	struct ingest *ingest = context;
	struct store_run_info run_info;
	struct store_session_info info;
	struct session *session;
	struct run *run;
	int result = store_writer_run_info(ingest->writer, number, &run_info, error);

	if (result < 0)
		return result;
	run = sessions_add_run(&ingest->sessions, number, run_info.name);
	if (!run)
		return error_set(error, STORE_E_MEMORY, "out of memory");
	for (uint32_t i = 0; i < sessions; i++) {
		result = store_writer_session_info(ingest->writer, number, i, &info, error);
		if (result == 0 && info.live)
			result = take_over_session(ingest, number, i, run_info.name, ingest->ticked, &session, error);
		if (result < 0)
			return result;
	}
	if (!run_is_live(run) && run_info.state == STORE_RECORDING)
		result = store_writer_set_state(ingest->writer, number, STORE_CLOSED, error);
	if (result < 0)
		return result;
	/* Marks what an earlier collector did not fold: closed epochs and their patches. */
	if (run_is_live(run) || take_over_has_log(ingest, number))
		run_make_due(run, 0, run->frontier);
	else
		sessions_remove_run(&ingest->sessions, run);
	return 0;
}

/* Adds a run that cannot be read, which takes no sessions. */
static void
take_over_bring_in_damaged(void *context, const char *name, uint32_t number, const char *what)
{
	struct ingest *ingest = context;
	struct run *run = number ? sessions_add_run(&ingest->sessions, number, name) : NULL;

	while (run && run->sessions)
		sessions_remove(&ingest->sessions, run->sessions);
	if (run)
		run->damaged = run->unfoldable = true;
	log_line("run '%s' is damaged: %s; nothing is recorded into it", name, what);
}

int
take_over_runs(struct ingest *ingest, struct portolan_error *error)
{
	const struct store_each each = {
	        .run = take_over_bring_in_run, .damaged = take_over_bring_in_damaged, .context = ingest};

	return store_writer_each_run(ingest->writer, &each, error);
}
