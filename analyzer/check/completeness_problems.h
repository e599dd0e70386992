/* completeness_problems.h: what a check found, as lines for people. */
#ifndef COMPLETENESS_PROBLEMS_H
#define COMPLETENESS_PROBLEMS_H

#include "completeness.h"

/* Fills result->problems from everything else in it. */
void completeness_find_problems(struct completeness *result);

extern const char *const completeness_refusals[STORE_REFUSALS]; /* "gold_prob": names of the reasons */

#endif
