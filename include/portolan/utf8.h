/* utf8.h: reads UTF-8, character by character; for all code of Portolan that checks or cuts text. Private. */
#ifndef PORTOLAN_UTF8_H
#define PORTOLAN_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Reads the first character of a text that has `left` > 0 bytes. Returns the character's number of bytes; *point: its
 * code point. 0: not valid UTF-8, as are overlong forms, surrogates, and code points beyond U+10FFFF. */
static inline size_t
utf8_read(const char *text, size_t left, uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t first = (uint8_t)text[0];
	size_t length = first < 0x80   ? 1
	                : first < 0xc0 ? 0
	                : first < 0xe0 ? 2
	                : first < 0xf0 ? 3
	                : first < 0xf8 ? 4
	                               : 0;

	if (length == 0 || length > left)
		return 0;
	*point = length == 1 ? first : first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (text[i] & 0x3f);
	}
	if (*point < least[length] || *point > 0x10ffff || (*point >= 0xd800 && *point <= 0xdfff))
		return 0;
	return length;
}

#endif
