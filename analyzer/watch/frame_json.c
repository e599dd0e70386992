/* frame_json.c: a look as a JSON object. */
#include "frame.h"

#include "check/counters.h"
#include "output/report.h"

#include <math.h>

static const char *const state_words[] = {
        [LIVE_NO_STORE] = "waiting",    [LIVE_NO_RUN] = "waiting", [LIVE_NOTHING] = "recording",
        [LIVE_RECORDING] = "recording", [LIVE_CLOSED] = "closed",
};

static json_t *
mean(double sum, uint64_t count)
{
	return count ? json_real(sum / (double)count) : json_null();
}

static json_t *
whole(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *
epochs_json(const struct live_view *view)
{
	json_t *list = json_array();

	for (size_t e = 0; e < view->epoch_count; e++) {
		const struct tally_epoch *epoch = &view->epochs[e];

		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "epoch", whole(epoch->epoch),
		                                      "observed", whole(epoch->observed), "accuracy",
		                                      mean((double)epoch->correct, epoch->observed), "confidence",
		                                      mean(epoch->gold_prob, epoch->observed), "forgotten",
		                                      whole(epoch->forgotten), "learned", whole(epoch->learned)));
	}
	return list;
}

static json_t *
warnings_json(const struct live_view *view, const struct frame_moment *moment)
{
	char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM];
	unsigned count = frame_warnings(view, moment, warnings);
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list, report_text(warnings[i]));
	return list;
}

static json_t *
run_json(const struct live_view *view)
{
	const struct store_run_info *info = &view->info;
	json_t *forgetting = json_pack("{s:o, s:o, s:o}", "events", whole(view->events), "examples",
	                               whole(view->counts.forgotten), "not_learned", whole(view->counts.never_learned));
	json_t *sessions = json_pack("{s:o, s:o, s:o}", "total", whole(view->sessions), "live",
	                             whole(view->live_sessions), "never_closed", whole(view->lost_sessions));

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "declared",
	                 whole(info->declared), "expected", view->expected ? whole(view->expected) : json_null(),
	                 "examples", whole(view->counts.examples), "observations", whole(info->observations),
	                 "replaced", whole(info->replaced), "refused", whole(info->refused), "epochs",
	                 epochs_json(view), "forgetting", forgetting, "sessions", sessions, "clients",
	                 counters_client_json(&view->clients), "counters", counters_json(&view->counters), "collector",
	                 view->collector);
}

json_t *
frame_json(const struct live_view *view, const struct frame_moment *moment)
{
	bool waiting = view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN;
	json_t *object = json_pack("{s:o, s:o, s:s, s:o, s:f, s:o}", "time", json_integer(moment->time), "run",
	                           report_text(moment->run), "state", state_words[view->state], "rate",
	                           isnan(moment->rate) ? json_null() : json_real(moment->rate), "idle_seconds",
	                           moment->idle, "warnings", warnings_json(view, moment));
	json_t *rest = waiting ? json_pack("{s:o}", "why", report_text(moment->trouble ? moment->trouble : view->why))
	                       : run_json(view);

	if (!object || !rest || json_object_update(object, rest) < 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(rest);
	return object;
}
