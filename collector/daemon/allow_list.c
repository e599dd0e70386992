/*
 * allow_list.c: tells admission.c whether a client's public key is on the list of those that are let in, and what it
 * may do. It keeps the list as the files are now.
 *
 * The times of files are too coarse to show every change. So a handshake or an `open` reads all files again
 * (100 files take 1 ms, 10,000 take 100 ms), unless they were read a moment ago. This moment is LOOK_SHARE times as
 * long as reading took, at most a second, so that a flood of handshakes cannot keep the receiver reading.
 *
 * A bad file is no error: it may be mended while the collector runs. But a key that somebody meant to limit, and whose
 * limits are not understood, is worth more than a line in the log: the collector does not start with it (admission.c).
 */
#include "allow_list.h"

#include "log.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 10000 /* files of the list that are read; others are ignored */
#define LOOK_SHARE 50
#define LOOK_MOST_US 1000000

void
allow_list_free(struct allow_list *list)
{
	free(list->keys);
	*list = (struct allow_list){0};
}

/* Is the file's name NAME.pub? */
static bool
allow_list_is_public_key(const char *file)
{
	size_t length = strlen(file);

	return length > 4 && length < ALLOW_LIST_NAME && strcmp(file + length - 4, ".pub") == 0;
}

static int
allow_list_read_file(struct allow_list *list, const char *path, struct allow_list_key *key,
                     struct portolan_error *error)
{
	struct portolan_error inner = {0};
	char data[KEYS_MAX_FILE + 1];
	bool unclear = false;
	size_t size;
	int result = keys_load(path, KEYS_PUBLIC, data, &size, NULL, error);

	if (result < 0)
		return result;
	if (rights_parse(data, size, key->key, &key->rights, &unclear, &inner) == 0)
		return 0;
	error_set(error, PORTOLAN_E_INVALID, "keys: %.300s: %s", path, inner.message);
	key->barred = unclear;
	if (unclear && list->unclear.code == 0)
		list->unclear = *error;
	return PORTOLAN_E_INVALID;
}

static int
allow_list_add_file(struct allow_list *list, const char *file, struct portolan_error *error)
{
	char path[4096 + ALLOW_LIST_NAME];
	struct allow_list_key *key;
	int result;

	snprintf(path, sizeof(path), "%s/%s", list->directory, file);
	if (!allow_list_is_public_key(file))
		return error_set(error, PORTOLAN_E_INVALID, "keys: %.300s admits nobody: only files NAME.pub are read",
		                 path);
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct allow_list_key *more = realloc(list->keys, room * sizeof(*more));

		if (!more)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
		list->keys = more;
		list->room = room;
	}
	key = &list->keys[list->count];
	*key = (struct allow_list_key){0};
	snprintf(key->name, sizeof(key->name), "%.*s", (int)strlen(file) - 4, file);
	result = allow_list_read_file(list, path, key, error);
	list->count += result == 0 || key->barred;
	list->unknown += result != 0 && !key->barred;
	return result;
}

static int
allow_list_compare_keys(const void *left, const void *right)
{
	const struct allow_list_key *a = left, *b = right;

	return memcmp(a->key, b->key, KEYS_TEXT_SIZE);
}

/* Finds the keys that several files hold, in the sorted list. Which of the files counts must not be a matter of chance:
 * where they give different rights, or one is not understood, none does. */
static void
allow_list_bar_contradictions(struct allow_list *list)
{
	struct allow_list_key *keys = list->keys;

	for (size_t first = 0, next; first < list->count; first = next) {
		bool barred = keys[first].barred;

		for (next = first + 1; next < list->count && strcmp(keys[next].key, keys[first].key) == 0; next++) {
			barred |= keys[next].barred;
			if (barred || rights_are_same(&keys[first].rights, &keys[next].rights))
				continue;
			barred = true;
			if (list->unclear.code == 0)
				error_set(&list->unclear, PORTOLAN_E_INVALID,
				          "keys: %.300s: %.100s.pub and %.100s.pub hold the same key, and give it "
				          "different rights: keep one of the files",
				          list->directory, keys[first].name, keys[next].name);
		}
		for (size_t i = first; i < next; i++)
			keys[i].barred = barred;
	}
}

void
allow_list_read(struct allow_list *list, bool tell)
{
	const struct dirent *entry;
	struct portolan_error error = {0};
	DIR *files;

	list->count = list->bad = list->unknown = 0;
	list->reads++;
	list->trouble = list->unclear = (struct portolan_error){0};
	list->unread = true;
	if (keys_check_directory(list->directory, &list->trouble) < 0)
		return;
	files = opendir(list->directory);
	list->unread = !files;
	for (int i = 0; files && i < FILES_MAX && (entry = readdir(files)); i++) {
		if (entry->d_name[0] == '.' || allow_list_add_file(list, entry->d_name, &error) == 0)
			continue;
		if (list->trouble.code == 0 && allow_list_is_public_key(entry->d_name))
			list->trouble = error;
		if (list->bad++ < ALLOW_LIST_LINES && tell && strcmp(error.message, list->unclear.message) != 0)
			log_line("%s", error.message);
	}
	if (files)
		closedir(files);
	if (list->count)
		qsort(list->keys, list->count, sizeof(*list->keys), allow_list_compare_keys);
	allow_list_bar_contradictions(list);
	if (list->trouble.code == 0)
		list->trouble = list->unclear;
}

/* Reads the list again, and says so if a key is kept out from now on, or for another reason. */
static void
allow_list_look(struct allow_list *list)
{
	const struct portolan_error before = list->unclear;

	allow_list_read(list, false);
	if (list->unclear.code && strcmp(before.message, list->unclear.message) != 0)
		log_line("%s; until that is mended, the key is not let in", list->unclear.message);
}

/* The key's entry, barred or not. */
static const struct allow_list_key *
allow_list_entry(const struct allow_list *list, const char key[KEYS_TEXT_SIZE])
{
	struct allow_list_key wanted;

	memcpy(wanted.key, key, KEYS_TEXT_SIZE);
	if (list->count == 0)
		return NULL;
	return bsearch(&wanted, list->keys, list->count, sizeof(*list->keys), allow_list_compare_keys);
}

const struct allow_list_key *
allow_list_find(struct allow_list *list, const char key[KEYS_TEXT_SIZE])
{
	const int64_t begin = clock_us();
	const struct allow_list_key *found;
	int64_t pause;

	if (begin >= list->look_at) {
		allow_list_look(list);
		pause = LOOK_SHARE * (clock_us() - begin);
		list->look_at = clock_us() + (pause < LOOK_MOST_US ? pause : LOOK_MOST_US);
	}
	found = allow_list_entry(list, key);
	return found && !found->barred ? found : NULL;
}

bool
allow_list_is_unsure(const struct allow_list *list, const char key[KEYS_TEXT_SIZE])
{
	return list->unread || (list->unknown && !allow_list_entry(list, key));
}
