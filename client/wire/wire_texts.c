/* wire_texts.c: checks the texts of examples in a frame, for the codec, and for the client library before it sends. */
#include "wire_check.h"

#include <portolan/error.h>

#include <string.h>

bool
wire_prose_is_valid(const void *data, size_t size)
{
	return wire_text_is_valid(data, size, true);
}

bool
wire_field_name_is_valid(const void *data, size_t size)
{
	const char *name = data;

	if (size == 0 || size > WIRE_MAX_COLUMN_NAME || (size == 2 && memcmp(name, "id", 2) == 0))
		return false;
	for (size_t i = 0; i < size; i++) {
		bool letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z');

		if (!letter && (i == 0 || !((name[i] >= '0' && name[i] <= '9') || name[i] == '_')))
			return false;
	}
	return true;
}

struct wire_bytes
wire_next_text(struct wire_bytes texts, size_t *at)
{
	uint32_t size;
	struct wire_bytes text;

	memcpy(&size, texts.data + *at, sizeof(size));
	text = (struct wire_bytes){texts.data + *at + sizeof(size), size};
	*at += sizeof(size) + size;
	return text;
}

int
wire_check_texts(const struct wire_examples *examples, struct portolan_error *error)
{
	const struct wire_bytes texts = examples->texts;
	size_t at = 0;

	for (uint32_t row = 0; row < examples->rows; row++) {
		size_t of_row = 0;

		for (size_t f = 0; f < examples->field_count; f++) {
			struct wire_bytes text;
			uint32_t length = 0;

			if (texts.size - at >= sizeof(length))
				memcpy(&length, texts.data + at, sizeof(length));
			if (texts.size - at < sizeof(length) || length > texts.size - at - sizeof(length))
				return error_set(error, PORTOLAN_E_INVALID,
				                 "\"texts\": row %u, field %zu ends beyond them", row, f);
			text = wire_next_text(texts, &at);
			of_row += text.size;
			if (!wire_text_is_valid(text.data, text.size, true))
				return error_set(error, PORTOLAN_E_INVALID,
				                 "\"texts\": row %u, field %zu is not UTF-8 without U+0000", row, f);
		}
		if (of_row > WIRE_MAX_TEXTS)
			return error_set(error, PORTOLAN_E_INVALID, "\"texts\": row %u has %zu bytes; the limit is %d",
			                 row, of_row, WIRE_MAX_TEXTS);
	}
	if (at != texts.size)
		return error_set(error, PORTOLAN_E_INVALID, "\"texts\": %zu bytes after the last", texts.size - at);
	return 0;
}
