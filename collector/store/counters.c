/*
 * counters.c: reading counters and sessions.
 *
 * A record of counters has no fixed size, so that later versions can count more: what a record lacks is 0.
 */
#include "counters.h"

#include "read.h"

#include <errno.h>
#include <stdlib.h>

struct store_key
store_key_client(uint32_t run, uint32_t session)
{
	struct store_key key = store_key_run(run, RUN_CLIENT);

	store_key_add_u32(&key, session);
	return key;
}

int
store_counters_read(const struct view *view, const struct store_key *key, enum record_kind kind,
                    uint64_t numbers[COUNTERS_MOST], size_t *count, struct portolan_error *error)
{
	const uint8_t *body;
	size_t size;
	int rc = store_view_get(view, DB_RUN, key, kind, &body, &size, error);

	memset(numbers, 0, COUNTERS_MOST * sizeof(*numbers));
	*count = 0;
	if (rc)
		return rc == VIEW_ABSENT ? 0 : rc;
	if (size % 8 != 0 || size / 8 > COUNTERS_MOST)
		return store_view_corrupt(view, DB_RUN, key->data, key->size, error);
	memcpy(numbers, body, size);
	*count = size / 8;
	return 0;
}

int
store_counters(struct store *store, uint32_t run, struct store_counters *counters, struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_COUNTERS);
	uint64_t numbers[COUNTERS_MOST];
	struct view view = {0};
	size_t count;
	int rc = store_read_begin(store, &view, error);

	if (rc)
		return rc;
	rc = store_counters_read(&view, &key, RECORD_COUNTERS, numbers, &count, error);
	store_read_finish(store, &view);
	if (!rc)
		memcpy(counters, numbers, sizeof(*counters));
	return rc;
}

static int
read_session(const struct view *view, uint32_t run, uint32_t number, struct store_session *session,
             struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, number), client = store_key_client(run, number);
	uint64_t numbers[COUNTERS_MOST];
	struct session_record record;
	size_t count;
	int rc = store_view_read(view, DB_SESSIONS, &key, RECORD_SESSION, &record, sizeof(record), error);

	if (rc == VIEW_ABSENT)
		rc = store_view_corrupt(view, DB_SESSIONS, key.data, key.size, error);
	if (!rc)
		rc = store_counters_read(view, &client, RECORD_CLIENT, numbers, &count, error);
	if (rc)
		return rc;
	*session = (struct store_session){.started = record.started,
	                                  .rank = record.rank,
	                                  .live = record.live != 0,
	                                  .acknowledged = record.acknowledged,
	                                  .frontier = record.frontier,
	                                  .observations = record.observations,
	                                  .replaced = record.replaced,
	                                  .refused = record.refused};
	memcpy(session->id, record.id, sizeof(session->id));
	memcpy(&session->client, numbers, sizeof(session->client));
	return 0;
}

int
store_sessions(struct store *store, uint32_t run, struct store_session **sessions, size_t *count,
               struct portolan_error *error)
{
	struct store_session *list = NULL;
	struct run_state_record state;
	struct view view = {0};
	int rc = store_read_begin(store, &view, error);

	if (rc)
		return rc;
	rc = store_catalog_state(&view, run, &state, error);
	if (!rc && !(list = calloc((size_t)state.sessions + 1, sizeof(*list))))
		rc = store_environment_error(&store->environment, ENOMEM, "reading the sessions", error);
	for (uint32_t i = 0; !rc && i < state.sessions; i++)
		rc = read_session(&view, run, i, &list[i], error);
	store_read_finish(store, &view);
	if (rc) {
		free(list);
		return rc;
	}
	*sessions = list;
	*count = state.sessions;
	return 0;
}
