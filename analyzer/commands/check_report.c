/* check_report.c: the report on one run, for people and for programs. */
#include "check_report.h"

#include "check/counters.h"
#include "program/number.h"

static const char *const state_names[] = {
        [EPOCH_ENDED] = "ended", [EPOCH_OPEN] = "open", [EPOCH_INTERRUPTED] = "never ended"};

const char *
check_verdict(const struct completeness *result)
{
	if (result->damaged)
		return "damaged";
	return result->findings.count ? "incomplete" : "complete";
}

/* The i-th number of a line, grouped. */
static void
write_latency(struct output *output, const struct store_latency *latency)
{
	if (latency->count == 0)
		return;
	output_printf(output, "  commits       %s; µs each: mean %s, half below %s, 99%% below %s, longest %s\n",
	              NUMBER_GROUPED(latency->count), NUMBER_GROUPED(latency->sum / latency->count),
	              NUMBER_GROUPED(counters_quantile(latency, 0.5)), NUMBER_GROUPED(counters_quantile(latency, 0.99)),
	              NUMBER_GROUPED(latency->max));
}

static void
write_counters(struct output *output, const struct store_counters *counters)
{
	if (counters->frames == 0)
		return;
	output_printf(
	        output, "  received      %s observations, of which repeated %s, skipped %s; %s frames, %s bytes\n",
	        NUMBER_GROUPED(counters->received), NUMBER_GROUPED(counters->repeated),
	        NUMBER_GROUPED(counters->skipped), NUMBER_GROUPED(counters->frames), NUMBER_GROUPED(counters->bytes));
	if (counters->gaps || counters->malformed || counters->failures)
		output_printf(output, "  trouble       gaps %s, malformed frames %s, failed commits %s\n",
		              NUMBER_GROUPED(counters->gaps), NUMBER_GROUPED(counters->malformed),
		              NUMBER_GROUPED(counters->failures));
	if (counters->dropped)
		output_printf(output,
		              "  dropped       %s frames beyond the credit of their session; clients send them again\n",
		              NUMBER_GROUPED(counters->dropped));
	write_latency(output, &counters->commits);
}

static void
write_clients(struct output *output, const struct completeness *result)
{
	const struct store_client *clients = &result->clients;

	output_printf(output, "  sessions      %s: live %s, closed %s, never closed %s\n",
	              NUMBER_GROUPED(result->session_count), NUMBER_GROUPED(result->live),
	              NUMBER_GROUPED(result->closed), NUMBER_GROUPED(result->lost));
	if (clients->told)
		output_printf(output,
		              "  clients say   logged %s, left out %s, dropped %s, spooled %s, calls that waited %s\n",
		              NUMBER_GROUPED(clients->logged), NUMBER_GROUPED(clients->refused),
		              NUMBER_GROUPED(clients->dropped), NUMBER_GROUPED(clients->spooled),
		              NUMBER_GROUPED(clients->waits));
}

static void
write_epochs(struct output *output, const struct completeness *result)
{
	if (result->epoch_count == 0)
		return;
	output_text(output, "  epoch      observed       missing        in log  state\n");
	for (size_t e = 0; e < result->epoch_count; e++) {
		const struct completeness_epoch *epoch = &result->epochs[e];

		output_printf(output, "  %5u %13s %13s %13s  %s%s\n", epoch->stored.epoch,
		              NUMBER_GROUPED(epoch->observed), NUMBER_GROUPED(epoch->missing),
		              NUMBER_GROUPED(epoch->stored.waiting), state_names[epoch->state],
		              epoch->stored.folds > 1 || (epoch->stored.folds && epoch->stored.waiting) ? ", patched"
		                                                                                        : "");
	}
}

void
check_report_text(struct output *output, const struct completeness *result)
{
	const struct store_run_info *info = &result->info;
	char line[FINDING_ROOM];

	output_printf(output, "%s: %s\n", info->name, check_verdict(result));
	for (uint64_t i = 0; i < result->damaged && i < COMPLETENESS_LINES; i++)
		output_printf(output, "  damaged: %s\n", result->damage[i] ? result->damage[i] : "");
	if (result->damaged > COMPLETENESS_LINES)
		output_printf(output, "  damaged: %s more\n", NUMBER_GROUPED(result->damaged - COMPLETENESS_LINES));
	for (size_t i = 0; i < result->findings.count; i++) {
		verdict_print(&result->findings.found[i], line);
		output_printf(output, "  incomplete: %s\n", line);
	}
	output_printf(output, "  records       %s read, %s damaged\n", NUMBER_GROUPED(result->records),
	              NUMBER_GROUPED(result->damaged));
	if (info->declared)
		output_printf(output, "  examples      %s declared, %s observed\n", NUMBER_GROUPED(info->declared),
		              NUMBER_GROUPED(info->examples));
	else
		output_printf(output, "  examples      %s observed, none declared\n", NUMBER_GROUPED(info->examples));
	output_printf(output, "  observations  %s, replaced %s, refused %s; gold labels changed %s\n",
	              NUMBER_GROUPED(info->observations), NUMBER_GROUPED(info->replaced), NUMBER_GROUPED(info->refused),
	              NUMBER_GROUPED(info->changed_labels));
	write_clients(output, result);
	write_counters(output, &result->counters);
	write_epochs(output, result);
}

