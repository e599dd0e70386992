/*
 * salvage_again.c: stores anew, for a salvage, the observations that are left of a damaged run. They go into another
 * run as those of clients do: ids get new indices, and everything that counts them is made anew.
 *
 * Each example has one observation in an epoch, the one that had won. Sessions keep their numbers, ids and starts, so
 * that what a client sends later is compared with them as before. At the end the run gets what only its old records
 * know: when it was made, and what the collector had counted while recording it.
 */
#include "salvage_parts.h"

#include "chunk.h"
#include "rows.h"
#include "texts.h"

#include <portolan/error.h>

#include <stdlib.h>

#define FOLD_MEMORY ((size_t)256 << 20)

struct salvage_again {
	const struct salvage_copy *copy;
	uint32_t run; /* the run that gets the observations */
	uint64_t *sequences;
	char (*user_columns)[USER_COLUMN_NAME];
	uint32_t user_count;
	uint32_t rows[STORE_CHUNK]; /* of the batch */
	uint8_t *data;              /* values of the batch's columns */
	uint64_t integers[STORE_CHUNK];
	uint8_t *text;
};

/* Asks for the run as its first session did, as far as its identity is left. */
static int
again_make_run(struct salvage_again *again, struct portolan_error *error)
{
	const struct salvage_copy *copy = again->copy;
	const struct view *view = &copy->writer->view;
	struct store_run_request request = {
	        .name = {copy->name, strlen(copy->name)}, .examples = copy->state.declared, .whole = true};
	struct run_identity_record identity;
	struct store_text *labels = NULL;
	char **names = NULL, *copied = NULL;
	const uint8_t *texts;
	uint64_t count = 0;
	int rc = store_catalog_labels(view, copy->run, &names, &count, NULL);

	if (rc == 0 && count && (labels = calloc(count, sizeof(*labels)))) {
		for (uint64_t i = 0; i < count; i++)
			labels[i] = (struct store_text){names[i], strlen(names[i])};
		request.labels = labels;
		request.label_count = count;
	}
	if (store_catalog_identity(view, copy->run, &identity, &texts, NULL) == 0 &&
	    (copied = malloc((size_t)identity.group_size + identity.config_size + 1))) {
		memcpy(copied, texts + identity.name_size, (size_t)identity.group_size + identity.config_size);
		request.mode = (enum portolan_mode)identity.mode;
		request.group = (struct store_text){copied, identity.group_size};
		request.config = (struct store_text){copied + identity.group_size, identity.config_size};
	}
	rc = store_writer_run(copy->writer, &request, &again->run, error);
	free(copied);
	free(labels);
	free(names);
	return rc;
}

static int
again_make_sessions(struct salvage_again *again, struct portolan_error *error)
{
	const struct salvage_copy *copy = again->copy;
	int rc = 0;

	for (uint32_t i = 0; i < copy->state.sessions && !rc; i++) {
		struct store_session_request request = {.rank = 0};
		struct session_record session;
		uint32_t number;

		rc = store_catalog_session(&copy->writer->view, copy->run, i, &session, error);
		if (rc)
			return rc;
		memcpy(request.id, session.id, sizeof(request.id));
		rc = store_writer_session(copy->writer, again->run, &request, &number, error);
	}
	return rc;
}

int
salvage_again_begin(struct salvage_copy *copy, struct salvage_again **again, struct portolan_error *error)
{
	struct salvage_again *begun = calloc(1, sizeof(*begun));
	int rc;

	if (begun) {
		begun->copy = copy;
		begun->sequences = calloc((size_t)copy->state.sessions + 1, sizeof(*begun->sequences));
		begun->data = malloc((size_t)STORE_COLUMN_MAX * STORE_CHUNK * 4);
		begun->text = malloc((size_t)STORE_CHUNK * 256);
		*again = begun;
	}
	if (!begun || !begun->sequences || !begun->data || !begun->text)
		return store_view_no_memory(&copy->writer->view, error);
	rc = store_catalog_user_columns(&copy->writer->view, copy->run, &begun->user_count, &begun->user_columns, NULL);
	if (rc == STORE_E_MEMORY)
		return store_view_no_memory(&copy->writer->view, error);
	rc = again_make_run(begun, error);
	copy->again = begun->run;
	return rc ?: again_make_sessions(begun, error);
}

void
salvage_again_free(struct salvage_again *again)
{
	if (!again)
		return;
	free(again->sequences);
	free(again->user_columns);
	free(again->data);
	free(again->text);
	free(again);
}

