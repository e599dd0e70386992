/*
 * wire_check.c: checks what can be checked of a frame without a msgpack library: for the codec, before it decodes bytes
 * that somebody sent, and for the client library, before it sends.
 *
 * A decoded msgpack object takes 24 bytes where the frame may have spent one. The msgpack library makes room for what a
 * container announces, and has no limit of its own. So wire_scan() first reads the token headers, in one pass without
 * memory, and refuses frames that would take too much memory or do not end where the data end. The library can safely
 * decode any frame that passes.
 */
#include "wire_check.h"

#include "wire_fields.h"

#include <portolan/error.h>
#include <portolan/utf8.h>

#include <string.h>

/* What the header of a msgpack object says. */
struct token {
	size_t head;       /* bytes of the header */
	uint64_t payload;  /* bytes that follow it */
	uint64_t children; /* objects that follow it (a map entry is two) */
	bool is_container, is_map;
};

/* For each first byte from 0xc0 on. length: so many bytes follow that hold a length; payload: so many bytes always
 * follow (an extension's type, a number); per_entry: so many objects for each entry of a container. */
static const struct {
	uint8_t length, payload, per_entry;
} forms[0x20] = {
        [0x04] = {1},       {2},       {4},                     /* bin */
        [0x07] = {1, 1},    {2, 1},    {4, 1},                  /* ext */
        [0x0a] = {0, 4},    {0, 8},                             /* float */
        [0x0c] = {0, 1},    {0, 2},    {0, 4}, {0, 8},          /* uint */
        [0x10] = {0, 1},    {0, 2},    {0, 4}, {0, 8},          /* int */
        [0x14] = {0, 2},    {0, 3},    {0, 5}, {0, 9}, {0, 17}, /* fixext */
        [0x19] = {1},       {2},       {4},                     /* str */
        [0x1c] = {2, 0, 1}, {4, 0, 1},                          /* array */
        [0x1e] = {2, 0, 2}, {4, 0, 2},                          /* map */
};

static uint64_t
token_read_big_endian(const uint8_t *data, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | data[i];
	return value;
}

/* Reads the header of an object. False: the object is cut short, or is not msgpack. */
static bool
token_read(const uint8_t *data, size_t left, struct token *token)
{
	uint8_t byte = left > 0 ? data[0] : 0xc1, length;
	unsigned per_entry;
	uint64_t count;

	*token = (struct token){.head = 1};
	if (byte < 0x80 || byte >= 0xe0)
		return true; /* a small integer */
	if (byte < 0xc0) {
		length = 0;
		per_entry = byte < 0x90 ? 2 : byte < 0xa0;
		count = byte & (per_entry ? 0x0f : 0x1f);
	} else {
		length = forms[byte - 0xc0].length;
		per_entry = forms[byte - 0xc0].per_entry;
		if (byte == 0xc1 || left <= length) /* 0xc1 is never used */
			return false;
		count = token_read_big_endian(data + 1, length) + forms[byte - 0xc0].payload;
	}
	token->head += length;
	token->is_container = per_entry > 0;
	token->is_map = per_entry == 2;
	*(per_entry ? &token->children : &token->payload) = per_entry ? count * per_entry : count;
	return true;
}

/* Reads an unsigned integer in msgpack's form. */
static bool
token_read_uint(const uint8_t *data, size_t left, uint64_t *value)
{
	size_t width = left > 0 && data[0] >= 0xcc && data[0] <= 0xcf ? (size_t)1 << (data[0] - 0xcc) : 0;

	if (left <= width || (width == 0 && data[0] >= 0x80))
		return false;
	*value = width ? token_read_big_endian(data + 1, width) : data[0];
	return true;
}

/* Notes in `head` the value that stands under a key of one letter. Returns true if that is the session's id. */
static bool
head_note_value(struct wire_head *head, uint8_t key, const uint8_t *data, const struct token *token)
{
	const struct wire_bytes value = {data + token->head, token->payload};
	unsigned kind;

	if (key == 't') {
		kind = wire_find_word(wire_kind_names, WIRE_OPEN, WIRE_LAST_KIND, value);
		head->kind = kind <= WIRE_LAST_KIND ? (enum wire_kind)kind : 0;
	} else if (key == 'q' && !token_read_uint(data, token->head + token->payload, &head->sequence)) {
		head->sequence = 0;
	} else if (key == 's' && data[0] == 0xc4 && value.size == WIRE_SESSION_SIZE) {
		memcpy(head->session, value.data, WIRE_SESSION_SIZE);
		return true;
	}
	return false;
}

