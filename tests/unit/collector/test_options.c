/* test_options.c: the command line and endpoints: what is taken, what is refused, and in which words. */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARSE(...) parse((const char *const[]){"portoland", __VA_ARGS__, NULL})

static struct options options;
static struct portolan_error error;

/* The strings outlive the options; getopt_long() changes only their order. */
static int
parse(const char *const *arguments)
{
	char *argv[16] = {NULL};
	int count = 0;

	for (; arguments[count]; count++)
		memcpy(&argv[count], &arguments[count], sizeof(*argv));
	memset(&error, 0, sizeof(error));
	return options_parse(&options, count, argv, &error);
}

static void
defaults(void **state)
{
	(void)state;
	unsetenv("PORTOLAN_STORE");
	assert_int_equal(parse((const char *const[]){"portoland", NULL}), 0);
	assert_int_equal(options.command, OPTIONS_SERVE);
	assert_string_equal(options.store, "./portolan-store");
	assert_int_equal(options.listen_count, 1);
	assert_string_equal(options.listen[0].text, "tcp://127.0.0.1:5757");
	assert_int_equal(options.idle_ms, -1);
	assert_int_equal(options.max_memory, 512u << 20);
	assert_false(options.detach);
	setenv("PORTOLAN_STORE", "/elsewhere", 1);
	assert_int_equal(parse((const char *const[]){"portoland", NULL}), 0);
	assert_string_equal(options.store, "/elsewhere");
	assert_int_equal(PARSE("--store", "here"), 0);
	assert_string_equal(options.store, "here");
	unsetenv("PORTOLAN_STORE");
}

static void
serving(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--listen", "tcp://localhost:1", "--listen", "ipc:///x/y", "--exit-when-idle", "1.5",
	                       "--max-memory", "2g", "--detach"),
	                 0);
	assert_int_equal(options.listen_count, 2);
	assert_string_equal(options.listen[0].text, "tcp://127.0.0.1:1");
	assert_string_equal(options.listen[1].path, "/x/y");
	assert_int_equal(options.idle_ms, 1500);
	assert_true(options.max_memory == (size_t)2 << 30);
	assert_true(options.detach);
	assert_int_equal(PARSE("--help"), 0);
	assert_int_equal(options.command, OPTIONS_HELP);
	assert_int_equal(strncmp(options_help, "Examples:", 9), 0);
	assert_int_equal(PARSE("--version"), 0);
	assert_int_equal(options.command, OPTIONS_VERSION);
}

static void
commands(void **state)
{
	(void)state;
	assert_int_equal(PARSE("import", "dir", "--run", "snli/a", "--overwrite", "--store", "s"), 0);
	assert_int_equal(options.command, OPTIONS_IMPORT);
	assert_string_equal(options.path, "dir");
	assert_string_equal(options.run, "snli/a");
	assert_string_equal(options.store, "s");
	assert_true(options.overwrite);
	assert_int_equal(PARSE("rm", "--store", "s", "snli/a"), 0);
	assert_int_equal(options.command, OPTIONS_REMOVE);
	assert_string_equal(options.run, "snli/a");
	assert_int_equal(PARSE("keygen", "dir", "--client", "gpu-7.lab"), 0);
	assert_int_equal(options.command, OPTIONS_KEYGEN);
	assert_string_equal(options.path, "dir");
	assert_string_equal(options.client, "gpu-7.lab");
}

static void
public_addresses_need_keys(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--listen", "tcp://0.0.0.0:5757"), PORTOLAN_E_REFUSED);
	assert_int_equal(PARSE("--listen", "tcp://0.0.0.0:5757", "--keys", "dir"), 0);
	assert_string_equal(options.keys, "dir");
	assert_int_equal(PARSE("--keys", "dir", "--listen", "tcp://[::]:5757", "--listen", "tcp://127.0.0.1:1"), 0);
	assert_int_equal(PARSE("--listen", "tcp://127.0.0.1:1", "--listen", "tcp://10.1.2.3:5757"), PORTOLAN_E_REFUSED);
	assert_int_equal(PARSE("--keys", "dir"), 0);
	assert_string_equal(options.listen[0].text, "tcp://127.0.0.1:5757");
}

