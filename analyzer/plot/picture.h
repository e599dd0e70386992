/*
 * picture.h: a picture the user asked for: the names of its files, their contents, and having it drawn.
 *
 *     picture_init() → picture_check(), before anything is read → picture_write_data(), picture_write_script() →
 * picture_draw()
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "script.h"

#include <portolan/portolan.h>

#include <limits.h>

struct picture {
	enum picture_format format;
	char folder[PATH_MAX];
	char path[PATH_MAX]; /* the picture, as the user named it */
	char script_path[PATH_MAX + NAME_MAX], data_path[PATH_MAX + NAME_MAX], temporary_path[PATH_MAX + NAME_MAX];
	/* In the folder, of letters, digits and ._- only: the picture's name so written, and the files beside it. */
	char safe_picture[NAME_MAX + 1], script[NAME_MAX + 1], data[NAME_MAX + 1], temporary[NAME_MAX + 1];
};

/* `option` is the one that gave `path`, for messages; `data_ending` (".map-data", at most 11 bytes) ends the data's
 * name. PORTOLAN_E_INVALID: `path` does not end with .png, .svg or .pdf, or is too long. */
int picture_init(struct picture *picture, const char *option, const char *path, const char *data_ending,
                 struct portolan_error *error);

/* The same for an animation, whose name ends with .gif; and whether a path says so. */
int picture_init_animation(struct picture *picture, const char *option, const char *path, const char *data_ending,
                           struct portolan_error *error);
bool picture_is_animation(const char *path);

/* The folder is there, no file of the picture is an input or another output, and no script is there that would be
 * replaced without being ours. */
int picture_check(const struct picture *picture, struct portolan_error *error);

int picture_write_data(const struct picture *picture, const void *data, size_t size, struct portolan_error *error);
int picture_write_script(const struct picture *picture, const char *script, size_t size, struct portolan_error *error);

/* Has gnuplot draw it from the script. PORTOLAN_E_SYSTEM: it could not, or not all of it; the script and data stay. */
int picture_draw(const struct picture *picture, struct portolan_error *error);

#endif
