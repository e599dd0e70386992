/*
 * scatter.h: draws the measures of one run against those of another, for `portolan compare --scatter`: confidence (of
 * runs of losses, task loss) and variability, each with its regression line, the line's 95% band, and Pearson's r with
 * its interval (Swayamdipta et al. 2020, App. B.1, Fig. 7).
 */
#ifndef SCATTER_H
#define SCATTER_H

#include "measures/dynamics.h"
#include "plot/picture.h"

/* Of more examples, a random sample of so many is drawn as dots. The line, its band and r are of all examples. */
#define SCATTER_SAMPLE 25000

/* Draws at most `most` dots, drawn with `seed`. The runs share an example, and have the measures. `picture` was
 * picture_check()ed. Ends the program on failure. */
void scatter_draw(const struct dynamics *a, const struct dynamics *b, uint64_t most, uint64_t seed,
                  const struct picture *picture);

#endif
