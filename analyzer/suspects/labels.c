/* labels.c: finds the class that a text names, and the text for a class (labels.h). */
#include "labels.h"

#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
label_text(const struct dynamics *dynamics, int32_t label, char digits[NUMBER_ROOM])
{
	const char *name = label < 0 ? NULL : store_snapshot_label(dynamics->snapshot, (uint64_t)label);

	if (name || label < 0)
		return name;
	digits[number_print_u64((uint64_t)label, digits)] = '\0';
	return digits;
}

static bool
label_is_blank(char character)
{
	return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

static void
label_trim(const char **text, size_t *length)
{
	for (; *length > 0 && label_is_blank(**text); ++*text)
		--*length;
	while (*length > 0 && label_is_blank((*text)[*length - 1]))
		--*length;
}

bool
label_is(const struct dynamics *dynamics, enum label_form form, int32_t label, const char *text, size_t length)
{
	const char *name = label < 0 ? "" : store_snapshot_label(dynamics->snapshot, (uint64_t)label);
	uint64_t number;
	size_t size;

	label_trim(&text, &length);
	if (label >= 0 && (!name || form == LABEL_NUMBERS))
		return number_parse_whole(text, length, &number) && number == (uint64_t)label;
	size = strlen(name);
	label_trim(&name, &size);
	if (size != length)
		return false;
	for (size_t i = 0; i < size; i++)
		if (name[i] != text[i] && !(label_is_blank(name[i]) && label_is_blank(text[i])))
			return false;
	return true;
}

int32_t
label_find(const struct dynamics *dynamics, enum label_form form, const char *text, size_t length)
{
	uint64_t named = dynamics->info->label_count, number;
	int32_t found = LABEL_NONE;

	if (form == LABEL_NUMBERS && number_parse_whole(text, length, &number))
		return number <= INT32_MAX ? (int32_t)number : LABEL_NONE;
	for (uint64_t c = 0; c < named && c <= INT32_MAX; c++)
		if (label_is(dynamics, LABEL_NAMES, (int32_t)c, text, length))
			found = found == LABEL_NONE ? (int32_t)c : LABEL_TWICE;
	if (found == LABEL_NONE && number_parse_whole(text, length, &number) && number >= named && number <= INT32_MAX)
		found = (int32_t)number;
	return found;
}

const char *
label_nearest(const struct dynamics *dynamics, const char *text, size_t length)
{
	uint64_t named = dynamics->info->label_count;
	const char **names = malloc((named + 1) * sizeof(*names));
	char word[64];
	const char *nearest = NULL;

	snprintf(word, sizeof(word), "%.*s", (int)(length < sizeof(word) ? length : sizeof(word) - 1), text);
	for (uint64_t c = 0; names && c < named; c++)
		names[c] = store_snapshot_label(dynamics->snapshot, c);
	if (names)
		nearest = suggest_nearest(word, names, named);
	free(names);
	return nearest;
}
