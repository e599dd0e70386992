/* format.h: chooses the format in which a command writes (csv, npy, json …), by the ending of the output's name, or by
 * --format. For all commands with an output. */
#ifndef OPTIONS_FORMAT_H
#define OPTIONS_FORMAT_H

#include "files/records.h"
#include "options.h"
#include "output/table.h"

/*
 * Chooses among `names` (ends with NULL; the first is the default) for request->output: *format is −1, or what --format
 * said, and becomes the one to write. The ending decides. Without an ending, for .txt, standard output and devices, the
 * default is taken. 0, or options_wrong(): the command cannot write the format of the ending, which is not one of
 * `names`, or another format was asked for.
 */
int format_choose(const struct common_options *request, const char *const *names, int *format);

/* The same for a command that writes `name`, or with --json a report: sets request->json. */
int format_choose_json(struct common_options *request, const char *name);

/* The same among the formats of a table: sets *format, and request->json where that is JSON, which is a report. Without
 * an output, a terminal gets aligned columns. */
int format_choose_rows(struct common_options *request, int *format);

/* Do people read the output? They do on a terminal, without -o, --format and --json. */
bool format_is_for_people(const struct common_options *request);

/* The format of a table in the file `path`, which `option` ("--log") gave; NULL: no file. `otherwise`: for a file
 * without an ending. */
int format_of_table(const struct common_options *request, const char *option, const char *path,
                    enum table_format otherwise, int *format);

/* Of a file that has one format, whatever was asked for: "json"; any other word stands for plain text. `path` may be
 * NULL. 0, or options_wrong(): the ending is that of another format, or of none. */
int format_of_one(const struct common_options *request, const char *option, const char *path, const char *name);

/* Of lines of the user's file `data`, whose format may be known from its first line only: 0, or options_wrong(): the
 * name of the output, which `option` gave, has neither the ending of their format nor that of `data`. */
int format_of_lines(const struct common_options *request, const char *option, const char *path, const char *data,
                    enum table_format format);

/* A file's ending: "csv", "xyz". NULL: it has none, it is txt, or the file is a device. */
const char *format_of_ending(const char *path);

#endif
