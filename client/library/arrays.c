/*
 * arrays.c: reads ids and labels out of the arrays that a caller of portolan_log() passes, whatever integers they hold.
 *
 * There is one loop per element type, so that the type is chosen once per array and not once per row; whatever else is
 * done with numbers is done with the uint64_t that this loop makes of them, PIECE at a time. Elements are read with
 * memcpy, which the compiler turns into a plain load: callers' arrays need not be aligned.
 */
#include "batch.h"

#include <string.h>

#define PIECE 256

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

void
arrays_read_u64(const struct portolan_array *array, size_t first, size_t n, uint64_t *values)
{
	switch (array->type) {
#define CASE(ctype)                                                                                                    \
	for (size_t r = 0; r < n; r++) {                                                                               \
		ctype x;                                                                                               \
                                                                                                                       \
		memcpy(&x, arrays_row_at(array, first + r), sizeof(x));                                                \
		values[r] = (uint64_t)x;                                                                               \
	}                                                                                                              \
	break;
	case PORTOLAN_I8:
		CASE(int8_t)
	case PORTOLAN_U8:
		CASE(uint8_t)
	case PORTOLAN_I16:
		CASE(int16_t)
	case PORTOLAN_U16:
		CASE(uint16_t)
	case PORTOLAN_I32:
		CASE(int32_t)
	case PORTOLAN_U32:
		CASE(uint32_t)
	case PORTOLAN_I64:
	case PORTOLAN_U64:
		CASE(uint64_t)
#undef CASE
	default:
		break;
	}
}

void
arrays_read_i32(const struct portolan_array *array, size_t first, size_t n, int32_t *values)
{
	uint64_t wide[PIECE];

	for (size_t done = 0; done < n; done += PIECE) {
		const size_t count = n - done < PIECE ? n - done : PIECE;

		arrays_read_u64(array, first + done, count, wide);
		for (size_t r = 0; r < count; r++)
			values[done + r] = (int32_t)wide[r];
	}
}

static bool
arrays_is_signed(enum portolan_type type)
{
	return type == PORTOLAN_I8 || type == PORTOLAN_I16 || type == PORTOLAN_I32 || type == PORTOLAN_I64;
}

/* Is any number above `most`? Does not search for the row, which makes the common case, none, fast. */
static bool
arrays_any_above(const struct portolan_array *array, size_t n, uint64_t most)
{
	uint64_t wide[PIECE], any = 0;

	for (size_t done = 0; done < n; done += PIECE) {
		const size_t count = n - done < PIECE ? n - done : PIECE;

		arrays_read_u64(array, done, count, wide);
		for (size_t r = 0; r < count; r++)
			any |= wide[r] > most;
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
