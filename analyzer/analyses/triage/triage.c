/* triage.c: portolan triage: which examples of a regression the model over- and under-estimates, beside a calibration
 * set (triage_scores.h). */
#include "triage_scores.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "options/format.h"
#include "options/options.h"
#include "output/report.h"
#include "output/table.h"

struct triage_request {
	struct common_options common;
	const char *calibration, *sigma;
	double low, share;
	int format; /* of the table; see common.json */
};

static int
triage_check(void *context, struct portolan_error *error)
{
	struct triage_request *request = context;

	(void)error;
	if (!request->calibration)
		return options_wrong(&request->common, "beside which calibration run? --calibration RUN");
	return format_choose_rows(&request->common, &request->format);
}

static void
triage_report(const struct triage_request *request, const struct dynamics *calibration, const struct table *table,
              const size_t groups[TRIAGE_GROUPS])
{
	struct report report;

	must(report_open(&report, request->common.output, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", request->common.operands[0]);
	report_text(&report, "calibration", request->calibration);
	report_whole(&report, "calibration_examples", calibration->count);
	report_begin(&report, "groups");
	for (size_t g = 0; g < TRIAGE_GROUPS; g++)
		report_whole(&report, triage_group_names[g], groups[g]);
	report_end(&report);
	table_report(&report, "examples", table);
	report_end(&report);
	must(report_close(&report, &failure));
}

static void
triage_write(const struct triage_request *request, const struct dynamics *run, const struct dynamics *calibration,
             const struct triage_row *rows, size_t count)
{
	const struct table_column columns[] = {
	        {"id", TABLE_ID_AT, offsetof(struct triage_row, row), .of = &run->ids, .is_name = true},
	        {"epochs", TABLE_U32, offsetof(struct triage_row, epochs), .npy = "<u4"},
	        {"score", TABLE_F64, offsetof(struct triage_row, score)},
	        {"variability", TABLE_F64, offsetof(struct triage_row, variability)},
	        {"residual", TABLE_F64, offsetof(struct triage_row, residual)},
	        {"group", TABLE_WORD, offsetof(struct triage_row, group), .of = triage_group_names},
	};
	struct table table = TABLE_OF(columns, rows, count);
	size_t groups[TRIAGE_GROUPS] = {0};

	table.excerpt = "examples";
	for (size_t i = 0; i < count; i++)
		groups[rows[i].group]++;
	if (request->common.json)
		triage_report(request, calibration, &table, groups);
	else
		must(table_write(&table, request->common.output, (enum table_format)request->format, &failure));
	message_note("%s under-estimated, %s well-estimated, %s over-estimated, beside %s calibration examples",
	             NUMBER_GROUPED(groups[TRIAGE_UNDER]), NUMBER_GROUPED(groups[TRIAGE_WELL]),
	             NUMBER_GROUPED(groups[TRIAGE_OVER]), NUMBER_GROUPED(calibration->count));
}

static int
triage_run(void *context, struct portolan_error *error)
{
	const struct triage_request *request = context;
	const struct common_options *common = &request->common;
	CLEANUP(dynamics_free) struct dynamics run = {0};
	CLEANUP(dynamics_free) struct dynamics calibration = {0};
	CLEANUP_ARRAY struct triage_row *rows = NULL;
	size_t count, left_out;
	int status, other;

	(void)error;
	triage_open(&run, NULL, &common->query, common->operands[0]);
	triage_open(&calibration, &run, &common->query, request->calibration);
	rows = memory_array(run.count, sizeof(*rows), "scores");
	count = triage_score(&run, &calibration, request->sigma, rows, &left_out);
	if (count == 0)
		die("run '%s' has no epoch at which '%s' has predictions, too", run.info->name, calibration.info->name);
	triage_group(rows, count, request->low, request->share);
	triage_write(request, &run, &calibration, rows, count);
	if (left_out > 0)
		message_warning("left out, as they have no prediction at an epoch that '%s' has: %s examples",
		                calibration.info->name, NUMBER_GROUPED(left_out));
	status = dynamics_report(&run, common->strict);
	other = dynamics_report(&calibration, common->strict);
	status = other > status ? other : status;
	return status == STATUS_DONE && common->strict && left_out > 0 ? STATUS_INCOMPLETE : status;
}

#define TO(member) .offset = offsetof(struct triage_request, member)
static const struct option_spec options[] = {
        {"calibration", "RUN", OPTION_RUN, TO(calibration), .often = true},
        {"sigma", "COLUMN", OPTION_TEXT, TO(sigma)},
        {"low", "T", OPTION_REAL, TO(low), .range = RANGE_FROM_BELOW, .to = 0.5, .group = OPTION_GROUP_HOW},
        {"steady", "F", OPTION_REAL, TO(share), .range = RANGE_ABOVE_TO, .to = 1, .group = OPTION_GROUP_HOW},
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = table_format_names,
         .group = OPTION_GROUP_OUTPUT},
        {0},
};
#undef TO

static const struct triage_request defaults = {.low = 0.33, .share = 0.75, .format = -1};

extern const struct help help_triage;

const struct command triage_command = {
        .name = "triage",
        .operands = "RUN --calibration RUN",
        .help = &help_triage,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct triage_request),
        .defaults = &defaults,
        .check = triage_check,
        .run = triage_run,
};
