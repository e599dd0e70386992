/*
 * why.h: says what a selection is made of, beside the whole run: the shares of suspected wrong labels, of duplicates, of
 * each region and of each class. For `portolan select --why`.
 *
 *     why_open(&why, …) → why_add() for each selection, why_report() into its manifest → why_print() or why_write_json()
 */
#ifndef WHY_H
#define WHY_H

#include "duplicates.h"
#include "regions/classes.h"
#include "select_request.h"

struct why_part {            /* of the run, or of a selection */
	uint64_t count, all; /* so many, of so many examples */
	double share;        /* NaN: of none */
};

struct why_row {
	const char *of; /* "examples", "suspects", "duplicates", "region" or "class" */
	char *name;     /* the region's or the class's; NULL: there is none, or the class is "no label" */
	char *label;    /* both, for people */
	struct why_part run, chosen[SELECT_FRACTIONS_MAX];
};

struct why {
	const struct select_request *request;
	const struct dynamics *dynamics;
	const uint8_t *suspected; /* by dense index; NULL: not known */
	uint8_t *regions;         /* by dense index; NULL: the run has none */
	struct duplicates duplicates;
	struct classes classes; /* of the labels; empty: the run has none */
	struct why_row *rows;
	size_t row_count, class_count;
	size_t chosen_count; /* how many selections were added */
};

/* Counts the run. `suspected` marks the suspects by dense index; NULL: the run's labels cannot be judged. */
void why_open(struct why *why, const struct select_request *request, const struct dynamics *dynamics,
              const uint8_t *suspected);
void why_close(struct why *why);

/* Counts the next selection. Warns if it holds many suspects: a hundredth of it at least, twice the run's share, and five
 * more than that share would make. */
void why_add(struct why *why, const uint32_t *chosen, size_t count);

/* Adds the shares of a selection to a report, as "why". */
void why_report(const struct why *why, size_t selection, struct report *report);

/* Print all selections: as a table on stderr, for people; or as JSON on standard output. */
void why_print(const struct why *why);
void why_write_json(const struct why *why);

#endif
