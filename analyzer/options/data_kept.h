/* data_kept.h: lets --data, or the operand DATA, stand for the texts that a run keeps, for command_line.c. */
#ifndef OPTIONS_DATA_KEPT_H
#define OPTIONS_DATA_KEPT_H

#include "options.h"

/* Where the command has --data: if that is KEPT_TEXTS, or is not given and the command shows texts, makes the file of the
 * run's texts (files/kept_texts.h), and sets --data, --id-field and, if the command shows texts, --text, unless they are
 * given. Where the command takes texts: if its operand names those of a run, makes their file, which the operand then
 * stands for; with --run it sets --id-field, too. Call it before the options are checked against one another. 0, or the status of options_wrong(): the texts
 * of a run were asked for, and it keeps none. */
int options_keep_data(struct common_options *request);

#endif
