/*
 * glue.h: the files of SNLI, MNLI and QNLI as the code published with Swayamdipta et al. 2020 reads them, whose logs have other
 * ids (allenai/cartography, cartography/data_utils_glue.py): what user_file_read_as_glue() stands for.
 *
 * The guid that is logged is a number made of the pair's id: 555 for vg_len…, 444 for vg_verb…, the id's digits, and 0, 1 or 2
 * where it ends with e, c or n, else 3: 4705552913.jpg#2r1n becomes 4705552913212. Records of CSV and TSV whose last field, the
 * label, is "-" or empty are left out. One with more fields than the header, for its annotators' labels, has the first ones and
 * the last; of several records with one id the first counts.
 */
#ifndef GLUE_H
#define GLUE_H

#include "records.h"

#define GLUE_NUMBER_MORE 4 /* characters that a number may have more than its id */

/* Writes the number of an id, which is not empty: digits, without zeros before them; returns how many. */
size_t glue_number(const char *id, size_t length, char *digits);

/* Of CSV and TSV: is the record one without a label? */
bool glue_is_unlabelled(enum records_format format, const struct record *record);

#endif
