/*
 * holders.h: finds the records of a corpus that hold at least one of some tokens ("holders"), with their labels and
 * their tokens. `portolan upsample` repeats holders; `portolan artifacts --run` looks at how a model did on them.
 *
 * Records with one label and the same tokens are a group: whichever of them is drawn, all counts change alike.
 */
#ifndef HOLDERS_H
#define HOLDERS_H

#include "base/ids.h"
#include "ranking.h"

#define HOLDERS_TOKENS_MAX 1000

struct holder {
	uint64_t at;     /* where the record begins in the file */
	uint32_t size;   /* bytes from there to the next record; a record of 4 GiB or more is refused */
	uint32_t record; /* the record's number, from 0 */
	uint32_t group;
	uint32_t example; /* its place in the request's index; UINT32_MAX: not there, or no index */
};

struct holder_group {
	uint32_t label;         /* the label's place in the order of token_counts */
	uint32_t count;         /* how many holders the group has */
	const uint16_t *tokens; /* the tokens that they hold, ascending */
	uint16_t token_count;   /* at least 1 */
	size_t first;           /* the group's holders are members[first …] */
};

struct holders {
	struct holder *list; /* in the order of the file */
	size_t count;
	struct holder_group *groups; /* in the order of their first holders */
	size_t group_count;
	uint32_t *members; /* places in `list`, by group, and within a group in the order of the file */
	/* private */
	struct names keys; /* a group's label and tokens, as bytes */
	uint16_t *tokens;
	size_t room;
};

struct holders_request {
	const struct corpus *corpus;
	const struct token_counts *counts;
	const struct ranked_token *tokens; /* the tokens that are looked for: 0 … token_count − 1 */
	size_t token_count;                /* at most HOLDERS_TOKENS_MAX */
	const struct ids_index *index;     /* the ids of a run's examples; NULL: ids do not matter */
};

void holders_find(const struct holders_request *request, struct holders *holders);
void holders_free(struct holders *holders);

#endif
