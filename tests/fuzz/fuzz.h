/* fuzz.h: what the targets share: invariants, and taking values out of an input. Past its end an input is all zeros. */
#ifndef FUZZ_H
#define FUZZ_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* dprintf, because a target may have put something else in the place of stderr. */
#define require(condition)                                                                                             \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			dprintf(STDERR_FILENO, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #condition);     \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* A failure says what is wrong, in one line. */
static inline void
require_message(const struct portolan_error *error, int code)
{
	require(code < 0 && error->code == code);
	require(error->message[0] && memchr(error->message, '\0', sizeof(error->message)));
}

static inline void
require_line(const struct portolan_error *error, int code)
{
	require_message(error, code);
	require(!strchr(error->message, '\n'));
}

/* Reads every byte, so that a sanitizer sees what lies outside. */
static inline void
touch(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint8_t all = 0;

	for (size_t i = 0; i < size; i++)
		all |= bytes[i];
	__asm__ volatile("" : : "r"(all));
}

struct input {
	const uint8_t *data;
	size_t size;
};

/* The next `size` bytes, or as many as there are. */
static inline const uint8_t *
input_bytes(struct input *input, size_t *size)
{
	const uint8_t *bytes = input->data;

	*size = *size < input->size ? *size : input->size;
	input->data += *size;
	input->size -= *size;
	return bytes;
}

static inline void
input_copy(struct input *input, void *to, size_t size)
{
	size_t have = size;
	const uint8_t *bytes = input_bytes(input, &have);

	memset(to, 0, size);
	if (have)
		memcpy(to, bytes, have);
}

static inline uint8_t
input_u8(struct input *input)
{
	uint8_t value;

	input_copy(input, &value, sizeof(value));
	return value;
}

static inline uint16_t
input_u16(struct input *input)
{
	uint16_t value;

	input_copy(input, &value, sizeof(value));
	return value;
}

static inline uint32_t
input_u32(struct input *input)
{
	uint32_t value;

	input_copy(input, &value, sizeof(value));
	return value;
}

static inline uint64_t
input_u64(struct input *input)
{
	uint64_t value;

	input_copy(input, &value, sizeof(value));
	return value;
}

/* A copy with a NUL behind it, in a block of exactly that size; the caller's to free(). */
static inline char *
input_text(struct input *input, size_t size)
{
	const uint8_t *bytes = input_bytes(input, &size);
	char *text = malloc(size + 1);

	require(text);
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	return text;
}

#endif
