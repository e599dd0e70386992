/*
 * picture.c: a picture, and the files beside it.
 *
 * gnuplot draws under a temporary name, and may end with status 0 although the disk was full: only a picture that ends
 * as its format ends gets the name asked for.
 */
#include "picture.h"

#include "gnuplot.h"
#include "output/claims.h"
#include "output/output.h"

#include <portolan/error.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *ending; /* of the file's name */
	const char *mark;   /* stands within the last bytes of a whole file */
	size_t mark_size;
} formats[] = {
        [PICTURE_PNG] = {".png", "IEND", 4},
        [PICTURE_SVG] = {".svg", "</svg>", 6},
        [PICTURE_PDF] = {".pdf", "%%EOF", 5},
        [PICTURE_GIF] = {".gif", "\0;", 2},
};
#define TAIL 64

static int
find_format(const char *name, enum picture_format *format)
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

static void
make_safe(char *to, const char *name)
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

/* picture->format is known. */
static int
name_files(struct picture *picture, const char *option, const char *path, const char *data_ending,
           struct portolan_error *error)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int stem;

	if (strlen(path) + 16 > PATH_MAX || strlen(name) + 16 > NAME_MAX)
		return error_set(error, PORTOLAN_E_SYSTEM, "%s: the name is too long: choose a shorter one", option);
	snprintf(picture->folder, sizeof(picture->folder), "%.*s", slash ? (int)(slash - path) + 1 : 2,
	         slash ? path : "./");
	snprintf(picture->path, sizeof(picture->path), "%s", path);
	make_safe(picture->safe_picture, name);
	stem = (int)(strrchr(picture->safe_picture, '.') - picture->safe_picture);
	snprintf(picture->script, sizeof(picture->script), "%.*s.gp", stem, picture->safe_picture);
	snprintf(picture->data, sizeof(picture->data), "%.*s%s", stem, picture->safe_picture, data_ending);
	snprintf(picture->temporary, sizeof(picture->temporary), "%.*s.%d%s", stem, picture->safe_picture,
	         (int)getpid(), formats[picture->format].ending);
	snprintf(picture->script_path, sizeof(picture->script_path), "%s%s", picture->folder, picture->script);
	snprintf(picture->data_path, sizeof(picture->data_path), "%s%s", picture->folder, picture->data);
	snprintf(picture->temporary_path, sizeof(picture->temporary_path), "%s%s", picture->folder, picture->temporary);
	return 0;
}

int
picture_init(struct picture *picture, const char *option, const char *path, const char *data_ending,
             struct portolan_error *error)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (find_format(name, &picture->format) < 0 || picture->format == PICTURE_GIF)
		return error_set(error, PORTOLAN_E_INVALID, "%s %s: the name must end with .png, .svg or .pdf", option,
		                 path);
	return name_files(picture, option, path, data_ending, error);
}

bool
picture_is_animation(const char *path)
{
	const char *slash = strrchr(path, '/');
	enum picture_format format;

	return find_format(slash ? slash + 1 : path, &format) == 0 && format == PICTURE_GIF;
}

int
picture_init_animation(struct picture *picture, const char *option, const char *path, const char *data_ending,
                       struct portolan_error *error)
{
	if (!picture_is_animation(path))
		return error_set(error, PORTOLAN_E_INVALID, "%s %s: the name must end with .gif", option, path);
	picture->format = PICTURE_GIF;
	return name_files(picture, option, path, data_ending, error);
}

/* What stands there under the script's name must be a script of ours: it is replaced without asking. */
static int
check_script(const struct picture *picture, struct portolan_error *error)
{
	char line[128];
	FILE *stream = fopen(picture->script_path, "re");
	bool ours;

	if (!stream)
		return 0;
	ours = !fgets(line, sizeof(line), stream) || (line[0] == '#' && strstr(line, PLOT_SCRIPT_MARK));
	fclose(stream);
	if (ours)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s is not a script of portolan, and would be replaced: give the picture "
	                 "another name",
	                 picture->script_path);
}

int
picture_check(const struct picture *picture, struct portolan_error *error)
{
	struct stat status;

	if (stat(picture->folder, &status) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s: %s", picture->path, strerror(errno));
	if (claims_check(picture->path, error) < 0 || claims_check(picture->script_path, error) < 0 ||
	    claims_check(picture->data_path, error) < 0)
		return PORTOLAN_E_INVALID;
	return check_script(picture, error);
}

static int
write_file(const char *path, const void *content, size_t size, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	output_bytes(&output, content, size);
	return output_finish(&output, error);
}

int
picture_write_data(const struct picture *picture, const void *data, size_t size, struct portolan_error *error)
{
	return write_file(picture->data_path, data, size, error);
}

int
picture_write_script(const struct picture *picture, const char *script, size_t size, struct portolan_error *error)
{
	return write_file(picture->script_path, script, size, error);
}

static bool
is_whole(const struct picture *picture)
{
	char tail[TAIL];
	FILE *stream = fopen(picture->temporary_path, "re");
	size_t size = 0;

	if (!stream)
		return false;
	if (fseek(stream, -TAIL, SEEK_END) == 0)
		size = fread(tail, 1, sizeof(tail), stream);
	fclose(stream);
	if (picture->format == PICTURE_GIF) /* so short a mark may stand anywhere; but here it is the very end */
		return size >= 2 && memcmp(tail + size - 2, formats[PICTURE_GIF].mark, 2) == 0;
	return memmem(tail, size, formats[picture->format].mark, formats[picture->format].mark_size) != NULL;
}

/* A symbolic link stays, and the file behind it is replaced. */
static int
rename_picture(const struct picture *picture)
{
	char behind[PATH_MAX];

	return rename(picture->temporary_path, realpath(picture->path, behind) ? behind : picture->path);
}

static int
accept_picture(const struct picture *picture, struct portolan_error *error)
{
	if (!is_whole(picture))
		return error_set(error, PORTOLAN_E_SYSTEM, "gnuplot could not write all of %s: is the disk full?",
		                 picture->path);
	if (rename_picture(picture) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s: %s", picture->path, strerror(errno));
	return 0;
}

/* Ctrl-C meanwhile ends gnuplot at once, and this program when the unfinished picture is removed. */
int
picture_draw(const struct picture *picture, struct portolan_error *error)
{
	sigset_t ends, before;
	int code;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	code = gnuplot_run(picture->folder, picture->script, picture->temporary, error);
	if (code >= 0)
		code = accept_picture(picture, error);
	if (code < 0)
		unlink(picture->temporary_path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}
