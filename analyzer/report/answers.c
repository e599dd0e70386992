/* answers.c: fills the sections of `portolan report` from what the commands answered. What a command refuses becomes a
 * sentence in its section, and its warnings stand there, too. */
#include "report_request.h"

#include "die/die.h"
#include "die/memory.h"
#include "files/content.h"

#include <math.h>
#include <string.h>

#define EPOCHS_SHOWN 24
#define PASSED_OVER "passed over for having more than" /* said of texts, which are no attributes */

bool
answer_take(struct page *page, const struct child *child)
{
	CLEANUP_FREE char *crash = NULL;
	const json_t *warning;
	size_t i;

	if (child->end == CHILD_NOT_ASKED)
		return false;
	json_array_foreach (child->warnings, i, warning)
		if (!strstr(json_string_value(warning), PASSED_OVER))
			page_warn(page, json_string_value(warning));
	if (child->end == CHILD_CRASHED) {
		crash = memory_text("portolan %s could not answer: %s", child_name(child), child->why);
		page_warn(page, crash);
	} else if (child->end == CHILD_REFUSED && page_says(page, child->why))
		page_say_plain(page, "Not known, as said above.");
	else if (child->end == CHILD_REFUSED)
		page_say_plain(page, "Not known: %s", child->why);
	return child->end == CHILD_ANSWERED;
}

static void
answer_check(struct report_request *request, const struct child *child)
{
	struct page *page = &request->page;
	const json_t *line;
	size_t i;

	if (!answer_take(page, child))
		return;
	page_say(page, child,
	         "{run} is {verdict}, and its state is {state}: {examples} examples, {observations} observations, "
	         "{missing} missing, {replaced} replaced, {refused} refused.");
	if (json_is_string(page_member(child->answer, "fingerprint")))
		page_say(page, child, "The fingerprint of its data, ids and gold labels, is {fingerprint}.");
	json_array_foreach (json_object_get(child->answer, "problems"), i, line)
		page_warn(page, json_string_value(line));
	json_array_foreach (json_object_get(child->answer, "damage"), i, line)
		page_warn(page, json_string_value(line));
}

static void
answer_record(struct report_request *request)
{
	const bool of_losses = request->of_losses;
	const struct child *classes = &request->children[of_losses ? ASK_MAP : ASK_CLASSES];
	struct page *page = &request->page;
	const json_t *note;
	size_t i;

	page_begin_section(page, "record", "Is the record whole, and which epochs count?");
	for (int r = 0; r < request->common.operand_count; r++)
		answer_check(request, &request->children[ASK_CHECK + r]);
	if (classes->end != CHILD_ANSWERED)
		return;
	page_say(page, classes,
	         of_losses
	                 ? "What follows is of the epochs {maps.0.first_epoch} to {maps.0.last_epoch}, counted from 0."
	                 : "What follows is of {epochs} epochs: {first_epoch} to {last_epoch}, counted from 0.");
	if (of_losses)
		page_say_plain(page,
		               "The run records losses (log_loss), which have no labels: so labels that are likely "
		               "wrong, classes, regions of the map and forgettable examples are not here.");
	json_array_foreach (classes->notes, i, note)
		page_quote(page, classes, json_string_value(note));
	if (!of_losses)
		answer_take(page, classes);
}

static void
answer_map(struct report_request *request)
{
	const struct child *child = &request->children[ASK_MAP];

	page_begin_section(&request->page, "map", "The map");
	if (!answer_take(&request->page, child))
		return;
	if (child->size > 0)
		page_add_picture(
		        &request->page, child,
		        "The data map of {maps.0.run}: {x.measure} to the right, {y.measure} upwards, "
		        "coloured by {colour.measure}; {maps.0.shown} of {maps.0.examples} examples are drawn.");
	if (!request->of_losses && page_member(child->answer, "maps.0.regions.ambiguous"))
		page_say(&request->page, child,
		         "{maps.0.regions.easy-to-learn} examples are easy to learn, {maps.0.regions.ambiguous} are "
		         "ambiguous (p(gold) changes, and by as much as in the run's top third), and "
		         "{maps.0.regions.hard-to-learn} are hard to learn.");
}

/* The texts of an example, from what `show` answered, in one line; the caller's to free(). NULL: there are none. */
static char *
answer_find_text(const struct report_request *request, const json_t *id)
{
	const json_t *example;
	size_t i;

	json_array_foreach (json_object_get(request->children[ASK_TEXTS].answer, "examples"), i, example) {
		json_t *fields = json_object_get(example, "text"), *value;
		const char *key;
		char *text = NULL;

		if (!json_equal(json_object_get(example, "id"), id))
			continue;
		json_object_foreach (fields, key, value) {
			CLEANUP_FREE char *before = text, *cell = page_cell(value, "name");

			text = before ? memory_text("%s / %s", before, cell) : memory_text("%s", cell);
		}
		return text;
	}
	return NULL;
}

