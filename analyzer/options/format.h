/* format.h: in which of its formats a command writes: as the ending of the output's name says, or --format. */
#ifndef OPTIONS_FORMAT_H
#define OPTIONS_FORMAT_H

#include "options.h"
#include "files/records.h"
#include "output/rows.h"

/*
 * Chooses among `names` (ends with NULL; the first is the default) for request->output: *format is −1, or what --format
 * said, and becomes the one to write. The ending decides; where it is none that is known, for .txt, standard output and
 * devices, the default is taken. 0, or options_wrong(): the ending is one that the command cannot write, or not that of
 * the format asked for.
 */
int format_choose(const struct common_options *request, const char *const *names, int *format);

/* The same for a command that writes `name`, or with --json a report: sets request->json. */
int format_choose_json(struct common_options *request, const char *name);

/* The same among the formats of a table: sets *format, and request->json where that is JSON, which is a report. Without
 * an output, a terminal gets aligned columns. */
int format_choose_rows(struct common_options *request, int *format);

/* Whether people read what is written: on a terminal, without -o, --format and --json. */
bool format_is_for_people(const struct common_options *request);

/* Of a table that `option` ("--log") names the file of; NULL: none. `otherwise`, where the ending says nothing. */
int format_of_table(const struct common_options *request, const char *option, const char *path,
                    enum rows_format otherwise, int *format);

/* Of lines of the user's file `data`, whose format may be known from its first line only: 0, or options_wrong(): the
 * name of the output, which `option` gave, is that of another format. */
int format_of_lines(const struct common_options *request, const char *option, const char *path, const char *data,
                    enum records_format format);

/* The format that a file's ending stands for, if it is a known one: "csv". NULL: it is not, or the file is a device. */
const char *format_of_ending(const char *path);

#endif
