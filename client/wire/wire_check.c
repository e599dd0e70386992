/*
 * wire_check.c: the rules of the wire that need no msgpack library.
 *
 * A decoded msgpack object takes 24 bytes where the frame may have spent one, so wire_scan() reads the token headers
 * first, in one pass without memory, and refuses what would blow up or does not end with the frame. What passes
 * it can be handed to the library without further thought about size.
 */
#include "wire_check.h"

#include <portolan/error.h>
#include <portolan/utf8.h>

#include <string.h>

const char *const wire_kind_names[] = {
        [WIRE_OPEN] = "open",     [WIRE_BATCH] = "batch", [WIRE_END_EPOCH] = "end",
        [WIRE_CLOSE] = "close",   [WIRE_PING] = "ping",   [WIRE_REMOVE] = "remove",
        [WIRE_OPENED] = "opened", [WIRE_ACK] = "ack",     [WIRE_ERROR] = "error",
};
const char *const wire_mode_names[] = {
        [PORTOLAN_EPOCH_END] = "epoch-end",
        [PORTOLAN_TRAIN_FORWARD] = "train-forward",
};
const char *const wire_id_kind_names[] = {[WIRE_ID_NONE] = "none", [WIRE_ID_INT] = "int", [WIRE_ID_STR] = "str"};

struct token {
	size_t head;       /* bytes of the header */
	uint64_t payload;  /* bytes that follow it */
	uint64_t children; /* objects that follow it (a map entry is two) */
	bool container;
};

static uint64_t
read_big_endian(const uint8_t *data, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | data[i];
	return value;
}

/* Header with a length of `width` bytes, followed by `extra` bytes (the type of an extension). */
static bool
token_sized(const uint8_t *data, size_t left, size_t width, size_t extra, struct token *token)
{
	if (left < 1 + width)
		return false;
	token->head = 1 + width;
	token->payload = read_big_endian(data + 1, width) + extra;
	return true;
}

static bool
token_container(const uint8_t *data, size_t left, size_t width, unsigned per_entry, struct token *token)
{
	if (left < 1 + width)
		return false;
	token->head = 1 + width;
	token->children = read_big_endian(data + 1, width) * per_entry;
	token->container = true;
	return true;
}

static bool
token_read(const uint8_t *data, size_t left, struct token *token)
{
	static const uint8_t fixed_size[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17}; /* 0xca … 0xd8 */
	uint8_t byte = data[0];

	*token = (struct token){.head = 1};
	if (byte < 0x80 || byte >= 0xe0 || byte == 0xc0 || byte == 0xc2 || byte == 0xc3)
		return true;
	if (byte < 0xa0) {
		token->children = (uint64_t)(byte & 0x0f) * (byte < 0x90 ? 2 : 1);
		token->container = true;
		return true;
	}
	if (byte < 0xc0) {
		token->payload = byte & 0x1f;
		return true;
	}
	if (byte >= 0xca && byte <= 0xd8) {
		token->payload = fixed_size[byte - 0xca];
		return true;
	}
	switch (byte) {
	case 0xc4:
	case 0xc5:
	case 0xc6:
		return token_sized(data, left, (size_t)1 << (byte - 0xc4), 0, token);
	case 0xc7:
	case 0xc8:
	case 0xc9:
		return token_sized(data, left, (size_t)1 << (byte - 0xc7), 1, token);
	case 0xd9:
	case 0xda:
	case 0xdb:
		return token_sized(data, left, (size_t)1 << (byte - 0xd9), 0, token);
	case 0xdc:
	case 0xdd:
		return token_container(data, left, (size_t)2 << (byte - 0xdc), 1, token);
	case 0xde:
	case 0xdf:
		return token_container(data, left, (size_t)2 << (byte - 0xde), 2, token);
	default: /* 0xc1 is never used */
		return false;
	}
}

