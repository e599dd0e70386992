/*
 * dynamics_plain.h: lines of training dynamics in the form that nearly all have, read many times faster than JSON in
 * general.
 */
#ifndef COLLECTOR_DYNAMICS_PLAIN_H
#define COLLECTOR_DYNAMICS_PLAIN_H

#include "dynamics.h"

/* As dynamics_parse(), to the last bit, where it answers true; false says nothing of the line, and leaves the row with
 * anything in it. */
bool dynamics_parse_plain(const char *line, size_t size, uint32_t epoch, struct dynamics_row *row);

#endif
