/* test_examples.c: texts of examples on a real store: they are stored once, the later ones stay, they are bounded, and go
 * with their run. */
#include "ingest_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What a reader finds: each example as "id=text ". */
struct found {
	struct store_texts texts;
	char all[4096]; /* long texts are cut off */
};

static int
find_example(void *context, const struct store_example *example, struct portolan_error *error)
{
	struct found *found = context;
	const size_t used = strlen(found->all);

	(void)error;
	snprintf(found->all + used, sizeof(found->all) - used, "%llu=%.*s ", (unsigned long long)example->integer,
	         (int)example->sizes[0], example->texts[0]);
	return 0;
}

/* Sets *data: the texts of the run, as `found`. */
static int
find_texts(struct store *store, const char *run, void *data, struct portolan_error *error)
{
	struct found *found = data;
	uint32_t number;

	return store_find_run(store, run, &number, error)
	               ?: store_each_text(store, number, &found->texts, find_example, found, error);
}

static void
read_texts(struct fixture *fixture, const char *run, struct found *found)
{
	*found = (struct found){.all = ""};
	fixture_read(fixture, run, find_texts, found, sizeof(*found));
}

#define FINDS(run, expected)                                                                                           \
	do {                                                                                                           \
		read_texts(f, run, &found);                                                                            \
		assert_string_equal(found.all, expected);                                                              \
	} while (0)

static void
acknowledged_is_on_disk(void **state)
{
	struct fixture *f = *state;
	struct found found;

	fixture_open(f, 1, "run", NULL);
	fixture_examples(f, 1, 1, 300, 2, "hello");
	fixture_commit(f);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1);
	fixture_examples(f, 1, 2, 5, 1, "not committed");
	fixture_restart(f);
	FINDS("run", "300=hello 301=hello ");
	assert_int_equal(found.texts.examples, 2);
	assert_string_equal(found.texts.fields[0], "text");
	assert_int_equal(fixture_run(f, "run").examples, 0); /* nothing was observed */
	fixture_open(f, 1, "run", NULL);
	fixture_examples(f, 1, 2, 5, 1, "again");
	fixture_batch(f, 1, 3, 0, 300, 3, 0.5f, true);
	fixture_commit(f);
	FINDS("run", "5=again 300=hello 301=hello ");
	assert_int_equal(fixture_run(f, "run").examples, 3);
}

static void
repeats_change_nothing_and_later_ones_replace(void **state)
{
	struct fixture *f = *state;
	struct found found;
	uint64_t bytes;
	uint32_t writes;

	fixture_open(f, 1, "run", NULL);
	fixture_examples(f, 1, 1, 7, 2, "first");
	fixture_commit(f);
	read_texts(f, "run", &found);
	bytes = found.texts.bytes;
	writes = found.texts.writes;
	fixture_examples(f, 1, 1, 7, 2, "a repeat");
	fixture_commit(f);
	FINDS("run", "7=first 8=first ");
	assert_int_equal(found.texts.writes, writes);
	fixture_batch(f, 1, 2, 0, 7, 2, 0.5f, true);
	fixture_examples(f, 1, 3, 8, 1, "third");
	fixture_commit(f);
	FINDS("run", "7=first 8=third ");
	assert_int_equal(found.texts.writes, writes + 1); /* of as many bytes, so that nothing else says so */
	assert_int_equal(found.texts.examples, 2);
	assert_int_equal(found.texts.bytes, bytes);
	fixture_examples(f, 1, 4, 8, 1, "longer now");
	fixture_commit(f);
	read_texts(f, "run", &found);
	assert_int_equal(found.texts.bytes, bytes + 5);
}

/* As for observations, what an earlier session sends late does not replace what a later one sent. */
static void
the_later_session_stays(void **state)
{
	struct fixture *f = *state;
	struct wire_open of_group = {.group = {(const uint8_t *)"g", 1}}, later = of_group;
	struct found found;

	later.rank = 1;
	fixture_open(f, 1, "run", &of_group);
	fixture_open(f, 2, "run", &later);
	fixture_examples(f, 2, 1, 7, 1, "later");
	fixture_examples(f, 1, 1, 7, 2, "earlier");
	fixture_commit(f);
	FINDS("run", "7=later 8=earlier ");
	fixture_examples(f, 2, 2, 8, 1, "later");
	fixture_commit(f);
	FINDS("run", "7=later 8=later ");
}

static void
what_does_not_fit_is_refused(void **state)
{
	static char large[40001];
	struct fixture *f = *state;
	struct wire_open declared = {.examples = 10};
	struct found found;

	memset(large, 'x', sizeof(large) - 1);
	fixture_open(f, 1, "run", &declared);
	fixture_examples(f, 1, 1, 8, 3, "beyond"); /* 10 is */
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 1); /* its number is used up */
	assert_int_equal(f->troubles, 1);                                /* and the log counts the examples */
	assert_non_null(strstr(f->trouble, "run 'run': texts are not kept: id 10 is beyond"));
	assert_non_null(strstr(f->trouble, "(3 such since the last line)"));
	fixture_examples(f, 1, 2, 0, 2, large);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	fixture_examples(f, 1, 3, 2, 1, large); /* the fixture allows 100,000 bytes */
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 2);
	fixture_examples(f, 1, 4, 2, 1, "small");
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 2);
	assert_int_equal(fixture_last(f, 1, WIRE_ACK)->acknowledged, 4);
	read_texts(f, "run", &found);
	assert_int_equal(found.texts.examples, 3);
	fixture_open(f, 2, "words", NULL);
	fixture_text_batch(f, 2, 1, "word");
	fixture_examples(f, 2, 2, 0, 1, "x");
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 2, WIRE_E_REFUSED), 1);
	assert_int_equal(fixture_last(f, 2, WIRE_ACK)->acknowledged, 2);
}

