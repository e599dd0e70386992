/*
 * write_append.c: stores a client's batch of observations, for the collector: appends it to the log of its epoch.
 *
 * First it finds every error, without writing. Then ids get their indices, refused rows are left out, and the record is
 * filled in LMDB's own page. Of a batch whose rows are all refused, only the sequence number and the counts are stored.
 */
#include "writer.h"

#include "chunk.h"
#include "rows.h"

#include <portolan/wire.h>

#include <assert.h>
#include <stdlib.h>

static bool
append_text_is(const struct store_text *text, const char *name)
{
	return strlen(name) == text->size && memcmp(name, text->data, text->size) == 0;
}

/* The number of a column by its name; an unknown name becomes the next user column. Negative: STORE_E_… */
static int
append_resolve_name(struct store_writer *writer, uint32_t run, const struct store_text *name,
                    struct append_columns *resolved, struct portolan_error *error)
{
	const uint32_t most = STORE_COLUMN_MAX - STORE_COLUMN_USER;

	for (unsigned column = 0; column <= STORE_TASK_LOSS; column++)
		if (column != STORE_SESSION && append_text_is(name, store_column_name(column)))
			return (int)column;
	if (!resolved->user_names) {
		int rc = store_catalog_user_columns(&writer->view, run, &resolved->user_count, &resolved->user_names,
		                                    error);

		if (rc)
			return rc;
	}
	if (!resolved->user_names && !(resolved->user_names = calloc(most, USER_COLUMN_NAME)))
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", writer->directory);
	for (uint32_t i = 0; i < resolved->user_count; i++)
		if (append_text_is(name, resolved->user_names[i]))
			return STORE_COLUMN_USER + (int)i;
	if (name->size == 0 || name->size >= USER_COLUMN_NAME || append_text_is(name, "session"))
		return error_set(error, STORE_E_DIFFERS, "a column cannot be named '%.*s'", (int)name->size,
		                 name->data);
	if (resolved->user_count == most)
		return error_set(error, STORE_E_DIFFERS,
		                 "column '%.*s' is one more than the %u of their own a run can have", (int)name->size,
		                 name->data, most);
	memcpy(resolved->user_names[resolved->user_count], name->data, name->size);
	resolved->user_new = true;
	return STORE_COLUMN_USER + (int)resolved->user_count++;
}

/* A run records losses, or probabilities of labels, from its first observations on. Losses have zeros in the columns that
 * every observation has, which take no room once they are folded. */
static int
append_check_kind(uint64_t of_run, struct append_columns *resolved, struct portolan_error *error)
{
	static const uint8_t zeros[(size_t)WIRE_MAX_ROWS * sizeof(float)];
	const uint64_t required = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT);
	const bool losses = store_is_of_losses(resolved->columns);

	if (of_run != 0 && store_is_of_losses(of_run) != losses)
		return error_set(
		        error, STORE_E_DIFFERS, "the run records %s, and these are %s: give them a run of their own",
		        losses ? "probabilities of labels" : "losses", losses ? "losses" : "probabilities of labels");
	if (losses) { /* as many as a frame or a chunk may have: the zeros are enough */
		resolved->columns |= required;
		resolved->data[STORE_GOLD_PROB] = resolved->data[STORE_CORRECT] = zeros;
	} else if ((resolved->columns & required) != required) {
		return error_set(error, STORE_E_DIFFERS,
		                 "a batch needs the columns gold_prob and correct, or task_loss");
	}
	return 0;
}

static int
append_resolve_columns(struct store_writer *writer, uint32_t run, uint64_t of_run, const struct store_append *append,
                       struct append_columns *resolved, struct portolan_error *error)
{
	*resolved = (struct append_columns){0};
	for (size_t i = 0; i < append->column_count; i++) {
		const struct store_append_column *given = &append->columns[i];
		int column = append_resolve_name(writer, run, &given->name, resolved, error);

		if (column < 0)
			return column;
		if ((int)given->type != store_column_type((unsigned)column))
			return error_set(error, STORE_E_DIFFERS, "column '%.*s' has another element type",
			                 (int)given->name.size, given->name.data);
		if (resolved->columns & STORE_COLUMN_BIT(column))
			return error_set(error, STORE_E_DIFFERS, "column '%.*s' is given twice", (int)given->name.size,
			                 given->name.data);
		resolved->columns |= STORE_COLUMN_BIT(column);
		resolved->data[column] = given->data;
	}
	return append_check_kind(of_run, resolved, error);
}

