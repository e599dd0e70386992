/*
 * suspects.c: ranks the labelled examples of a run by suspicion, and calls suspects (suspects.h).
 *
 * The score is the negative mean margin over the epochs: above 0, another class was surer than the label. The cut was
 * made on data with planted wrong labels (tools/study suspects): on words and satellite. Its last constants were set with
 * digits, packages and letters in view; dna and spam were not seen.
 *
 *	P, Q      the examples with a mean margin above 0, and below 0; n: the share of Q
 *	D         the 90th percentile of the scores of Q, by the 90th percentile of the margins of P
 *	deep      the score is above c · (mean margin of P), c = min(1, 4 n): the model is about as sure of another class
 *	          as it is of the labels that it agrees with. Where it contradicts few labels, less will do.
 *
 * Where D is 0.65 or more, or n 0.3 or more, the deep ones are called. Else no label stands out, and all of Q are
 * called, which is a weak list.
 */
#include "suspects.h"

#include "base/message.h"
#include "base/number.h"
#include "base/sort.h"
#include "die/die.h"
#include "die/memory.h"
#include "margins.h"

#include <portolan/error.h>

#include <jansson.h>
#include <math.h>
#include <stdarg.h>

#define STANDS_OUT 0.65
#define MANY 0.3 /* of the labels are contradicted */
#define EPOCHS_ENOUGH 5
#define NO_OTHER_CLASS 1e30 /* a mean margin above this has the masks of other classes in it */

const char *const suspects_by_names[] = {"aum", "log-odds", "confidence", NULL};
static const char *const suspects_doubt_names[SUSPECTS_DOUBTS] = {"memorised", "few-epochs", "crowd",
                                                                  "hard",      "no-margins", "hidden"};

void
suspects_request(struct dynamics_request *request)
{
	request->measures |=
	        MEASURE_BIT(MEASURE_AUM) | MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_ALWAYS_RIGHT_AFTER);
	request->signals |= MARGINS_SIGNALS;
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
	     (json_is_object(json_object_get(config, "cross_validation")) && !json_object_get(config, "fold"));
	json_decref(config);
	return is;
}

/* The mean margins of logits; NULL: no labelled example has one. */
static const double *
suspects_recorded_margins(const struct dynamics *dynamics)
{
	const double *margin = dynamics_measure(dynamics, MEASURE_AUM);

	for (size_t i = 0; margin && i < dynamics->count; i++)
		if (dynamics->gold[dynamics->order[i]] >= 0 && !isnan(margin[dynamics->order[i]]))
			return margin;
	return NULL;
}

/* Scores the labelled examples. */
static void
suspects_score(struct suspects *suspects, const struct dynamics *dynamics)
{
	CLEANUP(margins_free) struct margins margins = {.means = NULL};
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	const double *margin = suspects_recorded_margins(dynamics);

	suspects->by = SUSPECTS_BY_AUM;
	margins_read(&margins, dynamics, !margin);
	if (!margin) {
		suspects->by = margins.count > 0 ? SUSPECTS_BY_LOG_ODDS : SUSPECTS_BY_CONFIDENCE;
		margin = margins.count > 0 ? margins.means : NULL;
	}
	suspects->suggested = margins.others;
	margins.others = NULL;
	suspects->scores = memory_array(dynamics->ids.rows, sizeof(*suspects->scores), "scores");
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		suspects->scores[row] = dynamics->gold[row] < 0 ? NAN : margin ? -margin[row] : 1 - confidence[row];
	}
}

/* Ranks the examples that have a score; of equal scores that with the lower confidence comes first, then that with the
 * lower id. */
static void
suspects_rank(struct suspects *suspects, const struct dynamics *dynamics)
{
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	size_t n = 0, most = dynamics->count;
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * most, sizeof(*items), "examples to rank");

	for (size_t i = 0; i < most; i++) {
		uint32_t row = dynamics->order[i];

		if (!isnan(suspects->scores[row]))
			items[n++] = (struct sort_item){sort_key(confidence[row], false), row};
	}
	sort_by_key(items, items + most, n);
	for (size_t i = 0; i < n; i++)
		items[i].key = sort_key(suspects->scores[items[i].value], true);
	sort_by_key(items, items + most, n);
	suspects->ranked = memory_array(n + 1, sizeof(*suspects->ranked), "ranked examples");
	for (size_t i = 0; i < n; i++)
		suspects->ranked[i] = items[i].value;
	suspects->count = n;
	suspects->left_out = most - n;
}

