/* rule_options.h: reads arguments that several commands take (`select`, `map`, `noise`, `compare`, `groups`): selection
 * rules, and the cuts of the regions. */
#ifndef RULE_OPTIONS_H
#define RULE_OPTIONS_H

#include "options/options.h"
#include "regions/regions.h"
#include "selection.h"

/* Both read `text`, and return 0, or options_wrong(). */
int rule_parse(const struct common_options *request, const char *text, struct selection_rule *rule);
int rule_parse_cuts(const struct common_options *request, const char *text, struct region_cuts *cuts);

/* As rule_parse(), for --by of a command that takes no features, which k-center needs. Only rules that do not depend on
 * the size are accepted. */
int rule_parse_plain(const struct common_options *request, const char *text, struct selection_rule *rule);

/* Does the run have the measure of the rule? It may be a user's own column, which can be checked only when the run is
 * known. Returns 0, or options_wrong(). */
int rule_check(const struct common_options *request, const struct selection_rule *rule, const struct dynamics *run);

#endif
