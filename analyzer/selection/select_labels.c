/* select_labels.c: finds the suspects of a run, applies the user's corrections, and leaves examples out for them
 * (select_labels.h). */
#include "select_labels.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "manifest.h"

#include <portolan/error.h>

void
select_labels_request(const struct select_request *request, struct dynamics_request *wanted)
{
	bool judges = request->why || request->without_suspects;

	wanted->gold = wanted->gold || judges || request->corrections;
	if (request->why)
		wanted->measures |= MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY);
	if (judges && request->run_count == 1)
		suspects_request(wanted);
}

/* Judges the first of several runs, whose dense indices those of `dynamics` are. */
static void
select_labels_find_in_first(struct select_labels *labels, const struct select_request *request,
                            const struct dynamics *dynamics)
{
	CLEANUP(dynamics_free) struct dynamics first = {0};
	struct dynamics_request wanted = {0};

	suspects_request(&wanted);
	must(dynamics_load_beside(&first, dynamics, &request->common.query, request->runs[0], &wanted, &failure));
	suspects_find(&labels->suspects, &first);
}

/* Finds the suspects, if the record lets labels be called wrong. Returns 0, or a negative code with &failure filled. */
static int
select_labels_judge(struct select_labels *labels, const struct select_request *request, const struct dynamics *dynamics)
{
	int code = suspects_check(dynamics, &failure);

	if (code < 0)
		return code;
	if (request->run_count > 1)
		select_labels_find_in_first(labels, request, dynamics);
	else
		suspects_find(&labels->suspects, dynamics);
	if (labels->suspects.by == SUSPECTS_BY_CONFIDENCE)
		return error_set(&failure, PORTOLAN_E_INVALID,
		                 "run '%s' holds only p of the label, by which none is called wrong: record logits or "
		                 "probabilities",
		                 dynamics->info->name);
	return 0;
}

void
select_labels_find(struct select_labels *labels, const struct select_request *request, const struct dynamics *dynamics)
{
	if (!request->why && !request->without_suspects)
		return;
	labels->has_suspects = select_labels_judge(labels, request, dynamics) >= 0;
	if (!labels->has_suspects && request->without_suspects)
		die("--without-suspects: %s", failure.message);
	if (!labels->has_suspects)
		message_note("no suspects: %s", failure.message);
	else if (labels->suspects.doubt_count > 0 || request->without_suspects)
		suspects_say(&labels->suspects);
}

/* Leaves out what is called for, and counts it. */
static size_t
select_labels_keep(struct select_labels *labels, const struct select_request *request, uint32_t *order, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_dropped = labels->corrected.marks && labels->corrected.marks[order[i]] == CORRECTED_DROPPED;
		bool is_suspect = request->without_suspects && labels->suspects.is_called[order[i]];

		labels->dropped += is_dropped;
		labels->suspects_left_out += is_suspect;
		if (!is_dropped && !is_suspect)
			order[left++] = order[i];
	}
	return left;
}

static void
select_labels_say(const struct select_labels *labels, const struct select_request *request, size_t count)
{
	const struct corrections *corrections = &labels->corrected.corrections;

	if (request->corrections)
		message_note("%s: %s label%s changed, %s example%s dropped", request->corrections,
		             NUMBER_GROUPED(corrections->changed), corrections->changed == 1 ? "" : "s",
		             NUMBER_GROUPED(corrections->dropped), corrections->dropped == 1 ? "" : "s");
	if (request->without_suspects)
		message_note("%s of %s examples left out as suspects", NUMBER_GROUPED(labels->suspects_left_out),
		             NUMBER_GROUPED(count));
}

size_t
select_labels_leave_out(struct select_labels *labels, const struct select_request *request, struct dynamics *dynamics,
                        uint32_t *order, size_t count)
{
	size_t left;

	if (request->corrections)
		corrected_apply(&labels->corrected, request->corrections, dynamics);
	for (size_t i = 0; i < dynamics->count && labels->has_suspects && request->corrections; i++)
		if (labels->corrected.marks[dynamics->order[i]] != CORRECTED_NOT)
			labels->suspects.is_called[dynamics->order[i]] = 0;
	left = select_labels_keep(labels, request, order, count);
	select_labels_say(labels, request, count);
	if (left == 0 && count > 0)
		die("nothing is left to choose from: of %zu examples %llu were dropped, and %llu are suspects", count,
		    (unsigned long long)labels->dropped, (unsigned long long)labels->suspects_left_out);
	return left;
}

static void
select_labels_report_suspects(const struct select_labels *labels, const struct select_request *request,
                              struct report *report)
{
	report_begin(report, "suspects");
	report_whole(report, "called", labels->suspects.called);
	if (request->without_suspects)
		report_whole(report, "left_out", labels->suspects_left_out);
	report_text(report, "how", labels->suspects.how);
	suspects_report_weak(report, &labels->suspects);
	report_end(report);
}

void
select_labels_report(const struct select_labels *labels, const struct select_request *request, struct report *report)
{
	const struct corrections *corrections = &labels->corrected.corrections;

	if (labels->has_suspects)
		select_labels_report_suspects(labels, request, report);
	if (!request->corrections)
		return;
	report_begin(report, "corrections");
	manifest_add_file(report, request->corrections);
	REPORT_WHOLES(report, {"changed", corrections->changed}, {"dropped", corrections->dropped},
	              {"right", corrections->right}, {"unknown", corrections->unknown});
	report_end(report);
}

void
select_labels_free(struct select_labels *labels)
{
	suspects_free(&labels->suspects);
	corrected_free(&labels->corrected);
	*labels = (struct select_labels){.has_suspects = false};
}
