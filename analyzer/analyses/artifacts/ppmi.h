/*
 * ppmi.h: how often a record's label is guessed from the one token that is most bound to a label, for `portolan
 * artifacts --max-ppmi`: the Max-PPMI baseline that Le Bras et al. 2020 name in Table 3.
 *
 * PPMI(t, l) = max(0, ln (p(t, l) / (p(t) p(l)))), the positive pointwise mutual information of token and label
 * (Church and Hanks 1990; for labels Gururangan et al. 2018, section 4), where p(t), p(l) and p(t, l) are the shares of
 * the records that hold the token, have the label, and both. The guess is the label l with the largest PPMI(t, l) of any
 * token t of the record. Where several labels have it (0, where no token says anything), it is the one of them that
 * most records have; of equally many, the first.
 */
#ifndef PPMI_H
#define PPMI_H

#include "ranking.h"

/* How many guesses are right: counts of all records; and held out, where a record is left out of the counts by which
 * its own label is guessed. */
struct ppmi_guesses {
	uint64_t records, right, held_out;
	double accuracy, held_out_accuracy;
};

enum ppmi_predictor { PPMI_MAJORITY, PPMI_TOKEN, PPMI_PREDICTORS };

/* Guesses the label of every record of the corpus that has one: by the ranking's tokens, and, as a comparison, as that
 * which most records have. Reads the corpus once more. */
void ppmi_guess(const struct corpus *corpus, const struct token_counts *counts, const struct ranking *ranking,
                struct ppmi_guesses guesses[PPMI_PREDICTORS]);

#endif
