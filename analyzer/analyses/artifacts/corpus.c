/* corpus.c: reads a file of labelled texts, record by record and token by token, as the options say. */
#include "corpus.h"

#include "files/list.h"

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

struct list {
	const char *path, *unit;
	struct names *names;
	struct tokenizer tokenizer;
	bool whole; /* a line is one n-gram */
};

/* Adds the words of a line as the tokenizer has them: each by itself, or all of them as one n-gram. */
static int
corpus_add_words(struct list *list, const char *line, size_t length)
{
	char joined[TOKEN_HISTORY];
	size_t used = 0;
	struct token token;
	int code;

	tokenizer_begin(&list->tokenizer, line, length, "");
	while ((code = tokenizer_next(&list->tokenizer, &token)) > 0) {
		if (!list->whole) {
			corpus_add_name(list->names, token.text, token.length);
			continue;
		}
		if (used + token.length + 1 > sizeof(joined))
			return 0;
		if (used)
			joined[used++] = ' ';
		memcpy(joined + used, token.text, token.length);
		used += token.length;
	}
	if (code == 0 && used > 0)
		corpus_add_name(list->names, joined, used);
	return code;
}

static int
corpus_take_line(void *context, uint64_t place, const char *line, size_t length, struct portolan_error *error)
{
	struct list *list = context;
	int code = corpus_add_words(list, line, length);

	if (code == TOKENIZER_NOT_UTF8)
		return error_set(error, PORTOLAN_E_INVALID, "%s: %s %llu is not UTF-8", list->path, list->unit,
		                 (unsigned long long)place);
	if (code < 0)
		memory_need(NULL);
	return 0;
}

static int
corpus_read_list(struct names *names, const char *path, bool whole, struct portolan_error *error)
{
	static const struct token_rules rules = {.ngrams = 1, .min_length = 1};
	struct list list = {.path = path, .names = names, .whole = whole};
	int code;

	tokenizer_init(&list.tokenizer, &rules);
	code = list_read(path, LIST_LABELS, &list.unit, corpus_take_line, &list, error);
	tokenizer_free(&list.tokenizer);
	if (code < 0)
		return code;
	return names->count ? 0 : error_set(error, PORTOLAN_E_INVALID, "%s has no words", path);
}

static int
corpus_take_stop_words(struct corpus *corpus, struct portolan_error *error)
{
	const char *given = corpus->request.stop_words;

	if (given && strcmp(given, "none") == 0)
		return 0;
	if (given)
		return corpus_read_list(&corpus->stop_words, given, false, error);
	for (const char *const *word = stop_words_english; *word; word++)
		corpus_add_name(&corpus->stop_words, *word, strlen(*word));
	return 0;
}

/* Tokens that are asked for are no stop words, nor too short. */
static int
corpus_take_rules(struct corpus *corpus, struct portolan_error *error)
{
	const struct corpus_request *request = &corpus->request;
	int code = 0;

	corpus->rules = (struct token_rules){.min_length = request->min_length, .ngrams = request->ngrams};
	if (request->tokens) {
		corpus->rules.min_length = 1;
		code = corpus_read_list(&corpus->tokens, request->tokens, true, error);
	} else {
		code = corpus_take_stop_words(corpus, error);
		if (corpus->stop_words.count > 0)
			corpus->rules.stop_words = &corpus->stop_words;
	}
	for (size_t i = 0; i < request->text_count && code >= 0; i++) {
		corpus->prefixes[i] =
		        memory_text("%s%s", request->per_field ? request->texts[i] : "", request->per_field ? ":" : "");
		if (strlen(corpus->prefixes[i]) > TOKEN_PREFIX_MAX)
			return error_set(error, PORTOLAN_E_INVALID, "--per-field: the name of field %zu is too long",
			                 i + 1);
	}
	return code;
}

