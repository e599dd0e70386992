/*
 * write_texts.c: stores the texts of examples that a client sends, for the collector: one record for each example. A
 * record of the run counts them, so that a run has no more than is allowed.
 *
 * Of two texts of an example the later stays, by the rule that holds for observations: by the sessions' starts, and
 * within a session by the order of the frames.
 */
#include "texts.h"
#include "writer.h"

#include <portolan/cleanup.h>

#include <assert.h>
#include <endian.h>
#include <stdlib.h>

/* Reads the ids of a frame, one after another. */
struct id_reader {
	const struct store_append_texts *append;
	size_t text; /* where the next string begins */
	uint64_t swapped, integer;
};

static void
texts_next_id(struct id_reader *reader, uint32_t row, const void **id, size_t *size)
{
	const struct store_append_texts *append = reader->append;
	const uint8_t *ids = append->ids;

	if (append->id_kind == STORE_ID_STR) {
		*id = ids + append->rows + reader->text;
		*size = ids[row];
		reader->text += ids[row];
		return;
	}
	reader->integer = append->id_size == 4 ? load_u32(ids + 4 * (size_t)row) : load_u64(ids + 8 * (size_t)row);
	reader->swapped = htobe64(reader->integer);
	*id = &reader->swapped;
	*size = sizeof(reader->swapped);
}

/* Is the session `with`, which is another one than `session`, the later of the two? One that cannot be read is not. */
static bool
texts_session_is_later(struct store_writer *writer, uint32_t run, uint32_t with, const struct session_record *session)
{
	struct session_record other;

	if (store_catalog_session(&writer->view, run, with, &other, NULL) != 0)
		return false;
	if (other.started != session->started)
		return other.started > session->started;
	if (other.rank != session->rank)
		return other.rank > session->rank;
	return memcmp(other.id, session->id, sizeof(other.id)) > 0;
}

/* Writes how many texts the run has now, after some were written. */
static int
texts_put_total(struct store_writer *writer, uint32_t run, const struct store_texts *texts,
                struct portolan_error *error)
{
	const struct store_key key = store_key_run(run, RUN_TEXTS);
	const struct texts_record head = {.examples = texts->examples,
	                                  .bytes = texts->bytes,
	                                  .count = (uint32_t)texts->field_count,
	                                  .writes = texts->writes + 1};
	uint8_t names[STORE_TEXT_FIELDS][TEXT_NAME_ROOM] = {{0}};
	const struct store_part parts[] = {{&head, sizeof(head)}, {names, (size_t)head.count * TEXT_NAME_ROOM}};

	for (size_t f = 0; f < texts->field_count; f++) {
		names[f][0] = (uint8_t)strlen(texts->fields[f]);
		memcpy(names[f] + 1, texts->fields[f], names[f][0]);
	}
	return store_writer_put_parts(writer, DB_RUN, &key, RECORD_TEXTS, parts, 2, error);
}

/* Adds a field to those of the run, unless it is there. */
static int
texts_note_field(struct store_texts *total, const char *name, size_t size, struct portolan_error *error)
{
	for (size_t f = 0; f < total->field_count; f++)
		if (strlen(total->fields[f]) == size && memcmp(total->fields[f], name, size) == 0)
			return 0;
	if (size == 0 || size > STORE_TEXT_NAME)
		return error_set(error, STORE_E_DIFFERS, "a field of texts cannot be named '%.*s'", (int)size, name);
	if (total->field_count == STORE_TEXT_FIELDS)
		return error_set(error, STORE_E_DIFFERS,
		                 "field '%.*s' is one more than the %d that a run can have texts of", (int)size, name,
		                 STORE_TEXT_FIELDS);
	memcpy(total->fields[total->field_count++], name, size);
	return 0;
}

/* What an example has already: nothing (`is_there` false), or a record of so many bytes, whole or damaged, which stays if
 * a later session has logged it. */
struct before {
	bool is_there, stays;
	size_t size;
};

/* `session` NULL: what is there does not stay. */
static int
texts_look(struct store_writer *writer, uint32_t run, const struct store_key *key, uint32_t number,
           const struct session_record *session, struct before *before, struct portolan_error *error)
{
	struct text_record texts;
	const uint8_t *body;
	size_t size;
	const int rc = store_view_get(&writer->view, DB_RUN, key, RECORD_TEXT, &body, &size, NULL);

	if (rc < 0 && (rc != STORE_E_CORRUPT || store_writer_is_spoilt(writer)))
		return error_set(error, rc, "store '%s': the texts of an example cannot be read", writer->directory);
	*before = (struct before){.is_there = rc != VIEW_ABSENT, .size = rc == 0 ? RECORD_HEADER + size : 0};
	if (rc == STORE_E_CORRUPT)
		before->size = store_view_size(&writer->view, DB_RUN, key);
	before->stays = rc == 0 && session && store_text_open(body, size, &texts) && texts.session != number &&
	                texts_session_is_later(writer, run, texts.session, session);
	return 0;
}

