/*
 * catalog.c: reads what the store says of its runs, and of their sessions and epochs, for writer and readers alike.
 * Sizes and offsets in a record are checked here, so that callers need not: a record that passes its checksum may still
 * come from a faulty program.
 */
#include "catalog.h"

#include "list.h"

int
store_catalog_find(const struct view *view, const void *name, size_t size, uint32_t *run, struct portolan_error *error)
{
	struct store_key key;

	if (size == 0 || size > 255)
		return VIEW_ABSENT;
	key = store_key_bytes(name, size);
	return store_view_read(view, DB_RUNS, &key, RECORD_RUN_NUMBER, run, sizeof(*run), error);
}

int
store_catalog_runs(const struct view *view, struct store_run_info **runs, size_t *count, struct portolan_error *error)
{
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	CLEANUP_FREE struct store_run_info *list = NULL;
	size_t n = 0;
	int rc;

	store_walk_open(&walk, view, DB_RUNS, NULL, 0, error);
	for (; (rc = store_walk_next(&walk, error)) == 0; n++) {
		const uint8_t *body;
		size_t size;

		if (!list_grow(&list, n, sizeof(*list)))
			return store_view_no_memory(view, error);
		list[n] = (struct store_run_info){.number = 0};
		memcpy(list[n].name, walk.key.mv_data, walk.key.mv_size < 255 ? walk.key.mv_size : 255);
		if (walk.key.mv_size <= 255 &&
		    store_record_open(walk.value.mv_data, walk.value.mv_size, RECORD_RUN_NUMBER, &body, &size) &&
		    size == 4)
			list[n].number = load_u32(body);
	}
	if (rc != VIEW_ABSENT)
		return rc;
	*runs = list;
	*count = n;
	list = NULL;
	return 0;
}

/* Does the last session exist? The number of sessions decides how much memory is allocated, and may be damaged. */
static int
catalog_check_last_session(const struct view *view, uint32_t run, uint32_t sessions, struct portolan_error *error)
{
	struct store_key state = store_key_run(run, RUN_STATE), last = store_key_u32_u32(run, sessions - 1);
	struct session_record record;
	int rc = store_view_read(view, DB_SESSIONS, &last, RECORD_SESSION, &record, sizeof(record), error);

	if (rc < 0 && store_view_is_spoilt(view))
		return rc;
	return rc == VIEW_ABSENT ? store_view_corrupt(view, DB_RUN, state.data, state.size, error) : 0;
}

#define SESSIONS_BELIEVED 4096

int
store_catalog_state(const struct view *view, uint32_t run, struct run_state_record *state, struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_STATE);
	int rc = store_view_read(view, DB_RUN, &key, RECORD_RUN_STATE, state, sizeof(*state), error);

	if (rc < 0)
		return rc;
	if (rc == VIEW_ABSENT || state->state == STORE_RUN_REMOVED)
		return error_set(error, STORE_E_NO_RUN, "store '%s': run number %u was removed",
		                 view->environment->directory, run);
	if (state->rows > STORE_MAX_EXAMPLES || state->declared > STORE_MAX_EXAMPLES || state->id_kind > STORE_ID_STR ||
	    (state->declared > 0 && state->id_kind != STORE_ID_INT) ||
	    (state->state != STORE_RECORDING && state->state != STORE_CLOSED && state->state != STORE_RUN_UNNAMED))
		return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
	return state->sessions > SESSIONS_BELIEVED ? catalog_check_last_session(view, run, state->sessions, error) : 0;
}

