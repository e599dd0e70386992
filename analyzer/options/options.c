/* options.c: defines the options that commands share (--store, -o, --epochs …), and finds an option of a command by its
 * name, by the beginning of its name, or by its letter. */
#include "options.h"

#include "base/message.h"
#include "base/style.h"
#include "base/suggest.h"
#include "measures/measures.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_LEAST (UINT64_C(16) << 20)
#define THREADS_MOST 1024
#define ANY (~0u) /* all commands take it */

#define TO(member) .offset = offsetof(struct common_options, member)
static const struct {
	unsigned commands;
	struct option_spec option;
} shared[] = {
        {COMMON_EPOCHS, {"epochs", "A:B", OPTION_EPOCHS}},
        {COMMON_WINDOW, {"window", "J", OPTION_WHOLE, TO(query.window), .least = 2, .most = MEASURES_WINDOW_MAX}},
        {COMMON_WINDOW | COMMON_LOSS_THRESHOLD, {"loss-threshold", "T", OPTION_REAL, TO(query.loss_threshold)}},
        {COMMON_WINDOW, {"never", "WHAT", OPTION_CHOICE, TO(query.never), .choices = never_names}},
        {COMMON_MINUS, {"minus", "RUN", OPTION_RUN, TO(query.minus)}},
        {COMMON_MINUS, {"minus-epochs", "A:B", OPTION_TEXT, TO(query.minus_epochs), .needs = "minus"}},
        {COMMON_OUTPUT, {"output", "FILE", OPTION_OUTPUT, TO(output), 'o', .often = true}},
        {COMMON_JSON, {"json", NULL, OPTION_FLAG, TO(json), .group = OPTION_GROUP_OUTPUT}},
        {COMMON_STRICT, {"strict", NULL, OPTION_FLAG, TO(strict), .group = OPTION_GROUP_RESOURCES}},
        {COMMON_THREADS,
         {"threads", "N", OPTION_WHOLE, TO(query.threads), .least = 1, .most = THREADS_MOST,
          .group = OPTION_GROUP_RESOURCES}},
        {COMMON_MEMORY,
         {"max-memory", "SIZE", OPTION_SIZE, TO(query.max_memory), .least = MEMORY_LEAST,
          .group = OPTION_GROUP_RESOURCES}},
        {COMMON_SCRIPT,
         {"script", NULL, OPTION_FLAG, TO(script), .needs = "plot plot-epochs scatter", .group = OPTION_GROUP_OUTPUT}},
        {COMMON_STORE, {"store", "DIR", OPTION_FOLDER, TO(query.store)}},
        {ANY, {"quiet", NULL, OPTION_FLAG, TO(quiet), 'q', .group = OPTION_GROUP_RESOURCES}},
        {ANY, {"verbose", NULL, OPTION_FLAG, TO(verbose), 'v', .group = OPTION_GROUP_RESOURCES}},
        {ANY,
         {"styled", "WHEN", OPTION_CHOICE, TO(styled), .choices = style_when_names, .group = OPTION_GROUP_RESOURCES}},
        {ANY, {"help", NULL, OPTION_HELP, .letter = 'h', .group = OPTION_GROUP_RESOURCES}},
};
#undef TO

const struct option_spec *
option_at(const struct command *command, size_t index)
{
	const struct option_spec *const tables[] = {command->base, command->options};

	for (size_t t = 0; t < 2; t++)
		for (const struct option_spec *option = tables[t]; option && option->name; option++)
			if (index-- == 0)
				return option;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if ((shared[i].commands == ANY || shared[i].commands & command->common) && index-- == 0)
			return &shared[i].option;
	return NULL;
}

const char *const option_group_names[OPTION_GROUPS] = {
        [OPTION_GROUP_TAKE] = "What to take",   [OPTION_GROUP_HOW] = "How",
        [OPTION_GROUP_OUTPUT] = "Output",       [OPTION_GROUP_ACCESS] = "Access",
        [OPTION_GROUP_RESOURCES] = "Resources",
};

enum option_group
option_group(const struct option_spec *option)
{
	if (option->group != OPTION_GROUP_BY_KIND)
		return option->group;
	return option->kind == OPTION_OUTPUT ? OPTION_GROUP_OUTPUT : OPTION_GROUP_TAKE;
}

int
options_wrong(const struct common_options *request, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	message_error("%s: %s (see: portolan help %s)", request->command->name, text, request->command->name);
	return STATUS_USAGE;
}

const char *
option_label(const struct option_spec *option, char label[OPTION_LABEL_ROOM])
{
	if (option->letter == 'o')
		return "-o";
	snprintf(label, OPTION_LABEL_ROOM, "--%s", option->name);
	return label;
}

bool
option_given(const struct common_options *request, const char *name)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(request->command, i)) != NULL; i++)
		if (strcmp(option->name, name) == 0 && request->given & UINT64_C(1) << i)
			return true;
	return false;
}

bool
option_is_named(const char *words, const char *name)
{
	for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
		if (strcspn(words, " ") == strlen(name) && strncmp(words, name, strlen(name)) == 0)
			return true;
	return false;
}

int
options_choice(const struct common_options *request, const char *what, const char *text, const char *const *names)
{
	const char *nearest;
	char all[512] = ""; /* room for all names of measures, or of rules, and more */
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

	for (const char *at = text;; at++) { /* a wrong text is left whole: messages quote it */
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

/* Finds an option by the beginning of its name, or of one of its old names. *matches: how many names begin with the
 * text. */
static int
options_find_among(const struct command *command, const char *name, size_t length, bool old, int *matches)
{
	const struct option_spec *option;
	int found = -1;

	*matches = 0;
	for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
		const char *words = old ? option->old_names : option->name;
		bool begins = false;

		for (; words && *words; words += strcspn(words, " "), words += *words == ' ') {
			if (strncmp(words, name, length) != 0)
				continue;
			if (words[length] == '\0' || words[length] == ' ') {
				*matches = 1;
				return (int)i;
			}
			begins = true;
		}
		if (begins) {
			found = (int)i;
			++*matches;
		}
	}
	return found;
}

int
options_find_name(const struct command *command, const char *name, size_t length)
{
	int matches, found = options_find_among(command, name, length, false, &matches);
	int old_matches, old = options_find_among(command, name, length, true, &old_matches);
	const struct option_spec *was = old >= 0 ? option_at(command, (size_t)old) : NULL;

	if (matches == 1 && strlen(option_at(command, (size_t)found)->name) == length)
		return found;
	if (was && option_is_named(was->old_names, strndupa(name, length)))
		return old;
	return matches == 1 ? found : matches == 0 && old_matches == 1 ? old : -1;
}

int
options_find_letter(const struct command *command, char letter)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(command, i)) != NULL; i++)
		if (option->letter == letter)
			return (int)i;
	return -1;
}
