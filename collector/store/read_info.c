/*
 * read_info.c: what the records of a run say of its sessions and epochs, each from one short transaction.
 */
#include "counters.h"
#include "read.h"

#include <errno.h>
#include <stdlib.h>

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

int
store_epochs(struct store *store, uint32_t run, struct store_epoch **epochs, size_t *count,
             struct portolan_error *error)
{
	struct store_epoch *list = NULL;
	struct epoch_record *records;
	struct view view = {0};
	uint32_t *numbers;
	size_t n = 0;
	int rc = store_read_begin(store, &view, error);

	if (rc)
		return rc;
	rc = store_catalog_epochs(&view, run, 0, UINT32_MAX, &numbers, &records, &n, error);
	store_read_finish(store, &view);
	if (rc)
		return rc;
	list = calloc(n + 1, sizeof(*list));
	for (size_t i = 0; list && i < n; i++)
		list[i] = (struct store_epoch){.epoch = numbers[i],
		                               .folds = records[i].folds,
		                               .folded = records[i].observations,
		                               .waiting = records[i].log_rows};
	free(numbers);
	free(records);
	if (!list)
		return store_environment_error(&store->environment, ENOMEM, "reading the epochs", error);
	*epochs = list;
	*count = n;
	return 0;
}

int
store_run_names(struct store *store, struct store_run_name **names, size_t *count, struct portolan_error *error)
{
	struct store_run_name *list = NULL;
	struct view view = {0};
	size_t n = 0;
	int rc = store_read_begin(store, &view, error);

	if (rc)
		return rc;
	rc = store_catalog_runs(&view, &list, &n, error);
	for (size_t i = 0; i < n && !rc; i++)
		if (list[i].number == 0)
			rc = store_view_corrupt(&view, DB_RUNS, list[i].name, strlen(list[i].name), error);
	store_read_finish(store, &view);
	if (rc) {
		free(list);
		return rc;
	}
	*names = list;
	*count = n;
	return 0;
}
