/* dynamics_report.c: tells the user what a run lacks: errors where it lacks what a command needs, and warnings where it
 * is incomplete. For every command that works with a run (declared in dynamics.h). */
#include "dynamics.h"

#include "base/message.h"
#include "base/number.h"
#include "base/status.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* Describes the epochs of the whole run: "epochs 0 to 4", "epoch 3", or "epochs 0 to 100, with gaps". */
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
dynamics_needs_labels(const struct dynamics *dynamics, struct portolan_error *error)
{
	return error_set(
	        error, PORTOLAN_E_INVALID,
	        "run '%s' records losses (log_loss), which have no labels, and this is about the probabilities of "
	        "labels: portolan help metrics says what such a run has",
	        dynamics->info->name);
}

int
dynamics_no_measure(const struct dynamics *dynamics, const char *option, const char *measure,
                    struct portolan_error *error)
{
	const char *run = dynamics->info->name, *before = option ? option : "", *colon = option ? ": " : "";

	if (dynamics->info->of_losses) {
		const int known = measure_find(measure);
		const bool asks_right = known >= 0 && measure_infos[known].runs & MEASURE_OF_CROSSINGS;

		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s%srun '%s' records losses (log_loss), and %s %s; it has task_loss, variability, "
		                 "detrended_variability, learning_speed and loss_ema",
		                 before, colon, run, measure,
		                 asks_right ? "asks when an example is right: --loss-threshold T says that"
		                            : "needs a label");
	}
	if (strcmp(measure, measure_infos[MEASURE_TDDS].name) == 0 && dynamics->class_count == 0)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s%stdds is of whole distributions, and run '%s' was recorded without: log each class's "
		        "probability as columns of your own, prob_0, prob_1, …, or their moves as tdds_move (in Python: "
		        "portolan.TddsMoves)",
		        before, colon, run);
	for (unsigned m = 0; m < MEASURE_COUNT; m++)
		if (measure_infos[m].windows && strcmp(measure, measure_infos[m].name) == 0)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s%s%s is of windows of %zu epochs, and run '%s' has %zu here: ask for "
			                 "shorter windows with --window",
			                 before, colon, measure, dynamics->window, run, dynamics->epoch_count);
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s%srun '%s' was recorded without the signal that %s needs: log %s", before, colon, run,
	                 measure, strcmp(measure, "aum") == 0 ? "logits" : "logits or probabilities");
}

static bool
warn_of_recording(const struct dynamics *dynamics)
{
	const struct store_run_info *info = dynamics->info;
	bool is_recording = info->state == STORE_RECORDING, says = verdict_warn(&dynamics->verdict, info->name);

	if (is_recording)
		message_warning("run '%s' is still being recorded; this is what is stored so far", info->name);
	return is_recording || says;
}

int
dynamics_report_run(const struct dynamics *dynamics, bool strict)
{
	return warn_of_recording(dynamics) && strict ? STATUS_INCOMPLETE : STATUS_DONE;
}

/* Says which of the user's columns have mean_ put before their names, as measures have these names, if such a column or
 * measure is among the columns. */
static void
note_renamed(const struct dynamics *dynamics)
{
	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++) {
		const char *name = store_snapshot_column_name(dynamics->snapshot, c);
		char renamed[sizeof(dynamics->columns[0].name)];

		if (!name || !dynamics_is_reserved(name))
			continue;
		snprintf(renamed, sizeof(renamed), "mean_%s", name);
		if (dynamics_column(dynamics, name) || dynamics_column(dynamics, renamed))
			message_warning(
			        "run '%s' has a column '%s' of its own, which is called %s here: %s is portolan's",
			        dynamics->info->name, name, renamed, name);
	}
}

int
dynamics_report(const struct dynamics *dynamics, bool strict)
{
	const struct store_run_info *info = dynamics->info;
	bool incomplete = warn_of_recording(dynamics);

	note_renamed(dynamics);
	if (info->declared > dynamics->count) {
		message_warning("not observed in these epochs: %s of the %s declared examples",
		                NUMBER_GROUPED(info->declared - dynamics->count), NUMBER_GROUPED(info->declared));
		incomplete = true;
	}
	if (dynamics->gaps > 0) {
		message_warning("not observed in all %zu epochs: %s of %s examples; their measures use what was seen",
		                dynamics->epoch_count, NUMBER_GROUPED(dynamics->gaps), NUMBER_GROUPED(dynamics->count));
		incomplete = true;
	}
	return incomplete && strict ? STATUS_INCOMPLETE : STATUS_DONE;
}

/* Warns if the common trend is most of the variance within examples, and says from which epoch on it is not. What
 * --epochs auto has cut is cut no further. */
static void
warn_of_trend(const struct dynamics *dynamics)
{
	struct trend_advice advice = trend_advise(dynamics->trend, dynamics->epoch_count);
	bool is_cut = dynamics->range_chosen && dynamics->epoch_from > 0;
	char mend[96];

	if (!advice.is_mostly_trend)
		return;
	if (advice.has_mend && !is_cut)
		snprintf(mend, sizeof(mend), "try --epochs %u:, over which it is %.0f%%",
		         dynamics->epochs[advice.first], 100 * advice.later);
	else
		snprintf(mend, sizeof(mend), "the later epochs are no better: choose by something else");
	message_warning("run '%s': %.0f%% of the variance within examples is the common trend, the learning that all "
	                "share: variability then shows late learning, not ambiguity; %s",
	                dynamics->info->name, 100 * advice.share, mend);
}

void
dynamics_report_variability(const struct dynamics *dynamics, uint32_t measures)
{
	if (!(measures & MEASURE_BIT(MEASURE_VARIABILITY)))
		return;
	if (dynamics->epoch_count == 1)
		message_warning(
		        "run '%s': with one epoch, %u, every variability is 0: take more epochs, or go by %s (select --by %s)",
		        dynamics->info->name, dynamics->epochs[0],
		        dynamics->info->of_losses ? "the mean loss" : "confidence",
		        dynamics->info->of_losses ? "task_loss:desc" : "confidence:asc");
	if (dynamics->trend && (!dynamics->range_given || dynamics->range_chosen))
		warn_of_trend(dynamics);
}
