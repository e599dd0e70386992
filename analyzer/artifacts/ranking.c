/* ranking.c: see ranking.h. */
#include "ranking.h"

#include <portolan/error.h>

#include <stdlib.h>

void
ranking_free(struct ranking *ranking)
{
	free(ranking->list);
	free(ranking->priors);
	*ranking = (struct ranking){0};
}

static int
compare(const void *a, const void *b, void *names)
{
	const struct ranked_token *x = a, *y = b;

	if (x->statistic.z_star != y->statistic.z_star)
		return x->statistic.z_star > y->statistic.z_star ? -1 : 1;
	if (x->statistic.n != y->statistic.n)
		return x->statistic.n > y->statistic.n ? -1 : 1;
	return names_compare(names, x->token, y->token);
}

/* Whether the token is within the limits; its counts are then in `wide`. */
static bool
take_counts(const struct token_counts *counts, const struct ranking_request *request, uint32_t token, uint64_t *most,
            uint64_t *wide)
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

static bool
fill(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking)
{
	uint64_t wide[CORPUS_LABELS_MAX];
	size_t room = 0;

	for (uint32_t token = 0; token < counts->tokens.count; token++) {
		if (!take_counts(counts, request, token, &ranking->most, wide))
			continue;
		if (ranking->count == room) {
			struct ranked_token *grown;

			room = room ? 2 * room : 1024;
			grown = realloc(ranking->list, room * sizeof(*grown));
			if (!grown)
				return false;
			ranking->list = grown;
		}
		ranking->list[ranking->count++] =
		        (struct ranked_token){token, token_statistic(wide, ranking->priors, counts->label_count)};
	}
	return true;
}

int
ranking_make(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking,
             struct portolan_error *error)
{
	uint64_t all = 0;

	*ranking = (struct ranking){.priors = malloc((counts->label_count + 1) * sizeof(double))};
	for (size_t l = 0; l < counts->label_count; l++)
		all += counts->label_records[l];
	for (size_t l = 0; ranking->priors && l < counts->label_count; l++)
		ranking->priors[l] = request->share ? (double)counts->label_records[l] / (double)all
		                                    : 1 / (double)counts->label_count;
	if (!ranking->priors || !fill(counts, request, ranking)) {
		ranking_free(ranking);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %u tokens", counts->tokens.count);
	}
	if (ranking->count)
		qsort_r(ranking->list, ranking->count, sizeof(*ranking->list), compare, (void *)&counts->tokens);
	return 0;
}
