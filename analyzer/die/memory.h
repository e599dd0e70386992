/*
 * memory.h: allocates memory for the commands of portolan that run and end. No function returns NULL: if there is no
 * memory left, the command ends through die().
 *
 * What a function returns is released with free(), unless it says otherwise. Any thread.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include "base/arrays.h"
#include "base/cleanup.h"
#include "base/names.h"

#include <stddef.h>

/* `count` zeroes of `size` bytes each. */
void *memory_new(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* An array of array_new(), for data whose size grows with the number of examples. To be released with array_free(). If
 * it cannot be made, the program ends with the message of array_new(), which names `what`. */
void *memory_array(size_t count, size_t size, const char *what) __attribute__((malloc, returns_nonnull));

/* A variable that holds such an array, or NULL:
 *     CLEANUP_ARRAY double *values = memory_array(n, sizeof(*values), "values"); */
#define CLEANUP_ARRAY CLEANUP(memory_free_array)

static inline void
memory_free_array(void *variable)
{
	array_free(*(void **)variable);
}

/* Returns `array` (NULL: none yet), whose elements have `size` bytes, with room for at least `need` elements. *room,
 * the number of elements that it has room for, is doubled as often as needed. The pointer that was passed is no longer
 * valid. The new room is not zeroed. */
void *memory_grow(void *array, size_t *room, size_t need, size_t size) __attribute__((returns_nonnull));

/* A copy of `length` bytes, with a NUL after them. */
char *memory_copy(const void *bytes, size_t length) __attribute__((malloc, returns_nonnull));

/* A text as printf() prints it. */
__attribute__((format(printf, 1, 2), malloc, returns_nonnull)) char *memory_text(const char *format, ...);

/* The number of a text among the names. A new text is added to them, as by names_add(). */
uint32_t memory_name(struct names *names, const char *text, size_t length);

/* Ends the program if `pointer` is NULL, else returns it. For the result of a function that fails only when memory is
 * out. */
void *memory_need(void *pointer) __attribute__((returns_nonnull));

#endif
