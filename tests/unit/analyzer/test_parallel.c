/* test_parallel.c: parts in order, never more than there are slots, one error whatever the threads do; the caller's
 * thread is thread 0, and takes the results. */
#include "unit.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define PARTS 500
#define SLOTS 32

struct job {
	size_t slots[SLOTS]; /* the part that waits there + 1 */
	size_t expected;     /* next to be delivered */
	size_t fails_at, refuses_at;
	atomic_uint begun, waiting, most;
	bool in_order, unshared;
	unsigned threads;
	pthread_t caller;
};

static int
work(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct job *job = context;
	unsigned waiting = atomic_fetch_add(&job->waiting, 1) + 1, most = atomic_load(&job->most);

	while (waiting > most && !atomic_compare_exchange_weak(&job->most, &most, waiting))
		;
	atomic_fetch_add(&job->begun, 1);
	if (thread >= job->threads || job->slots[slot] != 0 ||
	    (thread == 0) != (pthread_equal(pthread_self(), job->caller) != 0))
		job->unshared = false;
	job->slots[slot] = part + 1;
	if (part >= job->fails_at)
		return error_set(error, PORTOLAN_E_INVALID, "part %zu", part);
	return 0;
}

static int
deliver(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct job *job = context;

	job->in_order &=
	        part == job->expected && job->slots[slot] == part + 1 && pthread_equal(pthread_self(), job->caller);
	job->expected++;
	job->slots[slot] = 0;
	atomic_fetch_sub(&job->waiting, 1);
	return part == job->refuses_at ? error_set(error, PORTOLAN_E_SYSTEM, "full at %zu", part) : 0;
}

static struct job
job_new(unsigned threads)
{
	return (struct job){.fails_at = SIZE_MAX,
	                    .refuses_at = SIZE_MAX,
	                    .in_order = true,
	                    .unshared = true,
	                    .threads = threads,
	                    .caller = pthread_self()};
}

static int
run(struct job *job, size_t count, struct portolan_error *error)
{
	return parallel_run(
	        &(struct parallel){
	                .threads = job->threads, .count = count, .context = job, .work = work, .deliver = deliver},
	        error);
}

static void
test_order(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct job job = job_new(threads);

		assert_int_equal(run(&job, PARTS, NULL), 0);
		assert_true(job.in_order && job.unshared);
		assert_int_equal(job.expected, PARTS);
		assert_true(atomic_load(&job.most) <= parallel_slots(threads));
	}
}

static void
test_few_parts(void **state)
{
	(void)state;
	for (size_t count = 0; count < 4; count++) {
		struct job job = job_new(8);

		assert_int_equal(run(&job, count, NULL), 0);
		assert_int_equal(job.expected, count);
	}
}

/* Later parts fail too, and may do so earlier: the first is told. What came before it is delivered. */
static void
test_lowest_failure(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct job job = job_new(threads);
		struct portolan_error error = {0};

		job.fails_at = 123;
		assert_int_equal(run(&job, PARTS, &error), PORTOLAN_E_INVALID);
		assert_string_equal(error.message, "part 123");
		assert_int_equal(job.expected, 123);
		assert_true(atomic_load(&job.begun) <= 123 + parallel_slots(threads));
	}
}

static void
test_refused(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct job job = job_new(threads);
		struct portolan_error error = {0};

		job.refuses_at = 7;
		assert_int_equal(run(&job, PARTS, &error), PORTOLAN_E_SYSTEM);
		assert_string_equal(error.message, "full at 7");
		assert_int_equal(job.expected, 8);
	}
}

static void
test_threads(void **state)
{
	(void)state;
	assert_true(parallel_threads(0) >= 1);
	assert_int_equal(parallel_threads(3), 3);
	assert_int_equal(parallel_slots(1), 1);
	assert_true(parallel_slots(4) >= 4 && parallel_slots(8) <= SLOTS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_order),   cmocka_unit_test(test_few_parts), cmocka_unit_test(test_lowest_failure),
	        cmocka_unit_test(test_refused), cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
