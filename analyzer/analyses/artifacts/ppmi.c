/* ppmi.c: guesses the labels of records from their tokens (ppmi.h), for `portolan artifacts`. Each thread counts what it
 * guesses right; the sums do not depend on which thread read which part. */
#include "ppmi.h"

#include "base/parallel.h"
#include "die/die.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one thread reads with, counts, and works in. */
struct ppmi_worker {
	struct corpus_reader reader;
	double *best, *held_out; /* by label in order: the largest PPMI of any token of the record */
	struct ppmi_guesses guesses[PPMI_PREDICTORS];
};

struct ppmi_guessing {
	const struct corpus *corpus;
	const struct token_counts *counts;
	uint8_t *is_ranked; /* by token */
	uint64_t records;   /* how many have a label */
	struct ppmi_worker *workers;
};

static double
ppmi_positive(double both, double token, double label, double records)
{
	return both > 0 ? fmax(0, log(both * records / (token * label))) : 0;
}

/* Raises the largest PPMI of each label by those of one token. `own` is the place of the record's label. */
static void
ppmi_add_token(const struct ppmi_guessing *guessing, struct ppmi_worker *worker, uint32_t token, size_t own)
{
	const struct token_counts *counts = guessing->counts;
	const uint32_t *of_labels = counts_of(counts, token);
	double n = 0, records = (double)guessing->records;

	for (size_t l = 0; l < counts->label_count; l++)
		n += of_labels[l];
	for (size_t l = 0; l < counts->label_count; l++) {
		double both = of_labels[l], label = (double)counts->label_records[l];
		double less = l == own;

		worker->best[l] = fmax(worker->best[l], ppmi_positive(both, n, label, records));
		worker->held_out[l] =
		        fmax(worker->held_out[l], ppmi_positive(both - less, n - 1, label - less, records - 1));
	}
}

/* Raises the largest PPMI of each label by those of the record's tokens. */
static void
ppmi_add_tokens(const struct ppmi_guessing *guessing, struct ppmi_worker *worker, size_t own)
{
	const struct names *names = &guessing->counts->tokens;
	struct token_list list;
	int code;

	do {
		token_list_clear(&list);
		code = must(corpus_reader_tokens(&worker->reader, &list, &failure));
		for (size_t i = 0; i < list.count; i++) {
			const struct listed_token *token = &list.tokens[i];
			uint32_t number = names_find(names, token_list_text(&list, token), token->length);

			if (number != NAMES_NONE && guessing->is_ranked[number])
				ppmi_add_token(guessing, worker, number, own);
		}
	} while (code > 0);
}

/* The label with the largest value; of those that have it the one that most records have, without the record at hand if
 * `own` is its label. */
static size_t
ppmi_choose(const struct token_counts *counts, const double *values, size_t own)
{
	size_t best = 0;

	for (size_t l = 1; l < counts->label_count; l++) {
		uint64_t records = counts->label_records[l] - (l == own);
		uint64_t of_best = counts->label_records[best] - (best == own);

		if (values[l] > values[best] || (values[l] == values[best] && records > of_best))
			best = l;
	}
	return best;
}

static void
ppmi_take_record(const struct ppmi_guessing *guessing, struct ppmi_worker *worker)
{
	const struct token_counts *counts = guessing->counts;
	const struct field *label = worker->reader.label;
	uint32_t name = names_find(&counts->labels, label->at, label->length);
	size_t own;

	if (name == NAMES_NONE)
		die("%s was changed while it was being read", worker->reader.corpus->file.path);
	own = counts->places[name];
	for (unsigned predictor = 0; predictor < PPMI_PREDICTORS; predictor++) {
		struct ppmi_guesses *guesses = &worker->guesses[predictor];

		memset(worker->best, 0, counts->label_count * sizeof(double));
		memset(worker->held_out, 0, counts->label_count * sizeof(double));
		if (predictor == PPMI_TOKEN)
			ppmi_add_tokens(guessing, worker, own);
		guesses->records++;
		guesses->right += ppmi_choose(counts, worker->best, SIZE_MAX) == own;
		guesses->held_out += ppmi_choose(counts, worker->held_out, own) == own;
	}
}

static int
ppmi_take_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct ppmi_guessing *guessing = context;
	struct ppmi_worker *worker = &guessing->workers[thread];

	(void)slot;
	(void)error;
	corpus_reader_begin(&worker->reader, part);
	while (must(corpus_reader_record(&worker->reader, &failure)) > 0)
		if (!worker->reader.ignored)
			ppmi_take_record(guessing, worker);
	return 0;
}

/* Adds up what the threads have counted. */
static void
ppmi_finish(const struct ppmi_guessing *guessing, unsigned threads, struct ppmi_guesses *guesses)
{
	for (unsigned predictor = 0; predictor < PPMI_PREDICTORS; predictor++) {
		struct ppmi_guesses *all = &guesses[predictor];

		*all = (struct ppmi_guesses){0};
		for (unsigned t = 0; t < threads; t++) {
			const struct ppmi_guesses *one = &guessing->workers[t].guesses[predictor];

			all->records += one->records;
			all->right += one->right;
			all->held_out += one->held_out;
		}
		all->accuracy = (double)all->right / (double)all->records;
		all->held_out_accuracy = (double)all->held_out / (double)all->records;
	}
}

void
ppmi_guess(const struct corpus *corpus, const struct token_counts *counts, const struct ranking *ranking,
           struct ppmi_guesses guesses[PPMI_PREDICTORS])
{
	unsigned threads = parallel_threads(corpus->request.threads);
	CLEANUP_FREE uint8_t *is_ranked = memory_new(counts->tokens.count, 1);
	CLEANUP_FREE struct ppmi_worker *workers = memory_new(threads, sizeof(*workers));
	struct ppmi_guessing guessing = {
	        .corpus = corpus, .counts = counts, .is_ranked = is_ranked, .workers = workers};
	struct parallel parallel = {.threads = threads,
	                            .count = corpus->parts.count,
	                            .what = "guessing labels",
	                            .context = &guessing,
	                            .work = ppmi_take_part};

	for (size_t i = 0; i < ranking->count; i++)
		is_ranked[ranking->list[i].token] = 1;
	for (size_t l = 0; l < counts->label_count; l++)
		guessing.records += counts->label_records[l];
	for (unsigned t = 0; t < threads; t++) {
		corpus_reader_init(&workers[t].reader, corpus);
		workers[t].best = memory_new(2 * counts->label_count, sizeof(double));
		workers[t].held_out = workers[t].best + counts->label_count;
	}
	must(parallel_run(&parallel, &failure));
	ppmi_finish(&guessing, threads, guesses);
	for (unsigned t = 0; t < threads; t++) {
		corpus_reader_free(&workers[t].reader);
		free(workers[t].best);
	}
}
