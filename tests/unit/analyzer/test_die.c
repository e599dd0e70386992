/* test_die.c: memory that grows; the program that ends, and what it says and leaves, where it cannot go on. */
#include "unit.h"

#include "die/die.h"
#include "die/memory.h"
#include "output/unfinished.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sanitizer's allocator returns NULL too, after a warning. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *
__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *
__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void
test_new_and_texts(void **state)
{
	static const char zeroes[24];
	char *bytes = memory_new(3, 8), *copy = memory_copy("abc\0d", 5), *text = memory_text("%s-%d", "a", 7);

	(void)state;
	assert_memory_equal(bytes, zeroes, 24);
	assert_memory_equal(copy, "abc\0d", 6);
	assert_string_equal(text, "a-7");
	free(bytes);
	free(copy);
	free(text);
	free(memory_new(0, 8));
}

static void
test_array(void **state)
{
	CLEANUP_ARRAY uint64_t *large = memory_array(100000, sizeof(*large), "marks"), *none = NULL;

	(void)state;
	(void)none;
	assert_true(large[0] == 0 && large[99999] == 0);
}

static void
test_grow(void **state)
{
	size_t room = 0;
	uint32_t *list = memory_grow(NULL, &room, 1, sizeof(*list)), *same;

	(void)state;
	assert_int_equal(room, 16);
	for (uint32_t i = 0; i < 1000; i++) {
		list = memory_grow(list, &room, i + 1, sizeof(*list));
		list[i] = i;
	}
	assert_int_equal(room, 1024);
	assert_int_equal(list[0], 0);
	assert_int_equal(list[999], 999);
	same = memory_grow(list, &room, 1024, sizeof(*list));
	assert_ptr_equal(same, list);
	free(list);
}

static int
say_usage(const char *message)
{
	dprintf(STDERR_FILENO, "said: %s\n", message);
	return 2;
}

static void *
need_in_a_thread(void *unused)
{
	(void)unused;
	failure = (struct portolan_error){.message = "a worker cannot"};
	must(-1);
	return NULL;
}

static const struct ending {
	const char *said;
	int status;
} endings[] = {
        {"portolan: out of memory\n", 1},   {"portolan: out of memory\n", 1},    {"portolan: out of memory\n", 1},
        {"portolan: out of memory\n", 1},   {"portolan: out of memory for ", 1}, {"said: file 3: no field 'x'\n", 2},
        {"portolan: a worker cannot\n", 1},
};

static void
cannot_go_on(size_t way)
{
	volatile size_t most = SIZE_MAX / 2, more = SIZE_MAX;
	size_t room = 0;
	pthread_t thread;

	unfinished_add("portolan-test-unfinished");
	if (way == 0)
		memory_new(most, 1);
	else if (way == 1)
		memory_new(most, 4); /* the product does not fit */
	else if (way == 2)
		memory_grow(NULL, &room, more, 1);
	else if (way == 3)
		memory_grow(NULL, &room, most / 4, 8);
	else if (way == 4)
		memory_array(most, 4, "marks");
	else if (way == 5) {
		die_through(say_usage);
		printf("printed before");
		die("file %d: no field '%s'", 3, "x");
	} else if (pthread_create(&thread, NULL, need_in_a_thread, NULL) == 0)
		pthread_join(thread, NULL);
	_exit(0);
}

static void
test_ends_the_program(void **state)
{
	(void)state;
	for (size_t way = 0; way < sizeof(endings) / sizeof(endings[0]); way++) {
		int ends[2], file = open("portolan-test-unfinished", O_CREAT | O_WRONLY, 0600), status;
		char said[16384] = "";
		size_t used = 0;
		ssize_t got;
		pid_t child;

		assert_true(file >= 0 && pipe(ends) == 0);
		close(file);
		fflush(stdout);
		child = fork();
		if (child == 0) {
			dup2(ends[1], STDERR_FILENO);
			dup2(ends[1], STDOUT_FILENO);
			cannot_go_on(way);
		}
		close(ends[1]);
		while ((got = read(ends[0], said + used, sizeof(said) - 1 - used)) > 0)
			used += (size_t)got;
		close(ends[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), endings[way].status);
		assert_non_null(strstr(said, endings[way].said));
		assert_true(way != 5 || strstr(said, "printed before"));
		assert_int_equal(access("portolan-test-unfinished", F_OK), -1);
	}
}

static void
test_must_returns_what_is_no_failure(void **state)
{
	(void)state;
	assert_int_equal(must(0), 0);
	assert_int_equal(must(3), 3);
}

int
main(void)
{
	char folder[] = "/tmp/portolan-test-XXXXXX";
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_new_and_texts),
	        cmocka_unit_test(test_array),
	        cmocka_unit_test(test_grow),
	        cmocka_unit_test(test_ends_the_program),
	        cmocka_unit_test(test_must_returns_what_is_no_failure),
	};
	int failures = mkdtemp(folder) && chdir(folder) == 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;

	return chdir("/") == 0 && rmdir(folder) == 0 ? failures : 1;
}
