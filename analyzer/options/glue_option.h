/* glue_option.h: the option --glue, for every command that takes --data with ids; see files/glue.h. */
#ifndef GLUE_OPTION_H
#define GLUE_OPTION_H

#define GLUE_HELP                                                                                                      \
	"Read the file as the code published with Swayamdipta et al. 2020 reads SNLI, MNLI and QNLI. "                 \
	"The ids become the numbers that its logs have as guid, made of pairID (SNLI) or index (MNLI, QNLI). "         \
	"Of CSV and TSV, lines without a label (- or nothing in the last column) are passed over; of those with more " \
	"fields than the header, the first ones and the last count; of several with one id, the first."

#endif
