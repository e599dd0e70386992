/*
 * tags.c: keeps the tags of examples in memory, as the file of --tags has them (tags.h). A change is checked in the same
 * way whether a request or the file brings it, and is taken up only after it is in the file.
 */
#include "tags.h"

#include "tags_file.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "base/names.h"
#include "base/number.h"
#include "verdict/run_report.h"

#include <portolan/error.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistr.h>

/* The first line of a file, written with the first change: what the file is, and which version its lines have. A file that
 * was begun before version 1.0 has no such line. */
#define TAGS_VERSION 1
#define HEAD "{\"portolan\":\"tags\",\"version\":1}"

/* What is said of an example. */
struct tag {
	uint32_t name, label; /* by number among the texts; NAMES_NONE: none */
	bool is_number;       /* the id is a number in JSON */
};

/* The tags of a run. */
struct tags_run {
	char *name;
	struct names ids;
	struct tag *list; /* by number of the id */
	size_t room;
	json_t *names; /* as the last change of names has them; NULL: there was none */
	uint64_t serial;
	struct tags_run *next;
};

struct tags {
	struct tags_file file;
	pthread_mutex_t lock;
	struct tags_run *runs;
	struct names texts;               /* names of tags, and labels */
	size_t count;                     /* examples that have a tag */
	size_t unreadable;                /* lines that are no JSON, … */
	size_t first;                     /* … the number of the first one, … */
	char why[JSON_ERROR_TEXT_LENGTH]; /* … and what is wrong with it */
};

/* Is it a text of 1 to `most` bytes that can be shown in one line? */
static bool
tags_is_text(const json_t *value, size_t most)
{
	const uint8_t *text = (const uint8_t *)json_string_value(value);
	size_t length = json_string_length(value);
	bool is_blank = true;
	ucs4_t character;

	if (!text || length == 0 || length > most || strlen((const char *)text) != length)
		return false;
	while (u8_next(&character, text) != NULL) {
		if (character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
		    character == 0x2029)
			return false;
		is_blank = is_blank && character == ' ';
		text += u8_strmblen(text);
	}
	return !is_blank;
}

static bool
tags_is_id(const json_t *id)
{
	size_t length = json_string_length(id);

	if (json_is_integer(id))
		return json_integer_value(id) >= 0;
	return length > 0 && length <= TAG_TEXT_BYTES && strlen(json_string_value(id)) == length;
}

static const char *
tags_check_names(const json_t *names)
{
	if (!json_is_array(names) || json_array_size(names) > TAGS_NAMES)
		return "'names' is an array of at most 9 names of tags";
	for (size_t i = 0; i < json_array_size(names); i++) {
		if (!tags_is_text(json_array_get(names, i), TAG_NAME_BYTES))
			return "a tag's name is a text of 1 to 100 bytes, without control characters";
		for (size_t j = 0; j < i; j++)
			if (json_equal(json_array_get(names, i), json_array_get(names, j)))
				return "two tags have the same name";
	}
	return NULL;
}

/* NULL: it is a change, but for its members "run" and "at"; else a text that says what it should be. */
static const char *
tags_check_change(const json_t *change)
{
	const json_t *id = json_object_get(change, "id"), *tag = json_object_get(change, "tag");
	const json_t *label = json_object_get(change, "label"), *names = json_object_get(change, "names");
	size_t expected = names ? 1 : 2 + (label != NULL);

	expected += (json_object_get(change, "run") != NULL) + (json_object_get(change, "at") != NULL);
	if (!json_is_object(change) || json_object_size(change) != expected || (!names && (!id || !tag)))
		return "a change is {\"id\", \"tag\", \"label\"}, or {\"names\"}";
	if (names)
		return tags_check_names(names);
	if (!tags_is_id(id))
		return "'id' is a whole number, or a text of 1 to 255 bytes";
	if (!json_is_null(tag) && !tags_is_text(tag, TAG_NAME_BYTES))
		return "'tag' is null, or a text of 1 to 100 bytes, without control characters";
	if (label && !json_is_null(label) && (json_is_null(tag) || !tags_is_text(label, TAG_TEXT_BYTES)))
		return "'label' is null, or, if there is a tag, a text of 1 to 255 bytes, without control characters";
	return NULL;
}

