/*
 * verdict.c: finds each way in which a run was recorded wrongly, and says it in one line for the user (verdict.h).
 *
 * A session that was never closed is no problem by itself: a resumed run may hold all that it lost. Nor are replaced
 * observations: a resumed job logs again what it had logged, and every process of a distributed job may evaluate all
 * examples. So each session but the first may replace every observation once. All further replacements mean that the
 * same session logged an observation twice. If at least half of all received observations were replaced so, ids or
 * epoch numbers do not tell observations apart. (A sampler that draws as many examples as there are, with replacement,
 * draws 37% of them again.)
 *
 * If less than half were, the ids that a session logged twice within an epoch are reported by themselves. The store
 * counts them; distributed and resumed jobs do not cause them.
 *
 * One changed label is a finding, though it may be a correction between two sessions: the example's measures mix
 * probabilities of two labels, which no figure shows. The number of changed labels tells the user which of the two it
 * was.
 *
 * Numbers of classes are compared by what sessions logged: a client declares no number of classes when it opens a run
 * (it learns it from the first logits), so there is no other source than the labels that the run names.
 */
#include "verdict.h"

#include "base/message.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const verdict_refusals[STORE_REFUSALS] = {
        [STORE_REFUSED_ID] = "id",   [STORE_REFUSED_GOLD_PROB] = "gold_prob", [STORE_REFUSED_CLASS] = "class",
        [STORE_REFUSED_NAN] = "nan", [STORE_REFUSED_BATCH] = "batch",
};

const struct verdict_text verdict_texts[VERDICT_KINDS] = {
        [VERDICT_RECORDING] = {"recording", NULL},
        [VERDICT_EMPTY] = {"no-observations", NULL},
        [VERDICT_NEVER_OBSERVED] = {"never-observed", NULL},
        [VERDICT_MISSING] = {"missing", NULL},
        [VERDICT_SKIPPED_EPOCHS] = {"skipped-epochs", NULL},
        [VERDICT_NEVER_ENDED] = {"never-ended", NULL},
        [VERDICT_REFUSED] = {"refused", NULL},
        [VERDICT_LEFT_OUT] = {"left-out", NULL},
        [VERDICT_DROPPED] = {"dropped", NULL},
        [VERDICT_NOT_ARRIVED] = {"not-arrived", "portolan import takes spool files"},
        [VERDICT_SHARED_IDS] = {"shared-ids", "log each example's own id, such as its row in the dataset, not its "
                                              "place in the batch"},
        [VERDICT_ONE_EPOCH_NUMBER] =
                {"one-epoch-number",
                 "log each epoch under a number of its own, from 0 on, and each example under its own id"},
        [VERDICT_REPLACED] =
                {"replaced-within-epoch",
                 "give each example an id of its own (only the latest observation of an id is kept), unless "
                 "a sampler drew examples more than once"},
        [VERDICT_TWO_PROCESSES] = {"two-processes",
                                   "give each a name of its own, or the ranks of one job one group, and record anew"},
        [VERDICT_CHANGED_LABELS] = {"changed-labels",
                                    "log an id that stays with its example, or, where labels were corrected, "
                                    "measure the epochs since then (--epochs)"},
        [VERDICT_CLASSES] = {"classes", "record each model as a run of its own"},
        [VERDICT_SALVAGED] = {"salvaged", NULL},
};

void
verdict_print(const struct finding *finding, char line[FINDING_ROOM])
{
	const char *remedy = verdict_texts[finding->kind].remedy;

	snprintf(line, FINDING_ROOM, "%s%s%s", finding->problem, remedy ? "; " : "", remedy ? remedy : "");
}

void
verdict_add(struct findings *findings, enum verdict_kind kind, const char *format, ...)
{
	struct finding *finding = &findings->found[findings->count++];
	va_list arguments;

	finding->kind = kind;
	va_start(arguments, format);
	vsnprintf(finding->problem, sizeof(finding->problem), format, arguments);
	va_end(arguments);
}

struct verdict
verdict_make(const struct store_run_info *info, const struct store_counters *counters,
             const struct store_session *sessions, size_t session_count)
{
	struct verdict verdict = {
	        .refused = info->refused,
	        .received = info->observations + info->replaced,
	        .returned = session_count == 1 ? info->replaced : info->returned,
	        .changed_labels = info->changed_labels,
	        .left = counters->left,
	        .epochs = info->epochs,
	};
	uint64_t explained = session_count > 1 ? (session_count - 1) * info->observations : 0;

	verdict.replaced = info->replaced > explained ? info->replaced - explained : 0;
	for (unsigned r = 0; r < STORE_REFUSALS; r++)
		verdict.refused_by[r] = counters->refused[r];
	for (size_t i = 0; i < session_count; i++) {
		verdict.left_out += sessions[i].client.refused;
		if (!sessions[i].beside || sessions[i].beside > session_count || verdict.has_two)
			continue;
		verdict.has_two = true;
		for (unsigned p = 0; p < 2; p++) {
			verdict.two[p] = p ? sessions[i].beside - 1 : (uint32_t)i;
			verdict.processes[p] = sessions[verdict.two[p]].process;
		}
	}
	return verdict;
}

