/*
 * cleanup.h: releases what a variable holds where it goes out of scope, on every way out of the function. For all code
 * of Portolan; private.
 *
 *     CLEANUP(places_free) struct places_list list = {0};
 *     CLEANUP_FREE uint32_t *order = malloc(...);
 *
 * The variable is initialised at its definition, before the first return. A value that is handed to the caller is
 * replaced by NULL, or by zeroes, first.
 */
#ifndef PORTOLAN_CLEANUP_H
#define PORTOLAN_CLEANUP_H

#include <stdlib.h>

/* `release` gets the variable's address. It must accept the value with which the variable was initialised. */
#define CLEANUP(release) __attribute__((cleanup(release)))

static inline void
cleanup_free(void *variable)
{
	free(*(void **)variable);
}

#define CLEANUP_FREE CLEANUP(cleanup_free)

#endif
