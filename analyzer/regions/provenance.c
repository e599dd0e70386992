/* provenance.c: says in a report from which run, and when, an output was made, and how its examples are spread over the
 * classes (provenance.h). */
#include "provenance.h"

#include "output/table.h"
#include "classes.h"

#include <portolan/portolan.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void
provenance_add_date(struct report *report, const char *key, int64_t seconds)
{
	time_t time = (time_t)seconds;
	struct tm parts;
	char text[64] = "";

	if (gmtime_r(&time, &parts))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	report_text(report, key, text);
}

/* The time now, or, as reproducible-builds.org asks for, $SOURCE_DATE_EPOCH. */
static int64_t
provenance_now(void)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	char *end;
	long long seconds;

	if (given && *given) {
		errno = 0;
		seconds = strtoll(given, &end, 10);
		if (errno == 0 && *end == '\0' && seconds >= 0)
			return seconds;
	}
	return (int64_t)time(NULL);
}

void
provenance_add_created(struct report *report)
{
	provenance_add_date(report, "created", provenance_now());
}

static void
provenance_add_run(struct report *report, const struct dynamics *dynamics, const char *store)
{
	char *path = realpath(store, NULL);

	report_text(report, "store", path ? path : store);
	free(path);
	report_text(report, "run", dynamics->info->name);
	provenance_add_date(report, "run_created", dynamics->info->created);
	report_begin_list(report, "epochs");
	for (size_t e = 0; e < dynamics->epoch_count; e++)
		report_whole(report, NULL, dynamics->epochs[e]);
	report_end(report);
	report_whole(report, "observed", dynamics->count);
}

void
provenance_begin(struct report *report, const char *command, const struct dynamics *dynamics, const char *store)
{
	report_begin(report, NULL);
	report_text(report, "portolan", PORTOLAN_VERSION);
	report_text(report, "command", command);
	provenance_add_created(report);
	if (dynamics)
		provenance_add_run(report, dynamics, store);
}

static void
provenance_list_classes(struct report *report, const struct dynamics *dynamics, const struct classes *classes,
                        const uint32_t *observed, const uint32_t *chosen)
{
	const struct table_column columns[] = {
	        {"gold", TABLE_I32, .values = classes->labels},
	        {"label", TABLE_LABEL, .values = classes->labels, .of = dynamics->snapshot},
	        {"observed", TABLE_U32, .values = observed},
	        {"chosen", TABLE_U32, .values = chosen}};

	table_report(report, "classes", &TABLE_OF_ARRAYS(columns, classes->count));
}

void
provenance_add_classes(struct report *report, const struct dynamics *dynamics, const uint32_t *chosen, size_t count)
{
	struct classes classes;
	uint32_t *counts;

	if (classes_make(&classes, dynamics->gold, dynamics->order, dynamics->count, NULL) < 0) {
		output_fail(&report->output);
		return;
	}
	counts = calloc(2 * classes.count, sizeof(*counts));
	for (size_t i = 0; counts && i < dynamics->count; i++)
		counts[classes_find(&classes, dynamics->gold[dynamics->order[i]])]++;
	for (size_t i = 0; counts && i < count; i++)
		counts[classes.count + classes_find(&classes, dynamics->gold[chosen[i]])]++;
	if (!counts)
		output_fail(&report->output);
	else if (classes.count == 1 && classes.labels[0] < 0)
		report_null(report, "classes");
	else
		provenance_list_classes(report, dynamics, &classes, counts, counts + classes.count);
	free(counts);
	classes_free(&classes);
}
