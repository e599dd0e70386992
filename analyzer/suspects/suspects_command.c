/* suspects_command.c: the command `portolan suspects`, which prints one ranked list of examples whose label is likely
 * wrong: its options, and what runs it. */
#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "options/format.h"
#include "suspects_list.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

struct suspects_options {
	struct common_options common;
	int format; /* enum table_format */
	struct suspects_data data;
	const char *corrections, *flips;
	bool overwrite, all;
	double fraction;
	uint64_t count;
};

static int
suspects_take_texts(void *context, char *text)
{
	struct suspects_options *request = context;

	request->data.field_count = options_split(text, SUSPECTS_TEXTS_MAX, request->data.fields);
	for (size_t i = 1; i < request->data.field_count; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(request->data.fields[i], request->data.fields[j]) == 0)
				return options_wrong(&request->common, "--text names '%s' twice",
				                     request->data.fields[i]);
	if (request->data.field_count > 0)
		return 0;
	return options_wrong(&request->common, "--text takes names of fields, with commas between them, %d at most",
	                     SUSPECTS_TEXTS_MAX);
}

/* A file of corrections holds a person's work: it is not replaced unasked. */
static int
suspects_check_corrections(const struct suspects_options *request)
{
	const char *path = request->corrections;
	struct stat there;

	if (strcmp(path, "-") == 0)
		return options_wrong(&request->common, "--corrections: name a file to be edited");
	if (!request->overwrite && lstat(path, &there) == 0)
		return options_wrong(&request->common,
		                     "--corrections: %s exists, and may have been edited: name another file, or add "
		                     "--overwrite to lose what is in it",
		                     path);
	return format_of_one(&request->common, "--corrections", path, "tsv");
}

static int
suspects_check_request(void *context, struct portolan_error *error)
{
	struct suspects_options *request = context;
	const struct common_options *common = &request->common;

	(void)error;
	if (request->data.path && strcmp(request->data.path, "-") == 0 && request->data.field_count == 0)
		return options_wrong(common, "--data -: which fields are to be shown? --text FIELD[,FIELD]");
	if (request->corrections && suspects_check_corrections(request) != 0)
		return STATUS_USAGE;
	if (!option_given(common, "format"))
		return format_choose_rows(&request->common, &request->format);
	return format_choose(common, table_format_names, &request->format);
}

/* How many of the ranked examples are listed. */
static size_t
suspects_size(const struct suspects_options *request, const struct suspects *suspects)
{
	size_t size = suspects->called;

	if (option_given(&request->common, "count"))
		size = request->count < suspects->count ? (size_t)request->count : suspects->count;
	else if (option_given(&request->common, "fraction"))
		size = (size_t)floor(request->fraction * (double)suspects->count + 0.5);
	else if (request->all)
		size = suspects->count;
	return size;
}

static void
suspects_report(const struct suspects_options *request, const struct suspects *suspects,
                const struct calibration *calibration, const struct suspects_list *list)
{
	struct report report;

	must(report_open(&report, request->common.output, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", request->common.operands[0]);
	suspects_report_method(&report, suspects);
	calibration_report(&report, calibration);
	table_report(&report, "suspects", &list->table);
	report_end(&report);
	must(report_close(&report, &failure));
}

static void
suspects_write(const struct suspects_options *request, const struct suspects *suspects,
               const struct calibration *calibration, struct suspects_list *list)
{
	if (request->common.json) {
		suspects_report(request, suspects, calibration, list);
		return;
	}
	list->table.excerpt = option_given(&request->common, "count") ? NULL : "suspects";
	must(table_write(&list->table, request->common.output, (enum table_format)request->format, &failure));
}

static int
suspects_run(void *context, struct portolan_error *error)
{
	const struct suspects_options *request = context;
	const struct common_options *common = &request->common;
	CLEANUP(dynamics_free) struct dynamics dynamics = {0};
	CLEANUP(suspects_free) struct suspects suspects = {.ranked = NULL};
	CLEANUP(suspects_list_free) struct suspects_list list = {.rows = NULL};
	CLEANUP(calibration_free) struct calibration calibration = {.flips = 0};
	CLEANUP(flips_free) struct flips flips = {.count = 0};
	const struct calibration *calibrated = request->flips ? &calibration : NULL;
	struct dynamics_request wanted = {.gold = true};
	uint64_t missing;
	int status;

	(void)error;
	suspects_request(&wanted);
	must(dynamics_load(&dynamics, &common->query, common->operands[0], &wanted, &failure));
	must(suspects_check(&dynamics, &failure));
	suspects_find(&suspects, &dynamics);
	if (request->flips) {
		flips = flips_read("--flips", request->flips, &dynamics, FLIPS_NEW);
		calibration_make(&calibration, &suspects, &dynamics, &flips);
	}
	suspects_list_make(&list, &suspects, calibrated, &dynamics, suspects_size(request, &suspects), &request->data);
	suspects_write(request, &suspects, calibrated, &list);
	suspects_say(&suspects);
	if (calibrated)
		calibration_say(calibrated, suspects.called);
	if (request->corrections)
		suspects_list_correct(&list, &dynamics, request->corrections);
	if (suspects.left_out > 0)
		message_warning("left out, as no label or no value was recorded for them: %s examples",
		                NUMBER_GROUPED(suspects.left_out));
	if (list.missing > 0)
		message_warning("not in %s: %s of the %s listed ids", request->data.path, NUMBER_GROUPED(list.missing),
		                NUMBER_GROUPED(list.table.rows));
	status = dynamics_report(&dynamics, common->strict);
	missing = suspects.left_out + list.missing + flips.unknown;
	return status == STATUS_DONE && common->strict && missing > 0 ? STATUS_INCOMPLETE : status;
}

#define TO(member) .offset = offsetof(struct suspects_options, member)
static const struct option_spec options[] = {
        {"all", NULL, OPTION_FLAG, TO(all), .excludes = "count fraction", .often = true},
        {"count", "N", OPTION_WHOLE, TO(count), .least = 1, .excludes = "fraction", .often = true},
        {"fraction", "F", OPTION_REAL, TO(fraction), .range = RANGE_ABOVE_TO, .to = 1},
        {"data", "FILE", OPTION_INPUT, TO(data.path), .needs = "id-field", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(data.id_field), .needs = "data", .often = true},
        {"text", "FIELD[,FIELD]", OPTION_TEXT, .take = suspects_take_texts, .needs = "data", .excludes = "text",
         .often = true},
        {"glue", NULL, OPTION_FLAG, TO(data.glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"flips", "FILE", OPTION_INPUT, TO(flips), .often = true},
        {"corrections", "FILE", OPTION_OUTPUT, TO(corrections), .often = true},
        {"overwrite", NULL, OPTION_FLAG, TO(overwrite), .needs = "corrections", .group = OPTION_GROUP_OUTPUT},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = table_format_names, .excludes = "json",
         .group = OPTION_GROUP_OUTPUT},
        {0},
};

static const struct suspects_options defaults = {.format = -1};

extern const struct help help_suspects;

const struct command suspects_command = {
        .name = "suspects",
        .operands = "RUN",
        .help = &help_suspects,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct suspects_options),
        .defaults = &defaults,
        .check = suspects_check_request,
        .run = suspects_run,
};
