/* test_guard.c: who has to go: the guard's table, over real loopback connections; and lines that strangers cause. */
#include "guard.h"
#include "guard_table.h"
#include "throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEERS 4

struct fixture {
	struct guard_table table;
	int listener, here[PEERS], there[PEERS]; /* accepted, and the peer's end */
};

static int
setup(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct fixture *f = calloc(1, sizeof(*f));
	socklen_t size = sizeof(address);

	*state = f;
	f->listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(f->listener, (const struct sockaddr *)&address, size) < 0 || listen(f->listener, PEERS) < 0 ||
	    getsockname(f->listener, (struct sockaddr *)&address, &size) < 0)
		return -1;
	if (guard_table_init(&f->table, 1024, PEERS) < 0)
		return -1;
	for (int i = 0; i < PEERS; i++) {
		f->there[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(f->there[i], (const struct sockaddr *)&address, size) < 0)
			return -1;
		f->here[i] = accept(f->listener, NULL, NULL);
		guard_table_enter(&f->table, f->here[i]);
	}
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < PEERS; i++) {
		close(f->here[i]);
		close(f->there[i]);
	}
	close(f->listener);
	guard_table_deinit(&f->table);
	free(f);
	return 0;
}

/* The peer's end finds the connection closed. */
static bool
is_closed(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	char byte;

	return poll(&poll_fd, 1, 0) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* The peer sends `bytes`, and this end reads them, as libzmq would. */
static void
take_in(struct fixture *f, int peer, size_t bytes)
{
	static char block[1 << 16];

	for (size_t done = 0; done < bytes; done += sizeof(block)) {
		assert_int_equal(send(f->there[peer], block, sizeof(block), 0), sizeof(block));
		assert_int_equal(recv(f->here[peer], block, sizeof(block), MSG_WAITALL), sizeof(block));
	}
}

static void
connections_by_memory(void **state)
{
	(void)state;
	assert_int_equal(guard_connections_for((size_t)256 << 20, 65536), 819);
	assert_int_equal(guard_connections_for((size_t)256 << 20, 512), 448);
	assert_int_equal(guard_connections_for((size_t)64 << 30, 65536), 65472);
	assert_int_equal(guard_connections_for((size_t)256 << 20, 100), 50);
	assert_int_equal(guard_credit_for(100), 25);
}

static void
strangers_go_first_and_the_oldest_of_them(void **state)
{
	struct fixture *f = *state;

	guard_table_admit(&f->table, f->here[0]);
	guard_table_admit(&f->table, f->here[2]);
	assert_int_equal(f->table.open, 4);
	assert_true(guard_table_expel_one(&f->table));
	assert_true(is_closed(f->there[1]));
	assert_true(guard_table_expel_one(&f->table));
	assert_true(is_closed(f->there[3]));
	/* Members only: the newest, so that those who are at work stay. */
	assert_true(guard_table_expel_one(&f->table));
	assert_true(is_closed(f->there[2]));
	assert_false(is_closed(f->there[0]));
	assert_int_equal(f->table.open, 1);
	assert_true(guard_table_expel_one(&f->table));
	assert_false(guard_table_expel_one(&f->table));
	assert_int_equal(f->table.open, 0);
}

static void
what_an_expelled_one_sent_is_ignored(void **state)
{
	struct fixture *f = *state;

	assert_true(guard_table_took(&f->table, f->here[0], 100));
	assert_true(guard_table_expel_one(&f->table));
	assert_false(guard_table_took(&f->table, f->here[0], 100));
	assert_true(guard_table_took(&f->table, f->here[1], 100));
	assert_true(guard_table_took(&f->table, -1, 100));
	assert_true(guard_table_took(&f->table, 1 << 20, 100));
	/* The next one with the same descriptor has nothing to do with it. */
	guard_table_leave(&f->table, f->here[0]);
	guard_table_enter(&f->table, f->here[0]);
	assert_true(guard_table_took(&f->table, f->here[0], 100));
	assert_int_equal(f->table.open, 4);
}

static void
who_holds_most_goes_first(void **state)
{
	struct fixture *f = *state;

	take_in(f, 0, 1 << 20);
	take_in(f, 1, 4 << 20);
	take_in(f, 2, 2 << 20);
	take_in(f, 3, 8 << 20);
	guard_table_took(&f->table, f->here[3], 8 << 20); /* all of it was taken: holds nothing */
	/* 7 MB in sum: nobody goes as long as that is allowed. */
	assert_int_equal(guard_table_expel_largest(&f->table, 1 << 30, 7 << 20), 0);
	assert_int_equal(guard_table_expel_largest(&f->table, 1, 0), 1);
	assert_true(is_closed(f->there[1]));
	assert_int_equal(f->table.leaving_bytes, 4 << 20);
	/* 3 MB are left: one more is enough to get below 2. */
	assert_int_equal(guard_table_expel_largest(&f->table, 1 << 30, 2 << 20), 1);
	assert_true(is_closed(f->there[2]));
	assert_false(is_closed(f->there[0]));
	assert_false(is_closed(f->there[3]));
	guard_table_leave(&f->table, f->here[1]);
	guard_table_leave(&f->table, f->here[2]);
	assert_int_equal(f->table.leaving_bytes, 0);
	assert_int_equal(f->table.open, 2);
}

static void
trifles_are_left_alone(void **state)
{
	struct fixture *f = *state;

	take_in(f, 0, GUARD_TRIFLE / 2);
	assert_int_equal(guard_table_expel_largest(&f->table, 1 << 30, 0), 0);
	assert_false(is_closed(f->there[0]));
}

static void
rubbish_is_not_listened_to_for_long(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 15; i++)
		guard_table_strike(&f->table, f->here[0], 100, true);
	assert_false(is_closed(f->there[0]));
	assert_true(guard_table_took(&f->table, f->here[0], 100));
	guard_table_strike(&f->table, f->here[0], 100, true);
	assert_true(is_closed(f->there[0]));
	assert_false(guard_table_took(&f->table, f->here[0], 100));
	/* A window's worth of no session is what a restart of the collector makes of an honest client. */
	guard_table_strike(&f->table, f->here[1], 8 << 20, false);
	guard_table_admit(&f->table, f->here[1]);
	guard_table_strike(&f->table, f->here[1], 8 << 20, false);
	assert_false(is_closed(f->there[1]));
	guard_table_strike(&f->table, f->here[2], 17 << 20, false);
	assert_true(is_closed(f->there[2]));
}