/* The columns that a row has; gold comes from the values kept per example. */
static uint64_t
again_columns_of(const struct merge_chunk *image, const struct merge_chunk *examples, uint32_t row)
{
	uint64_t columns = 0;

	for (uint64_t mask = image->columns & ~STORE_COLUMN_BIT(STORE_SESSION); mask; mask &= mask - 1)
		if (column_is_implied(mask_first(mask)) || bit_get(image->present[mask_first(mask)], row))
			columns |= mask & -mask;
	if (examples->columns & STORE_COLUMN_BIT(STORE_GOLD) && bit_get(examples->present[STORE_GOLD], row))
		columns |= STORE_COLUMN_BIT(STORE_GOLD);
	return columns;
}

/* Lays out the ids of the batch's rows as a client sends ids. */
static void
again_gather_ids(struct salvage_again *again, const struct salvage_ids *ids, struct store_append *append)
{
	uint8_t *text = again->text + append->rows;

	append->id_kind = ids->kind;
	append->id_size = ids->kind == STORE_ID_STR ? 1 : 8;
	append->ids = ids->kind == STORE_ID_STR ? (const void *)again->text : again->integers;
	for (uint32_t i = 0; i < append->rows; i++) {
		const uint32_t row = again->rows[i];

		if (ids->kind == STORE_ID_STR) {
			again->text[i] = ids->sizes[row];
			text = mempcpy(text, ids->strings[row], ids->sizes[row]);
		} else {
			again->integers[i] = ids->integers[row];
		}
	}
	append->ids_bytes = ids->kind == STORE_ID_STR ? (size_t)(text - again->text) : (size_t)append->rows * 8;
}

/* The values of one column; false: its name is lost. */
static bool
again_gather_column(struct salvage_again *again, unsigned column, const struct merge_chunk *image, uint32_t rows,
                    struct store_append_column *given)
{
	const char *name = column < STORE_COLUMN_USER ? store_column_name(column) : NULL;
	uint8_t *data = again->data + (size_t)column * STORE_CHUNK * 4;

	if (column >= STORE_COLUMN_USER && column - STORE_COLUMN_USER < again->user_count)
		name = again->user_columns[column - STORE_COLUMN_USER];
	if (!name)
		return false;
	*given = (struct store_append_column){
	        .name = {name, strlen(name)}, .type = store_column_type(column), .data = data};
	store_rows_fill(data, image->values[column], column, again->rows, rows, UINT32_MAX);
	return true;
}

static int
again_append_rows(struct salvage_again *again, uint32_t session, uint64_t columns, struct store_append *append,
                  const struct merge_chunk *image, const struct merge_chunk *examples, struct portolan_error *error)
{
	struct store_append_column given[STORE_COLUMN_MAX];
	uint32_t refused;

	append->sequence = ++again->sequences[session];
	append->columns = given;
	for (uint64_t mask = columns; mask; mask &= mask - 1) {
		const unsigned column = mask_first(mask);

		append->column_count += again_gather_column(again, column, column == STORE_GOLD ? examples : image,
		                                            append->rows, &given[append->column_count]);
	}
	return store_writer_append(again->copy->writer, again->run, session, append, &refused, error);
}

int
salvage_again_put(struct salvage_again *again, uint32_t epoch, const struct merge_chunk *image,
                  const struct merge_chunk *examples, const struct salvage_ids *ids, struct portolan_error *error)
{
	const uint32_t *sessions = image->values[STORE_SESSION];
	uint64_t waiting[STORE_CHUNK_WORDS];
	int rc = 0;

	for (size_t i = 0; i < STORE_CHUNK_WORDS; i++)
		waiting[i] = image->present[STORE_GOLD_PROB][i] & ids->known[i];
	for (uint32_t first = 0; first < image->rows && !rc; first++) {
		struct store_append append = {.epoch = epoch};
		uint64_t columns;

		if (!bit_get(waiting, first))
			continue;
		/* One batch takes all rows of this session that have the same columns. */
		columns = again_columns_of(image, examples, first);
		for (uint32_t row = first; row < image->rows; row++) {
			if (!bit_get(waiting, row) || sessions[row] != sessions[first] ||
			    again_columns_of(image, examples, row) != columns)
				continue;
			again->rows[append.rows++] = row;
			bit_clear(waiting, row);
		}
		again_gather_ids(again, ids, &append);
		rc = again_append_rows(again, sessions[first], columns, &append, image, examples, error);
	}
	return rc;
}

/* Copies a part of the run, if it is there. */
static int
again_keep_part(const struct salvage_again *again, struct store_key from, enum record_kind kind,
                struct portolan_error *error)
{
	struct store_writer *writer = again->copy->writer;
	struct store_key to = store_key_u32(again->run);
	const uint8_t *body;
	uint8_t *copied;
	size_t size;
	int rc = store_view_get(&writer->view, DB_RUN, &from, kind, &body, &size, NULL);

	if (rc)
		return rc == VIEW_ABSENT || rc == STORE_E_CORRUPT ? 0 : rc;
	store_key_add_bytes(&to, from.data + 4, from.size - 4);
	copied = malloc(size + 1);
	if (!copied)
		return store_view_no_memory(&writer->view, error);
	memcpy(copied, body, size);
	rc = store_writer_put(writer, DB_RUN, &to, kind, copied, size, error);
	free(copied);
	return rc;
}

