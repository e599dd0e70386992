/*
 * arrays.c: reads ids and labels out of the arrays that a caller of portolan_log() passes, whatever integers they hold.
 *
 * There is one loop per element type, so that the type is chosen once per array and not once per row. Elements are read
 * with memcpy, which the compiler turns into a plain load: callers' arrays need not be aligned.
 */
#include "batch.h"

#include <string.h>

#define EACH_INTEGER_TYPE(DO)                                                                                          \
	DO(PORTOLAN_I8, int8_t)                                                                                        \
	DO(PORTOLAN_U8, uint8_t)                                                                                       \
	DO(PORTOLAN_I16, int16_t)                                                                                      \
	DO(PORTOLAN_U16, uint16_t)                                                                                     \
	DO(PORTOLAN_I32, int32_t)                                                                                      \
	DO(PORTOLAN_U32, uint32_t)                                                                                     \
	DO(PORTOLAN_I64, int64_t)                                                                                      \
	DO(PORTOLAN_U64, uint64_t)

bool
arrays_is_integer(enum portolan_type type)
{
	return type >= PORTOLAN_I8 && type <= PORTOLAN_U64;
}

static const char *
arrays_row_at(const struct portolan_array *array, size_t row)
{
	return (const char *)array->data + (ptrdiff_t)row * array->row_stride;
}

#define DEFINE_READ(name, result)                                                                                      \
	void name(const struct portolan_array *array, size_t first, size_t n, result *values)                          \
	{                                                                                                              \
		switch (array->type) {                                                                                 \
			EACH_INTEGER_TYPE(CASE)                                                                        \
		default:                                                                                               \
			break;                                                                                         \
		}                                                                                                      \
	}
#define CASE(TYPE, ctype)                                                                                              \
	case TYPE:                                                                                                     \
		for (size_t r = 0; r < n; r++) {                                                                       \
			ctype x;                                                                                       \
                                                                                                                       \
			memcpy(&x, arrays_row_at(array, first + r), sizeof(x));                                        \
			values[r] = (typeof(values[0]))x;                                                              \
		}                                                                                                      \
		break;

DEFINE_READ(arrays_read_u64, uint64_t)
DEFINE_READ(arrays_read_i32, int32_t)
#undef CASE

static bool
arrays_is_signed(enum portolan_type type)
{
	return type == PORTOLAN_I8 || type == PORTOLAN_I16 || type == PORTOLAN_I32 || type == PORTOLAN_I64;
}

/* Is any number above `most`? Does not search for the row, which makes the common case, none, fast. */
static bool
arrays_any_above(const struct portolan_array *array, size_t n, uint64_t most)
{
	uint64_t any = 0;

	switch (array->type) {
#define CASE(TYPE, ctype)                                                                                              \
	case TYPE:                                                                                                     \
		for (size_t r = 0; r < n; r++) {                                                                       \
			ctype x;                                                                                       \
                                                                                                                       \
			memcpy(&x, arrays_row_at(array, r), sizeof(x));                                                \
			any |= (uint64_t)x > most;                                                                     \
		}                                                                                                      \
		break;
		EACH_INTEGER_TYPE(CASE)
#undef CASE
	default:
		return true;
	}
	return any != 0;
}

bool
arrays_within(const struct portolan_array *array, size_t n, uint64_t most, size_t *row, bool *negative, uint64_t *value)
{
	/* Extended to 64 bits and read as unsigned, a negative number is above INT64_MAX. */
	uint64_t highest = arrays_is_signed(array->type) && most > INT64_MAX ? INT64_MAX : most;

	if (!arrays_any_above(array, n, highest))
		return true;
	for (*row = 0; *row < n; (*row)++) {
		arrays_read_u64(array, *row, 1, value);
		*negative = arrays_is_signed(array->type) && *value > INT64_MAX;
		if (*value > highest)
			return false;
	}
	return true; /* the caller may still change the array: a value that is read later is cut to its type */
}
