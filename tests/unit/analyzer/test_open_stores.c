/* test_open_stores.c: the store that is served, while others take its place. Linked with --wrap=stat64, the name of
 * stat(): another can take the place in the moment after it was looked at. */
#include "unit.h"

#include "serve/open_stores.h"

#include "remove_folder.h"
#include "store_fixture.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <sys/stat.h>
#include <unistd.h>

static struct fixture *first, *second;
static char folder[] = "/tmp/portolan-stores-XXXXXX";
static char place[64];                 /* a link to the directory of one of the two */
static const struct fixture *put_next; /* takes the place when the place has been looked at; NULL: none does */

static void
put(const struct fixture *fixture)
{
	char beside[80];

	snprintf(beside, sizeof(beside), "%s-new", place);
	assert_int_equal(symlink(fixture_directory(fixture), beside), 0);
	assert_int_equal(rename(beside, place), 0);
}

int __real_stat64(const char *path, struct stat *status);
int __wrap_stat64(const char *path, struct stat *status);

int
__wrap_stat64(const char *path, struct stat *status)
{
	int answer = __real_stat64(path, status);
	const struct fixture *next = put_next;

	if (next && strncmp(path, place, strlen(place)) == 0) {
		put_next = NULL;
		put(next);
	}
	return answer;
}

static struct fixture *
make_store(const char *run)
{
	static const uint64_t ids[] = {0, 1};
	static const float p[] = {0.25f, 0.75f};
	struct fixture *fixture = fixture_new();
	uint32_t number = fixture_run(fixture, run, 0, NULL, 0);

	fixture_log(fixture, number, &(struct fixture_batch){.n = 2, .ids = ids, .gold_prob = p});
	fixture_end(fixture, number);
	fixture_close(fixture);
	return fixture;
}

static int
setup(void **state)
{
	(void)state;
	first = make_store("first");
	second = make_store("second");
	assert_non_null(mkdtemp(folder));
	snprintf(place, sizeof(place), "%s/store", folder);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	remove_folder(folder);
	fixture_free(first);
	fixture_free(second);
	return 0;
}

/* Takes the store, which must be this one; it must be returned. */
static struct store *
take(struct open_stores *stores, const struct fixture *fixture)
{
	struct portolan_error error;
	struct store *store;
	struct stat status;
	uint32_t number;
	char path[4200];
	ino_t inode;

	if (open_stores_take(stores, &store, &inode, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(store_find_run(store, fixture == first ? "first" : "second", &number, &error), 0);
	snprintf(path, sizeof(path), "%s/data.mdb", fixture_directory(fixture));
	assert_int_equal(__real_stat64(path, &status), 0);
	assert_true(inode == status.st_ino);
	return store;
}

static void
test_another_store(void **state)
{
	struct open_stores *stores;
	struct portolan_error error;
	struct store *before, *now;
	uint32_t number;

	(void)state;
	put(first);
	stores = open_stores_new(place);
	assert_non_null(stores);
	before = take(stores, first);
	assert_ptr_equal(take(stores, first), before);
	open_stores_return(stores, before);
	put(second);
	now = take(stores, second);
	assert_ptr_not_equal(now, before);
	assert_int_equal(store_find_run(before, "first", &number, &error), 0); /* it is read on */
	put(first);
	assert_ptr_equal(take(stores, first), before); /* and not opened a second time */
	open_stores_return(stores, before);
	open_stores_return(stores, before);
	open_stores_return(stores, now);
	assert_int_equal(unlink(place), 0);
	assert_true(open_stores_take(stores, &now, NULL, &error) < 0);
	open_stores_free(stores);
}

/* A process opens a store once: one that takes the place while the other is opened must not be taken for the other. */
static void
test_another_store_meanwhile(void **state)
{
	struct open_stores *stores;
	struct store *store;

	(void)state;
	put(first);
	stores = open_stores_new(place);
	assert_non_null(stores);
	put_next = second;
	store = take(stores, second);
	assert_null(put_next);
	assert_ptr_equal(take(stores, second), store);
	open_stores_return(stores, store);
	open_stores_return(stores, store);
	open_stores_free(stores);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_another_store),
	        cmocka_unit_test(test_another_store_meanwhile),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
