/*
 * wire_encode.c: makes the bytes of a frame (struct wire_frame) that client or collector will send.
 *
 * Keys are written in the order of the table of wire_fields.h, and optional keys only if their value is not the
 * default. So equal frames give equal bytes.
 *
 * A frame is packed twice: the first time its bytes are only counted. So its memory has the right size from the start,
 * and a frame that is kept is encoded where it is kept.
 */
#include <portolan/wire.h>

#include <portolan/error.h>

#include "wire_check.h"
#include "wire_fields.h"

#include <assert.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

/* Memory for a frame's bytes, which grows as needed, and is kept for the next frame. */
struct wire_encoder {
	uint8_t *data;
	size_t room;
};

/* Where the msgpack library writes its bytes; data NULL: they are only counted. */
struct output {
	uint8_t *data;
	size_t size;
};

/* Takes bytes from the msgpack library. `bytes` may be NULL if count is 0. */
static int
output_write(void *context, const char *bytes, size_t count)
{
	struct output *output = context;

	if (output->data && count > 0)
		memcpy(output->data + output->size, bytes, count);
	output->size += count;
	return 0;
}

static void
encode_text(msgpack_packer *packer, struct wire_bytes text)
{
	msgpack_pack_str(packer, text.size);
	msgpack_pack_str_body(packer, text.data, text.size);
}

static void
encode_word(msgpack_packer *packer, const char *word)
{
	encode_text(packer, (struct wire_bytes){(const uint8_t *)word, strlen(word)});
}

static void
encode_binary(msgpack_packer *packer, const void *data, size_t size)
{
	msgpack_pack_bin(packer, size);
	msgpack_pack_bin_body(packer, data, size);
}

/* Reads a member of a frame that is an unsigned integer, an enum or a bool of `size` bytes. */
static uint64_t
field_number(const void *value, size_t size)
{
	return size == sizeof(uint64_t)   ? *(const uint64_t *)value
	       : size == sizeof(uint32_t) ? *(const uint32_t *)value
	                                  : *(const bool *)value;
}

static bool
field_is_written(const struct wire_field *field, const void *value)
{
	if (field->need != WIRE_OPTIONAL)
		return true;
	switch (field->type) {
	case WIRE_TEXT:
	case WIRE_LINES:
	case WIRE_REMARK:
		return ((const struct wire_bytes *)value)->size > 0;
	case WIRE_ID:
		return *(const uint8_t *const *)value != NULL;
	case WIRE_COUNTS:
		return ((const struct wire_counts *)value)->told;
	default:
		return field_number(value, field->size) > 0;
	}
}

static size_t
encode_count_fields(enum wire_kind kind, const void *base)
{
	size_t count = 0;

	for (const struct wire_field *field = wire_fields; field->key; field++)
		count += field->kind == kind && field_is_written(field, (const char *)base + field->offset);
	return count;
}

static void encode_fields(msgpack_packer *packer, enum wire_kind kind, const void *base);

static void
encode_value(msgpack_packer *packer, const struct wire_field *field, const void *value)
{
	const struct wire_bytes *text = value;

	switch (field->type) {
	case WIRE_NUMBER:
		assert(field_number(value, field->size) >= field->least &&
		       field_number(value, field->size) <= field->most);
		msgpack_pack_uint64(packer, field_number(value, field->size));
		break;
	case WIRE_FLAG:
		msgpack_pack_true(packer); /* a false flag is not written at all */
		break;
	case WIRE_TEXT:
	case WIRE_LINES:
	case WIRE_REMARK:
		assert(text->size >= field->least && text->size <= field->most);
		assert(field->least == 0 || wire_text_is_valid(text->data, text->size, false));
		encode_text(packer, *text);
		break;
	case WIRE_WORD:
	case WIRE_CODE:
		encode_word(packer, field->words[field_number(value, field->size)]);
		break;
	case WIRE_ID:
		encode_binary(packer, *(const uint8_t *const *)value, WIRE_SESSION_SIZE);
		break;
	case WIRE_COUNTS:
		msgpack_pack_map(packer, encode_count_fields(WIRE_IN_COUNTS, value));
		encode_fields(packer, WIRE_IN_COUNTS, value);
		break;
	}
}

static void
encode_fields(msgpack_packer *packer, enum wire_kind kind, const void *base)
{
	for (const struct wire_field *field = wire_fields; field->key; field++) {
		const void *value = (const char *)base + field->offset;

		if (field->kind != kind || !field_is_written(field, value))
			continue;
		encode_word(packer, field->key);
		encode_value(packer, field, value);
	}
}

