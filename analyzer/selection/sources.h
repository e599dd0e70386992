/* sources.h: reads which source of the data each example comes from, a field of the user's file, for the S2L rule of
 * `portolan select`, which shares its size out among the sources (trajectories.h). */
#ifndef SOURCES_H
#define SOURCES_H

#include "measures/dynamics.h"

struct sources_request {
	const char *option; /* that named the file, for messages */
	const char *path, *id_field, *field;
	bool glue; /* see files/glue.h */
};

/* The number of each example's source, by dense index, of the n examples in `order`; the sources are numbered by their
 * names bytewise, or by their numbers where all are numbers. *count gets how many sources there are. The caller frees
 * the array with array_free(). The program ends where the file is refused, or an example has no source in it. */
uint32_t *sources_read(const struct sources_request *request, const struct dynamics *dynamics, const uint32_t *order,
                       size_t n, size_t *count);

#endif
