/*
 * wire_decode.c: from bytes to a checked frame. WIRE.md describes the frames.
 *
 * wire_scan() has bounded the frame before the library builds objects from it. The fields of a map are then
 * fetched by key; the first thing wrong is kept, later fetches answer zeros, and the end looks once. Keys nobody
 * asks for are thereby skipped.
 */
#include <portolan/wire.h>

#include <portolan/error.h>

#include "wire_check.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORD 32 /* bytes of the name of a kind, mode or code */

struct wire_decoder {
	msgpack_unpacked unpacked;
	struct wire_bytes *labels; /* grows with the largest list seen */
	size_t label_room;
};

/* The map being read, and the first error in it. */
struct fields {
	const msgpack_object_map *map;
	const char *kind; /* of the frame, for messages */
	struct portolan_error *error;
	int status;
};

enum need { OPTIONAL, REQUIRED };

__attribute__((format(printf, 3, 4))) static void
field_fail(struct fields *fields, const char *key, const char *format, ...)
{
	char what[160];
	va_list arguments;

	if (fields->status < 0)
		return;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	fields->status = error_set(fields->error, PORTOLAN_E_INVALID, "%s frame: \"%s\" %s", fields->kind, key, what);
}

/* The library has NULL where nothing is, which memcmp() and memcpy() do not take. */
static struct wire_bytes
bytes_at(const char *data, uint32_t size)
{
	return (struct wire_bytes){(const uint8_t *)(size ? data : ""), size};
}

static struct wire_bytes
bytes_of_string(const msgpack_object *object)
{
	return bytes_at(object->via.str.ptr, object->via.str.size);
}

static const msgpack_object *
field_find(struct fields *fields, const char *key, enum need need)
{
	for (uint32_t i = 0; i < fields->map->size; i++)
		if (wire_bytes_equal(bytes_of_string(&fields->map->ptr[i].key), key))
			return &fields->map->ptr[i].val;
	if (need == REQUIRED)
		field_fail(fields, key, "is missing");
	return NULL;
}

static uint64_t
field_uint(struct fields *fields, const char *key, enum need need, uint64_t least, uint64_t most)
{
	const msgpack_object *object = field_find(fields, key, need);

	if (!object)
		return 0;
	if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
		field_fail(fields, key, "is not an unsigned integer");
		return 0;
	}
	if (object->via.u64 < least || object->via.u64 > most) {
		field_fail(fields, key, "is %llu, not within %llu to %llu", (unsigned long long)object->via.u64,
		           (unsigned long long)least, (unsigned long long)most);
		return 0;
	}
	return object->via.u64;
}

static bool
field_bool(struct fields *fields, const char *key)
{
	const msgpack_object *object = field_find(fields, key, OPTIONAL);

	if (object && object->type != MSGPACK_OBJECT_BOOLEAN)
		field_fail(fields, key, "is not true or false");
	return object && object->type == MSGPACK_OBJECT_BOOLEAN && object->via.boolean;
}

static struct wire_bytes
field_text(struct fields *fields, const char *key, enum need need, size_t most, bool multi_line)
{
	const msgpack_object *object = field_find(fields, key, need);
	struct wire_bytes text = {(const uint8_t *)"", 0};

	if (!object)
		return text;
	if (object->type != MSGPACK_OBJECT_STR) {
		field_fail(fields, key, "is not a string");
	} else if (object->via.str.size > most) {
		field_fail(fields, key, "has %u bytes; the limit is %zu", object->via.str.size, most);
	} else if (!wire_text_is_valid(bytes_of_string(object).data, object->via.str.size, multi_line)) {
		field_fail(fields, key, "is not UTF-8%s", multi_line ? "" : " without control characters");
	} else {
		text = bytes_of_string(object);
	}
	return text;
}

/* Index in `names` of the string under `key`; the first index is `first`. */
static unsigned
field_choice(struct fields *fields, const char *key, const char *const *names, unsigned first, unsigned count)
{
	struct wire_bytes text = field_text(fields, key, REQUIRED, MAX_WORD, false);

	for (unsigned i = first; i < count; i++)
		if (wire_bytes_equal(text, names[i]))
			return i;
	field_fail(fields, key, "has a value this version does not know");
	return first;
}

