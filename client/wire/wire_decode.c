/*
 * wire_decode.c: makes a checked struct wire_frame of bytes that client or collector have received. WIRE.md describes
 * the frames.
 *
 * wire_scan() has bounded the frame before the library builds objects from it. The fields are then fetched by key, as
 * the table of wire_fields.h says, so keys that are not in the table are skipped. The decoder remembers the first
 * error, and checks for it once at the end.
 */
#include <portolan/wire.h>

#include <portolan/error.h>

#include "wire_check.h"
#include "wire_fields.h"

#include <msgpack.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wire_decoder {
	msgpack_unpacked unpacked;
	struct wire_bytes labels[WIRE_MAX_LABELS]; /* a megabyte of address space; only used pages take memory */
};

/* A map that is being read, and the first error in it. */
struct reader {
	const msgpack_object_map *map;
	const char *kind; /* of the frame, for messages */
	struct portolan_error *error;
	int status;
};

/* The keys that every frame has. */
struct head {
	uint64_t version;
	enum wire_kind kind;
	const uint8_t *session;
};

enum { VERSION, KIND, SESSION };

static const struct wire_field head_fields[] = {
        [VERSION] = {"v", WIRE_IN_COUNTS, WIRE_NUMBER, WIRE_REQUIRED, WIRE_MEMBER(struct head, version), 0, UINT64_MAX},
        [KIND] = {"t", WIRE_IN_COUNTS, WIRE_WORD, WIRE_REQUIRED, WIRE_MEMBER(struct head, kind), WIRE_OPEN,
                  WIRE_LAST_KIND, wire_kind_names},
        [SESSION] = {"s", WIRE_IN_COUNTS, WIRE_ID, WIRE_REQUIRED, WIRE_MEMBER(struct head, session)},
};

__attribute__((format(printf, 3, 4))) static void
reader_fail(struct reader *reader, const char *key, const char *format, ...)
{
	char what[160];
	va_list arguments;

	if (reader->status < 0)
		return;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	reader->status = error_set(reader->error, PORTOLAN_E_INVALID, "%s frame: \"%s\" %s", reader->kind, key, what);
}

/* The msgpack library gives NULL for empty data. memcmp() and memcpy() do not accept that, so it becomes "". */
static struct wire_bytes
object_bytes(const char *data, uint32_t size)
{
	return (struct wire_bytes){(const uint8_t *)(size ? data : ""), size};
}

static struct wire_bytes
object_string(const msgpack_object *object)
{
	return object_bytes(object->via.str.ptr, object->via.str.size);
}

/* Finds the value under a key. NULL: the key is not there, which is an error if it is required. */
static const msgpack_object *
reader_find(struct reader *reader, const char *key, enum wire_need need)
{
	for (uint32_t i = 0; i < reader->map->size; i++)
		if (wire_bytes_equal(object_string(&reader->map->ptr[i].key), key))
			return &reader->map->ptr[i].val;
	if (need == WIRE_REQUIRED)
		reader_fail(reader, key, "is missing");
	return NULL;
}

/* Checks that keys are strings, and that each comes once only: two values could contradict each other. `where`: for
 * messages. */
static int
decode_check_keys(const msgpack_object_map *map, uint32_t most, const char *where, struct portolan_error *error)
{
	if (map->size > most)
		return error_set(error, PORTOLAN_E_INVALID, "%s has %u keys; the limit is %u", where, map->size, most);
	for (uint32_t i = 0; i < map->size; i++) {
		struct wire_bytes key;

		if (map->ptr[i].key.type != MSGPACK_OBJECT_STR)
			return error_set(error, PORTOLAN_E_INVALID, "%s has a key that is not a string", where);
		key = object_string(&map->ptr[i].key);
		for (uint32_t j = 0; j < i; j++) {
			struct wire_bytes other = object_string(&map->ptr[j].key);

			if (other.size == key.size && memcmp(other.data, key.data, key.size) == 0)
				return error_set(error, PORTOLAN_E_INVALID, "%s has the same key twice (number %u)",
				                 where, i + 1);
		}
	}
	return 0;
}

static void
decode_number(struct reader *reader, const struct wire_field *field, const msgpack_object *object, void *value)
{
	uint64_t number = object->via.u64;

	if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		reader_fail(reader, field->key, "is not an unsigned integer");
	else if (number < field->least || number > field->most)
		reader_fail(reader, field->key, "is %llu, not within %llu to %llu", (unsigned long long)number,
		            (unsigned long long)field->least, (unsigned long long)field->most);
	else if (field->size == sizeof(uint32_t))
		*(uint32_t *)value = (uint32_t)number;
	else
		*(uint64_t *)value = number;
}

