/*
 * forgetting.h: counts examples by their number of forgetting events, for portolan groups --forgetting. Forgettable:
 * forgotten at least once, or never learned. Source: Yaghoobzadeh et al. 2021, §3.1, Fig. 1 and Table 1; Toneva et al.
 * 2019, Fig. 1.
 */
#ifndef FORGETTING_H
#define FORGETTING_H

#include <stddef.h>
#include <stdint.h>

struct forgetting {
	uint64_t *histogram; /* [k]: how many examples have k forgetting events */
	size_t bins;         /* the highest number of events, plus one */
	uint64_t examples, forgotten, never_learned, events;
};

/* Counts the n examples at the dense indices order[]; `events` and `never_learned` are by dense index. */
void forgetting_count(const double *events, const double *never_learned, const uint32_t *order, size_t n,
                      struct forgetting *result);
void forgetting_free(struct forgetting *result); /* may be called twice */

#endif
