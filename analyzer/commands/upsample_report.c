/* upsample_report.c: what up-sampling did, as text or JSON. */
#include "upsample.h"

#include "output/report.h"
#include "program/number.h"

#include <stdlib.h>

#define LABELS_SHOWN 8 /* of those that could not be balanced */

static const char *const reasons[] = {
        [BALANCE_DONE] = "balanced",
        [BALANCE_NO_RECORD] = "no record has both",
        [BALANCE_CAPPED] = "all records that have both stand as often as --max-multiplicity lets them",
        [BALANCE_OUT_OF_ROUNDS] = "the iterations were up",
        [BALANCE_WORSE] = "more repeats set back other tokens by more",
};

struct token_statistic
upsample_statistic(const struct upsample *upsample, size_t s, bool after)
{
	size_t labels = upsample->counts.label_count;

	return token_statistic((after ? upsample->balance.after : upsample->balance.before) + s * labels,
	                       after ? upsample->priors_after : upsample->ranking.priors, labels);
}

static const char *
token_text(const struct upsample *upsample, size_t s, size_t *length)
{
	return names_text(&upsample->counts.tokens, upsample->ranking.list[s].token, length);
}

/* How many records stand 1, 2 … times; the caller's to free(). */
static uint64_t *
make_histogram(const struct upsample *upsample, size_t *bins)
{
	uint32_t most = 0;
	uint64_t *histogram;

	for (size_t i = 0; i < upsample->holders.count; i++)
		most = upsample->balance.repeats[i] > most ? upsample->balance.repeats[i] : most;
	*bins = (size_t)most + 2;
	histogram = calloc(*bins, sizeof(*histogram));
	if (!histogram)
		return NULL;
	histogram[1] = upsample->counts.records - upsample->holders.count;
	for (size_t i = 0; i < upsample->holders.count; i++)
		histogram[upsample->balance.repeats[i] + 1]++;
	return histogram;
}

static json_t *
statistic_json(const struct upsample *upsample, size_t s, bool after)
{
	struct token_statistic statistic = upsample_statistic(upsample, s, after);
	const uint64_t *counts =
	        (after ? upsample->balance.after : upsample->balance.before) + s * upsample->counts.label_count;
	json_t *by_label = json_array();

	for (size_t l = 0; l < upsample->counts.label_count; l++)
		json_array_append_new(by_label, json_integer((json_int_t)counts[l]));
	return json_pack("{s:I, s:o, s:o, s:o}", "n", (json_int_t)statistic.n, "p_star",
	                 report_number(statistic.p_star), "z_star", report_number(statistic.z_star), "counts",
	                 by_label);
}

static json_t *
token_json(const struct upsample *upsample, size_t s)
{
	const struct token_counts *counts = &upsample->counts;
	json_t *open = json_array();
	size_t length, label_length;
	const char *text = token_text(upsample, s, &length);
	const char *leads = counts_label(counts, upsample->ranking.list[s].statistic.label, &label_length);

	for (size_t l = 0; l < counts->label_count; l++) {
		enum balance_reason reason = upsample->balance.reasons[s * counts->label_count + l];
		uint64_t lacks = balance_lack(upsample->balance.after, counts->label_count, s, l);
		size_t lacking_length;
		const char *lacking = counts_label(counts, l, &lacking_length);

		if (reason != BALANCE_DONE)
			json_array_append_new(open, json_pack("{s:s%, s:I, s:s}", "label", lacking, lacking_length,
			                                      "lacks", (json_int_t)lacks, "why", reasons[reason]));
	}
	return json_pack("{s:s%, s:s%, s:o, s:o, s:o}", "token", text, length, "label", leads, label_length, "before",
	                 statistic_json(upsample, s, false), "after", statistic_json(upsample, s, true), "not_balanced",
	                 open);
}

static json_t *
numbers_json(const uint64_t *numbers, size_t from, size_t to)
{
	json_t *list = json_array();

	for (size_t i = from; i < to; i++)
		json_array_append_new(list, json_integer((json_int_t)numbers[i]));
	return list;
}

static json_t *
labels_json(const struct token_counts *counts)
{
	json_t *list = json_array();

	for (size_t l = 0; l < counts->label_count; l++) {
		size_t length;
		const char *text = counts_label(counts, l, &length);

		json_array_append_new(list, json_stringn(text, length));
	}
	return list;
}

json_t *
upsample_report_json(const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;
	uint64_t records = upsample->counts.records, *histogram;
	json_t *tokens = json_array(), *report;
	size_t bins;

	histogram = make_histogram(upsample, &bins);
	if (!histogram) {
		json_decref(tokens);
		return NULL;
	}
	for (size_t s = 0; s < upsample->token_count; s++)
		json_array_append_new(tokens, token_json(upsample, s));
	report =
	        json_pack("{s:I, s:I, s:f, s:i, s:i, s:o, s:o, s:o, s:o}", "records", (json_int_t)records, "repeats",
	                  (json_int_t)balance->added, "growth", (double)balance->added / (double)records, "iterations",
	                  (int)balance->iterations, "tried", (int)balance->tried, "imbalance",
	                  numbers_json(balance->imbalance, 0, (size_t)balance->iterations + 1), "multiplicities",
	                  numbers_json(histogram, 1, bins), "labels", labels_json(&upsample->counts), "tokens", tokens);
	free(histogram);
	return report;
}

