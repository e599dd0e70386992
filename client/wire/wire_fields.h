/*
 * wire_fields.h: reading the fields of a map that msgpack has decoded; private to the wire codec.
 *
 * The first thing wrong is kept in `status`, with its message; later fetches answer zeros. What is fetched points into
 * the map.
 */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include <portolan/wire.h>

#include <msgpack.h>

/* The map being read, and the first error in it. */
struct wire_fields {
	const msgpack_object_map *map;
	const char *kind; /* of the frame, for messages */
	struct portolan_error *error;
	int status;
};

enum wire_need { WIRE_OPTIONAL, WIRE_REQUIRED };

__attribute__((format(printf, 3, 4))) void wire_field_fail(struct wire_fields *fields, const char *key,
                                                           const char *format, ...);

/* NULL: not there. */
const msgpack_object *wire_field_find(struct wire_fields *fields, const char *key, enum wire_need need);
uint64_t wire_field_uint(struct wire_fields *fields, const char *key, enum wire_need need, uint64_t least,
                         uint64_t most);
bool wire_field_bool(struct wire_fields *fields, const char *key); /* false if it is not there */
/* UTF-8 of at most `most` bytes, without control characters, but for those of several lines if `multi_line`. */
struct wire_bytes wire_field_text(struct wire_fields *fields, const char *key, enum wire_need need, size_t most,
                                  bool multi_line);
/* Index in `names` of the string under `key`; the first index is `first`. */
unsigned wire_field_choice(struct wire_fields *fields, const char *key, const char *const *names, unsigned first,
                           unsigned count);
void wire_field_session(struct wire_fields *fields, uint8_t session[WIRE_SESSION_SIZE]);
const uint8_t *wire_field_store(struct wire_fields *fields); /* NULL: not there */

/* Keys must be strings, each once: a second one would be a second opinion about the same thing. `where`, for messages.
 */
int wire_check_keys(const msgpack_object_map *map, uint32_t most, const char *where, struct portolan_error *error);

/* The library has NULL where nothing is, which memcmp() and memcpy() do not take. */
static inline struct wire_bytes
wire_bytes_at(const char *data, uint32_t size)
{
	return (struct wire_bytes){(const uint8_t *)(size ? data : ""), size};
}

static inline struct wire_bytes
wire_bytes_of_string(const msgpack_object *object)
{
	return wire_bytes_at(object->via.str.ptr, object->via.str.size);
}

#endif
