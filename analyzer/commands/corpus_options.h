/* corpus_options.h: what portolan artifacts and portolan upsample ask of a file of texts, as options. */
#ifndef CORPUS_OPTIONS_H
#define CORPUS_OPTIONS_H

#include "artifacts/ranking.h"
#include "program/options.h"

enum {
	KEY_CORPUS = OPTION_KEY + 500, /* and up: these options' */
	KEY_TEXT = KEY_CORPUS,
	KEY_LABEL,
	KEY_MIN_COUNT,
	KEY_MAX_COUNT,
	KEY_TOP,
	KEY_PRIOR,
	KEY_STOP_WORDS,
	KEY_MIN_LENGTH,
	KEY_NGRAMS,
	KEY_PER_FIELD,
	KEY_TOKENS,
};

#define CORPUS_OPTIONS_FIELDS                                                                                          \
	{"text", KEY_TEXT, "FIELD[,FIELD]",                                                                            \
	 "The fields of DATA that hold texts; a record's tokens are those of all of them."},                           \
	        {"label", KEY_LABEL, "FIELD", "The field that holds the label."},                                      \
	        {"min-count", KEY_MIN_COUNT, "N", "Leave out tokens that stand in fewer records. Default: 1000."},     \
	{                                                                                                              \
		"max-count", KEY_MAX_COUNT, "N",                                                                       \
		        "Leave out tokens that stand in more records. Default: 0, which is no limit."                  \
	}

#define CORPUS_OPTIONS_TOKENS                                                                                          \
	{"prior", KEY_PRIOR, "uniform|share",                                                                          \
	 "What a token that says nothing is expected to show of each label: 1 / labels (uniform, the default), or "    \
	 "the "                                                                                                        \
	 "label's share of all records."},                                                                             \
	        {"stop-words", KEY_STOP_WORDS, "none|FILE",                                                            \
	         "Words to leave out: none, or those of FILE. Default: English articles, pronouns, prepositions and "  \
	         "the like; not no, not and never, which often give a label away."},                                   \
	        {"min-length", KEY_MIN_LENGTH, "N", "Leave out words of fewer characters. Default: 1."},               \
	        {"ngrams", KEY_NGRAMS, "N",                                                                            \
	         "Take as tokens also what up to N neighbouring words make, stop words left out before. Default: 1; "  \
	         "up "                                                                                                 \
	         "to 5."},                                                                                             \
	        {"per-field", KEY_PER_FIELD, NULL,                                                                     \
	         "Tell a word of one field from the same of another: tokens are FIELD:WORD."},                         \
	{                                                                                                              \
		"tokens", KEY_TOKENS, "FILE",                                                                          \
		        "Look at these tokens only, one a line; stop words and short ones as well."                    \
	}

struct corpus_options {
	struct corpus_request request;
	struct ranking_request ranking;
	uint64_t top; /* 0: not given */
	char *texts;  /* the names of the fields */
};

struct corpus_options corpus_options_default(void);
void corpus_options_free(struct corpus_options *options); /* may be called twice */

/* Takes one of the options above; its status when it is wrong, else 0. */
int corpus_options_take(struct corpus_options *options, const struct command *command, int key, const char *text);

/* Is everything there? DATA is the operand. As above. */
int corpus_options_check(struct corpus_options *options, const struct options *given);

/* What `option` names (NULL: nothing) is not DATA itself, which would be lost. As above; DATA was checked. */
int corpus_options_check_output(const struct corpus_options *options, const struct command *command, const char *option,
                                const char *output);

/* Warns of records without tokens, and of a table without any; STATUS_INCOMPLETE under `strict` if there was one, else
 * STATUS_DONE. */
int corpus_options_report(const struct corpus_options *options, const struct token_counts *counts,
                          const struct ranking *ranking, bool strict);

#endif
