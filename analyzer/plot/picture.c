/*
 * picture.c: makes one picture file of a map or a chart: opens the files, writes the beginning of the gnuplot script,
 * and has gnuplot draw the script (picture.h).
 *
 * The picture, its script and its data are outputs (output.h), which have no name while gnuplot draws. A file that the
 * user did not ask for never gets a name. gnuplot may end with status 0 although the disk was full, so only a picture
 * that ends as its format ends gets the name that was asked for.
 */
#include "picture.h"

#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"
#include "describe.h"
#include "output/claims.h"
#include "output/output.h"

#include <portolan/error.h>
#include <progress.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the first line of a script, this follows the picture's name; it is the same in every version of this program. */
#define MARK ", drawn by portolan"

static const struct {
	const char *ending; /* of the file's name */
	const char *mark;   /* what the last TAIL bytes of a complete file contain */
	size_t mark_size;
} formats[] = {
        [PICTURE_PNG] = {".png", "IEND", 4},
        [PICTURE_SVG] = {".svg", "</svg>", 6},
        [PICTURE_PDF] = {".pdf", "%%EOF", 5},
        [PICTURE_GIF] = {".gif", "\0;", 2},
};
#define TAIL 64                    /* bytes at the end of a file, in which its mark stands */
#define DOTS_ON_PAPER (300 / 96.0) /* dots of a PNG to a unit of length */

static int
picture_find_format(const char *name, enum picture_format *format)
{
	const char *dot = strrchr(name, '.');

	for (unsigned f = 0; dot && dot != name && f < sizeof(formats) / sizeof(formats[0]); f++) {
		if (strcasecmp(dot, formats[f].ending) == 0) {
			*format = (enum picture_format)f;
			return 0;
		}
	}
	return -1;
}

/* Copies a name, with _ for each character that a script might not take as text. */
static void
picture_make_safe(char *to, const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++) {
		char c = name[i];
		bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
		            c == '_' || (c == '-' && i > 0);

		to[i] = safe ? c : '_';
	}
	to[i] = '\0';
}

int
picture_init(struct picture *picture, enum picture_kind kind, const char *option, const char *path, bool with_script,
             struct portolan_error *error)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int folder = (int)(name - path), stem;

	*picture = (struct picture){.kind = kind, .with_script = with_script};
	if (picture_find_format(name, &picture->format) < 0 || (picture->format == PICTURE_GIF && kind != PICTURE_MAP))
		return error_set(error, PORTOLAN_E_INVALID, "%s %s: the name must end with .png, .svg or .pdf", option,
		                 path);
	if (strlen(path) + 16 > PATH_MAX || strlen(name) + 16 > NAME_MAX)
		return error_set(error, PORTOLAN_E_SYSTEM, "%s: the name is too long: choose a shorter one", option);
	snprintf(picture->path, sizeof(picture->path), "%s", path);
	picture_make_safe(picture->name, name);
	stem = (int)(strrchr(picture->name, '.') - picture->name);
	snprintf(picture->script_path, sizeof(picture->script_path), "%.*s%.*s.gp", folder, path, stem, picture->name);
	snprintf(picture->data_path, sizeof(picture->data_path), "%.*s%.*s.map-data", folder, path, stem,
	         picture->name);
	return 0;
}

/* Checks the files that the script and its data would replace without asking: they must belong to this picture. The
 * first line of a script names the picture to which script and data belong. */
static int
picture_check_script(const struct picture *picture, struct portolan_error *error)
{
	char line[NAME_MAX + 128] = "";
	FILE *stream = fopen(picture->script_path, "re");
	const char *mark, *whose = "is not a script of portolan";

	if (!stream && errno != ENOENT)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", picture->script_path, strerror(errno));
	if (!stream && picture->kind == PICTURE_MAP && access(picture->data_path, F_OK) == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s is no data of %s, which is not there, and would be replaced: give the picture "
		                 "another name",
		                 picture->data_path, picture->script_path);
	if (!stream)
		return 0;
	if (!fgets(line, sizeof(line), stream))
		line[0] = '\0';
	fclose(stream);
	mark = strstr(line, MARK);
	if (strncmp(line, "# ", 2) == 0 && mark) {
		if ((size_t)(mark - line - 2) == strlen(picture->name) &&
		    strncmp(line + 2, picture->name, strlen(picture->name)) == 0)
			return 0;
		whose = "draws another picture";
	}
	return error_set(error, PORTOLAN_E_INVALID, "%s %s, and would be replaced: give the picture another name",
	                 picture->script_path, whose);
}

