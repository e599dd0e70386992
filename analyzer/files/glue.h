/*
 * glue.h: two rules by which user_file.c and fields.c read SNLI, MNLI and QNLI as the code of Swayamdipta et al. 2020
 * does (allenai/cartography, cartography/data_utils_glue.py): the number that its logs have in place of a record's id,
 * and which records it leaves out. user_file_read_as_glue() asks for this.
 *
 * The logs have a number made from the pair's id: 555 for vg_len…, 444 for vg_verb…, then the digits of the id, then 0,
 * 1 or 2 if it ends with e, c or n, else 3. So 4705552913.jpg#2r1n becomes 4705552913212. Records of CSV and TSV whose
 * last field, the label, is "-" or empty are left out. A record may have more fields than the header, for the labels of
 * its annotators; its first fields and its last one count. Of several records with one id the first counts.
 */
#ifndef GLUE_H
#define GLUE_H

#include "records.h"

#define GLUE_NUMBER_MORE 4 /* a number has at most so many characters more than its id */

/* Writes the number that stands for an id, which is not empty, as digits without leading zeros. Returns how many
 * digits. */
size_t glue_number(const char *id, size_t length, char *digits);

/* Has the record of CSV or TSV no label? */
bool glue_is_unlabelled(enum table_format format, const struct record *record);

#endif