/* The margins by which the cut is made. */
struct margin_cut {
	size_t with, against; /* how many examples are in P, and in Q */
	double mean;          /* of the margins of P */
	double share;         /* n */
	bool stands_out;
};

static double
suspects_margin(const struct suspects *suspects, size_t rank)
{
	return -suspects->scores[suspects->ranked[rank]];
}

/* The 90th percentile of the absolute margins of `count` examples. The one with the least is at `first` in the ranking,
 * the next one before it (step −1) or behind it (1). */
static double
suspects_quantile(const struct suspects *suspects, size_t first, size_t count, int step)
{
	double at = 0.9 * (double)(count - 1), below = floor(at);
	size_t low = step > 0 ? first + (size_t)below : first - (size_t)below;
	size_t high = below + 1 < (double)count ? (step > 0 ? low + 1 : low - 1) : low;
	double from = fabs(suspects_margin(suspects, low)), to = fabs(suspects_margin(suspects, high));

	return from + (to - from) * (at - below);
}

static struct margin_cut
suspects_weigh(const struct suspects *suspects)
{
	struct margin_cut cut = {.mean = 0};
	size_t end = suspects->count, first;
	double sum = 0;

	while (end > 0 && suspects_margin(suspects, end - 1) > NO_OTHER_CLASS)
		end--;
	while (cut.against < end && suspects_margin(suspects, cut.against) < 0)
		cut.against++;
	for (first = end; first > 0 && suspects_margin(suspects, first - 1) > 0; first--)
		sum += suspects_margin(suspects, first - 1);
	cut.with = end - first;
	cut.share = (double)cut.against / (double)suspects->count;
	cut.mean = sum / (double)cut.with;
	cut.stands_out = cut.against > 0 && cut.with > 0 &&
	                 suspects_quantile(suspects, cut.against - 1, cut.against, -1) >=
	                         STANDS_OUT * suspects_quantile(suspects, first, cut.with, 1);
	return cut;
}

/* Calls suspects: the first of the ranking. */
static void
suspects_call(struct suspects *suspects, const struct dynamics *dynamics, const struct margin_cut *cut)
{
	bool deep = cut->stands_out || cut->share >= MANY;

	suspects->is_called = memory_array(dynamics->ids.rows, sizeof(*suspects->is_called), "marks");
	suspects->deep = suspects->threshold = INFINITY;
	if (cut->against > 0 && cut->with > 0) {
		suspects->deep = fmin(1, 4 * cut->share) * cut->mean;
		suspects->threshold = deep ? suspects->deep : 0;
	}
	for (; suspects->called < suspects->count; suspects->called++) {
		uint32_t row = suspects->ranked[suspects->called];

		if (!(suspects->scores[row] > suspects->threshold))
			break;
		suspects->is_called[row] = 1;
	}
}

void
suspects_doubt(struct suspects *suspects, enum suspects_doubt doubt, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(suspects->doubt_texts[suspects->doubt_count], sizeof(*suspects->doubt_texts), format, arguments);
	va_end(arguments);
	suspects->doubts[suspects->doubt_count++] = doubt;
}

/* Says so where a model that was trained on the labels has learned most of those that it contradicted, or contradicts
 * none. */
static void
suspects_doubt_memory(struct suspects *suspects, const struct dynamics *dynamics, const struct margin_cut *cut)
{
	const double *right = dynamics_measure(dynamics, MEASURE_ALWAYS_RIGHT_AFTER);
	size_t learned = 0;

	for (size_t i = 0; i < cut->against; i++)
		learned += !isnan(right[suspects->ranked[i]]);
	if (cut->against == 0)
		suspects_doubt(
		        suspects, SUSPECTS_MEMORISED,
		        "over these epochs the model contradicts no label. Either all are right, or it learned the "
		        "wrong ones with the right ones: record out of fold (cross_val_track) to tell");
	else if (2 * learned > cut->against)
		suspects_doubt(
		        suspects, SUSPECTS_MEMORISED,
		        "the model has learned %s of the %s labels that it contradicted: it memorises wrong labels "
		        "with right ones. Record out of fold (cross_val_track), or take early epochs (--epochs :%u)",
		        NUMBER_GROUPED(learned), NUMBER_GROUPED(cut->against),
		        dynamics->epochs[(dynamics->epoch_count - 1) / 2] + 1);
}

