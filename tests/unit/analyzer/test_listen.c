/* test_listen.c: which of the addresses that a name stands for is listened on. getaddrinfo() says what a test wants. */
#include "unit.h"

#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDRESSES_MAX 3
#define NOT_HERE "192.0.2.1" /* kept for documentation (RFC 5737): no machine's */

static struct {
	struct sockaddr_in where[ADDRESSES_MAX];
	struct addrinfo info[ADDRESSES_MAX];
} found;

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **result);
void __wrap_freeaddrinfo(struct addrinfo *result);

int
__wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **result)
{
	char *end;
	unsigned long number = strtoul(port, &end, 10);

	(void)host, (void)hints;
	assert_true(*port != '\0' && *end == '\0' && number <= UINT16_MAX);
	for (size_t i = 0; i < ADDRESSES_MAX; i++)
		found.where[i].sin_port = htons((uint16_t)number);
	*result = found.info;
	return 0;
}

void
__wrap_freeaddrinfo(struct addrinfo *result)
{
	assert_ptr_equal(result, found.info);
}

/* The name stands for these from now on; a family of its own for "": none that there is. */
static void
stand_for(const char *const *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int family = *addresses[i] ? AF_INET : AF_MAX + 1;

		found.where[i] = (struct sockaddr_in){.sin_family = AF_INET};
		inet_pton(AF_INET, addresses[i], &found.where[i].sin_addr);
		found.info[i] = (struct addrinfo){.ai_family = family,
		                                  .ai_socktype = SOCK_STREAM,
		                                  .ai_addr = (struct sockaddr *)&found.where[i],
		                                  .ai_addrlen = sizeof(found.where[i]),
		                                  .ai_next = i + 1 < count ? &found.info[i + 1] : NULL};
	}
}

/* A port of 127.0.0.1 that `holder` listens on; or, once that is closed, one that nobody does. */
static unsigned
take_port(int *holder)
{
	struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(where);

	*holder = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(*holder, (struct sockaddr *)&where, size), 0);
	assert_int_equal(listen(*holder, 1), 0);
	assert_int_equal(getsockname(*holder, (struct sockaddr *)&where, &size), 0);
	return ntohs(where.sin_port);
}

static int
open_there(const char *const *addresses, size_t count, unsigned port, struct listening *listening,
           struct portolan_error *error)
{
	*listening = (struct listening){.host = "name.example", .port = port};
	stand_for(addresses, count);
	return listen_open(listening, error);
}

static void
check_bound(const struct listening *listening, const char *expected)
{
	struct sockaddr_in where;
	socklen_t size = sizeof(where);
	char text[INET_ADDRSTRLEN];

	assert_int_equal(getsockname(listening->socket, (struct sockaddr *)&where, &size), 0);
	assert_string_equal(inet_ntop(AF_INET, &where.sin_addr, text, sizeof(text)), expected);
	assert_int_equal(close(listening->socket), 0);
}

static void
test_not_here(void **state)
{
	static const char *const addresses[] = {"", NOT_HERE, "127.0.0.1"};
	struct listening listening;
	struct portolan_error error;
	int holder;
	unsigned port = take_port(&holder);

	(void)state;
	close(holder);
	assert_int_equal(open_there(addresses, 3, port, &listening, &error), 0);
	assert_string_equal(listening.host, "name.example");
	check_bound(&listening, "127.0.0.1");
	assert_int_equal(open_there(addresses, 2, port, &listening, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "cannot listen on name.example"));
}

/* All machines have 0.0.0.0; others can reach it. */
static void
test_not_loopback(void **state)
{
	static const char *const addresses[] = {"0.0.0.0", "127.0.0.1"};
	struct listening listening;
	struct portolan_error error;
	int holder;
	unsigned port = take_port(&holder);

	(void)state;
	close(holder);
	assert_int_equal(open_there(addresses, 1, port, &listening, &error), PORTOLAN_E_SYSTEM);
	assert_int_equal(open_there(addresses, 2, port, &listening, &error), 0);
	check_bound(&listening, "127.0.0.1");
}

/* A browser would go to the first address, and show whoever listens there the token. */
static void
test_taken(void **state)
{
	static const char *const addresses[] = {"127.0.0.1", "127.0.0.2"};
	struct listening listening;
	struct portolan_error error;
	int holder;
	unsigned port = take_port(&holder);

	(void)state;
	assert_int_equal(open_there(addresses, 2, port, &listening, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "another program does"));
	close(holder);
}

static int
bind_six(unsigned port)
{
	struct sockaddr_in6 six = {
	        .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons((uint16_t)port)};
	int one = 1, bound = socket(AF_INET6, SOCK_STREAM, 0);

	setsockopt(bound, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(bound, (struct sockaddr *)&six, sizeof(six)) == 0 && listen(bound, 1) == 0)
		return bound;
	assert_int_equal(close(bound), 0); /* errno stays */
	return -1;
}

/* "localhost" may be ::1 for a browser: nobody else listens there on the port of 127.0.0.1, before or later. */
static void
test_other_loopback(void **state)
{
	static const char *const addresses[] = {"127.0.0.1"};
	struct listening listening;
	struct portolan_error error;
	int holder, six;
	unsigned port = take_port(&holder);

	(void)state;
	close(holder);
	six = bind_six(port);
	if (six < 0)
		skip(); /* a machine without IPv6 */
	assert_int_equal(open_there(addresses, 1, port, &listening, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "another program does"));
	close(six);
	assert_int_equal(open_there(addresses, 1, port, &listening, &error), 0);
	assert_int_equal(bind_six(port), -1);
	assert_int_equal(errno, EADDRINUSE);
	close(listening.other);
	check_bound(&listening, "127.0.0.1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_not_here),
	        cmocka_unit_test(test_not_loopback),
	        cmocka_unit_test(test_taken),
	        cmocka_unit_test(test_other_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
