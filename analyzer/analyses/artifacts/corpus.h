/*
 * corpus.h: a user's file of labelled texts, gone through part by part in several threads; as often as needed, as it
 * stays in memory (or mapped).
 *
 *     corpus_open() → corpus_pass(), any number of times → corpus_close()
 */
#ifndef CORPUS_H
#define CORPUS_H

#include "files/fields.h"
#include "memory/memory.h"
#include "tokens/tokenizer.h"

#define CORPUS_TEXTS_MAX 16
#define CORPUS_LABELS_MAX 1000 /* more are no labels */
#define CORPUS_IGNORED_MAX 16

/* names_add(); where there is no memory for the text, the program ends. */
static inline uint32_t
corpus_add_name(struct names *names, const char *text, size_t length)
{
	uint32_t name = names_add(names, text, length);

	if (name == NAMES_NONE)
		memory_need(NULL);
	return name;
}

struct corpus_request {
	const char *path;
	const char *texts[CORPUS_TEXTS_MAX];
	size_t text_count;
	const char *label, *id;                  /* id NULL: not needed */
	bool glue;                               /* the file is read as glue.h says; the id is needed */
	const char *ignored[CORPUS_IGNORED_MAX]; /* labels of records that have none */
	size_t ignored_count;
	const char *stop_words; /* NULL: English; "none"; or a file, a word a line */
	const char
	        *tokens; /* a file of the tokens to look at, one a line, which are kept whatever they are; NULL: all */
	size_t min_length;
	uint64_t ngrams;
	bool per_field; /* tokens of different fields differ: field:token */
	unsigned threads;
	size_t keep; /* bytes that may be taken so as not to read the file twice; 0: none */
};

struct corpus {
	struct corpus_request request;
	struct user_file file;
	struct user_parts parts;
	struct fields fields; /* texts, label, id */
	struct names stop_words, tokens;
	struct token_rules rules;
	char *prefixes[CORPUS_TEXTS_MAX]; /* "field:", or "" */
};

int corpus_open(struct corpus *corpus, const struct corpus_request *request, struct portolan_error *error);
void corpus_close(struct corpus *corpus); /* may be called twice */

/* A thread's record, while it goes through a part. */
struct corpus_reader {
	const struct corpus *corpus;
	struct fields_reader fields; /* texts, label, id */
	const struct record *record;
	const struct field *label, *id; /* id NULL: not asked for */
	bool ignored; /* the label is one of request.ignored: the record has its number, and nothing else counts */
	/* private */
	struct tokenizer tokenizer;
	size_t next_text; /* the field whose tokens come next */
};

void corpus_reader_init(struct corpus_reader *reader, const struct corpus *corpus);
void corpus_reader_free(struct corpus_reader *reader);

/* Goes to the beginning of part p, then from record to record, then from token to token of a record, of which some come
 * more than once: 1, 0 for no more, or an error, which names file, line and field. */
void corpus_reader_begin(struct corpus_reader *reader, size_t part);
int corpus_reader_record(struct corpus_reader *reader, struct portolan_error *error);
int corpus_reader_token(struct corpus_reader *reader, struct token *token, struct portolan_error *error);

/* An error about the record's field: "FILE: line 3: the field 'label' WHAT". */
int corpus_reader_wrong(const struct corpus_reader *reader, const char *field, const char *what,
                        struct portolan_error *error);

#endif
