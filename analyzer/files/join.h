/* join.h: matches the records of a user's file with examples, by id. */
#ifndef JOIN_H
#define JOIN_H

#include "base/ids.h"
#include "fields.h"

/* Records that may not be as their owner thinks. Lines are those of the file, from 1. */
struct join_oddities {
	uint64_t without_id, first_without_id; /* no id, or an empty one: how many, and the line of the first */
	uint64_t ragged, first_ragged;         /* CSV and TSV: more fields than the header has, or fewer */
	uint64_t unlabelled;                   /* records passed over: see glue.h */
	uint64_t again, first_again;           /* with glue.h: further records of an example, which are passed over */
	char odd[64]; /* the first id of the file that is no whole number, where the run's ids are; else empty */
};

/* An id is a text or a number, and not empty. */
static inline bool
join_is_id(const struct field *field)
{
	return (field->kind == FIELD_TEXT || field->kind == FIELD_NUMBER) && field->length > 0;
}

/* The position of the example that the reader's record belongs to, whose id is the field `id`; −1: none. */
int64_t join_find(const struct ids_index *index, const struct fields_reader *reader, size_t id,
                  struct join_oddities *oddities);

/* Warns of records without id and of ragged ones. */
void join_warn(const struct join_oddities *oddities, const char *path, const char *id_field);

struct join_match {
	struct record record;
	uint64_t number;   /* of the record in the file, from 0; a header does not count */
	uint32_t position; /* in the list of chosen examples */
};

struct join {
	enum records_format format;
	struct record header;       /* CSV and TSV */
	size_t mark;                /* bytes of a byte order mark, which stands at the beginning of `text` */
	struct join_match *matches; /* by position, then by number */
	size_t count;
	size_t again;           /* further matches of an example; 0 in a file read as glue.h says */
	uint64_t first_again;   /* the number of the one that stands first in the file */
	size_t missing;         /* chosen examples that no record belongs to */
	uint32_t first_missing; /* the position of the first of them */
	struct join_oddities oddities;
	const char *text;
	/* private */
	struct user_file file;
};

/* Says of the file what its owner should know: what join_warn() does, and examples that several records belong to, all
 * of which count. Of the chosen ones, given as to join_open(), it counts those that no record belongs to, `which` being
 * "selected " or empty; false: there are some. */
bool join_report(const struct join *join, const char *id_field, const struct ids *ids, const uint32_t *chosen, size_t n,
                 const char *which);

/* Reads `path` ("-": standard input) and finds the records whose field `id_field` is the id of one of the n chosen
 * examples; with `glue` as glue.h says. The records point into the file's memory, which is the join's until
 * join_free(). */
int join_open(struct join *join, const char *path, const char *id_field, bool glue, const struct ids *ids,
              const uint32_t *chosen, size_t n, struct portolan_error *error);
void join_free(struct join *join);

#endif
