/* options.h: says what portoland's command line asks for, for main.c and the server. Pure: prints nothing. */
#ifndef COLLECTOR_OPTIONS_H
#define COLLECTOR_OPTIONS_H

#include "address.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OPTIONS_MAX_LISTEN 16

enum options_command {
	OPTIONS_SERVE,
	OPTIONS_IMPORT,
	OPTIONS_REMOVE,
	OPTIONS_KEYGEN,
	OPTIONS_BACKUP,
	OPTIONS_SALVAGE,
	OPTIONS_HELP,
	OPTIONS_VERSION
};

struct options {
	enum options_command command;
	const char *store;
	/* serve */
	struct address listen[OPTIONS_MAX_LISTEN];
	size_t listen_count;
	const char *keys; /* directory; NULL: none */
	size_t max_memory, max_texts;
	int64_t idle_ms; /* < 0: never end by itself */
	bool detach, group_readable;
	pid_t starter; /* --starter: the parent process; go on in the background, and end when it ends; 0: not given */
	/* import (path, run, overwrite), rm (run), keygen (path, client), backup (path), salvage (path, output, json) */
	const char *path, *run, *client, *output;
	bool overwrite, json;
	/* all but serve */
	bool quiet, verbose;
	/* --help, --version: what is asked for in place of the command */
	bool help, version;
};

extern const char *const options_help; /* help.txt */

/* `argv` is permuted, and outlives the options. Any failure means wrong usage: one line in `error`. */
int options_parse(struct options *options, int argc, char **argv, struct portolan_error *error);

#endif
