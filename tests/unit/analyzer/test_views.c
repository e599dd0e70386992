/* test_views.c: which view of a run a request gets, while others are loaded and forgotten. */
#include "unit.h"

#include "serve/settings.h"
#include "serve/views.h"

#include "two_stores.h"

#define PATIENCE_MS 30000

static struct two_stores two; /* with the run "r": at first of two epochs, then of three */

static int
setup(void **state)
{
	return two_stores_setup(state, &two, two_stores_make("r", 2), two_stores_make("r", 3));
}

static const struct view *
take(struct views *views, const char *range)
{
	const struct view *view = NULL;
	struct portolan_error error = {0};

	if (views_take(views, "r", range, NULL, &view, &error) < 0)
		fail_msg("%s", error.message);
	return view;
}

/* A request holds the older view of a run, and views of other ranges push the newer one out: the older one must not be
 * shown as the newest again. */
static void
test_never_goes_back(void **state)
{
	static const char *const ranges[] = {"0:1", "0:2", "1:2", "1:3", "2:3", "0:3"};
	const struct run_query query = {.store = two.place, .epoch_to = UINT32_MAX, .threads = 1};
	const struct server_settings settings = {.query = &query};
	struct open_stores *stores = open_stores_new(two.place);
	struct portolan_error error = {0};
	const struct view *held, *view;
	struct run_datas *datas;
	struct views *views;
	size_t epochs;

	(void)state;
	assert_int_equal(run_datas_new(&datas, &settings, &error), 0);
	views = views_new(stores, datas, &query);
	held = take(views, NULL);
	assert_int_equal(held->dynamics.epoch_count, 2);
	two_stores_put(&two, two.second);
	epochs = 2;
	for (int waited = 0; epochs == 2 && waited < PATIENCE_MS; waited++) {
		usleep(1000);
		view = take(views, NULL);
		epochs = view->dynamics.epoch_count;
		views_return(views, view);
	}
	assert_int_equal(epochs, 3);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		views_return(views, take(views, ranges[i]));
	view = take(views, NULL);
	assert_int_equal(view->dynamics.epoch_count, 3);
	views_return(views, view);
	views_return(views, held);
	views_free(views);
	run_datas_free(datas);
	open_stores_free(stores);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_never_goes_back, setup, two_stores_teardown)};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
