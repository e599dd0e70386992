/*
 * import_batch.c: a batch under construction, row-major logits beside its ids, and its way onto the wire.
 *
 * Rows the signals refuse are squeezed out before sending, in place, so that the order of lines is kept: of two lines
 * about one example the later one stays.
 */
#include "import_batch.h"

#include <portolan/error.h>
#include <signals.h>

#include <stdlib.h>
#include <string.h>

#define ROWS IMPORT_BATCH_ROWS

struct import_batch {
	size_t rows, classes;
	bool is_text;
	double *logits; /* rows × classes */
	size_t logit_room;
	uint64_t lines[ROWS];
	uint64_t integers[ROWS];
	char *texts[ROWS]; /* owned */
	int32_t gold[ROWS];
	float gold_prob[ROWS], margin[ROWS], other_sq[ROWS], entropy[ROWS], max_prob[ROWS];
	int32_t predicted[ROWS];
	uint8_t correct[ROWS], refused[ROWS];
	uint8_t bits[ROWS / 8];
	uint8_t text_ids[ROWS * 256];
};

struct import_batch *
import_batch_new(void)
{
	return calloc(1, sizeof(struct import_batch));
}

static void
clear(struct import_batch *batch)
{
	for (size_t r = 0; r < batch->rows; r++) {
		free(batch->texts[r]);
		batch->texts[r] = NULL;
	}
	batch->rows = 0;
}

void
import_batch_free(struct import_batch *batch)
{
	if (!batch)
		return;
	clear(batch);
	free(batch->logits);
	free(batch);
}

bool
import_batch_is_full(const struct import_batch *batch, const struct dynamics_row *row)
{
	return batch->rows > 0 && (batch->rows == ROWS || batch->classes != row->classes ||
	                           (batch->rows + 1) * batch->classes > IMPORT_BATCH_LOGITS);
}

int
import_batch_add(struct import_batch *batch, const struct dynamics_row *row, uint64_t line,
                 struct portolan_error *error)
{
	size_t r = batch->rows, used = r * row->classes;

	if (used + row->classes > batch->logit_room) {
		size_t room = 2 * (used + row->classes);
		double *logits = realloc(batch->logits, room * sizeof(*logits));

		if (!logits)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
		batch->logits = logits;
		batch->logit_room = room;
	}
	if (row->is_text && !(batch->texts[r] = strdup(row->text)))
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	memcpy(batch->logits + used, row->logits, row->classes * sizeof(*row->logits));
	batch->classes = row->classes;
	batch->is_text = row->is_text;
	batch->integers[r] = row->integer;
	batch->gold[r] = row->gold;
	batch->lines[r] = line;
	batch->rows++;
	return 0;
}

static void
derive(struct import_batch *batch)
{
	struct portolan_array logits = {
	        .data = batch->logits,
	        .type = PORTOLAN_F64,
	        .row_stride = (ptrdiff_t)(batch->classes * sizeof(double)),
	        .column_stride = sizeof(double),
	};
	struct signals_columns columns = {
	        .gold_prob = batch->gold_prob,
	        .margin = batch->margin,
	        .other_sq = batch->other_sq,
	        .entropy = batch->entropy,
	        .max_prob = batch->max_prob,
	        .predicted = batch->predicted,
	        .correct = batch->correct,
	};

	signals_from_logits(&logits, batch->rows, batch->classes, batch->gold, &columns, batch->refused);
}

static void
move_row(struct import_batch *batch, size_t to, size_t from)
{
	char *text = batch->texts[to];

	batch->integers[to] = batch->integers[from];
	batch->texts[to] = batch->texts[from];
	batch->texts[from] = text;
	batch->gold[to] = batch->gold[from];
	batch->gold_prob[to] = batch->gold_prob[from];
	batch->margin[to] = batch->margin[from];
	batch->other_sq[to] = batch->other_sq[from];
	batch->entropy[to] = batch->entropy[from];
	batch->max_prob[to] = batch->max_prob[from];
	batch->predicted[to] = batch->predicted[from];
	batch->correct[to] = batch->correct[from];
}

/* The rows not refused, to the front; answers how many. */
static size_t
squeeze(struct import_batch *batch, void (*refused)(void *context, uint64_t line), void *context)
{
	size_t kept = 0;

	for (size_t r = 0; r < batch->rows; r++) {
		if (batch->refused[r]) {
			refused(context, batch->lines[r]);
			continue;
		}
		if (kept != r)
			move_row(batch, kept, r);
		kept++;
	}
	return kept;
}

/* Length bytes, then the strings. */
static struct wire_bytes
pack_texts(struct import_batch *batch, size_t rows)
{
	size_t used = rows;

	for (size_t r = 0; r < rows; r++) {
		size_t size = strlen(batch->texts[r]);

		batch->text_ids[r] = (uint8_t)size;
		memcpy(batch->text_ids + used, batch->texts[r], size);
		used += size;
	}
	return (struct wire_bytes){batch->text_ids, used};
}

static struct wire_bytes
pack_bits(struct import_batch *batch, size_t rows)
{
	memset(batch->bits, 0, sizeof(batch->bits));
	for (size_t r = 0; r < rows; r++)
		batch->bits[r / 8] |= (uint8_t)((batch->correct[r] != 0) << (r % 8));
	return (struct wire_bytes){batch->bits, (rows + 7) / 8};
}

static void
add_column(struct wire_batch *frame, const char *name, enum wire_type type, const void *data, size_t size)
{
	frame->columns[frame->column_count++] =
	        (struct wire_column){.name = {(const uint8_t *)name, strlen(name)}, .type = type, .data = {data, size}};
}

static void
fill_frame(struct import_batch *batch, size_t rows, uint32_t epoch, struct wire_batch *frame)
{
	struct wire_bytes bits = pack_bits(batch, rows);

	*frame = (struct wire_batch){.epoch = epoch, .rows = (uint32_t)rows};
	if (batch->is_text) {
		frame->id_type = WIRE_STR;
		frame->ids = pack_texts(batch, rows);
	} else {
		frame->id_type = WIRE_U8;
		frame->ids = (struct wire_bytes){(const uint8_t *)batch->integers, rows * sizeof(uint64_t)};
	}
	add_column(frame, "gold_prob", WIRE_F4, batch->gold_prob, rows * sizeof(float));
	add_column(frame, "correct", WIRE_BIT, bits.data, bits.size);
	add_column(frame, "margin", WIRE_F4, batch->margin, rows * sizeof(float));
	add_column(frame, "other_sq", WIRE_F4, batch->other_sq, rows * sizeof(float));
	add_column(frame, "entropy", WIRE_F4, batch->entropy, rows * sizeof(float));
	add_column(frame, "max_prob", WIRE_F4, batch->max_prob, rows * sizeof(float));
	add_column(frame, "predicted", WIRE_I4, batch->predicted, rows * sizeof(int32_t));
	add_column(frame, "gold", WIRE_I4, batch->gold, rows * sizeof(int32_t));
}

int
import_batch_send(struct import_batch *batch, struct channel *channel, uint32_t epoch,
                  void (*refused)(void *context, uint64_t line), void *context, uint64_t *sent,
                  struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_BATCH};
	size_t rows;
	int result = 0;

	if (batch->rows == 0)
		return 0;
	derive(batch);
	rows = squeeze(batch, refused, context);
	if (rows > 0) {
		fill_frame(batch, rows, epoch, &frame.batch);
		result = channel_send(channel, &frame, error);
	}
	if (result == 0)
		*sent += rows;
	clear(batch);
	return result;
}
