/*
 * wire_decode.c: from bytes to a checked frame. WIRE.md describes the frames.
 *
 * wire_scan() has bounded the frame before the library builds objects from it. Its fields are then fetched by key
 * (wire_fields.h), and the end looks once whether anything was wrong. Keys nobody asks for are thereby skipped.
 */
#include <portolan/wire.h>

#include <portolan/error.h>

#include "wire_check.h"
#include "wire_fields.h"

#include <stdlib.h>
#include <string.h>

struct wire_decoder {
	msgpack_unpacked unpacked;
	struct wire_bytes *labels; /* grows with the largest list seen */
	size_t label_room;
};

static void
decode_labels(wire_decoder *decoder, struct wire_fields *fields, struct wire_open *open)
{
	const msgpack_object *object = wire_field_find(fields, "labels", WIRE_OPTIONAL);
	const msgpack_object_array *array;

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size > WIRE_MAX_LABELS) {
		wire_field_fail(fields, "labels", "is not an array of at most %d strings", WIRE_MAX_LABELS);
		return;
	}
	array = &object->via.array;
	if (array->size > decoder->label_room) {
		struct wire_bytes *labels = realloc(decoder->labels, array->size * sizeof(*labels));

		if (!labels) {
			fields->status =
			        error_set(fields->error, PORTOLAN_E_MEMORY, "out of memory for %u labels", array->size);
			return;
		}
		decoder->labels = labels;
		decoder->label_room = array->size;
	}
	for (uint32_t i = 0; i < array->size; i++) {
		const msgpack_object *label = &array->ptr[i];

		if (label->type != MSGPACK_OBJECT_STR ||
		    !wire_name_is_valid(wire_bytes_of_string(label).data, label->via.str.size, true)) {
			wire_field_fail(fields, "labels",
			                "number %u is not a string of at most %d bytes of UTF-8 without "
			                "control characters",
			                i, WIRE_MAX_NAME);
			return;
		}
		decoder->labels[i] = wire_bytes_of_string(label);
	}
	open->labels = decoder->labels;
	open->label_count = array->size;
}

static struct wire_bytes
field_run(struct wire_fields *fields)
{
	struct wire_bytes run = wire_field_text(fields, "run", WIRE_REQUIRED, WIRE_MAX_NAME, false);

	if (run.size == 0)
		wire_field_fail(fields, "run", "is empty");
	return run;
}

static void
decode_open(wire_decoder *decoder, struct wire_fields *fields, struct wire_open *open)
{
	open->run = field_run(fields);
	open->client = wire_field_text(fields, "client", WIRE_OPTIONAL, WIRE_MAX_NAME, false);
	open->group = wire_field_text(fields, "group", WIRE_OPTIONAL, WIRE_MAX_NAME, false);
	open->rank = (uint32_t)wire_field_uint(fields, "rank", WIRE_OPTIONAL, 0, UINT32_MAX);
	open->started = wire_field_uint(fields, "started", WIRE_REQUIRED, 1, INT64_MAX);
	open->mode = (enum portolan_mode)wire_field_choice(fields, "mode", wire_mode_names, PORTOLAN_EPOCH_END,
	                                                   PORTOLAN_TRAIN_FORWARD + 1);
	open->examples = wire_field_uint(fields, "examples", WIRE_OPTIONAL, 0, UINT64_MAX);
	open->resume = wire_field_bool(fields, "resume");
	open->overwrite = wire_field_bool(fields, "overwrite");
	open->whole = wire_field_bool(fields, "whole");
	open->late = wire_field_bool(fields, "late");
	open->after = wire_field_uint(fields, "after", WIRE_OPTIONAL, 0, UINT64_MAX);
	open->partial = wire_field_bool(fields, "partial");
	open->store = wire_field_store(fields);
	open->config = wire_field_text(fields, "config", WIRE_OPTIONAL, WIRE_MAX_CONFIG, true);
	decode_labels(decoder, fields, open);
}

/* [type, bin] under `key`; the size is checked against rows, and strings one by one. */
static void
decode_column(struct wire_fields *fields, const char *key, const msgpack_object *object, uint32_t rows,
              enum wire_type *type, struct wire_bytes *data)
{
	const msgpack_object *pair = object->via.array.ptr;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size != 2 || pair[0].type != MSGPACK_OBJECT_STR ||
	    pair[1].type != MSGPACK_OBJECT_BIN) {
		wire_field_fail(fields, key, "is not [type, bin]");
		return;
	}
	*type = wire_type_from_name(wire_bytes_of_string(&pair[0]));
	*data = wire_bytes_at(pair[1].via.bin.ptr, pair[1].via.bin.size);
	if (*type == 0)
		wire_field_fail(fields, key, "has an unknown type");
	else if (*type == WIRE_STR)
		fields->status = wire_check_strings(*data, rows, fields->error);
	else if (!wire_size_is_right(*type, rows, data->size))
		wire_field_fail(fields, key, "has %zu bytes, which is not %u rows of %s", data->size, rows,
		                wire_type_name(*type));
}

