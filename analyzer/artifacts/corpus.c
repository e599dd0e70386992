/* corpus.c: see corpus.h. */
#include "corpus.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#define LABEL_MAX 1000

void
corpus_close(struct corpus *corpus)
{
	for (size_t i = 0; i < CORPUS_TEXTS_MAX; i++)
		free(corpus->prefixes[i]);
	names_free(&corpus->stop_words);
	names_free(&corpus->tokens);
	user_parts_free(&corpus->parts);
	user_file_close(&corpus->file);
	*corpus = (struct corpus){0};
}

static int
no_memory(struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a list of words");
}

/* Adds the words of a line of a list as the tokenizer has them: each by itself, or all of them as one n-gram. */
static int
add_line(struct names *names, struct tokenizer *tokenizer, const char *line, size_t length, bool whole)
{
	char joined[TOKEN_HISTORY];
	size_t used = 0;
	struct token token;
	int code;

	tokenizer_begin(tokenizer, line, length, "");
	while ((code = tokenizer_next(tokenizer, &token)) > 0) {
		if (!whole) {
			if (names_add(names, token.text, token.length) == NAMES_NONE)
				return TOKENIZER_MEMORY;
			continue;
		}
		if (used + token.length + 1 > sizeof(joined))
			return 0;
		if (used)
			joined[used++] = ' ';
		memcpy(joined + used, token.text, token.length);
		used += token.length;
	}
	if (code < 0 || used == 0)
		return code;
	return names_add(names, joined, used) == NAMES_NONE ? TOKENIZER_MEMORY : 0;
}

static int
read_list(struct names *names, const char *path, bool whole, struct portolan_error *error)
{
	static const struct token_rules rules = {.ngrams = 1, .min_length = 1};
	struct tokenizer tokenizer;
	struct content content;
	uint64_t line = 0;
	int code = content_open(&content, path, error);

	if (code < 0)
		return code;
	tokenizer_init(&tokenizer, &rules);
	for (size_t at = 0; at < content.size && code >= 0; line++) {
		struct record record = records_next(RECORDS_TSV, content.bytes + at, content.size - at);

		code = add_line(names, &tokenizer, record.at, record.length, whole);
		at += record.next;
	}
	tokenizer_free(&tokenizer);
	content_close(&content);
	if (code == TOKENIZER_NOT_UTF8)
		return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu is not UTF-8", path,
		                 (unsigned long long)line);
	if (code < 0)
		return no_memory(error);
	if (names->count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s has no words", path);
	return 0;
}

static int
take_stop_words(struct corpus *corpus, struct portolan_error *error)
{
	const char *given = corpus->request.stop_words;

	if (given && strcmp(given, "none") == 0)
		return 0;
	if (given)
		return read_list(&corpus->stop_words, given, false, error);
	for (const char *const *word = stop_words_english; *word; word++)
		if (names_add(&corpus->stop_words, *word, strlen(*word)) == NAMES_NONE)
			return no_memory(error);
	return 0;
}

/* Tokens that are asked for are no stop words, nor too short. */
static int
take_rules(struct corpus *corpus, struct portolan_error *error)
{
	const struct corpus_request *request = &corpus->request;
	int code = 0;

	corpus->rules = (struct token_rules){.min_length = request->min_length, .ngrams = request->ngrams};
	if (request->tokens) {
		corpus->rules.min_length = 1;
		code = read_list(&corpus->tokens, request->tokens, true, error);
	} else {
		code = take_stop_words(corpus, error);
		if (corpus->stop_words.count > 0)
			corpus->rules.stop_words = &corpus->stop_words;
	}
	for (size_t i = 0; i < request->text_count && code >= 0; i++) {
		char *prefix = calloc(strlen(request->texts[i]) + 2, 1);

		corpus->prefixes[i] = prefix;
		if (!prefix)
			return no_memory(error);
		if (request->per_field) {
			memcpy(prefix, request->texts[i], strlen(request->texts[i]));
			prefix[strlen(request->texts[i])] = ':';
		}
		if (strlen(prefix) > TOKEN_PREFIX_MAX)
			return error_set(error, PORTOLAN_E_INVALID, "--per-field: the name of field %zu is too long",
			                 i + 1);
	}
	return code;
}

static int
find_fields(struct corpus *corpus, struct portolan_error *error)
{
	const struct corpus_request *request = &corpus->request;
	const char *names[FIELDS_MAX], *options[FIELDS_MAX];
	size_t count = 0;

	for (; count < request->text_count; count++) {
		names[count] = request->texts[count];
		options[count] = "--text";
	}
	names[count] = request->label;
	options[count++] = "--label";
	if (request->id) {
		names[count] = request->id;
		options[count++] = "--id-field";
	}
	return fields_init(&corpus->fields, &corpus->file, names, options, count, error);
}

