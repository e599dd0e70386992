/* zero_pages.c: see zero_pages.h. */
#include "zero_pages.h"

#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096
#define COUNTERS 'K'

static uint32_t
load(const uint8_t *data, unsigned size)
{
	uint32_t value = 0;

	memcpy(&value, data, size);
	return value;
}

/* How many records the page has. 0: it is no leaf; what looks like one may be a page of a long record. */
static unsigned
count_records(const uint8_t *page)
{
	const unsigned lower = load(page + 12, 2),
	               count = load(page + 10, 2) == 2 && lower >= 16 ? (lower - 16) / 2 : 0;

	if (lower > PAGE)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		const unsigned at = load(page + 16 + 2 * i, 2);

		/* a record's key comes after eight bytes, the last two of which are its size; then comes its kind */
		if (at + 8 >= PAGE || at + 8 + load(page + at + 6, 2) >= PAGE)
			return 0;
	}
	return count;
}

/* Does the page hold records of this kind alone, and of this run alone? */
static bool
is_leaf_of(const uint8_t *page, char kind, uint8_t run)
{
	const unsigned count = count_records(page);

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *key = page + load(page + 16 + 2 * i, 2) + 8, prefix[] = {0, 0, 0, run};

		if ((run && memcmp(key, prefix, 4) != 0) || key[load(key - 2, 2)] != kind)
			return false;
	}
	return count > 0;
}

static bool
holds_counters(const uint8_t *page, char kind, uint8_t run)
{
	const unsigned count = count_records(page);
	bool found = false;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *key = page + load(page + 16 + 2 * i, 2) + 8, prefix[] = {0, 0, 0, run};
		const unsigned size = load(key - 2, 2);

		if (size < 5 || memcmp(key, prefix, 4) != 0 || key[size] == 'R' || key[size] == 'I')
			return false;
		found |= key[size] == kind;
	}
	return found;
}

static unsigned
zero_where(const char *directory, bool (*wanted)(const uint8_t *, char, uint8_t), char kind, uint8_t run, unsigned one)
{
	uint8_t page[PAGE];
	unsigned zeroed = 0, found = 0;
	char path[512];
	int file;

	snprintf(path, sizeof(path), "%s/data.mdb", directory);
	file = open(path, O_RDWR);
	for (off_t at = 2 * PAGE; pread(file, page, PAGE, at) == PAGE; at += PAGE) {
		if (!wanted(page, kind, run) || (found++ != one && one != ZERO_ALL))
			continue;
		memset(page, 0, PAGE);
		if (pwrite(file, page, PAGE, at) != PAGE)
			err(70, "%s", path);
		zeroed++;
	}
	close(file);
	return zeroed;
}

unsigned
zero_pages(const char *directory, char kind, uint8_t run, unsigned one)
{
	return zero_where(directory, is_leaf_of, kind, run, one);
}

unsigned
zero_pages_with_counters(const char *directory, uint8_t run)
{
	return zero_where(directory, holds_counters, COUNTERS, run, ZERO_ALL);
}
