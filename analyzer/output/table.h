/*
 * table.h: examples and their measures as CSV, JSON lines, a NumPy file, or the published tools' td_metrics.jsonl.
 *
 * Columns: id, gold, the dynamics' columns, and label where the run names its classes. Empty is nothing in CSV, null
 * in JSON, NaN for float fields of npy and -1 for its integer fields. Write errors are the output's.
 */
#ifndef TABLE_H
#define TABLE_H

#include "dynamics/dynamics.h"
#include "output.h"

/* `rows` are dense indices, in the order wanted. */
void table_write_csv(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count);
void table_write_jsonl(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count);

/* npy fields: id "<u8" or "S", gold "<i8", counts that are never empty "<u4", other whole numbers "<i8", floats "<f8", label "S". */
int table_write_npy(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count,
                    struct portolan_error *error);

/* guid, index (by first appearance, as in the published files), threshold_closeness, confidence, variability,
 * correctness as a count, forgetfulness: forgetting events, 1000 for never learned. Needs these measures. */
void table_write_cartography(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count);

void table_write_id_csv(struct output *output, const struct dynamics *dynamics, uint32_t index);
void table_write_id_json(struct output *output, const struct dynamics *dynamics, uint32_t index);

/* The dynamics' columns alone, for lines that have the rest: ",confidence,…" and ",0.5,…" with any separator. */
void table_write_names(struct output *output, const struct dynamics *dynamics, char separator);
void table_write_values(struct output *output, const struct dynamics *dynamics, uint32_t index, char separator);
void table_write_members(struct output *output, const struct dynamics *dynamics, uint32_t index); /* ,"confidence":0.5,… */

#endif
