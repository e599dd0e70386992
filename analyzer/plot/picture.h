/*
 * picture.h: makes the picture files that a user asks for, for all commands that draw maps or charts: checks the names
 * of the files, has gnuplot draw, and gives the files their names when the picture is whole.
 *
 *     picture_init() → picture_check(), before anything is read → for each picture, struct picture_draft:
 *     picture_open() → picture_begin() → the script's variables and template, the data → picture_draw() → picture_end()
 *
 * With --script the script stands beside FILE.png as FILE.gp, and a map's data as FILE.map-data, from which gnuplot
 * draws the same picture again.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "gnuplot.h"
#include "script.h"

#include <portolan/portolan.h>

#include <limits.h>

enum picture_kind {
	PICTURE_CHART, /* its data are in the script */
	PICTURE_MAP,   /* may be an animation */
};

struct picture {
	enum picture_kind kind;
	enum picture_format format;
	bool with_script;
	bool is_part;        /* a frame of an animation, one of many: the caller shows the progress */
	char path[PATH_MAX]; /* the name that the user gave */
	char script_path[PATH_MAX + NAME_MAX], data_path[PATH_MAX + NAME_MAX];
	char name[NAME_MAX +
	          1]; /* the picture's name in the script, and the stem of both: only letters, digits and ._- */
};

/* Fills *picture from the name that the user gave. `option` is the one that gave `path`, for messages.
 * PORTOLAN_E_INVALID: `path` does not end with .png, .svg or .pdf (or, for a map, .gif), or is too long. */
int picture_init(struct picture *picture, enum picture_kind kind, const char *option, const char *path,
                 bool with_script, struct portolan_error *error);

/* Checks that the folder is there, that no file of the picture is an input or another output, and that only files of an
 * earlier picture would be replaced. Claims the script and the data (output/claims.h). */
int picture_check(const struct picture *picture, struct portolan_error *error);

/* The page on which a picture is drawn. */
struct picture_page {
	double width, height;            /* in units: 96 to an inch */
	const char *title, *description; /* in SVG and PDF, for screen readers and for search: any text */
	const char *font;                /* NULL: DejaVu Sans */
	double text;                     /* the size of all text relative to the usual size; 0: the usual size */
	bool on_paper; /* for print at this size: a PNG has 300 dots to an inch, an SVG says its width and height */
};

struct picture_draft {
	const struct picture *picture;
	const struct picture_page *page;
	FILE *script;       /* where the caller writes the script; picture_draw() reports its errors */
	struct output data; /* the points or cells of a map */
	/* private */
	struct output own;          /* the script */
	struct output drawn, image; /* the picture as gnuplot draws it; the picture as the user gets it */
	struct gnuplot gnuplot;
	char *text;
	size_t length;
};

/* Opens the files, and starts gnuplot, which gets ready while the caller reads its data. The program ends if a file
 * cannot be written, or gnuplot is not installed. */
void picture_open(struct picture_draft *draft, const struct picture *picture);

/* Writes the first lines of the script. The page must live until picture_end(). */
void picture_begin(struct picture_draft *draft, const struct picture_page *page);

/* Lets gnuplot draw the picture, and returns at once. The caller may do other work before picture_end(). */
void picture_draw(struct picture_draft *draft);

/* Waits until the picture is drawn, and releases the draft. The program ends if a file cannot be written. It also ends
 * if gnuplot fails or does not complete the picture; then no new file is left. The picture gets its name last. */
void picture_end(struct picture_draft *draft);

#endif
