/* test_artifacts.c: tokens, their statistics, fields taken several at once, and up-sampling, by hand. */
#include "unit.h"

#include "artifacts/balance.h"
#include "files/fields.h"
#include "tokens/tokenizer.h"
#include "tokens/tokenizer_unicode.h"

#include <unistr.h>

/* tokenizer_list() must find what tokenizer_next() found: tokens joined by |. */
static void
check_lists(const struct token_rules *rules, const char *text, size_t size, const char *prefix, const char *joined)
{
	struct tokenizer tokenizer;
	struct token_list list;
	int code;

	tokenizer_init(&tokenizer, rules);
	tokenizer_begin(&tokenizer, text, size, prefix);
	do {
		token_list_clear(&list);
		code = tokenizer_list(&tokenizer, &list);
		for (size_t i = 0; i < list.count; i++) {
			const char *token = token_list_text(&list, &list.tokens[i]);
			size_t length = list.tokens[i].length;

			assert_memory_equal(joined, token, length);
			assert_true(joined[length] == '|');
			assert_true(list.tokens[i].key == names_key(token, length));
			joined += length + 1;
		}
	} while (code > 0);
	assert_int_equal(*joined, '\0');
	tokenizer_free(&tokenizer);
}

/* The tokens of a text, joined by |. */
static const char *
tokens_by(const struct token_rules *rules, const char *text, size_t size, const char *prefix)
{
	static char joined[4096];
	struct tokenizer tokenizer;
	struct token token;
	size_t used = 0;
	int code;

	tokenizer_init(&tokenizer, rules);
	tokenizer_begin(&tokenizer, text, size, prefix);
	while ((code = tokenizer_next(&tokenizer, &token)) > 0) {
		assert_true(used + token.length + 2 < sizeof(joined));
		memcpy(joined + used, token.text, token.length);
		joined[used + token.length] = '|';
		used += token.length + 1;
	}
	tokenizer_free(&tokenizer);
	joined[used] = '\0';
	check_lists(rules, text, size, prefix, joined);
	joined[used ? used - 1 : 0] = '\0';
	return code == TOKENIZER_NOT_UTF8 ? "not UTF-8" : joined;
}

static const struct token_rules plain = {.min_length = 1, .ngrams = 1};

static const char *
tokens_of(const char *text)
{
	return tokens_by(&plain, text, strlen(text), "");
}

static void
test_tokens(void **state)
{
	(void)state;
	assert_string_equal(tokens_of(""), "");
	assert_string_equal(tokens_of(" ... -- !? "), "");
	assert_string_equal(tokens_of("A man, a PLAN: a canal."), "a|man|a|plan|a|canal");
	assert_string_equal(tokens_of("don't stop 'quoted' rock'n'roll'"), "don't|stop|quoted|rock'n'roll");
	assert_string_equal(tokens_of("3.14 1,000 1,a a,1 e.g. x.1 v2 snake_case __ _"),
	                    "3.14|1,000|1|a|a|1|e.g|x|1|v2|snake_case");
	assert_string_equal(tokens_of("well-known and/or\tone\ntwo\x01three"), "well|known|and|or|one|two|three");
	/* beyond ASCII: case, composition, apostrophe, marks, scripts without spaces, final sigma */
	assert_string_equal(tokens_of("\xc3\x84RGER \xc3\xbc"
	                              "ber"),
	                    "\xc3\xa4rger|\xc3\xbc"
	                    "ber");
	assert_string_equal(tokens_of("cafe\xcc\x81 caf\xc3\xa9"), "caf\xc3\xa9|caf\xc3\xa9");
	assert_string_equal(tokens_of("don\xe2\x80\x99t \xe2\x80\x9cso\xe2\x80\x9d"), "don't|so");
	assert_string_equal(tokens_of("foo-na\xc3\xafve a.\xc3\xa9 x"), "foo|na\xc3\xafve|a.\xc3\xa9|x");
	assert_string_equal(tokens_of("\xe4\xb8\xad\xe6\x96\x87"), "\xe4\xb8\xad|\xe6\x96\x87");
	assert_string_equal(tokens_of("\xce\x9f\xce\x94\xce\x9f\xce\xa3"), "\xce\xbf\xce\xb4\xce\xbf\xcf\x82");
	assert_string_equal(tokens_of("\xf0\x9f\x98\x80 ok \xe2\x80\x94"), "ok");
	/* what is not seen is left out: a soft hyphen, a zero-width space without break, the end of a direction, a
	 * variation selector; but not what shapes letters */
	assert_string_equal(tokens_of("co\xc2\xadop \xef\xbb\xbf"
	                              "coop coop\xe2\x80\xac 1\xef\xb8\x8f"),
	                    "coop|coop|coop|1");
	assert_string_equal(tokens_of("a\xe2\x80\x8c"
	                              "b"),
	                    "a\xe2\x80\x8c"
	                    "b");
	assert_string_equal(tokens_of("\xe3\x85\xa4 e\xcd\x8f\xcc\x81"), "\xc3\xa9"); /* a letter that is not seen */
	assert_string_equal(tokens_of("fine caf\xe9"), "not UTF-8");
	assert_string_equal(tokens_of("\xc3"), "not UTF-8");
}

