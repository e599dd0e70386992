/*
 * crowd.c: how many sessions there may be, and how they are shared out.
 *
 * A connection may have a sixteenth of the table; the last quarter of it is for those that have next to nothing, so
 * that a few that connect again and again do not lock newcomers out.
 */
#include "crowd.h"

#include <inttypes.h>
#include <stdio.h>

#define SHARE 16 /* of the table: for one connection */
#define FEW 4    /* sessions, which a newcomer may have when the table is nearly full */

/* An eighth of the memory cap is for the table. */
static size_t
most_sessions(const struct ingest *ingest)
{
	size_t most = ingest->options.max_memory / 8 / (sizeof(struct session) + sizeof(struct run));

	return most < SESSIONS_MAX ? most : SESSIONS_MAX;
}

bool
crowd_is_full(const struct ingest *ingest, const struct peer *peer, bool known)
{
	const struct connection *connection = connections_find(&ingest->sessions.connections, peer);
	size_t most = most_sessions(ingest), held = connection ? connection->sessions : 0;

	if (held >= most / SHARE)
		return true;
	if (known)
		return false;
	return ingest->sessions.count >= most || (ingest->sessions.count >= most - most / 4 && held >= FEW);
}

void
crowd_tell(struct ingest *ingest, int64_t now)
{
	uint64_t since;
	char line[200];

	if (!throttle_count(&ingest->crowd, 1, now, &since))
		return;
	snprintf(line, sizeof(line),
	         "too many sessions (%zu, %zu of them live): %" PRIu64 " turned away; a connection may have %zu",
	         ingest->sessions.count, ingest->sessions.live, since, most_sessions(ingest) / SHARE);
	ingest->options.trouble(ingest->options.context, line);
}
