/* What a key may do, as its file says: which lines are understood, and that no other line ever counts as no limit. */
#include "rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEY "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define LINE "public " KEY "\n"
#define LONG_85 "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"

static void
what_limits_a_key_is_read(void **state)
{
	static const struct {
		const char *text, *prefix;
		bool keeps_runs;
	} cases[] = {
	        {LINE, "", false},
	        {"# Portolan: public key of a client that is let in\n" LINE, "", false},
	        {"prefix = \"alice/\"\n" LINE, "alice/", false},
	        {LINE "prefix = \"alice/\"\n", "alice/", false},
	        {LINE "prefix = \"alice/\"", "alice/", false},
	        {"overwrite = no\n" LINE, "", true},
	        {"overwrite = yes\n" LINE, "", false},
	        {"overwrite=no\nprefix=\"a\"\n" LINE, "a", true},
	        {"\n  prefix\t=  \"a = b#\"  \r\n#prefix = \"c\"\n#\n" LINE "\n\n", "a = b#", false},
	        {"prefix = \" é/\"\n" LINE, " é/", false},
	        {"prefix = \"" LONG_85 LONG_85 LONG_85 "\"\n" LINE, LONG_85 LONG_85 LONG_85, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct portolan_error error = {0};
		struct rights rights;
		char key[KEYS_TEXT_SIZE];
		bool unclear = false;

		if (rights_parse(cases[i].text, strlen(cases[i].text), key, &rights, &unclear, &error) < 0)
			fail_msg("case %zu: %s", i, error.message);
		assert_string_equal(key, KEY);
		assert_string_equal(rights.prefix, cases[i].prefix);
		assert_int_equal(rights.keeps_runs, cases[i].keeps_runs);
		assert_int_equal(rights_are_limited(&rights), rights.keeps_runs || rights.prefix[0]);
		assert_false(unclear);
	}
}

static void
what_is_not_understood_is_an_error_that_names_line_and_option(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
	        {"prefix = alice/\n" LINE, "line 1: prefix: write it in quotation marks"},
	        {"\n# x\nprefix = \"alice/\n" LINE, "line 3: prefix: write it in quotation marks"},
	        {"prefix = \"\n" LINE, "line 1: prefix: write it in quotation marks"},
	        {"prefix =\n" LINE, "line 1: prefix: write it in quotation marks"},
	        {"prefix = \"a\" # mine\n" LINE, "line 1: prefix: write it in quotation marks"},
	        {"prefix = \"a\", overwrite = no\n" LINE, "line 1: prefix: write it in quotation marks"},
	        {"prefix = \"a\" \"b\"\n" LINE, "line 1: prefix: it cannot hold"},
	        {"prefix = \"a\\n\"\n" LINE, "line 1: prefix: it cannot hold"},
	        {"prefix = \"\"\n" LINE, "line 1: prefix: it must have 1 to 255 bytes"},
	        {"prefix = \"\xff\"\n" LINE, "line 1: prefix: it must have 1 to 255 bytes"},
	        {"prefix = \"a\x1b\"\n" LINE, "line 1: prefix: it must have 1 to 255 bytes"},
	        {"prefix = \"" LONG_85 LONG_85 LONG_85 "x\"\n" LINE, "line 1: prefix: it must have 1 to 255 bytes"},
	        {"prefix = \"a\"\n" LINE "prefix = \"a\"\n", "line 3: prefix: there is one already"},
	        {"overwrite = No\n" LINE, "line 1: overwrite: write yes or no"},
	        {"overwrite = \"no\"\n" LINE, "line 1: overwrite: write yes or no"},
	        {"overwrite =\n" LINE, "line 1: overwrite: write yes or no"},
	        {"overwrite = no\noverwrite = yes\n" LINE, "line 2: overwrite: it is there already"},
	        {"overwrite\n" LINE, "line 1: 'overwrite' is no option of a key"},
	        {"no-overwrite\n" LINE, "line 1: 'no-overwrite' is no option of a key"},
	        {"Prefix = \"a\"\n" LINE, "line 1: 'Prefix' is no option of a key"},
	        {"prefix \"a/\"\n" LINE, "line 1: 'prefix \"a/\"' is no option of a key"},
	        {"= no\n" LINE, "line 1: '' is no option of a key"},
	        {LINE "resume = no\n", "line 2: 'resume' is no option of a key"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct portolan_error error = {0};
		struct rights rights = {.prefix = "kept"};
		char key[KEYS_TEXT_SIZE];
		bool unclear = false;

		assert_int_equal(rights_parse(cases[i].text, strlen(cases[i].text), key, &rights, &unclear, &error),
		                 PORTOLAN_E_INVALID);
		if (!strstr(error.message, cases[i].words))
			fail_msg("case %zu: %s", i, error.message);
		assert_true(unclear);
		assert_string_equal(rights.prefix, "kept");
		assert_string_equal(key, KEY); /* so that another file that holds this key does not let it in */
	}
}

/* A NUL ends no line and no value: what stands behind one counts. */
static void
a_nul_hides_nothing(void **state)
{
	static const char *const before = "prefix = \"a", *const after = "\"\n" LINE;
	char text[256], key[KEYS_TEXT_SIZE];
	struct rights rights;
	bool unclear = false;
	size_t size = strlen(before);

	(void)state;
	memcpy(text, before, size);
	text[size] = '\0';
	memcpy(text + size + 1, after, strlen(after));
	assert_int_equal(rights_parse(text, size + 1 + strlen(after), key, &rights, &unclear, NULL),
	                 PORTOLAN_E_INVALID);
	assert_true(unclear);
	/* … nor before the line's end. */
	size = (size_t)sprintf(text, "overwrite = no%c\n%s", 0, LINE);
	unclear = false;
	assert_int_equal(rights_parse(text, size, key, &rights, &unclear, NULL), PORTOLAN_E_INVALID);
	assert_true(unclear);
}

/* Files that hold no key are as before: kept out, and no reason not to start. */
static void
a_file_without_a_key_limits_nobody(void **state)
{
	static const char *const cases[] = {"",
	                                    "hello\n",
	                                    "prefix = \"a\"\n",
	                                    "public no\n",
	                                    "secret " KEY "\n",
	                                    LINE LINE,
	                                    "nonsense = 1\n",
	                                    "public " KEY " overwrite = no\n"};
	struct rights rights;
	char key[KEYS_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool unclear = false;

		assert_int_equal(rights_parse(cases[i], strlen(cases[i]), key, &rights, &unclear, NULL),
		                 PORTOLAN_E_INVALID);
		assert_false(unclear);
	}
}

static void
a_prefix_is_compared_byte_by_byte(void **state)
{
	static const struct {
		const char *prefix, *run;
		bool admitted;
	} cases[] = {
	        {"", "bob/1", true},
	        {"alice/", "alice/1", true},
	        {"alice/", "alice/", true},
	        {"alice/", "alice", false},
	        {"alice", "alice2", true}, /* the end is literal: give the slash */
	        {"alice/", "alice2/1", false},
	        {"alice/", "Alice/1", false},
	        {"alice/", " alice/1", false},
	        {"alice/", "/alice/1", false},
	        {"alice/", "alice/../bob/1", true},  /* a name like any other: names are no paths */
	        {"alice/", "\xd0\xb0lice/1", false}, /* Cyrillic a */
	        {"\xc3\xa9/", "e\xcc\x81/1", false}, /* é, composed and not */
	        {"alice/",
	         "alice\xe2\x88\x95"
	         "1",
	         false}, /* a division slash */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rights rights = {0};

		strcpy(rights.prefix, cases[i].prefix);
		if (rights_admit_run(&rights, cases[i].run, strlen(cases[i].run)) != cases[i].admitted)
			fail_msg("case %zu", i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_limits_a_key_is_read),
	        cmocka_unit_test(what_is_not_understood_is_an_error_that_names_line_and_option),
	        cmocka_unit_test(a_nul_hides_nothing),
	        cmocka_unit_test(a_file_without_a_key_limits_nobody),
	        cmocka_unit_test(a_prefix_is_compared_byte_by_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
