/* logistic.c: fits a logistic regression on one number by Newton's method, for `portolan noise` (logistic.h). ln(1 +
 * e^z) and 1/(1 + e^z) are computed in forms that do not overflow. */
#include "logistic.h"

#include <math.h>

#define STEPS_MAX 100
#define HALVINGS_MAX 60

double
logistic_probability(const struct logistic *model, double x)
{
	double z = model->weight * x + model->intercept;

	return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

static double
logistic_log_one_plus_exp(double z)
{
	return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z));
}

static double
logistic_objective(const double *x, const bool *positive, size_t n, const struct logistic *model)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double z = model->weight * x[i] + model->intercept;

		sum += logistic_log_one_plus_exp(positive[i] ? -z : z);
	}
	return model->weight * model->weight / 2 + sum;
}

/* Computes the Newton step from `model`, and in *slope the larger of the two derivatives. */
static struct logistic
logistic_newton_step(const double *x, const bool *positive, size_t n, const struct logistic *model, double *slope)
{
	double gw = model->weight, gb = 0, ww = 1, wb = 0, bb = 0, determinant;

	for (size_t i = 0; i < n; i++) {
		double p = logistic_probability(model, x[i]), error = p - (positive[i] ? 1 : 0), curve = p * (1 - p);

		gw += error * x[i];
		gb += error;
		ww += curve * x[i] * x[i];
		wb += curve * x[i];
		bb += curve;
	}
	*slope = fmax(fabs(gw), fabs(gb));
	determinant = ww * bb - wb * wb;
	if (!(determinant > 0)) /* every probability is nearly 0 or 1: a plain step downhill */
		return (struct logistic){-gw / ww, -gb / (double)n};
	return (struct logistic){-(bb * gw - wb * gb) / determinant, -(ww * gb - wb * gw) / determinant};
}

/* Moves the model along the step, which is halved until the objective falls. False: it does not fall. */
static bool
logistic_descend(const double *x, const bool *positive, size_t n, struct logistic *model, const struct logistic *step)
{
	double before = logistic_objective(x, positive, n, model), share = 1;

	for (int i = 0; i < HALVINGS_MAX; i++, share /= 2) {
		struct logistic next = {model->weight + share * step->weight,
		                        model->intercept + share * step->intercept};

		if (logistic_objective(x, positive, n, &next) < before) {
			*model = next;
			return true;
		}
	}
	return false;
}

bool
logistic_fit(const double *x, const bool *positive, size_t n, struct logistic *model)
{
	struct logistic fitted = {0, 0};
	size_t positives = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			return false;
		positives += positive[i];
	}
	if (positives == 0 || positives == n)
		return false;
	for (int i = 0; i < STEPS_MAX; i++) {
		double slope;
		struct logistic step = logistic_newton_step(x, positive, n, &fitted, &slope);

		if (slope <= 1e-12 * (double)n || !logistic_descend(x, positive, n, &fitted, &step))
			break;
	}
	*model = fitted;
	return true;
}