struct verdict
verdict_read(struct store *store, const struct store_run_info *info)
{
	struct store_counters counters = {0};
	struct store_session *sessions = NULL;
	struct verdict verdict;
	size_t count = 0;

	if (store_counters(store, info->number, &counters, NULL) < 0)
		counters = (struct store_counters){0};
	if (store_sessions(store, info->number, &sessions, &count, NULL) < 0)
		return (struct verdict){0};
	verdict = verdict_make(info, &counters, sessions, count);
	free(sessions);
	return verdict;
}

static void
find_refused(const struct verdict *verdict, struct findings *findings)
{
	char text[200] = "";
	size_t used = 0;

	for (unsigned r = 0; r < STORE_REFUSALS; r++)
		if (verdict->refused_by[r])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? ", " : "",
			                         verdict_refusals[r], NUMBER_GROUPED(verdict->refused_by[r]));
	if (verdict->refused)
		verdict_add(findings, VERDICT_REFUSED, "observations refused: %s%s%s%s",
		            NUMBER_GROUPED(verdict->refused), used ? " (" : "", text, used ? ")" : "");
	if (verdict->left_out)
		verdict_add(findings, VERDICT_LEFT_OUT, "rows left out by clients, as not usable: %s",
		            NUMBER_GROUPED(verdict->left_out));
}

static void
find_two_processes(const struct verdict *verdict, struct findings *findings)
{
	char who[2][192];

	for (unsigned p = 0; p < 2 && verdict->has_two; p++) {
		const struct store_process *process = &verdict->processes[p];
		char number[32] = "";

		if (process->process)
			snprintf(number, sizeof(number), ", process %llu", (unsigned long long)process->process);
		snprintf(who[p], sizeof(who[p]), "session %u%s%s%s", verdict->two[p], number,
		         process->host[0] ? " on " : "", process->host);
	}
	if (verdict->has_two)
		verdict_add(
		        findings, VERDICT_TWO_PROCESSES,
		        "two processes recorded it side by side, and each replaced what the other had observed: %s; %s",
		        who[0], who[1]);
}

static void
find_salvaged(const struct store_left *left, struct findings *findings)
{
	if (left->epochs || left->chunks || left->examples || left->observations || left->records)
		verdict_add(
		        findings, VERDICT_SALVAGED,
		        "salvaged from a damaged store, which left %s observations and %s examples; incomplete: %s epochs and %s "
		        "chunks; records damaged or missing: %s",
		        NUMBER_GROUPED(left->observations), NUMBER_GROUPED(left->examples),
		        NUMBER_GROUPED(left->epochs), NUMBER_GROUPED(left->chunks), NUMBER_GROUPED(left->records));
}

void
verdict_find(const struct verdict *verdict, struct findings *findings)
{
	find_refused(verdict, findings);
	find_salvaged(&verdict->left, findings);
	if (verdict->replaced > 0 && verdict->replaced >= verdict->received - verdict->replaced) {
		bool one_epoch = verdict->epochs == 1 && verdict->changed_labels == 0;

		verdict_add(
		        findings, one_epoch ? VERDICT_ONE_EPOCH_NUMBER : VERDICT_SHARED_IDS,
		        one_epoch
		                ? "observations replaced by later ones of the same id, all logged for one epoch: %s of %s"
		                : "observations replaced by later ones of the same id and epoch: %s of %s",
		        NUMBER_GROUPED(verdict->replaced), NUMBER_GROUPED(verdict->received));
	} else if (verdict->returned) {
		verdict_add(
		        findings, VERDICT_REPLACED,
		        "observations replaced within an epoch, as the same session logged their ids again: %s of %s",
		        NUMBER_GROUPED(verdict->returned), NUMBER_GROUPED(verdict->received));
	}
	if (verdict->changed_labels)
		verdict_add(findings, VERDICT_CHANGED_LABELS, "gold labels that changed: %s, the latest are kept",
		            NUMBER_GROUPED(verdict->changed_labels));
	find_two_processes(verdict, findings);
	if (verdict->more_classes)
		verdict_add(findings, VERDICT_CLASSES,
		            verdict->are_named ? "number of classes: the run names %s, and at least %s were logged"
		                               : "number of classes: %s in one session, at least %s in another",
		            NUMBER_GROUPED(verdict->classes), NUMBER_GROUPED(verdict->more_classes));
}

bool
verdict_warn(const struct verdict *verdict, const char *run)
{
	struct findings findings = {.count = 0};
	char line[FINDING_ROOM];

	verdict_find(verdict, &findings);
	for (size_t i = 0; i < findings.count; i++) {
		verdict_print(&findings.found[i], line);
		message_warning("run '%s': %s", run, line);
	}
	return findings.count > 0;
}