/* The same of the changes of a request, which have neither. */
static const char *
tags_check(const json_t *changes)
{
	const char *wrong = NULL;
	const json_t *change;
	size_t i;

	if (json_array_size(changes) == 0 || json_array_size(changes) > TAGS_CHANGES)
		return "'changes' is an array of 1 to 10000";
	json_array_foreach (changes, i, change) {
		if (json_object_get(change, "run") || json_object_get(change, "at"))
			return "a change has neither 'run' nor 'at'";
		if ((wrong = tags_check_change(change)))
			break;
	}
	return wrong;
}

/* The same of a line of the file: {"run", "at"} and one change, or {"run", "changes", "at"}. */
static const char *
tags_check_line(const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "run"));
	const json_t *changes = json_object_get(line, "changes");

	if (!name || !*name)
		return "a line is {\"run\", \"id\", \"tag\", \"label\", \"at\"}";
	if (!changes)
		return tags_check_change(line);
	if (json_object_size(line) != (size_t)2 + (json_object_get(line, "at") != NULL))
		return "a line of several changes is {\"run\", \"changes\", \"at\"}";
	return tags_check(changes);
}

/* The tags of a run, which are made if there are none yet. NULL: out of memory. */
static struct tags_run *
tags_of(struct tags *tags, const char *run)
{
	struct tags_run *found = tags->runs;

	while (found && strcmp(found->name, run) != 0)
		found = found->next;
	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (found)
		found->name = strdup(run);
	if (!found || !found->name) {
		free(found);
		return NULL;
	}
	found->next = tags->runs;
	tags->runs = found;
	return found;
}

/* The id as text; a number's digits are written into `digits`. */
static const char *
tags_id_text(const json_t *id, char digits[NUMBER_ROOM])
{
	if (json_is_string(id))
		return json_string_value(id);
	digits[number_print_u64((uint64_t)json_integer_value(id), digits)] = '\0';
	return digits;
}

/* The number of a text; NAMES_NONE: it is null. False: out of memory. */
static bool
tags_number(struct tags *tags, const json_t *text, uint32_t *number)
{
	*number = NAMES_NONE;
	if (!json_is_string(text))
		return true;
	*number = names_add(&tags->texts, json_string_value(text), json_string_length(text));
	return *number != NAMES_NONE;
}

/* The entry for an id, which is made if there is none yet. NULL: out of memory. */
static struct tag *
tags_entry(struct tags_run *run, const char *id)
{
	uint32_t known = run->ids.count, number;

	if (known >= run->room) { /* first, as each id has an entry */
		size_t room = 2 * (size_t)known + 16;
		struct tag *longer = realloc(run->list, room * sizeof(*longer));

		if (!longer)
			return NULL;
		run->list = longer;
		run->room = room;
	}
	number = names_add(&run->ids, id, strlen(id));
	if (number == NAMES_NONE)
		return NULL;
	if (number == known)
		run->list[number] = (struct tag){NAMES_NONE, NAMES_NONE, false};
	return &run->list[number];
}

/* Takes a change up, which has been checked. False: out of memory. */
static bool
tags_apply(struct tags *tags, struct tags_run *run, const json_t *change)
{
	json_t *names = json_object_get(change, "names");
	const json_t *id = json_object_get(change, "id");
	struct tag made = {.is_number = json_is_integer(id)}, *entry;
	char digits[NUMBER_ROOM];

	if (names) {
		json_decref(run->names);
		run->names = json_deep_copy(names);
		run->serial++;
		return run->names != NULL;
	}
	entry = tags_entry(run, tags_id_text(id, digits));
	if (!entry || !tags_number(tags, json_object_get(change, "tag"), &made.name) ||
	    !tags_number(tags, json_object_get(change, "label"), &made.label))
		return false;
	tags->count += made.name != NAMES_NONE;
	tags->count -= entry->name != NAMES_NONE;
	*entry = made;
	run->serial++;
	return true;
}

/* Takes all changes up, which have been checked. False: out of memory. */
static bool
tags_apply_all(struct tags *tags, struct tags_run *run, const json_t *changes)
{
	const json_t *change;
	size_t i;

	json_array_foreach (changes, i, change)
		if (!tags_apply(tags, run, change))
			return false;
	return true;
}

