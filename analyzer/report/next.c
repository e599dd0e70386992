/* next.c: says what to do next, in three steps with their commands, by rules from what the commands answered: is the
 * record to be believed; what is wrong with the labels; what to train on. */
#include "report_request.h"

#include "die/memory.h"
#include "files/kept_texts.h"

#include <string.h>

#define AGREES 0.7       /* the overlap of two runs' ambiguous thirds from which on one run alone will do */
#define NEXT_TO_READ 100 /* how many suspects of a weak list to read */
#define TREND_RULES 0.5  /* the common trend's share of what variability sees from which on it ranks by the trend */

static void
next_add(struct report_request *request, const struct child *from, const char *text, struct child *command)
{
	page_add_next(&request->page, from, text, child_command(command));
	child_free(command);
}

/* The check of the first run whose record is not whole, or else of the first run. */
static const struct child *
next_faulty_check(const struct report_request *request)
{
	for (int r = 0; r < request->common.operand_count; r++)
		if (request->children[ASK_CHECK + r].status != 0)
			return &request->children[ASK_CHECK + r];
	return &request->children[ASK_CHECK];
}

/* Step 1: the record, or, where it is whole, the map. */
static void
next_record(struct report_request *request)
{
	const struct child *check = next_faulty_check(request);
	const char *verdict = json_string_value(json_object_get(check->answer, "verdict"));
	const char *state = json_string_value(json_object_get(check->answer, "state"));
	const char *run = request->common.operands[check - &request->children[ASK_CHECK]];
	struct child command = {0};

	if (!verdict) {
		report_ask(request, &command, "check", run, false);
		next_add(request, check,
		         "Whether the record is whole is not known, as its check failed. Check it again.", &command);
	} else if (strcmp(verdict, "damaged") == 0) {
		report_ask(request, &command, "salvage", NULL, false);
		child_add(&command, request->common.query.store);
		child_add_option(&command, "-o", "salvaged-store");
		next_add(request, check, "The store is damaged: restore it from a backup, or copy what can be read.",
		         &command);
	} else if (state && strcmp(state, "recording") == 0) {
		report_ask(request, &command, "watch", run, false);
		next_add(request, check,
		         "{run} is still being recorded, and these numbers will change. Look at it live.", &command);
	} else if (strcmp(verdict, "incomplete") == 0) {
		report_ask(request, &command, "check", run, false);
		next_add(request, check, "The record of {run} is not whole: {problems.0}. See what is missing.",
		         &command);
	} else {
		report_ask(request, &command, "serve", run, false);
		report_ask_data(request, &command);
		child_add_option(&command, "--text", request->texts);
		next_add(request, check, "The record of {run} is whole. Look into the map, example by example.",
		         &command);
	}
}

/* The first epoch that counts; NULL: it is not known. */
static const json_t *
next_first_epoch(const struct report_request *request)
{
	return request->of_losses ? page_member(request->children[ASK_MAP].answer, "maps.0.first_epoch")
	                          : json_object_get(request->children[ASK_CLASSES].answer, "first_epoch");
}

/* --epochs for a command that the user is to type: the first epoch that counts, once it is known. */
static void
next_add_epochs(const struct report_request *request, struct child *command)
{
	const json_t *first = next_first_epoch(request);
	CLEANUP_FREE char *from = memory_text("%lld:", (long long)json_integer_value(first));

	if (request->common.query.epochs_given && !request->common.query.epochs_auto)
		child_add_option(command, "--epochs", request->epochs);
	else if (json_integer_value(first) > 0)
		child_add_option(command, "--epochs", from);
}

/* Is the list of suspects weak for this reason? */
static bool
next_is_weak(const struct report_request *request, const char *reason)
{
	const json_t *weak;
	size_t i;

	json_array_foreach (json_object_get(request->children[ASK_SUSPECTS].answer, "weak"), i, weak)
		if (strcmp(json_string_value(json_object_get(weak, "kind")), reason) == 0)
			return true;
	return false;
}

/* Step 2 where labels are called wrong, in words. */
static const char *
next_say_called(const struct report_request *request, bool is_crowd)
{
	if (is_crowd)
		return "{called} labels may be wrong, many of them hard examples. Read the list from its top, and correct "
		       "the file that this command writes.";
	if (next_is_weak(request, "memorised"))
		return "{called} labels are called wrong, and more may be: the model has learned wrong labels by heart. Read "
		       "these, and correct the file that this command writes. Record out of fold to find the others.";
	return "{called} labels are called wrong. Read them, and correct the file that this command writes; portolan "
	       "select takes it.";
}

