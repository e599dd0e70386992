/*
 * counters.c: reads counters, and which process a session's client is.
 *
 * A record of counters has no fixed size, so that later versions can count more: what a record lacks is 0.
 */
#include "counters.h"

#include "read.h"

struct store_key
store_key_session(uint32_t run, uint8_t part, uint32_t session)
{
	struct store_key key = store_key_run(run, part);

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
		return store_view_or_absent(rc);
	if (size % 8 != 0 || size / 8 > COUNTERS_MOST)
		return store_view_corrupt(view, DB_RUN, key->data, key->size, error);
	memcpy(numbers, body, size);
	*count = size / 8;
	return 0;
}

int
store_process_read(const struct view *view, uint32_t run, uint32_t session, struct process_record *record,
                   struct portolan_error *error)
{
	struct store_key key = store_key_session(run, RUN_PROCESS, session);
	int rc = store_view_read(view, DB_RUN, &key, RECORD_PROCESS, record, sizeof(*record), error);

	if (rc == VIEW_ABSENT)
		*record = (struct process_record){0};
	return store_view_or_absent(rc);
}

int
store_counters(struct store *store, uint32_t run, struct store_counters *counters, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};
	struct store_key key = store_key_run(run, RUN_COUNTERS);
	uint64_t numbers[COUNTERS_MOST];
	size_t count;
	int rc = store_read_begin(store, &view, error)
	                 ?: store_counters_read(&view, &key, RECORD_COUNTERS, numbers, &count, error);

	if (!rc)
		memcpy(counters, numbers, sizeof(*counters));
	return rc;
}