/* Stores the texts of an example, unless a later session has logged some. Counts them in `total`. `session` NULL: in any
 * case. */
static int
texts_put_example(struct store_writer *writer, uint32_t run, const struct store_key *key,
                  const struct text_record *texts, const struct session_record *session, struct store_texts *total,
                  struct portolan_error *error)
{
	const size_t length = store_text_size(texts);
	struct before before;
	uint8_t *record;
	int rc = texts_look(writer, run, key, texts->session, session, &before, error);

	if (rc || before.stays)
		return rc;
	total->examples += !before.is_there;
	total->bytes -= total->bytes >= before.size ? before.size : 0;
	total->bytes += length;
	rc = store_writer_reserve(writer, DB_RUN, key, length, &record, error);
	if (rc)
		return rc;
	store_text_fill(record, texts);
	store_record_seal(record, key, RECORD_TEXT, length);
	return 0;
}

/* Begins the record of the frame's examples, whose texts texts_take_row() sets. */
static struct text_record
texts_begin(const struct store_append_texts *append, uint32_t session)
{
	struct text_record texts = {.session = session, .count = append->field_count};

	for (size_t f = 0; f < append->field_count; f++) {
		texts.fields[f].name = append->fields[f].data;
		texts.fields[f].name_size = append->fields[f].size;
	}
	return texts;
}

/* Takes the texts of one row; returns where those of the next begin. */
static const uint8_t *
texts_take_row(const uint8_t *at, struct text_record *texts)
{
	for (size_t f = 0; f < texts->count; f++) {
		texts->fields[f].size = load_u32(at);
		texts->fields[f].text = (const char *)at + sizeof(uint32_t);
		at += sizeof(uint32_t) + texts->fields[f].size;
	}
	return at;
}

/* A row of a frame: the id of its example, as in the key, and the bytes of its record. */
struct row {
	const void *id; /* a string; NULL: `integer` */
	uint64_t integer;
	uint32_t size, number;
	size_t length;
};

static const void *
texts_id_of(const struct row *row)
{
	return row->id ?: &row->integer;
}

/* Orders rows by id, and those of one id as they came. */
static int
texts_compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	const int differs = memcmp(texts_id_of(a), texts_id_of(b), a->size < b->size ? a->size : b->size);

	if (differs || a->size != b->size)
		return differs ?: a->size < b->size ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Sets the ids and lengths of all rows; returns the sum of the lengths. `rows` NULL: only that. */
static uint64_t
texts_measure(const struct store_append_texts *append, struct row *rows)
{
	struct text_record texts = texts_begin(append, 0);
	struct id_reader reader = {.append = append};
	const uint8_t *at = append->texts;
	uint64_t sum = 0;

	for (uint32_t r = 0; r < append->rows; r++) {
		const void *id;
		size_t size;

		at = texts_take_row(at, &texts);
		sum += store_text_size(&texts);
		if (!rows)
			continue;
		texts_next_id(&reader, r, &id, &size);
		rows[r] = (struct row){.integer = reader.swapped, .size = (uint32_t)size, .number = r};
		rows[r].id = append->id_kind == STORE_ID_STR ? id : NULL;
		rows[r].length = store_text_size(&texts);
	}
	return sum;
}

/* Computes how many bytes of texts the run will have: of each example the frame's last record counts, and what it takes
 * the place of does not. */
static int
texts_reckon(struct store_writer *writer, uint32_t run, uint32_t number, const struct session_record *session,
             const struct store_append_texts *append, uint64_t *bytes, struct portolan_error *error)
{
	CLEANUP_FREE struct row *rows = calloc(append->rows + UINT64_C(1), sizeof(*rows));
	int rc = 0;

	if (!rows)
		return error_set(error, STORE_E_MEMORY, "out of memory");
	texts_measure(append, rows);
	qsort(rows, append->rows, sizeof(*rows), texts_compare_rows);
	for (uint32_t r = 0; r < append->rows && !rc; r++) {
		const struct row *row = &rows[r];
		const struct store_key key = store_key_text(run, texts_id_of(row), row->size);
		struct before before;

		if (r + 1 < append->rows && row->size == row[1].size &&
		    memcmp(texts_id_of(row), texts_id_of(row + 1), row->size) == 0)
			continue; /* the example comes again */
		rc = texts_look(writer, run, &key, number, session, &before, error);
		if (rc || before.stays)
			continue;
		*bytes -= *bytes >= before.size ? before.size : 0;
		*bytes += row->length;
	}
	return rc;
}

