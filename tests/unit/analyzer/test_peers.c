/* test_peers.c: which connection to the live page is closed for a new one, and after how long at the earliest. */
#include "unit.h"

#include "serve/peers.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 50
#define COMING (4 * MOST)
/* That a connection has, however fast others come: each of them costs a pause of 0.5 ms. */
#define LEAST_S (MOST * 0.0004)

struct connection {
	int ours, theirs;
	struct peer *peer;
	double came;
};

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void
come(struct peers *peers, struct connection *connection)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	*connection = (struct connection){.ours = pair[0], .theirs = pair[1], .came = now()};
	connection->peer = peers_come(peers, connection->ours);
	assert_non_null(connection->peer);
}

static bool
is_closed(const struct connection *connection)
{
	struct pollfd look = {.fd = connection->theirs, .events = POLLIN};

	assert_true(poll(&look, 1, 0) >= 0);
	return look.revents != 0;
}

static void
go(struct peers *peers, struct connection *connection)
{
	peers_go(peers, connection->peer);
	close(connection->ours);
	close(connection->theirs);
}

static void
test_oldest_makes_room(void **state)
{
	struct connection connections[COMING];
	struct peers *peers = peers_new(MOST);

	(void)state;
	assert_non_null(peers);
	for (size_t c = 0; c < COMING; c++) {
		come(peers, &connections[c]);
		if (c == 0)
			peers_trust(peers, connections[c].peer);
		for (size_t other = 0; other <= c; other++)
			assert_int_equal(is_closed(&connections[other]), other > 0 && other + MOST <= c + 1);
	}
	for (size_t c = 0; c < COMING; c++)
		go(peers, &connections[c]);
	peers_free(peers);
}

static void
test_new_one_has_time(void **state)
{
	struct connection connections[COMING];
	struct peers *peers = peers_new(MOST);
	size_t oldest = 0;

	(void)state;
	assert_non_null(peers);
	for (size_t c = 0; c < COMING; c++) {
		come(peers, &connections[c]);
		for (; is_closed(&connections[oldest]); oldest++)
			assert_true(oldest < MOST || now() - connections[oldest].came >= LEAST_S);
	}
	assert_int_equal(oldest, COMING - MOST);
	for (size_t c = 0; c < COMING; c++)
		go(peers, &connections[c]);
	peers_free(peers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_oldest_makes_room),
	        cmocka_unit_test(test_new_one_has_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