static void
decode_columns(struct wire_fields *fields, struct wire_batch *batch)
{
	const msgpack_object *object = wire_field_find(fields, "columns", WIRE_REQUIRED);
	bool gold_prob = false, correct = false;

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_MAP) {
		wire_field_fail(fields, "columns", "is not a map");
		return;
	}
	if (wire_check_keys(&object->via.map, WIRE_MAX_COLUMNS, "batch frame: \"columns\"", fields->error) < 0) {
		fields->status = PORTOLAN_E_INVALID;
		return;
	}
	for (uint32_t i = 0; i < object->via.map.size && fields->status == 0; i++) {
		struct wire_column *column = &batch->columns[i];
		char key[WIRE_MAX_COLUMN_NAME + 1] = "";

		column->name = wire_bytes_of_string(&object->via.map.ptr[i].key);
		if (!wire_column_name_is_valid(column->name.data, column->name.size)) {
			wire_field_fail(fields, "columns", "has a name that is not 1–%d of a–z, 0–9 and _ (number %u)",
			                WIRE_MAX_COLUMN_NAME, i + 1);
			return;
		}
		memcpy(key, column->name.data, column->name.size);
		decode_column(fields, key, &object->via.map.ptr[i].val, batch->rows, &column->type, &column->data);
		if (fields->status == 0 && column->type != wire_column_type(column->name))
			wire_field_fail(fields, key, "must be %s", wire_type_name(wire_column_type(column->name)));
		gold_prob |= strcmp(key, "gold_prob") == 0;
		correct |= strcmp(key, "correct") == 0;
	}
	batch->column_count = object->via.map.size;
	if (!gold_prob || !correct)
		wire_field_fail(fields, "columns", "must hold gold_prob and correct");
}

static void
decode_batch(struct wire_fields *fields, struct wire_batch *batch)
{
	const msgpack_object *ids;

	batch->sequence = wire_field_uint(fields, "q", WIRE_REQUIRED, 1, UINT64_MAX);
	batch->epoch = (uint32_t)wire_field_uint(fields, "e", WIRE_REQUIRED, 0, WIRE_MAX_EPOCH);
	batch->rows = (uint32_t)wire_field_uint(fields, "n", WIRE_REQUIRED, 1, WIRE_MAX_ROWS);
	ids = wire_field_find(fields, "ids", WIRE_REQUIRED);
	if (fields->status < 0)
		return;
	decode_column(fields, "ids", ids, batch->rows, &batch->id_type, &batch->ids);
	if (fields->status == 0 && batch->id_type != WIRE_U4 && batch->id_type != WIRE_U8 && batch->id_type != WIRE_STR)
		wire_field_fail(fields, "ids", "must be u4, u8 or str");
	if (fields->status == 0)
		decode_columns(fields, batch);
}

/* A map within the map: keys it does not have are 0, others are skipped. */
static void
decode_counts(struct wire_fields *fields, struct wire_counts *counts)
{
	const msgpack_object *object = wire_field_find(fields, "counts", WIRE_OPTIONAL);
	struct wire_fields inner = {.kind = fields->kind, .error = fields->error};

	if (!object || fields->status < 0)
		return;
	if (object->type != MSGPACK_OBJECT_MAP) {
		wire_field_fail(fields, "counts", "is not a map");
		return;
	}
	inner.map = &object->via.map;
	inner.status = wire_check_keys(inner.map, WIRE_MAX_KEYS, "\"counts\"", fields->error);
	if (inner.status == 0) {
		counts->told = true;
		counts->logged = wire_field_uint(&inner, "logged", WIRE_OPTIONAL, 0, UINT64_MAX);
		counts->refused = wire_field_uint(&inner, "refused", WIRE_OPTIONAL, 0, UINT64_MAX);
		counts->dropped = wire_field_uint(&inner, "dropped", WIRE_OPTIONAL, 0, UINT64_MAX);
		counts->spooled = wire_field_uint(&inner, "spooled", WIRE_OPTIONAL, 0, UINT64_MAX);
		counts->waits = wire_field_uint(&inner, "waits", WIRE_OPTIONAL, 0, UINT64_MAX);
	}
	fields->status = inner.status;
}

/* A code or a message beyond the limits is not for us to read, but that it is an error is understood. */
static void
decode_error(struct wire_fields *fields, struct wire_error *reply)
{
	struct wire_fields lenient = *fields;

	lenient.error = NULL;
	reply->code = wire_error_code_from_name(wire_field_text(fields, "code", WIRE_REQUIRED, WIRE_MAX_FRAME, true));
	reply->message = wire_field_text(&lenient, "message", WIRE_REQUIRED, WIRE_MAX_MESSAGE, false);
	reply->sequence = wire_field_uint(fields, "q", WIRE_OPTIONAL, 0, UINT64_MAX);
}

