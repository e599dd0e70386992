/* upsample_report.c: the effect of up-sampling, as text or JSON. */
#include "upsample.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "die/memory.h"
#include "output/table.h"

#include <stdio.h>
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
	                       upsample->ranking.priors, labels);
}

static const char *
upsample_token_text(const struct upsample *upsample, size_t s, size_t *length)
{
	return names_text(&upsample->counts.tokens, upsample->ranking.list[s].token, length);
}

/* The numbers of records that are there once, twice …; the caller's to free(). */
static uint64_t *
upsample_make_histogram(const struct upsample *upsample, size_t *bins)
{
	uint32_t most = 0;
	uint64_t *histogram;

	for (size_t i = 0; i < upsample->holders.count; i++)
		most = upsample->balance.repeats[i] > most ? upsample->balance.repeats[i] : most;
	*bins = (size_t)most + 2;
	histogram = memory_new(*bins, sizeof(*histogram));
	histogram[1] = upsample->counts.records - upsample->holders.count;
	for (size_t i = 0; i < upsample->holders.count; i++)
		histogram[upsample->balance.repeats[i] + 1]++;
	return histogram;
}

static void
report_add_numbers(struct report *report, const char *key, const uint64_t *numbers, size_t count)
{
	report_begin_list(report, key);
	for (size_t i = 0; i < count; i++)
		report_whole(report, NULL, numbers[i]);
	report_end(report);
}

static void
upsample_add_statistic(struct report *report, const struct upsample *upsample, size_t s, bool after)
{
	struct token_statistic statistic = upsample_statistic(upsample, s, after);
	size_t labels = upsample->counts.label_count;

	report_begin(report, after ? "after" : "before");
	report_whole(report, "n", statistic.n);
	report_real(report, "p_star", statistic.p_star);
	report_real(report, "z_star", statistic.z_star);
	report_add_numbers(report, "counts", (after ? upsample->balance.after : upsample->balance.before) + s * labels,
	                   labels);
	report_end(report);
}

/* What a token lacks of a label now. */
static uint64_t
upsample_lack(const struct upsample *upsample, size_t s, size_t label)
{
	size_t labels = upsample->counts.label_count;
	const uint64_t *counts = upsample->balance.after + s * labels, *shares = upsample->ranking.shares;

	return balance_lack(counts, shares, balance_leader(counts, shares, labels), label);
}

/* What a token lacks of a label, where it could not be balanced. */
struct upsample_lack {
	struct table_bytes token, label;
	uint64_t lacks;
	const char *why;
};

static struct table_bytes
upsample_text(const char *text, size_t length)
{
	return (struct table_bytes){text, length};
}

/* Lists those of the tokens from `from` to before `end`, at most `most`; returns how many there are. */
static size_t
upsample_list_lacks(const struct upsample *upsample, size_t from, size_t end, struct upsample_lack *list, size_t most)
{
	size_t labels = upsample->counts.label_count, count = 0, length;

	for (size_t i = from * labels; i < end * labels; i++) {
		enum balance_reason reason = upsample->balance.reasons[i];
		struct upsample_lack *lack = &list[count];
		const char *text;

		if (reason == BALANCE_DONE || count++ >= most)
			continue;
		text = upsample_token_text(upsample, i / labels, &length);
		lack->token = upsample_text(text, length);
		text = counts_label(&upsample->counts, i % labels, &length);
		lack->label = upsample_text(text, length);
		lack->lacks = upsample_lack(upsample, i / labels, i % labels);
		lack->why = reasons[reason];
	}
	return count;
}

static void
upsample_add_token(struct report *report, const struct upsample *upsample, size_t s)
{
	static const struct table_column columns[] = {{"label", TABLE_BYTES, offsetof(struct upsample_lack, label)},
	                                              {"lacks", TABLE_U64, offsetof(struct upsample_lack, lacks)},
	                                              {"why", TABLE_TEXT, offsetof(struct upsample_lack, why)}};
	const struct token_counts *counts = &upsample->counts;
	CLEANUP_FREE struct upsample_lack *lacks = memory_new(counts->label_count, sizeof(*lacks));
	size_t length;
	const char *text = upsample_token_text(upsample, s, &length);

	report_begin(report, NULL);
	report_bytes(report, "token", text, length);
	text = counts_label(counts, upsample->ranking.list[s].statistic.label, &length);
	report_bytes(report, "label", text, length);
	report_real(report, "p_bonferroni", ranking_chance(&upsample->ranking, &upsample->ranking.list[s].statistic));
	upsample_add_statistic(report, upsample, s, false);
	upsample_add_statistic(report, upsample, s, true);
	table_report(report, "not_balanced",
	             &TABLE_OF(columns, lacks, upsample_list_lacks(upsample, s, s + 1, lacks, counts->label_count)));
	report_end(report);
}