/* Does the line begin as `begin` does, as far as it goes? */
static bool
tags_is_begun(const char *line, size_t length, const char *begin)
{
	size_t shared = length < strlen(begin) ? length : strlen(begin);

	return length > 0 && memcmp(line, begin, shared) == 0;
}

/* Checks the line that says which version the file has. */
static int
tags_check_head(const struct tags *tags, const json_t *line, size_t number, struct portolan_error *error)
{
	const json_t *what = json_object_get(line, "portolan"), *version = json_object_get(line, "version");

	if (!json_is_string(what) || strcmp(json_string_value(what), "tags") != 0 || !json_is_integer(version))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: line %zu is of no file of tags: it says that it holds something "
		                 "else. --tags takes a file that it has made itself, or makes one",
		                 tags->file.path, number);
	if (json_integer_value(version) > TAGS_VERSION)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: line %zu says that the tags are of version %lld, and this program knows up to "
		                 "version %d: use a newer portolan",
		                 tags->file.path, number, (long long)json_integer_value(version), TAGS_VERSION);
	return 0;
}

static int
tags_take_line(void *context, const char *text, size_t length, size_t number, struct portolan_error *error)
{
	struct tags *tags = context;
	json_error_t trouble;
	json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &trouble);
	const json_t *changes = json_object_get(line, "changes");
	const char *wrong = tags_check_line(line);
	struct tags_run *run;
	bool taken;

	if (json_object_get(line, "portolan")) {
		int code = tags_check_head(tags, line, number, error);

		json_decref(line);
		return code;
	}
	if (!line && (tags_is_begun(text, length, "{\"run\":") || tags_is_begun(text, length, HEAD))) {
		if (tags->unreadable++ == 0) {
			tags->first = number;
			snprintf(tags->why, sizeof(tags->why), "%s", trouble.text);
		}
		return 0;
	}
	run = wrong ? NULL : tags_of(tags, json_string_value(json_object_get(line, "run")));
	taken = run && (changes ? tags_apply_all(tags, run, changes) : tags_apply(tags, run, line));
	json_decref(line);
	if (wrong)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: line %zu is of no file of tags: %s. --tags takes a file that it has made itself, or makes one",
		        tags->file.path, number, wrong);
	return taken ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

int
tags_open(struct tags **tags, const char *path, const char *store, struct portolan_error *error)
{
	struct tags *opened = calloc(1, sizeof(*opened));
	int code;

	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	pthread_mutex_init(&opened->lock, NULL);
	code = tags_file_open(&opened->file, path, store, error);
	if (code >= 0)
		code = tags_file_read(&opened->file, tags_take_line, opened, error);
	if (code < 0) {
		tags_free(opened);
		return code;
	}
	if (opened->unreadable > 0)
		message_warning(
		        "%s: line %zu cannot be read, and is left out: %s. A server that is killed while it writes "
		        "breaks off a line that it has not acknowledged (%zu lines are left out)",
		        path, opened->first, opened->why, opened->unreadable);
	*tags = opened;
	return 0;
}

void
tags_free(struct tags *tags)
{
	if (!tags)
		return;
	for (struct tags_run *run = tags->runs, *next; run; run = next) {
		next = run->next;
		names_free(&run->ids);
		json_decref(run->names);
		free(run->list);
		free(run->name);
		free(run);
	}
	names_free(&tags->texts);
	tags_file_close(&tags->file);
	pthread_mutex_destroy(&tags->lock);
	free(tags);
}

/* Writes the changes as a line of the file, without the line end: so that a killed server leaves all of them or none. The
 * text is the caller's to free(). NULL: out of memory. */
static char *
tags_write_line(const char *run, json_t *changes)
{
	json_t *only = json_array_size(changes) == 1 ? json_array_get(changes, 0) : NULL, *line = json_object();
	char *text = NULL, now[32];

	run_time(time(NULL), now);
	if (line && json_object_set_new(line, "run", json_string(run)) == 0 &&
	    (only ? json_object_update(line, only) : json_object_set(line, "changes", changes)) == 0 &&
	    json_object_set_new(line, "at", json_string(now)) == 0)
		text = json_dumps(line, JSON_COMPACT);
	json_decref(line);
	return text;
}

