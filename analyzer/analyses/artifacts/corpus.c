/* corpus.c: reads a file of labelled texts, record by record and token by token, for `portolan artifacts` and `portolan
 * upsample`. Their options say which fields are texts, and which tokens count. */
#include "corpus.h"

#include "die/die.h"
#include "files/list.h"

#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#define LABEL_MAX 1000 /* bytes */
#define NO_LIST                                                                                                        \
	"is no list of strings, as in [\"play\", \"##ing\"]: --tokenized takes what a tokenizer has made; --text takes texts"

/* English words that say little about a text: articles, pronouns, prepositions, conjunctions, forms of be, have and do.
 * Words of negation and quantity (not, no, never, all) are none: they are what gives labels away. */
static const char *const corpus_stop_words[] = {
        /* articles and demonstratives */
        "a", "an", "the", "this", "that", "these", "those",
        /* pronouns */
        "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours", "yourself",
        "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they",
        "them", "their", "theirs", "themselves", "who", "whom", "whose", "which", "what",
        /* prepositions */
        "about", "after", "at", "before", "by", "during", "for", "from", "in", "into", "of", "off", "on", "onto", "out",
        "over", "through", "to", "under", "up", "upon", "with", "within", "between", "down",
        /* conjunctions, and adverbs that join */
        "and", "or", "but", "if", "because", "as", "until", "while", "than", "then", "so", "too", "when", "where",
        "how", "why", "there", "here",
        /* be, have, do, and what stands before a verb */
        "am", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "having", "do", "does", "did",
        "doing", "will", "would", "shall", "should", "can", "could", "may", "might", "must",
        /* pronouns joined with verbs; and what a contraction leaves */
        "i'm", "i've", "i'll", "i'd", "you're", "you've", "you'll", "you'd", "he's", "he'll", "he'd", "she's", "she'll",
        "she'd", "it's", "it'll", "we're", "we've", "we'll", "we'd", "they're", "they've", "they'll", "they'd",
        "that's", "there's", "who's", "what's", "let's", "s", "t", NULL};

void
corpus_close(struct corpus *corpus)
{
	for (size_t i = 0; i < CORPUS_TEXTS_MAX; i++)
		free(corpus->prefixes[i]);
	names_free(&corpus->stop_words);
	names_free(&corpus->tokens);
	user_parts_free(&corpus->parts);
	user_file_close(&corpus->file);
}

/* A file of words that is being read. */
struct corpus_list {
	const char *path, *unit;
	struct names *names;
	struct tokenizer tokenizer;
	bool whole;    /* a line is one n-gram; else each of its words is a token */
	bool as_given; /* a line is one token, as it is */
};

/* Adds the words of a line, as the tokenizer cuts them: each by itself, or all of them as one n-gram. An n-gram that is
 * too long for a token is left out. Of tokens that a tokenizer of the user's has made, a line is one. Returns 0, or the
 * tokenizer's error. */