/* What a token is to show of each label, and what all records do: the first labels, for people. */
static void
upsample_add_shares(struct report *report, const struct upsample *upsample)
{
	const struct token_counts *counts = &upsample->counts;
	double all = (double)(counts->records - counts->ignored);
	size_t labels = counts->label_count, shown = report->as_text && labels > LABELS_SHOWN ? LABELS_SHOWN : labels;
	CLEANUP_FREE double *shares = memory_new(labels, sizeof(*shares));
	const struct table_column columns[] = {{"label", TABLE_NAME, .values = counts->order, .of = &counts->labels},
	                                       {"target", TABLE_F64, .values = upsample->ranking.priors},
	                                       {"share", TABLE_F64, .values = shares},
	                                       {"after", TABLE_F64, .values = upsample->shares_after}};

	for (size_t l = 0; l < labels; l++)
		shares[l] = (double)counts->label_records[l] / all;
	table_report(report, "shares", &TABLE_OF_ARRAYS(columns, shown));
	if (shown < labels)
		report_line(report, "  and %zu more: --json has all\n", labels - shown);
	report_line(report, "\n");
}

/* Tokens that chance explains are balanced for nothing. */
static void
upsample_add_chance(struct report *report, const struct upsample *upsample)
{
	size_t within = 0;

	for (size_t s = 0; s < upsample->token_count; s++)
		within += !ranking_is_significant(&upsample->ranking, &upsample->ranking.list[s].statistic);
	if (upsample->token_count == 0 && upsample->ranking.count > 0)
		report_line(report, "  " UPSAMPLE_NONE " (0.01, Bonferroni)\n");
	if (within > 0)
		report_line(report, "  chance explains %zu of these tokens (0.01, Bonferroni): see --significant\n",
		            within);
}

/* For people: the tokens as a table, and the first of those that could not be balanced. */
static void
upsample_add_table(struct report *report, const struct upsample *upsample)
{
	struct upsample_line {
		struct table_bytes token, label;
		struct token_statistic before, after;
	};
	static const struct table_column columns[] = {{"token", TABLE_BYTES, offsetof(struct upsample_line, token)},
	                                              {"label", TABLE_BYTES, offsetof(struct upsample_line, label)},
	                                              {"n", TABLE_U64, offsetof(struct upsample_line, before.n)},
	                                              {"p*", TABLE_F64, offsetof(struct upsample_line, before.p_star)},
	                                              {"z*", TABLE_F64, offsetof(struct upsample_line, before.z_star)},
	                                              {"after: n", TABLE_U64, offsetof(struct upsample_line, after.n)},
	                                              {"p*", TABLE_F64, offsetof(struct upsample_line, after.p_star)},
	                                              {"z*", TABLE_F64, offsetof(struct upsample_line, after.z_star)}};
	CLEANUP_FREE struct upsample_line *lines = memory_new(upsample->token_count, sizeof(*lines));

	for (size_t s = 0; s < upsample->token_count; s++) {
		struct upsample_line *line = &lines[s];
		size_t length;
		const char *text = upsample_token_text(upsample, s, &length);

		line->token = upsample_text(text, length);
		line->before = upsample_statistic(upsample, s, false);
		line->after = upsample_statistic(upsample, s, true);
		text = counts_label(&upsample->counts, line->before.label, &length);
		line->label = upsample_text(text, length);
	}
	table_report(report, NULL, &TABLE_OF(columns, lines, upsample->token_count));
}

static void
upsample_add_rest(struct report *report, const struct upsample *upsample)
{
	static const struct table_column columns[] = {
	        {"not balanced", TABLE_BYTES, offsetof(struct upsample_lack, token)},
	        {"lacks", TABLE_U64, offsetof(struct upsample_lack, lacks)},
	        {"of", TABLE_BYTES, offsetof(struct upsample_lack, label)},
	        {"why", TABLE_TEXT, offsetof(struct upsample_lack, why)}};
	struct upsample_lack lacks[LABELS_SHOWN];
	size_t open = upsample_list_lacks(upsample, 0, upsample->token_count, lacks, LABELS_SHOWN);

	if (open > 0)
		report_line(report, "\n");
	table_report(report, NULL, &TABLE_OF(columns, lacks, open < LABELS_SHOWN ? open : LABELS_SHOWN));
	if (open > LABELS_SHOWN)
		report_line(report, "  and %zu more: --json has all\n", open - LABELS_SHOWN);
}

/* By powers of two, as there may be hundreds. */
static void
upsample_add_multiplicities(struct report *report, const uint64_t *histogram, size_t bins)
{
	char key[64];

	report_begin(report, "records standing");
	for (size_t from = 1, to; from < bins; from = to) {
		uint64_t records = 0;

		to = from < 3 ? from + 1 : 2 * from - 1; /* 1, 2, 3 to 4, 5 to 8, 9 to 16 … */
		to = to < bins ? to : bins;
		for (size_t m = from; m < to; m++)
			records += histogram[m];
		if (to == from + 1)
			snprintf(key, sizeof(key), "%zu×", from);
		else
			snprintf(key, sizeof(key), "%zu–%zu×", from, to - 1);
		if (records)
			report_whole(report, key, records);
	}
	report_end(report);
}