static void
test_rules(void **state)
{
	struct token_rules rules = {.min_length = 2, .ngrams = 3};
	struct names stop = {0};
	char text[600];

	(void)state;
	assert_int_equal(names_add(&stop, "the", 3), 0);
	rules.stop_words = &stop;
	assert_string_equal(tokens_by(&rules, "The big x red dog \xc3\xa9 sat", 24, ""),
	                    "big|red|big red|dog|red dog|big red dog|sat|dog sat|red dog sat");
	rules = (struct token_rules){.min_length = 1, .ngrams = 1};
	assert_string_equal(tokens_by(&rules, "a b", 3, "text:"), "text:a|text:b");
	names_free(&stop);
	memset(text, 'a', sizeof(text));
	assert_string_equal(tokens_by(&rules, text, TOKEN_MAX + 1, ""), ""); /* too long */
	assert_int_equal(strlen(tokens_by(&rules, text, TOKEN_MAX, "")), TOKEN_MAX);
}

/* What libunistring alone makes of a piece. */
static void
tokens_by_library(const char *piece, size_t size, char *joined)
{
	struct tokenizer_pieces pieces = {0};
	size_t from = 0, used = 0;
	char word[TOKEN_MAX];

	assert_int_equal(tokenizer_unicode_breaks(&pieces, piece, size), 0);
	for (size_t to = 1; to <= size; to++) {
		long length;

		if (to < size && !pieces.breaks[to])
			continue;
		length = tokenizer_unicode_word(piece + from, to - from, word);
		assert_true(length >= 0);
		memcpy(joined + used, word, (size_t)length);
		used += (size_t)length;
		if (length)
			joined[used++] = '|';
		from = to;
	}
	joined[used ? used - 1 : 0] = '\0';
	free(pieces.breaks);
}

/* Every piece of up to five of these characters: one for each thing that the rules tell apart, and some beyond ASCII.
 */
static void
test_ascii_is_as_the_library(void **state)
{
	static const char *const characters[] = {"a", "B", "7", "_",  ":",        ".",        "'",
	                                         ",", ";", "-", "\"", "\xc3\xa9", "\xcc\x81", "\xd7\x90"};
	enum { COUNT = sizeof(characters) / sizeof(characters[0]) };
	char piece[16], expected[64];

	(void)state;
	for (unsigned length = 1, all = COUNT; length <= 5; length++, all *= COUNT) {
		for (unsigned number = 0; number < all; number++) {
			unsigned rest = number;
			size_t size = 0;

			for (unsigned i = 0; i < length; i++, rest /= COUNT) {
				const char *character = characters[rest % COUNT];

				memcpy(piece + size, character, strlen(character));
				size += strlen(character);
			}
			piece[size] = '\0';
			tokens_by_library(piece, size, expected);
			assert_string_equal(tokens_of(piece), expected);
		}
	}
}

