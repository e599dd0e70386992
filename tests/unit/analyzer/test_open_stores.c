/* test_open_stores.c: the store that is served, while others take its place. Linked with --wrap=stat64, the name of
 * stat(): another can take the place in the moment after it was looked at. */
#include "unit.h"

#include "serve/open_stores.h"

#include "two_stores.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <sys/stat.h>
#include <unistd.h>

static struct two_stores two;          /* with the runs "first" and "second" */
static const struct fixture *put_next; /* takes the place when the place has been looked at; NULL: none does */

int __real_stat64(const char *path, struct stat *status);
int __wrap_stat64(const char *path, struct stat *status);

int
__wrap_stat64(const char *path, struct stat *status)
{
	int answer = __real_stat64(path, status);
	const struct fixture *next = put_next;

	if (next && strncmp(path, two.place, strlen(two.place)) == 0) {
		put_next = NULL;
		two_stores_put(&two, next);
	}
	return answer;
}

static int
setup(void **state)
{
	return two_stores_setup(state, &two, two_stores_make("first", 1), two_stores_make("second", 1));
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
	assert_int_equal(store_find_run(store, fixture == two.first ? "first" : "second", &number, &error), 0);
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
	stores = open_stores_new(two.place);
	assert_non_null(stores);
	before = take(stores, two.first);
	assert_ptr_equal(take(stores, two.first), before);
	open_stores_return(stores, before);
	two_stores_put(&two, two.second);
	now = take(stores, two.second);
	assert_ptr_not_equal(now, before);
	assert_int_equal(store_find_run(before, "first", &number, &error), 0); /* it is read on */
	two_stores_put(&two, two.first);
	assert_ptr_equal(take(stores, two.first), before); /* and not opened a second time */
	open_stores_return(stores, before);
	open_stores_return(stores, before);
	open_stores_return(stores, now);
	assert_int_equal(unlink(two.place), 0);
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
	two_stores_put(&two, two.first);
	stores = open_stores_new(two.place);
	assert_non_null(stores);
	put_next = two.second;
	store = take(stores, two.second);
	assert_null(put_next);
	assert_ptr_equal(take(stores, two.second), store);
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

	return cmocka_run_group_tests(tests, setup, two_stores_teardown);
}
