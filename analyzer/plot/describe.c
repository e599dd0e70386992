/*
 * describe.c: writes a title and a description into a picture that gnuplot has drawn, an SVG or a PDF, for screen
 * readers and for search; gnuplot itself cannot.
 *
 * In an SVG, the first elements are replaced. To a PDF, a new version of the information object is appended, with a
 * table of its own, as the format provides (ISO 32000-1, 7.5.6 and 7.5.8); all that gnuplot wrote stays.
 */
#include "describe.h"

#include "die/die.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FALLBACKS "Verdana, Arial, sans-serif"

static void
svg_write_escaped(struct output *to, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t c;

	for (size_t size; *at; at += size ? size : 1) {
		size = plot_decode(at, &c);
		if (size == 0 || c == 0xfffe || c == 0xffff)
			continue;
		if (c == '<' || c == '>' || c == '&')
			output_text(to, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
		else if (c < ' ' || (c >= 0x7f && c < 0xa0))
			output_text(to, " ");
		else
			output_bytes(to, at, size);
	}
}

/* Returns where the next element ends, if it is a `name`, perhaps after spaces; else `at`. */
static const char *
svg_skip_element(const char *at, const char *end, const char *name)
{
	const char *begin = at, *close;
	char tag[16];
	int length = snprintf(tag, sizeof(tag), "<%s>", name);

	while (begin < end && strchr(" \t\r\n", *begin))
		begin++;
	if (end - begin < length || memcmp(begin, tag, (size_t)length) != 0)
		return at;
	length = snprintf(tag, sizeof(tag), "</%s>", name);
	close = memmem(begin, (size_t)(end - begin), tag, (size_t)length);
	return close ? close + length : at;
}

static bool
svg_is_in_tag(const char *begin, const char *at)
{
	while (at > begin && *--at != '<')
		if (*at == '>')
			return false;
	return *at == '<';
}

/* Copies the rest of an SVG. After each name of a font it adds others, for viewers without that font. */
static void
svg_write_fonts(struct output *to, const char *at, const char *end)
{
	static const char attribute[] = "font-family=\"";
	const char *begin = at, *found, *close;

	while ((found = memmem(at, (size_t)(end - at), attribute, sizeof(attribute) - 1))) {
		found += sizeof(attribute) - 1;
		close = memchr(found, '"', (size_t)(end - found));
		if (!close)
			break;
		output_bytes(to, at, (size_t)(close - at));
		if (svg_is_in_tag(begin, found))
			output_text(to, ", " FALLBACKS);
		at = close;
	}
	output_bytes(to, at, (size_t)(end - at));
}

static void
svg_describe(const char *svg, size_t size, struct output *to, const char *title, const char *description)
{
	const char *end = svg + size, *root = memmem(svg, size, "<svg", 4);
	const char *at = root ? memchr(root, '>', (size_t)(end - root)) : NULL;

	at = at ? at + 1 : svg;
	output_bytes(to, svg, (size_t)(at - svg));
	if (root) {
		at = svg_skip_element(svg_skip_element(at, end, "title"), end, "desc");
		output_text(to, "\n<title>");
		svg_write_escaped(to, title);
		output_text(to, "</title>\n<desc>");
		svg_write_escaped(to, description);
		output_text(to, "</desc>\n");
	}
	svg_write_fonts(to, at, end);
}

/* What the last table of a PDF says; such a table says where the PDF's objects are. */
struct pdf_end {
	unsigned long table, size, root, info;
	bool is_stream; /* the table is a stream, as cairo 1.18 and later write it; else it is text */
};

/* Reads the number that follows a name in a PDF's dictionary. */
static bool
pdf_find_number(const char *text, const char *name, unsigned long *number)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), " %lu", number) == 1;
}

#define END_ROOM 4096u