int
wire_scan(const uint8_t *data, size_t size, struct portolan_error *error)
{
	uint64_t missing[WIRE_MAX_DEPTH + 1] = {1}; /* objects still to come, per open container; [0] is the frame */
	size_t depth = 0, at = 0, objects = 0;

	if (size > WIRE_MAX_FRAME)
		return error_set(error, PORTOLAN_E_INVALID, "frame has %zu bytes; the limit is %u", size,
		                 WIRE_MAX_FRAME);
	for (;;) {
		struct token token;

		while (missing[depth] == 0) {
			if (depth == 0)
				goto complete;
			depth--;
		}
		if (at == size)
			return error_set(error, PORTOLAN_E_INVALID, "frame is cut short at byte %zu", at);
		if (!token_read(data + at, size - at, &token))
			return error_set(error, PORTOLAN_E_INVALID, "frame is not msgpack at byte %zu", at);
		missing[depth]--;
		objects++;
		at += token.head;
		/* Each child takes at least a byte: a count beyond what is left is a lie. */
		if (token.payload > size - at || token.children > size - at)
			return error_set(error, PORTOLAN_E_INVALID, "frame is cut short at byte %zu", at);
		if (objects + token.children > WIRE_MAX_OBJECTS)
			return error_set(error, PORTOLAN_E_INVALID, "frame has more than %u msgpack objects",
			                 WIRE_MAX_OBJECTS);
		at += token.payload;
		if (!token.container)
			continue;
		if (depth == WIRE_MAX_DEPTH)
			return error_set(error, PORTOLAN_E_INVALID, "frame nests deeper than %d", WIRE_MAX_DEPTH);
		missing[++depth] = token.children;
	}
complete:
	if (at != size)
		return error_set(error, PORTOLAN_E_INVALID, "frame has %zu bytes after its end", size - at);
	return 0;
}

uint64_t
wire_leading_version(const uint8_t *data, size_t size)
{
	uint8_t first = size ? data[0] : 0;
	size_t at = first >= 0x80 && first < 0x90 ? 1 : first == 0xde ? 3 : first == 0xdf ? 5 : size, width = 0;

	if (at + 3 > size || data[at] != 0xa1 || data[at + 1] != 'v')
		return WIRE_VERSION;
	at += 2;
	if (data[at] < 0x80)
		return data[at];
	if (data[at] >= 0xcc && data[at] <= 0xcf)
		width = (size_t)1 << (data[at] - 0xcc);
	if (width == 0 || width > size - at - 1)
		return WIRE_VERSION;
	return read_big_endian(data + at + 1, width);
}

/* Reads the token at *at and goes past it, its payload included; false: cut short. */
static bool
next_token(const uint8_t *data, size_t size, size_t *at, struct token *token)
{
	if (*at >= size || !token_read(data + *at, size - *at, token) || token->payload > size - *at - token->head)
		return false;
	*at += token->head + token->payload;
	return true;
}

static bool
skip_value(const uint8_t *data, size_t size, size_t *at)
{
	struct token token;

	for (uint64_t missing = 1; missing > 0; missing += token.children) {
		if (!next_token(data, size, at, &token) || token.children > size)
			return false;
		missing--;
	}
	return true;
}

static enum wire_kind
kind_from_name(struct wire_bytes name)
{
	for (size_t i = WIRE_OPEN; i <= WIRE_ERROR; i++)
		if (wire_bytes_equal(name, wire_kind_names[i]))
			return (enum wire_kind)i;
	return (enum wire_kind)0;
}

/* An integer as msgpack writes it; 0 where there is none. */
static uint64_t
read_uint(const uint8_t *data, size_t size)
{
	return data[0] < 0x80 ? data[0] : data[0] >= 0xcc && data[0] <= 0xcf ? read_big_endian(data + 1, size - 1) : 0;
}

/* Takes one entry of the map; *fields counts those that every frame has. */
static bool
peek_entry(const uint8_t *data, size_t size, size_t *at, struct wire_head *head, unsigned *fields)
{
	size_t key = *at, value;
	struct token token;

	if (!skip_value(data, size, at))
		return false;
	value = *at;
	if (!skip_value(data, size, at))
		return false;
	if (value - key != 2 || data[key] != 0xa1 || !token_read(data + value, size - value, &token))
		return true;
	if (data[key + 1] == 't') {
		head->kind = kind_from_name((struct wire_bytes){data + value + token.head, token.payload});
		*fields |= head->kind != 0;
	} else if (data[key + 1] == 's' && data[value] == 0xc4 && token.payload == WIRE_SESSION_SIZE) {
		memcpy(head->session, data + value + token.head, WIRE_SESSION_SIZE);
		*fields |= 2;
	} else if (data[key + 1] == 'q') {
		head->sequence = read_uint(data + value, *at - value);
	}
	return true;
}

