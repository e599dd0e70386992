/* searches.h: finds the records of the user's file that hold a text, for the live page. Several threads search them,
 * and the last few answers are kept, as the page asks for the same text many times. Safe from several threads. */
#ifndef SEARCHES_H
#define SEARCHES_H

#include "files/texts.h"

struct searches;

/* `texts` stays the caller's. threads = 0: one thread for each core. NULL: out of memory. */
struct searches *searches_new(const struct texts *texts, uint64_t threads);
void searches_free(struct searches *searches); /* NULL: nothing */

/* Finds the records of which a text contains `part` (see texts_contain()). *bits, the caller's to free(), has one bit
 * per record, the lowest bit of a byte first; 1: found. PORTOLAN_E_MEMORY, or as texts_check(). */
int searches_find(struct searches *searches, const char *part, unsigned char **bits, struct portolan_error *error);

#endif
