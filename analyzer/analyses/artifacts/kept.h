/*
 * kept.h: which tokens each record holds, kept from the pass that counts them, as long as that fits into some memory:
 * who looks for a few tokens then need not read the file again.
 */
#ifndef KEPT_H
#define KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_record {
	uint64_t at;     /* in the file */
	uint32_t size;   /* bytes to the next record */
	uint32_t label;  /* of the thread's table, see kept_label() */
	uint32_t tokens; /* so many of the part's rows */
};

struct kept_part {
	struct kept_record *records;
	uint32_t *rows; /* of the thread's table, each once in a record, see kept_token() */
	size_t record_count, record_room, row_count, row_room;
	unsigned thread;
};

struct kept {
	bool whole; /* nothing had to be given up */
	struct kept_part *parts;
	size_t part_count;
	uint32_t **tokens, **labels; /* by thread: what its rows and labels are; NULL: just that */
	unsigned threads;
	/* private */
	atomic_size_t bytes;
	size_t limit;
};

/* limit: bytes that may be kept at most; 0: nothing is to be kept. */
void kept_init(struct kept *kept, size_t parts, unsigned threads, size_t limit);
void kept_free(struct kept *kept); /* may be called twice */

/* Begins a part, by one of the threads; then begins a record, and adds its tokens. What does not fit ends it all. */
struct kept_part *kept_begin(struct kept *kept, size_t part, unsigned thread); /* NULL: nothing is kept */
bool kept_add_record(struct kept *kept, struct kept_part *part, uint64_t at, size_t size, uint32_t label);
bool kept_add_token(struct kept *kept, struct kept_part *part, uint32_t row);

/* All threads are done. What is kept may be read if it is whole, which it answers. */
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