int
store_catalog_identity(const struct view *view, uint32_t run, struct run_identity_record *identity,
                       const uint8_t **texts, struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_IDENTITY);
	const uint8_t *body;
	size_t size;
	int rc = store_view_get(view, DB_RUN, &key, RECORD_RUN_IDENTITY, &body, &size, error);

	if (rc < 0)
		return rc;
	if (rc == VIEW_ABSENT || size < sizeof(*identity))
		return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
	memcpy(identity, body, sizeof(*identity));
	if (identity->name_size > 255 || identity->group_size > 255 || identity->mode > PORTOLAN_TRAIN_FORWARD ||
	    size - sizeof(*identity) != (uint64_t)identity->name_size + identity->group_size + identity->config_size)
		return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
	*texts = body + sizeof(*identity);
	return 0;
}

int
store_catalog_info(const struct view *view, uint32_t run, struct store_run_info *info, struct portolan_error *error)
{
	const struct store_key key = store_key_run(run, RUN_COUNTERS);
	struct store_counters counters = {0}; /* 0 where the record is damaged, as only some readers need it */
	struct run_identity_record identity;
	struct run_state_record state;
	const uint8_t *texts;
	int rc = store_catalog_state(view, run, &state, error)
	                 ?: store_catalog_identity(view, run, &identity, &texts, error);

	if (rc)
		return rc;
	rc = store_view_read(view, DB_RUN, &key, RECORD_COUNTERS, &counters, sizeof(counters), error);
	if (rc < 0 && (rc != STORE_E_CORRUPT || store_view_is_spoilt(view)))
		return rc;
	*info = (struct store_run_info){
	        .number = run,
	        .id_kind = (enum store_id_kind)state.id_kind,
	        .mode = (enum portolan_mode)identity.mode,
	        .of_losses = store_is_of_losses(state.columns),
	        .state = state.state == STORE_CLOSED ? STORE_CLOSED : STORE_RECORDING,
	        .declared = state.declared,
	        .examples = state.declared ? state.examples : state.rows,
	        .rows = state.rows,
	        .epochs = state.epochs,
	        .observations = state.observations + state.log_rows,
	        .replaced = state.replaced,
	        .returned = counters.returned,
	        .refused = state.refused,
	        .changed_labels = state.changed_labels,
	        .created = identity.created,
	        .label_count = identity.label_count,
	};
	memcpy(info->name, texts, identity.name_size);
	memcpy(info->group, texts + identity.name_size, identity.group_size);
	return 0;
}

int
store_catalog_labels(const struct view *view, uint32_t run, char ***labels, uint64_t *count,
                     struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_LABELS);
	CLEANUP_FREE char **list = NULL;
	const uint8_t *body, *text;
	size_t size;
	uint64_t n, text_size, from = 0;
	char *at;
	int rc = store_view_get(view, DB_RUN, &key, RECORD_LABELS, &body, &size, error);

	*labels = NULL;
	*count = 0;
	if (rc)
		return store_view_or_absent(rc);
	if (size < 8 || (n = load_u64(body)) > (size - 8) / 4)
		return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
	text = body + 8 + 4 * n;
	text_size = size - 8 - 4 * n;
	list = malloc((n + 1) * sizeof(*list) + text_size + n);
	if (!list)
		return store_view_no_memory(view, error);
	at = (char *)(list + n);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t end = load_u32(body + 8 + 4 * i);

		if (end < from || end > text_size)
			return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
		list[i] = at;
		at = mempcpy(at, text + from, end - from);
		*at++ = '\0';
		from = end;
	}
	*labels = list;
	*count = n;
	list = NULL;
	return 0;
}

