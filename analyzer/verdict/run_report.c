/* run_report.c: writes what is known of a run without reading its observations: its record in the store, and the
 * counters of its recording. For `portolan runs --json` and for the live page's server. */
#include "run_report.h"

#include "completeness.h"
#include "counters.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *
run_state_name(const struct store_run_info *run)
{
	return run->state == STORE_DAMAGED ? "damaged" : run->state == STORE_RECORDING ? "recording" : "closed";
}

const char *
run_mode_name(const struct store_run_info *run)
{
	return run->mode == PORTOLAN_TRAIN_FORWARD ? "train-forward" : "epoch-end";
}

/* The form is that of ISO 8601, in UTC. */
void
run_time(int64_t seconds, char text[32])
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (!gmtime_r(&when, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		text[0] = '\0';
}

/* Reads the counters of a run's recording. Of `sessions`, only the sums and numbers of sessions are filled. */
static int
read_counters(struct store *store, uint32_t run, struct completeness *sessions, struct store_counters *counters,
              struct portolan_error *error)
{
	int code = store_counters(store, run, counters, error);

	*sessions = (struct completeness){0};
	if (code >= 0)
		code = store_sessions(store, run, &sessions->sessions, &sessions->session_count, error);
	if (code < 0)
		return code;
	completeness_sum_sessions(sessions);
	free(sessions->sessions);
	return code;
}

const char *
run_kind_name(const struct store_run_info *run)
{
	return run->observations == 0 ? NULL : run->of_losses ? "loss" : "labels";
}

static void
report_run(struct report *report, const struct store_run_info *run, const char *fingerprint,
           const struct completeness *sessions, const struct store_counters *counters)
{
	char created[32];

	run_time(run->created, created);
	REPORT_WHOLES(report, {"examples", run->examples}, {"epochs", run->epochs},
	              {"observations", run->observations});
	report_text(report, "state", run_state_name(run));
	report_text(report, "mode", run_mode_name(run));
	report_text(report, "kind", run_kind_name(run));
	if (fingerprint)
		report_text(report, "fingerprint", fingerprint[0] ? fingerprint : NULL);
	report_text(report, "created", created);
	report_text(report, "group", run->group);
	REPORT_WHOLES(report, {"declared", run->declared}, {"replaced", run->replaced}, {"refused", run->refused},
	              {"changed_labels", run->changed_labels});
	report_begin(report, "sessions");
	REPORT_WHOLES(report, {"live", sessions->live}, {"closed", sessions->closed}, {"never_closed", sessions->lost});
	report_end(report);
	counters_report_clients(report, &sessions->clients);
	counters_report(report, counters);
}

int
run_report_texts(struct report *report, struct store *store, uint32_t run, struct portolan_error *error)
{
	struct store_counters counters;
	struct store_texts texts;
	int code = store_texts(store, run, &texts, error);

	if (code >= 0)
		code = store_counters(store, run, &counters, error);
	if (code < 0 || (texts.examples == 0 && counters.texts_refused == 0))
		return code;
	report_begin(report, "texts");
	report_whole(report, "examples", texts.examples);
	report_whole(report, "bytes", texts.bytes);
	report_whole(report, "refused", counters.texts_refused);
	report_begin_list(report, "fields");
	for (size_t f = 0; f < texts.field_count; f++)
		report_text(report, NULL, texts.fields[f]);
	report_end(report);
	report_end(report);
	return 0;
}

int
run_report(struct report *report, struct store *store, struct store_run_info *run, const char *fingerprint,
           struct portolan_error *error)
{
	struct completeness sessions;
	struct store_counters counters;
	int code = run->state == STORE_DAMAGED ? STORE_E_CORRUPT
	                                       : read_counters(store, run->number, &sessions, &counters, error);

	if (code == STORE_E_NO_RUN) /* removed just now */
		return 0;
	if (code < 0 && code != STORE_E_CORRUPT)
		return code;
	report_begin(report, NULL);
	report_text(report, "name", run->name);
	if (code == STORE_E_CORRUPT) {
		run->state = STORE_DAMAGED;
		report_text(report, "state", run_state_name(run));
	} else {
		report_run(report, run, fingerprint, &sessions, &counters);
		code = run_report_texts(report, store, run->number, error);
	}
	report_end(report);
	return code == STORE_E_CORRUPT || code == STORE_E_NO_RUN ? 0 : code;
}

int
run_report_one(struct report *report, struct store *store, const char *name, struct portolan_error *error)
{
	struct store_run_info *runs;
	uint32_t number;
	size_t count, i = 0;
	int code = store_find_run(store, name, &number, error); /* suggests a similar name, if there is no such run */

	if (code >= 0)
		code = store_runs(store, &runs, &count, error);
	if (code < 0)
		return code;
	while (i < count && strcmp(runs[i].name, name) != 0)
		i++;
	code = i < count ? run_report(report, store, &runs[i], NULL, error)
	                 : error_set(error, STORE_E_NO_RUN, "run '%s' was removed", name);
	free(runs);
	return code;
}

int
run_report_all(struct report *report, struct store *store, struct portolan_error *error)
{
	struct store_run_info *runs;
	size_t count;
	int code = store_runs(store, &runs, &count, error);

	if (code < 0)
		return code;
	report_begin_list(report, NULL);
	for (size_t i = 0; i < count && code >= 0; i++)
		code = run_report(report, store, &runs[i], NULL, error);
	report_end(report);
	free(runs);
	return code;
}
