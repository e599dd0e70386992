/* association.c: how far two labels of the same examples go together, and how far they would by chance. */
#include "association.h"

#include <math.h>
#include <stdlib.h>

/* How often each label occurs on one side. */
struct margin {
	const uint64_t *labels; /* ascending */
	size_t n;
	double classes;
	double inverse; /* the sum of 1 / count over the classes */
};

static int
compare_labels(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int
compare_pairs(const void *a, const void *b)
{
	const struct association_pair *x = a, *y = b;

	return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static size_t
first_not_below(const struct margin *margin, uint64_t label)
{
	size_t low = 0, high = margin->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (margin->labels[middle] < label)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double
count_of(const struct margin *margin, uint64_t label)
{
	size_t end = label == UINT64_MAX ? margin->n : first_not_below(margin, label + 1);

	return (double)(end - first_not_below(margin, label));
}

static struct margin
margin_of(uint64_t *labels, size_t n)
{
	struct margin margin = {.labels = labels, .n = n};

	qsort(labels, n, sizeof(*labels), compare_labels);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && labels[end] == labels[i];)
			end++;
		margin.classes++;
		margin.inverse += 1 / (double)(end - i);
	}
	return margin;
}

/* Mean and variance of the number of equal labels, with both margins fixed: Everitt 1968, "Moments of the statistics
 * kappa and weighted kappa", British Journal of Mathematical and Statistical Psychology 21, 97–103. */
static void
expect_agreement(const struct margin *a, const struct margin *b, struct association *found)
{
	double n = (double)a->n, products = 0, thirds = 0; /* sums over the classes of rc and of rc (r + c) */

	for (size_t i = 0; i < a->n;) {
		double r = count_of(a, a->labels[i]), c = count_of(b, a->labels[i]);

		products += r * c;
		thirds += r * c * (r + c);
		found->agree_most += fmin(r, c);
		i += (size_t)r;
	}
	found->agree.mean = products / n;
	found->agree.variance = (n * n * products - n * thirds + products * products) / (n * n * (n - 1));
}

/* Mean and variance of χ², with both margins fixed: Haldane 1940, in the form of Dawson 1954, "A simplified expression
 * for the variance of the χ²-function on a contingency table", Biometrika 41, 280. */
static void
expect_chi_square(const struct margin *a, const struct margin *b, struct association_statistic *chi_square)
{
	double n = (double)a->n, r = a->classes, c = b->classes;
	double v_a = (r - 1) * (n - r) / (n - 1), w_a = (n * a->inverse - r * r) / (n - 2);
	double v_b = (c - 1) * (n - c) / (n - 1), w_b = (n * b->inverse - c * c) / (n - 2);

	chi_square->mean = n * (r - 1) * (c - 1) / (n - 1);
	chi_square->variance = 2 * n / (n - 3) * (v_a - w_a) * (v_b - w_b) + n * n / (n - 1) * w_a * w_b;
}

/* Bergsma 2013, "A bias-correction for Cramér's V and Tschuprow's T", Journal of the Korean Statistical Society 42. */
static double
corrected_v(const struct margin *a, const struct margin *b, double chi_square)
{
	double n = (double)a->n, r = a->classes, c = b->classes;
	double phi2 = fmax(chi_square / n - (r - 1) * (c - 1) / (n - 1), 0);
	double least = fmin(r - (r - 1) * (r - 1) / (n - 1), c - (c - 1) * (c - 1) / (n - 1)) - 1;

	return least > 0 ? fmin(sqrt(phi2 / least), 1) : 0;
}

struct association
association_measure(struct association_pair *pairs, size_t n, uint64_t *scratch)
{
	struct association found = {0};
	struct margin a, b;
	double cells = 0;

	for (size_t i = 0; i < n; i++) {
		scratch[i] = pairs[i].a;
		scratch[n + i] = pairs[i].b;
	}
	a = margin_of(scratch, n);
	b = margin_of(scratch + n, n);
	if (n < 4 || a.classes < 2 || b.classes < 2)
		return found;
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	for (size_t i = 0, end; i < n; i = end) {
		double count;

		for (end = i; end < n && compare_pairs(&pairs[i], &pairs[end]) == 0;)
			end++;
		count = (double)(end - i);
		cells += count * count / (count_of(&a, pairs[i].a) * count_of(&b, pairs[i].b));
		if (pairs[i].a == pairs[i].b)
			found.agree.value += count;
	}
	found.chi_square.value = (double)n * (cells - 1);
	expect_agreement(&a, &b, &found);
	expect_chi_square(&a, &b, &found.chi_square);
	found.v = corrected_v(&a, &b, found.chi_square.value);
	return found;
}

double
association_deviations(const struct association_statistic *statistic, double value)
{
	return statistic->variance > 0 ? (value - statistic->mean) / sqrt(statistic->variance) : 0;
}
