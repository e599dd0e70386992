/* test_keys.c: key files: what is one, and who may have written it. */
#include "keys.h"
#include "owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The test key of ZeroMQ's manual (zmq_curve_keypair), and its public half. */
#define SECRET "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
#define PUBLIC "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

static void
well_formed(void **state)
{
	static const struct {
		const char *text, *key;
		enum keys_kind kind;
	} cases[] = {
	        {"secret " SECRET, SECRET, KEYS_SECRET},
	        {"secret " SECRET "\n", SECRET, KEYS_SECRET},
	        {"public " PUBLIC "\r\n", PUBLIC, KEYS_PUBLIC},
	        {"# a comment\n#\n\n  \npublic " PUBLIC "  \n\n# another\n", PUBLIC, KEYS_PUBLIC},
	        /* Five characters are at most %nSc0 (RFC 32): no key begins with the character of comments. */
	        {"public %nSc0>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "%nSc0>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
	         KEYS_PUBLIC},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char key[KEYS_TEXT_SIZE] = "";

		assert_int_equal(keys_parse(cases[i].text, strlen(cases[i].text), cases[i].kind, key, NULL), 0);
		assert_string_equal(key, cases[i].key);
	}
}

static void
malformed(void **state)
{
	static const struct {
		const char *text, *part;
		size_t size; /* 0: of the text */
		enum keys_kind kind;
	} cases[] = {
	        {"", "no key", 0, KEYS_SECRET},
	        {"# only a comment\n", "no key", 0, KEYS_SECRET},
	        {SECRET "\n", "no line 'secret KEY'", 0, KEYS_SECRET},
	        {"public " PUBLIC, "public key, and a secret one", 0, KEYS_SECRET},
	        {"secret " SECRET, "secret key, and a public one", 0, KEYS_PUBLIC},
	        {"secret " SECRET "\nsecret " SECRET, "more than one", 0, KEYS_SECRET},
	        {"secret " SECRET "x", "40 characters", 0, KEYS_SECRET},
	        {"secret  " SECRET, "40 characters", 0, KEYS_SECRET},
	        {"secret abc", "40 characters", 0, KEYS_SECRET},
	        {"SECRET " SECRET, "40 characters", 0, KEYS_SECRET},
	        /* A space, a letter outside ASCII, a quote, a NUL, and five characters beyond 32 bits. */
	        {"secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{L 6", "characters", 0, KEYS_SECRET},
	        {"secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{\xc3\xa4", "characters", 0, KEYS_SECRET},
	        {"secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{L\"6", "characters", 0, KEYS_SECRET},
	        {"secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{L\0006", "characters", 47, KEYS_SECRET},
	        {"secret #####%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6", "characters", 0, KEYS_SECRET},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct portolan_error error = {0};
		char key[KEYS_TEXT_SIZE] = "as it was";
		size_t size = cases[i].size ? cases[i].size : strlen(cases[i].text);

		if (keys_parse(cases[i].text, size, cases[i].kind, key, &error) != PORTOLAN_E_INVALID)
			fail_msg("case %zu was accepted", i);
		if (!strstr(error.message, cases[i].part) || strchr(error.message, '\n'))
			fail_msg("case %zu: '%s' does not say '%s'", i, error.message, cases[i].part);
		assert_string_equal(key, "as it was");
	}
}

static char directory[64];

static int
setup(void **state)
{
	char made[] = "/tmp/portolan-test-XXXXXX";

	(void)state;
	if (!mkdtemp(made))
		return -1;
	snprintf(directory, sizeof(directory), "%s", made);
	return 0;
}

