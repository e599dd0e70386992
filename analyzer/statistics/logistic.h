/*
 * logistic.h: logistic regression on one number, for `portolan noise`, which learns from it how a measure tells wrong
 * labels from right ones. Pure; float64.
 *
 * Finds the weight w and intercept b that minimise
 *     w²/2 + C Σ ln(1 + exp(−t (w x + b))),  t = 1 for positive examples, −1 for the others; C = 1,
 * the objective of scikit-learn's LogisticRegression with its default penalty: L2 on the weight, none on the intercept.
 * It is strictly convex where both kinds are present: Newton's method, halving steps that do not descend, until both
 * derivatives are below 1e-12 times the number of examples.
 */
#ifndef LOGISTIC_H
#define LOGISTIC_H

#include <stdbool.h>
#include <stddef.h>

struct logistic {
	double weight, intercept;
};

/* False: there is no positive or no negative example, or a value is not finite. */
bool logistic_fit(const double *x, const bool *positive, size_t n, struct logistic *model);

/* P(positive | x) = 1 / (1 + exp(−(w x + b))). */
double logistic_probability(const struct logistic *model, double x);

#endif