/* A text that is longer than what is looked at in one step, from each of its places: words may lie across all seams. */
static void
test_long_texts(void **state)
{
	static const char text[] =
	        "Plain words, some with 15CharactersEach or 16CharactersEvery1 and 17CharactersAndOne; don't 3.14 snake_case "
	        "well-known caf\xc3\xa9s -- a.b a. b .c \xd7\x90 x, y: z' \"quoted\" (one) two\tthree\nfour\x7f"
	        "five 1,000 a1b2 "
	        "AVeryLongWordThatGoesOnAndOnUntilItIsLongerThanSixtyFourCharactersWhichIsTheBlock end, of it all, at last.";
	struct names stop = {0};
	struct token_rules rules = {.min_length = 2, .ngrams = 1, .stop_words = &stop};

	(void)state;
	assert_int_equal(names_add(&stop, "words", 5), 0);
	for (size_t from = 0; from < sizeof(text); from++)
		for (size_t to = from; to < sizeof(text); to++) {
			char *exact = malloc(to - from + 1); /* so that a tool sees what is read behind it */

			memcpy(exact, text + from, to - from);
			tokens_by(&plain, exact, to - from, "");
			tokens_by(&rules, exact, to - from, "");
			free(exact);
		}
	assert_string_equal(tokens_by(&rules, "plain Words and WORD", 20, ""), "plain|and|word");
	names_free(&stop);
}

/* Ten records of s, of three labels 7, 2, 1: p* = 0.7, z* = (0.7 − 1/3) / √(2/9 / 10) = 2.4596747752497686. */
static void
test_statistics(void **state)
{
	const uint64_t counts[] = {2, 7, 1}, even[] = {5, 5, 5}, none[] = {0, 0, 0};
	const double uniform[] = {1.0 / 3, 1.0 / 3, 1.0 / 3}, shares[] = {0.1, 0.8, 0.1};
	struct token_statistic statistic = token_statistic(counts, uniform, 3);

	(void)state;
	assert_int_equal(statistic.n, 10);
	assert_int_equal(statistic.label, 1);
	assert_close(statistic.p_star, 0.7, 1e-15);
	assert_close(statistic.z_star, 2.4596747752497686, 1e-12);
	statistic = token_statistic(counts, shares, 3); /* z: 0.1 / √0.009 = 1.0540925533894598 for the first */
	assert_int_equal(statistic.label, 0);
	assert_close(statistic.p_star, 0.2, 1e-15); /* of the label that it names, not the largest */
	assert_close(statistic.z_star, 1.0540925533894598, 1e-12);
	statistic = token_statistic(even, uniform, 3);
	assert_int_equal(statistic.label, 0);
	assert_close(statistic.z_star, 0, 1e-12);
	assert_true(isnan(token_statistic(none, uniform, 3).p_star));
	assert_true(isnan(token_statistic(none, uniform, 3).tail));
	assert_close(token_statistic(counts, uniform, 3).tail, 1161.0 / 59049,
	             1e-12); /* Σ C(10,j) 2^(10−j) / 3^10, j ≥ 7 */
}

/* Sums of whole numbers, divided at the end, to 60 digits (tests/cli/run_artifacts.py has the sum); and, between whole
 * numbers, scipy.special.betainc(k, n − k + 1, p). */