int
corpus_open(struct corpus *corpus, const struct corpus_request *request, struct portolan_error *error)
{
	int code;

	*corpus = (struct corpus){.request = *request};
	code = user_file_open(&corpus->file, "DATA", request->path, error);
	if (code >= 0 && corpus->file.begin >= corpus->file.size)
		code = error_set(error, PORTOLAN_E_INVALID, "%s holds no records", request->path);
	if (code >= 0)
		code = find_fields(corpus, error);
	if (code >= 0)
		code = take_rules(corpus, error);
	if (code >= 0)
		code = user_file_cut(&corpus->file, &corpus->parts, error);
	if (code < 0)
		corpus_close(corpus);
	return code;
}

void
corpus_reader_init(struct corpus_reader *reader, const struct corpus *corpus)
{
	reader->corpus = corpus;
	reader->room = (struct fields_room){0};
	tokenizer_init(&reader->tokenizer, &corpus->rules);
}

void
corpus_reader_free(struct corpus_reader *reader)
{
	fields_room_free(&reader->room);
	tokenizer_free(&reader->tokenizer);
}

void
corpus_reader_begin(struct corpus_reader *reader, size_t part)
{
	reader->part = user_file_part(&reader->corpus->file, &reader->corpus->parts, part);
}

int
corpus_reader_wrong(const struct corpus_reader *reader, const char *field, const char *what,
                    struct portolan_error *error)
{
	const struct user_file *file = &reader->corpus->file;

	return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu: the field '%s' %s", file->path,
	                 (unsigned long long)user_file_line(file, reader->record.at), field, what);
}

/* A text, a number, and of labels and ids true and false as well. */
static int
check_kind(const struct corpus_reader *reader, size_t field, bool is_text, struct portolan_error *error)
{
	const struct fields *fields = &reader->corpus->fields;
	enum records_json_kind kind = reader->fields[field].kind;

	if (!reader->fields[field].at)
		return fields_missing(fields, &reader->record, field, error);
	if (kind == RECORDS_JSON_OTHER || (is_text && (kind == RECORDS_JSON_TRUE || kind == RECORDS_JSON_FALSE)))
		return corpus_reader_wrong(reader, fields->names[field].text,
		                           is_text ? "is no text" : "is neither text nor number", error);
	return 0;
}

static int
take_label(struct corpus_reader *reader, struct portolan_error *error)
{
	const struct corpus *corpus = reader->corpus;
	const struct field *label = &reader->fields[corpus->request.text_count];

	reader->label = label->at;
	reader->label_length = label->length;
	if (label->length == 0)
		return corpus_reader_wrong(reader, corpus->request.label, "is empty: every record needs a label",
		                           error);
	if (label->length > LABEL_MAX)
		return corpus_reader_wrong(reader, corpus->request.label, "is too long for a label (over 1,000 bytes)",
		                           error);
	for (size_t i = 0; i < label->length; i++)
		if ((unsigned char)label->at[i] < ' ')
			return corpus_reader_wrong(reader, corpus->request.label,
			                           "holds a tab, a line end or another control character", error);
	if (u8_check((const uint8_t *)label->at, label->length))
		return corpus_reader_wrong(reader, corpus->request.label, "is not UTF-8", error);
	return 0;
}

int
corpus_reader_record(struct corpus_reader *reader, struct portolan_error *error)
{
	const struct corpus *corpus = reader->corpus;
	size_t texts = corpus->request.text_count;
	int code = user_part_next(&reader->part, error);

	if (code <= 0)
		return code;
	reader->record = reader->part.record;
	code = fields_take(&corpus->fields, &reader->record, &reader->room, reader->fields, error);
	for (size_t i = 0; i < corpus->fields.count && code >= 0; i++)
		code = check_kind(reader, i, i < texts, error);
	if (code >= 0)
		code = take_label(reader, error);
	if (code < 0)
		return code;
	reader->id = corpus->request.id ? reader->fields[texts + 1].at : NULL;
	reader->id_length = corpus->request.id ? reader->fields[texts + 1].length : 0;
	reader->next_text = 0;
	tokenizer_begin(&reader->tokenizer, "", 0, "");
	return 1;
}

int
corpus_reader_token(struct corpus_reader *reader, struct token *token, struct portolan_error *error)
{
	const struct corpus *corpus = reader->corpus;
	int code;

	while ((code = tokenizer_next(&reader->tokenizer, token)) == 0) {
		size_t text = reader->next_text;

		if (text == corpus->request.text_count)
			return 0;
		tokenizer_begin(&reader->tokenizer, reader->fields[text].at, reader->fields[text].length,
		                corpus->prefixes[text]);
		reader->next_text++;
	}
	if (code == TOKENIZER_NOT_UTF8)
		return corpus_reader_wrong(reader, corpus->request.texts[reader->next_text - 1],
		                           "is not UTF-8: turn the file into it (iconv -f LATIN1 -t UTF-8), or drop "
		                           "such bytes (iconv -c)",
		                           error);
	return code < 0 ? error_set(error, PORTOLAN_E_MEMORY, "out of memory for a text of %s", corpus->file.path)
	                : code;
}
