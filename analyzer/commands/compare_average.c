/* compare_average.c: see compare_average.h; what the columns are, dynamics/aggregate.h says. */
#include "compare_average.h"

#include "dynamics/aggregate.h"
#include "output/table.h"

enum { FORMAT_CSV, FORMAT_JSONL, FORMAT_NPY };
const char *const compare_average_formats[COMPARE_AVERAGE_FORMATS] = {"csv", "jsonl", "npy"};

static int
write_table(const struct options *options, int format, const struct dynamics *dynamics, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, options->common.output, error);

	if (code < 0)
		return code;
	if (format == FORMAT_NPY)
		code = table_write_npy(&output, dynamics, dynamics->order, dynamics->count, error);
	else if (format == FORMAT_JSONL)
		table_write_jsonl(&output, dynamics, dynamics->order, dynamics->count);
	else
		table_write_csv(&output, dynamics, dynamics->order, dynamics->count);
	if (code < 0) {
		output_discard(&output);
		return code;
	}
	return output_finish(&output, error);
}

int
compare_average(const struct options *options, int format, struct portolan_error *error)
{
	const struct dynamics_request request = {.measures = MEASURE_ALL, .gold = true, .user = true};
	struct aggregate_report report;
	struct dynamics dynamics;
	int status = dynamics_load_aggregate(&dynamics, &options->common, options->operands,
	                                     (size_t)options->operand_count, &request, &report, error);

	if (status < 0)
		return status;
	status = write_table(options, format, &dynamics, error);
	if (status >= 0) {
		dynamics_report_first_epoch(&dynamics);
		status = aggregate_report_gaps(&report, options->common.strict);
	}
	dynamics_free(&dynamics);
	return status;
}
