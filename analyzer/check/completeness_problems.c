/*
 * completeness_problems.c: each way in which a run is incomplete, said in one line that ends with what can be done.
 *
 * A session that was never closed is no problem by itself: a resumed run may hold all that it lost.
 */
#include "completeness_problems.h"

#include "program/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const completeness_refusals[STORE_REFUSALS] = {
        [STORE_REFUSED_ID] = "id",   [STORE_REFUSED_GOLD_PROB] = "gold_prob", [STORE_REFUSED_CLASS] = "class",
        [STORE_REFUSED_NAN] = "nan", [STORE_REFUSED_BATCH] = "batch",
};

__attribute__((format(printf, 2, 3))) static void
say(struct completeness *result, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	if (result->problem_count < COMPLETENESS_PROBLEMS && vasprintf(&line, format, arguments) >= 0)
		result->problems[result->problem_count++] = line;
	va_end(arguments);
}

static const char *
grouped(uint64_t value, char text[NUMBER_ROOM])
{
	number_print_grouped(value, text);
	return text;
}

static void
say_recording(struct completeness *result)
{
	char live[NUMBER_ROOM];

	if (result->info.state == STORE_RECORDING)
		say(result, "still being recorded: sessions live: %s", grouped(result->live, live));
	if (result->epoch_count == 0 && !result->damaged)
		say(result, "no observations");
}

/* "3, 5, 6 and 12 more". */
static void
list_epochs(const struct completeness *result, bool (*is_one)(const struct completeness_epoch *epoch), char text[160])
{
	size_t used = 0, count = 0, shown = 0;

	text[0] = '\0';
	for (size_t e = 0; e < result->epoch_count; e++)
		count += is_one(&result->epochs[e]);
	for (size_t e = 0; e < result->epoch_count && shown < 5; e++) {
		if (!is_one(&result->epochs[e]))
			continue;
		used += (size_t)snprintf(text + used, 160 - used, "%s%u", shown ? ", " : "",
		                         result->epochs[e].stored.epoch);
		shown++;
	}
	if (count > shown)
		snprintf(text + used, 160 - used, " and %zu more", count - shown);
}

static bool
misses_some(const struct completeness_epoch *epoch)
{
	return epoch->missing && epoch->state != EPOCH_OPEN;
}

static bool
is_interrupted(const struct completeness_epoch *epoch)
{
	return epoch->state == EPOCH_INTERRUPTED;
}

static void
say_missing(struct completeness *result)
{
	const struct store_run_info *info = &result->info;
	char some[NUMBER_ROOM], all[NUMBER_ROOM], epochs[160];

	if (info->declared > info->examples)
		say(result, "never observed: %s of the %s declared examples",
		    grouped(info->declared - info->examples, some), grouped(info->declared, all));
	if (result->missing) {
		list_epochs(result, misses_some, epochs);
		say(result, "observations missing: %s (epochs %s)", grouped(result->missing, some), epochs);
	}
	if (result->skipped_epochs)
		say(result, "epochs without any observation between the first and the last: %s",
		    grouped(result->skipped_epochs, some));
	list_epochs(result, is_interrupted, epochs);
	if (epochs[0])
		say(result,
		    "never ended: epochs %s; their client neither ended them nor closed, and may have logged more",
		    epochs);
}

static void
say_refused(struct completeness *result)
{
	char text[200] = "", number[NUMBER_ROOM];
	size_t used = 0;

	if (!result->info.refused)
		return;
	for (unsigned r = 0; r < STORE_REFUSALS; r++)
		if (result->counters.refused[r])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? ", " : "",
			                         completeness_refusals[r],
			                         grouped(result->counters.refused[r], number));
	say(result, "observations refused: %s%s%s%s", grouped(result->info.refused, number), used ? " (" : "", text,
	    used ? ")" : "");
}

static void
say_clients(struct completeness *result)
{
	const struct store_client *clients = &result->clients;
	char number[NUMBER_ROOM], spooled[NUMBER_ROOM];

	if (clients->refused)
		say(result, "rows left out by clients, as not usable: %s", grouped(clients->refused, number));
	if (clients->dropped)
		say(result, "observations dropped by clients: %s", grouped(clients->dropped, number));
	if (result->not_arrived)
		say(result,
		    "observations logged that have not arrived: %s (spooled: %s); portolan import takes spool files",
		    grouped(result->not_arrived, number), grouped(clients->spooled, spooled));
}

void
completeness_find_problems(struct completeness *result)
{
	say_recording(result);
	say_missing(result);
	say_refused(result);
	say_clients(result);
}
