/*
 * balance.h: decides which records `portolan upsample` repeats, and how often, until tokens say nothing about labels
 * (Han Chen, Algorithm 1, made unambiguous).
 *
 * n[s][l] is the number of records with label l that hold token s; a record counts as often as it stands in the result.
 * The target is n[s][l] in proportion to shares[l], for every token s. With equal shares, which the paper has, a token
 * then stands equally often with each label; with the labels' shares of the data, as often as the label stands at all.
 *
 * The label m with the largest n[s][m] / shares[m] leads. Label l lacks D(s,l) = ⌊shares[l] n[s][m] / shares[m]⌋ −
 * n[s][l] records; with equal shares that is n[s][m] − n[s][l].
 *
 * An iteration visits each token s and each label l with D(s,l) > 0, and draws ⌈step · D(s,l)⌉ of the original records
 * with s and l, with replacement. A draw adds one to the record's multiplicity, and to n[s'][l] of every token s' that
 * the record holds. D is always that of the current counts. There are at most `iterations`; they end earlier when ΣD =
 * 0.
 *
 * A drawn record helps s, but sets back every other token s' that it holds and for which l leads already (D(s',l) = 0):
 * a conflict. BALANCE_UNIFORM draws any record; BALANCE_CONFLICT_FREE draws any of those with the fewest conflicts.
 *
 * A conflict adds C − 1 to ΣD for C labels. So where tokens occur together, or labels are many, draws may do more harm
 * than good, without end. With `patience`, balancing ends when ΣD has not fallen below its lowest value for so many
 * iterations, or has grown tenfold. The result is then what stood at the lowest value. Balancing reads no file and no
 * clock, so the same request gives the same answer.
 */
#ifndef BALANCE_H
#define BALANCE_H

#include "holders.h"

enum balance_pick { BALANCE_CONFLICT_FREE, BALANCE_UNIFORM };

struct balance_request {
	const struct holders *holders;
	size_t token_count, label_count;
	const uint64_t *shares; /* by label; each is above 0 */
	double step;            /* above 0, at most 1 */
	unsigned iterations;
	unsigned patience; /* 0: all iterations are made, whether ΣD falls or not */
	enum balance_pick pick;
	uint32_t max_multiplicity; /* how often a record may stand in the result, the original included; 0: no limit */
	uint64_t seed;
};

enum balance_reason {
	BALANCE_DONE,          /* D(s,l) = 0: nothing is lacking */
	BALANCE_NO_RECORD,     /* no original record has this token and this label */
	BALANCE_CAPPED,        /* every record with this token and label stands as often as it may */
	BALANCE_OUT_OF_ROUNDS, /* all iterations were made */
	BALANCE_WORSE,         /* further draws set back other tokens by more than they helped this one */
};

struct balance {
	uint64_t *before, *after;     /* n[s][l] before and after balancing, tokens × labels */
	uint32_t *repeats;            /* by holder: how many copies were added */
	uint64_t added;               /* the sum of `repeats` */
	uint64_t *imbalance;          /* ΣD at first, and after each iteration: tried + 1 values */
	unsigned iterations;          /* the number of iterations that the result keeps */
	unsigned tried;               /* the number of all iterations, with those that were taken back */
	enum balance_reason *reasons; /* tokens × labels: why balancing ended there */
};

/* Balances. Without `patience`, ends the program where more than 2^31 repeats would be drawn; with it, the result is
 * the best before that. */
void balance_make(const struct balance_request *request, struct balance *balance);
void balance_free(struct balance *balance);

/* The label that leads in a token's counts[label]; of equal ones the first. */
size_t balance_leader(const uint64_t *counts, const uint64_t *shares, size_t label_count);

/* D(s,l): how many records `label` still lacks in a token's counts, in which `leader` leads. */
static inline uint64_t
balance_lack(const uint64_t *counts, const uint64_t *shares, size_t leader, size_t label)
{
	return shares[label] * counts[leader] / shares[leader] - counts[label];
}

#endif
