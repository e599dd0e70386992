/*
 * import_batch.c: a batch under construction, row-major logits beside its ids, and its way onto the wire.
 *
 * Rows that the signals refuse are dropped before sending, in place, so that the order of lines is kept: of two lines
 * about one example the later one stays. The signals of the others are then derived again, which is rare.
 */
#include "import_batch.h"

#include <portolan/error.h>
#include <signals.h>

#include <stdlib.h>
#include <string.h>

#define ROWS 4096u
#define LOGITS 262144u        /* numbers; a row with more is a batch of its own */
#define BYTES (252u << 10)    /* of ids and columns in a frame, which has at most 256 KiB */
#define ROW_BYTES (7 * 4 + 1) /* of the columns, one bit rounded up */

struct import_batch {
	size_t rows, classes, bytes;
	bool is_text;
	double *logits; /* rows × classes */
	size_t logit_room;
	uint64_t lines[ROWS];
	uint64_t integers[ROWS];
	char texts[ROWS][WIRE_MAX_NAME + 1];
	int32_t gold[ROWS];
	float gold_prob[ROWS], margin[ROWS], other_sq[ROWS], entropy[ROWS], max_prob[ROWS];
	int32_t predicted[ROWS];
	uint8_t correct[ROWS], refused[ROWS];
	uint8_t bits[ROWS / 8];
	uint8_t text_ids[BYTES];
};

struct import_batch *
import_batch_new(void)
{
	return calloc(1, sizeof(struct import_batch));
}

void
import_batch_free(struct import_batch *batch)
{
	if (batch)
		free(batch->logits);
	free(batch);
}

static size_t
row_bytes(const struct dynamics_row *row)
{
	return ROW_BYTES + (row->is_text ? 1 + strlen(row->text) : sizeof(row->integer));
}

bool
import_batch_is_full(const struct import_batch *batch, const struct dynamics_row *row)
{
	return batch->rows > 0 &&
	       (batch->rows == ROWS || batch->classes != row->classes || (batch->rows + 1) * batch->classes > LOGITS ||
	        batch->bytes + row_bytes(row) > BYTES);
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
	memcpy(batch->logits + used, row->logits, row->classes * sizeof(*row->logits));
	if (row->is_text)
		strcpy(batch->texts[r], row->text);
	batch->classes = row->classes;
	batch->is_text = row->is_text;
	batch->integers[r] = row->integer;
	batch->gold[r] = row->gold;
	batch->lines[r] = line;
	batch->bytes += row_bytes(row);
	batch->rows++;
	return 0;
}

/* Answers how many rows are refused. */
static size_t
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

	return signals_from_logits(&logits, batch->rows, batch->classes, batch->gold, &columns, batch->refused);
}

static void
drop_refused(struct import_batch *batch, void (*refused)(void *context, uint64_t line), void *context)
{
	size_t kept = 0;

	for (size_t r = 0; r < batch->rows; r++) {
		if (batch->refused[r]) {
			refused(context, batch->lines[r]);
			continue;
		}
		memmove(batch->logits + kept * batch->classes, batch->logits + r * batch->classes,
		        batch->classes * sizeof(*batch->logits));
		memmove(batch->texts[kept], batch->texts[r], sizeof(*batch->texts));
		batch->integers[kept] = batch->integers[r];
		batch->gold[kept] = batch->gold[r];
		kept++;
	}
	batch->rows = kept;
}

/* Length bytes, then the strings. */
static struct wire_bytes
pack_texts(struct import_batch *batch)
{
	size_t used = batch->rows;

	for (size_t r = 0; r < batch->rows; r++) {
		size_t size = strlen(batch->texts[r]);

		batch->text_ids[r] = (uint8_t)size;
		memcpy(batch->text_ids + used, batch->texts[r], size);
		used += size;
	}
	return (struct wire_bytes){batch->text_ids, used};
}

static struct wire_bytes
pack_bits(struct import_batch *batch)
{
	memset(batch->bits, 0, sizeof(batch->bits));
	for (size_t r = 0; r < batch->rows; r++)
		batch->bits[r / 8] |= (uint8_t)((batch->correct[r] != 0) << (r % 8));
	return (struct wire_bytes){batch->bits, (batch->rows + 7) / 8};
}

static void
add_column(struct wire_batch *frame, const char *name, enum wire_type type, const void *data)
{
	frame->columns[frame->column_count++] = (struct wire_column){
	        .name = {(const uint8_t *)name, strlen(name)}, .type = type, .data = {data, frame->rows * 4}};
}

static void
fill_frame(struct import_batch *batch, uint32_t epoch, struct wire_batch *frame)
{
	*frame = (struct wire_batch){.epoch = epoch, .rows = (uint32_t)batch->rows};
	frame->id_type = batch->is_text ? WIRE_STR : WIRE_U8;
	frame->ids = batch->is_text
	                     ? pack_texts(batch)
	                     : (struct wire_bytes){(const uint8_t *)batch->integers, batch->rows * sizeof(uint64_t)};
	add_column(frame, "gold_prob", WIRE_F4, batch->gold_prob);
	add_column(frame, "correct", WIRE_BIT, NULL);
	frame->columns[1].data = pack_bits(batch);
	add_column(frame, "margin", WIRE_F4, batch->margin);
	add_column(frame, "other_sq", WIRE_F4, batch->other_sq);
	add_column(frame, "entropy", WIRE_F4, batch->entropy);
	add_column(frame, "max_prob", WIRE_F4, batch->max_prob);
	add_column(frame, "predicted", WIRE_I4, batch->predicted);
	add_column(frame, "gold", WIRE_I4, batch->gold);
}

int
import_batch_send(struct import_batch *batch, struct channel *channel, uint32_t epoch,
                  void (*refused)(void *context, uint64_t line), void *context, uint64_t *sent,
                  struct portolan_error *error)
{
	struct wire_frame frame = {.kind = WIRE_BATCH};
	int result = 0;

	if (batch->rows > 0 && derive(batch) > 0) {
		drop_refused(batch, refused, context);
		derive(batch);
	}
	if (batch->rows > 0) {
		fill_frame(batch, epoch, &frame.batch);
		result = channel_send(channel, &frame, error);
	}
	if (result == 0)
		*sent += batch->rows;
	batch->rows = batch->bytes = 0;
	return result;
}
