/*
 * holders.h: the records that hold at least one of some tokens: where they lie, their label, and which tokens.
 *
 * Records of one label that hold the same of the tokens are a group: drawing any of them does the same to all counts.
 */
#ifndef HOLDERS_H
#define HOLDERS_H

#include "base/ids.h"
#include "ranking.h"

#define HOLDERS_TOKENS_MAX 1000

struct holder {
	uint64_t at;     /* in the file */
	uint32_t size;   /* bytes to the next record; those of more are refused */
	uint32_t record; /* its number, from 0 */
	uint32_t group;
	uint32_t example; /* position of its id in the index; UINT32_MAX: not there, or none asked for */
};

struct holder_group {
	uint32_t label;         /* its place in the order */
	uint32_t count;         /* of holders */
	const uint16_t *tokens; /* ascending */
	uint16_t token_count;   /* at least 1 */
	size_t first;           /* its holders are members[first …] */
};

struct holders {
	struct holder *list; /* by number */
	size_t count;
	struct holder_group *groups; /* by their first holders */
	size_t group_count;
	uint32_t *members; /* holders by group, each group's by number */
	/* private */
	struct names keys; /* of the groups: label, then tokens */
	uint16_t *tokens;
	size_t room;
};

struct holders_request {
	const struct corpus *corpus;
	const struct token_counts *counts;
	const struct ranked_token *tokens; /* token 0 … token_count − 1 */
	size_t token_count;                /* at most HOLDERS_TOKENS_MAX */
	const struct ids_index *index;     /* NULL: ids do not matter */
};

int holders_find(const struct holders_request *request, struct holders *holders, struct portolan_error *error);
void holders_free(struct holders *holders); /* may be called twice */

#endif
