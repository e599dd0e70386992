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

/* An array of array_new(), for what grows with the number of examples. It is released with array_free(). A failure ends
 * the program with the message of array_new(), which names `what`. */
void *memory_array(size_t count, size_t size, const char *what) __attribute__((malloc, returns_nonnull));

/* A variable that holds such an array, or NULL:
 *     CLEANUP_ARRAY double *values = memory_array(n, sizeof(*values), "values"); */
#define CLEANUP_ARRAY CLEANUP(memory_free_array)

static inline void
memory_free_array(void *variable)
{
	array_free(*(void **)variable);
}

/* The array `array` (NULL: none yet) of elements of `size` bytes with room for `need` of them at least: `*room`, which is
 * doubled as often as it takes. The pointer that was passed is no longer valid. The room that was added is not zeroed. */
void *memory_grow(void *array, size_t *room, size_t need, size_t size) __attribute__((returns_nonnull));

/* A copy of `length` bytes, with a NUL after them. */
char *memory_copy(const void *bytes, size_t length) __attribute__((malloc, returns_nonnull));

/* A text as printf() prints it. */
__attribute__((format(printf, 1, 2), malloc, returns_nonnull)) char *memory_text(const char *format, ...);

/* The number of the text among the names, to which it is added if it is new: names_add(). */
uint32_t memory_name(struct names *names, const char *text, size_t length);

/* Returns `pointer`, which a function has returned that fails only for want of memory: NULL ends the program. */
void *memory_need(void *pointer) __attribute__((returns_nonnull));

#endif
