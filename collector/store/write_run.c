/*
 * write_run.c: creates, joins, removes and lists the runs of a store, for the collector and for salvages.
 *
 * A run's number is never used again, so records left under the number of a removed run, or appended late by one of its
 * sessions, can never be taken for another run's.
 *
 * A run that is to appear as a whole has all records of a run but the entry in `runs`, so it is not found by name. The
 * transaction that gives it the name takes the name from the run that it replaces. Until then its state says that it is
 * unnamed. If the writer ends before, the run is removed when the store is next opened for writing.
 */
#include "writer.h"

#include <stdlib.h>
#include <time.h>

static int
run_put_name(struct store_writer *writer, struct store_text name, uint32_t run, struct portolan_error *error)
{
	const struct store_key key = store_key_bytes(name.data, name.size);

	return store_writer_put(writer, DB_RUNS, &key, RECORD_RUN_NUMBER, &run, sizeof(run), error);
}

static int
run_take_number(struct store_writer *writer, uint32_t *run, struct portolan_error *error)
{
	const struct store_key key = store_key_bytes("next-run", 8);
	uint32_t next = 1, after;
	int rc = store_view_read(&writer->view, DB_META, &key, RECORD_RUN_NUMBER, &next, sizeof(next), error);

	if (rc < 0)
		return rc;
	after = next + 1;
	rc = store_writer_put(writer, DB_META, &key, RECORD_RUN_NUMBER, &after, sizeof(after), error);
	if (!rc)
		*run = next;
	return rc;
}

static int
run_put_identity(struct store_writer *writer, uint32_t run, const struct store_run_request *request,
                 struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_IDENTITY);
	struct run_identity_record identity = {.mode = (uint32_t)request->mode,
	                                       .name_size = (uint32_t)request->name.size,
	                                       .group_size = (uint32_t)request->group.size,
	                                       .config_size = (uint32_t)request->config.size,
	                                       .label_count = request->label_count,
	                                       .created = (int64_t)time(NULL)};
	const struct store_part parts[] = {{&identity, sizeof(identity)},
	                                   {request->name.data, request->name.size},
	                                   {request->group.data, request->group.size},
	                                   {request->config.data, request->config.size}};

	return store_writer_put_parts(writer, DB_RUN, &key, RECORD_RUN_IDENTITY, parts, 4, error);
}

static int
run_put_labels(struct store_writer *writer, uint32_t run, const struct store_run_request *request,
               struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_LABELS);
	uint64_t count = request->label_count;
	size_t length = RECORD_HEADER + 8 + 4 * request->label_count;
	uint32_t end = 0;
	uint8_t *record;
	int rc;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		length += request->labels[i].size;
	rc = store_writer_reserve(writer, DB_RUN, &key, length, &record, error);
	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &count, sizeof(count));
	for (size_t i = 0; i < count; i++) {
		if (request->labels[i].size)
			memcpy(record + RECORD_HEADER + 8 + 4 * count + end, request->labels[i].data,
			       request->labels[i].size);
		end += (uint32_t)request->labels[i].size;
		memcpy(record + RECORD_HEADER + 8 + 4 * i, &end, sizeof(end));
	}
	store_record_seal(record, &key, RECORD_LABELS, length);
	return 0;
}

static int
run_create(struct store_writer *writer, const struct store_run_request *request, uint32_t *run,
           struct portolan_error *error)
{
	struct run_state_record state = {.state = request->whole ? STORE_RUN_UNNAMED : STORE_RECORDING,
	                                 .id_kind = request->examples ? STORE_ID_INT : STORE_ID_NONE,
	                                 .rows = request->examples,
	                                 .declared = request->examples};
	uint32_t number;
	int rc = run_take_number(writer, &number, error);

	if (!rc && !request->whole)
		rc = run_put_name(writer, request->name, number, error);
	rc = rc
	     ?: store_writer_put_state(writer, number, &state, error)
	     ?: run_put_identity(writer, number, request, error)
	     ?: run_put_labels(writer, number, request, error);
	if (!rc)
		*run = number;
	return rc;
}

static int
run_check_request(const struct store_run_request *request, struct portolan_error *error)
{
	if (request->name.size < 1 || request->name.size > 255 || request->group.size > 255)
		return error_set(error, STORE_E_DIFFERS, "names of runs and groups have at most 255 bytes");
	if (request->examples > STORE_MAX_EXAMPLES)
		return error_set(error, STORE_E_DIFFERS, "run '%.*s': %llu examples are more than a run can have (%u)",
		                 (int)request->name.size, request->name.data, (unsigned long long)request->examples,
		                 STORE_MAX_EXAMPLES);
	return 0;
}

