/* test_access.c: what a public URL may be, and what follows from it: origin, path, cookie. Who may ask: tests/cli. */
#include "unit.h"

#include "serve/access.h"

static void
test_parsed(void **state)
{
	static const struct {
		const char *text, *origin, *host, *path;
		unsigned port;
		bool https;
	} table[] = {
	        {"https://lab.example", "https://lab.example", "lab.example", "/", 443, true},
	        {"https://lab.example/", "https://lab.example", "lab.example", "/", 443, true},
	        {"HTTPS://Lab.example:443/a", "https://Lab.example", "Lab.example", "/a/", 443, true},
	        {"https://lab.example:80/a/b-c_d.e~1/", "https://lab.example:80", "lab.example", "/a/b-c_d.e~1/", 80,
	         true},
	        {"https://my_lab/", "https://my_lab", "my_lab", "/", 443, true},
	        {"https://10.1.2.3:8443", "https://10.1.2.3:8443", "10.1.2.3", "/", 8443, true},
	        {"https://[2001:db8::1]:8443/a", "https://[2001:db8::1]:8443", "[2001:db8::1]", "/a/", 8443, true},
	        {"http://localhost:8080/a", "http://localhost:8080", "localhost", "/a/", 8080, false},
	        {"http://127.0.0.1:80", "http://127.0.0.1", "127.0.0.1", "/", 80, false},
	        {"http://[::1]/", "http://[::1]", "[::1]", "/", 80, false},
	};
	struct public_url public;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		assert_true(access_parse_public(table[i].text, &public));
		assert_string_equal(public.origin, table[i].origin);
		assert_string_equal(public.host, table[i].host);
		assert_string_equal(public.path, table[i].path);
		assert_int_equal(public.port, table[i].port);
		assert_int_equal(public.https, table[i].https);
	}
}

static void
test_refused(void **state)
{
	static const char *const table[] = {
	        "",
	        "lab.example",
	        "https:lab.example",
	        "https://",
	        "https:///a",
	        "ftp://lab.example",
	        "http://lab.example",
	        "http://10.1.2.3",
	        "http://127.0.0.1.lab.example",
	        "https://lab.example:0",
	        "https://lab.example:65536",
	        "https://lab.example:8x",
	        "https://me@lab.example",
	        "https://lab.example?a",
	        "https://lab.example#a",
	        "https://lab.example/a?b",
	        "https://lab.example/a b",
	        "https://lab.example/a;Domain=evil.example",
	        "https://lab.example/%61",
	        "https://lab.example//a",
	        "https://lab.example/a//",
	        "https://lab.example/./a",
	        "https://lab.example/a/../b",
	        "https://lab.example\r\nX: y",
	        "https://m\xc3\xbcller.example",
	        "https://[]",
	        "https://[lab.example]",
	        "https://[::1",
	};
	char longest[ACCESS_PATH_ROOM + 40] = "https://lab.example/";
	size_t length = strlen(longest);
	struct public_url public;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (access_parse_public(table[i], &public))
			fail_msg("%s is taken", table[i]);
	memset(longest + length, 'a', ACCESS_PATH_ROOM - 3);
	assert_true(access_parse_public(longest, &public));
	assert_int_equal(strlen(public.path), ACCESS_PATH_ROOM - 1);
	longest[length + ACCESS_PATH_ROOM - 3] = 'a';
	assert_false(access_parse_public(longest, &public));
}

static void
check_cut(const struct access *access, const char *path, const char *want)
{
	const char *got = access_cut_root(access, path);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

/* A proxy leaves the prefix in the path, or cuts it off. */
static void
test_path(void **state)
{
	struct public_url public;
	const struct access plain = {.token = "t"}, behind = {.token = "t", .public = &public};

	(void)state;
	assert_true(access_parse_public("https://lab.example/a/b", &public));
	assert_string_equal(access_root(&plain), "/");
	assert_string_equal(access_root(&behind), "/a/b/");
	check_cut(&plain, "/", "");
	check_cut(&plain, "/api/runs", "api/runs");
	check_cut(&plain, "", NULL);
	check_cut(&plain, "api", NULL);
	check_cut(&behind, "/a/b/api/runs", "api/runs");
	check_cut(&behind, "/a/b/", "");
	check_cut(&behind, "/a/b", "");
	check_cut(&behind, "/", "");
	check_cut(&behind, "/a/bc", "a/bc");
	check_cut(&behind, "/api/runs", "api/runs");
	check_cut(&behind, "a/b/", NULL);
}

static void
test_cookie(void **state)
{
	struct public_url public;
	const struct access plain = {.token = "t"}, behind = {.token = "t", .public = &public};
	char name[ACCESS_COOKIE_ROOM];

	(void)state;
	assert_true(access_parse_public("https://lab.example:8443", &public));
	access_cookie(&plain, "localhost:5780", name);
	assert_string_equal(name, "portolan-5780");
	access_cookie(&plain, "localhost", name);
	assert_string_equal(name, "portolan-80");
	access_cookie(&behind, "localhost:5780", name);
	assert_string_equal(name, "portolan-8443");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_parsed),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_path),
	        cmocka_unit_test(test_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