static void
field_session(struct fields *fields, uint8_t session[WIRE_SESSION_SIZE])
{
	const msgpack_object *object = field_find(fields, "s", REQUIRED);

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_BIN || object->via.bin.size != WIRE_SESSION_SIZE)
		field_fail(fields, "s", "is not bin of %d bytes", WIRE_SESSION_SIZE);
	else
		memcpy(session, object->via.bin.ptr, WIRE_SESSION_SIZE);
}

/* Keys must be strings, each once: a second one would be a second opinion about the same thing. */
static int
check_keys(const msgpack_object_map *map, uint32_t most, const char *where, struct portolan_error *error)
{
	if (map->size > most)
		return error_set(error, PORTOLAN_E_INVALID, "%s has %u keys; the limit is %u", where, map->size, most);
	for (uint32_t i = 0; i < map->size; i++) {
		struct wire_bytes key;

		if (map->ptr[i].key.type != MSGPACK_OBJECT_STR)
			return error_set(error, PORTOLAN_E_INVALID, "%s has a key that is not a string", where);
		key = bytes_of_string(&map->ptr[i].key);
		for (uint32_t j = 0; j < i; j++) {
			struct wire_bytes other = bytes_of_string(&map->ptr[j].key);

			if (other.size == key.size && memcmp(other.data, key.data, key.size) == 0)
				return error_set(error, PORTOLAN_E_INVALID, "%s has the same key twice (number %u)",
				                 where, i + 1);
		}
	}
	return 0;
}

static void
decode_labels(wire_decoder *decoder, struct fields *fields, struct wire_open *open)
{
	const msgpack_object *object = field_find(fields, "labels", OPTIONAL);
	const msgpack_object_array *array;

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size > WIRE_MAX_LABELS) {
		field_fail(fields, "labels", "is not an array of at most %d strings", WIRE_MAX_LABELS);
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
		    !wire_name_is_valid(bytes_of_string(label).data, label->via.str.size, true)) {
			field_fail(fields, "labels",
			           "number %u is not a string of at most %d bytes of UTF-8 without "
			           "control characters",
			           i, WIRE_MAX_NAME);
			return;
		}
		decoder->labels[i] = bytes_of_string(label);
	}
	open->labels = decoder->labels;
	open->label_count = array->size;
}

static struct wire_bytes
field_run(struct fields *fields)
{
	struct wire_bytes run = field_text(fields, "run", REQUIRED, WIRE_MAX_NAME, false);

	if (run.size == 0)
		field_fail(fields, "run", "is empty");
	return run;
}

static void
decode_open(wire_decoder *decoder, struct fields *fields, struct wire_open *open)
{
	open->run = field_run(fields);
	open->client = field_text(fields, "client", OPTIONAL, WIRE_MAX_NAME, false);
	open->group = field_text(fields, "group", OPTIONAL, WIRE_MAX_NAME, false);
	open->rank = (uint32_t)field_uint(fields, "rank", OPTIONAL, 0, UINT32_MAX);
	open->started = field_uint(fields, "started", REQUIRED, 1, INT64_MAX);
	open->mode = (enum portolan_mode)field_choice(fields, "mode", wire_mode_names, PORTOLAN_EPOCH_END,
	                                              PORTOLAN_TRAIN_FORWARD + 1);
	open->examples = field_uint(fields, "examples", OPTIONAL, 0, UINT64_MAX);
	open->resume = field_bool(fields, "resume");
	open->overwrite = field_bool(fields, "overwrite");
	open->whole = field_bool(fields, "whole");
	open->late = field_bool(fields, "late");
	open->after = field_uint(fields, "after", OPTIONAL, 0, UINT64_MAX);
	open->config = field_text(fields, "config", OPTIONAL, WIRE_MAX_CONFIG, true);
	decode_labels(decoder, fields, open);
}