/* Adds a table of examples: id, label, the columns, and texts where there are some. */
static void
answer_add_examples(struct report_request *request, const struct child *child, const char *caption, const char *rows_of,
                    const json_t *rows, const char *columns)
{
	const json_t *label = page_member(rows, "0.label");
	const char *class = request->of_losses ? "" : label && !json_is_null(label) ? "label:name " : "gold:name ";
	const bool has_texts = request->children[ASK_TEXTS].end == CHILD_ANSWERED;
	CLEANUP_FREE char *all = memory_text("id:name %s%s%s", class, columns, has_texts ? " text:text" : "");
	json_t *table = page_add_table(&request->page, child, caption, rows_of, rows, all), *row;
	size_t i;

	json_array_foreach (json_object_get(table, "rows"), i, row) {
		CLEANUP_FREE char *text = has_texts ? answer_find_text(request, json_object_get(row, "id")) : NULL;

		if (text)
			page_set_cell(row, "text", text);
	}
}

static void
answer_suspects(struct report_request *request)
{
	const struct child *child = &request->children[ASK_SUSPECTS];
	struct page *page = &request->page;
	const json_t *list = json_object_get(child->answer, "suspects"), *weak;
	const bool is_calibrated = json_is_object(json_object_get(child->answer, "expected"));
	size_t i;

	page_begin_section(page, "suspects", "Labels that are likely wrong");
	if (child->end != CHILD_ANSWERED) {
		answer_take(page, child);
		return;
	}
	page_say(page, child, "{called} of {ranked} labels are called wrong. How: {how}.");
	answer_take(page, child);
	if (is_calibrated)
		page_say(
		        page, child,
		        "{expected.wrong~} wrong labels are to be expected ({expected.level%} interval: {expected.low~} to "
		        "{expected.high~}), from {expected.flips} labels that were flipped on purpose. It holds for "
		        "{expected.holds_for}.");
	else
		page_say_plain(page,
		               "How many labels are wrong is not known. To find out, flip some on purpose and train "
		               "again: portolan help suspects, --flips.");
	json_array_foreach (json_object_get(child->answer, "weak"), i, weak)
		page_warn(page, json_string_value(json_object_get(weak, "text")));
	if (json_array_size(list) > 0)
		answer_add_examples(request, child, "The most suspect, with the label that the model would give",
		                    "suspects", list,
		                    is_calibrated ? "suggested:name score probability:share" : "suggested:name score");
}

/* Of a run of losses. */
static void
answer_hard_examples(struct report_request *request)
{
	const struct child *ambiguous = &request->children[ASK_AMBIGUOUS], *hard = &request->children[ASK_HARDEST];
	const char *columns = isnan(request->common.query.loss_threshold)
	                              ? "task_loss variability learning_speed"
	                              : "task_loss variability learning_speed correctness:share forgetting_events";

	if (answer_take(&request->page, ambiguous))
		answer_add_examples(request, ambiguous, "The most ambiguous: the loss changes most between epochs", "",
		                    ambiguous->answer, columns);
	if (answer_take(&request->page, hard))
		answer_add_examples(request, hard, "The hardest: the highest mean loss", "", hard->answer, columns);
}

static void
answer_examples(struct report_request *request)
{
	const struct child *classes = &request->children[ASK_CLASSES], *texts = &request->children[ASK_TEXTS];
	struct page *page = &request->page;

	page_begin_section(page, "examples",
	                   request->of_losses ? "Ambiguous and hard examples" : "Ambiguous and forgettable examples");
	if (request->texts && texts->end != CHILD_ANSWERED)
		answer_take(page, texts);
	if (request->of_losses) {
		answer_hard_examples(request);
		return;
	}
	if (answer_take(page, &request->children[ASK_AMBIGUOUS]))
		answer_add_examples(request, &request->children[ASK_AMBIGUOUS],
		                    "The most ambiguous: p(gold) changes most between epochs", "",
		                    request->children[ASK_AMBIGUOUS].answer,
		                    "confidence variability correctness:share");
	if (classes->end == CHILD_ANSWERED)
		page_say(page, classes,
		         "{forgettable} of {examples} examples ({share_forgettable%}) are forgettable: forgotten at "
		         "least once, or never learned, as {never_learned} are.");
	if (answer_take(page, &request->children[ASK_HARDEST]))
		answer_add_examples(
		        request, &request->children[ASK_HARDEST], "Forgettable: never learned, or forgotten most often",
		        "", request->children[ASK_HARDEST].answer, "confidence forgetting_events never_learned");
}

/* Adds the table of epochs; of many, every n-th and the last. */
static void
answer_epochs(struct report_request *request)
{
	const struct child *child = &request->children[ASK_EPOCHS];
	const json_t *epochs = json_object_get(child->answer, "epochs");
	const size_t count = json_array_size(epochs), step = (count + EPOCHS_SHOWN - 1) / EPOCHS_SHOWN;
	json_auto_t *shown = memory_need(json_array());
	CLEANUP_FREE char *caption = NULL;
	json_t *table;

	page_begin_section(&request->page, "epochs", "How training went");
	if (!answer_take(&request->page, child))
		return;
	for (size_t i = 0; i < count; i++)
		if (i % step == 0 || i + 1 == count)
			json_array_append(shown, json_array_get(epochs, i));
	caption = step > 1 ? memory_text("One epoch of each %zu, and the last", step) : memory_text("Epoch by epoch");
	table = page_add_table(&request->page, child, caption, "epochs", shown,
	                       request->of_losses ? "epoch:name examples mean_loss"
	                                          : "epoch:name examples accuracy:share mean_loss forgotten learned");
	json_object_set_new(table, "curves",
	                    memory_need(request->of_losses ? json_pack("{s:b}", "mean_loss", 1)
	                                                   : json_pack("{s:b, s:b, s:b}", "accuracy", 1, "mean_loss", 1,
	                                                               "forgotten", 1)));
}

