/*
 * kept.h: keeps which tokens each record holds while they are counted, if that fits into some memory. The holders of
 * a few tokens are then found without reading the file again.
 */
#ifndef KEPT_H
#define KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_record {
	uint64_t at;     /* where the record begins in the file */
	uint32_t size;   /* bytes from there to the next record */
	uint32_t label;  /* the thread's number for the label: kept_label() has the number that all share */
	uint32_t tokens; /* the number of the part's rows that are this record's */
};

struct kept_part {
	struct kept_record *records;
	uint32_t *rows; /* the thread's numbers for the tokens, each once in a record; see kept_token() */
	size_t record_count, record_room, row_count, row_room;
	unsigned thread;
};

struct kept {
	bool whole; /* everything has been kept */
	struct kept_part *parts;
	size_t part_count;
	uint32_t **tokens,
	        **labels; /* by thread: the number that all share, by its own number; NULL: they are the same */
	unsigned threads;
	/* private */
	atomic_size_t bytes;
	size_t limit;
};

/* limit: the most bytes that may be kept; 0: nothing is kept. */
void kept_init(struct kept *kept, size_t parts, unsigned threads, size_t limit);
void kept_free(struct kept *kept); /* may be called twice */

/* A thread begins a part, then adds a record, and then its tokens. Once something does not fit, nothing is kept any
 * more. NULL and false: nothing is kept. */
struct kept_part *kept_begin(struct kept *kept, size_t part, unsigned thread);
bool kept_add_record(struct kept *kept, struct kept_part *part, uint64_t at, size_t size, uint32_t label);
bool kept_add_token(struct kept *kept, struct kept_part *part, uint32_t row);

/* Call it when all threads are done. True: everything has been kept, and may be read. */
bool kept_finish(struct kept *kept);

static inline uint32_t
kept_token(const struct kept *kept, const struct kept_part *part, uint32_t row)
{
	return kept->tokens[part->thread] ? kept->tokens[part->thread][row] : row;
}

static inline uint32_t
kept_label(const struct kept *kept, const struct kept_part *part, uint32_t label)
{
	return kept->labels[part->thread] ? kept->labels[part->thread][label] : label;
}

#endif
