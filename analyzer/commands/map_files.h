/* map_files.h: the names of a map's files, and giving them their contents. */
#ifndef MAP_FILES_H
#define MAP_FILES_H

#include "map/map.h"

#include <limits.h>

struct map_files {
	enum map_format format;
	char folder[PATH_MAX];
	char path[PATH_MAX];                        /* the picture, as the user named it */
	char script_path[PATH_MAX + NAME_MAX], data_path[PATH_MAX + NAME_MAX], temporary_path[PATH_MAX + NAME_MAX];
	/* In the folder, of letters, digits and ._- only: the picture's name so written, and the files beside it. */
	char safe_picture[NAME_MAX + 1], script[NAME_MAX + 1], data[NAME_MAX + 1], temporary[NAME_MAX + 1];
};

/* PORTOLAN_E_INVALID: `path` does not end with .png, .svg or .pdf, or is too long. */
int map_files_init(struct map_files *files, const char *path, struct portolan_error *error);

/* Before anything is read: the folder is there, and no file is that would be replaced without being ours. */
int map_files_check(const struct map_files *files, struct portolan_error *error);

int map_files_write_script(const struct map_files *files, const struct map_script *script, struct portolan_error *error);

/* Gives the picture that gnuplot drew under the temporary name its own; PORTOLAN_E_SYSTEM when it is not whole. */
int map_files_accept_picture(const struct map_files *files, struct portolan_error *error);
void map_files_drop_picture(const struct map_files *files);

#endif
