/* sums_keys.h: which sums there are of an example, for sums.c, which adds to them, and sums_measures.c, which reads them. */
#ifndef SUMS_KEYS_H
#define SUMS_KEYS_H

enum {
	SUM_EPOCHS, /* how many */
	SUM_LEVEL,  /* Σ of p, or of the loss */
	SUM_SQUARES,
	SUM_CORRECT,
	SUM_FORGOTTEN,
	SUM_FIRST, /* 1 + the epoch; 0: none */
	SUM_RIGHT_SINCE,
	SUM_WRONG_SINCE,
	SUM_ALEATORIC,
	SUM_MANTISSA, /* log_product.h; 0: nothing was multiplied */
	SUM_EXPONENT,
	SUM_DEVIATIONS, /* over the windows */
	SUM_WEIGHTED,
	SUM_LATEST, /* the last J − 1 values of p: that of the n-th epoch, from 0, lies at n modulo J − 1 */
	SUM_MARGIN,
	SUM_EL2N,
	SUM_ENTROPY,
	SUM_MAX_PROB,
	SUM_PROB_MARGIN,
	SUM_EMA,
	SUM_EPOCH_LEVEL, /* of the epochs' numbers */
	SUM_EPOCH_SQUARES,
	SUM_PRODUCTS,
	SUM_RESIDUALS,
	SUM_USER,            /* + the column: its sum */
	SUM_COUNT_OF = 1000, /* + the key of a sum: how many epochs it has, which may lack the signal */
};

#endif
