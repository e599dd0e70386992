/* test_tags_file.c: the file of tags on a disk that takes a line, then fails to keep it, and does not let it be taken back.
 * Linked with --wrap=fdatasync and --wrap=ftruncate64, the name of ftruncate(). */
#include "unit.h"

#include "serve/tags_file.h"

#include "remove_folder.h"

#include <errno.h>
#include <unistd.h>

static bool is_broken;
static char folder[] = "/tmp/portolan-tags-XXXXXX";

int __real_fdatasync(int file);
int __wrap_fdatasync(int file);
int __real_ftruncate64(int file, off_t size);
int __wrap_ftruncate64(int file, off_t size);

int
__wrap_fdatasync(int file)
{
	if (!is_broken)
		return __real_fdatasync(file);
	errno = EIO;
	return -1;
}

int
__wrap_ftruncate64(int file, off_t size)
{
	if (!is_broken)
		return __real_ftruncate64(file, size);
	errno = EIO;
	return -1;
}

static int
take(void *context, const char *line, size_t length, size_t number, struct portolan_error *error)
{
	char **found = context;
	char *before = *found;

	(void)error;
	assert_true(asprintf(found, "%s%zu:%.*s;", before, number, (int)length, line) > 0);
	free(before);
	return 0;
}

static void
open_file(struct tags_file *file, const char *path, const char *expected)
{
	struct portolan_error error;
	char *found = strdup("");

	if (tags_file_open(file, path, "/nowhere", &error) < 0 || tags_file_read(file, take, &found, &error) < 0)
		fail_msg("%s", error.message);
	assert_string_equal(found, expected);
	free(found);
}

static void
test_not_taken_back(void **state)
{
	struct portolan_error error;
	struct tags_file file;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/tags.jsonl", folder);
	open_file(&file, path, "");
	assert_int_equal(tags_file_append(&file, "one", 3, &error), 0);
	is_broken = true;
	assert_int_equal(tags_file_append(&file, "two", 3, &error), PORTOLAN_E_SYSTEM);
	is_broken = false;
	assert_int_equal(tags_file_append(&file, "three", 5, &error), 0);
	tags_file_close(&file);
	open_file(&file, path, "1:one;2:two;3:three;");
	tags_file_close(&file);
	assert_int_equal(truncate(path, 10), 0);
	open_file(&file, path, "1:one;2:two;3:th;");
	assert_int_equal(tags_file_append(&file, "four", 4, &error), 0);
	tags_file_close(&file);
	open_file(&file, path, "1:one;2:two;3:th;4:four;");
	tags_file_close(&file);
}

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	remove_folder(folder);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_not_taken_back)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
