/*
 * write_session.c: writes and reads the sessions of a run in the store, for the collector. A session is what one client
 * records into one run. Its record has the number of the last frame that was stored, and its frontier: the client has
 * ended every epoch below that. Another record says which process the client is.
 */
#include "writer.h"

static int
session_put_process(struct store_writer *writer, uint32_t run, uint32_t session, const struct process_record *record,
                    struct portolan_error *error)
{
	struct store_key key = store_key_session(run, RUN_PROCESS, session);

	return store_writer_put(writer, DB_RUN, &key, RECORD_PROCESS, record, sizeof(*record), error);
}

int
store_writer_session(struct store_writer *writer, uint32_t run, const struct store_session_request *request,
                     uint32_t *session, struct portolan_error *error)
{
	struct store_key key = store_key_session_id(request->id, run);
	struct session_record record = {.started = request->started,
	                                .acknowledged = request->after,
	                                .rank = request->rank,
	                                .content = request->content};
	struct process_record process = {.process = request->process};
	struct run_state_record state;
	uint32_t number;
	int rc = store_writer_begin(writer, error) ?: store_catalog_state(&writer->view, run, &state, error);

	if (rc)
		return rc;
	rc = store_view_read(&writer->view, DB_SESSION_IDS, &key, RECORD_SESSION_NUMBER, &number, sizeof(number),
	                     error);
	if (rc == VIEW_ABSENT) {
		number = state.sessions++;
		memcpy(record.id, request->id, sizeof(record.id));
		record.asked = (uint16_t)((request->resume ? SESSION_RESUME : 0) |
		                          (request->overwrite ? SESSION_OVERWRITE : 0));
		rc = store_writer_put_state(writer, run, &state, error)
		     ?: store_writer_put_session(writer, run, number, &record, error)
		     ?: store_writer_put_session_id(writer, request->id, run, number, error);
		if (request->host.size)
			memcpy(process.host, request->host.data,
			       request->host.size < STORE_HOST ? request->host.size : STORE_HOST);
		if (!rc && (request->host.size || request->process))
			rc = session_put_process(writer, run, number, &process, error);
	}
	if (!rc)
		*session = number;
	return rc;
}

int
store_writer_process(struct store_writer *writer, uint32_t run, uint32_t session, struct store_process *process,
                     struct portolan_error *error)
{
	struct process_record record;
	int rc =
	        store_writer_begin(writer, error) ?: store_catalog_process(&writer->view, run, session, &record, error);

	if (rc)
		return rc;
	*process = (struct store_process){.process = record.process};
	memcpy(process->host, record.host, STORE_HOST);
	return 0;
}

int
store_writer_beside(struct store_writer *writer, uint32_t run, uint32_t session, uint32_t other,
                    struct portolan_error *error)
{
	struct process_record record;
	int rc =
	        store_writer_begin(writer, error) ?: store_catalog_process(&writer->view, run, session, &record, error);

	if (rc || record.beside)
		return rc;
	record.beside = other + 1;
	return session_put_process(writer, run, session, &record, error);
}

/* A session that several runs know (its run was overwritten) belongs to the newest one. */
int
store_writer_find_session(struct store_writer *writer, const uint8_t id[16], uint32_t *run, uint32_t *session,
                          struct portolan_error *error)
{
	const struct store_key from = store_key_session_id(id, 0);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	const uint8_t *body;
	bool found = false;
	size_t size;
	int rc = store_writer_begin(writer, error)
	                 ?: store_walk_open(&walk, &writer->view, DB_SESSION_IDS, &from, 16, error);

	while (!rc && (rc = store_walk_record(&walk, RECORD_SESSION_NUMBER, &body, &size, error)) == 0) {
		uint32_t number =
		        walk.key.mv_size == 20 ? store_key_read_u32((const uint8_t *)walk.key.mv_data + 16) : 0;
		struct run_state_record state;

		if (store_catalog_state(&writer->view, number, &state, NULL) != 0 || size != 4)
			continue;
		*run = number;
		*session = load_u32(body);
		found = true;
	}
	if (rc < 0)
		return rc;
	return found ? 0 : error_set(error, STORE_E_NO_RUN, "store '%s' does not know this session", writer->directory);
}

int
store_writer_session_info(struct store_writer *writer, uint32_t run, uint32_t session, struct store_session_info *info,
                          struct portolan_error *error)
{
	struct session_record record;
	int rc = store_writer_load(writer, run, session, NULL, &record, error);

	if (rc)
		return rc;
	*info = (struct store_session_info){.started = record.started,
	                                    .rank = record.rank,
	                                    .acknowledged = record.acknowledged,
	                                    .frontier = record.frontier,
	                                    .live = record.live != 0,
	                                    .observations = record.observations,
	                                    .replaced = record.replaced,
	                                    .refused = record.refused,
	                                    .content = record.content};
	memcpy(info->id, record.id, sizeof(info->id));
	return 0;
}

int
store_writer_session_live(struct store_writer *writer, uint32_t run, uint32_t session, bool live,
                          struct portolan_error *error)
{
	struct session_record record;
	int rc = store_writer_load(writer, run, session, NULL, &record, error);

	if (rc || (record.live != 0) == live)
		return rc;
	record.live = live;
	return store_writer_put_session(writer, run, session, &record, error);
}

int
store_writer_end_epoch(struct store_writer *writer, uint32_t run, uint32_t session, uint64_t sequence,
                       uint64_t frontier, struct portolan_error *error)
{
	struct session_record record;
	int rc = store_writer_load(writer, run, session, NULL, &record, error);

	if (rc)
		return rc;
	record.frontier = frontier > record.frontier ? frontier : record.frontier;
	record.acknowledged = sequence > record.acknowledged ? sequence : record.acknowledged;
	return store_writer_put_session(writer, run, session, &record, error);
}
