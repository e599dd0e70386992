/* ranking.c: puts the tokens into the order in which they give the label away. */
#include "ranking.h"

#include <stdlib.h>

void
ranking_free(struct ranking *ranking)
{
	free(ranking->list);
	free(ranking->priors);
	free(ranking->shares);
	*ranking = (struct ranking){0};
}

const char *const ranking_prior_names[] = {"share", "uniform", NULL};

struct order {
	const struct names *names;
	const struct ranking *significant_first; /* NULL: they stand where z* has them */
};

static int
ranking_compare(const void *a, const void *b, void *context)
{
	const struct ranked_token *x = a, *y = b;
	const struct order *order = context;

	if (order->significant_first) {
		bool x_is = ranking_is_significant(order->significant_first, &x->statistic);

		if (x_is != ranking_is_significant(order->significant_first, &y->statistic))
			return x_is ? -1 : 1;
	}
	if (x->statistic.z_star != y->statistic.z_star)
		return x->statistic.z_star > y->statistic.z_star ? -1 : 1;
	if (x->statistic.n != y->statistic.n)
		return x->statistic.n > y->statistic.n ? -1 : 1;
	return names_compare(order->names, x->token, y->token);
}

/* Whether the token is within the limits; its counts are then in `wide`. */
static bool
ranking_take_counts(const struct token_counts *counts, const struct ranking_request *request, uint32_t token,
                    uint64_t *most, uint64_t *wide)
{
	const uint32_t *narrow = counts_of(counts, token);
	uint64_t n = 0;

	for (size_t l = 0; l < counts->label_count; l++) {
		wide[l] = narrow[l];
		n += narrow[l];
	}
	*most = n > *most ? n : *most;
	return n > 0 && n >= request->min_count && (request->max_count == 0 || n <= request->max_count);
}

static void
ranking_fill(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking)
{
	uint64_t wide[CORPUS_LABELS_MAX];
	size_t room = 0;

	for (uint32_t token = 0; token < counts->tokens.count; token++) {
		if (!ranking_take_counts(counts, request, token, &ranking->most, wide))
			continue;
		ranking->list = memory_grow(ranking->list, &room, ranking->count + 1, sizeof(*ranking->list));
		ranking->list[ranking->count++] =
		        (struct ranked_token){token, token_statistic(wide, ranking->priors, counts->label_count)};
	}
}

/* The labels' shares, and the priors that they make. */
static void
ranking_make_priors(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking)
{
	const uint64_t *shares = request->shares ? request->shares : counts->label_records;
	uint64_t all = 0;

	ranking->priors = memory_new(counts->label_count, sizeof(*ranking->priors));
	ranking->shares = memory_new(counts->label_count, sizeof(*ranking->shares));
	for (size_t l = 0; l < counts->label_count; l++)
		all += ranking->shares[l] = request->uniform ? 1 : shares[l];
	for (size_t l = 0; l < counts->label_count; l++)
		ranking->priors[l] = (double)ranking->shares[l] / (double)all;
}

void
ranking_make(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking)
{
	const struct order order = {&counts->tokens, request->significant_first ? ranking : NULL};

	*ranking = (struct ranking){.uniform = request->uniform};
	ranking_make_priors(counts, request, ranking);
	ranking_fill(counts, request, ranking);
	ranking->tests = (double)ranking->count * (double)counts->label_count;
	for (size_t i = 0; i < ranking->count; i++)
		ranking->significant += ranking_is_significant(ranking, &ranking->list[i].statistic);
	if (ranking->count)
		qsort_r(ranking->list, ranking->count, sizeof(*ranking->list), ranking_compare, (void *)&order);
}