static int
append_check_ids(const struct run_state_record *state, const struct store_append *append, struct portolan_error *error)
{
	if (state->id_kind != STORE_ID_NONE && (uint32_t)append->id_kind != state->id_kind)
		return error_set(error, STORE_E_DIFFERS,
		                 "the run has %s ids: send the same kind, or give the run another name",
		                 state->id_kind == STORE_ID_STR ? "string" : "integer");
	if (append->id_kind == STORE_ID_STR) {
		size_t bytes = append->rows;

		for (uint32_t row = 0; row < append->rows && append->rows <= append->ids_bytes; row++)
			bytes += ((const uint8_t *)append->ids)[row];
		if (bytes != append->ids_bytes)
			return error_set(error, STORE_E_DIFFERS,
			                 "the lengths of the string ids do not add up to their bytes");
	} else if (append->id_kind != STORE_ID_INT || (append->id_size != 4 && append->id_size != 8) ||
	           append->ids_bytes != (size_t)append->rows * append->id_size) {
		return error_set(error, STORE_E_DIFFERS, "ids are neither integers of 4 or 8 bytes nor strings");
	}
	return 0;
}

/* The first index, if the indices are consecutive; else BATCH_SCATTERED. */
static uint32_t
append_first_index(const uint32_t *index, uint32_t count)
{
	uint32_t other = 0;

	for (uint32_t i = 0; i < count; i++)
		other |= index[i] ^ (index[0] + i);
	return other ? BATCH_SCATTERED : index[0];
}

static int
append_put_batch(struct store_writer *writer, uint32_t run, const struct store_append *append,
                 const struct append_columns *resolved, const struct batch_record *head, uint64_t position,
                 struct portolan_error *error)
{
	struct store_key key = store_key_log(run, append->epoch, position);
	bool scattered = head->first == BATCH_SCATTERED;
	size_t length = store_batch_size(head->rows, head->columns, scattered);
	uint8_t *record, *at;
	int rc = store_writer_reserve(writer, DB_LOG, &key, length, &record, error);

	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, head, sizeof(*head));
	at = record + RECORD_HEADER + sizeof(*head);
	if (scattered) {
		memcpy(at, writer->index, (size_t)head->rows * 4);
		pad_zero(at, (size_t)head->rows * 4);
		at += pad8((size_t)head->rows * 4);
	}
	for (uint64_t mask = head->columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		store_rows_fill(at, resolved->data[column], column, writer->kept, head->rows, append->rows);
		pad_zero(at, column_bytes(column, head->rows));
		at += pad8(column_bytes(column, head->rows));
	}
	store_record_seal(record, &key, RECORD_BATCH, length);
	return 0;
}

/* Appends the kept rows to the epoch's log and counts them. */
static int
append_put_rows(struct store_writer *writer, uint32_t run, uint32_t session, const struct store_append *append,
                const struct append_columns *resolved, uint32_t count, struct run_state_record *state,
                struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, append->epoch);
	const struct batch_record head = {.session = session,
	                                  .rows = count,
	                                  .sequence = append->sequence,
	                                  .columns = resolved->columns,
	                                  .first = append_first_index(writer->index, count)};
	struct epoch_record epoch;
	int rc = store_catalog_epoch(&writer->view, run, append->epoch, &epoch, error)
	                 ?: append_put_batch(writer, run, append, resolved, &head, epoch.log_end, error);

	if (rc)
		return rc;
	state->epochs += epoch.observations == 0 && epoch.log_rows == 0;
	state->log_rows += count;
	state->columns |= resolved->columns;
	state->id_kind = (uint32_t)append->id_kind;
	epoch.log_end++;
	epoch.log_rows += count;
	epoch.log_bytes += store_batch_size(count, resolved->columns, head.first == BATCH_SCATTERED);
	epoch.columns |= resolved->columns;
	return store_writer_put(writer, DB_EPOCHS, &key, RECORD_EPOCH, &epoch, sizeof(epoch), error);
}

