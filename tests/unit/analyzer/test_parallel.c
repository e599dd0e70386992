/* test_parallel.c: parts in order, never more than there are slots, one error whatever the threads do; the caller's
 * thread is thread 0, and takes the results. */
#include "unit.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define PARTS 500
#define SLOTS 32
#define PATIENCE_S 20 /* what has not happened by then never does */

static atomic_uint created;
static unsigned most_threads; /* no more can be created */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *argument);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *argument)
{
	if (created >= most_threads)
		return EAGAIN;
	created++;
	return __real_pthread_create(thread, attributes, main, argument);
}

static void
pause_us(long microseconds)
{
	nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

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
	if (part % 7 == 3)
		pause_us(50); /* so that threads wait for each other */
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
	created = 0;
	most_threads = UINT32_MAX;
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
		assert_int_equal(created, threads - 1);
	}
}

static void
test_few_parts(void **state)
{
	(void)state;
	for (size_t count = 0; count < 4; count++) {
		struct job job = job_new(8);

		assert_int_equal(run(&job, count, NULL), 0);
		assert_true(job.in_order && job.unshared);
		assert_int_equal(job.expected, count);
		assert_int_equal(created, count ? count - 1 : 0);
	}
}

/* Threads that cannot be had are not needed. */
static void
test_few_threads(void **state)
{
	(void)state;
	for (unsigned most = 0; most < 3; most++) {
		struct job job = job_new(8);

		most_threads = most;
		assert_int_equal(run(&job, PARTS, NULL), 0);
		assert_true(job.in_order && job.unshared);
		assert_int_equal(job.expected, PARTS);
		assert_int_equal(created, most);
	}
}

static int
fail_from_5(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	atomic_uint *begun = context;

	(void)slot;
	atomic_fetch_add(begun, 1);
	if (thread > 0)
		pause_us(2000); /* the caller has nothing more to do, and waits */
	return part >= 5 ? error_set(error, PORTOLAN_E_INVALID, "part %zu", part) : 0;
}

static void
test_nothing_is_delivered(void **state)
{
	(void)state;
	most_threads = UINT32_MAX;
	for (unsigned threads = 1; threads <= 8; threads++) {
		atomic_uint begun = 0;
		struct parallel parallel = {.threads = threads, .count = 5, .context = &begun, .work = fail_from_5};
		struct portolan_error error = {0};

		assert_int_equal(parallel_run(&parallel, &error), 0);
		assert_int_equal(begun, 5);
		parallel.count = PARTS;
		assert_int_equal(parallel_run(&parallel, &error), PORTOLAN_E_INVALID);
		assert_string_equal(error.message, "part 5");
		assert_true(begun <= 5 + 5 + parallel_slots(threads));
	}
}

/* Two threads, and nothing is delivered: which parts have begun. */
struct meeting {
	atomic_uint begun, by_caller, before; /* before: by_caller when the other thread last began a part */
	atomic_bool caller_works, in_vain;
};

static bool
is_in_vain(struct meeting *meeting, time_t since)
{
	if (time(NULL) > since + PATIENCE_S)
		atomic_store(&meeting->in_vain, true);
	pause_us(10);
	return atomic_load(&meeting->in_vain);
}

/* The caller's part takes until the other thread has begun all parts for which there is room once it has finished those
 * before; the other's take until the caller works. */
static int
be_long_in_caller(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct meeting *meeting = context;
	const size_t enough = part + parallel_slots(2) < PARTS ? part + parallel_slots(2) : PARTS;
	const time_t since = time(NULL);

	(void)slot;
	(void)error;
	atomic_fetch_add(&meeting->begun, 1);
	if (thread == 0)
		atomic_store(&meeting->caller_works, true);
	while (thread == 0 && atomic_load(&meeting->begun) < enough && !is_in_vain(meeting, since))
		;
	while (thread > 0 && !atomic_load(&meeting->caller_works) && atomic_load(&meeting->begun) < PARTS &&
	       !is_in_vain(meeting, since))
		;
	if (thread == 0)
		atomic_store(&meeting->caller_works, false);
	return 0;
}

/* The other thread's first part takes until the caller has had no room for a while; each of its next ones until the
 * caller has begun another part. */
static int
be_long_in_other(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct meeting *meeting = context;
	const unsigned before = atomic_load(&meeting->before);
	const unsigned enough = before ? before + 1 : parallel_slots(2) - 1;
	const time_t since = time(NULL);

	(void)slot;
	(void)part;
	(void)error;
	atomic_fetch_add(&meeting->begun, 1);
	if (thread == 0) {
		atomic_fetch_add(&meeting->by_caller, 1);
		return 0;
	}
	while (atomic_load(&meeting->by_caller) < enough && atomic_load(&meeting->begun) < PARTS &&
	       !is_in_vain(meeting, since))
		;
	if (!before)
		pause_us(20000);
	atomic_store(&meeting->before, atomic_load(&meeting->by_caller));
	return 0;
}

/* A long part of one thread keeps the other from going on only as long as it must. */
static void
test_uneven_parts(void **state)
{
	int (*const works[])(void *, unsigned, unsigned, size_t, struct portolan_error *) = {be_long_in_caller,
	                                                                                     be_long_in_other};

	(void)state;
	most_threads = UINT32_MAX;
	for (size_t i = 0; i < 2; i++) {
		struct meeting meeting = {.begun = 0};
		struct parallel parallel = {.threads = 2, .count = PARTS, .context = &meeting, .work = works[i]};

		created = 0;
		assert_int_equal(parallel_run(&parallel, NULL), 0);
		assert_false(atomic_load(&meeting.in_vain));
		assert_int_equal(atomic_load(&meeting.begun), PARTS);
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
	        cmocka_unit_test(test_few_threads),
	        cmocka_unit_test(test_uneven_parts),
	        cmocka_unit_test(test_nothing_is_delivered),
	        cmocka_unit_test(test_order),
	        cmocka_unit_test(test_few_parts),
	        cmocka_unit_test(test_lowest_failure),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