static int
run_check_same(const struct store_run_info *info, const struct store_run_request *request, struct portolan_error *error)
{
	if (info->mode != request->mode)
		return error_set(error, STORE_E_DIFFERS,
		                 "run '%s' is measured in mode %s: continue it in that mode, or give another name",
		                 info->name, info->mode == PORTOLAN_TRAIN_FORWARD ? "train-forward" : "epoch-end");
	if (info->declared != request->examples)
		return error_set(
		        error, STORE_E_DIFFERS,
		        "run '%s' declares %llu examples, not %llu: continue it with the same number (0: not declared)",
		        info->name, (unsigned long long)info->declared, (unsigned long long)request->examples);
	return 0;
}

int
store_writer_run(struct store_writer *writer, const struct store_run_request *request, uint32_t *run,
                 struct portolan_error *error)
{
	struct store_run_info info;
	enum join join;
	uint32_t number;
	int rc = run_check_request(request, error)
	         ?: store_writer_begin(writer, error)
	         ?: store_catalog_find(&writer->view, request->name.data, request->name.size, &number, error);

	if (rc == VIEW_ABSENT)
		return run_create(writer, request, run, error);
	if (rc)
		return rc;
	rc = store_catalog_info(&writer->view, number, &info, error)
	             ?: store_join(writer, &info, request, &join, error);
	if (rc == STORE_E_CORRUPT && request->overwrite && !request->late) { /* no session can join it any more */
		join = request->whole ? JOIN_BESIDE : JOIN_REPLACES;
		rc = 0;
	}
	if (rc)
		return rc;
	if (join == JOIN_SESSION) {
		rc = run_check_same(&info, request, error);
		if (!rc)
			*run = number;
		return rc;
	}
	if (join == JOIN_REFUSED)
		return error_set(error, STORE_E_EXISTS,
		                 request->late ? "run '%s' exists, and is another one: portolan import the spool under "
		                                 "another name, with --run NAME, or in its place, with --overwrite"
		                 : request->whole
		                         ? "run '%s' exists: portolan import under another name, with --run NAME, "
		                           "or in its place, with --overwrite"
		                         : "run '%s' exists: give another name, or ask for resume or overwrite",
		                 info.name);
	if (join == JOIN_REPLACES)
		rc = store_writer_remove_run(writer, request->name, error);
	return rc ?: run_create(writer, request, run, error);
}

/* Marks the run as removed; store_writer_collect() deletes its records later. */
static int
run_mark_removed(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                 struct portolan_error *error)
{
	int rc;

	state->state = STORE_RUN_REMOVED;
	rc = store_writer_put_state(writer, run, state, error);
	return rc ?: store_writer_list_removal(writer, run, STORE_EPOCH_RUN, 0, error);
}

int
store_writer_remove_run(struct store_writer *writer, struct store_text name, struct portolan_error *error)
{
	const struct store_key key = store_key_bytes(name.data, name.size < KEY_MAX ? name.size : KEY_MAX);
	struct run_state_record state;
	uint32_t run = 0;
	int rc = store_writer_begin(writer, error)
	                 ?: store_catalog_find(&writer->view, name.data, name.size, &run, error);

	if (rc == VIEW_ABSENT)
		return error_set(error, STORE_E_NO_RUN, "no run '%.*s' in store '%s'; `portolan runs` lists them",
		                 (int)name.size, name.data, writer->directory);
	if (!rc)
		rc = store_catalog_state(&writer->view, run, &state, error);
	if (rc == STORE_E_CORRUPT && run) { /* a run that cannot be read can still be removed */
		state = (struct run_state_record){0};
		rc = 0;
	}
	if (rc)
		return rc;
	rc = store_writer_delete(writer, DB_RUNS, &key, error);
	return rc ?: run_mark_removed(writer, run, &state, error);
}

int
store_writer_publish(struct store_writer *writer, uint32_t run, struct portolan_error *error)
{
	struct run_state_record state;
	struct session_record first;
	struct store_run_info info;
	struct store_text name;
	uint32_t other;
	int rc = store_writer_load(writer, run, 0, &state, &first, error);

	if (rc || state.state != STORE_RUN_UNNAMED)
		return rc;
	rc = store_catalog_info(&writer->view, run, &info, error);
	if (rc)
		return rc;
	name = (struct store_text){info.name, strlen(info.name)};
	rc = store_catalog_find(&writer->view, name.data, name.size, &other, error);
	if (!rc && !(first.asked & SESSION_OVERWRITE))
		return error_set(
		        error, STORE_E_EXISTS,
		        "run '%s' was made by somebody else meanwhile: give another name, or ask for overwrite",
		        info.name);
	if (!rc)
		rc = store_writer_remove_run(writer, name, error);
	if (rc == 0 || rc == VIEW_ABSENT)
		rc = run_put_name(writer, name, run, error);
	state.state = STORE_RECORDING;
	return rc ?: store_writer_put_state(writer, run, &state, error);
}