bool
wire_peek(const void *data, size_t size, struct wire_head *head)
{
	struct token map = {0};
	size_t at = 0;
	unsigned fields = 0;

	*head = (struct wire_head){0};
	if (size == 0 || wire_leading_version(data, size) != WIRE_VERSION || !token_read(data, size, &map) ||
	    !map.container || map.children % 2 || map.children > 2 * WIRE_MAX_KEYS)
		return false;
	at = map.head;
	for (uint64_t i = 0; i < map.children / 2; i++)
		if (!peek_entry(data, size, &at, head, &fields))
			return false;
	return fields == 3;
}

bool
wire_text_is_valid(const void *data, size_t size, bool multi_line)
{
	const char *text = data;

	for (size_t at = 0; at < size;) {
		uint32_t point;
		size_t length = utf8_read(text + at, size - at, &point);

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

bool
wire_bytes_equal(struct wire_bytes a, const char *b)
{
	return a.size == strlen(b) && memcmp(a.data, b, a.size) == 0;
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

static const char *const type_names[] = {
        [WIRE_F4] = "f4", [WIRE_I4] = "i4", [WIRE_U4] = "u4", [WIRE_U8] = "u8", [WIRE_BIT] = "bit", [WIRE_STR] = "str",
};

const char *
wire_type_name(enum wire_type type)
{
	return type_names[type];
}

enum wire_type
wire_type_from_name(struct wire_bytes name)
{
	for (size_t i = WIRE_F4; i <= WIRE_STR; i++)
		if (wire_bytes_equal(name, type_names[i]))
			return (enum wire_type)i;
	return (enum wire_type)0;
}

bool
wire_size_is_right(enum wire_type type, uint32_t rows, size_t size)
{
	switch (type) {
	case WIRE_F4:
	case WIRE_I4:
	case WIRE_U4:
		return size == (size_t)rows * 4;
	case WIRE_U8:
		return size == (size_t)rows * 8;
	case WIRE_BIT:
		return size == ((size_t)rows + 7) / 8;
	default:
		return false;
	}
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

static const char *const code_names[] = {
        [WIRE_E_VERSION] = "version",
        [WIRE_E_MALFORMED] = "malformed",
        [WIRE_E_NO_SESSION] = "no-session",
        [WIRE_E_SEQUENCE] = "sequence",
        [WIRE_E_RUN_EXISTS] = "run-exists",
        [WIRE_E_RUN_DIFFERS] = "run-differs",
        [WIRE_E_REFUSED] = "refused",
        [WIRE_E_UNAVAILABLE] = "unavailable",
        [WIRE_E_RUN_REMOVED] = "run-removed",
        [WIRE_E_NO_RUN] = "no-run",
        [WIRE_E_RUN_DAMAGED] = "run-damaged",
        [WIRE_E_OTHER_STORE] = "other-store",
        [WIRE_E_NO_BEGINNING] = "no-beginning",
        [WIRE_E_OVER_CREDIT] = "over-credit",
        [WIRE_E_TOO_MANY_IDS] = "too-many-ids",
        [WIRE_E_SESSION_DIFFERS] = "session-differs",
        [WIRE_E_OTHER] = "other",
};

const char *
wire_error_code_name(enum wire_error_code code)
{
	return code_names[code];
}

enum wire_error_code
wire_error_code_from_name(struct wire_bytes name)
{
	for (size_t i = WIRE_E_VERSION; i < WIRE_E_OTHER; i++)
		if (wire_bytes_equal(name, code_names[i]))
			return (enum wire_error_code)i;
	return WIRE_E_OTHER;
}
