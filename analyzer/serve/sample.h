/* sample.h: draws a sample of places (view.h), for the part of the map that the live page shows. Pure. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps, of n ascending places, the `most` places (1 or more, fewer than n) with the smallest lots; of places with equal
 * lots, the lower ones. False: out of memory. */
bool sample_places(uint32_t *places, size_t n, size_t most);

#endif
