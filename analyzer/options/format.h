/* format.h: chooses the format in which a command writes (csv, npy, json …), by the ending of the output's name, or by
 * --format. For all commands with an output. */
#ifndef OPTIONS_FORMAT_H
#define OPTIONS_FORMAT_H

#include "files/records.h"
#include "options.h"
#include "output/table.h"

/*
 * Chooses among `names` (ends with NULL; the first is the default) for request->output. *format is −1, or what --format
 * said, and becomes the format to write. The ending of the name decides; where there is none, for .txt, standard output
 * and devices, it is the default. Returns 0, or options_wrong(): the ending is that of a format that is not among
 * `names`, or of another one than was asked for.
 */
int format_choose(const struct common_options *request, const char *const *names, int *format);

/* As format_choose(), for a command that writes `name`, or with --json a report: sets request->json. */
int format_choose_json(struct common_options *request, const char *name);

/* As format_choose(), among the formats of a table. If the choice is JSON, which is a report, sets request->json.
 * Without an output, a terminal gets aligned columns. */
int format_choose_rows(struct common_options *request, int *format);

/* Do people read the output? They do on a terminal, if neither -o nor --format nor --json was given. */
bool format_is_for_people(const struct common_options *request);

/* Chooses the format of a table in the file `path`, which `option` ("--log") gave; NULL: no file. `otherwise`: the
 * format for a file without an ending. */
int format_of_table(const struct common_options *request, const char *option, const char *path,
                    enum table_format otherwise, int *format);

/* Checks the name of a file whose format is fixed: `name` is "json", or another word for plain text. `path` may be
 * NULL. 0, or options_wrong(): the ending is that of another format, or of none. */
int format_of_one(const struct common_options *request, const char *option, const char *path, const char *name);

/* Checks the name `path` (from `option`) of an output for lines of the user's file `data`, whose format may be known
 * from its first line only. 0, or options_wrong(): `path` has neither the ending of their format nor that of `data`. */
int format_of_lines(const struct common_options *request, const char *option, const char *path, const char *data,
                    enum table_format format);

/* A file's ending: "csv", "xyz". NULL: it has none, it is txt, or the file is a device. */
const char *format_of_ending(const char *path);

#endif