static void
suspects_add_doubts(struct suspects *suspects, const struct dynamics *dynamics, const struct margin_cut *cut)
{
	if (suspects->by == SUSPECTS_BY_CONFIDENCE) {
		suspects_doubt(
		        suspects, SUSPECTS_NO_MARGINS,
		        "the run holds p of the label and no margins, so no label is called wrong, and none suggested. "
		        "Record logits or probabilities. --count N prints the first N of the ranking");
		return;
	}
	if (!suspects->out_of_fold)
		suspects_doubt_memory(suspects, dynamics, cut);
	if (!suspects->out_of_fold && dynamics->epoch_count < EPOCHS_ENOUGH)
		suspects_doubt(suspects, SUSPECTS_FEW_EPOCHS, "%zu epoch%s: rankings settle after about %d",
		               dynamics->epoch_count, dynamics->epoch_count == 1 ? "" : "s", EPOCHS_ENOUGH);
	if (cut->against > 0 && !cut->stands_out)
		suspects_doubt(
		        suspects, SUSPECTS_CROWD,
		        "no label stands out: wrong labels look like examples between two classes. Read the list "
		        "from the top (--count 100), and stop when it no longer pays");
	if (cut->share >= MANY)
		suspects_doubt(suspects, SUSPECTS_HARD,
		               "the model contradicts %.0f%% of the labels: most of these examples are hard, not "
		               "mislabelled",
		               100 * cut->share);
}

static void
suspects_explain(struct suspects *suspects, const struct margin_cut *cut)
{
	static const char *const rankings[] = {
	        "aum, the mean margin", "the mean margin that follows from probabilities, as logits were not recorded",
	        "confidence, as the run holds no margins"};
	const char *where = suspects->out_of_fold ? ", out of fold" : "";

	if (suspects->by == SUSPECTS_BY_CONFIDENCE || suspects->threshold == INFINITY)
		snprintf(suspects->how, sizeof(suspects->how), "ranked by %s%s", rankings[suspects->by], where);
	else if (suspects->threshold == 0)
		snprintf(suspects->how, sizeof(suspects->how),
		         "ranked by %s%s; called if another class is ahead on average", rankings[suspects->by], where);
	else
		snprintf(
		        suspects->how, sizeof(suspects->how),
		        "ranked by %s%s; called wrong if another class is ahead by more than %.3g on average (where the "
		        "model agrees with the label, the label is ahead by %.3g)",
		        rankings[suspects->by], where, suspects->threshold, cut->mean);
}

void
suspects_find(struct suspects *suspects, const struct dynamics *dynamics)
{
	struct margin_cut cut = {.mean = 0};

	*suspects = (struct suspects){.out_of_fold = suspects_is_out_of_fold(dynamics)};
	suspects_score(suspects, dynamics);
	suspects_rank(suspects, dynamics);
	if (suspects->by != SUSPECTS_BY_CONFIDENCE)
		cut = suspects_weigh(suspects);
	suspects_call(suspects, dynamics, &cut);
	suspects_explain(suspects, &cut);
	suspects_add_doubts(suspects, dynamics, &cut);
}

void
suspects_say(const struct suspects *suspects)
{
	message_note("%s of %s labels %s; %s", NUMBER_GROUPED(suspects->called), NUMBER_GROUPED(suspects->count),
	             suspects->threshold == 0 ? "may be wrong, and none stands out" : "are called wrong",
	             suspects->how);
	for (size_t i = 0; i < suspects->doubt_count; i++)
		message_warning("the list is weak: %s", suspects->doubt_texts[i]);
}

void
suspects_report_weak(struct report *report, const struct suspects *suspects)
{
	report_begin_list(report, "weak");
	for (size_t i = 0; i < suspects->doubt_count; i++) {
		report_begin(report, NULL);
		report_text(report, "kind", suspects_doubt_names[suspects->doubts[i]]);
		report_text(report, "text", suspects->doubt_texts[i]);
		report_end(report);
	}
	report_end(report);
}

void
suspects_report_method(struct report *report, const struct suspects *suspects)
{
	report_text(report, "by", suspects_by_names[suspects->by]);
	report_real(report, "threshold", suspects->threshold);
	report_text(report, "how", suspects->how);
	report_flag(report, "out_of_fold", suspects->out_of_fold);
	REPORT_WHOLES(report, {"ranked", suspects->count}, {"called", suspects->called},
	              {"left_out", suspects->left_out});
	suspects_report_weak(report, suspects);
}