static void
wrong_usage(void **state)
{
	static const struct {
		const char *arguments[4], *part; /* of the message */
	} cases[] = {
	        {{"--colour"}, "'--colour'"},
	        {{"--store"}, "needs a value"},
	        {{"--store", ""}, "--store"},
	        {{"serve"}, "'serve'"},
	        {{"--exit-when-idle", "soon"}, "'soon'"},
	        {{"--exit-when-idle", "-1"}, "'-1'"},
	        {{"--exit-when-idle", "nan"}, "'nan'"},
	        {{"--max-memory", "lots"}, "'lots'"},
	        {{"--max-memory", "-5M"}, "'-5M'"},
	        {{"--max-memory", "99999999999T"}, "size"},
	        {{"--max-memory", "31M"}, "32M"},
	        {{"--keys", ""}, "--keys"},
	        {{"--listen", "http://x"}, "neither tcp:// nor ipc://"},
	        {{"--listen", "tcp://127.0.0.1"}, "HOST:PORT"},
	        {{"--listen", "tcp://127.0.0.1:"}, "port"},
	        {{"--listen", "tcp://127.0.0.1:65536"}, "port"},
	        {{"--listen", "tcp://127.0.0.1:0"}, "port"},
	        {{"--listen", "tcp://:5"}, "HOST:PORT"},
	        {{"--listen", "tcp://host.example:5"}, "numeric"},
	        {{"--listen", "tcp://0.0.0.0:5"}, "other machines"},
	        {{"--listen", "tcp://*:5"}, "other machines"},
	        {{"--listen", "tcp://[::]:5"}, "other machines"},
	        {{"--listen", "tcp://192.168.0.1:5"}, "other machines"},
	        {{"--listen", "tcp://128.0.0.1:5"}, "other machines"},
	        {{"--listen", "ipc://"}, "no path"},
	        {{"import"}, "one directory"},
	        {{"import", "dir", "--run", ""}, "name"},
	        {{"import", "a", "b"}, "one directory"},
	        {{"import", "dir", "--run", ""}, "name"},
	        {{"import", "dir", "--detach"}, "'--detach'"},
	        {{"rm"}, "one run"},
	        {{"rm", "a\nb"}, "name"},
	        {{"backup"}, "one directory"},
	        {{"backup", ""}, "directory"},
	        {{"backup", "a", "b"}, "one directory"},
	        {{"keygen"}, "one directory; see portolan help keygen"},
	        {{"keygen", "dir", "--client", "../x"}, "--client"},
	        {{"keygen", "dir", "--client", "clients"}, "--client"},
	        {{"keygen", "dir", "--client", ""}, "--client"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *arguments[6] = {"portoland"};

		memcpy(arguments + 1, cases[i].arguments, sizeof(cases[i].arguments));
		if (parse(arguments) == 0)
			fail_msg("case %zu (%s) was accepted", i, cases[i].part);
		if (!strstr(error.message, cases[i].part) || strchr(error.message, '\n'))
			fail_msg("case %zu: '%s' does not name '%s'", i, error.message, cases[i].part);
	}
}

static void
loopback_addresses(void **state)
{
	struct address address;

	(void)state;
	assert_int_equal(address_parse("tcp://127.9.9.9:*", &address, NULL), 0);
	assert_false(address.ipv6);
	assert_null(address.path);
	assert_int_equal(address_parse("tcp://[::1]:5757", &address, NULL), 0);
	assert_string_equal(address.text, "tcp://[::1]:5757");
	assert_true(address.ipv6);
	assert_int_equal(address_parse("ipc://name", &address, NULL), 0);
	assert_string_equal(address.path, "name");
	assert_true(address.is_ipc);
	assert_false(address.is_public);
	assert_int_equal(address_parse("ipc://@name", &address, NULL), PORTOLAN_E_INVALID);
	assert_int_equal(address_parse("ipc://@", &address, NULL), PORTOLAN_E_INVALID);
	for (size_t i = 0; i < 5; i++) {
		static const char *const reachable[] = {"tcp://10.0.0.1:1", "tcp://0.0.0.0:1", "tcp://*:1",
		                                        "tcp://[::]:1", "tcp://[::ffff:127.0.0.1]:1"};

		assert_int_equal(address_parse(reachable[i], &address, NULL), 0);
		assert_true(address.is_public);
	}
	assert_int_equal(address_parse("tcp://x", &address, NULL), PORTOLAN_E_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(defaults),    cmocka_unit_test(serving),
	        cmocka_unit_test(commands),    cmocka_unit_test(public_addresses_need_keys),
	        cmocka_unit_test(wrong_usage), cmocka_unit_test(loopback_addresses),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