/* Gives the sessions the numbers that they had, so that clients do not send again what was acknowledged. */
static int
again_keep_sessions(const struct salvage_again *again, struct portolan_error *error)
{
	const struct salvage_copy *copy = again->copy;
	int rc = 0;

	for (uint32_t i = 0; i < copy->state.sessions && !rc; i++) {
		struct session_record session;

		rc = store_catalog_session(&copy->writer->view, copy->run, i, &session, error)
		     ?: store_writer_put_session(copy->writer, again->run, i, &session, error)
		     ?: again_keep_part(again, store_key_session(copy->run, RUN_CLIENT, i), RECORD_CLIENT, error)
		     ?: again_keep_part(again, store_key_session(copy->run, RUN_PROCESS, i), RECORD_PROCESS, error);
	}
	return rc;
}

/* Keeps the next texts of examples, by ascending id, as many as a transaction takes. *at: the key of the last one. */
static int
again_keep_some_texts(const struct salvage_again *again, struct store_key *at, bool *more, struct portolan_error *error)
{
	struct store_writer *writer = again->copy->writer;
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	const uint8_t *body;
	size_t size;
	int rc = store_walk_open(&walk, &writer->view, DB_RUN, at, store_key_run(0, RUN_TEXT).size, error);

	for (*more = false; !rc && !*more && (rc = store_walk_record(&walk, RECORD_TEXT, &body, &size, error)) == 0;) {
		CLEANUP_FREE uint8_t *copied = malloc(size + 1);
		struct store_key to;
		struct text_record texts;

		if (!copied)
			return store_view_no_memory(&writer->view, error);
		if (walk.key.mv_size == at->size && memcmp(walk.key.mv_data, at->data, at->size) == 0)
			continue; /* the last one of before */
		memcpy(copied, body, size);
		*at = store_key_bytes(walk.key.mv_data, walk.key.mv_size);
		to = store_key_text(again->run, at->data + 5, at->size - 5);
		if (store_text_open(copied, size, &texts))
			rc = store_writer_keep_text(writer, again->run, &to, &texts, error);
		*more = store_writer_pending(writer) > SALVAGE_COMMIT_BYTES;
	}
	return store_view_or_absent(rc);
}

/* Keeps the texts of examples, under the same ids. */
static int
again_keep_texts(const struct salvage_again *again, struct portolan_error *error)
{
	struct store_key at = store_key_run(again->copy->run, RUN_TEXT);
	bool more = true;
	int rc = 0;

	while (!rc && more) {
		rc = again_keep_some_texts(again, &at, &more, error);
		if (!rc && more)
			rc = store_writer_commit(again->copy->writer, error)
			             ?: store_writer_begin(again->copy->writer, error);
	}
	return rc;
}

static int
again_fold_all(struct salvage_again *again, struct portolan_error *error)
{
	struct store_writer *writer = again->copy->writer;
	struct store_log_epoch epoch = {.rows = 1};
	int rc = 0;

	for (uint64_t from = 0; !rc; from = (uint64_t)epoch.epoch + 1) {
		struct store_fold *fold = NULL;
		bool done = false, more;

		rc = store_writer_next_log(writer, again->run, from, STORE_EPOCH_RUN, &epoch, error);
		if (rc || !epoch.rows)
			return rc;
		rc = store_fold_begin(writer, again->run, epoch.epoch, FOLD_MEMORY, &fold, error);
		while (!rc && !done)
			rc = store_fold_step(fold, &done, error);
		store_fold_free(fold);
		rc = rc ?: store_writer_collect(writer, &more, error);
	}
	return rc;
}

int
salvage_again_finish(struct salvage_again *again, const struct store_left *left, struct portolan_error *error)
{
	const struct store_counters more = {.left = *left};
	const struct salvage_copy *copy = again->copy;
	struct run_state_record state;
	int rc = again_fold_all(again, error)
	         ?: store_writer_begin(copy->writer, error)
	         ?: again_keep_part(again, store_key_run(copy->run, RUN_IDENTITY), RECORD_RUN_IDENTITY, error)
	         ?: again_keep_part(again, store_key_run(copy->run, RUN_COUNTERS), RECORD_COUNTERS, error)
	         ?: store_writer_count(copy->writer, again->run, &more, error)
	         ?: again_keep_sessions(again, error)
	         ?: again_keep_texts(again, error)
	         ?: store_catalog_state(&copy->writer->view, again->run, &state, error);

	if (rc)
		return rc;
	state.replaced = copy->state.replaced;
	state.refused = copy->state.refused;
	state.changed_labels = copy->state.changed_labels;
	return store_writer_put_state(copy->writer, again->run, &state, error);
}
