/*
 * log_examples.c: portolan_log_examples(): gives the texts of examples, which the user asks to be kept, to the thread that
 * sends them. Everything is checked before anything is logged.
 *
 * Texts go through the same bounded frames as observations, so they are sent, spooled and acknowledged alike. A frame of
 * texts is packed as the wire has it, and takes no further rows.
 */
#include "run.h"

#include "batch.h"
#include "wire_check.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAMES_KEPT 1 /* frames left free, so that the end of an epoch need not wait */

/* The most that an example takes in a frame, beside its texts: its id, and a length for each text. */
#define EXAMPLE_MOST (WIRE_MAX_TEXTS + 1 + WIRE_MAX_NAME + 4 * WIRE_MAX_TEXT_FIELDS)
_Static_assert(EXAMPLE_MOST + WIRE_MAX_TEXT_FIELDS * (1 + WIRE_MAX_COLUMN_NAME) <= FRAMES_LEAST_BYTES,
               "an example fits a frame of the smallest pool");
_Static_assert(PORTOLAN_TEXT_FIELDS == WIRE_MAX_TEXT_FIELDS && PORTOLAN_TEXTS_BYTES == WIRE_MAX_TEXTS, "as documented");

static size_t
examples_length(const struct portolan_text_field *field, size_t row)
{
	return field->lengths ? field->lengths[row] : strnlen(field->texts[row], WIRE_MAX_TEXTS + 1);
}

/* The length of a text that is an id. */
static size_t
examples_id_length(const struct portolan_examples *examples, size_t row)
{
	return examples->string_lengths ? examples->string_lengths[row]
	                                : strnlen(examples->string_ids[row], WIRE_MAX_NAME + 1);
}

/* The example's id, for messages. */
static void
examples_print_id(const struct portolan_examples *examples, size_t row, char id[WIRE_MAX_NAME + 3])
{
	uint64_t integer;

	if (examples->string_ids) {
		snprintf(id, WIRE_MAX_NAME + 3, "'%.*s'", (int)examples_id_length(examples, row),
		         examples->string_ids[row]);
		return;
	}
	arrays_read_u64(&examples->ids, row, 1, &integer);
	snprintf(id, WIRE_MAX_NAME + 3, "%" PRIu64, integer);
}

static int
examples_check_fields(const struct portolan_examples *examples, struct portolan_error *error)
{
	if (examples->field_count == 0 || examples->field_count > WIRE_MAX_TEXT_FIELDS)
		return error_set(error, PORTOLAN_E_INVALID, "there are %zu fields of texts; a call takes 1 to %d",
		                 examples->field_count, WIRE_MAX_TEXT_FIELDS);
	for (size_t f = 0; f < examples->field_count; f++) {
		const char *name = examples->fields[f].name;

		if (!name || !wire_field_name_is_valid(name, strnlen(name, WIRE_MAX_COLUMN_NAME + 1)))
			return error_set(
			        error, PORTOLAN_E_INVALID,
			        "field '%.64s': a name is 1 to %d of A-Z, a-z, 0-9, _, begins with a letter, and is "
			        "not 'id'",
			        name ? name : "", WIRE_MAX_COLUMN_NAME);
		if (!examples->fields[f].texts)
			return error_set(error, PORTOLAN_E_INVALID, "field '%s': no texts", name);
		for (size_t g = 0; g < f; g++)
			if (strcmp(name, examples->fields[g].name) == 0)
				return error_set(error, PORTOLAN_E_INVALID, "field '%s' is there twice", name);
	}
	return 0;
}

static int
examples_check_row(const struct portolan_examples *examples, size_t row, struct portolan_error *error)
{
	char id[WIRE_MAX_NAME + 3];
	const char *name = NULL, *why = NULL;
	size_t bytes = 0;

	for (size_t f = 0; f < examples->field_count && !why; f++) {
		const struct portolan_text_field *field = &examples->fields[f];
		size_t length = field->texts[row] ? examples_length(field, row) : 0;

		name = field->name;
		bytes += length;
		if (!field->texts[row])
			why = "there is no text";
		else if (bytes > WIRE_MAX_TEXTS)
			why = "the example's texts have more than 61440 bytes together: log the part to be "
			      "shown";
		else if (!wire_prose_is_valid(field->texts[row], length))
			why = "it is not UTF-8, or has a null character";
	}
	if (!why)
		return 0;
	examples_print_id(examples, row, id);
	return error_set(error, PORTOLAN_E_INVALID, "field '%s': row %zu, id %s: %s", name, row, id, why);
}
_Static_assert(WIRE_MAX_TEXTS == 61440, "as the error says");

