/*
 * fuzz_wire: bytes from a stranger to the frame decoder. Whatever decodes must lie inside the input, keep the limits of
 * wire.h, and come back the same after encoding and decoding again.
 */
#include "fuzz.h"

#include <portolan/wire.h>

static void
touch_bytes(struct wire_bytes bytes)
{
	touch(bytes.data, bytes.size);
}

static void
check_batch(const struct wire_batch *batch)
{
	require(batch->rows <= WIRE_MAX_ROWS && batch->column_count <= WIRE_MAX_COLUMNS &&
	        batch->epoch <= WIRE_MAX_EPOCH);
	touch_bytes(batch->ids);
	for (size_t c = 0; c < batch->column_count; c++) {
		const struct wire_column *column = &batch->columns[c];

		require(column->name.size > 0 && column->name.size <= WIRE_MAX_COLUMN_NAME);
		require(column->data.size ==
		        (column->type == WIRE_BIT ? (batch->rows + 7) / 8 : (size_t)batch->rows * 4));
		touch_bytes(column->name);
		touch_bytes(column->data);
	}
}

static void
check_examples(const struct wire_examples *examples)
{
	size_t at = 0;

	require(examples->rows >= 1 && examples->rows <= WIRE_MAX_ROWS);
	require(examples->field_count >= 1 && examples->field_count <= WIRE_MAX_TEXT_FIELDS);
	touch_bytes(examples->ids);
	touch_bytes(examples->texts);
	for (size_t f = 0; f < examples->field_count; f++)
		require(wire_field_name_is_valid(examples->fields[f].data, examples->fields[f].size));
	for (uint32_t row = 0; row < examples->rows; row++) {
		size_t bytes = 0;

		for (size_t f = 0; f < examples->field_count; f++) {
			const struct wire_bytes text = wire_next_text(examples->texts, &at);

			require(wire_prose_is_valid(text.data, text.size));
			bytes += text.size;
		}
		require(bytes <= WIRE_MAX_TEXTS);
	}
	require(at == examples->texts.size);
}

static void
check_open(const struct wire_open *open)
{
	require(open->label_count <= WIRE_MAX_LABELS && open->config.size <= WIRE_MAX_CONFIG);
	require(wire_name_is_valid(open->run.data, open->run.size, false));
	require(wire_name_is_valid(open->group.data, open->group.size, true));
	for (size_t i = 0; i < open->label_count; i++)
		require(wire_name_is_valid(open->labels[i].data, open->labels[i].size, true));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static wire_decoder *decoder, *again;
	static wire_encoder *encoder;
	struct portolan_error error = {0};
	struct wire_frame frame, second;
	enum wire_error_code code;
	struct wire_bytes bytes;

	if (!decoder) {
		decoder = wire_decoder_new();
		again = wire_decoder_new();
		encoder = wire_encoder_new();
		require(decoder && again && encoder);
	}
	if (wire_decode(decoder, data, size, &frame, &code, &error) < 0) {
		require_line(&error, error.code);
		return 0;
	}
	require((frame.sequence > 0) == (frame.kind == WIRE_BATCH || frame.kind == WIRE_END_EPOCH ||
	                                 frame.kind == WIRE_CLOSE || frame.kind == WIRE_EXAMPLES));
	if (frame.kind == WIRE_EXAMPLES)
		check_examples(&frame.examples);
	if (frame.kind == WIRE_BATCH)
		check_batch(&frame.batch);
	if (frame.kind == WIRE_OPEN)
		check_open(&frame.open);
	if (frame.kind == WIRE_ERROR && frame.error.code == WIRE_E_OTHER)
		return 0; /* a code this version does not know cannot be written again */
	require(wire_encode(encoder, &frame, &bytes, &error) == 0);
	require(wire_decode(again, bytes.data, bytes.size, &second, &code, &error) == 0);
	require(second.kind == frame.kind && memcmp(second.session, frame.session, WIRE_SESSION_SIZE) == 0);
	return 0;
}
