/*
 * beside.c: finds processes that record into one run without knowing of each other, as when a scheduler starts a job
 * again that is still alive: each would replace what the other observes, and no figure would show it.
 *
 * The ranks of one launch belong together: they name one group, and different ranks. Of all other sessions of a run,
 * only the last should record. So a session that resumes waits until the others have closed, or were silent for
 * BESIDE_SILENT_MS; a living client sends something every WIRE_PING_MS. A session that was only silent may come back.
 * When a session records its first batch, every other session is superseded; one that then records another batch is
 * marked in the store.
 *
 * A late session is a spool, which brings what was recorded earlier: it neither waits nor counts.
 */
#include "ingest.h"

#include <stdio.h>
#include <xxhash.h>

uint64_t
beside_launch(const struct wire_open *open)
{
	return open->group.size ? XXH3_64bits(open->group.data, open->group.size) | 1 : 0;
}

const struct session *
beside_find_holder(const struct ingest *ingest, const struct wire_open *open, const char *name, int64_t now)
{
	const uint64_t launch = beside_launch(open);
	const struct run *run =
	        open->resume && !open->late && !open->whole ? sessions_live_named(&ingest->sessions, name) : NULL;

	for (const struct session *session = run ? run->sessions : NULL; session; session = session->next_in_run)
		if (session->now.state == SESSION_LIVE && !session->late && now - session->heard <= BESIDE_SILENT_MS &&
		    !session_goes_with(session, launch, open->rank))
			return session;
	return NULL;
}

void
beside_describe(struct ingest *ingest, const struct session *holder, char text[128])
{
	struct store_process process = {0};

	if (store_writer_process(ingest->writer, holder->run->number, holder->number, &process, NULL) == 0 &&
	    process.host[0])
		snprintf(text, 128, "process %llu on %s", (unsigned long long)process.process, process.host);
	else
		snprintf(text, 128, "another process");
}

int
beside_note_batch(struct ingest *ingest, struct session *session, struct portolan_error *error)
{
	const struct run *run = session->run;

	if (session->late)
		return 0;
	if (session->began && session->superseded)
		return store_writer_beside(ingest->writer, run->number, session->number, session->superseded - 1,
		                           error);
	/* A session of an earlier collector has to open here before its next batch, which then counts as its first
	 * one. */
	for (struct session *other = session->began ? NULL : run->sessions; other; other = other->next_in_run)
		if (other != session && other->connection && !other->late &&
		    !session_goes_with(other, session->launch, session->rank))
			other->superseded = session->number + 1;
	session->began = true;
	return 0;
}
