/* answers_hurts.c: fills the section of `portolan report` that says what hurts, by class and by attribute; and finds the
 * field of the data that holds the label. */
#include "report_request.h"

#include "base/number.h"
#include "die/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES_SHOWN 12
#define ATTRIBUTES_SHOWN 20

/* The rows of a list, ascending by a member that is a number; those without it come last. */
static int
hurts_compare(const void *a, const void *b, void *key)
{
	const json_t *one = json_object_get(*(json_t *const *)a, key), *two = json_object_get(*(json_t *const *)b, key);
	const double x = json_is_number(one) ? json_number_value(one) : HUGE_VAL;
	const double y = json_is_number(two) ? json_number_value(two) : HUGE_VAL;

	return (x > y) - (x < y);
}

/* A new list: the first `most` of the rows, ascending by `key`. */
static json_t *
hurts_take_least(const json_t *rows, const char *key, size_t most)
{
	const size_t count = json_array_size(rows);
	CLEANUP_FREE json_t **list = memory_new(count + 1, sizeof(*list));
	json_t *taken = memory_need(json_array());

	for (size_t i = 0; i < count; i++)
		list[i] = json_array_get(rows, i);
	qsort_r(list, count, sizeof(*list), hurts_compare, (void *)key);
	for (size_t i = 0; i < count && i < most; i++)
		json_array_append(taken, list[i]);
	return taken;
}

static void
hurts_classes(struct report_request *request)
{
	const struct child *child = &request->children[ASK_CLASSES];
	const json_t *classes = json_object_get(child->answer, "classes");
	const bool has_labels = json_is_string(page_member(classes, "0.label"));
	json_auto_t *shown = NULL;

	if (child->end != CHILD_ANSWERED) {
		answer_take(&request->page, child);
		return;
	}
	if (!json_is_integer(page_member(classes, "0.gold"))) {
		page_say_plain(&request->page, "By class: no labels were recorded.");
		return;
	}
	shown = hurts_take_least(classes, "correctness", CLASSES_SHOWN);
	page_add_table(&request->page, child,
	               json_array_size(classes) > CLASSES_SHOWN
	                       ? "The 12 classes that the model is right about least often"
	                       : "Each class: how often the model is right about it, and how sure it is",
	               "classes", shown,
	               has_labels ? "label examples correctness:share confidence share_forgettable:share "
	                            "never_learned"
	                          : "gold:name examples correctness:share confidence "
	                            "share_forgettable:share never_learned");
}

/* Is this a row of all classes, whose interval leaves out 0? And not of the field that holds the label, which the table
 * of classes shows. */
static bool
hurts_tells(const json_t *row, const char *label_field)
{
	const json_t *low = json_object_get(row, "low"), *high = json_object_get(row, "high");
	const char *gold = json_string_value(json_object_get(row, "gold"));
	const char *attribute = json_string_value(json_object_get(row, "attribute"));

	return gold && strcmp(gold, "all") == 0 && json_is_number(low) && json_is_number(high) &&
	       (json_number_value(low) > 0 || json_number_value(high) < 0) &&
	       !(label_field && attribute && strcmp(attribute, label_field) == 0);
}

static void
hurts_attributes(struct report_request *request)
{
	const struct child *child = &request->children[ASK_GROUPS];
	const char *label_field = request->label_field ? request->label_field : answer_find_label_field(request);
	json_auto_t *telling = memory_need(json_array());
	const json_t *row;
	size_t i;

	if (child->end == CHILD_NOT_ASKED)
		page_say_plain(&request->page,
		               "By attribute: --data FILE --id-field FIELD names a file with columns to look at.");
	if (!answer_take(&request->page, child))
		return;
	json_array_foreach (json_object_get(child->answer, "rows"), i, row)
		if (hurts_tells(row, label_field) && json_array_size(telling) < ATTRIBUTES_SHOWN)
			json_array_append(telling, (json_t *)row);
	if (json_array_size(telling) == 0)
		page_say(&request->page, child,
		         label_field ? "The label aside, no attribute tells the {selected} hardest examples from all "
		                       "{examples}: each interval has 0 in it."
		                     : "No attribute tells the {selected} hardest examples from all {examples}: each "
		                       "interval has 0 in it.");
	else
		page_add_table(&request->page, child,
		               "Attributes that the hardest tenth has more or less of than the whole, with 95% "
		               "intervals of the difference",
		               "rows", telling, "attribute value all selected difference low high");
}

/* Is the attribute the same for all examples of the row's class: the same value, or the class's number? */
static bool
hurts_is_of_class(const json_t *row)
{
	const double all = json_number_value(json_object_get(row, "all"));
	const char *label = json_string_value(json_object_get(row, "label"));
	double number;

	if (json_is_string(json_object_get(row, "value")))
		return all == 1;
	return label && number_parse(label, &number) ? all == number
	                                             : all == json_number_value(json_object_get(row, "gold"));
}

const char *
answer_find_label_field(const struct report_request *request)
{
	const json_t *rows = json_object_get(request->children[ASK_GROUPS].answer, "rows"), *row, *other;
	const char *looked_at = "";
	size_t i, j;

	json_array_foreach (rows, i, row) {
		const char *attribute = json_string_value(json_object_get(row, "attribute"));
		size_t pure = 0, mixed = 0;
		bool is_pure;

		if (strcmp(attribute, looked_at) == 0)
			continue;
		looked_at = attribute;
		json_array_foreach (rows, j, other) {
			if (!json_is_integer(json_object_get(other, "gold")) ||
			    strcmp(attribute, json_string_value(json_object_get(other, "attribute"))) != 0)
				continue;
			is_pure = hurts_is_of_class(other);
			pure += is_pure;
			mixed += !is_pure && json_number_value(json_object_get(other, "all")) != 0;
		}
		if (pure > 1 && mixed == 0)
			return attribute;
	}
	return NULL;
}

void
answer_hurts(struct report_request *request)
{
	page_begin_section(&request->page, "hurts",
	                   request->of_losses ? "What hurts, by attribute" : "What hurts, by class and by attribute");
	if (!request->of_losses)
		hurts_classes(request);
	hurts_attributes(request);
}
