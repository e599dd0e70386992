/* share_hint.h: tells the user of `portolan select`, in one line, when a small share of the examples, from one end of a
 * ranking alone, is likely worth less for training than a random one. */
#ifndef SHARE_HINT_H
#define SHARE_HINT_H

#include "select_request.h"

/* Prints the hint, where it applies to `count` examples chosen of `eligible`:
 *   - the rule ranks the hard, the ambiguous or the easy first, and nothing adds others to them (--mix, --both-ends,
 *     --strata) or passes over the first (--offset);
 *   - they are less than three tenths, and were asked for by --fraction; or by --count, and are a tenth at least: a
 *     shorter list is one to look at;
 *   - there are a hundred to choose from at least: of fewer, a share is a handful.
 * Several sizes (--fractions) are those of a study, which finds out by itself. */
void share_hint(const struct select_request *request, size_t eligible, size_t count);

#endif