/* Step 2: labels that may be wrong. */
static void
next_labels(struct report_request *request)
{
	const struct child *suspects = &request->children[ASK_SUSPECTS], *classes = &request->children[ASK_CLASSES];
	const json_int_t called = json_integer_value(json_object_get(suspects->answer, "called"));
	const bool are_called = called > 0, is_crowd = next_is_weak(request, "crowd") || next_is_weak(request, "hard");
	CLEANUP_FREE char *to_read = memory_text("%d", NEXT_TO_READ);
	struct child command = {0};

	report_ask(request, &command, are_called ? "suspects" : "select", request->common.operands[0],
	           are_called && request->common.query.epochs_given);
	if (!are_called) {
		next_add_epochs(request, &command);
		child_add_option(&command, "--by", "confidence:asc");
		child_add_option(&command, "--count", "50");
	}
	report_ask_data(request, &command);
	if (are_called) {
		child_add_option(&command, "--text", request->texts);
		child_add_option(&command, "--flips", request->flips);
		child_add_option(&command, "--count", is_crowd && called > NEXT_TO_READ ? to_read : NULL);
	}
	child_add_option(&command, are_called ? "--corrections" : "-o",
	                 are_called ? "corrections.tsv" : "doubtful.txt");
	if (are_called)
		next_add(request, suspects, next_say_called(request, is_crowd), &command);
	else
		next_add(request, suspects->answer ? suspects : classes,
		         suspects->answer
		                 ? "{called} labels are called wrong. Read the examples that the model believes least."
		                 : "Read the examples that the model believes least.",
		         &command);
}

/* Step 2 of a run of losses: the examples on which the model does worst. */
static void
next_hardest(struct report_request *request)
{
	struct child command = {0};

	report_ask(request, &command, "select", request->common.operands[0], false);
	next_add_epochs(request, &command);
	child_add_option(&command, "--by", "hard-to-learn");
	child_add_option(&command, "--count", "50");
	report_ask_data(request, &command);
	child_add_option(&command, "-o", "hardest.txt");
	next_add(request, &request->children[ASK_MAP],
	         "Read the examples with the highest mean loss: wrong targets and broken inputs stand there.",
	         &command);
}

/* The least overlap of two runs' ambiguous thirds; 1: there is one run. */
static double
next_least_overlap(const struct report_request *request)
{
	const json_t *selection;
	double least = 1;
	size_t i;

	json_array_foreach (json_object_get(request->children[ASK_COMPARE].answer, "selections"), i, selection) {
		double overlap = json_number_value(json_object_get(selection, "overlap"));

		least = overlap < least ? overlap : least;
	}
	return least;
}

/* The share of what variability sees that is the common trend, over the epochs that count. */
static double
next_trend(const struct report_request *request)
{
	const json_t *classes = request->children[ASK_CLASSES].answer, *part;
	const json_t *first = next_first_epoch(request);
	size_t i;

	if (json_integer_value(json_object_get(classes, "epochs")) == 1)
		return 1; /* nothing varies within an example */
	json_array_foreach (json_object_get(request->children[ASK_EPOCHS].answer, "variance"), i, part) {
		double trend = json_number_value(json_object_get(part, "common_trend"));
		double rest = json_number_value(json_object_get(part, "rest"));

		if (json_equal(json_object_get(part, "from_epoch"), first))
			return trend + rest > 0 ? trend / (trend + rest) : 1;
	}
	return 0;
}

/* Step 3 in words. */
static const char *
next_say_training(const struct report_request *request, bool is_memorised, bool is_trend)
{
	if (is_memorised)
		return "The model has learned wrong labels by heart, and they are among what it wavers on: to train on less, "
		       "take a random third.";
	if (is_trend)
		return "Variability shows the learning that all examples share, not which are ambiguous: to train on less, "
		       "take a random third.";
	if (next_least_overlap(request) < AGREES)
		return "The runs do not agree on what is ambiguous: to train on less, take the third that is so over all of "
		       "them, and compare it with a random one.";
	return "To train on less, take the third that is ambiguous, and compare it with a random one.";
}

/* Where step 3 writes: the user's lines into a file like the user's, else ids. */
static char *
next_subset_file(const struct report_request *request)
{
	const char *ending = kept_texts_is(request->data) ? ".jsonl"
	                     : request->data              ? strrchr(request->data, '.')
	                                                  : NULL;

	return memory_text("subset%s", ending && !strchr(ending, '/') ? ending : ".txt");
}

/* Step 3: what to train on. */
static void
next_training(struct report_request *request)
{
	const bool is_memorised = next_is_weak(request, "memorised"), is_trend = next_trend(request) > TREND_RULES;
	const bool is_random = is_memorised || is_trend;
	CLEANUP_FREE char *file = next_subset_file(request);
	struct child command = {0};

	report_ask(request, &command, "select", request->common.operands[0], false);
	if (!is_random)
		next_add_epochs(request, &command);
	for (int r = 1; r < request->common.operand_count && request->children[ASK_COMPARE].end == CHILD_ANSWERED; r++)
		child_add_option(&command, "--with", request->common.operands[r]);
	child_add_option(&command, "--by", is_random ? "random" : "ambiguous");
	child_add_option(&command, "--fraction", "0.33");
	if (json_integer_value(json_object_get(request->children[ASK_SUSPECTS].answer, "called")) > 0)
		child_add(&command, "--without-suspects");
	if (!request->of_losses)
		child_add(&command, "--why");
	report_ask_data(request, &command);
	child_add_option(&command, "-o", file);
	next_add(request, &request->children[request->of_losses ? ASK_MAP : ASK_CLASSES],
	         next_say_training(request, is_memorised, is_trend), &command);
}

void
report_advise(struct report_request *request)
{
	next_record(request);
	if (request->children[request->of_losses ? ASK_MAP : ASK_CLASSES].end != CHILD_ANSWERED)
		return;
	if (request->of_losses)
		next_hardest(request);
	else
		next_labels(request);
	next_training(request);
}