static void
answer_runs(struct report_request *request)
{
	const struct child *child = &request->children[ASK_COMPARE];
	const json_t *averages = json_object_get(child->answer, "averages");
	const bool are_many = json_array_size(averages) > 0;
	json_auto_t *shown = memory_need(json_array());
	const json_t *row;
	size_t i;

	if (child->end == CHILD_NOT_ASKED)
		return;
	page_begin_section(&request->page, "runs", "Do the runs agree?");
	if (!answer_take(&request->page, child))
		return;
	page_add_table(&request->page, child, "The ambiguous thirds of two runs: how many examples are in both",
	               "selections", json_object_get(child->answer, "selections"),
	               "run_a run_b selected_a both overlap:share by_chance:share");
	json_array_foreach (are_many ? averages : json_object_get(child->answer, "correlations"), i, row)
		if (option_is_named("confidence variability correctness forgetting_events aum task_loss learning_speed",
		                    json_string_value(json_object_get(row, "measure"))))
			json_array_append(shown, (json_t *)row);
	page_add_table(&request->page, child,
	               request->common.operand_count > 2 ? "Correlations of measures, means over all pairs of runs"
	                                                 : "Correlations of measures",
	               are_many ? "averages" : "correlations", shown, "measure examples pearson spearman");
}

static void
answer_words(struct report_request *request)
{
	const struct child *child = &request->children[ASK_WORDS];

	if (!request->texts || (request->of_losses && child->end == CHILD_NOT_ASKED))
		return;
	page_begin_section(&request->page, "words", "Words that give the label away");
	if (child->end == CHILD_NOT_ASKED)
		page_say_plain(&request->page,
		               "Not known: --label-field FIELD says which field of the data has the label.");
	if (!answer_take(&request->page, child))
		return;
	page_add_table(&request->page, child,
	               "Words, and the label that they point to: its share of the records with the word; p bonferroni "
	               "of 0.01 or less is more than chance",
	               "", child->answer, "token n label p_star:share prior_share:share z_star p_bonferroni");
}

/* Adds the checksum of the user's data. */
static void
answer_data(struct report_request *request)
{
	char digest[CHILD_DIGEST_ROOM];
	struct content content;

	if (!request->data)
		return;
	must(content_open(&content, request->data, &failure));
	child_digest(content.bytes, content.size, digest);
	content_close(&content);
	page_say_plain(&request->page, "The data: %s, xxh128 %s.", request->data, digest);
	page_set_text(request->page.root, "data", request->data);
	page_set_text(request->page.root, "data_xxh128", digest);
}

static void
answer_done(struct report_request *request)
{
	struct page *page = &request->page;

	page_begin_section(page, "done", "What was done");
	page_say_plain(page,
	               "Each number comes from one of these commands, whose manual is the page portolan-COMMAND(1). "
	               "xxh128 is the checksum of what it printed, as xxh128sum gives it.");
	answer_data(request);
}

/* Numbers the commands, and lists them: first the checks, with which the page begins. */
static void
answer_list_commands(struct report_request *request)
{
	json_t *commands = json_object_get(request->page.root, "commands");
	const int checks = request->common.operand_count;

	for (int i = 0; i < ASK_CHECK + checks; i++) {
		struct child *child = &request->children[i < checks ? ASK_CHECK + i : i - checks];
		CLEANUP_FREE char *says = NULL;

		if (child->end == CHILD_NOT_ASKED)
			continue;
		child->number = (int)json_array_size(commands) + 1;
		says = child->end == CHILD_ANSWERED ? memory_text("portolan-%s(1), exit status %d, xxh128 %s",
		                                                  child_name(child), child->status, child->digest)
		                                    : memory_text("portolan-%s(1), exit status %d: %s",
		                                                  child_name(child), child->status, child->why);
		json_array_append_new(commands, memory_need(json_pack("{s:i, s:s, s:i, s:s}", "number", child->number,
		                                                      "command", child->command, "status",
		                                                      child->status, "xxh128", child->digest)));
		page_set_text(json_array_get(commands, json_array_size(commands) - 1), "says", says);
	}
}

void
report_answer(struct report_request *request)
{
	const json_t *observed = json_object_get(request->children[ASK_CHECK].answer, "observations");

	answer_list_commands(request);
	answer_record(request);
	if (!observed || json_integer_value(observed) > 0) {
		answer_map(request);
		if (!request->of_losses)
			answer_suspects(request);
		answer_hurts(request);
		answer_examples(request);
		answer_epochs(request);
		answer_runs(request);
	}
	answer_words(request);
	answer_done(request);
}
