/* table_format.h: the formats that have files of their own; for table.c. */
#ifndef TABLE_FORMAT_H
#define TABLE_FORMAT_H

#include "table.h"

/* npy. *record is to be freed with free(). */
struct table_record;
int table_record_new(struct table_record **record, const struct dynamics *run, const struct text_extent *ids,
                     struct portolan_error *error);
/* Says so where string ids take more than four times their own bytes. */
void table_note_wide_ids(const struct text_extent *ids);
size_t table_record_bytes(const struct table_record *record);
void table_record_head(const struct table_record *record, struct output *output, uint64_t rows);
void table_record_rows(const struct table_record *record, struct output *output, const struct dynamics *part,
                       const uint32_t *rows, size_t count);

void table_write_cartography(struct output *output, const struct dynamics *part, const uint32_t *rows, size_t count,
                             bool with_ci);
void table_write_json_number(struct output *output, double value);

#endif
