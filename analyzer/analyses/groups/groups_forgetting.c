/* groups_forgetting.c: portolan groups --forgetting: how many examples were forgotten how often. */
#include "groups.h"

#include "base/message.h"
#include "base/number.h"

static void
say_forgettable(const struct forgetting *forgetting)
{
	uint64_t forgettable = forgetting->forgotten + forgetting->never_learned;

	message_note("forgettable: %s of %s examples (%.1f%%): forgotten at least once %s, never learned %s",
	             NUMBER_GROUPED(forgettable), NUMBER_GROUPED(forgetting->examples),
	             100 * (double)forgettable / (double)forgetting->examples, NUMBER_GROUPED(forgetting->forgotten),
	             NUMBER_GROUPED(forgetting->never_learned));
}

int
groups_count_forgetting(const struct groups *groups, struct portolan_error *error)
{
	const struct dynamics *dynamics = &groups->dynamics;
	struct forgetting forgetting;
	int code = forgetting_count(dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS),
	                            dynamics_measure(dynamics, MEASURE_NEVER_LEARNED), dynamics->order, dynamics->count,
	                            &forgetting, error);

	if (code < 0)
		return code;
	if (groups->plot)
		code = forgetting_chart(dynamics->info->name, &forgetting, &groups->picture, error);
	if (code >= 0)
		code = groups_write_forgetting(groups, &forgetting, error);
	if (code >= 0 && !groups->common.json)
		say_forgettable(&forgetting);
	forgetting_free(&forgetting);
	return code;
}