static char *
in_directory(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int
teardown(void **state)
{
	static const char *const names[] = {"client.key", "server.key", "server.pub", "fifo", "owner.secret", "other"};

	(void)state;
	chmod(directory, 0700);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(in_directory(names[i]));
	return rmdir(directory);
}

static void
put(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(in_directory(name), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(in_directory(name), mode), 0);
}

static void
a_client_reads_its_keys(void **state)
{
	struct portolan_error error = {0};
	struct keys keys;

	(void)state;
	assert_int_equal(keys_read_client(directory, &keys, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "client.key"));
	put("client.key", "secret " SECRET "\n", 0600);
	assert_int_equal(keys_read_client(directory, &keys, &error), PORTOLAN_E_SYSTEM);
	assert_non_null(strstr(error.message, "server.pub"));
	assert_string_equal(keys.secret, "");
	put("server.pub", "public " PUBLIC "\n", 0644);
	assert_int_equal(keys_read_client(directory, &keys, &error), 0);
	assert_string_equal(keys.secret, SECRET);
	assert_string_equal(keys.own, PUBLIC);
	assert_string_equal(keys.server, PUBLIC);
	assert_false(keys.exposed);
	put("client.key", "secret " SECRET "\n", 0640);
	assert_int_equal(keys_read_client(directory, &keys, &error), 0);
	assert_true(keys.exposed);
	keys_forget(&keys);
	assert_string_equal(keys.secret, "");
}

static void
what_others_may_write_is_refused(void **state)
{
	struct portolan_error error = {0};
	struct keys keys;

	(void)state;
	put("client.key", "secret " SECRET "\n", 0600);
	put("server.key", "secret " SECRET "\n", 0600);
	put("server.pub", "public " PUBLIC "\n", 0664);
	assert_int_equal(keys_read_client(directory, &keys, &error), PORTOLAN_E_REFUSED);
	assert_non_null(strstr(error.message, "server.pub"));
	assert_int_equal(keys_read_server(directory, &keys, &error), 0);
	put("server.pub", "public " PUBLIC "\n", 0644);
	chmod(directory, 0770);
	assert_int_equal(keys_read_client(directory, &keys, &error), PORTOLAN_E_REFUSED);
	assert_non_null(strstr(error.message, "chmod go-w"));
	assert_int_equal(keys_read_server(directory, &keys, &error), PORTOLAN_E_REFUSED);
	chmod(directory, 0702);
	assert_int_equal(keys_check_directory(directory, &error), PORTOLAN_E_REFUSED);
	chmod(directory, 0755);
	assert_int_equal(keys_check_directory(directory, &error), 0);
	assert_int_equal(keys_check_directory(in_directory("client.key"), &error), PORTOLAN_E_SYSTEM);
}

static void
what_is_no_key_file(void **state)
{
	char key[KEYS_TEXT_SIZE], *large = calloc(1, KEYS_MAX_FILE + 2);
	struct portolan_error error = {0};

	(void)state;
	assert_non_null(large);
	memset(large, '\n', KEYS_MAX_FILE + 1);
	put("client.key", large, 0600);
	free(large);
	assert_int_equal(keys_read(in_directory("client.key"), KEYS_SECRET, key, NULL, &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "too long"));
	/* Nobody writes to it: it must not be waited for. */
	assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
	assert_int_equal(keys_read(in_directory("fifo"), KEYS_SECRET, key, NULL, &error), PORTOLAN_E_INVALID);
	assert_int_equal(keys_read(directory, KEYS_SECRET, key, NULL, &error), PORTOLAN_E_INVALID);
}

static void
rewrite(const char *path, const char *from, const char *to)
{
	char text[4096] = "", *at;
	FILE *file = fopen(path, "r+");

	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	at = strstr(text, from);
	assert_non_null(at);
	rewind(file);
	fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	fclose(file);
}

/* What a client may tell to whoever listens at an endpoint, and names a file. */
static void
the_secret_of_a_store_is_told_to_its_collector_only(void **state)
{
	static const char *const others[] = {"tcp://127.0.0.1:5758", "tcp://127.0.0.1:575", "tcp://127.0.0.2:5757",
	                                     "tcp://[::1]:5757",     "tcp://0.0.0.0:5757",  "tcp://localhost:57577"};
	uint8_t secret[WIRE_OWNER_SIZE], read[WIRE_OWNER_SIZE];
	char path[128], endpoints[128] = "";

	(void)state;
	snprintf(path, sizeof(path), "%s", in_directory("owner.secret"));
	owner_line(endpoints, sizeof(endpoints), "tcp://127.0.0.1:5757");
	assert_true(owner_write(path, endpoints, secret));
	assert_true(owner_read(path, "tcp://localhost:5757", read));
	assert_true(owner_read(path, "tcp://127.0.0.1:5757", read));
	assert_memory_equal(read, secret, sizeof(read));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(owner_read(path, others[i], read));
	assert_int_equal(symlink(path, in_directory("other")), 0);
	assert_false(owner_read(in_directory("other"), "tcp://127.0.0.1:5757", read));
	assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
	assert_false(owner_read(in_directory("fifo"), "tcp://127.0.0.1:5757", read));
	assert_int_equal(chmod(path, 0640), 0);
	assert_false(owner_read(path, "tcp://127.0.0.1:5757", read));
	assert_int_equal(chmod(path, 0600), 0);
	/* A home that another machine shares: its loopback device is another one. */
	rewrite(path, "net:[", "net:[1");
	assert_false(owner_read(path, "tcp://127.0.0.1:5757", read));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(well_formed),
	        cmocka_unit_test(malformed),
	        cmocka_unit_test_setup_teardown(a_client_reads_its_keys, setup, teardown),
	        cmocka_unit_test_setup_teardown(what_others_may_write_is_refused, setup, teardown),
	        cmocka_unit_test_setup_teardown(what_is_no_key_file, setup, teardown),
	        cmocka_unit_test_setup_teardown(the_secret_of_a_store_is_told_to_its_collector_only, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