/* The records count as they are in the store: with their heads, and the names of their fields. */
static void
the_limit_counts_whole_records(void **state)
{
	static const char name[] = "a_name_of_32_bytes_for_one_field";
	struct fixture *f = *state;
	struct found found;

	fixture_open(f, 1, "run", NULL);
	fixture_examples_of(f, 1, 1, 0, 4000, name, "", false);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	fixture_examples_of(f, 1, 2, 0, 1000, name, "", false);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	read_texts(f, "run", &found);
	assert_int_equal(found.texts.examples, 1000);
	assert_in_range(found.texts.bytes, 1000 * 37, 100000);
}

/* The last byte that is allowed may be used. */
static void
the_limit_is_exact(void **state)
{
	static char text[100001];
	struct fixture *f = *state;
	struct found found;
	size_t head;

	fixture_open(f, 1, "run", NULL);
	fixture_examples(f, 1, 1, 0, 1, "");
	fixture_commit(f);
	read_texts(f, "run", &found);
	head = found.texts.bytes;
	memset(text, 'x', 100000 - head);
	for (int beyond = 1; beyond >= 0; beyond--) {
		text[100000 - head] = beyond ? 'x' : '\0';
		fixture_examples(f, 1, 3 - (uint64_t)beyond, 0, 1, text);
		fixture_commit(f);
		assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	}
	read_texts(f, "run", &found);
	assert_int_equal(found.texts.bytes, 100000);
}

/* At the limit, texts may still take the place of others; and an example that comes often in a frame counts once. */
static void
what_is_replaced_does_not_count(void **state)
{
	static char large[40001], larger[50001];
	struct fixture *f = *state;
	struct found found;

	memset(large, 'x', sizeof(large) - 1);
	memset(larger, 'y', sizeof(larger) - 1);
	fixture_open(f, 1, "run", NULL);
	fixture_examples(f, 1, 1, 0, 2, large);
	fixture_examples(f, 1, 2, 0, 2, large);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 0);
	fixture_examples(f, 1, 3, 0, 2, larger); /* two of these are beyond 100,000 bytes */
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	fixture_examples(f, 1, 4, 1, 1, larger);
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	fixture_examples_of(f, 1, 5, 1, 3, "text", large, true); /* each of the three in place of the last one */
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 1);
	fixture_examples_of(f, 1, 6, 2, 3, "text", large, true); /* a third example */
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 2);
	read_texts(f, "run", &found);
	assert_int_equal(found.texts.examples, 2);
	assert_in_range(found.texts.bytes, 80000, 80100);
	large[15000] = '\0';
	fixture_examples_of(f, 1, 7, 2, 3, "text", large, true); /* a new one, for which there is room once */
	fixture_commit(f);
	assert_int_equal(fixture_errors(f, 1, WIRE_E_REFUSED), 2);
	read_texts(f, "run", &found);
	assert_int_equal(found.texts.examples, 3);
	assert_in_range(found.texts.bytes, 95000, 95200);
}

struct removed {
	uint32_t run; /* its number */
	int code;     /* of reading its texts */
	uint64_t records;
};

static int
look_for_removed(struct store *store, const char *name, void *data, struct portolan_error *error)
{
	const struct store_verify check = {.damaged = NULL};
	struct removed *removed = data;
	struct found found = {.all = ""};

	(void)name;
	removed->code = store_each_text(store, removed->run, &found.texts, find_example, &found, error);
	(void)store_verify(store, removed->run, &check, &removed->records, error);
	return 0;
}

/* The bytes of a text in the store's file that nothing refers to would still be there; so the records are counted. */
static void
removing_the_run_removes_them(void **state)
{
	struct fixture *f = *state;
	struct wire_open overwrite = {.overwrite = true};
	struct removed removed = {0};
	struct found found;

	fixture_open(f, 1, "run", NULL);
	for (uint64_t sequence = 1; sequence <= 3; sequence++)
		fixture_examples(f, 1, sequence, 1000 * sequence, 1000, "private");
	fixture_commit(f);
	removed.run = fixture_run(f, "run").number;
	fixture_open(f, 2, "run", &overwrite);
	fixture_examples(f, 2, 1, 1, 1, "new");
	fixture_wait(f, 20000);
	fixture_work(f);
	FINDS("run", "1=new ");
	fixture_read(f, NULL, look_for_removed, &removed, sizeof(removed));
	assert_int_equal(removed.code, STORE_E_NO_RUN);
	assert_true(removed.records < 100); /* those of the store itself */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(acknowledged_is_on_disk, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test_setup_teardown(repeats_change_nothing_and_later_ones_replace, fixture_set_up,
	                                        fixture_tear_down),
	        cmocka_unit_test_setup_teardown(the_later_session_stays, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test_setup_teardown(the_limit_is_exact, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test_setup_teardown(the_limit_counts_whole_records, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test_setup_teardown(what_is_replaced_does_not_count, fixture_set_up, fixture_tear_down),
	        cmocka_unit_test_setup_teardown(removing_the_run_removes_them, fixture_set_up, fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
