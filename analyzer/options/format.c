/*
 * format.c: chooses the format in which a command writes, from --format and the ending of the output's name (format.h).
 *
 * An ending is the letters and digits after the last dot of a file's name. A number is none (hard-0.1), and a device
 * has none. For an output, the endings are known of the formats that the command can write there; txt stands for its
 * default. Any other ending is refused, with a list of the known ones. It is allowed if --format says the format, and
 * no format of `portolan` or of another program has that ending.
 */
#include "format.h"

#include "base/number.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_ROOM 256 /* bytes for a list of endings */
#define MKTEMP_LENGTH 10

static const char *const formats[] = {
        "csv",     "tsv", "jsonl", "ndjson", "json", "npy", "npz",  "parquet", "arrow",
        "feather", "h5",  "hdf5",  "xlsx",   "pkl",  "pt",  "html", "xml",     "png",
        "svg",     "pdf", "gif",   "gz",     "zst",  "bz2", "xz",   "zip",     "md",
};

/* An ending that is that of a format is spelled as in the list. */
const char *
format_of_ending(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
	const char *dot = path ? strrchr(name, '.') : NULL;
	struct stat status;
	size_t length = 0;
	double number;

	while (dot && isalnum((unsigned char)dot[1 + length]))
		length++;
	if (length == 0 || dot == name || dot[1 + length] || number_parse(dot + 1, &number) ||
	    (length == MKTEMP_LENGTH && dot == name + 3 && strncmp(name, "tmp", 3) == 0) ||
	    (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
		return NULL;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcasecmp(dot + 1, formats[i]) == 0)
			return strcmp(formats[i], "ndjson") == 0 ? "jsonl" : formats[i];
	return strcasecmp(dot + 1, "txt") == 0 ? NULL : dot + 1;
}

static bool
format_is_known(const char *ending)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(ending, formats[i]) == 0)
			return true;
	return false;
}

/* Lists the endings for an error: "csv, tsv, jsonl, npy"; "txt" stands for a default that has no ending. */
static void
format_list_endings(char list[NAMES_ROOM], const char *const *names)
{
	size_t used = 0;

	for (size_t f = 0; names[f] && used < NAMES_ROOM; f++)
		if (f == 0 || format_is_known(names[f]))
			used += (size_t)snprintf(list + used, NAMES_ROOM - used, "%s%s", f ? ", " : "",
			                         format_is_known(names[f]) ? names[f] : "txt");
}

/* The ending that fits a format: the tables of other programs are jsonl or csv, but formats of their own here. */
static const char *
format_kind_of(const char *format)
{
	return strcmp(format, "cartography") == 0 ? "jsonl" : strcmp(format, "aum") == 0 ? "csv" : format;
}

/* Chooses the format of `path`, which `option` ("-o") gave. `otherwise`: the format without an ending, and for txt. */
static int
format_choose_among(const struct common_options *request, const char *option, const char *path,
                    const char *const *names, int otherwise, int *format)
{
	const char *ending = format_of_ending(path);
	char list[NAMES_ROOM];

	if (!ending || (*format >= 0 && !format_is_known(ending))) {
		*format = *format < 0 ? otherwise : *format;
		return 0;
	}
	if (*format >= 0) {
		const char *other = option_given(request, "format") ? "--format" : "--json";

		if (strcmp(format_kind_of(names[*format]), ending) == 0)
			return 0;
		return options_wrong(request, "%s %s is %s by its name, and %s by %s: leave out %s, or change the name",
		                     option, path, ending, names[*format], other, other);
	}
	for (int f = 0; names[f]; f++) {
		if (strcmp(names[f], ending) == 0) {
			*format = f;
			return 0;
		}
	}
	format_list_endings(list, names);
	return options_wrong(request, "%s %s: cannot write %s; there are: %s", option, path, ending, list);
}

int
format_choose(const struct common_options *request, const char *const *names, int *format)
{
	return format_choose_among(request, "-o", request->output, names, 0, format);
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
	                                    "npy", "json", NULL}; /* table_format_names, and json */
	int json = (int)TABLE_COUNT(names) - 2, status;

	*format = request->json ? json : -1;
	status = format_choose(request, names, format);
	request->json = *format == json;
	if (status == 0 && format_is_for_people(request))
		*format = TABLE_ALIGNED;
	return status;
}

int
format_of_table(const struct common_options *request, const char *option, const char *path, enum table_format otherwise,
                int *format)
{
	*format = -1;
	return format_choose_among(request, option, path, table_format_names, (int)otherwise, format);
}

int
format_of_one(const struct common_options *request, const char *option, const char *path, const char *name)
{
	const char *const names[] = {name, NULL};
	int format = -1;

	return format_choose_among(request, option, path, names, 0, &format);
}

int
format_of_lines(const struct common_options *request, const char *option, const char *path, const char *data,
                enum table_format format)
{
	const char *ending = format_of_ending(path), *own = format_of_ending(data);

	if (!ending || strcmp(ending, table_format_names[format]) == 0 || (own && strcmp(ending, own) == 0))
		return 0;
	if (!format_is_known(ending))
		return format_of_one(request, option, path, table_format_names[format]);
	return options_wrong(request, "%s %s is %s by its name, and the lines of %s are %s: change the name", option,
	                     path, ending, data, table_format_names[format]);
}
