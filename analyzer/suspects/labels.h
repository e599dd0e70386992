/* labels.h: turns the labels of a run's examples into text and back: the class's name where the run has one, else its
 * number. For the tables of suspects, and the files of corrections. */
#ifndef SUSPECTS_LABELS_H
#define SUSPECTS_LABELS_H

#include "base/number.h"
#include "measures/dynamics.h"

/* The label as text; its number is written into `digits`. NULL: −1, which is no label. */
const char *label_text(const struct dynamics *dynamics, int32_t label, char digits[NUMBER_ROOM]);

#define LABEL_NONE (-1)
#define LABEL_TWICE (-2)
enum label_form { LABEL_NAMES, LABEL_NUMBERS }; /* how a file writes labels */
/* The class that the text means. LABEL_NAMES: the one with this name, or, for a class without a name, this number.
 * LABEL_NUMBERS: the one with this number, or, where the text is no number, this name. LABEL_NONE: there is none;
 * LABEL_TWICE: two classes have the name. Names compare as they stand in a file of TSV, where a tab or a line end is a blank; blanks
 * around them do not count, and a number may be written as 3.0. */
int32_t label_find(const struct dynamics *dynamics, enum label_form form, const char *text, size_t length);

/* Is the text this label's name, or with LABEL_NUMBERS its number? Two classes may share the name. An empty text is −1. */
bool label_is(const struct dynamics *dynamics, enum label_form form, int32_t label, const char *text, size_t length);

/* The class name that is nearest to a mistyped one; NULL: none is near. */
const char *label_nearest(const struct dynamics *dynamics, const char *text, size_t length);

#endif