/* [type, bin] under `key`; the size is checked against rows, and strings one by one. */
static void
decode_column(struct fields *fields, const char *key, const msgpack_object *object, uint32_t rows, enum wire_type *type,
              struct wire_bytes *data)
{
	const msgpack_object *pair = object->via.array.ptr;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size != 2 || pair[0].type != MSGPACK_OBJECT_STR ||
	    pair[1].type != MSGPACK_OBJECT_BIN) {
		field_fail(fields, key, "is not [type, bin]");
		return;
	}
	*type = wire_type_from_name(bytes_of_string(&pair[0]));
	*data = bytes_at(pair[1].via.bin.ptr, pair[1].via.bin.size);
	if (*type == 0)
		field_fail(fields, key, "has an unknown type");
	else if (*type == WIRE_STR)
		fields->status = wire_check_strings(*data, rows, fields->error);
	else if (!wire_size_is_right(*type, rows, data->size))
		field_fail(fields, key, "has %zu bytes, which is not %u rows of %s", data->size, rows,
		           wire_type_name(*type));
}

static void
decode_columns(struct fields *fields, struct wire_batch *batch)
{
	const msgpack_object *object = field_find(fields, "columns", REQUIRED);
	bool gold_prob = false, correct = false;

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_MAP) {
		field_fail(fields, "columns", "is not a map");
		return;
	}
	if (check_keys(&object->via.map, WIRE_MAX_COLUMNS, "batch frame: \"columns\"", fields->error) < 0) {
		fields->status = PORTOLAN_E_INVALID;
		return;
	}
	for (uint32_t i = 0; i < object->via.map.size && fields->status == 0; i++) {
		struct wire_column *column = &batch->columns[i];
		char key[WIRE_MAX_COLUMN_NAME + 1] = "";

		column->name = bytes_of_string(&object->via.map.ptr[i].key);
		if (!wire_column_name_is_valid(column->name.data, column->name.size)) {
			field_fail(fields, "columns", "has a name that is not 1–%d of a–z, 0–9 and _ (number %u)",
			           WIRE_MAX_COLUMN_NAME, i + 1);
			return;
		}
		memcpy(key, column->name.data, column->name.size);
		decode_column(fields, key, &object->via.map.ptr[i].val, batch->rows, &column->type, &column->data);
		if (fields->status == 0 && column->type != wire_column_type(column->name))
			field_fail(fields, key, "must be %s", wire_type_name(wire_column_type(column->name)));
		gold_prob |= strcmp(key, "gold_prob") == 0;
		correct |= strcmp(key, "correct") == 0;
	}
	batch->column_count = object->via.map.size;
	if (!gold_prob || !correct)
		field_fail(fields, "columns", "must hold gold_prob and correct");
}

static void
decode_batch(struct fields *fields, struct wire_batch *batch)
{
	const msgpack_object *ids;

	batch->sequence = field_uint(fields, "q", REQUIRED, 1, UINT64_MAX);
	batch->epoch = (uint32_t)field_uint(fields, "e", REQUIRED, 0, WIRE_MAX_EPOCH);
	batch->rows = (uint32_t)field_uint(fields, "n", REQUIRED, 1, WIRE_MAX_ROWS);
	ids = field_find(fields, "ids", REQUIRED);
	if (fields->status < 0)
		return;
	decode_column(fields, "ids", ids, batch->rows, &batch->id_type, &batch->ids);
	if (fields->status == 0 && batch->id_type != WIRE_U4 && batch->id_type != WIRE_U8 && batch->id_type != WIRE_STR)
		field_fail(fields, "ids", "must be u4, u8 or str");
	if (fields->status == 0)
		decode_columns(fields, batch);
}