static struct wire_bytes
decode_text(struct reader *reader, const char *key, const msgpack_object *object, uint64_t most, bool multi_line)
{
	if (object->type != MSGPACK_OBJECT_STR)
		reader_fail(reader, key, "is not a string");
	else if (object->via.str.size > most)
		reader_fail(reader, key, "has %u bytes; the limit is %llu", object->via.str.size,
		            (unsigned long long)most);
	else if (!wire_text_is_valid(object_string(object).data, object->via.str.size, multi_line))
		reader_fail(reader, key, "is not UTF-8%s", multi_line ? "" : " without control characters");
	else
		return object_string(object);
	return object_bytes(NULL, 0);
}

static void
decode_word(struct reader *reader, const struct wire_field *field, const msgpack_object *object, void *value)
{
	struct wire_bytes word = decode_text(reader, field->key, object, WIRE_MAX_FRAME, true);
	unsigned index = wire_find_word(field->words, (unsigned)field->least, (unsigned)field->most, word);

	if (index > field->most && field->type == WIRE_CODE)
		index = (unsigned)field->most;
	if (index > field->most)
		reader_fail(reader, field->key, "has a value this version does not know");
	else
		memcpy(value, &index, sizeof(index));
}

static void decode_fields(struct reader *reader, enum wire_kind kind, void *base);

/* Decodes the counts. A count that is not there is 0; unknown keys are skipped. */
static void
decode_counts(struct reader *reader, const struct wire_field *field, const msgpack_object *object,
              struct wire_counts *counts)
{
	struct reader inner = {.map = &object->via.map, .kind = reader->kind, .error = reader->error};

	if (object->type != MSGPACK_OBJECT_MAP) {
		reader_fail(reader, field->key, "is not a map");
		return;
	}
	counts->told = true;
	inner.status = decode_check_keys(inner.map, WIRE_MAX_KEYS, "\"counts\"", reader->error);
	decode_fields(&inner, WIRE_IN_COUNTS, counts);
	reader->status = inner.status;
}

static void
decode_value(struct reader *reader, const struct wire_field *field, const msgpack_object *object, void *value)
{
	struct reader lenient = {.kind = reader->kind};

	switch (field->type) {
	case WIRE_NUMBER:
		decode_number(reader, field, object, value);
		break;
	case WIRE_FLAG:
		if (object->type != MSGPACK_OBJECT_BOOLEAN)
			reader_fail(reader, field->key, "is not true or false");
		else
			*(bool *)value = object->via.boolean;
		break;
	case WIRE_TEXT:
	case WIRE_LINES:
		*(struct wire_bytes *)value =
		        decode_text(reader, field->key, object, field->most, field->type == WIRE_LINES);
		if (((struct wire_bytes *)value)->size < field->least)
			reader_fail(reader, field->key, "is empty");
		break;
	case WIRE_REMARK:
		*(struct wire_bytes *)value = decode_text(&lenient, field->key, object, field->most, false);
		break;
	case WIRE_WORD:
	case WIRE_CODE:
		decode_word(reader, field, object, value);
		break;
	case WIRE_ID:
		if (object->type != MSGPACK_OBJECT_BIN || object->via.bin.size != WIRE_SESSION_SIZE)
			reader_fail(reader, field->key, "is not bin of %d bytes", WIRE_SESSION_SIZE);
		else
			*(const uint8_t **)value = (const uint8_t *)object->via.bin.ptr;
		break;
	case WIRE_COUNTS:
		decode_counts(reader, field, object, value);
		break;
	}
}

static void
decode_field(struct reader *reader, const struct wire_field *field, void *base)
{
	const msgpack_object *object = reader_find(reader, field->key, field->need);
	void *value = (char *)base + field->offset;

	if (field->type == WIRE_TEXT || field->type == WIRE_LINES || field->type == WIRE_REMARK)
		*(struct wire_bytes *)value = object_bytes(NULL, 0);
	if (object)
		decode_value(reader, field, object, value);
}

static void
decode_fields(struct reader *reader, enum wire_kind kind, void *base)
{
	for (const struct wire_field *field = wire_fields; field->key && reader->status == 0; field++)
		if (field->kind == kind)
			decode_field(reader, field, base);
}

static void
decode_labels(struct reader *reader, wire_decoder *decoder, struct wire_open *open)
{
	const msgpack_object *object = reader_find(reader, "labels", WIRE_OPTIONAL);
	const msgpack_object_array *array;

	if (!object)
		return;
	array = &object->via.array;
	if (object->type != MSGPACK_OBJECT_ARRAY || array->size > WIRE_MAX_LABELS) {
		reader_fail(reader, "labels", "is not an array of at most %d strings", WIRE_MAX_LABELS);
		return;
	}
	for (uint32_t i = 0; i < array->size; i++) {
		const msgpack_object *label = &array->ptr[i];

		if (label->type != MSGPACK_OBJECT_STR ||
		    !wire_name_is_valid(object_string(label).data, label->via.str.size, true)) {
			reader_fail(reader, "labels",
			            "number %u is not a string of at most %d bytes of UTF-8 without control characters",
			            i, WIRE_MAX_NAME);
			return;
		}
		decoder->labels[i] = object_string(label);
	}
	open->labels = decoder->labels;
	open->label_count = array->size;
}

