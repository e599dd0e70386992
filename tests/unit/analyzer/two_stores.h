/* two_stores.h: for tests of what serves a store: two stores, and a place where now the one lies and now the other. */
#ifndef TESTS_TWO_STORES_H
#define TESTS_TWO_STORES_H

#include "remove_folder.h"
#include "store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct two_stores {
	struct fixture *first, *second; /* closed */
	char folder[40], place[48];     /* the place is a link to the directory of one of the two */
};

/* A store with one run that has ended: two examples, at each of so many epochs. */
static inline struct fixture *
two_stores_make(const char *run, uint32_t epochs)
{
	static const uint64_t ids[] = {0, 1};
	static const float p[] = {0.25f, 0.75f};
	struct fixture *fixture = fixture_new();
	uint32_t number = fixture_run(fixture, run, 0, NULL, 0);

	for (uint32_t epoch = 0; epoch < epochs; epoch++)
		fixture_log(fixture, number,
		            &(struct fixture_batch){.epoch = epoch, .n = 2, .ids = ids, .gold_prob = p});
	fixture_end(fixture, number);
	fixture_close(fixture);
	return fixture;
}

/* Puts one of the two in the place, at once. */
static inline void
two_stores_put(const struct two_stores *stores, const struct fixture *fixture)
{
	char beside[64];

	snprintf(beside, sizeof(beside), "%s-new", stores->place);
	assert_int_equal(symlink(fixture_directory(fixture), beside), 0);
	assert_int_equal(rename(beside, stores->place), 0);
}

/* Makes the place, with the first of the two in it. They become the test's state, which two_stores_teardown() removes. */
static inline int
two_stores_setup(void **state, struct two_stores *stores, struct fixture *first, struct fixture *second)
{
	*stores = (struct two_stores){.first = first, .second = second, .folder = "/tmp/portolan-two-stores-XXXXXX"};
	assert_non_null(mkdtemp(stores->folder));
	snprintf(stores->place, sizeof(stores->place), "%s/store", stores->folder);
	two_stores_put(stores, first);
	*state = stores;
	return 0;
}

static inline int
two_stores_teardown(void **state)
{
	struct two_stores *stores = *state;

	fixture_free(stores->first);
	fixture_free(stores->second);
	return remove_folder(stores->folder);
}

#endif
