/* values.c: converts the argument of an option to the value of its kind, and reports what is wrong with it. */
#include "values.h"

#include "base/number.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

int
options_choice(const struct common_options *request, const char *what, const char *text, const char *const *names)
{
	const char *nearest;
	char all[512] = ""; /* all names of measures, or of rules, and more */
	size_t count;

	for (count = 0; names[count]; count++) {
		size_t used = strlen(all);

		if (strcmp(text, names[count]) == 0)
			return (int)count;
		snprintf(all + used, sizeof(all) - used, "%s%s", count ? ", " : "", names[count]);
	}
	nearest = suggest_nearest(text, names, count);
	if (nearest)
		options_wrong(request, "%s %s: did you mean %s?", what, text, nearest);
	else
		options_wrong(request, "%s %s: one of %s", what, text, all);
	return -1;
}

size_t
options_split(char *text, size_t most, const char **parts)
{
	size_t count = 0;

	for (const char *at = text;; at++) { /* a wrong text stays whole: messages quote it */
		size_t length = strcspn(at, ",");

		if (length == 0 || count == most)
			return 0;
		count++;
		at += length;
		if (*at == '\0')
			break;
	}
	for (size_t i = 0; i < count; i++) {
		parts[i] = text;
		text += strcspn(text, ",");
		*text++ = '\0';
	}
	return count;
}

static int
option_take_epochs(struct common_options *request, const char *text)
{
	request->query.epochs_given = true;
	request->query.epochs_auto = strcmp(text, "auto") == 0;
	if (request->query.epochs_auto) {
		request->query.epoch_from = 0;
		request->query.epoch_to = UINT32_MAX;
		return 0;
	}
	if (!run_query_parse_epochs(text, &request->query.epoch_from, &request->query.epoch_to))
		return options_wrong(request, "--epochs %s: say A:B, for epochs A to B-1; one epoch is A:A+1", text);
	if (request->query.epoch_from >= request->query.epoch_to)
		return options_wrong(request, "--epochs %s is empty: the end is not included", text);
	return 0;
}

static int
option_take_whole(const struct common_options *request, const struct option_spec *option, const char *text,
                  uint64_t *to)
{
	uint64_t value;

	if (number_parse_u64(text, strlen(text), &value) && value >= option->least &&
	    (option->most == 0 || value <= option->most)) {
		*to = value;
		return 0;
	}
	if (option->most == 0 || (option->most == INT64_MAX && strspn(text, "0123456789") < strlen(text)))
		return options_wrong(request, "--%s %s: a whole number from %llu", option->name, text,
		                     (unsigned long long)option->least);
	return options_wrong(request, "--%s %s: a whole number from %llu to %llu", option->name, text,
	                     (unsigned long long)option->least, (unsigned long long)option->most);
}

static int
option_take_real(const struct common_options *request, const struct option_spec *option, const char *text, double *to)
{
	static const char *const ranges[] = {
	        [RANGE_ANY] = "",
	        [RANGE_FROM_TO] = " from %g to %g",
	        [RANGE_ABOVE_TO] = " above %g, up to %g",
	        [RANGE_FROM_BELOW] = " from %g, and below %g",
	        [RANGE_BETWEEN] = " between %g and %g",
	};
	bool above = option->range == RANGE_ABOVE_TO || option->range == RANGE_BETWEEN;
	bool below = option->range == RANGE_FROM_BELOW || option->range == RANGE_BETWEEN;
	char range[64];
	double value;

	if (number_parse(text, &value) &&
	    (option->range == RANGE_ANY || ((above ? value > option->from : value >= option->from) &&
	                                    (below ? value < option->to : value <= option->to)))) {
		*to = value;
		return 0;
	}
	snprintf(range, sizeof(range), ranges[option->range], option->from, option->to);
	return options_wrong(request, "--%s %s: a number%s", option->name, text, range);
}

static int
option_take_size(const struct common_options *request, const struct option_spec *option, const char *text, uint64_t *to)
{
	bool in_mebibytes = option->least >= 1 << 20;
	unsigned long long least = in_mebibytes ? option->least >> 20 : option->least;
	uint64_t bytes;

	if (number_parse_size(text, &bytes) && bytes >= option->least) {
		*to = bytes;
		return 0;
	}
	return options_wrong(request, "--%s %s: say a size of at least %llu%s, as 512M or 2G", option->name, text,
	                     least, in_mebibytes ? "M" : "");
}

static int
option_take_choice(const struct common_options *request, const struct option_spec *option, const char *text, int *to)
{
	char label[OPTION_LABEL_ROOM];
	int choice = options_choice(request, option_label(option, label), text, option->choices);

	if (choice < 0)
		return STATUS_USAGE;
	*to = choice;
	return 0;
}

int
option_store(struct common_options *request, const struct option_spec *option, char *text)
{
	void *to = (char *)request + option->offset;

	if (option->take)
		return option->take(request, text);
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)to = true;
		return 0;
	case OPTION_WHOLE:
		return option_take_whole(request, option, text, to);
	case OPTION_REAL:
		return option_take_real(request, option, text, to);
	case OPTION_SIZE:
		return option_take_size(request, option, text, to);
	case OPTION_CHOICE:
		return option_take_choice(request, option, text, to);
	case OPTION_EPOCHS:
		return option_take_epochs(request, text);
	default:
		*(const char **)to = text;
		return 0;
	}
}
