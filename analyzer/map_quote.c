/*
 * map_quote.c: any text as a gnuplot string that can do nothing but be shown.
 *
 * Inside single quotes only the quote itself and the line end mean something; control characters go, of both kinds (C0
 * and C1), and so does what is not UTF-8, which the text library would refuse to draw.
 */
#include "map.h"

/* The bytes of the character at `text`, and what it is; 0: not UTF-8. */
static size_t
decode(const unsigned char *text, uint32_t *character)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t size = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;

	if (text[0] >= 0xf8 || (text[0] >= 0x80 && text[0] < 0xc0))
		return 0;
	*character = size == 1 ? text[0] : text[0] & (0xff >> (size + 1));
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (text[i] & 0x3f);
	}
	if (*character < least[size] || *character > 0x10ffff || (*character >= 0xd800 && *character < 0xe000))
		return 0;
	return size;
}

void
map_script_quote(FILE *stream, const char *text, size_t most)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t shown = 0;

	fputc('\'', stream);
	while (*at) {
		uint32_t character;
		size_t size = decode(at, &character);

		if (size == 0 || character < 0x20 || (character >= 0x7f && character < 0xa0)) {
			at += size ? size : 1;
			continue;
		}
		if (++shown > most) {
			fputs("…", stream);
			break;
		}
		if (character == '\'')
			fputc('\'', stream);
		fwrite(at, 1, size, stream);
		at += size;
	}
	fputc('\'', stream);
}
