/*
 * dynamics_numbers.h: numbers that logs hold and jansson does not read: integers beyond 63 bits (an id may have 64),
 * and the NaN and Infinity that Python's json module writes although JSON has none. Private to dynamics.c.
 */
#ifndef COLLECTOR_DYNAMICS_NUMBERS_H
#define COLLECTOR_DYNAMICS_NUMBERS_H

#include <portolan/portolan.h>

#include <stddef.h>

#define DYNAMICS_MARK '\x01'

/*
 * Makes a copy of the line in which each such number is a string: DYNAMICS_MARK, then the number as it was written.
 * *copy is the caller's to free(). Returns how many there are; 0: none, and no copy. PORTOLAN_E_MEMORY. Nothing else is
 * changed or checked, so what is not JSON otherwise is not afterwards.
 */
int dynamics_mark_numbers(const char *line, size_t size, char **copy, size_t *copy_size);

#endif
