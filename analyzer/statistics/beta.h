/* beta.h: the regularized incomplete beta function, from which the tails of binomial and of Student's distributions
 * follow. Pure; float64. */
#ifndef BETA_H
#define BETA_H

/* I_x(a, b), for a and b above 0 and x in [0, 1], with a relative error of 1e-8 for a and b up to a million (DLMF
 * 8.17.2). */
double beta_incomplete(double a, double b, double x);

#endif
