/*
 * driver.c: runs a fuzz target over files, so that the committed corpus is also a plain test.
 *
 *     fuzz_wire [--alone] FILE|FOLDER…
 *
 * Each input is given as it is, and (without --alone, which is for targets that take long) cut short at every length
 * (the first 4,096), and with every byte changed in turn by a few masks: cheap, repeatable, and enough to notice a
 * check that went missing. libFuzzer brings its own main() instead.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long runs;
static bool alone;

/* The target gets a block of exactly `size` bytes, so that reading one too far is seen by the sanitizer. */
static void
run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	runs++;
}

static void
run_neighbours(uint8_t *data, size_t size)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x10};
	size_t most = size < 4096 ? size : 4096;

	run(data, size);
	if (alone)
		return;
	for (size_t length = 0; length < most; length++)
		run(data, length);
	for (size_t at = 0; at < most; at++) {
		for (size_t m = 0; m < sizeof(masks); m++) {
			data[at] ^= masks[m];
			run(data, size);
			data[at] ^= masks[m];
		}
	}
}

static int
run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);
	size_t size;

	if (!file || !data) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	size = fread(data, 1, 1 << 20, file);
	fclose(file);
	run_neighbours(data, size);
	free(data);
	return 0;
}

static void
run_path(const char *path)
{
	struct dirent *entry;
	struct stat about;
	DIR *folder;

	if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
		run_file(path);
		return;
	}
	folder = opendir(path);
	if (!folder) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	while ((entry = readdir(folder))) {
		char *inner = NULL;

		if (entry->d_name[0] == '.' || strstr(entry->d_name, ".py") || strstr(entry->d_name, ".build"))
			continue;
		if (asprintf(&inner, "%s/%s", path, entry->d_name) < 0)
			abort();
		run_path(inner);
		free(inner);
	}
	closedir(folder);
}

int
main(int argc, char **argv)
{
	alone = argc > 1 && strcmp(argv[1], "--alone") == 0;
	for (int i = alone ? 2 : 1; i < argc; i++)
		run_path(argv[i]);
	printf("%lu inputs\n", runs);
	return runs ? 0 : 1;
}
