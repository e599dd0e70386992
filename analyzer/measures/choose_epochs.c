/*
 * choose_epochs.c: --epochs auto: leaves out leading epochs as long as the first remaining one dominates the variance,
 * by the same statistic and threshold as the warning of dynamics_report_variability().
 */
#include "scan.h"

#include "base/message.h"

int
dynamics_choose_epochs(const struct dynamics *dynamics, struct run_query *query, const char *run,
                       struct portolan_error *error)
{
	const struct dynamics_request request = {.measures = MEASURE_BIT(MEASURE_VARIABILITY)};
	const struct scan_steps no_steps = {0};
	bool is_first = true, again = true;
	uint32_t first = 0;

	query->epochs_auto = false;
	while (again) {
		struct dynamics rest;
		int code = dynamics_open_beside(&rest, dynamics, query, run, &request, error);

		if (code < 0)
			return code;
		code = scan_run(&rest, &no_steps, error);
		first = is_first ? rest.epochs[0] : first;
		is_first = false;
		again = code >= 0 && measures_first_epoch_dominates(&rest.first_epoch, rest.epoch_count);
		if (again)
			query->epoch_from = rest.epochs[1];
		else if (code >= 0)
			message_note("run '%s': --epochs auto takes epochs %u to %u of %u to %u", run, rest.epochs[0],
			             rest.epochs[rest.epoch_count - 1], first, rest.epochs[rest.epoch_count - 1]);
		dynamics_free(&rest);
		if (code < 0)
			return code;
	}
	return 0;
}
