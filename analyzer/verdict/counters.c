/* counters.c: writes into a report what was counted while runs were recorded: by the store, and by the clients that
 * sent the observations (counters.h). */
#include "counters.h"

#include "verdict.h"

uint64_t
counters_quantile(const struct store_latency *latency, double share)
{
	double wanted = share * (double)latency->count;
	uint64_t seen = 0;

	for (unsigned bin = 0; bin < STORE_LATENCY_BINS && latency->count; bin++) {
		seen += latency->bins[bin];
		if ((double)seen >= wanted)
			return UINT64_C(2) << bin;
	}
	return 0;
}

/* Reports how long commits took; for people as quantiles, in a line of their own. */
static void
report_commits(struct report *report, const struct store_latency *latency)
{
	unsigned last = STORE_LATENCY_BINS;

	while (last > 0 && latency->bins[last - 1] == 0)
		last--;
	report_begin(report, "commits");
	REPORT_WHOLES(report, {"count", latency->count}, {"total_us", latency->sum}, {"longest_us", latency->max});
	if (report->as_text) {
		REPORT_WHOLES(report, {"half_below_us", counters_quantile(latency, 0.5)},
		              {"99%_below_us", counters_quantile(latency, 0.99)});
	} else {
		report_begin_list(report, "by_log2_us");
		for (unsigned bin = 0; bin < last; bin++)
			report_whole(report, NULL, latency->bins[bin]);
		report_end(report);
	}
	report_end(report);
}

void
counters_report(struct report *report, const struct store_counters *counters)
{
	if (report->as_text && counters->frames == 0)
		return;
	report_begin(report, "counters");
	REPORT_WHOLES(report, {"frames", counters->frames}, {"bytes", counters->bytes},
	              {"received", counters->received}, {"repeated", counters->repeated},
	              {"skipped", counters->skipped}, {"gaps", counters->gaps}, {"malformed", counters->malformed},
	              {"failures", counters->failures}, {"dropped", counters->dropped});
	if (!report->as_text) { /* people read only the sum here, and the reasons in the finding */
		report_begin(report, "refused");
		for (unsigned r = 0; r < STORE_REFUSALS; r++)
			report_whole(report, verdict_refusals[r], counters->refused[r]);
		report_end(report);
		report_commits(report, &counters->commits);
	}
	report_end(report);
	if (report->as_text && counters->commits.count > 0)
		report_commits(report, &counters->commits);
}

void
counters_report_clients(struct report *report, const struct store_client *clients)
{
	if (report->as_text && clients->told == 0)
		return;
	report_begin(report, "clients");
	REPORT_WHOLES(report, {"told", clients->told}, {"logged", clients->logged}, {"refused", clients->refused},
	              {"dropped", clients->dropped}, {"spooled", clients->spooled}, {"waits", clients->waits});
	report_end(report);
}
