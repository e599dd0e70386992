/*
 * forgetting.h: counts examples by their number of forgetting events. Forgettable: forgotten at least once, or never
 * learned. Source: Yaghoobzadeh et al. 2021, §3.1, Fig. 1 and Table 1; Toneva et al. 2019, Fig. 1.
 */
#ifndef FORGETTING_H
#define FORGETTING_H

#include "plot/picture.h"

#include <portolan/portolan.h>

#include <stddef.h>
#include <stdint.h>

struct forgetting {
	uint64_t *histogram; /* [k]: examples with k forgetting events */
	size_t bins;         /* the most events, and one */
	uint64_t examples, forgotten, never_learned, events;
};

/* `events` and `never_learned` are by dense index, `order` lists n indices. *result is the caller's to
 * forgetting_free(). Fails for lack of memory only. */
int forgetting_count(const double *events, const double *never_learned, const uint32_t *order, size_t n,
                     struct forgetting *result, struct portolan_error *error);
void forgetting_free(struct forgetting *result); /* may be called twice */

/* The histogram as a picture, which was picture_check()ed. */
int forgetting_chart(const char *run, const struct forgetting *forgetting, const struct picture *picture,
                     struct portolan_error *error);

#endif
