/* upsample_report.c: reports what `portolan upsample` did: as text for people, and as JSON for programs and for the
 * manifest. */
#include "upsample.h"

#include "base/number.h"
#include "die/die.h"
#include "output/table.h"

#include <stdio.h>
#include <stdlib.h>

#define LABELS_SHOWN 8 /* the most labels, and tokens that could not be balanced, that the text shows */

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

/* Counts how many records stand in the result once, twice …; the list is the caller's to free(). */
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

/* A token and a label that could not be balanced. */
struct upsample_lack {
	uint32_t token, label; /* numbers in the counts' names */
	uint64_t lacks;
	const char *why;
};

/* Lists, among the tokens from `from` to before `end`, what could not be balanced: `most` entries at most. Returns how
 * many there are in all. */
static size_t
upsample_list_lacks(const struct upsample *upsample, size_t from, size_t end, struct upsample_lack *list, size_t most)
{
	size_t labels = upsample->counts.label_count, count = 0;
	const uint64_t *shares = upsample->ranking.shares;

	for (size_t s = from; s < end; s++) {
		const uint64_t *counts = upsample->balance.after + s * labels;
		size_t leader = balance_leader(counts, shares, labels);

		for (size_t l = 0; l < labels; l++) {
			enum balance_reason reason = upsample->balance.reasons[s * labels + l];

			if (reason == BALANCE_DONE || count++ >= most)
				continue;
			list[count - 1] = (struct upsample_lack){.token = upsample->ranking.list[s].token,
			                                         .label = upsample->counts.order[l],
			                                         .lacks = balance_lack(counts, shares, leader, l),
			                                         .why = reasons[reason]};
		}
	}
	return count;
}

static void
upsample_add_token(struct report *report, const struct upsample *upsample, size_t s)
{
	const struct token_counts *counts = &upsample->counts;
	const struct table_column columns[] = {
	        {"label", TABLE_NAME, offsetof(struct upsample_lack, label), .of = &counts->labels},
	        {"lacks", TABLE_U64, offsetof(struct upsample_lack, lacks)},
	        {"why", TABLE_TEXT, offsetof(struct upsample_lack, why)}};
	CLEANUP_FREE struct upsample_lack *lacks = memory_new(counts->label_count, sizeof(*lacks));
	size_t length;
	const char *text = names_text(&counts->tokens, upsample->ranking.list[s].token, &length);

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

/* Adds for each label the share that it should have among a token's records, and its share of all records before and
 * after. The text has the first labels only. */
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

/* Says how many of the balanced tokens chance alone explains: balancing them was needless. */
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

/* Adds a table of the tokens before and after. Text only. */
static void
upsample_add_table(struct report *report, const struct upsample *upsample)
{
	struct upsample_line {
		uint32_t token, label; /* numbers in the counts' names */
		struct token_statistic before, after;
	};
	const struct token_counts *counts = &upsample->counts;
	const struct table_column columns[] = {
	        {"token", TABLE_NAME, offsetof(struct upsample_line, token), .of = &counts->tokens},
	        {"label", TABLE_NAME, offsetof(struct upsample_line, label), .of = &counts->labels},
	        {"n", TABLE_U64, offsetof(struct upsample_line, before.n)},
	        {"p*", TABLE_F64, offsetof(struct upsample_line, before.p_star)},
	        {"z*", TABLE_F64, offsetof(struct upsample_line, before.z_star)},
	        {"after: n", TABLE_U64, offsetof(struct upsample_line, after.n)},
	        {"p*", TABLE_F64, offsetof(struct upsample_line, after.p_star)},
	        {"z*", TABLE_F64, offsetof(struct upsample_line, after.z_star)}};
	CLEANUP_FREE struct upsample_line *lines = memory_new(upsample->token_count, sizeof(*lines));

	for (size_t s = 0; s < upsample->token_count; s++) {
		struct token_statistic before = upsample_statistic(upsample, s, false);

		lines[s] = (struct upsample_line){.token = upsample->ranking.list[s].token,
		                                  .label = counts->order[before.label],
		                                  .before = before,
		                                  .after = upsample_statistic(upsample, s, true)};
	}
	table_report(report, NULL, &TABLE_OF(columns, lines, upsample->token_count));
}

/* Adds the first tokens and labels that could not be balanced. Text only. */
static void
upsample_add_rest(struct report *report, const struct upsample *upsample)
{
	const struct table_column columns[] = {
	        {"not balanced", TABLE_NAME, offsetof(struct upsample_lack, token), .of = &upsample->counts.tokens},
	        {"lacks", TABLE_U64, offsetof(struct upsample_lack, lacks)},
	        {"of", TABLE_NAME, offsetof(struct upsample_lack, label), .of = &upsample->counts.labels},
	        {"why", TABLE_TEXT, offsetof(struct upsample_lack, why)}};
	struct upsample_lack lacks[LABELS_SHOWN];
	size_t open = upsample_list_lacks(upsample, 0, upsample->token_count, lacks, LABELS_SHOWN);

	if (open > 0)
		report_line(report, "\n");
	table_report(report, NULL, &TABLE_OF(columns, lacks, open < LABELS_SHOWN ? open : LABELS_SHOWN));
	if (open > LABELS_SHOWN)
		report_line(report, "  and %zu more: --json has all\n", open - LABELS_SHOWN);
}

/* Adds how many records stand in the result how often, in ranges up to powers of two, as there may be hundreds of
 * numbers. Text only. */
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

/* Adds all tokens, labels and multiplicities. JSON only. */
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
	report_begin_list(report, request->tokenized ? "tokenized" : "text");
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

void
upsample_report(const struct upsample *upsample)
{
	struct report report;

	must(upsample->corpus_options.common.json ? report_open(&report, NULL, 2, &failure)
	                                          : report_open_text(&report, NULL, &failure));
	upsample_add_report(&report, NULL, upsample);
	must(report_close(&report, &failure));
}
