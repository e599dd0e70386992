/* test_ring.c: records come out as they went in, whole and in order, whatever the wrapping; a full ring says so. */
#include "ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define SIZE 4096

static void
put(struct ring *ring, size_t bytes, uint8_t value)
{
	void *record = ring_reserve(ring, bytes, 0);

	assert_non_null(record);
	assert_int_equal((uintptr_t)record % 8, 0);
	memset(record, value, bytes);
	ring_commit(ring, bytes);
}

static void
expect(struct ring *ring, size_t bytes, uint8_t value)
{
	size_t size;
	const uint8_t *record = ring_read(ring, &size);

	assert_non_null(record);
	assert_int_equal(size, bytes);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(record[i], value);
}

static void
test_in_order(void **state)
{
	struct ring ring;
	size_t size;

	(void)state;
	assert_int_equal(ring_init(&ring, SIZE - 7, NULL), 0);
	assert_int_equal(ring.size, SIZE); /* whole pages */
	assert_null(ring_read(&ring, &size));
	put(&ring, 1, 'a');
	put(&ring, 8, 'b');
	put(&ring, 9, 'c');
	assert_int_equal(ring_head(&ring), 16 + 16 + 24);
	expect(&ring, 1, 'a');
	expect(&ring, 8, 'b');
	expect(&ring, 9, 'c');
	assert_int_equal(ring_position(&ring), ring_head(&ring));
	assert_null(ring_read(&ring, &size));
	ring_deinit(&ring);
	ring_deinit(&ring);
}

static void
test_reserve_alone_shows_nothing(void **state)
{
	struct ring ring;
	size_t size;

	(void)state;
	assert_int_equal(ring_init(&ring, SIZE, NULL), 0);
	assert_non_null(ring_reserve(&ring, 100, 0));
	assert_null(ring_read(&ring, &size));
	assert_int_equal(ring_head(&ring), 0);
	ring_deinit(&ring);
}

static void
test_full(void **state)
{
	struct ring ring;

	(void)state;
	assert_int_equal(ring_init(&ring, SIZE, NULL), 0);
	for (int i = 0; i < 4; i++)
		put(&ring, 1016, (uint8_t)i); /* 1024 with its header */
	assert_null(ring_reserve(&ring, 1, 0));
	expect(&ring, 1016, 0);
	assert_null(ring_reserve(&ring, 1, 0)); /* read is not released */
	ring_release(&ring);
	assert_null(ring_reserve(&ring, 1000, 100)); /* nothing would be kept free behind it */
	put(&ring, 1016, 4);
	for (int i = 1; i <= 4; i++)
		expect(&ring, 1016, (uint8_t)i);
	ring_deinit(&ring);
}

static void
test_wrap_and_unread(void **state)
{
	struct ring ring;
	uint64_t position;

	(void)state;
	assert_int_equal(ring_init(&ring, SIZE, NULL), 0);
	for (int i = 0; i < 1000; i++) {
		put(&ring, 1 + (size_t)i * 7 % 1000, (uint8_t)i);
		put(&ring, 3, (uint8_t)(i + 1));
		position = ring_position(&ring);
		expect(&ring, 1 + (size_t)i * 7 % 1000, (uint8_t)i);
		ring_unread(&ring, position);
		expect(&ring, 1 + (size_t)i * 7 % 1000, (uint8_t)i);
		expect(&ring, 3, (uint8_t)(i + 1));
		ring_release(&ring);
	}
	assert_true(ring_head(&ring) > 50 * SIZE);
	ring_deinit(&ring);
}

#define MANY 20000

/* Record i has 1 + i % 500 bytes of value i. */
static void *
produce(void *argument)
{
	struct ring *ring = argument;

	for (uint32_t i = 0; i < MANY; i++) {
		size_t bytes = 1 + i % 500;
		void *record;

		while (!(record = ring_reserve(ring, bytes, 0)))
			sched_yield();
		memset(record, (int)(i & 0xff), bytes);
		ring_commit(ring, bytes);
	}
	return NULL;
}

static void
test_two_threads(void **state)
{
	struct ring ring;
	pthread_t producer;

	(void)state;
	assert_int_equal(ring_init(&ring, SIZE, NULL), 0);
	assert_int_equal(pthread_create(&producer, NULL, produce, &ring), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		const uint8_t *record;
		size_t bytes;

		while (!(record = ring_read(&ring, &bytes)))
			sched_yield();
		assert_int_equal(bytes, 1 + i % 500);
		assert_int_equal(record[0], i & 0xff);
		assert_int_equal(record[bytes - 1], i & 0xff);
		ring_release(&ring);
	}
	pthread_join(producer, NULL);
	ring_deinit(&ring);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_in_order),    cmocka_unit_test(test_reserve_alone_shows_nothing),
	        cmocka_unit_test(test_full),        cmocka_unit_test(test_wrap_and_unread),
	        cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