int
store_writer_drop_unnamed(struct store_writer *writer, uint32_t run, struct portolan_error *error)
{
	struct run_state_record state;
	int rc = store_writer_begin(writer, error) ?: store_catalog_state(&writer->view, run, &state, error);

	if (rc || state.state != STORE_RUN_UNNAMED)
		return rc == STORE_E_NO_RUN ? 0 : rc;
	return run_mark_removed(writer, run, &state, error);
}

/* The first run from `from` on that has records of its own; 0: there is none. */
static int
run_next(struct store_writer *writer, uint32_t from, uint32_t *run, struct portolan_error *error)
{
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	const struct store_key key = store_key_u32(from);
	int rc = store_walk_open(&walk, &writer->view, DB_RUN, &key, 0, error) ?: store_walk_next(&walk, error);

	*run = !rc && walk.key.mv_size >= sizeof(*run) ? store_key_read_u32(walk.key.mv_data) : 0;
	return store_view_or_absent(rc);
}

/* Removes the runs that never got their name. One that cannot be read stays: it may have a name. A run may have very many
 * texts, so it goes from run to run, and does not read all that there is of each. */
int
store_writer_drop_all_unnamed(struct store_writer *writer, struct portolan_error *error)
{
	struct run_state_record state;
	uint32_t run = 0, next;
	int rc = store_writer_begin(writer, error);

	while (!rc && run < UINT32_MAX && !(rc = run_next(writer, run + 1, &next, error)) && next > run) {
		run = next;
		if (store_catalog_state(&writer->view, run, &state, NULL) == 0 && state.state == STORE_RUN_UNNAMED)
			rc = run_mark_removed(writer, run, &state, error);
	}
	return rc;
}

int
store_writer_run_info(struct store_writer *writer, uint32_t run, struct store_run_info *info,
                      struct portolan_error *error)
{
	int rc = store_writer_begin(writer, error);

	return rc ?: store_catalog_info(&writer->view, run, info, error);
}

int
store_writer_set_state(struct store_writer *writer, uint32_t run, enum store_state new_state,
                       struct portolan_error *error)
{
	struct run_state_record state;
	int rc = store_writer_begin(writer, error) ?: store_catalog_state(&writer->view, run, &state, error);

	if (rc || state.state == (uint32_t)new_state || state.state == STORE_RUN_UNNAMED)
		return rc;
	state.state = (uint32_t)new_state;
	return store_writer_put_state(writer, run, &state, error);
}

static int
run_visit(struct store_writer *writer, const struct store_run_info *run, const struct store_each *each,
          struct portolan_error *error)
{
	const struct store_key key = store_key_bytes(run->name, strlen(run->name));
	struct run_state_record state;
	int rc = store_writer_begin(writer, error); /* run() may have committed when it was called for another run */

	if (rc)
		return rc;
	if (run->number == 0)
		return store_view_corrupt(&writer->view, DB_RUNS, key.data, key.size, error);
	rc = store_catalog_state(&writer->view, run->number, &state, error);
	return rc ?: each->run(each->context, run->number, state.sessions, error);
}

/* The runs are listed first, so that run() may change the store. */
int
store_writer_each_run(struct store_writer *writer, const struct store_each *each, struct portolan_error *error)
{
	struct store_run_info *runs = NULL;
	size_t count = 0;
	int rc = store_writer_begin(writer, error) ?: store_catalog_runs(&writer->view, &runs, &count, error);

	if (rc)
		return rc;
	for (size_t i = 0; i < count && !rc; i++) {
		struct portolan_error what = {.message = ""};

		rc = run_visit(writer, &runs[i], each, &what);
		/* A later run's damage must not take this with it. A commit that fails leaves the run as it was. */
		if (!rc && store_writer_pending(writer) > 0)
			(void)store_writer_commit(writer, NULL);
		if (store_writer_is_spoilt(writer))
			store_writer_abort(writer);
		if (rc == STORE_E_CORRUPT && each->damaged) {
			each->damaged(each->context, runs[i].name, runs[i].number, what.message);
			rc = 0;
		} else if (rc && what.message[0]) {
			error_set(error, rc, "%s", what.message);
		}
	}
	free(runs);
	return rc;
}
