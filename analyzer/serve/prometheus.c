/*
 * prometheus.c: answers GET /metrics of `portolan serve`: the counters of the store and of its runs, for Prometheus, in
 * its text format (version 0.0.4).
 *
 * Prometheus wants all samples of a family (a counter, with one sample for each run) together, after its HELP and TYPE.
 * So the counters of all runs are read first, and then written family by family.
 */
#include "answers.h"

#include "base/cleanup.h"
#include "verdict/completeness.h"
#include "verdict/verdict.h"
#include "watch/collector_lock.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TYPE "text/plain; version=0.0.4; charset=utf-8"

struct run_numbers {
	struct store_run_info info;
	struct store_counters counters;
	struct completeness sessions; /* only the sums over the sessions */
	uint64_t replaced;            /* in folded epochs only: the info's number can fall when the log becomes large */
	uint64_t told;                /* seconds since 1970: when a client last sent its counts; 0: never */
};

static int
metrics_read_run(struct store *store, const struct store_run_info *info, struct run_numbers *numbers,
                 struct portolan_error *error)
{
	struct completeness *sessions = &numbers->sessions;
	int code = store_counters(store, info->number, &numbers->counters, error);

	numbers->info = *info;
	if (code >= 0)
		code = store_sessions(store, info->number, &sessions->sessions, &sessions->session_count, error);
	if (code < 0)
		return code;
	completeness_sum_sessions(sessions);
	for (size_t s = 0; s < sessions->session_count; s++) {
		numbers->replaced += sessions->sessions[s].replaced;
		if (sessions->sessions[s].client.told > numbers->told)
			numbers->told = sessions->sessions[s].client.told;
	}
	free(sessions->sessions);
	sessions->sessions = NULL;
	return 0;
}

/* Reads the numbers of all runs that can be read. *read is the caller's to free(), also after a failure. */
static int
metrics_read_runs(struct store *store, struct run_numbers **read, size_t *count, struct portolan_error *error)
{
	CLEANUP_FREE struct store_run_info *infos = NULL;
	size_t known;
	int code = store_runs(store, &infos, &known, error);

	if (code < 0)
		return code;
	*read = calloc(known + 1, sizeof(**read));
	if (!*read)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < known; i++) {
		if (infos[i].state == STORE_DAMAGED)
			continue;
		code = metrics_read_run(store, &infos[i], &(*read)[*count], error);
		if (code >= 0)
			++*count;
		else if (code != STORE_E_NO_RUN && code != STORE_E_CORRUPT) /* removed just now, or damaged: left out */
			return code;
	}
	return 0;
}

static void
metrics_begin(struct output *output, const char *name, const char *type, const char *help)
{
	output_printf(output, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
metrics_write_label(struct output *output, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			output_bytes(output, "\\", 1);
		output_bytes(output, *text == '\n' ? "\\n" : text, *text == '\n' ? 2 : 1);
	}
}

/* Writes name{run="RUN",label="value"} number; label may be NULL. */
static void
metrics_write_sample(struct output *output, const char *name, const char *run, const char *label, const char *value,
                     uint64_t number)
{
	output_printf(output, "%s{run=\"", name);
	metrics_write_label(output, run);
	if (label)
		output_printf(output, "\",%s=\"%s", label, value);
	output_printf(output, "\"} %llu\n", (unsigned long long)number);
}

static void
metrics_write_one(struct output *output, const char *name, const char *type, const char *help, uint64_t number)
{
	metrics_begin(output, name, type, help);
	output_printf(output, "%s %llu\n", name, (unsigned long long)number);
}

/* The families that have one number for each run; offset: of that number in the run's counters. */
static const struct {
	const char *name, *type, *help;
	size_t offset;
} families[] = {
#define OF(member) offsetof(struct run_numbers, member)
        {"portolan_run_examples", "gauge", "Examples observed at least once.", OF(info.examples)},
        {"portolan_run_epochs", "gauge", "Epochs with observations.", OF(info.epochs)},
        {"portolan_run_observations", "gauge", "Observations kept.", OF(info.observations)},
        {"portolan_run_received_observations_total", "counter", "Observations that came, repeated ones among them.",
         OF(counters.received)},
        {"portolan_run_repeated_observations_total", "counter", "Observations that came again and changed nothing.",
         OF(counters.repeated)},
        {"portolan_run_replaced_observations_total", "counter",
         "Observations replaced by a later one of the same example and epoch, in epochs that are stored as columns.",
         OF(replaced)},
        {"portolan_run_received_bytes_total", "counter", "Bytes of the frames that came.", OF(counters.bytes)},
        {"portolan_run_client_logged_observations_total", "counter", "Observations that clients say they logged.",
         OF(sessions.clients.logged)},
        {"portolan_run_client_refused_observations_total", "counter", "Rows that clients say they refused.",
         OF(sessions.clients.refused)},
        {"portolan_run_client_dropped_observations_total", "counter", "Observations that clients say they dropped.",
         OF(sessions.clients.dropped)},
        {"portolan_run_client_spooled_observations_total", "counter",
         "Observations that clients say went through a spool file.", OF(sessions.clients.spooled)},
        {"portolan_run_client_waits_total", "counter", "Log calls that clients say had to wait.",
         OF(sessions.clients.waits)},
#undef OF
};

static void
metrics_write_families(struct output *output, const struct run_numbers *runs, size_t count)
{
	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		metrics_begin(output, families[f].name, families[f].type, families[f].help);
		for (size_t r = 0; r < count; r++) {
			uint64_t number;

			memcpy(&number, (const char *)&runs[r] + families[f].offset, sizeof(number));
			metrics_write_sample(output, families[f].name, runs[r].info.name, NULL, NULL, number);
		}
	}
}

