/* show_report.h: the stories of chosen examples, for people and for programs. */
#ifndef SHOW_REPORT_H
#define SHOW_REPORT_H

#include "chosen.h"
#include "serve/texts.h"

/* Writes the observed examples in the order of the list, each once. texts may be NULL. */
void show_report(struct report *report, const struct chosen *chosen, const struct places_list *list,
                 const struct texts *texts);

#endif
