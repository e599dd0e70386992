/*
 * provenance.h: says in a report where an output comes from (program, store, run, epochs), for the manifests beside the
 * outputs of commands, and for what the live page and HTML maps export.
 *
 * Members every such report has: portolan (the version), command, created (now, or $SOURCE_DATE_EPOCH; UTC), store (its
 * absolute path), run, run_created, epochs (numbers, and how many: seen of those asked for), observed (examples).
 */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include "measures/dynamics.h"
#include "output/report.h"

/* Begins the report's object, with the members above. Without `dynamics`, those from store to observed are left out. */
void provenance_begin(struct report *report, const char *command, const struct dynamics *dynamics, const char *store);

/* Adds "created": now, or $SOURCE_DATE_EPOCH; UTC. */
void provenance_add_created(struct report *report);

/* Adds "classes": [{"gold": 0, "label": "red", "observed": 10, "chosen": 3}, …]. Examples without a label are a class
 * whose gold and label are null. If the run has no labels, "classes" is null. `chosen` lists dense indices. Needs
 * dynamics->gold. */
void provenance_add_classes(struct report *report, const struct dynamics *dynamics, const uint32_t *chosen,
                            size_t count);

#endif
