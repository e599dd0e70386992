/* wire_fields.h: the fields in each kind of frame between client and collector: the one table by which the codec
 * writes, reads and checks frames. Arrays (ids, columns, labels and texts) are not in it. Private to the codec. */
#ifndef CLIENT_WIRE_FIELDS_H
#define CLIENT_WIRE_FIELDS_H

#include <portolan/wire.h>

#include <stddef.h>

/* What kind of value stands under a key; and, behind the semicolon, the type of the member that holds it. */
enum wire_field_type {
	WIRE_NUMBER, /* an unsigned integer, least … most; an integer of `size` bytes */
	WIRE_FLAG,   /* true or false; bool */
	WIRE_TEXT,   /* least … most bytes of UTF-8 without control characters; struct wire_bytes */
	WIRE_LINES,  /* as WIRE_TEXT, but only U+0000 is forbidden */
	WIRE_REMARK, /* as WIRE_TEXT, but invalid text is read as empty */
	WIRE_WORD,   /* one of words[least … most]; an enum: the word's index */
	WIRE_CODE,   /* as WIRE_WORD, but an unknown word is read as `most` */
	WIRE_ID,     /* 16 bytes; const uint8_t *, which points into the frame */
	WIRE_COUNTS, /* a map of the fields WIRE_IN_COUNTS; struct wire_counts */
};

enum wire_need {
	WIRE_OPTIONAL, /* left out if it is zero or empty */
	WIRE_WRITTEN,  /* always written, but may be missing in a frame that is read */
	WIRE_REQUIRED,
};

#define WIRE_IN_COUNTS ((enum wire_kind)0)
#define WIRE_MAX_MESSAGE 1000u /* bytes of an error's message */

struct wire_field {
	const char *key;         /* NULL ends the table */
	enum wire_kind kind : 8; /* of the frame; or WIRE_IN_COUNTS. Narrow, to keep the client library small */
	enum wire_field_type type : 4;
	enum wire_need need : 4;
	uint16_t offset, size; /* of the member; see WIRE_MEMBER */
	uint16_t least;
	uint64_t most;
	const char *const *words;
};

#define WIRE_MEMBER(type, member) offsetof(type, member), sizeof(((type *)NULL)->member)

/* The fields of each kind, in the order of WIRE.md, in which they are written. */
extern const struct wire_field wire_fields[];

/* The words that stand in frames for the values of enum wire_kind and enum wire_type. */
extern const char *const wire_kind_names[WIRE_LAST_KIND + 1];
extern const char *const wire_type_names[WIRE_STR + 1];

bool wire_bytes_equal(struct wire_bytes a, const char *b);

/* The index of `word` in words[first … last]; last + 1: it is not there. */
unsigned wire_find_word(const char *const *words, unsigned first, unsigned last, struct wire_bytes word);

#endif
