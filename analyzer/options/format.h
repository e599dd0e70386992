/* format.h: in which of its formats a command writes: as the ending of the output's name says, or --format. */
#ifndef OPTIONS_FORMAT_H
#define OPTIONS_FORMAT_H

#include "options.h"

/*
 * Chooses among `names` (ends with NULL; the first is the default) for request->output: *format is −1, or what --format
 * said, and becomes the one to write. The ending decides; where it is none that is known, for .txt, standard output and
 * devices, the default is taken. 0, or options_wrong(): the ending is one that the command cannot write, or not that of
 * the format asked for.
 */
int format_choose(const struct common_options *request, const char *const *names, int *format);

/* The same for a command that writes `name`, or with --json a report: sets request->json. */
int format_choose_json(struct common_options *request, const char *name);

/* The format that a file's ending stands for, if it is a known one: "csv". NULL: it is not, or the file is a device. */
const char *format_of_ending(const char *path);

#endif
