/*
 * balance.h: up-sampling until tokens say nothing about labels (Han Chen, Algorithm 1, made unambiguous).
 *
 * n[s][l]: records of label l that hold token s, as they count now; D(s,l) = max_l' n[s][l'] − n[s][l]. While ΣD > 0,
 * at most `iterations` times: for each token s, for each label l with D(s,l) > 0, draw ⌈step · D(s,l)⌉ records with
 * replacement from the original ones with s and l; each draw adds one to that record's multiplicity and to n[s'][l] of
 * every s' it holds. D is always that of the current counts.
 *
 * Drawing a record helps s, but sets back every other s' it holds for which l leads already (D(s',l) = 0): a conflict.
 * BALANCE_UNIFORM draws any record; BALANCE_CONFLICT_FREE those with the fewest conflicts at that moment, uniformly. No
 * file, no clock: the same request gives the same answer.
 */
#ifndef BALANCE_H
#define BALANCE_H

#include "holders.h"

enum balance_pick { BALANCE_CONFLICT_FREE, BALANCE_UNIFORM };

struct balance_request {
	const struct holders *holders;
	size_t token_count, label_count;
	double step; /* above 0, up to 1 */
	unsigned iterations;
	enum balance_pick pick;
	uint32_t max_multiplicity; /* of a record, itself included; 0: no limit */
	uint64_t seed;
};

enum balance_reason {
	BALANCE_DONE,          /* D = 0 */
	BALANCE_NO_RECORD,     /* no original record has token and label */
	BALANCE_CAPPED,        /* all that have stand as often as they may */
	BALANCE_OUT_OF_ROUNDS, /* iterations were up */
};

struct balance {
	uint64_t *before, *after;     /* n[s][l], tokens × labels */
	uint32_t *repeats;            /* of each holder, beyond itself */
	uint64_t added;               /* their sum */
	uint64_t *imbalance;          /* ΣD at first, and after each iteration: iterations + 1 */
	unsigned iterations;          /* done */
	enum balance_reason *reasons; /* of each token and label */
};

/* PORTOLAN_E_MEMORY; PORTOLAN_E_INVALID: more than 2^32 records would come of it. */
int balance_make(const struct balance_request *request, struct balance *balance, struct portolan_error *error);
void balance_free(struct balance *balance); /* may be called twice */

/* D(s,l) by `counts`, tokens × labels. */
uint64_t balance_lack(const uint64_t *counts, size_t label_count, size_t token, size_t label);

#endif