static void
metrics_write_sessions(struct output *output, const struct run_numbers *runs, size_t count)
{
	static const char name[] = "portolan_run_sessions";

	metrics_begin(output, name, "gauge", "Sessions: live, closed, or lost (ended without a word).");
	for (size_t r = 0; r < count; r++) {
		metrics_write_sample(output, name, runs[r].info.name, "state", "live", runs[r].sessions.live);
		metrics_write_sample(output, name, runs[r].info.name, "state", "closed", runs[r].sessions.closed);
		metrics_write_sample(output, name, runs[r].info.name, "state", "lost", runs[r].sessions.lost);
	}
}

static void
metrics_write_refused(struct output *output, const struct run_numbers *runs, size_t count)
{
	static const char name[] = "portolan_run_refused_observations_total";

	metrics_begin(output, name, "counter", "Observations that can never be stored, by reason.");
	for (size_t r = 0; r < count; r++)
		for (unsigned reason = 0; reason < STORE_REFUSALS; reason++)
			metrics_write_sample(output, name, runs[r].info.name, "reason", verdict_refusals[reason],
			                     runs[r].counters.refused[reason]);
}

static uint64_t
metrics_age(uint64_t since, uint64_t now)
{
	return now > since ? now - since : 0;
}

/* Writes how long ago an event was in each run. A run in which it never happened has no sample. */
static void
metrics_write_ages(struct output *output, const struct run_numbers *runs, size_t count)
{
	static const char last[] = "portolan_run_last_observation_age_seconds";
	static const char told[] = "portolan_run_client_told_age_seconds";
	uint64_t now = (uint64_t)time(NULL);

	metrics_begin(output, last, "gauge", "Seconds since observations last came.");
	for (size_t r = 0; r < count; r++)
		if (runs[r].counters.last)
			metrics_write_sample(output, last, runs[r].info.name, NULL, NULL,
			                     metrics_age(runs[r].counters.last, now));
	metrics_begin(output, told, "gauge",
	              "Seconds since a client last told its own counts: the age of portolan_run_client_*.");
	for (size_t r = 0; r < count; r++)
		if (runs[r].told)
			metrics_write_sample(output, told, runs[r].info.name, NULL, NULL,
			                     metrics_age(runs[r].told, now));
}

/* Writes the histogram of commits' durations. A bin ends at a power of two, in microseconds. */
static void
metrics_write_latency(struct output *output, const struct store_latency *latency)
{
	static const char name[] = "portolan_commit_latency_seconds";
	uint64_t below = 0;

	metrics_begin(output, name, "histogram", "From the beginning of a commit of observations until it is on disk.");
	for (unsigned b = 0; b + 1 < STORE_LATENCY_BINS; b++) {
		below += latency->bins[b];
		output_printf(output, "%s_bucket{le=\"%.6f\"} %llu\n", name, (double)(UINT64_C(2) << b) / 1e6,
		              (unsigned long long)below);
	}
	output_printf(output, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.6f\n%s_count %llu\n", name,
	              (unsigned long long)latency->count, name, (double)latency->sum / 1e6, name,
	              (unsigned long long)latency->count);
}

static void
metrics_write_store(struct output *output, const char *directory, const struct store_counters *counters)
{
	struct stat status = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/data.mdb", directory);
	(void)stat(path, &status);
	metrics_write_one(output, "portolan_store_size_bytes", "gauge", "Size of the store's file on disk.",
	                  (uint64_t)status.st_blocks * 512);
	metrics_write_one(output, "portolan_collector_up", "gauge", "1: a collector serves the store.",
	                  collector_lock_is_held(directory));
	metrics_write_one(output, "portolan_store_received_frames_total", "counter", "Frames that came.",
	                  counters->frames);
	metrics_write_one(output, "portolan_store_received_bytes_total", "counter", "Bytes of the frames that came.",
	                  counters->bytes);
	metrics_write_one(output, "portolan_store_malformed_frames_total", "counter", "Frames that made no sense.",
	                  counters->malformed);
	metrics_write_one(output, "portolan_store_dropped_frames_total", "counter",
	                  "Frames beyond the credit of their session.", counters->dropped);
	metrics_write_one(output, "portolan_store_failed_commits_total", "counter",
	                  "Commits that failed: clients were told to repeat.", counters->failures);
	metrics_write_latency(output, &counters->commits);
}

int
answer_metrics(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	struct open_stores *stores = question->server->stores;
	struct output *output = &question->report->output;
	CLEANUP_FREE struct run_numbers *runs = NULL;
	struct store_counters counters;
	struct store *store;
	size_t count = 0;
	int code = open_stores_take(stores, &store, NULL, error);

	if (code < 0)
		return code;
	code = store_counters(store, 0, &counters, error);
	if (code >= 0)
		code = metrics_read_runs(store, &runs, &count, error);
	open_stores_return(stores, store);
	if (code < 0)
		return code;
	metrics_write_store(output, question->server->settings->query->store, &counters);
	metrics_write_families(output, runs, count);
	metrics_write_sessions(output, runs, count);
	metrics_write_refused(output, runs, count);
	metrics_write_ages(output, runs, count);
	answer->type = TYPE;
	return 0;
}