void
check_report_store(struct output *output, const struct store_counters *counters)
{
	output_text(output, "the store, removed runs included\n");
	write_counters(output, counters);
}

void
check_report_reader(struct output *output, const struct store_long_reader *reader)
{
	if (reader->process)
		output_printf(
		        output,
		        "the file grows: process %ld reads a state of the store that is %s transactions old, and %s "
		        "bytes cannot be used again until it has finished\n",
		        reader->process, NUMBER_GROUPED(reader->behind), NUMBER_GROUPED(reader->bytes));
}

json_t *
check_reader_json(const struct store_long_reader *reader)
{
	if (!reader->process)
		return json_null();
	return json_pack("{s:I, s:I, s:I}", "process", (json_int_t)reader->process, "transactions_behind",
	                 (json_int_t)reader->behind, "held_bytes", (json_int_t)reader->bytes);
}

static json_t *
damage_json(const struct completeness *result)
{
	json_t *list = json_array();

	for (uint64_t i = 0; i < result->damaged && i < COMPLETENESS_LINES; i++)
		json_array_append_new(list, json_string(result->damage[i] ? result->damage[i] : ""));
	return list;
}

/* The findings as lines, and by their kinds. */
static json_t *
findings_json(const struct findings *findings)
{
	json_t *lines = json_array(), *list = json_array();
	char line[FINDING_ROOM];

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->found[i];

		verdict_print(finding, line);
		json_array_append_new(lines, json_string(line));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s?}", "kind", verdict_texts[finding->kind].name,
		                                      "problem", finding->problem, "remedy",
		                                      verdict_texts[finding->kind].remedy));
	}
	return json_pack("{s:o, s:o}", "problems", lines, "findings", list);
}

static json_t *
epochs_json(const struct completeness *result)
{
	static const char *const words[] = {
	        [EPOCH_ENDED] = "ended", [EPOCH_OPEN] = "open", [EPOCH_INTERRUPTED] = "interrupted"};
	json_t *list = json_array();

	for (size_t e = 0; e < result->epoch_count; e++) {
		const struct completeness_epoch *epoch = &result->epochs[e];

		json_array_append_new(
		        list,
		        json_pack("{s:I, s:I, s:I, s:s, s:I, s:I, s:I}", "epoch", (json_int_t)epoch->stored.epoch,
		                  "observed", (json_int_t)epoch->observed, "missing", (json_int_t)epoch->missing,
		                  "state", words[epoch->state], "folded", (json_int_t)epoch->stored.folded, "in_log",
		                  (json_int_t)epoch->stored.waiting, "folds", (json_int_t)epoch->stored.folds));
	}
	return list;
}

json_t *
check_report_json(const struct completeness *result)
{
	const struct store_run_info *info = &result->info;
	json_t *run = json_pack("{s:s, s:s}", "run", info->name, "verdict", check_verdict(result));
	json_t *found = findings_json(&result->findings);
	json_t *damage = json_pack("{s:I, s:I, s:o}", "records", (json_int_t)result->records, "damaged",
	                           (json_int_t)result->damaged, "damage", damage_json(result));
	json_t *counts =
	        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "state",
	                  info->state == STORE_RECORDING ? "recording" : "closed", "declared",
	                  (json_int_t)info->declared, "examples", (json_int_t)info->examples, "observations",
	                  (json_int_t)info->observations, "missing", (json_int_t)result->missing, "skipped_epochs",
	                  (json_int_t)result->skipped_epochs, "replaced", (json_int_t)info->replaced, "refused",
	                  (json_int_t)info->refused, "changed_labels", (json_int_t)info->changed_labels);
	json_t *rest =
	        json_pack("{s:{s:I, s:I, s:I}, s:o, s:I, s:o, s:o}", "sessions", "live", (json_int_t)result->live,
	                  "closed", (json_int_t)result->closed, "never_closed", (json_int_t)result->lost, "clients",
	                  counters_client_json(&result->clients), "not_arrived", (json_int_t)result->not_arrived,
	                  "counters", counters_json(&result->counters), "epochs", epochs_json(result));

	if (run && found && damage && counts && rest) {
		json_object_update(run, found);
		json_object_update(run, damage);
		json_object_update(run, counts);
		json_object_update(run, rest);
	}
	json_decref(found);
	json_decref(damage);
	json_decref(counts);
	json_decref(rest);
	return run;
}
