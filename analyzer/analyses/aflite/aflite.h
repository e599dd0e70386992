/* aflite.h: what portolan aflite was asked for. */
#ifndef AFLITE_H
#define AFLITE_H

#include "input.h"
#include "options/options.h"
#include "plot/picture.h"
#include "report.h"

struct aflite_request {
	struct common_options common;
	struct input_request input; /* its common, kernels and threads are set when it is opened */
	const char *removed, *baseline, *checkpoint, *scores, *log, *plot;
	uint64_t target, partitions, train, slice; /* 0: not given */
	double threshold, ridge;
	int heuristic, ties;
	int log_format, scores_format; /* enum rows_format */
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

extern const struct option_spec aflite_option_table[];

/* command.check: options that do not go together. */
int aflite_check(void *request, struct portolan_error *error);

/* Sizes for so many examples. */
struct filter_options aflite_filter_options(const struct aflite_request *request, size_t examples);

#endif
