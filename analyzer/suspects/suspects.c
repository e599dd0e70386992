/*
 * suspects.c: ranks the labelled examples of a run by suspicion, and calls suspects (suspects.h).
 *
 * The ranking is by aum, the mean margin, where margins were recorded, else by confidence. The cut is that of confident
 * learning.
 */
#include "suspects.h"

#include "base/message.h"
#include "base/number.h"
#include "base/sort.h"
#include "confident.h"
#include "die/die.h"
#include "die/memory.h"

#include <portolan/error.h>

#include <jansson.h>
#include <math.h>
#include <stdarg.h>

#define FEW_EPOCHS 3
#define MEMORISED 0.99 /* of the labels, with which the model agrees at the end */

const char *const suspects_doubt_names[SUSPECTS_DOUBTS] = {"memorised", "few-epochs", "no-margins", "no-classes",
                                                           "open"};

void
suspects_request(struct dynamics_request *request)
{
	request->measures |= CONFIDENT_MEASURES | MEASURE_BIT(MEASURE_AUM) | MEASURE_BIT(MEASURE_ALWAYS_RIGHT_AFTER);
	request->signals |= CONFIDENT_SIGNALS;
	request->gold = true;
}

int
suspects_check(const struct dynamics *dynamics, struct portolan_error *error)
{
	for (size_t i = 0; i < dynamics->count; i++)
		if (dynamics->gold[dynamics->order[i]] >= 0)
			return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "run '%s' has no gold labels, so none can be wrong: log them (gold=…) to have them judged",
	                 dynamics->info->name);
}

void
suspects_free(struct suspects *suspects)
{
	array_free(suspects->ranked);
	array_free(suspects->scores);
	array_free(suspects->is_called);
	array_free(suspects->suggested);
	*suspects = (struct suspects){.ranked = NULL};
}

__attribute__((format(printf, 3, 4))) static void
suspects_doubt(struct suspects *suspects, enum suspects_doubt_kind kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(suspects->doubts[suspects->doubt_count].text, sizeof(suspects->doubts->text), format, arguments);
	va_end(arguments);
	suspects->doubts[suspects->doubt_count++].kind = kind;
}

/* Does the run's config say that no model was trained on the labels that it judges? cross_val_track() adds
 * "cross_validation"; its runs of the rows that each fold trains on have "fold" as well. */
static bool
suspects_is_out_of_fold(const struct dynamics *dynamics)
{
	CLEANUP_FREE char *text = NULL;
	json_t *config;
	bool is;

	must(store_config(dynamics->store, dynamics->info->number, &text, &failure));
	config = json_loads(text, 0, NULL);
	is = json_is_true(json_object_get(config, "out_of_fold")) ||
	     (json_object_get(config, "cross_validation") && !json_object_get(config, "fold"));
	json_decref(config);
	return is;
}

/* The share of the observed examples that the model classifies as labelled when it sees them last. */
static double
suspects_final_accuracy(const struct dynamics *dynamics)
{
	const double *right = dynamics_measure(dynamics, MEASURE_ALWAYS_RIGHT_AFTER);
	size_t count = 0;

	for (size_t i = 0; i < dynamics->count; i++)
		count += !isnan(right[dynamics->order[i]]);
	return (double)count / (double)dynamics->count;
}

static void
suspects_add_doubts(struct suspects *suspects, const struct dynamics *dynamics, const struct confident *confident)
{
	double accuracy = suspects_final_accuracy(dynamics);

	if (!suspects->out_of_fold && accuracy >= MEMORISED)
		suspects_doubt(
		        suspects, SUSPECTS_MEMORISED,
		        "at the end the model agrees with %.1f%% of the labels that it was trained on, so it has "
		        "learned wrong labels as well: record out of fold, or look at earlier epochs (--epochs)",
		        100 * accuracy);
	if (!suspects->out_of_fold && dynamics->epoch_count < FEW_EPOCHS)
		suspects_doubt(suspects, SUSPECTS_FEW_EPOCHS,
		               "%zu epoch%s of training: %d or more show how a label is learned", dynamics->epoch_count,
		               dynamics->epoch_count == 1 ? "" : "s", FEW_EPOCHS);
	if (suspects->by != MEASURE_AUM)
		suspects_doubt(suspects, SUSPECTS_NO_MARGINS, "no margins were recorded: log logits to have them");
	if (!confident_is_possible(dynamics))
		suspects_doubt(
		        suspects, SUSPECTS_NO_CLASSES,
		        "no predicted classes were recorded: log logits or probabilities to have suspects called, "
		        "and labels suggested");
	else if (confident->open > 0)
		suspects_doubt(suspects, SUSPECTS_OPEN, "not called, as the record leaves it open: %s examples",
		               NUMBER_GROUPED(confident->open));
}

/* Scores the labelled examples. */
static void
suspects_score(struct suspects *suspects, const struct dynamics *dynamics)
{
	const double *aum = dynamics_measure(dynamics, MEASURE_AUM);
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);

	suspects->by = aum ? MEASURE_AUM : MEASURE_CONFIDENCE;
	suspects->scores = memory_array(dynamics->ids.rows, sizeof(*suspects->scores), "scores");
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		suspects->scores[row] = dynamics->gold[row] < 0 ? NAN : aum ? -aum[row] : 1 - confidence[row];
	}
}

/* Ranks the examples that have a score: those that are called, then the others; of equal scores the lower id first. */
static void
suspects_rank(struct suspects *suspects, const struct dynamics *dynamics)
{
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * dynamics->count, sizeof(*items), "examples to rank");
	size_t n = 0, place = 0;

	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		if (!isnan(suspects->scores[row]))
			items[n++] = (struct sort_item){sort_key(suspects->scores[row], true), row};
	}
	sort_by_key(items, items + dynamics->count, n);
	suspects->ranked = memory_array(n + 1, sizeof(*suspects->ranked), "ranked examples");
	suspects->count = n;
	suspects->left_out = dynamics->count - n;
	for (int called = 1; called >= 0; called--) {
		for (size_t i = 0; i < n; i++)
			if (suspects->is_called[items[i].value] == called)
				suspects->ranked[place++] = items[i].value;
		suspects->called = called ? place : suspects->called;
	}
}

void
suspects_find(struct suspects *suspects, const struct dynamics *dynamics)
{
	CLEANUP(confident_free) struct confident confident = {.called = NULL};

	*suspects = (struct suspects){.out_of_fold = suspects_is_out_of_fold(dynamics)};
	suspects_score(suspects, dynamics);
	confident_judge(&confident, dynamics);
	suspects->is_called = confident.called;
	suspects->suggested = confident.suggested;
	confident.called = NULL;
	confident.suggested = NULL;
	for (size_t i = 0; i < dynamics->count; i++)
		suspects->is_called[dynamics->order[i]] &= !isnan(suspects->scores[dynamics->order[i]]);
	suspects_rank(suspects, dynamics);
	snprintf(suspects->how, sizeof(suspects->how), "ranked by %s, %s; called by confident learning%s",
	         measure_infos[suspects->by].name,
	         suspects->by == MEASURE_AUM ? "as margins were recorded" : "as no margins were recorded",
	         suspects->out_of_fold ? ", out of fold" : "");
	suspects_add_doubts(suspects, dynamics, &confident);
}

void
suspects_say(const struct suspects *suspects)
{
	message_note("%s of %s labels are called wrong: %s", NUMBER_GROUPED(suspects->called),
	             NUMBER_GROUPED(suspects->count), suspects->how);
	for (size_t i = 0; i < suspects->doubt_count; i++)
		message_warning("the list is weak: %s", suspects->doubts[i].text);
}
