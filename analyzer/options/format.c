/* format.c: see format.h. The list has endings of other programs' formats too, so that no file gets one by mistake. */
#include "format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const endings[] = {
        "csv", "tsv", "jsonl", "ndjson", "json", "npy", "npz", "parquet", "arrow", "feather", "h5",  "hdf5", "xlsx",
        "pkl", "pt",  "html",  "xml",    "png",  "svg", "pdf", "gif",     "gz",    "zst",     "bz2", "xz",   "zip",
};

const char *
format_of_ending(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
	const char *dot = path ? strrchr(name, '.') : NULL;
	struct stat status;

	if (!dot || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
		return NULL;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcasecmp(dot + 1, endings[i]) == 0)
			return strcmp(endings[i], "ndjson") == 0 ? "jsonl" : endings[i];
	return NULL;
}

/* The kind of file for a format: other programs' tables are formats of their own here. */
static const char *
kind_of(const char *format)
{
	return strcmp(format, "cartography") == 0 ? "jsonl" : strcmp(format, "aum") == 0 ? "csv" : format;
}

/* Of `path`, which `option` ("-o") gave. */
static int
choose(const struct common_options *request, const char *option, const char *path, const char *const *names,
       int *format)
{
	const char *ending = format_of_ending(path);
	char all[256] = "";

	if (!ending) {
		*format = *format < 0 ? 0 : *format;
		return 0;
	}
	if (*format >= 0) {
		const char *other = option_given(request, "format") ? "--format" : "--json";

		if (strcmp(kind_of(names[*format]), ending) == 0)
			return 0;
		return options_wrong(request, "%s %s is %s by its name, and %s by %s: leave out %s, or change the name",
		                     option, path, ending, names[*format], other, other);
	}
	for (int f = 0; names[f]; f++) {
		size_t used = strlen(all);

		if (strcmp(names[f], ending) == 0) {
			*format = f;
			return 0;
		}
		snprintf(all + used, sizeof(all) - used, "%s%s", f ? ", " : "", names[f]);
	}
	return options_wrong(request, "%s %s: cannot write %s; there are: %s", option, path, ending, all);
}

int
format_choose(const struct common_options *request, const char *const *names, int *format)
{
	return choose(request, "-o", request->output, names, format);
}

int
format_choose_json(struct common_options *request, const char *name)
{
	const char *const names[] = {name, "json", NULL};
	int format = request->json ? 1 : -1, status = format_choose(request, names, &format);

	request->json = format == 1;
	return status;
}

bool
format_is_for_people(const struct common_options *request)
{
	return !request->output && !request->json && !option_given(request, "format") && isatty(STDOUT_FILENO);
}

int
format_choose_rows(struct common_options *request, int *format)
{
	static const char *const names[] = {"csv", "tsv",  "jsonl",
	                                    "npy", "json", NULL}; /* rows_format_names, and json */
	int json = (int)ROWS_COUNT(names) - 2, status;

	*format = request->json ? json : -1;
	status = format_choose(request, names, format);
	request->json = *format == json;
	if (status == 0 && format_is_for_people(request))
		*format = ROWS_ALIGNED;
	return status;
}

int
format_of_table(const struct common_options *request, const char *option, const char *path, enum rows_format otherwise,
                int *format)
{
	*format = format_of_ending(path) ? -1 : (int)otherwise;
	return path ? choose(request, option, path, rows_format_names, format) : 0;
}

int
format_of_lines(const struct common_options *request, const char *option, const char *path, const char *data,
                enum records_format format)
{
	static const char *const names[] = {[RECORDS_JSONL] = "jsonl", [RECORDS_CSV] = "csv", [RECORDS_TSV] = "tsv"};
	const char *ending = format_of_ending(path), *own = format_of_ending(data);

	if (!ending || strcmp(ending, names[format]) == 0 || (own && strcmp(ending, own) == 0))
		return 0;
	return options_wrong(request, "%s %s is %s by its name, and the lines of %s are %s: change the name", option,
	                     path, ending, data, names[format]);
}
