/* zero_pages.h: pages of a store that are lost, and are found to be by LMDB itself. */
#ifndef TESTS_ZERO_PAGES_H
#define TESTS_ZERO_PAGES_H

#include <stdint.h>

/* Zeroes the leaves whose records are all of this kind (STORE.md) and of this run (0: of whatever run); `one`: not
 * all of them, but this one alone, counted from 0. Answers how many. */
#define ZERO_ALL UINT32_MAX
unsigned zero_pages(const char *directory, char kind, uint8_t run, unsigned one);

/* Zeroes the leaf that holds the counters of this run, and neither its state nor its identity. Answers how many: 1. */
unsigned zero_pages_with_counters(const char *directory, uint8_t run);

#endif
