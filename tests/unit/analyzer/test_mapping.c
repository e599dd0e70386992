/* test_mapping.c: a user's file that others change while it is read. */
#include "unit.h"

#include "files/content.h"

#include <portolan/store.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 300 /* more than may be mapped at once */
#define SIZE 100000

static char path[sizeof("/tmp/portolan-mapping-XXXXXX")];
static struct content content;

static void
write_file(const char *name, char letter, size_t size)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	for (size_t i = 0; i < size; i++)
		putc(letter, file);
	assert_int_equal(fclose(file), 0);
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/portolan-mapping-XXXXXX");
	close(mkstemp(path));
	write_file(path, 'a', SIZE);
	return content_open(&content, path, NULL);
}

static int
tear_down(void **state)
{
	(void)state;
	content_close(&content);
	content_close(&content);
	return unlink(path);
}

static size_t
count(char letter)
{
	size_t found = 0;

	for (size_t i = 0; i < content.size; i++)
		found += content.bytes[i] == letter;
	return found;
}

static void
test_cut_short_and_outlived(void **state)
{
	(void)state;
	store_expect_short_file(content_take_bus_error);
	content_outlive_cuts(&content);
	assert_int_equal(count('a'), SIZE);
	assert_true(content_is_unchanged(&content));
	assert_int_equal(truncate(path, 10), 0);
	assert_int_equal(count('a'), 10);
	assert_int_equal(content.bytes[10], 0);
	assert_int_equal(content.bytes[SIZE - 1], 0);
	write_file(path, 'a', SIZE); /* what was gone once stays so */
	assert_int_equal(content.bytes[SIZE - 1], 0);
	assert_false(content_is_unchanged(&content));
}

static void
test_cut_short_ends_with_its_name(void **state)
{
	int said[2], status;
	char text[400];
	ssize_t length = 0, more;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(said), 0);
	child = fork();
	if (child == 0) {
		dup2(said[1], STDERR_FILENO);
		store_expect_short_file(content_take_bus_error);
		_exit(truncate(path, 10) < 0 || count('a') > 0 ? 77 : 78);
	}
	close(said[1]);
	while ((more = read(said[0], text + length, sizeof(text) - 1 - (size_t)length)) > 0)
		length += more;
	text[length] = '\0';
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_non_null(strstr(text, path));
	assert_non_null(strstr(text, "cut short while it was read"));
	assert_null(strstr(text, "store"));
	close(said[0]);
}

static void
test_another_in_its_place(void **state)
{
	char other[sizeof(path) + 4];

	(void)state;
	snprintf(other, sizeof(other), "%s-new", path);
	write_file(other, 'b', 10);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(count('a'), SIZE);
	assert_true(content_is_unchanged(&content));
}

static void
test_grown(void **state)
{
	FILE *file = fopen(path, "a");

	(void)state;
	assert_non_null(file);
	putc('a', file);
	fclose(file);
	assert_false(content_is_unchanged(&content));
}

/* Of the same size: the time tells. */
static void
test_written_again(void **state)
{
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};

	(void)state;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_false(content_is_unchanged(&content));
}

/* However many are open: those beyond the table are read. */
static void
test_many(void **state)
{
	struct content many[MANY];

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(content_open(&many[i], path, NULL), 0);
		assert_int_equal(many[i].size, SIZE);
		assert_int_equal(many[i].bytes[SIZE - 1], 'a');
		assert_true(content_is_unchanged(&many[i]));
	}
	assert_non_null(many[0].mapping);
	assert_null(many[MANY - 1].mapping);
	for (size_t i = 0; i < MANY; i++)
		content_close(&many[i]);
	assert_int_equal(content_open(&many[0], path, NULL), 0);
	assert_non_null(many[0].mapping);
	content_close(&many[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_cut_short_and_outlived, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_cut_short_ends_with_its_name, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_another_in_its_place, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_grown, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_written_again, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