/* Decodes a column, [type, bin], under `key`. Checks that the size fits the rows, and each string. */
static void
decode_column(struct reader *reader, const char *key, const msgpack_object *object, uint32_t rows, enum wire_type *type,
              struct wire_bytes *data)
{
	const msgpack_object *pair = object->via.array.ptr;
	unsigned index;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size != 2 || pair[0].type != MSGPACK_OBJECT_STR ||
	    pair[1].type != MSGPACK_OBJECT_BIN) {
		reader_fail(reader, key, "is not [type, bin]");
		return;
	}
	index = wire_find_word(wire_type_names, WIRE_F4, WIRE_STR, object_string(&pair[0]));
	*type = (enum wire_type)index;
	*data = object_bytes(pair[1].via.bin.ptr, pair[1].via.bin.size);
	if (index > WIRE_STR)
		reader_fail(reader, key, "has an unknown type");
	else if (*type == WIRE_STR)
		reader->status = wire_check_strings(*data, rows, reader->error);
	else if (!wire_size_is_right(*type, rows, data->size))
		reader_fail(reader, key, "has %zu bytes, which is not %u rows of %s", data->size, rows,
		            wire_type_names[*type]);
}

static void
decode_columns(struct reader *reader, struct wire_batch *batch)
{
	const msgpack_object *object = reader_find(reader, "columns", WIRE_REQUIRED);
	bool gold_prob = false, correct = false, task_loss = false;

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_MAP) {
		reader_fail(reader, "columns", "is not a map");
		return;
	}
	if (decode_check_keys(&object->via.map, WIRE_MAX_COLUMNS, "batch frame: \"columns\"", reader->error) < 0) {
		reader->status = PORTOLAN_E_INVALID;
		return;
	}
	for (uint32_t i = 0; i < object->via.map.size && reader->status == 0; i++) {
		struct wire_column *column = &batch->columns[i];
		char key[WIRE_MAX_COLUMN_NAME + 1] = "";

		column->name = object_string(&object->via.map.ptr[i].key);
		if (!wire_column_name_is_valid(column->name.data, column->name.size)) {
			reader_fail(reader, "columns", "has a name that is not 1–%d of a–z, 0–9 and _ (number %u)",
			            WIRE_MAX_COLUMN_NAME, i + 1);
			return;
		}
		memcpy(key, column->name.data, column->name.size);
		decode_column(reader, key, &object->via.map.ptr[i].val, batch->rows, &column->type, &column->data);
		if (reader->status == 0 && column->type != wire_column_type(column->name))
			reader_fail(reader, key, "must be %s", wire_type_names[wire_column_type(column->name)]);
		gold_prob |= strcmp(key, "gold_prob") == 0;
		correct |= strcmp(key, "correct") == 0;
		task_loss |= strcmp(key, "task_loss") == 0;
	}
	batch->column_count = object->via.map.size;
	if (task_loss ? gold_prob || correct : !gold_prob || !correct)
		reader_fail(reader, "columns", "must hold gold_prob and correct, or task_loss");
}

static void
decode_ids(struct reader *reader, uint32_t rows, enum wire_type *type, struct wire_bytes *data)
{
	const msgpack_object *ids = reader_find(reader, "ids", WIRE_REQUIRED);

	if (reader->status < 0)
		return;
	decode_column(reader, "ids", ids, rows, type, data);
	if (reader->status == 0 && *type != WIRE_U4 && *type != WIRE_U8 && *type != WIRE_STR)
		reader_fail(reader, "ids", "must be u4, u8 or str");
}

static void
decode_rows(struct reader *reader, struct wire_batch *batch)
{
	decode_ids(reader, batch->rows, &batch->id_type, &batch->ids);
	if (reader->status == 0)
		decode_columns(reader, batch);
}

/* Decodes the names of the fields; each is there once. */
static void
decode_text_fields(struct reader *reader, struct wire_examples *examples)
{
	const msgpack_object *object = reader_find(reader, "fields", WIRE_REQUIRED);

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size == 0 ||
	    object->via.array.size > WIRE_MAX_TEXT_FIELDS) {
		reader_fail(reader, "fields", "is not an array of 1 to %d names", WIRE_MAX_TEXT_FIELDS);
		return;
	}
	for (uint32_t i = 0; i < object->via.array.size; i++) {
		const msgpack_object *name = &object->via.array.ptr[i];

		if (name->type != MSGPACK_OBJECT_STR ||
		    !wire_field_name_is_valid(object_string(name).data, name->via.str.size)) {
			reader_fail(reader, "fields", "number %u is not 1–%d of A–Z, a–z, 0–9 and _, or is \"id\"", i,
			            WIRE_MAX_COLUMN_NAME);
			return;
		}
		examples->fields[i] = object_string(name);
		for (uint32_t j = 0; j < i; j++)
			if (examples->fields[j].size == name->via.str.size &&
			    memcmp(examples->fields[j].data, name->via.str.ptr, name->via.str.size) == 0)
				reader_fail(reader, "fields", "has the same name twice (number %u)", i);
	}
	examples->field_count = object->via.array.size;
}

