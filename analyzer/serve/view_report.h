/* view_report.h: a view as the page needs it. */
#ifndef VIEW_REPORT_H
#define VIEW_REPORT_H

#include "texts.h"
#include "view.h"

/* Writes the object that api/view answers; README.md describes it. texts may be NULL. */
void view_report(struct report *report, const struct view *view, const struct texts *texts);

#endif
