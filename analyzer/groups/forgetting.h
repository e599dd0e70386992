/*
 * forgetting.h: how many examples were forgotten how often. Pure, but for memory. Forgettable: forgotten at least once,
 * or never learned. Source: Yaghoobzadeh et al. 2021, §3.1, Fig. 1 and Table 1; Toneva et al. 2019, Fig. 1.
 */
#ifndef FORGETTING_H
#define FORGETTING_H

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

#endif