/* A map within the map: keys it does not have are 0, others are skipped. */
static void
decode_counts(struct fields *fields, struct wire_counts *counts)
{
	const msgpack_object *object = field_find(fields, "counts", OPTIONAL);
	struct fields inner = {.kind = fields->kind, .error = fields->error};

	if (!object || fields->status < 0)
		return;
	if (object->type != MSGPACK_OBJECT_MAP) {
		field_fail(fields, "counts", "is not a map");
		return;
	}
	inner.map = &object->via.map;
	inner.status = check_keys(inner.map, WIRE_MAX_KEYS, "\"counts\"", fields->error);
	if (inner.status == 0) {
		counts->told = true;
		counts->logged = field_uint(&inner, "logged", OPTIONAL, 0, UINT64_MAX);
		counts->refused = field_uint(&inner, "refused", OPTIONAL, 0, UINT64_MAX);
		counts->dropped = field_uint(&inner, "dropped", OPTIONAL, 0, UINT64_MAX);
		counts->spooled = field_uint(&inner, "spooled", OPTIONAL, 0, UINT64_MAX);
		counts->waits = field_uint(&inner, "waits", OPTIONAL, 0, UINT64_MAX);
	}
	fields->status = inner.status;
}

/* A code or a message beyond the limits is not for us to read, but that it is an error is understood. */
static void
decode_error(struct fields *fields, struct wire_error *reply)
{
	struct fields lenient = *fields;

	lenient.error = NULL;
	reply->code = wire_error_code_from_name(field_text(fields, "code", REQUIRED, WIRE_MAX_FRAME, true));
	reply->message = field_text(&lenient, "message", REQUIRED, WIRE_MAX_MESSAGE, false);
	reply->sequence = field_uint(fields, "q", OPTIONAL, 0, UINT64_MAX);
}

static void
decode_kind(wire_decoder *decoder, struct fields *fields, struct wire_frame *frame)
{
	switch (frame->kind) {
	case WIRE_OPEN:
		decode_open(decoder, fields, &frame->open);
		break;
	case WIRE_BATCH:
		decode_batch(fields, &frame->batch);
		break;
	case WIRE_END_EPOCH:
		frame->end_epoch.sequence = field_uint(fields, "q", REQUIRED, 1, UINT64_MAX);
		frame->end_epoch.epoch = (uint32_t)field_uint(fields, "e", REQUIRED, 0, WIRE_MAX_EPOCH);
		break;
	case WIRE_CLOSE:
		frame->close.sequence = field_uint(fields, "q", REQUIRED, 1, UINT64_MAX);
		decode_counts(fields, &frame->close.counts);
		break;
	case WIRE_PING:
		decode_counts(fields, &frame->ping.counts);
		break;
	case WIRE_REMOVE:
		frame->remove.run = field_run(fields);
		break;
	case WIRE_OPENED:
		frame->opened.acknowledged = field_uint(fields, "a", REQUIRED, 0, UINT64_MAX);
		frame->opened.credit = field_uint(fields, "c", REQUIRED, 0, UINT64_MAX);
		frame->opened.id_kind = (enum wire_id_kind)field_choice(fields, "ids", wire_id_kind_names, WIRE_ID_NONE,
		                                                        WIRE_ID_STR + 1);
		break;
	case WIRE_ACK:
		frame->ack.acknowledged = field_uint(fields, "a", REQUIRED, 0, UINT64_MAX);
		frame->ack.credit = field_uint(fields, "c", REQUIRED, 0, UINT64_MAX);
		frame->ack.replaced = field_uint(fields, "replaced", OPTIONAL, 0, UINT64_MAX);
		frame->ack.refused = field_uint(fields, "refused", OPTIONAL, 0, UINT64_MAX);
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
	struct fields fields = {.map = map, .kind = "a", .error = error};
	uint64_t version;

	if (check_keys(map, WIRE_MAX_KEYS, "frame", error) < 0)
		return PORTOLAN_E_INVALID;
	/* The version decides what everything else means, so it is judged first. */
	version = field_uint(&fields, "v", REQUIRED, 0, UINT64_MAX);
	if (fields.status == 0 && version != WIRE_VERSION) {
		*code = WIRE_E_VERSION;
		return wrong_version(version, error);
	}
	frame->kind = (enum wire_kind)field_choice(&fields, "t", wire_kind_names, WIRE_OPEN, WIRE_ERROR + 1);
	fields.kind = wire_kind_names[frame->kind];
	field_session(&fields, frame->session);
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