static int
picture_claim_script(const struct picture *picture, struct portolan_error *error)
{
	int code = claims_add_output("the script", picture->script_path, error);

	if (code >= 0 && picture->kind == PICTURE_MAP)
		code = claims_add_output("the data", picture->data_path, error);
	return code < 0 ? code : picture_check_script(picture, error);
}

int
picture_check(const struct picture *picture, struct portolan_error *error)
{
	const char *slash = strrchr(picture->path, '/');
	char folder[PATH_MAX];
	struct stat status;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - picture->path) + 1 : 2,
	         slash ? picture->path : "./");
	if (stat(folder, &status) < 0)
		return output_refused(picture->path, error);
	if (stat(picture->path, &status) == 0 && !S_ISREG(status.st_mode))
		return error_set(error, PORTOLAN_E_INVALID, "cannot write %s: it is no file", picture->path);
	if (claims_check(picture->path, error) < 0)
		return PORTOLAN_E_INVALID;
	return picture->with_script ? picture_claim_script(picture, error) : 0;
}

static void
picture_begin_script(FILE *stream, const struct picture *picture, const struct picture_page *page)
{
	int stem = (int)(strrchr(picture->name, '.') - picture->name);
	bool has_data = picture->kind == PICTURE_MAP;

	fprintf(stream,
	        "# %s" MARK " " PORTOLAN_VERSION ". To draw it again: gnuplot %.*s.gp\n"
	        "own_picture = '%s'\nown_data = '%.*s%s'\nformat = '%s'\nwidth = %g\nheight = %g\n",
	        picture->name, stem, picture->name, picture->name, has_data ? stem : 0, picture->name,
	        has_data ? ".map-data" : "", formats[picture->format].ending + 1, page->width, page->height);
	if (page->font)
		script_set_text(stream, "font_name", page->font, INFINITY);
	if (page->text > 0)
		script_set(stream, "text_size", page->text);
	if (page->on_paper)
		fprintf(stream, "dots = %g\non_paper = 1\n", DOTS_ON_PAPER);
	fputs(script_begin, stream);
}

/* Opens an output for a script or its data. If it is to stay, its name will be `path`; else it never gets a name, and
 * error messages call it by the picture's. */
static void
picture_open_file(const struct picture *picture, const char *path, struct output *output)
{
	must(output_open(output, picture->with_script ? path : picture->path, &failure));
}

static bool
picture_is_described(const struct picture *picture)
{
	return picture->format == PICTURE_SVG || picture->format == PICTURE_PDF;
}

void
picture_open(struct picture_draft *draft, const struct picture *picture)
{
	static const struct output closed = {.file.fd = -1};
	struct output *drawn = picture_is_described(picture) ? &draft->drawn : &draft->image;

	if (picture->with_script)
		must(picture_check_script(picture, &failure)); /* this command may have written it since */
	*draft = (struct picture_draft){
	        .picture = picture, .data = closed, .own = closed, .drawn = closed, .image = closed};
	if (picture->kind == PICTURE_MAP)
		picture_open_file(picture, picture->data_path, &draft->data);
	picture_open_file(picture, picture->script_path, &draft->own);
	must(output_open(&draft->image, picture->path, &failure));
	if (drawn == &draft->drawn)
		must(output_open(drawn, picture->path, &failure));
	gnuplot_start(&draft->gnuplot, draft->own.file.fd, draft->data.file.fd, drawn->file.fd,
	              picture->format == PICTURE_PNG || picture->format == PICTURE_PDF);
}

void
picture_begin(struct picture_draft *draft, const struct picture_page *page)
{
	draft->page = page;
	draft->script = memory_need(open_memstream(&draft->text, &draft->length));
	picture_begin_script(draft->script, draft->picture, page);
}

static void
picture_warn_undrawn(const struct picture *picture, const char *undrawn)
{
	bool is_gif = picture->format == PICTURE_GIF;
	uint32_t character;
	int size = (int)plot_decode((const unsigned char *)undrawn, &character);

	message_warning("%s: %s '%.*s' (U+%04X): a mark (\xef\xbf\xbd) stands for it, and for others like it%s",
	                picture->path, is_gif ? "a gif cannot show" : "no font here has", size, undrawn, character,
	                is_gif ? "" : "; install a font that has it (Debian: fonts-noto-core, fonts-noto-cjk)");
}

/* Does the font belong to this family? A family may have several names, with commas between. After the family's name,
 * that of the font may have words of a style: DejaVu Sans Bold. */