static int
corpus_find_fields(struct corpus *corpus, struct portolan_error *error)
{
	const struct corpus_request *request = &corpus->request;
	const char *names[FIELDS_MAX], *options[FIELDS_MAX];
	size_t count = 0;

	for (; count < request->text_count; count++) {
		names[count] = request->texts[count];
		options[count] = "--text";
	}
	names[count] = request->label;
	options[count++] = "--label-field";
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
	if (code >= 0 && request->glue)
		user_file_read_as_glue(&corpus->file, request->id);
	if (code >= 0 && corpus->file.begin >= corpus->file.size)
		code = error_set(error, PORTOLAN_E_INVALID, "%s holds no records", request->path);
	if (code >= 0)
		code = corpus_find_fields(corpus, error);
	if (code >= 0)
		code = corpus_take_rules(corpus, error);
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
	reader->fields = (struct fields_reader){0};
	tokenizer_init(&reader->tokenizer, &corpus->rules);
}

void
corpus_reader_free(struct corpus_reader *reader)
{
	fields_end(&reader->fields);
	tokenizer_free(&reader->tokenizer);
}

void
corpus_reader_begin(struct corpus_reader *reader, size_t part)
{
	const struct corpus *corpus = reader->corpus;

	fields_begin(&reader->fields, &corpus->fields, user_file_part(&corpus->file, &corpus->parts, part));
}

int
corpus_reader_wrong(const struct corpus_reader *reader, const char *field, const char *what,
                    struct portolan_error *error)
{
	return fields_wrong(&reader->fields, error, ": the field '%s' %s", field, what);
}

/* A text, a number, and of labels and ids true and false as well. */
static int
corpus_check_kind(const struct corpus_reader *reader, size_t field, bool is_text, struct portolan_error *error)
{
	const char *name = reader->corpus->fields.names[field].text;
	enum field_kind kind = reader->fields.found[field].kind;

	if (!reader->fields.found[field].at)
		return fields_wrong(&reader->fields, error, " has no field '%s'", name);
	if (kind == FIELD_OTHER || (is_text && kind == FIELD_TRUTH))
		return corpus_reader_wrong(reader, name, is_text ? "is no text" : "is neither text nor number", error);
	return 0;
}

static int
corpus_check_label(const struct corpus_reader *reader, struct portolan_error *error)
{
	const struct field *label = reader->label;
	const char *wrong = NULL;

	if (label->length == 0)
		wrong = "is empty: every record needs a label";
	else if (label->length > LABEL_MAX)
		wrong = "is too long for a label (over 1,000 bytes)";
	else if (u8_check((const uint8_t *)label->at, label->length))
		wrong = "is not UTF-8";
	for (size_t i = 0; i < label->length && !wrong; i++)
		if ((unsigned char)label->at[i] < ' ')
			wrong = "holds a tab, a line end or another control character";
	return wrong ? corpus_reader_wrong(reader, reader->corpus->request.label, wrong, error) : 0;
}

static bool
corpus_is_ignored(const struct corpus_reader *reader)
{
	const struct corpus_request *request = &reader->corpus->request;

	for (size_t i = 0; i < request->ignored_count; i++)
		if (strlen(request->ignored[i]) == reader->label->length &&
		    memcmp(request->ignored[i], reader->label->at, reader->label->length) == 0)
			return true;
	return false;
}

int
corpus_reader_record(struct corpus_reader *reader, struct portolan_error *error)
{
	const struct corpus *corpus = reader->corpus;
	size_t texts = corpus->request.text_count;
	int code = fields_next(&reader->fields, error);

	if (code <= 0)
		return code;
	reader->record = &reader->fields.part.record;
	reader->label = &reader->fields.found[texts];
	reader->id = corpus->request.id ? &reader->fields.found[texts + 1] : NULL;
	for (size_t i = 0; i < corpus->fields.count && code >= 0; i++)
		code = corpus_check_kind(reader, i, i < texts, error);
	reader->ignored = code >= 0 && corpus_is_ignored(reader);
	if (code >= 0 && !reader->ignored)
		code = corpus_check_label(reader, error);
	reader->next_text = 0;
	tokenizer_begin(&reader->tokenizer, "", 0, "");
	return code < 0 ? code : 1;
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
		tokenizer_begin(&reader->tokenizer, reader->fields.found[text].at, reader->fields.found[text].length,
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