static bool
pdf_read_end(const char *pdf, size_t size, struct pdf_end *pdf_end)
{
	size_t room = size < END_ROOM ? size : END_ROOM;
	char text[END_ROOM + 1];
	const char *trailer, *start;

	memcpy(text, pdf + size - room, room);
	for (size_t i = 0; i < room; i++) /* no NUL ends the text early */
		text[i] = text[i] ? text[i] : ' ';
	text[room] = '\0';
	trailer = strstr(text, "/Type /XRef");
	pdf_end->is_stream = trailer != NULL;
	trailer = trailer ? trailer : strstr(text, "trailer");
	start = trailer ? strstr(trailer, "startxref") : NULL;
	return start && sscanf(start, "startxref %lu", &pdf_end->table) == 1 && pdf_end->table < size &&
	       pdf_find_number(trailer, "/Size", &pdf_end->size) && pdf_find_number(trailer, "/Root", &pdf_end->root) &&
	       pdf_find_number(trailer, "/Info", &pdf_end->info);
}

/* Writes a text as UTF-16 in hexadecimal digits, without what is not UTF-8. */
static void
pdf_write_text(struct output *to, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t character;

	output_text(to, "<FEFF");
	for (size_t size; *at; at += size ? size : 1) {
		size = plot_decode(at, &character);
		if (size == 0)
			continue;
		if (character >= 0x10000)
			output_printf(to, "%04X%04X", 0xd800 + ((character - 0x10000) >> 10),
			              0xdc00 + (character & 0x3ff));
		else
			output_printf(to, "%04X", character < ' ' ? ' ' : character);
	}
	output_text(to, ">");
}

static void
pdf_write_info(struct output *to, const struct pdf_end *end, const char *title, const char *description)
{
	output_printf(to, "%lu 0 obj\n<< /Creator (portolan " PORTOLAN_VERSION ")\n   /Title ", end->info);
	pdf_write_text(to, title);
	output_text(to, "\n   /Subject ");
	pdf_write_text(to, description);
	output_text(to, "\n>>\nendobj\n");
}

/* Writes the new table, itself at `at`, which says that the information object is at `info`. */
static void
pdf_write_table(struct output *to, const struct pdf_end *end, size_t info, size_t at)
{
	if (end->is_stream)
		output_printf(to,
		              "%lu 0 obj\n<< /Type /XRef\n   /Size %lu\n   /W [1 4 1]\n   /Index [%lu 1 %lu 1]\n"
		              "   /Filter /ASCIIHexDecode\n   /Length 25\n",
		              end->size, end->size + 1, end->info, end->size);
	else
		output_printf(to, "xref\n%lu 1\n%010zu 00000 n \ntrailer\n<< /Size %lu\n", end->info, info, end->size);
	output_printf(to, "   /Root %lu 0 R\n   /Info %lu 0 R\n   /Prev %lu\n>>\n", end->root, end->info, end->table);
	if (end->is_stream)
		output_printf(to, "stream\n01%08zx0001%08zx00>\nendstream\nendobj\n", info, at);
	output_printf(to, "startxref\n%zu\n%%%%EOF\n", at);
}

static void
pdf_describe(const char *pdf, size_t size, struct output *to, const char *title, const char *description)
{
	struct output info;
	struct pdf_end end;

	output_bytes(to, pdf, size);
	if (!pdf_read_end(pdf, size, &end))
		return;
	must(output_open_memory(&info, 1024, &failure));
	pdf_write_info(&info, &end, title, description);
	output_append(to, &info);
	pdf_write_table(to, &end, size, size + info.used);
	output_discard(&info);
}

void
picture_describe(int from, struct output *to, enum picture_format format, const char *title, const char *description)
{
	struct stat status;
	char *whole = MAP_FAILED;
	size_t size = 0;

	if (fstat(from, &status) == 0) {
		size = (size_t)status.st_size;
		whole = mmap(NULL, size, PROT_READ, MAP_PRIVATE, from, 0);
	}
	if (whole == MAP_FAILED)
		die("cannot read the picture: %s", strerror(errno));
	if (format == PICTURE_SVG)
		svg_describe(whole, size, to, title, description);
	else
		pdf_describe(whole, size, to, title, description);
	munmap(whole, size);
}
