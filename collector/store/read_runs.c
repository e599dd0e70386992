/*
 * read_runs.c: lists what a store holds, for commands that need no observations: the runs with how much each has, and
 * the config, sessions, epochs and counters of one run.
 *
 * A list of runs must not take long, so it counts no more of a run's log than BUDGET allows. For a larger log it takes
 * the largest possible number of observations: every example once in each epoch.
 */
#include "read.h"

#include <stdlib.h>

#define BUDGET ((size_t)64 << 20) /* bytes of log and memory, per run */

/* What counting the log of an epoch takes: its bytes, the overlay's batches, rows and table of chunks, and a bitmap for
 * each chunk that it may touch. */
static size_t
runs_count_cost(const struct epoch_record *record, uint64_t rows)
{
	const uint64_t chunks = store_chunks_of(rows), touched = record->log_rows < chunks ? record->log_rows : chunks;

	return record->log_bytes + (record->log_end - record->log_begin) * sizeof(struct batch) +
	       record->log_rows * sizeof(struct overlay_row) + chunks * sizeof(size_t) + touched * (STORE_CHUNK / 8);
}

static int
runs_count(const struct view *view, uint32_t run, struct store_run_info *info, struct portolan_error *error)
{
	struct run_state_record state;
	struct catalog_epoch *epochs;
	uint64_t most = 0, least = 0; /* no more observations, no fewer examples than these */
	size_t count, cost = 0;
	int rc = store_catalog_info(view, run, info, error) ?: store_catalog_state(view, run, &state, error);

	if (rc || state.log_rows == 0)
		return rc;
	rc = store_catalog_epochs(view, run, &epochs, &count, error);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++) {
		const struct epoch_record *record = &epochs[i].record;
		const uint64_t both = record->observations + record->log_rows;
		const uint64_t here = record->log_rows < info->rows ? record->log_rows : info->rows;

		cost += record->log_rows ? runs_count_cost(record, info->rows) : 0;
		most += both < info->rows ? both : info->rows;
		least = here > least ? here : least;
	}
	free(epochs);
	if (cost <= BUDGET)
		return store_snapshot_info_of(view, run, info, error);
	info->observations = most;
	if (info->declared && least > info->examples)
		info->examples = least;
	return 0;
}

/* A damaged run is no failure here: it must not hide the others. *anew: what follows is read from a later state. */
static int
runs_read_info(struct view *view, struct store_run_info *run, bool *anew, struct portolan_error *error)
{
	struct store_run_info info;
	int rc = run->number ? runs_count(view, run->number, &info, error) : STORE_E_CORRUPT;
	const bool spoilt = store_view_is_spoilt(view);

	if (spoilt || rc == STORE_E_CORRUPT) {
		run->state = STORE_DAMAGED;
		rc = 0;
	} else if (!rc) {
		*run = info;
	}
	if (!spoilt)
		return rc;
	*anew = true;
	store_read_finish(view);
	return store_read_begin((struct store *)view->environment, view, error);
}

int
store_runs(struct store *store, struct store_run_info **runs, size_t *count, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP_FREE struct store_run_info *list = NULL;
	size_t n = 0, read = 0;
	bool anew = false;
	int rc = store_read_begin(store, &view, error) ?: store_catalog_runs(&view, &list, &n, error);

	for (size_t i = 0; i < n && !rc; i++) {
		list[read] = list[i];
		rc = runs_read_info(&view, &list[read], &anew, error);
		if (rc == STORE_E_NO_RUN && anew)
			rc = 0; /* it was removed meanwhile */
		else
			read++;
	}
	if (rc)
		return rc;
	*runs = list;
	*count = read;
	list = NULL;
	return 0;
}

static int
runs_read_session(const struct view *view, uint32_t run, uint32_t number, struct store_session *session,
                  struct portolan_error *error)
{
	struct store_key client = store_key_session(run, RUN_CLIENT, number);
	uint64_t numbers[COUNTERS_MOST];
	struct session_record record;
	struct process_record process;
	size_t count;
	int rc = store_catalog_session(view, run, number, &record, error)
	         ?: store_catalog_counters(view, &client, RECORD_CLIENT, numbers, &count, error)
	         ?: store_catalog_process(view, run, number, &process, error);

	if (rc)
		return rc;
	*session = (struct store_session){.started = record.started,
	                                  .rank = record.rank,
	                                  .live = record.live != 0,
	                                  .acknowledged = record.acknowledged,
	                                  .frontier = record.frontier,
	                                  .observations = record.observations,
	                                  .replaced = record.replaced,
	                                  .refused = record.refused,
	                                  .process.process = process.process,
	                                  .beside = process.beside};
	memcpy(session->process.host, process.host, STORE_HOST);
	memcpy(session->id, record.id, sizeof(session->id));
	memcpy(&session->client, numbers, sizeof(session->client));
	return 0;
}

int
store_sessions(struct store *store, uint32_t run, struct store_session **sessions, size_t *count,
               struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP_FREE struct store_session *list = NULL;
	struct run_state_record state;
	int rc = store_read_begin(store, &view, error) ?: store_catalog_state(&view, run, &state, error);

	if (rc)
		return rc;
	list = calloc((size_t)state.sessions + 1, sizeof(*list));
	if (!list)
		return store_view_no_memory(&view, error);
	for (uint32_t i = 0; i < state.sessions; i++) {
		rc = runs_read_session(&view, run, i, &list[i], error);
		if (rc)
			return rc;
	}
	*sessions = list;
	*count = state.sessions;
	list = NULL;
	return 0;
}

int
store_config(struct store *store, uint32_t run, char **config, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	struct run_identity_record identity;
	const uint8_t *texts;
	int rc = store_read_begin(store, &view, error) ?: store_catalog_identity(&view, run, &identity, &texts, error);

	if (rc)
		return rc;
	*config = strndup((const char *)texts + identity.name_size + identity.group_size, identity.config_size);
	return *config ? 0 : store_view_no_memory(&view, error);
}

int
store_epochs(struct store *store, uint32_t run, struct store_epoch **epochs, size_t *count,
             struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP_FREE struct catalog_epoch *stored = NULL;
	struct store_epoch *list;
	size_t n;
	int rc = store_read_begin(store, &view, error) ?: store_catalog_epochs(&view, run, &stored, &n, error);

	if (rc)
		return rc;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return store_view_no_memory(&view, error);
	for (size_t i = 0; i < n; i++)
		list[i] = store_epoch_of(&stored[i]);
	*epochs = list;
	*count = n;
	return 0;
}

int
store_counters(struct store *store, uint32_t run, struct store_counters *counters, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	struct store_key key = store_key_run(run, RUN_COUNTERS);
	uint64_t numbers[COUNTERS_MOST];
	size_t count;
	int rc = store_read_begin(store, &view, error)
	                 ?: store_catalog_counters(&view, &key, RECORD_COUNTERS, numbers, &count, error);

	if (!rc)
		memcpy(counters, numbers, sizeof(*counters));
	return rc;
}
