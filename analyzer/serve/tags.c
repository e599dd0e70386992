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
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistr.h>

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
	struct names texts; /* names of tags, and labels */
	size_t count;       /* examples that have a tag */
	size_t torn;        /* lines that a killed server has broken off, … */
	size_t first_torn;  /* … and the number of the first one */
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
tags_check(const json_t *change)
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
	uint32_t known = run->ids.count, number = names_add(&run->ids, id, strlen(id));

	if (number == NAMES_NONE)
		return NULL;
	if (number >= run->room) {
		size_t room = 2 * (size_t)number + 16;
		struct tag *longer = realloc(run->list, room * sizeof(*longer));

		if (!longer)
			return NULL;
		run->list = longer;
		run->room = room;
	}
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

/* Does the line begin as every line of the file does, as far as it goes? */
static bool
tags_is_begun(const char *line, size_t length)
{
	static const char begin[] = "{\"run\":";
	size_t shared = length < strlen(begin) ? length : strlen(begin);

	return length > 0 && memcmp(line, begin, shared) == 0;
}

static int
tags_take_line(void *context, const char *line, size_t length, size_t number, struct portolan_error *error)
{
	struct tags *tags = context;
	json_t *change = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const char *name = json_string_value(json_object_get(change, "run")), *wrong;
	struct tags_run *run;
	bool taken;

	if (!change && tags_is_begun(line, length)) {
		tags->first_torn = tags->torn++ == 0 ? number : tags->first_torn;
		return 0;
	}
	wrong = name && *name ? tags_check(change) : "a line is {\"run\", \"id\", \"tag\", \"label\", \"at\"}";
	run = wrong ? NULL : tags_of(tags, name);
	taken = run && tags_apply(tags, run, change);
	json_decref(change);
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
	if (opened->torn > 0)
		message_warning(
		        "%s: line %zu is broken off, as of a server that was killed while it wrote: what it had not "
		        "acknowledged is not there (%zu of such lines)",
		        path, opened->first_torn, opened->torn);
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

/* Checks the changes, and writes them as the lines of the file. The text is the caller's to free(). */
static int
tags_write_lines(const char *run, json_t *changes, char **lines, size_t *size, struct portolan_error *error)
{
	FILE *stream = open_memstream(lines, size);
	const char *wrong = NULL;
	bool fits = stream != NULL;
	char now[32];

	run_time(time(NULL), now);
	for (size_t i = 0; fits && !wrong && i < json_array_size(changes); i++) {
		json_t *change = json_array_get(changes, i), *line = json_object();
		bool is_plain = !json_object_get(change, "run") && !json_object_get(change, "at");

		wrong = is_plain ? tags_check(change) : "a change has neither 'run' nor 'at'";
		fits = line && json_object_set_new(line, "run", json_string(run)) == 0 &&
		       (wrong || json_object_update(line, change) == 0) &&
		       json_object_set_new(line, "at", json_string(now)) == 0 &&
		       json_dumpf(line, stream, JSON_COMPACT) == 0 && fputc('\n', stream) != EOF;
		json_decref(line);
	}
	if (stream && fclose(stream) != 0)
		fits = false;
	if (wrong)
		return error_set(error, PORTOLAN_E_INVALID, "%s", wrong);
	return fits ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

/* How many of the changes give a tag to an example that has none. */
static size_t
tags_count_new(const struct tags_run *run, const json_t *changes)
{
	char digits[NUMBER_ROOM];
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(changes); i++) {
		const json_t *change = json_array_get(changes, i), *id = json_object_get(change, "id");
		const char *text = id ? tags_id_text(id, digits) : "";
		uint32_t number = names_find(&run->ids, text, strlen(text));

		count += json_is_string(json_object_get(change, "tag")) &&
		         (number == NAMES_NONE || run->list[number].name == NAMES_NONE);
	}
	return count;
}

static int
tags_put_lines(struct tags *tags, const char *name, json_t *changes, const char *lines, size_t size,
               struct portolan_error *error)
{
	struct tags_run *run = tags_of(tags, name);
	int code;

	if (!run)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (tags->count + tags_count_new(run, changes) > TAGS_MOST)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "not saved: more than %d examples would have tags: take some away first", TAGS_MOST);
	code = tags_file_append(&tags->file, lines, size, error);
	for (size_t i = 0; i < json_array_size(changes) && code >= 0; i++)
		if (!tags_apply(tags, run, json_array_get(changes, i)))
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory: the tag is saved, and not shown");
	return code;
}

int
tags_put(struct tags *tags, const char *run, json_t *changes, uint64_t *serial, struct portolan_error *error)
{
	CLEANUP_FREE char *lines = NULL;
	size_t size = 0;
	size_t count = json_array_size(changes);
	int code = count > 0 && count <= TAGS_CHANGES
	                   ? tags_write_lines(run, changes, &lines, &size, error)
	                   : error_set(error, PORTOLAN_E_INVALID, "'changes' is an array of 1 to %d", TAGS_CHANGES);

	if (code < 0)
		return code;
	pthread_mutex_lock(&tags->lock);
	code = tags_put_lines(tags, run, changes, lines, size, error);
	if (code >= 0)
		*serial = tags_of(tags, run)->serial;
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
