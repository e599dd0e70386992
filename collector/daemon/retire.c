/*
 * retire.c: ends, for the storer, the recording into runs that go: those that are removed or overwritten, and those
 * that their client left unfinished.
 *
 * The sessions that record into such a run end with it: they are told so after the commit, and for one timeout whenever
 * they send something.
 */
#include "ingest.h"

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
