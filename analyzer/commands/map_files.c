/*
 * map_files.c: files beside a picture.
 *
 * gnuplot may end with status 0 although the disk was full, so a picture is whole only if it ends as its format ends.
 */
#include "map_files.h"

#include "output/output.h"

#include <portolan/error.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *ending; /* of the file's name */
	const char *mark;   /* stands within the last bytes of a whole file */
	size_t mark_size;
} formats[] = {
        [MAP_PNG] = {".png", "IEND", 4},
        [MAP_SVG] = {".svg", "</svg>", 6},
        [MAP_PDF] = {".pdf", "%%EOF", 5},
};
#define TAIL 64

static int
find_format(const char *name, enum map_format *format)
{
	const char *dot = strrchr(name, '.');

	for (unsigned f = 0; dot && dot != name && f < sizeof(formats) / sizeof(formats[0]); f++) {
		if (strcasecmp(dot, formats[f].ending) == 0) {
			*format = (enum map_format)f;
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

int
map_files_init(struct map_files *files, const char *path, struct portolan_error *error)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int stem;

	if (find_format(name, &files->format) < 0)
		return error_set(error, PORTOLAN_E_INVALID, "-o %s: the name must end with .png, .svg or .pdf", path);
	if (strlen(path) + 16 > PATH_MAX || strlen(name) + 16 > NAME_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "-o: the name is too long");
	snprintf(files->folder, sizeof(files->folder), "%.*s", slash ? (int)(slash - path) + 1 : 2,
	         slash ? path : "./");
	snprintf(files->path, sizeof(files->path), "%s", path);
	make_safe(files->safe_picture, name);
	stem = (int)(strrchr(files->safe_picture, '.') - files->safe_picture);
	snprintf(files->script, sizeof(files->script), "%.*s.gp", stem, files->safe_picture);
	snprintf(files->data, sizeof(files->data), "%.*s.map-data", stem, files->safe_picture);
	snprintf(files->temporary, sizeof(files->temporary), "%.*s.%d%s", stem, files->safe_picture, (int)getpid(),
	         formats[files->format].ending);
	snprintf(files->script_path, sizeof(files->script_path), "%s%s", files->folder, files->script);
	snprintf(files->data_path, sizeof(files->data_path), "%s%s", files->folder, files->data);
	snprintf(files->temporary_path, sizeof(files->temporary_path), "%s%s", files->folder, files->temporary);
	return 0;
}

/* What stands there under the script's name must be a script of ours: it is replaced without asking. */
static int
check_script(const struct map_files *files, struct portolan_error *error)
{
	char line[sizeof(MAP_SCRIPT_FIRST_LINE)] = "";
	FILE *stream = fopen(files->script_path, "re");
	size_t size;

	if (!stream)
		return 0;
	size = fread(line, 1, sizeof(line) - 1, stream);
	fclose(stream);
	if (size == 0 || memcmp(line, MAP_SCRIPT_FIRST_LINE, sizeof(line) - 1) == 0)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s is not a script of portolan, and would be replaced: give the picture "
	                 "another name",
	                 files->script_path);
}

int
map_files_check(const struct map_files *files, struct portolan_error *error)
{
	struct stat status;

	if (stat(files->folder, &status) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s: %s", files->path, strerror(errno));
	return check_script(files, error);
}

int
map_files_write_script(const struct map_files *files, const struct map_script *script, struct portolan_error *error)
{
	struct output output;
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	int code;

	if (!stream)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the script");
	map_script_write(stream, script);
	if (fclose(stream) != 0) {
		free(text);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the script");
	}
	code = output_open(&output, files->script_path, error);
	if (code >= 0) {
		output_bytes(&output, text, length);
		code = output_finish(&output, error);
	}
	free(text);
	return code;
}

static bool
is_whole(const struct map_files *files)
{
	char tail[TAIL];
	FILE *stream = fopen(files->temporary_path, "re");
	size_t size = 0;

	if (!stream)
		return false;
	if (fseek(stream, -TAIL, SEEK_END) == 0)
		size = fread(tail, 1, sizeof(tail), stream);
	fclose(stream);
	return memmem(tail, size, formats[files->format].mark, formats[files->format].mark_size) != NULL;
}

void
map_files_drop_picture(const struct map_files *files)
{
	unlink(files->temporary_path);
}

/* A symbolic link stays, and the file behind it is replaced. */
static int
rename_picture(const struct map_files *files)
{
	char behind[PATH_MAX];

	return rename(files->temporary_path, realpath(files->path, behind) ? behind : files->path);
}

int
map_files_accept_picture(const struct map_files *files, struct portolan_error *error)
{
	int code = 0;

	if (!is_whole(files))
		code = error_set(error, PORTOLAN_E_SYSTEM, "gnuplot could not write all of %s: is the disk full?",
		                 files->path);
	else if (rename_picture(files) < 0)
		code = error_set(error, PORTOLAN_E_SYSTEM, "cannot write %s: %s", files->path, strerror(errno));
	if (code < 0)
		map_files_drop_picture(files);
	return code;
}
