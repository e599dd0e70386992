/* counts.h: in how many records of each label a token stands. */
#ifndef COUNTS_H
#define COUNTS_H

#include "corpus.h"
#include "kept.h"

struct token_counts {
	struct names tokens, labels; /* the numbers of labels are not their order */
	size_t label_count;
	uint32_t *order;           /* labels, ascending: by number where all are whole numbers, else bytewise */
	uint32_t *places;          /* of each label in the order */
	uint32_t *counts;          /* tokens × labels, the latter in order */
	uint64_t *label_records;   /* in order */
	uint64_t records, ignored; /* of these, with a label that is ignored: they are in no other count */
	uint64_t empty;            /* of the others, without any token */
	uint64_t empty_line;       /* of the first of them */
	uint64_t *firsts;          /* the number of each part's first record, from 0; parts + 1 */
	struct kept kept;          /* of a corpus that asks for it */
};

/* Goes through the corpus. `weights`: as what each record counts, by its number; NULL: as one (then firsts may be NULL
 * as well). One label only, but for those ignored, is an error, as are more than CORPUS_LABELS_MAX. */
int counts_make(const struct corpus *corpus, const uint32_t *weights, const uint64_t *firsts,
                struct token_counts *counts, struct portolan_error *error);
void counts_free(struct token_counts *counts); /* may be called twice */

static inline const uint32_t *
counts_of(const struct token_counts *counts, uint32_t token)
{
	return counts->counts + (size_t)token * counts->label_count;
}

/* The text of the label at this place in the order. */
static inline const char *
counts_label(const struct token_counts *counts, size_t place, size_t *length)
{
	return names_text(&counts->labels, counts->order[place], length);
}

#endif
