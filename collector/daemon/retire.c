/*
 * retire.c: the end of runs: removed, overwritten, or left unfinished.
 *
 * The sessions that record into such a run end with it: they are told so after the commit, and for one timeout whenever
 * they send something.
 */
#include "parts.h"

#include <portolan/error.h>

#include <string.h>

void
retire_named(struct ingest *ingest, const char *name, uint32_t except)
{
	for (struct run *run = sessions_next_named(&ingest->sessions, name, NULL); run;
	     run = sessions_next_named(&ingest->sessions, name, run)) {
		if (run->number == except || run_is_unnamed(run))
			continue;
		if (ingest->folder.run == run)
			folder_drop(&ingest->folder);
		run->removed |= run->damaged;
		for (struct session *session = run->sessions; session; session = session->next_in_run) {
			sessions_set_state(&ingest->sessions, session, SESSION_REMOVED);
			sessions_change(&ingest->sessions, session, OWES_REMOVED);
		}
	}
}

int
retire_replaced(struct ingest *ingest, const struct session *session, struct portolan_error *error)
{
	int result;

	if (!session->whole)
		return 0;
	result = store_writer_publish(ingest->writer, session->run->number, error);
	if (result == 0) {
		retire_named(ingest, session->run->name, session->run->number);
		ingest->garbage = true;
	}
	return result;
}

int
retire_unfinished(struct ingest *ingest, struct session *session, struct portolan_error *error)
{
	int result = store_writer_drop_unnamed(ingest->writer, session->run->number, error);

	if (result < 0)
		return result;
	if (ingest->folder.run == session->run)
		folder_drop(&ingest->folder);
	sessions_set_state(&ingest->sessions, session, SESSION_REMOVED);
	session->owes &= OWES_REMOVED;
	sessions_change(&ingest->sessions, session, OWES_NOTHING);
	ingest->garbage = true;
	return 0;
}

void
retire_removed(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, int64_t now)
{
	struct portolan_error error = {0};
	char name[256];
	struct session caller = {.peer = *peer};
	int result;

	if (ingest->health == INGEST_UNAVAILABLE) {
		reply_error(ingest, peer, frame->session, WIRE_E_UNAVAILABLE, 0, "the store cannot be written now");
		return;
	}
	result = store_writer_remove_run(ingest->writer, text_of(frame->remove.run), &error);
	if (result < 0) {
		reply_error(ingest, peer, frame->session, result == STORE_E_NO_RUN ? WIRE_E_NO_RUN : WIRE_E_UNAVAILABLE,
		            0, "%s", error.message);
		if (commit_is_lost(result))
			commit_failed(ingest, &error, now);
		return;
	}
	copy_name(name, frame->remove.run);
	retire_named(ingest, name, UINT32_MAX);
	ingest->garbage = true;
	ingest_commit(ingest, now);
	if (ingest->health == INGEST_UNAVAILABLE) {
		reply_error(ingest, peer, frame->session, WIRE_E_UNAVAILABLE, 0, "the store cannot be written now");
		return;
	}
	memcpy(caller.id, frame->session, WIRE_SESSION_SIZE);
	reply_ack(ingest, &caller);
}
