/*
 * allowed.c: reading the list when it has changed.
 *
 * Whether it has is told by a hash over the status of the directory and of every file in it. Times of files are coarse:
 * a file changed twice within one step of the clock may look the same after the second change. So a state with a time
 * that was recent when it was read is not trusted, and the files are read again at the next look.
 *
 * Looking costs time too, with many files: it is done again after LOOK_SHARE times as long as it took.
 */
#include "allowed.h"

#include <portolan/error.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#define FILES_MAX 10000 /* of the list: more are not looked at */
#define LOOK_SHARE 50
#define LOOK_MOST_US 1000000
#define RECENT_SECONDS 2

void
allowed_init(struct allowed *allowed, const char *directory)
{
	*allowed = (struct allowed){.directory = directory};
}

void
allowed_free(struct allowed *allowed)
{
	free(allowed->keys);
	*allowed = (struct allowed){0};
}

static int64_t
now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Whether the file's name is NAME.pub; `name` gets NAME. */
static bool
is_public_key(const char *file, char name[ALLOWED_NAME_SIZE])
{
	size_t length = strlen(file);

	if (length <= 4 || length >= ALLOWED_NAME_SIZE || file[0] == '.' || strcmp(file + length - 4, ".pub") != 0)
		return false;
	memcpy(name, file, length - 4);
	name[length - 4] = '\0';
	return true;
}

static uint64_t
add_status(uint64_t state, const char *name, const struct stat *status, int64_t *newest)
{
	const int64_t facts[] = {(int64_t)status->st_dev, (int64_t)status->st_ino,  (int64_t)status->st_mode,
	                         (int64_t)status->st_uid, (int64_t)status->st_size, status->st_mtim.tv_sec,
	                         status->st_mtim.tv_nsec, status->st_ctim.tv_sec,   status->st_ctim.tv_nsec};

	if (status->st_ctim.tv_sec > *newest)
		*newest = status->st_ctim.tv_sec;
	return XXH3_64bits_withSeed(name, strlen(name), XXH3_64bits_withSeed(facts, sizeof(facts), state));
}

/* The state the files are in; 0: it cannot be relied on. */
static uint64_t
look(const char *directory)
{
	char name[ALLOWED_NAME_SIZE];
	const struct dirent *entry;
	struct stat status;
	int64_t newest = 0;
	uint64_t state = 1;
	DIR *list = opendir(directory);

	if (!list)
		return 0;
	if (fstat(dirfd(list), &status) == 0)
		state = add_status(state, "", &status, &newest);
	for (int i = 0; i < FILES_MAX && (entry = readdir(list)); i++)
		if (is_public_key(entry->d_name, name) && fstatat(dirfd(list), entry->d_name, &status, 0) == 0)
			state = add_status(state, name, &status, &newest);
	closedir(list);
	return newest + RECENT_SECONDS < time(NULL) ? state : 0;
}

static void
add_file(struct allowed *allowed, const char *file)
{
	char path[4096 + ALLOWED_NAME_SIZE];
	struct allowed_key key;
	struct portolan_error error = {0};
	int result;

	if (!is_public_key(file, key.name))
		return;
	if (allowed->count == allowed->room) {
		size_t room = allowed->room ? 2 * allowed->room : 16;
		struct allowed_key *more = realloc(allowed->keys, room * sizeof(*more));

		if (!more) {
			error_set(&allowed->trouble, PORTOLAN_E_MEMORY, "out of memory");
			return;
		}
		allowed->keys = more;
		allowed->room = room;
	}
	snprintf(path, sizeof(path), "%s/%s", allowed->directory, file);
	result = keys_read(path, KEYS_PUBLIC, key.key, NULL, &error);
	if (result == 0)
		allowed->keys[allowed->count++] = key;
	else if (allowed->trouble.code == 0)
		allowed->trouble = error;
}

static int
by_key(const void *left, const void *right)
{
	const struct allowed_key *a = left, *b = right;

	return memcmp(a->key, b->key, KEYS_TEXT_SIZE);
}

static void
read_all(struct allowed *allowed)
{
	const struct dirent *entry;
	DIR *list;

	allowed->count = 0;
	allowed->reads++;
	allowed->trouble = (struct portolan_error){0};
	if (keys_check_directory(allowed->directory, &allowed->trouble) < 0)
		return;
	list = opendir(allowed->directory);
	for (int i = 0; list && i < FILES_MAX && (entry = readdir(list)); i++)
		add_file(allowed, entry->d_name);
	if (list)
		closedir(list);
	if (allowed->count)
		qsort(allowed->keys, allowed->count, sizeof(*allowed->keys), by_key);
}

static void
keep_up(struct allowed *allowed)
{
	int64_t begin = now_us(), end;
	uint64_t state;

	if (allowed->reads && begin < allowed->look_at)
		return;
	state = look(allowed->directory);
	/* Read after the look: what changes between the two looks changed at the next one. */
	if (state == 0 || state != allowed->state || allowed->reads == 0)
		read_all(allowed);
	allowed->state = state;
	end = now_us();
	allowed->look_at =
	        end + ((end - begin) * LOOK_SHARE < LOOK_MOST_US ? (end - begin) * LOOK_SHARE : LOOK_MOST_US);
}

const char *
allowed_find(struct allowed *allowed, const char key[KEYS_TEXT_SIZE])
{
	struct allowed_key wanted;
	const struct allowed_key *found = NULL;

	keep_up(allowed);
	memcpy(wanted.key, key, KEYS_TEXT_SIZE);
	if (allowed->count)
		found = bsearch(&wanted, allowed->keys, allowed->count, sizeof(*allowed->keys), by_key);
	return found ? found->name : NULL;
}
