/*
 * arrays.h: memory for arrays that grow with the number of examples, within the limit that --max-memory sets. For all
 * code that holds a run's ids or measures.
 *
 * The memory is anonymous while all such arrays of the process together stay within the limit. Beyond it, an array lies
 * in a nameless temporary file in $TMPDIR, or else /var/tmp, which the kernel writes back when memory is short. Users
 * of an array need not know which. Safe from several threads.
 */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <portolan/portolan.h>

#include <stddef.h>
#include <stdint.h>

/* Sets the limit from now on; before the first call there is none. Existing arrays stay where they are. */
void arrays_set_limit(uint64_t bytes);

/* How much of the limit is left. */
uint64_t arrays_room(void);

/* An array of `count` elements of `size` bytes each, all zero; `what` names the elements in errors, in the plural.
 * NULL: PORTOLAN_E_MEMORY, with `error` filled. */
void *array_new(size_t count, size_t size, const char *what, struct portolan_error *error);

/* An array of `count` elements that begins with the `used` elements of `array` (NULL: none), which is freed. NULL: as
 * array_new(), and `array` is as it was. */
void *array_grow(void *array, size_t used, size_t count, size_t size, const char *what, struct portolan_error *error);

/* Makes room for `needed` elements in *array, which has room for *room, by doubling that as often as it takes.
 * PORTOLAN_E_MEMORY: as array_grow(). */
int array_reserve(void **array, size_t *room, size_t needed, size_t size, const char *what,
                  struct portolan_error *error);

/* Opens a nameless file in the folder where such arrays lie beyond the limit; the caller's to close. -1: errno says why
 * not, and *folder (may be NULL) which folder it is. */
int arrays_open_file(const char **folder);

void array_free(const void *array); /* NULL: nothing */

#endif