static int
examples_check(const struct portolan_run *run, const struct portolan_examples *examples, struct portolan_error *error)
{
	static const struct portolan_examples none;
	struct portolan_batch ids;
	int status;

	if (!examples)
		return error_set(error, PORTOLAN_E_INVALID, "examples is NULL");
	if (memcmp(examples->reserved, none.reserved, sizeof(none.reserved)) != 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s", batch_unknown);
	ids = (struct portolan_batch){.n = examples->n,
	                              .ids = examples->ids,
	                              .string_ids = examples->string_ids,
	                              .string_lengths = examples->string_lengths};
	status = examples_check_fields(examples, error);
	if (status == 0 && examples->n > 0)
		status = batch_check_ids(&ids, run->examples, error);
	for (size_t row = 0; row < examples->n && status == 0; row++)
		status = examples_check_row(examples, row, error);
	return status;
}

/* Finds how many rows from `first` on go into one frame, and the bytes of their ids and texts. */
static uint32_t
examples_count_piece(const struct portolan_run *run, const struct portolan_examples *examples, size_t first,
                     size_t *id_bytes, size_t *text_bytes)
{
	const size_t room = frames_data_size(&run->frames) - WIRE_MAX_TEXT_FIELDS * (1 + WIRE_MAX_COLUMN_NAME);
	uint32_t rows = 0;

	*id_bytes = *text_bytes = 0;
	while (first + rows < examples->n && rows < FRAMES_MOST_ROWS) {
		const size_t row = first + rows;
		const size_t id = examples->string_ids ? 1 + examples_id_length(examples, row) : sizeof(uint64_t);
		size_t texts = 0;

		for (size_t f = 0; f < examples->field_count; f++)
			texts += sizeof(uint32_t) + examples_length(&examples->fields[f], row);
		if (*id_bytes + *text_bytes + id + texts > room)
			break;
		*id_bytes += id;
		*text_bytes += texts;
		rows++;
	}
	return rows;
}

static void
examples_fill_ids(const struct portolan_examples *examples, size_t first, uint32_t rows, uint8_t *at)
{
	uint8_t *text = at + rows;

	if (!examples->string_ids) {
		arrays_read_u64(&examples->ids, first, rows, (uint64_t *)(void *)at);
		return;
	}
	for (uint32_t r = 0; r < rows; r++) {
		const size_t length = examples_id_length(examples, first + r);

		at[r] = (uint8_t)length;
		text = mempcpy(text, examples->string_ids[first + r], length);
	}
}

/* Packs rows into a frame: ids, then names, then texts. */
static void
examples_fill(const struct portolan_examples *examples, size_t first, uint32_t rows, size_t id_bytes, size_t text_bytes,
              struct frame *frame)
{
	uint8_t *at = frame->data + id_bytes;

	frame->shape.id_kind = examples->string_ids ? WIRE_ID_STR : WIRE_ID_INT;
	frame->packed.ids = (uint32_t)id_bytes;
	frame->packed.fields = (uint32_t)examples->field_count;
	frame->packed.texts = (uint32_t)text_bytes;
	examples_fill_ids(examples, first, rows, frame->data);
	for (size_t f = 0; f < examples->field_count; f++) {
		const size_t length = strlen(examples->fields[f].name);

		*at++ = (uint8_t)length;
		at = mempcpy(at, examples->fields[f].name, length);
	}
	for (uint32_t r = 0; r < rows; r++)
		for (size_t f = 0; f < examples->field_count; f++) {
			const uint32_t length = (uint32_t)examples_length(&examples->fields[f], first + r);

			at = mempcpy(at, &length, sizeof(length));
			if (length > 0)
				at = mempcpy(at, examples->fields[f].texts[first + r], length);
		}
}

/* Logs as many texts as one frame takes, from row *row on, and moves that; under log_mutex. Positive: done; 0: there is
 * no room, and the user wants no waiting. */
static int
examples_log_piece(struct portolan_run *run, const struct portolan_examples *examples, size_t *row,
                   struct portolan_error *error)
{
	int kind = examples->string_ids ? WIRE_ID_STR : WIRE_ID_INT, fixed = atomic_load(&run->id_kind);
	size_t id_bytes, text_bytes;
	uint32_t rows = examples_count_piece(run, examples, *row, &id_bytes, &text_bytes);
	struct frame *frame;

	if (fixed != WIRE_ID_NONE && fixed != kind)
		return error_set(error, PORTOLAN_E_INVALID, "ids: run %s has %s ids, and these are %s", run->name,
		                 fixed == WIRE_ID_INT ? "integer" : "string",
		                 kind == WIRE_ID_INT ? "integers" : "strings");
	run->waiting_since = 0;
	while (!(frame = frames_reserve_examples(&run->frames, FRAMES_KEPT))) {
		int status = run_wait_for_room(run, error);

		if (status <= 0)
			return status;
	}
	examples_fill(examples, *row, rows, id_bytes, text_bytes, frame);
	frames_commit_examples(&run->frames, frame, rows);
	atomic_store_explicit(&run->id_kind, kind, memory_order_relaxed);
	atomic_fetch_add(&run->texts, rows);
	*row += rows;
	return 1;
}

/* An earlier collector would end the session for a frame that it does not know; so none is sent to it. */
static int
examples_report_none_kept(struct portolan_run *run, struct portolan_error *error)
{
	if (run->strict)
		return error_set(error, PORTOLAN_E_REFUSED, "run %s: %s", run->name, session_no_texts);
	run_warn_no_texts(run);
	return 0;
}

int
portolan_log_examples(portolan_run *run, const struct portolan_examples *examples, struct portolan_error *error)
{
	size_t row = 0;
	int status = run_check(run, error);

	if (status == 0)
		status = examples_check(run, examples, error);
	if (status < 0 || examples->n == 0)
		return status;
	if (run_has_failed(run))
		return run_report_end(run, error);
	if (!run_is_offline(run) && !atomic_load(&run->takes_texts))
		return examples_report_none_kept(run, error);
	/* Between frames, other threads may log. */
	for (status = 1; status > 0 && row < examples->n;) {
		status = run_lock(run, error);
		if (status < 0)
			return status;
		status = examples_log_piece(run, examples, &row, error);
		run_unlock(run);
	}
	if (status == 0)
		fprintf(stderr, "portolan: run %s: no room: the texts of %zu examples are dropped\n", run->name,
		        examples->n - row);
	return status == PORTOLAN_E_ENDED ? run_report_end(run, error) : status < 0 ? status : 0;
}