static void
decode_examples(struct reader *reader, struct wire_examples *examples)
{
	const msgpack_object *texts = reader_find(reader, "texts", WIRE_REQUIRED);

	decode_ids(reader, examples->rows, &examples->id_type, &examples->ids);
	decode_text_fields(reader, examples);
	if (reader->status < 0)
		return;
	if (texts->type != MSGPACK_OBJECT_BIN) {
		reader_fail(reader, "texts", "is not bin");
		return;
	}
	examples->texts = object_bytes(texts->via.bin.ptr, texts->via.bin.size);
	reader->status = wire_check_texts(examples, reader->error);
}

static int
decode_wrong_version(uint64_t version, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID,
	                 "frame is of wire version %llu; this side speaks version %d: use the same release on both",
	                 (unsigned long long)version, WIRE_VERSION);
}

static int
decode_map(wire_decoder *decoder, const msgpack_object_map *map, struct wire_frame *frame, enum wire_error_code *code,
           struct portolan_error *error)
{
	struct reader reader = {.map = map, .kind = "a", .error = error};
	struct head head = {.version = WIRE_VERSION};

	if (decode_check_keys(map, WIRE_MAX_KEYS, "frame", error) < 0)
		return PORTOLAN_E_INVALID;
	/* The version decides what all other keys mean, so it is checked first. */
	decode_field(&reader, &head_fields[VERSION], &head);
	if (head.version != WIRE_VERSION) {
		*code = WIRE_E_VERSION;
		return decode_wrong_version(head.version, error);
	}
	decode_field(&reader, &head_fields[KIND], &head);
	if (reader.status < 0)
		return reader.status;
	reader.kind = wire_kind_names[head.kind];
	decode_field(&reader, &head_fields[SESSION], &head);
	if (reader.status < 0)
		return reader.status;
	frame->kind = head.kind;
	memcpy(frame->session, head.session, WIRE_SESSION_SIZE);
	decode_fields(&reader, frame->kind, frame);
	if (frame->kind == WIRE_BATCH)
		decode_rows(&reader, &frame->batch);
	else if (frame->kind == WIRE_EXAMPLES)
		decode_examples(&reader, &frame->examples);
	else if (frame->kind == WIRE_OPEN)
		decode_labels(&reader, decoder, &frame->open);
	return reader.status;
}

int
wire_decode(wire_decoder *decoder, const void *data, size_t size, struct wire_frame *frame, enum wire_error_code *code,
            struct portolan_error *error)
{
	struct wire_frame decoded = {0};
	enum wire_error_code why = WIRE_E_MALFORMED;
	uint64_t version = wire_leading_version(data, size);
	msgpack_unpack_return result;
	struct wire_head ignored;
	size_t offset = 0;
	int status;

	if (version != WIRE_VERSION) {
		why = WIRE_E_VERSION;
		status = decode_wrong_version(version, error);
	} else {
		status = wire_scan(data, size, &ignored, error);
	}
	if (status == 0) {
		result = msgpack_unpack_next(&decoder->unpacked, data, size, &offset);
		if (result == MSGPACK_UNPACK_NOMEM_ERROR)
			status = error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of %zu bytes", size);
		else if (result != MSGPACK_UNPACK_SUCCESS || decoder->unpacked.data.type != MSGPACK_OBJECT_MAP)
			status = error_set(error, PORTOLAN_E_INVALID, "frame is not msgpack");
		else
			status = decode_map(decoder, &decoder->unpacked.data.via.map, &decoded, &why, error);
	}
	if (status == 0)
		*frame = decoded;
	else if (code)
		*code = status == PORTOLAN_E_MEMORY ? WIRE_E_UNAVAILABLE : why;
	return status;
}

bool
wire_answers(const struct wire_frame *frame, const uint8_t session[WIRE_SESSION_SIZE])
{
	static const uint8_t nobody[WIRE_SESSION_SIZE];

	return memcmp(frame->session, session, WIRE_SESSION_SIZE) == 0 ||
	       (frame->kind == WIRE_ERROR && memcmp(frame->session, nobody, WIRE_SESSION_SIZE) == 0);
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
	free(decoder);
}