/* Counts the examples without a tag to which the changes give one. False: out of memory. */
static bool
tags_count_new(const struct tags_run *run, const json_t *changes, size_t *count)
{
	CLEANUP(names_free) struct names added = {0};
	char digits[NUMBER_ROOM];
	const json_t *change;
	size_t i;

	json_array_foreach (changes, i, change) {
		const json_t *id = json_object_get(change, "id");
		const char *text = id ? tags_id_text(id, digits) : "";
		uint32_t number = names_find(&run->ids, text, strlen(text));

		if (json_is_string(json_object_get(change, "tag")) &&
		    (number == NAMES_NONE || run->list[number].name == NAMES_NONE) &&
		    names_add(&added, text, strlen(text)) == NAMES_NONE)
			return false;
	}
	*count = added.count;
	return true;
}

static int
tags_put_line(struct tags *tags, const char *name, const json_t *changes, const char *line, uint64_t *serial,
              struct portolan_error *error)
{
	struct tags_run *run = tags_of(tags, name);
	CLEANUP_FREE char *begun = NULL;
	size_t added;
	int code;

	if (!run || !tags_count_new(run, changes, &added))
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (added > 0 && tags->count + added > TAGS_MOST) /* what a file brings may be more */
		return error_set(error, PORTOLAN_E_INVALID,
		                 "not saved: more than %d examples would have tags: take some away first", TAGS_MOST);
	if (tags->file.size == 0 && asprintf(&begun, HEAD "\n%s", line) < 0) /* in one write: all of it, or nothing */
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (begun)
		line = begun;
	code = tags_file_append(&tags->file, line, strlen(line), error);
	if (code >= 0 && !tags_apply_all(tags, run, changes))
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory: the tag is saved, and not shown");
	*serial = run->serial;
	return code;
}

int
tags_put(struct tags *tags, const char *run, json_t *changes, uint64_t *serial, struct portolan_error *error)
{
	const char *wrong = tags_check(changes);
	CLEANUP_FREE char *line = wrong ? NULL : tags_write_line(run, changes);
	int code;

	if (!line)
		return wrong ? error_set(error, PORTOLAN_E_INVALID, "%s", wrong)
		             : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	pthread_mutex_lock(&tags->lock);
	code = tags_put_line(tags, run, changes, line, serial, error);
	pthread_mutex_unlock(&tags->lock);
	return code;
}

static const struct tags_run *
tags_find(const struct tags *tags, const char *run)
{
	const struct tags_run *found = tags ? tags->runs : NULL;

	while (found && strcmp(found->name, run) != 0)
		found = found->next;
	return found;
}

uint64_t
tags_serial(struct tags *tags, const char *run)
{
	const struct tags_run *found;
	uint64_t serial;

	if (!tags)
		return 0;
	pthread_mutex_lock(&tags->lock);
	found = tags_find(tags, run);
	serial = found ? found->serial : 0;
	pthread_mutex_unlock(&tags->lock);
	return serial;
}

static void
tags_report_one(struct report *report, const struct tags *tags, const struct tags_run *run, uint32_t number)
{
	const struct tag *tag = &run->list[number];
	size_t length;
	uint64_t id;
	const char *text = names_text(&run->ids, number, &length);

	report_begin(report, NULL);
	if (tag->is_number && number_parse_u64(text, length, &id))
		report_whole(report, "id", id);
	else
		report_bytes(report, "id", text, length);
	report_text(report, "tag", names_text(&tags->texts, tag->name, &length));
	report_text(report, "label", tag->label == NAMES_NONE ? NULL : names_text(&tags->texts, tag->label, &length));
	report_end(report);
}

void
tags_report(struct report *report, struct tags *tags, const char *run)
{
	const struct tags_run *found;

	if (tags)
		pthread_mutex_lock(&tags->lock);
	found = tags_find(tags, run);
	report_begin(report, NULL);
	report_whole(report, "serial", found ? found->serial : 0);
	report_flag(report, "saved", tags != NULL);
	report_begin_list(report, "names");
	for (size_t i = 0; found && i < json_array_size(found->names); i++)
		report_text(report, NULL, json_string_value(json_array_get(found->names, i)));
	report_end(report);
	report_begin_list(report, "tags");
	for (uint32_t number = 0; found && number < found->ids.count; number++)
		if (found->list[number].name != NAMES_NONE)
			tags_report_one(report, tags, found, number);
	report_end(report);
	report_end(report);
	if (tags)
		pthread_mutex_unlock(&tags->lock);
}
