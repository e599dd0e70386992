/*
 * wire_check.h: checks of a frame that need no msgpack library: its tokens, text, names and columns. For the codec,
 * before it decodes, and for the client library, which checks its callers' arguments by the same rules. Pure functions;
 * nothing is allocated.
 */
#ifndef CLIENT_WIRE_CHECK_H
#define CLIENT_WIRE_CHECK_H

#include <portolan/wire.h>

/* Most objects of a frame, containers and map keys counted: the labels, and room for the rest. */
#define WIRE_MAX_OBJECTS (WIRE_MAX_LABELS + 1024u)
/* Most keys of the frame's own map, unknown ones counted. */
#define WIRE_MAX_KEYS 64u

/* Walks the tokens of `data` without building anything: one map, that ends where the data ends, with
 * containers no deeper than WIRE_MAX_DEPTH and no more than WIRE_MAX_OBJECTS objects. PORTOLAN_E_INVALID otherwise.
 * *head: as for wire_peek(); its kind is 0 where there is none. */
int wire_scan(const uint8_t *data, size_t size, struct wire_head *head, struct portolan_error *error);

/* The version of a frame whose first key is `v`, whatever follows: a later version may nest deeper, for instance.
 * WIRE_VERSION if the first key is another one. */
uint64_t wire_leading_version(const uint8_t *data, size_t size);

/* Valid UTF-8 (no surrogates, no overlong forms), no U+0000; without control characters unless `multi_line`. */
bool wire_text_is_valid(const void *data, size_t size, bool multi_line);

/* 1–32 bytes, [a-z][a-z0-9_]*. */
bool wire_column_name_is_valid(const void *data, size_t size);

/* The type a column of this name has: that of the built-in columns, f4 for every other name. */
enum wire_type wire_column_type(struct wire_bytes name);

/* Do `rows` values of a type of fixed size (every type but WIRE_STR) take `size` bytes? */
bool wire_size_is_right(enum wire_type type, uint32_t rows, size_t size);

/* Checks a WIRE_STR column of ids: lengths, the sum of lengths, and every string. */
int wire_check_strings(struct wire_bytes ids, uint32_t rows, struct portolan_error *error);

#endif