static void
decode_kind(wire_decoder *decoder, struct wire_fields *fields, struct wire_frame *frame)
{
	switch (frame->kind) {
	case WIRE_OPEN:
		decode_open(decoder, fields, &frame->open);
		break;
	case WIRE_BATCH:
		decode_batch(fields, &frame->batch);
		break;
	case WIRE_END_EPOCH:
		frame->end_epoch.sequence = wire_field_uint(fields, "q", WIRE_REQUIRED, 1, UINT64_MAX);
		frame->end_epoch.epoch = (uint32_t)wire_field_uint(fields, "e", WIRE_REQUIRED, 0, WIRE_MAX_EPOCH);
		break;
	case WIRE_CLOSE:
		frame->close.sequence = wire_field_uint(fields, "q", WIRE_REQUIRED, 1, UINT64_MAX);
		decode_counts(fields, &frame->close.counts);
		break;
	case WIRE_PING:
		decode_counts(fields, &frame->ping.counts);
		break;
	case WIRE_REMOVE:
		frame->remove.run = field_run(fields);
		break;
	case WIRE_OPENED:
		frame->opened.acknowledged = wire_field_uint(fields, "a", WIRE_REQUIRED, 0, UINT64_MAX);
		frame->opened.credit = wire_field_uint(fields, "c", WIRE_REQUIRED, 0, UINT64_MAX);
		frame->opened.id_kind = (enum wire_id_kind)wire_field_choice(fields, "ids", wire_id_kind_names,
		                                                             WIRE_ID_NONE, WIRE_ID_STR + 1);
		frame->opened.store = wire_field_store(fields);
		break;
	case WIRE_ACK:
		frame->ack.acknowledged = wire_field_uint(fields, "a", WIRE_REQUIRED, 0, UINT64_MAX);
		frame->ack.credit = wire_field_uint(fields, "c", WIRE_REQUIRED, 0, UINT64_MAX);
		frame->ack.replaced = wire_field_uint(fields, "replaced", WIRE_OPTIONAL, 0, UINT64_MAX);
		frame->ack.refused = wire_field_uint(fields, "refused", WIRE_OPTIONAL, 0, UINT64_MAX);
		break;
	case WIRE_ERROR:
		decode_error(fields, &frame->error);
		break;
	}
}

static int
wrong_version(uint64_t version, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID,
	                 "frame is of wire version %llu; this side speaks version %d: use the same release on both",
	                 (unsigned long long)version, WIRE_VERSION);
}

static int
decode_map(wire_decoder *decoder, const msgpack_object_map *map, struct wire_frame *frame, enum wire_error_code *code,
           struct portolan_error *error)
{
	struct wire_fields fields = {.map = map, .kind = "a", .error = error};
	uint64_t version;

	if (wire_check_keys(map, WIRE_MAX_KEYS, "frame", error) < 0)
		return PORTOLAN_E_INVALID;
	/* The version decides what everything else means, so it is judged first. */
	version = wire_field_uint(&fields, "v", WIRE_REQUIRED, 0, UINT64_MAX);
	if (fields.status == 0 && version != WIRE_VERSION) {
		*code = WIRE_E_VERSION;
		return wrong_version(version, error);
	}
	frame->kind = (enum wire_kind)wire_field_choice(&fields, "t", wire_kind_names, WIRE_OPEN, WIRE_ERROR + 1);
	fields.kind = wire_kind_names[frame->kind];
	wire_field_session(&fields, frame->session);
	if (fields.status == 0)
		decode_kind(decoder, &fields, frame);
	return fields.status;
}

int
wire_decode(wire_decoder *decoder, const void *data, size_t size, struct wire_frame *frame, enum wire_error_code *code,
            struct portolan_error *error)
{
	struct wire_frame decoded = {0};
	enum wire_error_code why = WIRE_E_MALFORMED;
	uint64_t version = wire_leading_version(data, size);
	size_t offset = 0;
	int status;

	if (version != WIRE_VERSION) {
		why = WIRE_E_VERSION;
		status = wrong_version(version, error);
	} else {
		status = wire_scan(data, size, error);
	}
	if (status == 0) {
		msgpack_unpack_return result = msgpack_unpack_next(&decoder->unpacked, data, size, &offset);

		if (result == MSGPACK_UNPACK_NOMEM_ERROR)
			status = error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of %zu bytes", size);
		else if (result != MSGPACK_UNPACK_SUCCESS || offset != size)
			status = error_set(error, PORTOLAN_E_INVALID, "frame is not msgpack");
		else if (decoder->unpacked.data.type != MSGPACK_OBJECT_MAP)
			status = error_set(error, PORTOLAN_E_INVALID, "frame is not a msgpack map");
		else
			status = decode_map(decoder, &decoder->unpacked.data.via.map, &decoded, &why, error);
	}
	if (status == 0)
		*frame = decoded;
	else if (code)
		*code = status == PORTOLAN_E_MEMORY ? WIRE_E_UNAVAILABLE : why;
	return status;
}

wire_decoder *
wire_decoder_new(void)
{
	wire_decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		msgpack_unpacked_init(&decoder->unpacked);
	return decoder;
}

void
wire_decoder_free(wire_decoder *decoder)
{
	if (!decoder)
		return;
	msgpack_unpacked_destroy(&decoder->unpacked);
	free(decoder->labels);
	free(decoder);
}
