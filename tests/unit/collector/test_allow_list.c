/* The list of keys that are let in: found by key, with what each may do, kept in memory, and kept up with the files. */
#include "allow_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define FILES 300

static char directory[] = "/tmp/portolan-allowed-XXXXXX";

static void
path_of(char path[128], unsigned number)
{
	snprintf(path, 128, "%s/client%u.pub", directory, number);
}

static void
key_of(char key[KEYS_TEXT_SIZE], unsigned number)
{
	snprintf(key, KEYS_TEXT_SIZE, "%040u", number);
}

/* The file of one client, with the key of another (or its own), and lines before that. */
static void
put_with(unsigned number, unsigned key_number, const char *limits)
{
	char path[128], key[KEYS_TEXT_SIZE];
	FILE *file;

	path_of(path, number);
	key_of(key, key_number);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%spublic %s\n", limits, key);
	fclose(file);
	chmod(path, 0600);
}

static void
put(unsigned number)
{
	put_with(number, number, "");
}

static void
take_away(unsigned number)
{
	char path[128];

	path_of(path, number);
	assert_int_equal(unlink(path), 0);
}

static const char *
find(struct allow_list *allowed, unsigned number)
{
	char key[KEYS_TEXT_SIZE];

	key_of(key, number);
	return allow_list_find(allowed, key) ? allow_list_find(allowed, key)->name : NULL;
}

/* Whether it comes to be so within what allow_list.h promises, and a second of a busy machine. */
static bool
becomes(struct allow_list *allowed, unsigned number, bool listed)
{
	time_t end = time(NULL) + 3;

	while ((find(allowed, number) != NULL) != listed)
		if (time(NULL) >= end)
			return false;
	return true;
}

static void
a_flood_of_questions_reads_no_files(void **state)
{
	struct allow_list allowed;

	(void)state;
	for (unsigned i = 0; i < FILES; i++)
		put(i);
	allowed = (struct allow_list){.directory = directory};
	for (unsigned i = 0; i < 50 * FILES; i++) {
		const char *name = find(&allowed, i);
		char expected[32];

		snprintf(expected, sizeof(expected), "client%u", i);
		if (i < FILES)
			assert_string_equal(name, expected);
		else
			assert_null(name);
	}
	assert_in_range(allowed.reads, 1, 20);
	assert_int_equal(allowed.count, FILES);
	allow_list_free(&allowed);
	for (unsigned i = 0; i < FILES; i++)
		take_away(i);
}

static void
changes_are_seen(void **state)
{
	struct allow_list allowed;
	char path[128];

	(void)state;
	allowed = (struct allow_list){.directory = directory};
	assert_null(find(&allowed, 1));
	put(1);
	assert_true(becomes(&allowed, 1, true));
	put(2);
	assert_true(becomes(&allowed, 2, true));
	path_of(path, 1);
	chmod(path, 0666);
	assert_true(becomes(&allowed, 1, false));
	assert_non_null(strstr(allowed.trouble.message, "client1.pub"));
	chmod(path, 0600);
	assert_true(becomes(&allowed, 1, true));
	assert_int_equal(allowed.trouble.code, 0);
	take_away(1);
	assert_true(becomes(&allowed, 1, false));
	chmod(directory, 0777);
	assert_true(becomes(&allowed, 2, false));
	chmod(directory, 0700);
	assert_true(becomes(&allowed, 2, true));
	take_away(2);
	allow_list_free(&allowed);
}

static const struct allow_list_key *
entry(struct allow_list *allowed, unsigned number)
{
	char key[KEYS_TEXT_SIZE];

	key_of(key, number);
	allow_list_read(allowed, false);
	return allow_list_find(allowed, key);
}

static void
limits_are_read_and_read_again(void **state)
{
	struct allow_list allowed;

	(void)state;
	put_with(1, 1, "prefix = \"alice/\"\n");
	put_with(2, 2, "overwrite = no\n");
	put(3);
	allowed = (struct allow_list){.directory = directory};
	assert_string_equal(entry(&allowed, 1)->rights.prefix, "alice/");
	assert_false(entry(&allowed, 1)->rights.keeps_runs);
	assert_true(entry(&allowed, 2)->rights.keeps_runs);
	assert_false(rights_are_limited(&entry(&allowed, 3)->rights));
	assert_int_equal(allowed.unclear.code, 0);
	/* What is not understood is no freedom: the key stays out until the file is mended. */
	put_with(1, 1, "prefix = alice/\n");
	assert_null(entry(&allowed, 1));
	assert_non_null(strstr(allowed.unclear.message, "client1.pub: line 1: prefix"));
	assert_string_equal(allowed.trouble.message, allowed.unclear.message);
	assert_non_null(entry(&allowed, 3));
	put_with(1, 1, "prefix = \"alic\"\n");
	assert_string_equal(entry(&allowed, 1)->rights.prefix, "alic");
	assert_int_equal(allowed.unclear.code, 0);
	allow_list_free(&allowed);
	for (unsigned i = 1; i <= 3; i++)
		take_away(i);
}

static void
a_key_in_two_files_has_one_set_of_rights(void **state)
{
	static const struct {
		const char *first, *second;
		bool let_in;
	} cases[] = {
	        {"", "", true},
	        {"overwrite = no\n", "overwrite = no\n", true},
	        {"", "overwrite = yes\n", true},
	        {"", "overwrite = no\n", false},
	        {"prefix = \"a/\"\n", "prefix = \"b/\"\n", false},
	        {"prefix = \"a/\"\n", "", false},
	        {"", "prefix = nothing\n", false}, /* the file that is not understood counts, too */
	};
	struct allow_list allowed = {.directory = directory};

	(void)state;
	put(3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put_with(1, 7, cases[i].first);
		put_with(2, 7, cases[i].second);
		if ((entry(&allowed, 7) != NULL) != cases[i].let_in)
			fail_msg("case %zu", i);
		assert_int_equal(allowed.unclear.code == 0, cases[i].let_in);
		assert_non_null(entry(&allowed, 3));
	}
	allow_list_free(&allowed);
	for (unsigned i = 1; i <= 3; i++)
		take_away(i);
}

/* Whichever of its files is read first: the order of a directory is nobody's. */
static void
one_file_that_is_not_understood_bars_the_key(void **state)
{
	struct allow_list allowed = {.directory = directory};

	(void)state;
	for (unsigned bad = 1; bad <= 4; bad++) {
		for (unsigned i = 1; i <= 4; i++)
			put_with(i, 7, i == bad ? "prefix = nothing\n" : "");
		assert_null(entry(&allowed, 7));
		put_with(bad, 7, "");
		assert_non_null(entry(&allowed, 7));
	}
	allow_list_free(&allowed);
	for (unsigned i = 1; i <= 4; i++)
		take_away(i);
}

static int
set_up(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	return rmdir(directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_flood_of_questions_reads_no_files),
	        cmocka_unit_test(changes_are_seen),
	        cmocka_unit_test(limits_are_read_and_read_again),
	        cmocka_unit_test(a_key_in_two_files_has_one_set_of_rights),
	        cmocka_unit_test(one_file_that_is_not_understood_bars_the_key),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