int
store_catalog_user_columns(const struct view *view, uint32_t run, uint32_t *count, char (**names)[USER_COLUMN_NAME],
                           struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_USER_COLUMNS);
	struct user_columns_record record = {0};
	const uint8_t *body, *name;
	size_t size;
	bool sound;
	int rc = store_view_get(view, DB_RUN, &key, RECORD_USER_COLUMNS, &body, &size, error);

	*count = 0;
	*names = NULL;
	if (rc)
		return store_view_or_absent(rc);
	if (size >= sizeof(record))
		memcpy(&record, body, sizeof(record));
	name = body + sizeof(record);
	sound = size >= sizeof(record) && record.count <= STORE_COLUMN_MAX - STORE_COLUMN_USER &&
	        size == sizeof(record) + (size_t)record.count * USER_COLUMN_NAME;
	for (uint32_t i = 0; sound && i < record.count; i++)
		sound = name[(size_t)i * USER_COLUMN_NAME] < USER_COLUMN_NAME;
	if (!sound)
		return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
	*names = calloc(STORE_COLUMN_MAX - STORE_COLUMN_USER, USER_COLUMN_NAME);
	if (!*names)
		return store_view_no_memory(view, error);
	for (uint32_t i = 0; i < record.count; i++, name += USER_COLUMN_NAME)
		memcpy((*names)[i], name + 1, name[0]);
	*count = record.count;
	return 0;
}

int
store_catalog_session(const struct view *view, uint32_t run, uint32_t session, struct session_record *record,
                      struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, session);
	int rc = store_view_read(view, DB_SESSIONS, &key, RECORD_SESSION, record, sizeof(*record), error);

	return rc == VIEW_ABSENT ? store_view_corrupt(view, DB_SESSIONS, key.data, key.size, error) : rc;
}

int
store_catalog_counters(const struct view *view, const struct store_key *key, enum record_kind kind,
                       uint64_t numbers[COUNTERS_MOST], size_t *count, struct portolan_error *error)
{
	const uint8_t *body;
	size_t size;
	int rc = store_view_get(view, DB_RUN, key, kind, &body, &size, error);

	memset(numbers, 0, COUNTERS_MOST * sizeof(*numbers));
	*count = 0;
	if (rc)
		return store_view_or_absent(rc);
	if (size % 8 != 0 || size / 8 > COUNTERS_MOST)
		return store_view_corrupt(view, DB_RUN, key->data, key->size, error);
	memcpy(numbers, body, size);
	*count = size / 8;
	return 0;
}

int
store_catalog_process(const struct view *view, uint32_t run, uint32_t session, struct process_record *record,
                      struct portolan_error *error)
{
	struct store_key key = store_key_session(run, RUN_PROCESS, session);
	int rc = store_view_read(view, DB_RUN, &key, RECORD_PROCESS, record, sizeof(*record), error);

	if (rc == VIEW_ABSENT)
		*record = (struct process_record){0};
	return store_view_or_absent(rc);
}

struct ordered_session {
	struct session_record record;
	uint32_t session;
};

static int
catalog_compare_sessions(const void *a, const void *b)
{
	const struct session_record *x = &((const struct ordered_session *)a)->record;
	const struct session_record *y = &((const struct ordered_session *)b)->record;

	if (x->started != y->started)
		return x->started < y->started ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return memcmp(x->id, y->id, sizeof(x->id));
}

int
store_catalog_order(const struct view *view, uint32_t run, uint32_t sessions, uint32_t **order,
                    struct portolan_error *error)
{
	CLEANUP_FREE struct ordered_session *sorted = calloc((size_t)sessions + 1, sizeof(*sorted));
	CLEANUP_FREE uint32_t *places = calloc((size_t)sessions + 1, sizeof(*places));

	if (!sorted || !places)
		return store_view_no_memory(view, error);
	for (uint32_t session = 0; session < sessions; session++) {
		int rc = store_catalog_session(view, run, session, &sorted[session].record, error);

		if (rc)
			return rc;
		sorted[session].session = session;
	}
	qsort(sorted, sessions, sizeof(*sorted), catalog_compare_sessions);
	for (uint32_t i = 0; i < sessions; i++)
		places[sorted[i].session] = i;
	*order = places;
	places = NULL;
	return 0;
}

/* Do the epoch's log positions and row count agree? */
static bool
catalog_is_valid_epoch(const struct epoch_record *record)
{
	return record->log_begin <= record->log_end &&
	       (record->log_rows != 0) == (record->log_begin != record->log_end);
}

