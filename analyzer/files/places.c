/*
 * places.c: gives the examples of a run, or those of a user's list, their places by ascending id (places.h). The ids of
 * a run are looked up in the list block by block, so that of the run only the places take memory, 4 bytes an example.
 */
#include "places.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"
#include "list.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define ID_SHOWN 64 /* bytes of an id in a message */

int
places_of_all(const struct dynamics *run, uint32_t **places, size_t *count, struct portolan_error *error)
{
	struct ids ids = {0};
	int code = dynamics_read_ids(run, &ids, error);
	uint32_t *order = code < 0 ? NULL : ids_in_order(&ids, error);

	*count = ids.rows;
	*places = order ? array_new(ids.rows, sizeof(**places), "places of examples", error) : NULL;
	for (size_t i = 0; *places && i < ids.rows; i++)
		(*places)[order[i]] = (uint32_t)i;
	array_free(order);
	ids_free(&ids);
	return code < 0 ? code : *places ? 0 : PORTOLAN_E_MEMORY;
}

void
places_free(struct places_list *list)
{
	ids_free(&list->ids);
	array_free(list->lines);
	array_free(list->place);
	array_free(list->different);
	*list = (struct places_list){0};
}

static int
places_refuse(const struct places_list *list, uint64_t place, const char *id, size_t length,
              struct portolan_error *error)
{
	int shown = (int)(length < ID_SHOWN ? length : ID_SHOWN);

	if (!list->unit)
		return error_set(error, PORTOLAN_E_INVALID, "'%.*s' is no whole number, as the ids of the run are",
		                 shown, id);
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s: %s %llu: '%.*s' is no whole number, as the ids of the run are (one id a line)",
	                 list->path, list->unit, (unsigned long long)place, shown, id);
}

static int
places_take_id(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	struct places_list *list = context;
	int code;

	if (list->ids.rows >= STORE_MAX_EXAMPLES)
		return error_set(error, PORTOLAN_E_INVALID, "%s: more ids than a run can have", list->path);
	code = ids_append_text(&list->ids, id, length, error);
	if (code > 0)
		return places_refuse(list, place, id, length, error);
	if (code == 0)
		code = array_reserve((void **)&list->lines, &list->room, list->ids.rows, sizeof(*list->lines), "lines",
		                     error);
	if (code == 0)
		list->lines[list->ids.rows - 1] = place;
	return code;
}

/* Gives each listed id its place. */
static int
places_number(struct places_list *list, struct portolan_error *error)
{
	size_t n = list->ids.rows;

	list->different = ids_in_order(&list->ids, error);
	list->place = array_new(n, sizeof(*list->place), "places of ids", error);
	if (!list->different || !list->place)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < n; i++) {
		uint32_t index = list->different[i];

		if (list->count == 0 || !ids_are_equal(&list->ids, list->different[list->count - 1], index))
			list->different[list->count++] = index;
		list->place[index] = (uint32_t)list->count - 1;
	}
	return 0;
}

int
places_read_texts(struct places_list *list, char *const *texts, size_t n, const char *path, enum store_id_kind kind,
                  struct portolan_error *error)
{
	int code = 0;

	*list = (struct places_list){.path = path, .ids = {.kind = kind}};
	for (size_t i = 0; i < n && code >= 0; i++)
		code = places_take_id(list, 0, texts[i], strlen(texts[i]), error);
	list->given = list->ids.rows;
	if (code >= 0 && path)
		code = list_read(path, LIST_IDS, &list->unit, places_take_id, list, error);
	if (code >= 0 && list->ids.rows == 0)
		code = error_set(error, PORTOLAN_E_INVALID, "%s: no ids in it (one id a line)", path);
	if (code >= 0)
		code = places_number(list, error);
	if (code < 0)
		places_free(list);
	return code;
}

int
places_read(struct places_list *list, const char *path, enum store_id_kind kind, struct portolan_error *error)
{
	return places_read_texts(list, NULL, 0, path, kind, error);
}

int
places_of_list(const struct places_list *list, const struct dynamics *run, uint32_t **places,
               struct portolan_error *error)
{
	struct ids_index index = {0};
	struct store_cursor *cursor = NULL;
	int code = ids_index_init(&index, &list->ids, list->different, list->count, error);

	*places = NULL;
	if (code >= 0)
		code = store_cursor_open(run->snapshot, &cursor, error);
	if (code >= 0) {
		*places = array_new((size_t)run->info->rows, sizeof(**places), "places of examples", error);
		code = *places ? 0 : PORTOLAN_E_MEMORY;
	}
	for (size_t b = 0; code >= 0 && b < store_snapshot_blocks(run->snapshot); b++) {
		struct store_ids ids;

		code = store_cursor_ids(cursor, b, &ids, error);
		for (uint32_t r = 0; code >= 0 && r < ids.rows; r++) {
			int64_t at = ids_index_find_stored(&index, &ids, r);

			(*places)[ids.first + r] = at < 0 ? PLACES_NONE : (uint32_t)at;
		}
	}
	store_cursor_close(cursor);
	ids_index_free(&index);
	return code;
}

/* Warns of ids of the command line that were not found, and returns how many there are. */
static uint64_t
places_warn_by_name(const struct places_list *list, const struct dynamics *run, const uint8_t *found)
{
	char names[512] = "", digits[NUMBER_ROOM];
	uint64_t unknown = 0, shown = 0;

	for (size_t i = 0; i < list->given; i++) {
		size_t used = strlen(names);
		size_t length;
		const char *text = id_print(&list->ids, (uint32_t)i, digits, &length);

		length = length < ID_SHOWN ? length : ID_SHOWN;
		if (found[list->place[i]])
			continue;
		unknown++;
		if (used + (size_t)length + 5 > sizeof(names))
			continue;
		shown++;
		snprintf(names + used, sizeof(names) - used, "%s'%.*s'", used ? ", " : "", (int)length, text);
	}
	if (unknown > shown)
		message_warning("not observed in run '%s': %s and %s more ids", run->info->name, names,
		                NUMBER_GROUPED(unknown - shown));
	else if (unknown > 0)
		message_warning("not observed in run '%s': %s", run->info->name, names);
	return unknown;
}

uint64_t
places_warn(const struct places_list *list, const struct dynamics *run, const uint8_t *found)
{
	uint64_t unknown = 0, all = 0;
	size_t first = 0;

	for (size_t i = list->ids.rows; i > list->given; i--) {
		all++;
		if (!found[list->place[i - 1]]) {
			unknown++;
			first = i - 1;
		}
	}
	if (unknown > 0) {
		char digits[NUMBER_ROOM];
		size_t length;
		const char *text = id_print(&list->ids, (uint32_t)first, digits, &length);

		message_warning("not observed in run '%s': %s of the %s ids in %s, '%.*s' in %s %llu the first",
		                run->info->name, NUMBER_GROUPED(unknown), NUMBER_GROUPED(all), list->path,
		                (int)(length < ID_SHOWN ? length : ID_SHOWN), text, list->unit,
		                (unsigned long long)list->lines[first]);
	}
	return unknown + places_warn_by_name(list, run, found);
}