static void
a_listening_socket_is_never_shut(void **state)
{
	struct fixture *f = *state;
	int fd;

	guard_table_strike(&f->table, f->listener, 17 << 20, true);
	close(f->there[0]);
	f->there[0] = socket(AF_INET, SOCK_STREAM, 0);
	{
		struct sockaddr_in address;
		socklen_t size = sizeof(address);

		assert_int_equal(getsockname(f->listener, (struct sockaddr *)&address, &size), 0);
		assert_int_equal(connect(f->there[0], (const struct sockaddr *)&address, size), 0);
	}
	fd = accept(f->listener, NULL, NULL);
	assert_true(fd >= 0);
	close(fd);
}

static void
memory_is_known(void **state)
{
	size_t before = guard_memory(), block = 32 << 20;
	char *memory;

	(void)state;
	assert_true(before > 0);
	memory = malloc(block);
	assert_non_null(memory);
	memset(memory, 1, block);
	assert_true(guard_memory() >= before + block / 2);
	free(memory);
}

static void
lines_are_throttled_and_nothing_is_left_out(void **state)
{
	struct throttle throttle = {0};
	uint64_t since = 0;

	(void)state;
	assert_false(throttle_count(&throttle, 0, 5, &since));
	assert_true(throttle_count(&throttle, 1, 5, &since));
	assert_int_equal(since, 1);
	assert_false(throttle_count(&throttle, 3, 6, &since));
	assert_false(throttle_count(&throttle, 4, 5 + THROTTLE_MS - 1, &since));
	assert_true(throttle_count(&throttle, 0, 5 + THROTTLE_MS, &since));
	assert_int_equal(since, 7);
	assert_false(throttle_count(&throttle, 0, 5 + 9 * THROTTLE_MS, &since));
	assert_int_equal(throttle.total, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(connections_by_memory),
	        cmocka_unit_test_setup_teardown(strangers_go_first_and_the_oldest_of_them, setup, teardown),
	        cmocka_unit_test_setup_teardown(what_an_expelled_one_sent_is_ignored, setup, teardown),
	        cmocka_unit_test_setup_teardown(who_holds_most_goes_first, setup, teardown),
	        cmocka_unit_test_setup_teardown(trifles_are_left_alone, setup, teardown),
	        cmocka_unit_test_setup_teardown(rubbish_is_not_listened_to_for_long, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_listening_socket_is_never_shut, setup, teardown),
	        cmocka_unit_test(memory_is_known),
	        cmocka_unit_test(lines_are_throttled_and_nothing_is_left_out),
	};

	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
