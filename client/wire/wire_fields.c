/*
 * wire_fields.c: the fields of a decoded map, by key.
 */
#include "wire_fields.h"

#include <portolan/error.h>

#include "wire_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORD 32 /* bytes of the name of a kind, mode or code */

void
wire_field_fail(struct wire_fields *fields, const char *key, const char *format, ...)
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

const msgpack_object *
wire_field_find(struct wire_fields *fields, const char *key, enum wire_need need)
{
	for (uint32_t i = 0; i < fields->map->size; i++)
		if (wire_bytes_equal(wire_bytes_of_string(&fields->map->ptr[i].key), key))
			return &fields->map->ptr[i].val;
	if (need == WIRE_REQUIRED)
		wire_field_fail(fields, key, "is missing");
	return NULL;
}

uint64_t
wire_field_uint(struct wire_fields *fields, const char *key, enum wire_need need, uint64_t least, uint64_t most)
{
	const msgpack_object *object = wire_field_find(fields, key, need);

	if (!object)
		return 0;
	if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
		wire_field_fail(fields, key, "is not an unsigned integer");
		return 0;
	}
	if (object->via.u64 < least || object->via.u64 > most) {
		wire_field_fail(fields, key, "is %llu, not within %llu to %llu", (unsigned long long)object->via.u64,
		                (unsigned long long)least, (unsigned long long)most);
		return 0;
	}
	return object->via.u64;
}

bool
wire_field_bool(struct wire_fields *fields, const char *key)
{
	const msgpack_object *object = wire_field_find(fields, key, WIRE_OPTIONAL);

	if (object && object->type != MSGPACK_OBJECT_BOOLEAN)
		wire_field_fail(fields, key, "is not true or false");
	return object && object->type == MSGPACK_OBJECT_BOOLEAN && object->via.boolean;
}

struct wire_bytes
wire_field_text(struct wire_fields *fields, const char *key, enum wire_need need, size_t most, bool multi_line)
{
	const msgpack_object *object = wire_field_find(fields, key, need);
	struct wire_bytes text = {(const uint8_t *)"", 0};

	if (!object)
		return text;
	if (object->type != MSGPACK_OBJECT_STR) {
		wire_field_fail(fields, key, "is not a string");
	} else if (object->via.str.size > most) {
		wire_field_fail(fields, key, "has %u bytes; the limit is %zu", object->via.str.size, most);
	} else if (!wire_text_is_valid(wire_bytes_of_string(object).data, object->via.str.size, multi_line)) {
		wire_field_fail(fields, key, "is not UTF-8%s", multi_line ? "" : " without control characters");
	} else {
		text = wire_bytes_of_string(object);
	}
	return text;
}

unsigned
wire_field_choice(struct wire_fields *fields, const char *key, const char *const *names, unsigned first, unsigned count)
{
	struct wire_bytes text = wire_field_text(fields, key, WIRE_REQUIRED, MAX_WORD, false);

	for (unsigned i = first; i < count; i++)
		if (wire_bytes_equal(text, names[i]))
			return i;
	wire_field_fail(fields, key, "has a value this version does not know");
	return first;
}

void
wire_field_session(struct wire_fields *fields, uint8_t session[WIRE_SESSION_SIZE])
{
	const msgpack_object *object = wire_field_find(fields, "s", WIRE_REQUIRED);

	if (!object)
		return;
	if (object->type != MSGPACK_OBJECT_BIN || object->via.bin.size != WIRE_SESSION_SIZE)
		wire_field_fail(fields, "s", "is not bin of %d bytes", WIRE_SESSION_SIZE);
	else
		memcpy(session, object->via.bin.ptr, WIRE_SESSION_SIZE);
}

const uint8_t *
wire_field_store(struct wire_fields *fields)
{
	const msgpack_object *object = wire_field_find(fields, "store", WIRE_OPTIONAL);

	if (!object)
		return NULL;
	if (object->type == MSGPACK_OBJECT_BIN && object->via.bin.size == WIRE_STORE_SIZE)
		return (const uint8_t *)object->via.bin.ptr;
	wire_field_fail(fields, "store", "is not bin of %d bytes", WIRE_STORE_SIZE);
	return NULL;
}

int
wire_check_keys(const msgpack_object_map *map, uint32_t most, const char *where, struct portolan_error *error)
{
	if (map->size > most)
		return error_set(error, PORTOLAN_E_INVALID, "%s has %u keys; the limit is %u", where, map->size, most);
	for (uint32_t i = 0; i < map->size; i++) {
		struct wire_bytes key;

		if (map->ptr[i].key.type != MSGPACK_OBJECT_STR)
			return error_set(error, PORTOLAN_E_INVALID, "%s has a key that is not a string", where);
		key = wire_bytes_of_string(&map->ptr[i].key);
		for (uint32_t j = 0; j < i; j++) {
			struct wire_bytes other = wire_bytes_of_string(&map->ptr[j].key);

			if (other.size == key.size && memcmp(other.data, key.data, key.size) == 0)
				return error_set(error, PORTOLAN_E_INVALID, "%s has the same key twice (number %u)",
				                 where, i + 1);
		}
	}
	return 0;
}