__attribute__((cold)) int /* called once a frame: compiled to be small rather than fast */
wire_scan(const uint8_t *data, size_t size, struct wire_head *head, struct portolan_error *error)
{
	uint64_t missing[WIRE_MAX_DEPTH + 1] = {1}; /* per open container, objects still to come; [0]: the frame's */
	size_t depth = 0, at = 0, objects = 0;
	bool is_map = false, has_session = false;
	uint8_t key = 0; /* the last key read in the frame's map, if it has one letter; else 0 */

	*head = (struct wire_head){0};
	if (size > WIRE_MAX_FRAME)
		return error_set(error, PORTOLAN_E_INVALID, "frame has %zu bytes; the limit is %u", size,
		                 WIRE_MAX_FRAME);
	for (;;) {
		struct token token;
		size_t begin = at;

		while (depth > 0 && missing[depth] == 0)
			depth--;
		if (missing[depth]-- == 0)
			break;
		if (at == size)
			return error_set(error, PORTOLAN_E_INVALID, "frame is cut short at byte %zu", at);
		if (!token_read(data + at, size - at, &token))
			return error_set(error, PORTOLAN_E_INVALID, "frame is not msgpack at byte %zu", at);
		objects++;
		at += token.head;
		/* Each child takes at least one byte, so there cannot be more children than bytes left. */
		if (token.payload > size - at || token.children > size - at)
			return error_set(error, PORTOLAN_E_INVALID, "frame is cut short at byte %zu", at);
		if (objects + token.children > WIRE_MAX_OBJECTS)
			return error_set(error, PORTOLAN_E_INVALID, "frame has more than %u msgpack objects",
			                 WIRE_MAX_OBJECTS);
		at += token.payload;
		if (depth == 0)
			is_map = token.is_map;
		else if (depth == 1 && missing[1] % 2 == 1)
			key = data[begin] == 0xa1 ? data[begin + 1] : 0;
		else if (depth == 1)
			has_session |= head_note_value(head, key, data + begin, &token);
		if (!token.is_container)
			continue;
		if (depth == WIRE_MAX_DEPTH)
			return error_set(error, PORTOLAN_E_INVALID, "frame nests deeper than %d", WIRE_MAX_DEPTH);
		missing[++depth] = token.children;
	}
	if (at != size)
		return error_set(error, PORTOLAN_E_INVALID, "frame has %zu bytes after its end", size - at);
	if (!is_map)
		return error_set(error, PORTOLAN_E_INVALID, "frame is not a msgpack map");
	if (!has_session)
		head->kind = 0;
	if (head->kind == WIRE_PING && size > WIRE_MAX_PING)
		return error_set(error, PORTOLAN_E_INVALID, "\"ping\" has %zu bytes; the limit is %d", size,
		                 WIRE_MAX_PING);
	return 0;
}

uint64_t
wire_leading_version(const uint8_t *data, size_t size)
{
	struct token map;
	uint64_t version;

	if (!token_read(data, size, &map) || !map.is_map || size - map.head < 2 ||
	    memcmp(data + map.head, "\xa1v", 2) != 0 ||
	    !token_read_uint(data + map.head + 2, size - map.head - 2, &version))
		return WIRE_VERSION;
	return version;
}

bool
wire_peek(const void *data, size_t size, struct wire_head *head)
{
	*head = (struct wire_head){0};
	return wire_leading_version(data, size) == WIRE_VERSION && wire_scan(data, size, head, NULL) == 0 &&
	       head->kind != 0;
}

/* Are all eight bytes within 0x20 … 0x7e, as in nearly all text? Computed for all bytes at once: the top bit of a byte
 * gets set if that byte is outside, or, by a borrow or a carry, if a lower byte is. */
static bool
text_is_plain_word(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	return ((word | (word - 0x2020202020202020) | (word + 0x0101010101010101)) & 0x8080808080808080) == 0;
}

bool
wire_text_is_valid(const void *data, size_t size, bool multi_line)
{
	const char *text = data;

	for (size_t at = 0; at < size;) {
		uint32_t point;
		size_t length;

		if (size - at >= 8 && text_is_plain_word(text + at)) {
			at += 8;
			continue;
		}
		length = utf8_read(text + at, size - at, &point);
		if (length == 0 || point == 0)
			return false;
		if (!multi_line && (point < 0x20 || (point >= 0x7f && point < 0xa0)))
			return false;
		at += length;
	}
	return true;
}

bool
wire_name_is_valid(const void *data, size_t size, bool may_be_empty)
{
	if (size == 0)
		return may_be_empty;
	return size <= WIRE_MAX_NAME && wire_text_is_valid(data, size, false);
}

bool
wire_column_name_is_valid(const void *data, size_t size)
{
	const char *name = data;

	if (size == 0 || size > WIRE_MAX_COLUMN_NAME || name[0] < 'a' || name[0] > 'z')
		return false;
	for (size_t i = 1; i < size; i++) {
		bool fits = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') || name[i] == '_';

		if (!fits)
			return false;
	}
	return true;
}

enum wire_type
wire_column_type(struct wire_bytes name)
{
	if (wire_bytes_equal(name, "correct"))
		return WIRE_BIT;
	if (wire_bytes_equal(name, "predicted") || wire_bytes_equal(name, "gold"))
		return WIRE_I4;
	return WIRE_F4;
}

bool
wire_size_is_right(enum wire_type type, uint32_t rows, size_t size)
{
	static const uint8_t bits[] = {
	        [WIRE_F4] = 32, [WIRE_I4] = 32, [WIRE_U4] = 32, [WIRE_U8] = 64, [WIRE_BIT] = 1, [WIRE_STR] = 0};

	return bits[type] > 0 && size == ((size_t)rows * bits[type] + 7) / 8;
}

int
wire_check_strings(struct wire_bytes ids, uint32_t rows, struct portolan_error *error)
{
	size_t at = rows;

	if (ids.size < rows)
		return error_set(error, PORTOLAN_E_INVALID, "\"ids\": %zu bytes cannot hold the lengths of %u strings",
		                 ids.size, rows);
	for (uint32_t r = 0; r < rows; r++) {
		size_t length = ids.data[r];

		if (length > ids.size - at)
			return error_set(error, PORTOLAN_E_INVALID, "\"ids\": string %u ends beyond the column", r);
		if (!wire_name_is_valid(ids.data + at, length, false))
			return error_set(error, PORTOLAN_E_INVALID,
			                 "\"ids\": string %u is empty, not UTF-8, or has control characters", r);
		at += length;
	}
	if (at != ids.size)
		return error_set(error, PORTOLAN_E_INVALID, "\"ids\": %zu bytes after the last string", ids.size - at);
	return 0;
}
