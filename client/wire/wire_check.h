/*
 * wire_check.h: checks of a frame that need no msgpack library: its tokens, text, names and columns. For the codec,
 * before it decodes, and for the client library, which checks its callers' arguments by the same rules. Pure functions;
 * nothing is allocated.
 */
#ifndef CLIENT_WIRE_CHECK_H
#define CLIENT_WIRE_CHECK_H

#include <portolan/wire.h>

/* The most objects in a frame, containers and keys of maps included: the labels, and room for the rest. */
#define WIRE_MAX_OBJECTS (WIRE_MAX_LABELS + 1024u)
/* The most keys in the frame's own map, unknown ones included. */
#define WIRE_MAX_KEYS 64u

/* Reads the tokens of `data` without building anything. `data` must be one map that ends where the data ends, with
 * containers no deeper than WIRE_MAX_DEPTH and no more than WIRE_MAX_OBJECTS objects; otherwise PORTOLAN_E_INVALID.
 * Fills in *head as wire_peek() does; head->kind is 0 if the frame has no head. */
int wire_scan(const uint8_t *data, size_t size, struct wire_head *head, struct portolan_error *error);

/* The version of a frame, if `v` is its first key; else WIRE_VERSION. Nothing behind the version is checked, as another
 * version may have other rules. */
uint64_t wire_leading_version(const uint8_t *data, size_t size);

/* Is it valid UTF-8 (no surrogates, no overlong forms) without U+0000? Other control characters are valid only with
 * `multi_line`. */
bool wire_text_is_valid(const void *data, size_t size, bool multi_line);

/* Is it 1–32 bytes of the form [a-z][a-z0-9_]*? */
bool wire_column_name_is_valid(const void *data, size_t size);

/* The type of the column of this name: WIRE_F4, unless it is a built-in column of another type. */
enum wire_type wire_column_type(struct wire_bytes name);

/* Do `rows` values of a type of fixed size (every type but WIRE_STR) take `size` bytes? */
bool wire_size_is_right(enum wire_type type, uint32_t rows, size_t size);

/* Checks the texts of a frame, of which rows and fields are set: lengths, their sums, limits, UTF-8. */
int wire_check_texts(const struct wire_examples *examples, struct portolan_error *error);

/* Checks a WIRE_STR column of ids: the lengths, their sum, and every string. */
int wire_check_strings(struct wire_bytes ids, uint32_t rows, struct portolan_error *error);

#endif