/* The complete lists, for programs. */
static void
upsample_add_details(struct report *report, const struct upsample *upsample, const uint64_t *histogram, size_t bins)
{
	const struct token_counts *counts = &upsample->counts;
	const struct balance *balance = &upsample->balance;

	report_add_numbers(report, "imbalance", balance->imbalance, (size_t)balance->iterations + 1);
	report_add_numbers(report, "multiplicities", histogram + 1, bins - 1);
	report_begin_list(report, "labels");
	for (size_t l = 0; l < counts->label_count; l++) {
		size_t length;
		const char *text = counts_label(counts, l, &length);

		report_bytes(report, NULL, text, length);
	}
	report_end(report);
	upsample_add_shares(report, upsample);
	report_begin_list(report, "tokens");
	for (size_t s = 0; s < upsample->token_count; s++)
		upsample_add_token(report, upsample, s);
	report_end(report);
}

void
upsample_add_report(struct report *report, const char *key, const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;
	uint64_t records = upsample->counts.records;
	size_t bins;
	CLEANUP_FREE uint64_t *histogram = upsample_make_histogram(upsample, &bins);

	report_line(report, "%s: %s records, %s more by repeating (%.2f%%)\n", upsample->corpus.file.path,
	            NUMBER_GROUPED(records), NUMBER_GROUPED(balance->added),
	            100 * (double)balance->added / (double)records);
	report_begin(report, key);
	REPORT_WHOLES(report, {"records", records}, {"repeats", balance->added});
	if (!report->as_text || upsample->counts.ignored)
		report_whole(report, "ignored", upsample->counts.ignored);
	report_real(report, "growth", (double)balance->added / (double)records);
	REPORT_WHOLES(report, {"iterations", balance->iterations}, {"tried", balance->tried});
	report_text(report, "prior", ranking_prior_names[upsample->ranking.uniform]);
	if (report->as_text) {
		REPORT_WHOLES(report, {"imbalance", balance->imbalance[0]},
		              {"imbalance after", balance->imbalance[balance->iterations]});
		if (balance->tried > balance->iterations)
			report_line(report, "  taken back, as the sum rose: %u more iterations\n",
			            balance->tried - balance->iterations);
		upsample_add_multiplicities(report, histogram, bins);
		upsample_add_shares(report, upsample);
		upsample_add_table(report, upsample);
		upsample_add_chance(report, upsample);
		upsample_add_rest(report, upsample);
	} else {
		upsample_add_details(report, upsample, histogram, bins);
	}
	report_end(report);
}

void
upsample_add_request(struct report *report, const struct upsample *upsample)
{
	const struct corpus_request *request = &upsample->corpus_options.request;
	const struct ranking_request *ranking = &upsample->corpus_options.ranking;

	report_begin(report, "request");
	report_text(report, "data", request->path);
	report_begin_list(report, "text");
	for (size_t i = 0; i < request->text_count; i++)
		report_text(report, NULL, request->texts[i]);
	report_end(report);
	report_text(report, "label", request->label);
	report_begin_list(report, "ignored_labels");
	for (size_t i = 0; i < request->ignored_count; i++)
		report_text(report, NULL, request->ignored[i]);
	report_end(report);
	REPORT_WHOLES(report, {"top", upsample->token_count}, {"min_count", ranking->min_count},
	              {"max_count", ranking->max_count});
	report_text(report, "prior", ranking_prior_names[ranking->uniform]);
	report_flag(report, "significant", ranking->significant_first);
	report_text(report, "stop_words", request->stop_words);
	report_text(report, "tokens", request->tokens);
	REPORT_WHOLES(report, {"min_length", request->min_length}, {"ngrams", request->ngrams});
	report_flag(report, "per_field", request->per_field);
	report_real(report, "step", upsample->step);
	REPORT_WHOLES(report, {"iterations", upsample->iterations}, {"patience", upsample->patience});
	report_text(report, "pick", upsample->pick == BALANCE_UNIFORM ? "uniform" : "conflict-free");
	REPORT_WHOLES(report, {"max_multiplicity", upsample->max_multiplicity}, {"seed", upsample->seed});
	report_end(report);
}

int
upsample_report(const struct upsample *upsample, struct portolan_error *error)
{
	bool json = upsample->corpus_options.common.json;
	struct report report;
	int code = json ? report_open(&report, NULL, 2, error) : report_open_text(&report, NULL, error);

	if (code < 0)
		return code;
	upsample_add_report(&report, NULL, upsample);
	return report_close(&report, error);
}