static int
corpus_add_words(struct corpus_list *list, const char *line, size_t length)
{
	char joined[TOKEN_HISTORY];
	size_t used = 0;
	struct token token;
	int code;

	if (list->as_given) {
		if (u8_check((const uint8_t *)line, length))
			return TOKENIZER_NOT_UTF8;
		if (length > 0)
			memory_name(list->names, line, length);
		return 0;
	}
	tokenizer_begin(&list->tokenizer, line, length, "");
	while ((code = tokenizer_next(&list->tokenizer, &token)) > 0) {
		if (!list->whole) {
			memory_name(list->names, token.text, token.length);
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
		memory_name(list->names, joined, used);
	return code;
}

static int
corpus_take_line(void *context, uint64_t place, const char *line, size_t length, struct portolan_error *error)
{
	struct corpus_list *list = context;
	int code = corpus_add_words(list, line, length);

	(void)error;
	if (code == TOKENIZER_NOT_UTF8)
		die("%s: %s %llu is not UTF-8", list->path, list->unit, (unsigned long long)place);
	if (code < 0)
		memory_need(NULL);
	return 0;
}

static void
corpus_read_list(struct names *names, const char *path, bool whole, bool as_given)
{
	static const struct token_rules rules = {.ngrams = 1, .min_length = 1};
	struct corpus_list list = {.path = path, .names = names, .whole = whole, .as_given = as_given};

	tokenizer_init(&list.tokenizer, &rules);
	must(list_read(path, LIST_LABELS, &list.unit, corpus_take_line, &list, &failure));
	tokenizer_free(&list.tokenizer);
	if (names->count == 0)
		die("%s has no words", path);
}

static void
corpus_take_stop_words(struct corpus *corpus)
{
	const char *given = corpus->request.stop_words;

	if (given ? strcmp(given, "none") == 0 : corpus->request.tokenized)
		return;
	if (given)
		corpus_read_list(&corpus->stop_words, given, false, corpus->request.tokenized);
	for (const char *const *word = corpus_stop_words; *word && !given; word++)
		memory_name(&corpus->stop_words, *word, strlen(*word));
	corpus->rules.stop_words = &corpus->stop_words;
}

/* Reads the files that decide which tokens count. Tokens that the user names are never stop words, nor too short. */
static void
corpus_take_rules(struct corpus *corpus)
{
	const struct corpus_request *request = &corpus->request;

	corpus->rules = (struct token_rules){
	        .min_length = request->min_length, .ngrams = request->ngrams, .given = request->tokenized};
	if (request->tokens) {
		corpus->rules.min_length = 1;
		corpus_read_list(&corpus->tokens, request->tokens, true, request->tokenized);
	} else {
		corpus_take_stop_words(corpus);
	}
	for (size_t i = 0; i < request->text_count; i++) {
		corpus->prefixes[i] =
		        memory_text("%s%s", request->per_field ? request->texts[i] : "", request->per_field ? ":" : "");
		if (strlen(corpus->prefixes[i]) > TOKEN_PREFIX_MAX)
			die("--per-field: the name of field %zu is too long", i + 1);
	}
}

static void
corpus_find_fields(struct corpus *corpus)
{
	const struct corpus_request *request = &corpus->request;
	const char *names[FIELDS_MAX], *options[FIELDS_MAX];
	size_t count = 0;

	for (; count < request->text_count; count++) {
		names[count] = request->texts[count];
		options[count] = request->tokenized ? "--tokenized" : "--text";
	}
	names[count] = request->label;
	options[count++] = "--label-field";
	if (request->id) {
		names[count] = request->id;
		options[count++] = "--id-field";
	}
	must(fields_init(&corpus->fields, &corpus->file, names, options, count, &failure));
}

void
corpus_open(struct corpus *corpus, const struct corpus_request *request)
{
	*corpus = (struct corpus){.request = *request};
	must(user_file_open(&corpus->file, "DATA", request->path, &failure));
	if (request->glue)
		user_file_read_as_glue(&corpus->file, request->id);
	if (corpus->file.begin >= corpus->file.size)
		die("%s holds no records", request->path);
	corpus_find_fields(corpus);
	corpus_take_rules(corpus);
	must(user_file_cut(&corpus->file, &corpus->parts, &failure));
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

/* Sets the error "FILE: line 3: the field 'label' WHAT" for the record. */
static int
corpus_reader_wrong(const struct corpus_reader *reader, const char *field, const char *what,
                    struct portolan_error *error)
{
	return fields_wrong(&reader->fields, error, ": the field '%s' %s", field, what);
}

/* Checks that the field is what --tokenized takes: a list in JSON, or the text of one in CSV and TSV. Its items are
 * checked when they are read. */
static int
corpus_check_list(const struct corpus_reader *reader, size_t field, struct portolan_error *error)
{
	const struct field *found = &reader->fields.found[field];
	const enum field_kind kind = reader->corpus->file.format == TABLE_JSONL ? FIELD_OTHER : FIELD_TEXT;
	size_t at = 0;

	while (at < found->length && memchr(" \t\r\n", found->at[at], 4))
		at++;
	return found->kind == kind && at < found->length && found->at[at] == '['
	               ? 0
	               : corpus_reader_wrong(reader, reader->corpus->fields.names[field].text, NO_LIST, error);
}

/* Checks that the field is a text or a number. A label or an id may also be a truth value. */
static int
corpus_check_kind(const struct corpus_reader *reader, size_t field, bool is_text, struct portolan_error *error)
{
	const char *name = reader->corpus->fields.names[field].text;
	enum field_kind kind = reader->fields.found[field].kind;

	if (!reader->fields.found[field].at)
		return fields_wrong(&reader->fields, error, " has no field '%s'", name);
	if (is_text && reader->corpus->request.tokenized)
		return corpus_check_list(reader, field, error);
	if (kind == FIELD_OTHER || (is_text && kind == FIELD_TRUTH))
		return corpus_reader_wrong(reader, name,
		                           !is_text ? "is neither text nor number"
		                           : reader->fields.found[field].at[0] == '['
		                                   ? "is no text: --tokenized takes lists"
		                                   : "is no text",
		                           error);
	return 0;
}

static int
corpus_check_label(const struct corpus_reader *reader, struct portolan_error *error)
{
	const struct field *label = reader->label;
	const char *wrong = NULL;
	bool has_control = false, is_ascii = true;

	for (size_t i = 0; i < label->length; i++) {
		has_control |= (unsigned char)label->at[i] < ' ';
		is_ascii &= (signed char)label->at[i] >= 0;
	}
	if (label->length == 0)
		wrong = "is empty: every record needs a label";
	else if (label->length > LABEL_MAX)
		wrong = "is too long for a label (over 1,000 bytes)";
	else if (!is_ascii && u8_check((const uint8_t *)label->at, label->length))
		wrong = "is not UTF-8";
	else if (has_control)
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
corpus_reader_tokens(struct corpus_reader *reader, struct token_list *list, struct portolan_error *error)
{
	const struct corpus *corpus = reader->corpus;
	int code;

	while ((code = tokenizer_list(&reader->tokenizer, list)) == 0) {
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
	if (code == TOKENIZER_NO_LIST)
		return corpus_reader_wrong(reader, corpus->request.texts[reader->next_text - 1], NO_LIST, error);
	if (code == TOKENIZER_NO_TEXT)
		return corpus_reader_wrong(reader, corpus->request.texts[reader->next_text - 1],
		                           "has a string that is no text: it is not UTF-8, or has U+0000, half of a "
		                           "surrogate pair, a control character that is not escaped, or no end",
		                           error);
	if (code < 0)
		die("out of memory for a text of %s", corpus->file.path);
	return code;
}
