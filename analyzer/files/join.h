/* join.h: finds the records in a user's file that belong to chosen examples, by id. For commands that print the user's
 * own lines (`select`, `noise`, `aflite`) or read columns of them. */
#ifndef JOIN_H
#define JOIN_H

#include "base/ids.h"
#include "fields.h"

/* Counts of records that may not be what the user thinks. Lines are numbered from 1. */
struct join_oddities {
	uint64_t without_id, first_without_id; /* records whose id is missing or empty; the line of the first */
	uint64_t ragged, first_ragged; /* records with more fields than the header, or fewer; the line of the first */
	uint64_t unlabelled;           /* records without a label, which are skipped (glue.h) */
	uint64_t again, first_again;   /* records of an example that has had one, which are skipped (glue.h) */
	char odd[64]; /* the file's first id that is no whole number, if the run's ids are whole numbers; else empty */
};

/* Can the field be an id? An id is a text or a number, and not empty. */
static inline bool
join_is_id(const struct field *field)
{
	return (field->kind == FIELD_TEXT || field->kind == FIELD_NUMBER) && field->length > 0;
}

/* The position in the index of the example whose id is in the record's field `id`; −1: no example has that id. */
int64_t join_find(const struct ids_index *index, const struct fields_reader *reader, size_t id,
                  struct join_oddities *oddities);

/* Warns of what was counted in `oddities`. */
void join_warn(const struct join_oddities *oddities, const char *path, const char *id_field);

struct join_match {
	struct record record;
	uint64_t number;   /* the record's number in the file, from 0; a header does not count */
	uint32_t position; /* the example's position in the list of chosen examples */
};

struct join {
	enum table_format format;
	struct record header;       /* CSV and TSV */
	size_t mark;                /* bytes of a byte order mark, which stands at the beginning of `text` */
	struct join_match *matches; /* sorted by position, then by number */
	size_t count;
	size_t again;         /* the number of further matches of an example; 0 in a file that is read as glue.h says */
	uint64_t first_again; /* the number of the first record, in the file's order, that is a further match */
	size_t missing;       /* the number of chosen examples without a record */
	uint32_t first_missing; /* the position of the first chosen example without a record */
	struct join_oddities oddities;
	const char *text;
	/* private */
	struct user_file file;
};

/* Warns of oddities, of examples with several records, and of chosen examples without a record. False: there are
 * examples without one. `ids`, `chosen` and n are those of join_open(). `which` is "selected " or empty, for the
 * message, which says so what examples are meant. */
bool join_report(const struct join *join, const char *id_field, const struct ids *ids, const uint32_t *chosen, size_t n,
                 const char *which);

/* Reads the file `path` ("-": standard input) and finds the records whose field `id_field` is the id of one of the n
 * chosen examples. `glue`: the file is read as glue.h says. The records point into the file's memory, which join_free()
 * releases. */
int join_open(struct join *join, const char *path, const char *id_field, bool glue, const struct ids *ids,
              const uint32_t *chosen, size_t n, struct portolan_error *error);
void join_free(struct join *join);

#endif
