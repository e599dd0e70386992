/* counts.h: counts in how many records of each label a token stands. From these counts `portolan artifacts` ranks
 * tokens, and `portolan upsample` chooses those that it balances. */
#ifndef COUNTS_H
#define COUNTS_H

#include "corpus.h"
#include "kept.h"

struct token_counts {
	struct names tokens, labels; /* numbered by first appearance; `order` sorts the labels */
	size_t label_count;
	uint32_t *order;         /* the labels, ascending: as numbers if all are whole numbers, else bytewise */
	uint32_t *places;        /* by label: its place in `order` */
	uint32_t *counts;        /* tokens × labels in order: the number of records that hold the token */
	uint64_t *label_records; /* by label in order: how many records have it */
	uint64_t records;        /* the number of all records */
	uint64_t ignored;        /* the number of records whose label is ignored; no other count has them */
	uint64_t empty;          /* the number of records that are not ignored and have no token */
	uint64_t empty_line;     /* the line of the first record without a token */
	uint64_t *firsts;        /* by part: the number of its first record, from 0; last: how many there are */
	struct kept kept;        /* the tokens of each record, if the corpus asks for it */
};

/* Counts the corpus. Record number i counts as weights[i] records; if `weights` is NULL, each counts as one, and
 * `firsts` may be NULL too. Ends the program if, apart from ignored labels, there is one label alone, or more than
 * CORPUS_LABELS_MAX. */
void counts_make(const struct corpus *corpus, const uint32_t *weights, const uint64_t *firsts,
                 struct token_counts *counts);
void counts_free(struct token_counts *counts);

static inline const uint32_t *
counts_of(const struct token_counts *counts, uint32_t token)
{
	return counts->counts + (size_t)token * counts->label_count;
}

/* The text of the label at this place in `order`. */
static inline const char *
counts_label(const struct token_counts *counts, size_t place, size_t *length)
{
	return names_text(&counts->labels, counts->order[place], length);
}

#endif
