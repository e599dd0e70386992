/* counters.c: see counters.h. */
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

static json_t *
latency_json(const struct store_latency *latency)
{
	json_t *bins = json_array();
	unsigned last = STORE_LATENCY_BINS;

	while (last > 0 && latency->bins[last - 1] == 0)
		last--;
	for (unsigned bin = 0; bin < last; bin++)
		json_array_append_new(bins, json_integer((json_int_t)latency->bins[bin]));
	return json_pack("{s:I, s:I, s:I, s:o}", "count", (json_int_t)latency->count, "total_us",
	                 (json_int_t)latency->sum, "longest_us", (json_int_t)latency->max, "by_log2_us", bins);
}

json_t *
counters_json(const struct store_counters *counters)
{
	json_t *refused = json_object();

	for (unsigned r = 0; r < STORE_REFUSALS; r++)
		json_object_set_new(refused, verdict_refusals[r], json_integer((json_int_t)counters->refused[r]));
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "frames",
	                 (json_int_t)counters->frames, "bytes", (json_int_t)counters->bytes, "received",
	                 (json_int_t)counters->received, "repeated", (json_int_t)counters->repeated, "skipped",
	                 (json_int_t)counters->skipped, "gaps", (json_int_t)counters->gaps, "malformed",
	                 (json_int_t)counters->malformed, "failures", (json_int_t)counters->failures, "dropped",
	                 (json_int_t)counters->dropped, "refused", refused, "commits",
	                 latency_json(&counters->commits));
}

json_t *
counters_client_json(const struct store_client *client)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "told", (json_int_t)client->told, "logged",
	                 (json_int_t)client->logged, "refused", (json_int_t)client->refused, "dropped",
	                 (json_int_t)client->dropped, "spooled", (json_int_t)client->spooled, "waits",
	                 (json_int_t)client->waits);
}
