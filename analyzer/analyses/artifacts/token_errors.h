/* token_errors.h: lists the records that hold one of some tokens, and on which a run is wrong at its last epoch, for
 * `portolan artifacts --errors`: for who wants to read what a word does (Han Chen, section 2). */
#ifndef TOKEN_ERRORS_H
#define TOKEN_ERRORS_H

#include "holders.h"
#include "measures/dynamics.h"

/* What the run is to be opened with: dynamics_request.signals. */
#define TOKEN_ERRORS_SIGNALS (STORE_COLUMN_BIT(STORE_CORRECT) | STORE_COLUMN_BIT(STORE_PREDICTED))

struct token_error {
	uint32_t example;  /* its dense index */
	uint32_t token;    /* its number in the counts */
	int32_t predicted; /* a class of the run; -1: not recorded */
	double z_star;
};

struct token_errors {
	struct token_error *list; /* by token, the strongest first, then in the order of the file */
	/* by error, places in the counts' order of labels: the label that the token points to, and that of the record */
	uint32_t *leading, *labels;
	size_t count;
};

/* The holders' examples are positions in dynamics->order. */
void token_errors_find(struct token_errors *errors, const struct holders *holders, const struct ranked_token *tokens,
                       size_t token_count, const struct dynamics *dynamics);
void token_errors_free(struct token_errors *errors);

#endif
