/*
 * write_whole.c: runs that come into being as a whole or not at all.
 *
 * Such a run has everything a run has but its entry in `runs`, so nobody finds it by name. The transaction that gives
 * it the name takes the name from the run it replaces. Until then its state says that it is unnamed; one that is left
 * over, because its writer ended, is removed when the store is opened for writing again.
 */
#include "writer.h"

int
store_writer_publish(struct store_writer *writer, uint32_t run, struct portolan_error *error)
{
	struct run_state_record state;
	struct session_record first;
	struct store_run_info info;
	struct store_key name = {.size = 0};
	uint32_t other;
	int rc = store_writer_load(writer, run, 0, &state, &first, error);

	if (rc || state.state != STORE_RUN_UNNAMED)
		return rc;
	rc = store_catalog_info(&writer->view, run, &info, error);
	if (rc)
		return rc;
	store_key_add_bytes(&name, info.name, strlen(info.name));
	rc = store_catalog_find(&writer->view, info.name, strlen(info.name), &other, error);
	if (!rc && !(first.asked & SESSION_OVERWRITE))
		return error_set(
		        error, STORE_E_EXISTS,
		        "run '%s' was made by somebody else meanwhile: give another name, or ask for overwrite",
		        info.name);
	if (!rc)
		rc = store_writer_remove_run(writer, (struct store_text){info.name, strlen(info.name)}, error);
	if (rc == 0 || rc == VIEW_ABSENT)
		rc = store_writer_put(writer, DB_RUNS, &name, RECORD_RUN_NUMBER, &run, sizeof(run), error);
	state.state = STORE_RECORDING;
	return rc ? rc : store_writer_put_state(writer, run, &state, error);
}

int
store_writer_drop_unnamed(struct store_writer *writer, uint32_t run, struct portolan_error *error)
{
	struct run_state_record state;
	int rc = store_writer_begin(writer, error);

	if (!rc)
		rc = store_catalog_state(&writer->view, run, &state, error);
	if (rc || state.state != STORE_RUN_UNNAMED)
		return rc == STORE_E_NO_RUN ? 0 : rc;
	state.state = STORE_RUN_REMOVED;
	rc = store_writer_put_state(writer, run, &state, error);
	return rc ? rc : store_writer_list_removal(writer, run, STORE_EPOCH_RUN, 0, error);
}

/* The first unnamed run from number *run on; VIEW_ABSENT. What cannot be read is not one. */
static int
next_unnamed(struct store_writer *writer, uint32_t *run, struct portolan_error *error)
{
	struct store_key from = store_key_u32(*run);
	struct run_state_record state;
	struct view_walk walk;
	const uint8_t *key;
	int rc = store_walk_open(&walk, &writer->view, DB_RUN, &from, 0, error);

	if (rc)
		return rc;
	while ((rc = store_walk_next(&walk, error)) == 0) {
		key = walk.key.mv_data;
		if (walk.key.mv_size != 5 || key[4] != RUN_STATE)
			continue;
		*run = store_key_read_u32(key);
		if (store_catalog_state(&writer->view, *run, &state, NULL) == 0 && state.state == STORE_RUN_UNNAMED)
			break;
	}
	store_walk_close(&walk);
	return rc;
}

int
store_writer_drop_all_unnamed(struct store_writer *writer, struct portolan_error *error)
{
	uint32_t run = 0;
	int rc = store_writer_begin(writer, error);

	while (!rc && (rc = next_unnamed(writer, &run, error)) == 0)
		rc = store_writer_drop_unnamed(writer, run++, error);
	return rc == VIEW_ABSENT ? 0 : rc;
}
