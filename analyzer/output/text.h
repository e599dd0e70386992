/* text.h: values as the text formats want them, into an output. */
#ifndef TEXT_H
#define TEXT_H

#include "output.h"

/* One field, quoted as RFC 4180 says where it must be. */
void text_csv(struct output *output, const char *text, size_t length);
/* A JSON string with its quotes; the bytes must be UTF-8. */
void text_json(struct output *output, const char *text, size_t length);
/* A finite number, the shortest that reads back the same. */
void text_number(struct output *output, double value);
void text_integer(struct output *output, uint64_t value);
/* A comma, and the field: nothing where there is no finite number. */
void text_next_number(struct output *output, double value);
void text_next_integer(struct output *output, uint64_t value);

#endif
