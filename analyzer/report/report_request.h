/* report_request.h: what the user asked of `portolan report`, and the commands whose answers the report is made of, for the files
 * that fill its page. */
#ifndef REPORT_REQUEST_H
#define REPORT_REQUEST_H

#include "options/options.h"
#include "page.h"

/* The commands, by what they are asked for. That of run r's check is ASK_CHECK + r. */
enum {
	ASK_MAP,
	ASK_EPOCHS,
	ASK_CLASSES,
	ASK_SUSPECTS,
	ASK_GROUPS,
	ASK_AMBIGUOUS,
	ASK_HARDEST, /* the forgettable examples; of a run of losses those with the highest mean loss */
	ASK_COMPARE,
	ASK_WORDS,
	ASK_TEXTS,
	ASK_CHECK,
};
#define REPORT_RUNS_MAX 64

struct report_request {
	struct common_options common;
	const char *data, *id_field, *texts, *label_field, *flips;
	bool glue;
	int format;     /* enum report_format */
	bool of_losses; /* the first run records losses: nothing that needs labels is asked for */
	/* the commands */
	char *epochs; /* for --epochs */
	struct child children[ASK_CHECK + REPORT_RUNS_MAX];
	struct page page;
};

/* Begins to ask a command about a run; NULL: about none. --store, --epochs and --loss-threshold are added, so
 * far as the user gave them and the command takes them. */
void report_ask(struct report_request *request, struct child *child, const char *command, const char *run,
                bool with_epochs);
/* Adds --data, --id-field and --glue, if the user gave them. */
void report_ask_data(const struct report_request *request, struct child *child);

/* The field of the data whose values are the run's classes, as `groups` tells. NULL: none is, or it is not known. */
const char *answer_find_label_field(const struct report_request *request);

/* Says why a command gave no answer, and of what it warned. Returns whether there is an answer. */
bool answer_take(struct page *page, const struct child *child);
/* Fills the section of classes and attributes. */
void answer_hurts(struct report_request *request);

/* Fills the page's sections from what the commands answered. */
void report_answer(struct report_request *request);
/* Fills the page's "next": what to do, in three steps; only the first if `groups --classes` gave no answer. */
void report_advise(struct report_request *request);

#endif
