/*
 * wire_encode.c: from a frame to bytes. Keys are written in the order of WIRE.md, and optional ones only
 * where they say something, so that equal frames give equal bytes. Packing into memory fails only for lack of it;
 * the buffer remembers that, and the end looks once.
 */
#include <portolan/wire.h>

#include <portolan/error.h>

#include "wire_check.h"

#include <assert.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUFFER 8192

/* A growing buffer that gives up for good at the first failure; kept between frames. */
struct wire_encoder {
	uint8_t *data;
	size_t size, room;
	bool failed;
};

static int
buffer_write(void *context, const char *bytes, size_t count)
{
	wire_encoder *buffer = context;

	if (buffer->failed)
		return -1;
	if (count > buffer->room - buffer->size) {
		size_t room = buffer->room ? buffer->room : FIRST_BUFFER;
		uint8_t *data;

		while (room - buffer->size < count)
			room *= 2;
		data = realloc(buffer->data, room);
		if (!data) {
			buffer->failed = true;
			return -1;
		}
		buffer->data = data;
		buffer->room = room;
	}
	memcpy(buffer->data + buffer->size, bytes, count);
	buffer->size += count;
	return 0;
}

static void
put_text(msgpack_packer *packer, struct wire_bytes text)
{
	msgpack_pack_str(packer, text.size);
	if (text.size > 0)
		msgpack_pack_str_body(packer, text.data, text.size);
}

static void
put_word(msgpack_packer *packer, const char *word)
{
	put_text(packer, (struct wire_bytes){(const uint8_t *)word, strlen(word)});
}

static void
put_binary(msgpack_packer *packer, const void *data, size_t size)
{
	msgpack_pack_bin(packer, size);
	if (size > 0)
		msgpack_pack_bin_body(packer, data, size);
}

static void
put_uint(msgpack_packer *packer, const char *key, uint64_t value)
{
	put_word(packer, key);
	msgpack_pack_uint64(packer, value);
}

static void
put_head(msgpack_packer *packer, const struct wire_frame *frame, size_t more_keys)
{
	msgpack_pack_map(packer, 3 + more_keys);
	put_uint(packer, "v", WIRE_VERSION);
	put_word(packer, "t");
	put_word(packer, wire_kind_names[frame->kind]);
	put_word(packer, "s");
	put_binary(packer, frame->session, WIRE_SESSION_SIZE);
}

static void
put_flag(msgpack_packer *packer, const char *key)
{
	put_word(packer, key);
	msgpack_pack_true(packer);
}

static void
put_optional_text(msgpack_packer *packer, const char *key, struct wire_bytes text)
{
	if (text.size == 0)
		return;
	put_word(packer, key);
	put_text(packer, text);
}

static void
put_optional_store(msgpack_packer *packer, const uint8_t *store)
{
	if (!store)
		return;
	put_word(packer, "store");
	put_binary(packer, store, WIRE_STORE_SIZE);
}

static void
encode_open(msgpack_packer *packer, const struct wire_frame *frame)
{
	const struct wire_open *open = &frame->open;
	size_t optional = (open->client.size > 0) + (open->group.size > 0) + (open->rank > 0) + (open->examples > 0) +
	                  open->resume + open->overwrite + open->whole + open->late + (open->after > 0) +
	                  open->partial + (open->store != NULL) + (open->config.size > 0) + (open->label_count > 0);

	assert(wire_name_is_valid(open->run.data, open->run.size, false) && open->started > 0);
	put_head(packer, frame, 3 + optional);
	put_word(packer, "run");
	put_text(packer, open->run);
	put_uint(packer, "started", open->started);
	put_word(packer, "mode");
	put_word(packer, wire_mode_names[open->mode]);
	put_optional_text(packer, "client", open->client);
	put_optional_text(packer, "group", open->group);
	if (open->rank > 0)
		put_uint(packer, "rank", open->rank);
	if (open->examples > 0)
		put_uint(packer, "examples", open->examples);
	if (open->resume)
		put_flag(packer, "resume");
	if (open->overwrite)
		put_flag(packer, "overwrite");
	if (open->whole)
		put_flag(packer, "whole");
	if (open->late)
		put_flag(packer, "late");
	if (open->after > 0)
		put_uint(packer, "after", open->after);
	if (open->partial)
		put_flag(packer, "partial");
	put_optional_store(packer, open->store);
	put_optional_text(packer, "config", open->config);
	if (open->label_count > 0) {
		put_word(packer, "labels");
		msgpack_pack_array(packer, open->label_count);
		for (size_t i = 0; i < open->label_count; i++)
			put_text(packer, open->labels[i]);
	}
}

static void
put_column(msgpack_packer *packer, enum wire_type type, struct wire_bytes data)
{
	msgpack_pack_array(packer, 2);
	put_word(packer, wire_type_name(type));
	put_binary(packer, data.data, data.size);
}