int
store_catalog_epoch(const struct view *view, uint32_t run, uint32_t epoch, struct epoch_record *record,
                    struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, epoch);
	int rc = store_view_read(view, DB_EPOCHS, &key, RECORD_EPOCH, record, sizeof(*record), error);

	if (rc == VIEW_ABSENT) {
		*record = (struct epoch_record){0};
		return 0;
	}
	if (!rc && !catalog_is_valid_epoch(record))
		return store_view_corrupt(view, DB_EPOCHS, key.data, key.size, error);
	return rc;
}

int
store_catalog_next_epoch(struct view_walk *walk, uint32_t *epoch, struct epoch_record *record,
                         struct portolan_error *error)
{
	const uint8_t *body;
	size_t size;
	int rc = store_walk_record(walk, RECORD_EPOCH, &body, &size, error);

	if (rc)
		return rc;
	if (walk->key.mv_size == 8) {
		memset(record, 0, sizeof(*record));
		memcpy(record, body, size < sizeof(*record) ? size : sizeof(*record));
		*epoch = store_key_read_u32((const uint8_t *)walk->key.mv_data + 4);
		if (*epoch == STORE_EPOCH_RUN)
			return VIEW_ABSENT;
		if (catalog_is_valid_epoch(record))
			return 0;
	}
	return store_view_corrupt(walk->view, DB_EPOCHS, walk->key.mv_data, walk->key.mv_size, error);
}

int
store_catalog_epochs(const struct view *view, uint32_t run, struct catalog_epoch **epochs, size_t *count,
                     struct portolan_error *error)
{
	const struct store_key start = store_key_u32(run);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	CLEANUP_FREE struct catalog_epoch *list = NULL;
	struct catalog_epoch next;
	size_t n = 0;
	int rc;

	store_walk_open(&walk, view, DB_EPOCHS, &start, 4, error);
	while ((rc = store_catalog_next_epoch(&walk, &next.epoch, &next.record, error)) == 0) {
		if (!next.record.observations && !next.record.log_rows)
			continue;
		if (!list_grow(&list, n, sizeof(*list)))
			return store_view_no_memory(view, error);
		list[n++] = next;
	}
	if (rc < 0)
		return rc;
	*epochs = list;
	*count = n;
	list = NULL;
	return 0;
}

int
store_catalog_next_chunk(const struct view *view, uint32_t run, uint32_t epoch, uint32_t *chunk,
                         struct portolan_error *error)
{
	const struct store_key from = store_key_chunk(run, epoch, *chunk);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	int rc;

	store_walk_open(&walk, view, DB_COLUMNS, &from, 8, error);
	rc = store_walk_next(&walk, error);
	if (!rc && walk.key.mv_size >= 12)
		*chunk = store_key_read_u32((const uint8_t *)walk.key.mv_data + 8);
	return rc;
}

int
store_catalog_next_batch(struct view_walk *walk, uint64_t examples, uint32_t sessions, struct batch *batch,
                         struct portolan_error *error)
{
	int rc = store_walk_next(walk, error);

	if (rc)
		return rc;
	if (walk->key.mv_size != 16 || !store_walk_belongs(walk) ||
	    !store_batch_open(walk->value.mv_data, walk->value.mv_size, examples, sessions, batch))
		return store_walk_corrupt(walk, error);
	batch->position = store_key_read_u64((const uint8_t *)walk->key.mv_data + 8);
	return 0;
}

int
store_catalog_next_ids(struct view_walk *walk, uint64_t *first, struct ids_segment *segment,
                       struct portolan_error *error)
{
	const uint8_t *body;
	size_t size;
	int rc = store_walk_record(walk, RECORD_IDS, &body, &size, error);

	if (rc)
		return rc;
	if (walk->key.mv_size != 8 || !store_ids_open(body, size, segment))
		return store_walk_corrupt(walk, error);
	*first = store_key_read_u32((const uint8_t *)walk->key.mv_data + 4);
	return 0;
}