static void
test_binomial_tails(void **state)
{
	static const struct {
		double k, n, p, tail;
	} cases[] = {
	        {9, 10, 1.0 / 10, 9.1000000000000004e-09},
	        {1, 3, 1.0 / 2, 0.875},
	        {0, 3, 1.0 / 2, 1},
	        {23, 120, 1.0 / 22, 4.8525160107653355e-09},
	        {120, 120, 1.0 / 22, 8.1148089838388767e-162},
	        {500, 1000, 1.0 / 2, 0.51261250908918043},
	        {600, 1000, 1.0 / 2, 1.3642320780330092e-10},
	        {100, 1000, 1.0 / 2, 1},
	        {2, 1000000, 1.0 / 1000000, 0.26424111765708469},
	        {101500, 1000000, 1.0 / 10, 3.0544195746928475e-07},
	        {99000, 1000000, 1.0 / 10, 0.99958038248443049},
	        {1000700, 2000000, 1.0 / 2, 0.1612722824983843},
	        {17.5, 120, 1.0 / 22, 1.68876702695346e-05},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_close(binomial_tail(cases[i].k, cases[i].n, cases[i].p), cases[i].tail,
		             (cases[i].n > 1000 ? 1e-8 : 1e-11) * cases[i].tail);
	assert_close(binomial_line(120, 1.0 / 22, 0.01 / 88000), 21.005473116521927, 1e-9);
	assert_close(binomial_line(1000, 0.5, 0.01), 537.2692593159358, 1e-8);
	assert_close(binomial_line(30, 0.1, 1e-4), 10.931646074071956, 1e-9);
	assert_true(isnan(binomial_line(3, 0.5, 0.1))); /* three of three come by chance once in eight */
	assert_true(binomial_line(3, 0.5, 0.125) <= 3);
}

static void
take(const struct user_file *file, const char *const *names, size_t count, const char *const *expected)
{
	static const char *const options[] = {"--a", "--b", "--c", "--d"};
	struct fields_reader reader = {0};
	struct fields fields;

	assert_int_equal(fields_init(&fields, file, names, options, count, NULL), 0);
	fields_begin(&reader, &fields, user_file_whole(file));
	assert_int_equal(fields_next(&reader, NULL), 1);
	for (size_t i = 0; i < count; i++) {
		const struct field *found = &reader.found[i];

		if (!expected[i]) {
			assert_null(found->at);
			continue;
		}
		assert_int_equal(found->length, strlen(expected[i]));
		assert_memory_equal(found->at, expected[i], found->length);
	}
	fields_end(&reader);
}

static struct user_file
file_of(enum table_format format, const char *text)
{
	struct user_file file = {.path = "file", .format = format, .text = text, .size = strlen(text)};

	if (format != TABLE_JSONL) {
		file.header = records_next(format, text, file.size);
		file.begin = file.header.next;
	}
	return file;
}

static void
test_fields(void **state)
{
	const char *const names[] = {"c", "a", "a"}, *const wanted[] = {"x, \"y\"\nz", "1", "1"};
	const char *const missing[] = {NULL, "1", "1"}, *const odd[] = {"bc", "", ""};
	struct user_file file =
	        file_of(TABLE_JSONL, "{\"a\": 1, \"b\": [{\"c\": 2}], \"\\u0063\": \"x, \\\"y\\\"\\nz\"}\n");

	(void)state;
	take(&file, names, 3, wanted);
	file = file_of(TABLE_JSONL, "{\"c\": null, \"a\": 1, \"a\": 2}");
	take(&file, names, 3, missing);
	file = file_of(TABLE_CSV, "a,b,c\n1,\"5\"\" disk\",\"x, \"\"y\"\"\nz\"\n");
	take(&file, names, 3, wanted);
	file = file_of(TABLE_CSV, "c,a\n\"b\"c,\n");
	take(&file, names, 3, odd);
	file = file_of(TABLE_CSV, "a,b,c\n1,2\n");
	take(&file, names, 3, missing);
	file = file_of(TABLE_TSV, "a\tb\tc\n1\t2\n");
	take(&file, names, 3, missing);
}

/* Keys are remembered from line to line: each line must be read as if it stood alone. */
static void
test_fields_of_other_lines(void **state)
{
	static const char *const names[] = {"a", "b", "a"}, *const options[] = {"--a", "--b", "--c"};
	struct user_file file =
	        file_of(TABLE_JSONL, "{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n{\"b\": 5, \"a\": 6}\n"
	                             "{\"b\":7,\"a\":8}\n{\"ab\": 0, \"b\": 9}\n{}\n"
	                             "{\"\\u0061\": 1, \"b\": 2}\n{\"\\u0061\": 3, \"b\": 4}\n"
	                             "{\"b\": 5, \"b\": 6}\n{\"b\": 7 ,\"a\": 8}\n{\"b\": 7,\n");
	static const char *const wanted[][2] = {{"1", "2"},   {"3", "4"}, {"6", "5"}, {"8", "7"},  {NULL, "9"},
	                                        {NULL, NULL}, {"1", "2"}, {"3", "4"}, {NULL, "5"}, {"8", "7"}};
	struct fields_reader reader = {0};
	struct fields fields;

	(void)state;
	assert_int_equal(fields_init(&fields, &file, names, options, 3, NULL), 0);
	fields_begin(&reader, &fields, user_file_whole(&file));
	for (size_t line = 0; line < sizeof(wanted) / sizeof(wanted[0]); line++) {
		assert_int_equal(fields_next(&reader, NULL), 1);
		for (size_t i = 0; i < 3; i++) {
			const char *text = wanted[line][i % 2];

			assert_int_equal(reader.found[i].length, text ? strlen(text) : 0);
			assert_true(!text || *reader.found[i].at == *text);
		}
	}
	assert_true(fields_next(&reader, NULL) < 0);
	fields_end(&reader);
}

/* Token 0: 4 records of label 0, 1 of label 1; token 1 has 2 of label 1 only, one of which holds both. */
static struct holder list[7];
static uint32_t members[7] = {0, 1, 2, 3, 4, 5, 6};
static const uint16_t first[] = {0}, second[] = {1}, both[] = {0, 1};
static struct holder_group groups[] = {
        {.label = 0, .count = 4, .tokens = first, .token_count = 1, .first = 0},
        {.label = 1, .count = 1, .tokens = both, .token_count = 2, .first = 4},
        {.label = 1, .count = 1, .tokens = first, .token_count = 1, .first = 5},
        {.label = 0, .count = 1, .tokens = second, .token_count = 1, .first = 6},
};
static const uint64_t even[] = {1, 1, 1};
static const struct holders holders = {
        .list = list, .count = 7, .groups = groups, .group_count = 4, .members = members};

static void
test_balance(void **state)
{
	struct balance_request request = {
	        .holders = &holders, .token_count = 2, .label_count = 2, .shares = even, .step = 1, .iterations = 50};
	struct balance balance;

	/* Token 0 has 4 and 2, token 1 has 1 and 1: ΣD = 2. Drawing what holds both would set token 1 back, so record 5
	 * is drawn twice. */
	(void)state;
	balance_make(&request, &balance);
	assert_int_equal(balance.imbalance[0], 2);
	assert_int_equal(balance.iterations, 1);
	assert_int_equal(balance.imbalance[1], 0);
	assert_int_equal(balance.repeats[5], 2);
	assert_int_equal(balance.added, 2);
	assert_int_equal(balance.before[1], 2);
	assert_int_equal(balance.after[1], 4);
	assert_int_equal(balance.reasons[1], BALANCE_DONE);
	balance_free(&balance);
	/* A record may stand twice at most: after record 5, what holds both is all there is; token 1 is then evened by
	 * record 6. */
	request.max_multiplicity = 2;
	balance_make(&request, &balance);
	assert_int_equal(balance.repeats[5], 1);
	assert_int_equal(balance.repeats[4], 1);
	assert_int_equal(balance.repeats[6], 1);
	assert_int_equal(balance.imbalance[balance.iterations], 0);
	balance_free(&balance);
	request.max_multiplicity = 1;
	balance_make(&request, &balance);
	assert_int_equal(balance.iterations, 0);
	assert_int_equal(balance.added, 0);
	assert_int_equal(balance.reasons[1], BALANCE_CAPPED);
	balance_free(&balance);
	/* Shares of 3 to 1: token 0 with 4 and 2 is to have 6 and 2, token 1 with 1 and 1 is to have 3 and 1. */
	request.shares = (const uint64_t[]){3, 1};
	request.max_multiplicity = 0;
	balance_make(&request, &balance);
	assert_int_equal(balance.imbalance[0], 4);
	assert_int_equal(balance.imbalance[balance.iterations], 0);
	assert_int_equal(balance.repeats[0] + balance.repeats[1] + balance.repeats[2] + balance.repeats[3], 2);
	assert_int_equal(balance.repeats[6], 2);
	assert_int_equal(balance.added, 4);
	/* 4 and 1 of 3 to 2: two thirds of a third record is none that lacks, ⌊2 · 4 / 3⌋ = 2. */
	assert_int_equal(balance_leader((const uint64_t[]){4, 1}, (const uint64_t[]){3, 2}, 2), 0);
	assert_int_equal(balance_lack((const uint64_t[]){4, 1}, (const uint64_t[]){3, 2}, 0, 1), 1);
	balance_free(&balance);
}

/* Token 1 is never seen with label 1. */
static void
test_what_cannot_be_balanced(void **state)
{
	static struct holder_group some[] = {
	        {.label = 0, .count = 2, .tokens = first, .token_count = 1, .first = 0},
	        {.label = 1, .count = 1, .tokens = first, .token_count = 1, .first = 2},
	        {.label = 0, .count = 3, .tokens = second, .token_count = 1, .first = 3},
	};
	const struct holders few = {.list = list, .count = 6, .groups = some, .group_count = 3, .members = members};
	struct balance_request request = {.holders = &few,
	                                  .token_count = 2,
	                                  .label_count = 2,
	                                  .shares = even,
	                                  .step = 0.2,
	                                  .iterations = 50,
	                                  .pick = BALANCE_UNIFORM};
	struct balance balance;

	(void)state;
	balance_make(&request, &balance);
	assert_int_equal(balance.repeats[2], 1);
	assert_int_equal(balance.added, 1);
	assert_int_equal(balance.iterations, 1); /* and no more, as there is nothing to draw */
	assert_int_equal(balance.imbalance[1], 3);
	assert_int_equal(balance.reasons[0], BALANCE_DONE);
	assert_int_equal(balance.reasons[3], BALANCE_NO_RECORD);
	balance_free(&balance);
}

/*
 * Tokens 0 and 1 pull against each other: what contradicts one confirms the other. Of labels 0, 1, 2 token 0 has 5, 1,
 * 0 and token 1 has 1, 5, 0: ΣD = 9 + 9. Evening 0 with 4 records of both makes that 5, 5, 0 and 1, 9, 0; evening 1
 * with 8, then, 13, 5, 0 and 9, 9, 0: ΣD = 21 + 9; and 16 more with every iteration.
 */
static void
test_patience(void **state)
{
	static struct holder ten[10] = {[4] = {.group = 1}, [5] = {.group = 2}, [6] = {.group = 3},
	                                [7] = {.group = 3}, [8] = {.group = 3}, [9] = {.group = 3}};
	static uint32_t numbers[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	static struct holder_group pulling[] = {
	        {.label = 0, .count = 4, .tokens = first, .token_count = 1, .first = 0},
	        {.label = 0, .count = 1, .tokens = both, .token_count = 2, .first = 4},
	        {.label = 1, .count = 1, .tokens = both, .token_count = 2, .first = 5},
	        {.label = 1, .count = 4, .tokens = second, .token_count = 1, .first = 6},
	};
	const struct holders against = {
	        .list = ten, .count = 10, .groups = pulling, .group_count = 4, .members = numbers};
	struct balance_request request = {.holders = &against,
	                                  .token_count = 2,
	                                  .label_count = 3,
	                                  .shares = even,
	                                  .step = 1,
	                                  .iterations = 5,
	                                  .pick = BALANCE_CONFLICT_FREE};
	struct balance balance;

	(void)state;
	balance_make(&request, &balance);
	assert_int_equal(balance.iterations, 5);
	assert_int_equal(balance.tried, 5);
	assert_int_equal(balance.imbalance[0], 18);
	for (unsigned i = 1; i <= 5; i++)
		assert_int_equal(balance.imbalance[i], 14 + 16 * i);
	assert_int_equal(balance.reasons[1], BALANCE_OUT_OF_ROUNDS);
	balance_free(&balance);
	request.patience = 3;
	balance_make(&request, &balance);
	assert_int_equal(balance.iterations, 0);
	assert_int_equal(balance.tried, 3);
	assert_int_equal(balance.imbalance[3], 62);
	assert_int_equal(balance.added, 0);
	assert_memory_equal(balance.before, balance.after, 6 * sizeof(uint64_t));
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(balance.repeats[i], 0);
	assert_int_equal(balance.reasons[1], BALANCE_WORSE);
	assert_int_equal(balance.reasons[2], BALANCE_NO_RECORD);
	balance_free(&balance);
	/* Whatever the patience, tenfold (over 189) is enough: 14 + 16 × 11. */
	request.patience = request.iterations = 50;
	balance_make(&request, &balance);
	assert_int_equal(balance.tried, 11);
	balance_free(&balance);
	/* What was used up is there again when it is taken back. */
	request.max_multiplicity = 3;
	balance_make(&request, &balance);
	assert_int_equal(balance.tried, 1);
	assert_int_equal(balance.imbalance[1], 22);
	assert_int_equal(balance.iterations, 0);
	assert_int_equal(balance.reasons[1], BALANCE_WORSE);
	balance_free(&balance);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_tokens),
	        cmocka_unit_test(test_rules),
	        cmocka_unit_test(test_statistics),
	        cmocka_unit_test(test_binomial_tails),
	        cmocka_unit_test(test_ascii_is_as_the_library),
	        cmocka_unit_test(test_long_texts),
	        cmocka_unit_test(test_fields),
	        cmocka_unit_test(test_fields_of_other_lines),
	        cmocka_unit_test(test_balance),
	        cmocka_unit_test(test_what_cannot_be_balanced),
	        cmocka_unit_test(test_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
