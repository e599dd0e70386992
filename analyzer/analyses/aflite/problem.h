/*
 * problem.h: what all classifiers of a phase have in common.
 *
 * A classifier is multinomial logistic regression over the classes its training set T has: weights w_c and intercepts
 * b_c that minimise
 *
 *     Σ over i in T of −ln softmax(w x_i + b)[gold_i]  +  λ/2 Σ_c |w_c|²
 *
 * (scikit-learn's LogisticRegression with C = 1/λ). Adding the same vector to all w_c changes no probability, so only
 * the v_c = w_c − w_0 count; for given v the penalty is least where Σ w_c = 0, and is then λ/2 Σ_cd P_cd v_c·v_d with
 * P = I − 11ᵀ/classes. With two classes scikit-learn fits one sigmoid and penalises v itself: P = 1.
 */
#ifndef AFLITE_PROBLEM_H
#define AFLITE_PROBLEM_H

#include "kernels.h"
#include "matrix.h"

#include <portolan/portolan.h>

/* So many columns (classes − 1) are many: one classifier's weights do not stay in the caches that are near, products
 * with them are large ones, and what they have in common is kept once for all columns. */
#define PROBLEM_MANY 65

struct problem {
	const struct matrix *matrix;
	const uint16_t *labels; /* by row of the matrix: 0 … classes−1 */
	size_t classes;         /* at least 2 */
	double lambda;
	const struct kernels *kernels;
	unsigned threads;
};

struct fit_report {
	size_t sweeps;      /* passes over all rows; of classifiers that are fitted together */
	size_t evaluations; /* of single classifiers on their training sets */
	size_t unfinished;  /* classifiers that had not converged when it had taken too long */
};

#endif