static bool
font_is_of_family(const char *font, const char *family)
{
	for (size_t length; *family; family += length + (family[length] == ',')) {
		length = strcspn(family, ",");
		if (strncasecmp(font, family, length) == 0 && (font[length] == '\0' || font[length] == ' '))
			return true;
	}
	return false;
}

/* Warns if another font stands for the one that the user named. No warning for an SVG: it only names its font, and the
 * reader's machine may have it. None for a word like "serif" either: it means any such font. */
static void
picture_warn_replaced_font(const struct picture *picture, const char *font)
{
	static const char *const any[] = {"serif", "sans", "sans-serif", "monospace"};
	CLEANUP_FREE char *family =
	        picture->format == PICTURE_PNG || picture->format == PICTURE_PDF ? gnuplot_family(font) : NULL;
	bool is_there = !family || font_is_of_family(font, family);

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
		is_there = is_there || strcasecmp(font, any[i]) == 0;
	if (!is_there)
		message_warning("%s: no font here is called '%s': '%.*s' stands for it", picture->path, font,
		                (int)strcspn(family, ","), family);
}

/* Writes the script, with a mark for each character that cannot be drawn. A GIF can draw the fewest: it has one font
 * only, and neither joined letters nor text from the right. Frames (is_part) lack the same characters as their
 * animation, so there is one warning, for the animation. */
static void
picture_write_script(struct picture_draft *draft)
{
	const struct picture *picture = draft->picture;
	bool takes_any = picture->format != PICTURE_GIF && !plot_is_common(draft->text);
	CLEANUP_FREE uint8_t *drawn = takes_any ? gnuplot_characters() : NULL;
	const char *undrawn = plot_replace_undrawn(&draft->own, draft->text, drawn);

	if (undrawn && !picture->is_part)
		picture_warn_undrawn(picture, undrawn);
	if (draft->page->font && !picture->is_part)
		picture_warn_replaced_font(picture, draft->page->font);
	must(output_flush(&draft->own, &failure));
}

static bool
picture_is_whole(enum picture_format format, int fd)
{
	char tail[TAIL];
	struct stat status;
	ssize_t size = -1;

	if (fstat(fd, &status) == 0 && status.st_size >= TAIL)
		size = pread(fd, tail, TAIL, status.st_size - TAIL);
	if (size < TAIL)
		return false;
	if (format == PICTURE_GIF) /* so short a mark may stand anywhere by chance: it must be at the very end */
		return memcmp(tail + TAIL - 2, formats[PICTURE_GIF].mark, 2) == 0;
	return memmem(tail, TAIL, formats[format].mark, formats[format].mark_size) != NULL;
}

void
picture_draw(struct picture_draft *draft)
{
	if (fclose(draft->script) != 0)
		memory_need(NULL);
	picture_write_script(draft);
	if (draft->picture->kind == PICTURE_MAP)
		must(output_flush(&draft->data, &failure));
	gnuplot_draw(&draft->gnuplot, draft->own.file.fd);
}

static void
picture_wait(struct picture_draft *draft)
{
	const struct picture *picture = draft->picture;
	struct progress progress = {0};
	int drawn = picture_is_described(picture) ? draft->drawn.file.fd : draft->image.file.fd;

	if (!picture->is_part)
		progress_begin(&progress, "drawing", 0);
	if (picture->with_script) { /* they are whole, and reach the disk while gnuplot draws */
		if (picture->kind == PICTURE_MAP)
			output_sync(&draft->data);
		output_sync(&draft->own);
	}
	gnuplot_wait(&draft->gnuplot);
	progress_clear(&progress);
	if (!picture_is_whole(picture->format, drawn))
		die("gnuplot could not write all of %s: is the disk full?", picture->path);
	if (picture_is_described(picture))
		picture_describe(drawn, &draft->image, picture->format, draft->page->title, draft->page->description);
}

void
picture_end(struct picture_draft *draft)
{
	const struct picture *picture = draft->picture;

	picture_wait(draft);
	must(output_check(&draft->data, &failure)); /* before any file gets its name */
	must(output_check(&draft->own, &failure));
	if (picture->with_script && picture->kind == PICTURE_MAP)
		must(output_finish_before(&draft->data, &draft->image, &failure));
	if (picture->with_script)
		must(output_finish_before(&draft->own, &draft->image, &failure));
	must(output_finish(&draft->image, &failure));
	output_discard(&draft->data);
	output_discard(&draft->own);
	output_discard(&draft->drawn);
	free(draft->text);
}