json_t *
upsample_request_json(const struct upsample *upsample)
{
	const struct corpus_request *request = &upsample->corpus_options.request;
	const struct ranking_request *ranking = &upsample->corpus_options.ranking;
	json_t *texts = json_array();

	for (size_t i = 0; i < request->text_count; i++)
		json_array_append_new(texts, report_text(request->texts[i]));
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:s, s:o, s:o, s:I, s:i, s:b, s:f, s:I, s:I, s:s, s:I, s:I}",
	                 "data", report_text(request->path), "text", texts, "label", report_text(request->label), "top",
	                 (json_int_t)upsample->token_count, "min_count", (json_int_t)ranking->min_count, "max_count",
	                 (json_int_t)ranking->max_count, "prior", ranking->share ? "share" : "uniform", "stop_words",
	                 report_text(request->stop_words), "tokens", report_text(request->tokens), "min_length",
	                 (json_int_t)request->min_length, "ngrams", (int)request->ngrams, "per_field",
	                 request->per_field, "step", upsample->step, "iterations", (json_int_t)upsample->iterations,
	                 "patience", (json_int_t)upsample->patience, "pick",
	                 upsample->pick == BALANCE_UNIFORM ? "uniform" : "conflict-free", "max_multiplicity",
	                 (json_int_t)upsample->max_multiplicity, "seed", (json_int_t)upsample->seed);
}

static void
write_tokens(const struct upsample *upsample, struct output *output)
{
	output_printf(output, "\n%-24s %-16s %10s %7s %8s %14s %7s %8s\n", "token", "label", "n", "p*", "z*",
	              "after: n", "p*", "z*");
	for (size_t s = 0; s < upsample->token_count; s++) {
		struct token_statistic before = upsample_statistic(upsample, s, false);
		struct token_statistic after = upsample_statistic(upsample, s, true);
		size_t length, label_length;
		const char *text = token_text(upsample, s, &length);
		const char *label = counts_label(&upsample->counts, before.label, &label_length);

		output_printf(output, "%-24.*s %-16.*s %10s %7.4f %8.2f %14s %7.4f %8.2f\n", (int)length, text,
		              (int)label_length, label, NUMBER_GROUPED(before.n), before.p_star, before.z_star,
		              NUMBER_GROUPED(after.n), after.p_star, after.z_star);
	}
}

static void
write_rest(const struct upsample *upsample, struct output *output)
{
	size_t labels = upsample->counts.label_count, shown = 0, open = 0;

	for (size_t i = 0; i < upsample->token_count * labels; i++) {
		enum balance_reason reason = upsample->balance.reasons[i];
		size_t length, label_length;
		const char *text = token_text(upsample, i / labels, &length);
		const char *label = counts_label(&upsample->counts, i % labels, &label_length);

		open += reason != BALANCE_DONE;
		if (reason == BALANCE_DONE || shown++ >= LABELS_SHOWN)
			continue;
		output_printf(output, "not balanced: '%.*s' lacks %s of '%.*s': %s\n", (int)length, text,
		              NUMBER_GROUPED(balance_lack(upsample->balance.after, labels, i / labels, i % labels)),
		              (int)label_length, label, reasons[reason]);
	}
	if (open > LABELS_SHOWN)
		output_printf(output, "not balanced: %zu more (see --json)\n", open - LABELS_SHOWN);
}

/* By powers of two, as there may be hundreds. */
static void
write_multiplicities(const uint64_t *histogram, size_t bins, struct output *output)
{
	output_text(output, "records that stand");
	for (size_t from = 1, to; from < bins; from = to) {
		uint64_t records = 0;

		to = from < 3 ? from + 1 : 2 * from - 1; /* 1, 2, 3 to 4, 5 to 8, 9 to 16 … */
		for (size_t m = from; m < to && m < bins; m++)
			records += histogram[m];
		if (records && to == from + 1)
			output_printf(output, "%s %zu×: %s", from > 1 ? "," : "", from, NUMBER_GROUPED(records));
		else if (records)
			output_printf(output, ", %zu–%zu×: %s", from, to < bins ? to - 1 : bins - 1,
			              NUMBER_GROUPED(records));
	}
	output_text(output, "\n");
}

static bool
write_text(const struct upsample *upsample, struct output *output)
{
	const struct balance *balance = &upsample->balance;
	uint64_t records = upsample->counts.records, *histogram;
	size_t bins;

	histogram = make_histogram(upsample, &bins);
	if (!histogram)
		return false;
	output_printf(output, "%s: %s records, %s more by repeating (%.2f%%)\n", upsample->corpus.file.path,
	              NUMBER_GROUPED(records), NUMBER_GROUPED(balance->added),
	              100 * (double)balance->added / (double)records);
	output_printf(output, "imbalance of %zu token%s, sum of D: %s, after %u iterations %s\n", upsample->token_count,
	              upsample->token_count == 1 ? "" : "s", NUMBER_GROUPED(balance->imbalance[0]), balance->iterations,
	              NUMBER_GROUPED(balance->imbalance[balance->iterations]));
	if (balance->tried > balance->iterations)
		output_printf(output, "taken back, as the sum rose: %u more iterations\n",
		              balance->tried - balance->iterations);
	write_multiplicities(histogram, bins, output);
	free(histogram);
	write_tokens(upsample, output);
	write_rest(upsample, output);
	return true;
}

int
upsample_report(const struct upsample *upsample, struct portolan_error *error)
{
	struct output output;
	int code;

	if (upsample->corpus_options.common.json)
		return report_print(NULL, upsample_report_json(upsample), 2, error);
	code = output_open(&output, NULL, error);
	if (code < 0)
		return code;
	if (!write_text(upsample, &output))
		output_fail(&output);
	return output_finish(&output, error);
}