/* May the run have the texts of the frame, too? If not: STORE_E_DIFFERS. */
static int
texts_check_bytes(struct store_writer *writer, uint32_t run, uint32_t number, const struct session_record *session,
                  const struct store_append_texts *append, uint64_t now, uint64_t most, struct portolan_error *error)
{
	uint64_t bytes = now + texts_measure(append, NULL);

	if (bytes > most) { /* perhaps only because what is replaced counts, too */
		int rc;

		bytes = now;
		rc = texts_reckon(writer, run, number, session, append, &bytes, error);
		if (rc)
			return rc;
	}
	if (bytes <= most)
		return 0;
	return error_set(error, STORE_E_DIFFERS,
	                 "texts of %u examples are not kept: the run has %llu bytes of texts, and may have %llu "
	                 "(portoland --max-texts)",
	                 append->rows, (unsigned long long)now, (unsigned long long)most);
}

static int
texts_check(const struct run_state_record *state, const struct store_append_texts *append, struct store_texts *total,
            struct portolan_error *error)
{
	struct id_reader reader = {.append = append};
	const void *id;
	size_t size;

	if (state->id_kind != STORE_ID_NONE && (uint32_t)append->id_kind != state->id_kind)
		return error_set(error, STORE_E_DIFFERS, "texts are not kept: the run has %s ids, and theirs are %s",
		                 state->id_kind == STORE_ID_STR ? "string" : "integer",
		                 append->id_kind == STORE_ID_STR ? "strings" : "integers");
	for (uint32_t row = 0; row < append->rows && state->declared; row++) {
		texts_next_id(&reader, row, &id, &size);
		if (reader.integer >= state->declared)
			return error_set(
			        error, STORE_E_DIFFERS,
			        "texts are not kept: id %llu is beyond the %llu examples that the run declares",
			        (unsigned long long)reader.integer, (unsigned long long)state->declared);
	}
	for (size_t f = 0; f < append->field_count; f++) {
		int rc = texts_note_field(total, append->fields[f].data, append->fields[f].size, error);

		if (rc)
			return rc;
	}
	return 0;
}

static int
texts_put_examples(struct store_writer *writer, uint32_t run, uint32_t session, const struct session_record *record,
                   const struct store_append_texts *append, struct store_texts *total, struct portolan_error *error)
{
	struct text_record texts = texts_begin(append, session);
	struct id_reader reader = {.append = append};
	const uint8_t *at = append->texts;
	int rc = 0;

	for (uint32_t row = 0; row < append->rows && !rc; row++) {
		struct store_key key;
		const void *id;
		size_t size;

		texts_next_id(&reader, row, &id, &size);
		key = store_key_text(run, id, size);
		at = texts_take_row(at, &texts);
		rc = texts_put_example(writer, run, &key, &texts, record, total, error);
	}
	return rc;
}

/* Counts examples whose texts are refused, for the run and for the store. */
static int
texts_count_refused(struct store_writer *writer, uint32_t run, uint32_t rows, struct portolan_error *error)
{
	const struct store_counters counters = {.texts_refused = rows};
	int rc = store_writer_count(writer, run, &counters, error);

	return rc ?: store_writer_count(writer, 0, &counters, error);
}

int
store_writer_texts(struct store_writer *writer, uint32_t run, uint32_t session, const struct store_append_texts *append,
                   uint64_t most, struct portolan_error *error)
{
	struct portolan_error misfit = {.message = ""};
	struct store_texts total;
	struct run_state_record state;
	struct session_record record;
	int rc = store_writer_load(writer, run, session, &state, &record, error), fits;

	if (rc)
		return rc;
	if (append->sequence <= record.acknowledged)
		return 0;
	assert(append->sequence == record.acknowledged + 1);
	rc = store_catalog_texts(&writer->view, run, &total, error);
	if (rc)
		return rc;
	fits = texts_check(&state, append, &total, &misfit)
	               ?: texts_check_bytes(writer, run, session, &record, append, total.bytes, most, &misfit);
	if (fits && fits != STORE_E_DIFFERS)
		return error_set(error, fits, "%s", misfit.message);
	if (!fits) {
		rc = texts_put_examples(writer, run, session, &record, append, &total, error)
		             ?: texts_put_total(writer, run, &total, error);
		state.id_kind = (uint32_t)append->id_kind;
		rc = rc ?: store_writer_put_state(writer, run, &state, error);
	} else {
		rc = texts_count_refused(writer, run, append->rows, error);
	}
	record.acknowledged = append->sequence;
	rc = rc ?: store_writer_put_session(writer, run, session, &record, error);
	return rc ?: fits ? error_set(error, fits, "%s", misfit.message) : 0;
}

int
store_writer_keep_text(struct store_writer *writer, uint32_t run, const struct store_key *key,
                       const struct text_record *texts, struct portolan_error *error)
{
	struct portolan_error ignored;
	struct store_texts total;
	int rc = store_catalog_texts(&writer->view, run, &total, error);

	for (size_t f = 0; f < texts->count && !rc; f++)
		if (texts_note_field(&total, texts->fields[f].name, texts->fields[f].name_size, &ignored))
			return 0;
	return rc
	       ?: texts_put_example(writer, run, key, texts, NULL, &total, error)
	       ?: texts_put_total(writer, run, &total, error);
}