static void
encode_labels(msgpack_packer *packer, const struct wire_open *open)
{
	encode_word(packer, "labels");
	msgpack_pack_array(packer, open->label_count);
	for (size_t i = 0; i < open->label_count; i++)
		encode_text(packer, open->labels[i]);
}

static void
encode_column(msgpack_packer *packer, enum wire_type type, struct wire_bytes data)
{
	msgpack_pack_array(packer, 2);
	encode_word(packer, wire_type_names[type]);
	encode_binary(packer, data.data, data.size);
}

static void
encode_rows(msgpack_packer *packer, const struct wire_batch *batch)
{
	assert(batch->column_count <= WIRE_MAX_COLUMNS);
	encode_word(packer, "ids");
	encode_column(packer, batch->id_type, batch->ids);
	encode_word(packer, "columns");
	msgpack_pack_map(packer, batch->column_count);
	for (size_t i = 0; i < batch->column_count; i++) {
		const struct wire_column *column = &batch->columns[i];

		assert(column->type == wire_column_type(column->name));
		assert(wire_size_is_right(column->type, batch->rows, column->data.size));
		encode_text(packer, column->name);
		encode_column(packer, column->type, column->data);
	}
}

static void
encode_examples(msgpack_packer *packer, const struct wire_examples *examples)
{
	assert(wire_check_texts(examples, NULL) == 0);
	encode_word(packer, "ids");
	encode_column(packer, examples->id_type, examples->ids);
	encode_word(packer, "fields");
	msgpack_pack_array(packer, examples->field_count);
	for (size_t i = 0; i < examples->field_count; i++)
		encode_text(packer, examples->fields[i]);
	encode_word(packer, "texts");
	encode_binary(packer, examples->texts.data, examples->texts.size);
}

/* How many keys the frame has that are not in the table of fields. */
static size_t
encode_count_arrays(const struct wire_frame *frame)
{
	return frame->kind == WIRE_BATCH      ? 2
	       : frame->kind == WIRE_EXAMPLES ? 3
	                                      : frame->kind == WIRE_OPEN && frame->open.label_count > 0;
}

static void
encode_frame(msgpack_packer *packer, const struct wire_frame *frame)
{
	msgpack_pack_map(packer, 3 + encode_count_fields(frame->kind, frame) + encode_count_arrays(frame));
	encode_word(packer, "v");
	msgpack_pack_uint64(packer, WIRE_VERSION);
	encode_word(packer, "t");
	encode_word(packer, wire_kind_names[frame->kind]);
	encode_word(packer, "s");
	encode_binary(packer, frame->session, WIRE_SESSION_SIZE);
	encode_fields(packer, frame->kind, frame);
	if (frame->kind == WIRE_BATCH)
		encode_rows(packer, &frame->batch);
	else if (frame->kind == WIRE_EXAMPLES)
		encode_examples(packer, &frame->examples);
	else if (encode_count_arrays(frame) > 0)
		encode_labels(packer, &frame->open);
}

static size_t
encode_to(const struct wire_frame *frame, uint8_t *data)
{
	struct output output = {.data = data};
	msgpack_packer packer;

	msgpack_packer_init(&packer, &output, output_write);
	encode_frame(&packer, frame);
	return output.size;
}

int
wire_measure(const struct wire_frame *frame, size_t *size, struct portolan_error *error)
{
	size_t bytes = encode_to(frame, NULL);

	if (bytes > WIRE_MAX_FRAME)
		return error_set(error, PORTOLAN_E_INVALID, "frame has %zu bytes; the limit is %u", bytes,
		                 WIRE_MAX_FRAME);
	*size = bytes;
	return 0;
}

void
wire_write(const struct wire_frame *frame, uint8_t *data)
{
	(void)encode_to(frame, data);
}

int
wire_encode(wire_encoder *encoder, const struct wire_frame *frame, struct wire_bytes *bytes,
            struct portolan_error *error)
{
	size_t size;
	int status = wire_measure(frame, &size, error);

	if (status < 0)
		return status;
	if (size > encoder->room) {
		uint8_t *data = realloc(encoder->data, size);

		if (!data)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of %zu bytes", size);
		encoder->data = data;
		encoder->room = size;
	}
	wire_write(frame, encoder->data);
	*bytes = (struct wire_bytes){encoder->data, size};
	return 0;
}

wire_encoder *
wire_encoder_new(void)
{
	return calloc(1, sizeof(wire_encoder));
}

void
wire_encoder_free(wire_encoder *encoder)
{
	if (!encoder)
		return;
	free(encoder->data);
	free(encoder);
}