static void
encode_batch(msgpack_packer *packer, const struct wire_frame *frame)
{
	const struct wire_batch *batch = &frame->batch;

	assert(batch->sequence > 0 && batch->rows > 0 && batch->rows <= WIRE_MAX_ROWS);
	assert(batch->epoch <= WIRE_MAX_EPOCH && batch->column_count <= WIRE_MAX_COLUMNS);
	put_head(packer, frame, 5);
	put_uint(packer, "q", batch->sequence);
	put_uint(packer, "e", batch->epoch);
	put_uint(packer, "n", batch->rows);
	put_word(packer, "ids");
	put_column(packer, batch->id_type, batch->ids);
	put_word(packer, "columns");
	msgpack_pack_map(packer, batch->column_count);
	for (size_t i = 0; i < batch->column_count; i++) {
		const struct wire_column *column = &batch->columns[i];

		assert(column->type == wire_column_type(column->name));
		assert(wire_size_is_right(column->type, batch->rows, column->data.size));
		put_text(packer, column->name);
		put_column(packer, column->type, column->data);
	}
}

static void
put_counts(msgpack_packer *packer, const struct wire_counts *counts)
{
	if (!counts->told)
		return;
	put_word(packer, "counts");
	msgpack_pack_map(packer, 5);
	put_uint(packer, "logged", counts->logged);
	put_uint(packer, "refused", counts->refused);
	put_uint(packer, "dropped", counts->dropped);
	put_uint(packer, "spooled", counts->spooled);
	put_uint(packer, "waits", counts->waits);
}

static void
encode_error(msgpack_packer *packer, const struct wire_frame *frame)
{
	put_head(packer, frame, frame->error.sequence > 0 ? 3 : 2);
	put_word(packer, "code");
	put_word(packer, wire_error_code_name(frame->error.code));
	put_word(packer, "message");
	assert(frame->error.message.size <= WIRE_MAX_MESSAGE);
	put_text(packer, frame->error.message);
	if (frame->error.sequence > 0)
		put_uint(packer, "q", frame->error.sequence);
}

static void
encode_kind(msgpack_packer *packer, const struct wire_frame *frame)
{
	switch (frame->kind) {
	case WIRE_OPEN:
		encode_open(packer, frame);
		break;
	case WIRE_BATCH:
		encode_batch(packer, frame);
		break;
	case WIRE_END_EPOCH:
		put_head(packer, frame, 2);
		put_uint(packer, "q", frame->end_epoch.sequence);
		put_uint(packer, "e", frame->end_epoch.epoch);
		break;
	case WIRE_CLOSE:
		put_head(packer, frame, 1 + frame->close.counts.told);
		put_uint(packer, "q", frame->close.sequence);
		put_counts(packer, &frame->close.counts);
		break;
	case WIRE_PING:
		put_head(packer, frame, frame->ping.counts.told);
		put_counts(packer, &frame->ping.counts);
		break;
	case WIRE_REMOVE:
		assert(wire_name_is_valid(frame->remove.run.data, frame->remove.run.size, false));
		put_head(packer, frame, 1);
		put_word(packer, "run");
		put_text(packer, frame->remove.run);
		break;
	case WIRE_OPENED:
		put_head(packer, frame, 3 + (frame->opened.store != NULL));
		put_uint(packer, "a", frame->opened.acknowledged);
		put_uint(packer, "c", frame->opened.credit);
		put_word(packer, "ids");
		put_word(packer, wire_id_kind_names[frame->opened.id_kind]);
		put_optional_store(packer, frame->opened.store);
		break;
	case WIRE_ACK:
		put_head(packer, frame, 4);
		put_uint(packer, "a", frame->ack.acknowledged);
		put_uint(packer, "c", frame->ack.credit);
		put_uint(packer, "replaced", frame->ack.replaced);
		put_uint(packer, "refused", frame->ack.refused);
		break;
	case WIRE_ERROR:
		encode_error(packer, frame);
		break;
	}
}

int
wire_encode(wire_encoder *encoder, const struct wire_frame *frame, struct wire_bytes *bytes,
            struct portolan_error *error)
{
	msgpack_packer packer;

	encoder->size = 0;
	encoder->failed = false;
	msgpack_packer_init(&packer, encoder, buffer_write);
	encode_kind(&packer, frame);
	if (encoder->failed)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of more than %zu bytes",
		                 encoder->size);
	if (encoder->size > WIRE_MAX_FRAME)
		return error_set(error, PORTOLAN_E_INVALID, "frame has %zu bytes; the limit is %u", encoder->size,
		                 WIRE_MAX_FRAME);
	*bytes = (struct wire_bytes){encoder->data, encoder->size};
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
