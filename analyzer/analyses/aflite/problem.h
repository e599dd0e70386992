/*
 * problem.h: what all classifiers of a phase of AFLite have in common, for the files that fit them and let them
 * predict: the rows, the labels, and the penalty on weights.
 *
 * A classifier is multinomial logistic regression over the classes its training set T has: weights w_c and intercepts
 * b_c that minimise
 *
 *     Σ over i in T of −ln softmax(w x_i + b)[gold_i]  +  λ/2 Σ_c |w_c|²
 *
 * (scikit-learn's LogisticRegression with C = 1/λ). Adding the same vector to all w_c changes no probability, so only
 * the v_c = w_c − w_0 count; for given v the penalty is least where Σ w_c = 0, and is then λ/2 Σ_cd P_cd v_c·v_d with P
 * = I − 11ᵀ/classes. With two classes scikit-learn fits one sigmoid and penalises v itself: P = 1.
 *
 * Or it is a linear support vector machine, with the squared hinge as its loss, one class against the rest: for each
 * class c, w_c and b_c minimise
 *
 *     Σ over i in T of max(0, 1 − s (w_c x_i + b_c))²  +  λ/2 |w_c|²,  s = 1 if gold_i = c, else −1
 *
 * (scikit-learn's LinearSVC with C = 1/λ, except that the intercept is not penalised). Here P = I. With two classes
 * there is one such problem, that of the second class.
 */
#ifndef AFLITE_PROBLEM_H
#define AFLITE_PROBLEM_H

#include "base/parallel.h"
#include "kernels.h"
#include "matrix.h"
#include "die/memory.h"

#include <portolan/portolan.h>

/* From this many columns on, the weights of one classifier do not stay in a near cache. Then a sweep
 * takes each classifier by itself (sweep.c), few searches run at once (lockstep.c), and all columns share one factor of
 * the curvature (curvature.c). */
#define PROBLEM_MANY 65

struct problem {
	const struct matrix *matrix;
	const uint16_t *labels; /* by row of the matrix: 0 … classes−1 */
	size_t classes;         /* at least 2 */
	double lambda;
	bool hinge; /* whether classifiers are support vector machines */
	const struct kernels *kernels;
	unsigned threads;
};

/* How many weight vectors a classifier with this many classes has while it is fitted. */
static inline size_t
problem_count_columns(bool hinge, size_t classes)
{
	return hinge && classes > 2 ? classes : classes - 1;
}

static inline size_t
problem_columns(const struct problem *problem)
{
	return problem_count_columns(problem->hinge, problem->classes);
}

/* The slot of the first column's class: 1 where weights are relative to the class in slot 0, else 0. */
static inline size_t
problem_first_slot(const struct problem *problem)
{
	return problem->classes - problem_columns(problem);
}

/* Runs work that can fail only for want of memory; then the program ends. */
static inline void
problem_run(const struct parallel *parallel)
{
	memory_need(parallel_run(parallel, NULL) < 0 ? NULL : parallel->context);
}

struct fit_report {
	size_t evaluations; /* how often a classifier was tried on its training set */
	size_t unfinished;  /* classifiers whose search was given up before it converged */
};

#endif
