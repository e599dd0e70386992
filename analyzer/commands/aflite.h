/* aflite.h: what portolan aflite was asked for. */
#ifndef COMMANDS_AFLITE_H
#define COMMANDS_AFLITE_H

#include "aflite/input.h"
#include "aflite/report.h"
#include "plot/picture.h"
#include "program/options.h"

struct aflite_request {
	struct options options;
	const char *features, *labels, *label_field, *run, *feature_ids, *groups, *group_field;
	const char *baseline, *checkpoint, *scores, *log, *plot;
	/* SIZE_MAX: not given */
	size_t target, partitions, train, slice;
	double threshold;
	int heuristic, ties;
	uint64_t seed;
	uint64_t max_memory; /* 0: what is free */
	bool without_manifest;
	struct picture picture; /* of plot */
};

struct aflite {
	const struct aflite_request *request;
	struct input input;
	struct filter filter;
	char *parameters; /* of the checkpoint */
	struct report_names names;
};

/* Writes every file that was asked for, and removes the checkpoint. */
int aflite_write(const struct aflite *aflite, struct portolan_error *error);

extern const struct command_option aflite_option_table[];

/* Both: 0, or what options_wrong() answers. */
int aflite_take_option(struct aflite_request *request, const struct command *command, int key, const char *text);
int aflite_check_options(struct aflite_request *request, const struct command *command);

/* Sizes for so many examples. */
struct filter_options aflite_filter_options(const struct aflite_request *request, size_t examples);

#endif
