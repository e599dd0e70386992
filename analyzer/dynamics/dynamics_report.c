/* dynamics_report.c: errors for runs that lack the data a command needs. */
#include "dynamics.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

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
dynamics_no_measure(const struct dynamics *dynamics, const char *option, const char *measure,
                    struct portolan_error *error)
{
	const char *run = dynamics->info->name, *before = option ? option : "", *colon = option ? ": " : "";

	if (strcmp(measure, measure_infos[MEASURE_TDDS].name) == 0 && dynamics->class_count == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s%stdds is of whole distributions, and run '%s' was recorded without: log each class's "
		                 "probability as columns of your own, prob_0, prob_1, …",
		                 before, colon, run);
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (measure_infos[m].windows && strcmp(measure, measure_infos[m].name) == 0)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s%s%s is of windows of %zu epochs, and run '%s' has %zu here: ask for "
			                 "shorter windows with --window",
			                 before, colon, measure, dynamics->window, run, dynamics->epoch_count);
	return error_set(error, PORTOLAN_E_INVALID, "%s%srun '%s' was recorded without the signal that %s needs: log %s",
	                 before, colon, run, measure, strcmp(measure, "aum") == 0 ? "logits" : "logits or probabilities");
}
