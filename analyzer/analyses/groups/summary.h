/*
 * summary.h: compares a selection of examples with the whole, attribute by attribute, over all examples and for each
 * gold label, for `portolan groups --data`.
 *
 * Numbers are summarised by their mean, categories by the share of each; examples without a value are left out. The
 * difference is selection minus whole. As the whole consists of the selection S and the rest R,
 *     mean(S) − mean(all) = |R| / |all| · (mean(S) − mean(R)).
 * For its interval, S and R are resampled, each by itself (statistics/bootstrap.h). Source of the tables: Yaghoobzadeh
 * et al. 2021, Tables 2 and 3.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "base/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct summary_column {
	const char *name;
	const double *numbers;     /* by position, NaN: missing; NULL: categories */
	const int32_t *categories; /* −1: missing */
	const struct names *names; /* the names of the categories */
};

#define SUMMARY_ALL (-2) /* in place of a gold label: the row is about all examples */

struct summary_row {
	const char *attribute;
	const char *value;    /* the category; NULL: the column has numbers */
	int32_t gold;         /* the gold label; SUMMARY_ALL; −1: examples without label */
	size_t category;      /* of categories */
	size_t n, selected_n; /* how many examples have a value, in all and in the selection */
	double all, selected; /* the mean, or the category's share; NaN: no example has a value */
	double difference;    /* selected − all */
	double low, high;     /* the interval of the difference; NaN: no replicates, or nothing selected */
};

struct summary_request {
	const struct summary_column *columns;
	size_t column_count;
	const bool *selected; /* by position */
	const int32_t *gold;  /* the gold label by position; −1: not known */
	size_t n;
	size_t replicates; /* 0: no intervals */
	double level;
	unsigned threads; /* 0: one */
	uint64_t seed;    /* from this each row's own seed is made, so no row depends on another */
};

/* Makes *count rows, by column, then gold label (all first, the examples without label last), then category: an array,
 * which is the caller's to free(). */
struct summary_row *summary_make(const struct summary_request *request, size_t *count);

#endif
