/*
 * visible.c: finds the invisible characters of a text that is to be shown, and writes them as \uXXXX. Combining marks
 * and variation selectors are visible, on the character before them.
 */
#include "visible.h"

#include <portolan/utf8.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint32_t from, to;
} unseen[] = {
        {0x00, 0x08},       {0x0b, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, /* soft hyphen */
        {0x34f, 0x34f},                                               /* combining grapheme joiner */
        {0x61c, 0x61c},                                               /* Arabic letter mark */
        {0x115f, 0x1160},                                             /* Hangul fillers */
        {0x17b4, 0x17b5},                                             /* inherent vowels of Khmer */
        {0x180b, 0x180f},                                             /* Mongolian selectors and vowel separator */
        {0x200b, 0x200f},                                             /* of no width, and marks of direction */
        {0x2028, 0x202e},                                             /* ends of lines, and changes of direction */
        {0x2060, 0x206f},                                             /* joiners, operators, isolates */
        {0x3164, 0x3164},                                             /* Hangul filler */
        {0xfeff, 0xfeff},                                             /* byte order mark */
        {0xffa0, 0xffa0},                                             /* Hangul filler of half width */
        {0xfff0, 0xfffb},                                             /* annotations */
        {0x1d173, 0x1d17a},                                           /* of music */
        {0xe0000, 0xe0fff},                                           /* tags, and more selectors */
};

static bool
visible_is_unseen(uint32_t character)
{
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		if (character >= unseen[i].from && character <= unseen[i].to)
			return true;
	return false;
}

static size_t
visible_put_escaped(char *to, uint32_t character)
{
	char text[16];
	int length;

	if (character < 0x10000)
		length = snprintf(text, sizeof(text), "\\u%04x", (unsigned)character);
	else
		length = snprintf(text, sizeof(text), "\\u%04x\\u%04x",
		                  (unsigned)(0xd800 + ((character - 0x10000) >> 10)),
		                  (unsigned)(0xdc00 + (character & 0x3ff)));
	memcpy(to, text, (size_t)length);
	return (size_t)length;
}

/* Copies the first character, or a byte that begins none. *length: its bytes in `from`; returns its bytes in `to`. */
static size_t
visible_copy_one(char *to, const char *from, size_t left, size_t *length)
{
	uint32_t character;

	*length = utf8_read(from, left, &character);
	if (*length > 0 && visible_is_unseen(character))
		return visible_put_escaped(to, character);
	*length = *length ? *length : 1;
	memcpy(to, from, *length);
	return *length;
}

size_t
visible_copy(char *to, const char *from, size_t size)
{
	size_t used = 0, length;

	for (size_t i = 0; i < size; i += length)
		used += visible_copy_one(to + used, from + i, size - i, &length);
	return used;
}

void
visible_line(char *line, size_t room)
{
	char from[VISIBLE_LINE_MAX], one[4 * VISIBLE_GROWTH];
	size_t size = strnlen(line, sizeof(from)), used = 0, more, length;

	memcpy(from, line, size);
	for (size_t i = 0; i < size; i += length) {
		more = visible_copy_one(one, from + i, size - i, &length);
		if (used + more >= room)
			break;
		memcpy(line + used, one, more);
		used += more;
	}
	line[used] = '\0';
}
