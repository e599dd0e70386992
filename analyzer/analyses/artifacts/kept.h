/*
 * kept.h: keeps in memory which tokens each record holds, while counts.c counts them, if a limit of memory allows it.
 * Then `portolan upsample` finds the records that hold a few tokens (holders.h) without reading its file again.
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
	uint32_t label;  /* the thread's number for the label; kept_label() translates it */
	uint32_t tokens; /* how many of the part's rows are this record's */
};

struct kept_part {
	struct kept_record *records;
	uint32_t *rows; /* the thread's numbers for tokens, each once in a record: kept_token() translates them */
	size_t record_count, record_room, row_count, row_room;
	unsigned thread;
};

struct kept {
	bool whole; /* everything has been kept, and may be read */
	struct kept_part *parts;
	size_t part_count;
	/* By thread, then by the thread's number for a token or label: the number that all threads share. NULL: the
	 * thread's number is that number. */
	uint32_t **tokens, **labels;
	unsigned threads;
	/* private */
	atomic_size_t bytes;
	size_t limit;
};

/* Begins to keep at most `limit` bytes; 0: nothing is kept. */
void kept_init(struct kept *kept, size_t parts, unsigned threads, size_t limit);
void kept_free(struct kept *kept); /* may be called twice */

/* A thread begins a part, then adds each record, and after it the record's tokens. Once something does not fit, no
 * thread keeps anything more. NULL and false: nothing is kept any more. */
struct kept_part *kept_begin(struct kept *kept, size_t part, unsigned thread);
bool kept_add_record(struct kept *kept, struct kept_part *part, uint64_t at, size_t size, uint32_t label);
bool kept_add_tokens(struct kept *kept, struct kept_part *part, const uint32_t *rows, size_t count);

/* Ends the keeping, when all threads are done. If not everything fitted, frees what was kept. */
void kept_finish(struct kept *kept);

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
