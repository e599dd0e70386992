/*
 * corpus.h: reads a user's file of labelled texts, record by record and token by token, for `portolan artifacts` and
 * `portolan upsample`. Several threads read it, part by part. The file stays in memory, or mapped, so it may be read as
 * often as needed.
 *
 *     corpus_open() → a corpus_reader for each thread, as often as needed → corpus_close()
 */
#ifndef CORPUS_H
#define CORPUS_H

#include "die/memory.h"
#include "files/fields.h"
#include "tokens/tokenizer.h"

#define CORPUS_TEXTS_MAX 16
#define CORPUS_LABELS_MAX 1000 /* a field with more different values is no label */
#define CORPUS_IGNORED_MAX 16

struct corpus_request {
	const char *path;
	const char *texts[CORPUS_TEXTS_MAX];
	size_t text_count;
	bool tokenized;         /* these fields hold lists of strings, which are the tokens as they are */
	const char *label, *id; /* names of fields; id NULL: ids are not read */
	bool glue;              /* the file is read as glue.h says; this needs the id */
	const char *ignored[CORPUS_IGNORED_MAX]; /* labels whose records count as records without a label */
	size_t ignored_count;
	const char *stop_words; /* a file with one word a line; "none"; NULL: the English ones */
	const char *tokens;     /* a file with the tokens to look at, one a line; NULL: all tokens */
	size_t min_length;
	uint64_t ngrams;
	bool per_field; /* the same word in two fields is two tokens: "field:word" */
	unsigned threads;
	size_t keep; /* bytes of memory that kept.h may take, so that the file is read once; 0: none */
	/* NULL, or called by counts_make() with the bytes of each part when they are counted, in the order of the file,
	 * while other parts are being counted */
	void (*take)(void *context, const char *text, size_t size);
	void *context;
};

struct corpus {
	struct corpus_request request;
	struct user_file file;
	struct user_parts parts;
	struct fields fields; /* texts, label, id */
	struct names stop_words, tokens;
	struct token_rules rules;
	char *prefixes[CORPUS_TEXTS_MAX]; /* by text field: "field:" if per_field, else "" */
};

void corpus_open(struct corpus *corpus, const struct corpus_request *request);
void corpus_close(struct corpus *corpus);

/* A thread's place in the corpus: the record that it has reached in the part that it reads. */
struct corpus_reader {
	const struct corpus *corpus;
	struct fields_reader fields; /* texts, label, id */
	const struct record *record;
	const struct field *label, *id; /* of the record; id NULL: the request asks for no id */
	bool ignored; /* the label is one of request.ignored: the record has a number, but counts nowhere */
	/* private */
	struct tokenizer tokenizer;
	size_t next_text; /* the number of the text field whose tokens come next */
};

void corpus_reader_init(struct corpus_reader *reader, const struct corpus *corpus);
void corpus_reader_free(struct corpus_reader *reader);

/* corpus_reader_begin() goes to the beginning of a part. corpus_reader_record() goes to the part's next record, and
 * returns 1, or 0 where there are no more. corpus_reader_tokens() fills an empty list with the record's next tokens; a
 * token that stands there twice comes twice. It returns 1, or 0 where these are the last. Both may return an error,
 * which names file, line and field. A thread returns the error of its part, so that the user is told of the first. */
void corpus_reader_begin(struct corpus_reader *reader, size_t part);
int corpus_reader_record(struct corpus_reader *reader, struct portolan_error *error);
int corpus_reader_tokens(struct corpus_reader *reader, struct token_list *list, struct portolan_error *error);

#endif
