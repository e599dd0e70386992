/* dynamics_report.c: what a command says of a run whose data are incomplete, too much, or not what variability is
 * meant for. */
#include "dynamics.h"

#include "program/message.h"
#include "program/number.h"

#include <portolan/error.h>

#include <stdlib.h>

/* "epochs 0 to 4", "epoch 3", or "epochs 0 to 100, with gaps"; of the whole run. */
static void
describe_epochs(const struct dynamics *dynamics, char text[64])
{
	struct store_epoch *epochs;
	size_t count;

	snprintf(text, 64, "others");
	if (store_epochs(dynamics->store, dynamics->info->number, &epochs, &count, NULL) < 0)
		return;
	if (count == 1)
		snprintf(text, 64, "epoch %u", epochs[0].epoch);
	else if (count > 1)
		snprintf(text, 64, "epochs %u to %u%s", epochs[0].epoch, epochs[count - 1].epoch,
		         epochs[count - 1].epoch - epochs[0].epoch + 1 == count ? "" : ", with gaps");
	free(epochs);
}

int
dynamics_no_observations(const struct dynamics *dynamics, struct portolan_error *error)
{
	const struct store_run_info *info = dynamics->info;
	char has[64], asked[64];

	if (info->epochs == 0 && info->state == STORE_RECORDING)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' is being recorded, but nothing is stored yet: try again later", info->name);
	if (info->epochs == 0)
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no observations", info->name);
	describe_epochs(dynamics, has);
	if (dynamics->epoch_to == UINT32_MAX)
		snprintf(asked, sizeof(asked), "from epoch %u on", dynamics->epoch_from);
	else if (dynamics->epoch_to - dynamics->epoch_from == 1)
		snprintf(asked, sizeof(asked), "in epoch %u", dynamics->epoch_from);
	else
		snprintf(asked, sizeof(asked), "in epochs %u to %u", dynamics->epoch_from, dynamics->epoch_to - 1);
	return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no observations %s; it has %s", info->name, asked,
	                 has);
}

int
dynamics_report_gaps(const struct dynamics *dynamics, bool strict)
{
	const struct store_run_info *info = dynamics->info;
	char some[NUMBER_ROOM], all[NUMBER_ROOM];
	bool incomplete = false;

	if (info->state == STORE_RECORDING) {
		message_warning("run '%s' is still being recorded; this is what is stored so far", info->name);
		incomplete = true;
	}
	if (info->declared > dynamics->count) {
		number_print_grouped(info->declared - dynamics->count, some);
		number_print_grouped(info->declared, all);
		message_warning("not observed in these epochs: %s of the %s declared examples", some, all);
		incomplete = true;
	}
	if (dynamics->gaps > 0) {
		number_print_grouped(dynamics->gaps, some);
		number_print_grouped(dynamics->count, all);
		message_warning("not observed in all %zu epochs: %s of %s examples; their measures use what was seen",
		                dynamics->epoch_count, some, all);
		incomplete = true;
	}
	return incomplete && strict ? STATUS_INCOMPLETE : STATUS_DONE;
}

void
dynamics_report_first_epoch(const struct dynamics *dynamics)
{
	const struct measures_first_epoch *sums = &dynamics->first_epoch;

	if (dynamics->range_given || !measures_first_epoch_dominates(sums, dynamics->epoch_count))
		return;
	message_warning(
	        "%.0f%% of the variance is the difference between epoch %u and the later ones, as when training from "
	        "scratch: variability then shows what was learned late, not what is ambiguous; try --epochs %u:",
	        100 * sums->first / sums->total, dynamics->epochs[0], dynamics->epochs[0] + 1);
}