static int
append_put_user_columns(struct store_writer *writer, uint32_t run, const struct append_columns *resolved,
                        struct portolan_error *error)
{
	struct store_key key = store_key_run(run, RUN_USER_COLUMNS);
	const struct user_columns_record head = {.count = resolved->user_count};
	uint8_t names[STORE_COLUMN_MAX - STORE_COLUMN_USER][USER_COLUMN_NAME];
	const struct store_part parts[] = {{&head, sizeof(head)}, {names, (size_t)head.count * USER_COLUMN_NAME}};

	for (uint32_t i = 0; i < head.count; i++) {
		names[i][0] = (uint8_t)strlen(resolved->user_names[i]);
		memcpy(names[i] + 1, resolved->user_names[i], USER_COLUMN_NAME - 1); /* the record's padding is zeros */
	}
	return store_writer_put_parts(writer, DB_RUN, &key, RECORD_USER_COLUMNS, parts, 2, error);
}

/* Counts refused observations, by reason, for the run and for the store. */
static int
append_count_refused(struct store_writer *writer, uint32_t run, const uint64_t refusals[STORE_REFUSALS],
                     struct portolan_error *error)
{
	struct store_counters counters = {0};
	int rc;

	memcpy(counters.refused, refusals, STORE_REFUSALS * sizeof(*refusals));
	rc = store_writer_count(writer, run, &counters, error);
	return rc ?: store_writer_count(writer, 0, &counters, error);
}

int
store_writer_append(struct store_writer *writer, uint32_t run, uint32_t session, const struct store_append *append,
                    uint32_t *refused, struct portolan_error *error)
{
	struct run_state_record state;
	struct session_record record;
	uint64_t refusals[STORE_REFUSALS] = {0};
	struct append_columns resolved = {0};
	struct portolan_error misfit = {.message = ""};
	uint32_t count = 0;
	int rc = store_writer_load(writer, run, session, &state, &record, error), fits;

	if (rc)
		return rc;
	assert(append->epoch != STORE_EPOCH_RUN);
	/* The batch is stored: a commit that seemed to fail had reached the disk. */
	if (append->sequence <= record.acknowledged) {
		*refused = 0;
		return 0;
	}
	assert(append->sequence == record.acknowledged + 1);
	fits = append_check_ids(&state, append, &misfit);
	if (!fits)
		fits = append_resolve_columns(writer, run, state.columns, append, &resolved, &misfit);
	if (!fits)
		rc = store_rows_choose(writer, run, &state, append, &resolved, &count, refusals, error);
	else if (fits == STORE_E_DIFFERS)
		refusals[STORE_REFUSED_BATCH] = append->rows;
	else
		rc = error_set(error, fits, "%s", misfit.message);
	if (!rc && count && resolved.user_new)
		rc = append_put_user_columns(writer, run, &resolved, error);
	if (!rc && count)
		rc = append_put_rows(writer, run, session, append, &resolved, count, &state, error);
	free(resolved.user_names);
	if (rc)
		return rc;
	record.acknowledged = append->sequence;
	record.observations += count;
	record.refused += append->rows - count;
	state.refused += append->rows - count;
	rc = store_writer_put_state(writer, run, &state, error)
	             ?: store_writer_put_session(writer, run, session, &record, error);
	if (!rc && count < append->rows)
		rc = append_count_refused(writer, run, refusals, error);
	if (rc)
		return rc;
	*refused = append->rows - count;
	return fits ? error_set(error, fits, "%s", misfit.message) : 0;
}

int
store_writer_next_log(struct store_writer *writer, uint32_t run, uint64_t from, uint64_t to,
                      struct store_log_epoch *epoch, struct portolan_error *error)
{
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct run_state_record state;
	struct epoch_record record;
	struct store_key start;
	uint32_t number;
	int rc = store_writer_begin(writer, error) ?: store_catalog_state(&writer->view, run, &state, error);

	*epoch = (struct store_log_epoch){.rows = 0};
	if (rc || from >= STORE_EPOCH_RUN)
		return rc;
	start = store_key_u32_u32(run, (uint32_t)from);
	store_walk_open(&walk, &writer->view, DB_EPOCHS, &start, 4, error);
	do {
		rc = store_catalog_next_epoch(&walk, &number, &record, error);
	} while (!rc && number < to && record.log_rows == 0);
	if (!rc && number < to)
		*epoch = (struct store_log_epoch){.epoch = number,
		                                  .rows = record.log_rows,
		                                  .bytes = record.log_bytes,
		                                  .folded = record.observations};
	return store_view_or_absent(rc);
}
