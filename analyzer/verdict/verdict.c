/*
 * verdict.c: each way in which a run is incomplete or was recorded wrongly, said in one line.
 *
 * A session that was never closed is no problem by itself: a resumed run may hold all that it lost. Nor are replaced
 * observations: a resumed job logs again what it had logged, and every rank may evaluate all examples. So each session
 * but the first may replace every observation once. All further replacements came twice from the same session. If these
 * are half of all observations, ids or epoch numbers do not tell observations apart. (A sampler that draws as many
 * examples as there are, with replacement, draws 37% of them again.)
 *
 * If less than half are, the ids that a session logged twice within an epoch are reported by themselves: the store counts
 * them, and ranks and resumed jobs do not cause them.
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
#include "completeness.h"

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

__attribute__((format(printf, 3, 4))) static void
add(struct findings *findings, enum verdict_kind kind, const char *format, ...)
{
	struct finding *finding = &findings->found[findings->count++];
	va_list arguments;

	finding->kind = kind;
	va_start(arguments, format);
	vsnprintf(finding->problem, sizeof(finding->problem), format, arguments);
	va_end(arguments);
}

static const char *
grouped(uint64_t value, char text[NUMBER_ROOM])
{
	number_print_grouped(value, text);
	return text;
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
	char text[200] = "", number[NUMBER_ROOM];
	size_t used = 0;

	for (unsigned r = 0; r < STORE_REFUSALS; r++)
		if (verdict->refused_by[r])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? ", " : "",
			                         verdict_refusals[r], grouped(verdict->refused_by[r], number));
	if (verdict->refused)
		add(findings, VERDICT_REFUSED, "observations refused: %s%s%s%s", grouped(verdict->refused, number),
		    used ? " (" : "", text, used ? ")" : "");
	if (verdict->left_out)
		add(findings, VERDICT_LEFT_OUT, "rows left out by clients, as not usable: %s",
		    grouped(verdict->left_out, number));
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
		add(findings, VERDICT_TWO_PROCESSES,
		    "two processes recorded it side by side, and each replaced what the other had observed: %s; %s",
		    who[0], who[1]);
}

static void
find_salvaged(const struct store_left *left, struct findings *findings)
{
	char observations[NUMBER_ROOM], examples[NUMBER_ROOM], epochs[NUMBER_ROOM], chunks[NUMBER_ROOM],
	        records[NUMBER_ROOM];

	if (left->epochs || left->chunks || left->examples || left->observations || left->records)
		add(findings, VERDICT_SALVAGED,
		    "salvaged from a damaged store, which left %s observations and %s examples; incomplete: %s epochs and %s "
		    "chunks; records damaged or missing: %s",
		    grouped(left->observations, observations), grouped(left->examples, examples),
		    grouped(left->epochs, epochs), grouped(left->chunks, chunks), grouped(left->records, records));
}

void
verdict_find(const struct verdict *verdict, struct findings *findings)
{
	char some[NUMBER_ROOM], all[NUMBER_ROOM];

	find_refused(verdict, findings);
	find_salvaged(&verdict->left, findings);
	if (verdict->replaced > 0 && verdict->replaced >= verdict->received - verdict->replaced) {
		bool one_epoch = verdict->epochs == 1 && verdict->changed_labels == 0;

		add(findings, one_epoch ? VERDICT_ONE_EPOCH_NUMBER : VERDICT_SHARED_IDS,
		    one_epoch ? "observations replaced by later ones of the same id, all logged for one epoch: %s of %s"
		              : "observations replaced by later ones of the same id and epoch: %s of %s",
		    grouped(verdict->replaced, some), grouped(verdict->received, all));
	} else if (verdict->returned) {
		add(findings, VERDICT_REPLACED,
		    "observations replaced within an epoch, as the same session logged their ids again: %s of %s",
		    grouped(verdict->returned, some), grouped(verdict->received, all));
	}
	if (verdict->changed_labels)
		add(findings, VERDICT_CHANGED_LABELS, "gold labels that changed: %s, the latest are kept",
		    grouped(verdict->changed_labels, some));
	find_two_processes(verdict, findings);
	if (verdict->more_classes)
		add(findings, VERDICT_CLASSES,
		    verdict->are_named ? "number of classes: the run names %s, and at least %s were logged"
		                       : "number of classes: %s in one session, at least %s in another",
		    grouped(verdict->classes, some), grouped(verdict->more_classes, all));
}

static void
find_recording(const struct completeness *result, struct findings *findings)
{
	char live[NUMBER_ROOM];

	if (result->info.state == STORE_RECORDING)
		add(findings, VERDICT_RECORDING, "still being recorded: sessions live: %s",
		    grouped(result->live, live));
	if (result->epoch_count == 0 && !result->damaged)
		add(findings, VERDICT_EMPTY, "no observations");
}

/* "3, 5, 6 and 12 more". */
static void
list_epochs(const struct completeness *result, bool (*is_one)(const struct completeness_epoch *epoch), char text[160])
{
	size_t used = 0, count = 0, shown = 0;

	text[0] = '\0';
	for (size_t e = 0; e < result->epoch_count; e++)
		count += is_one(&result->epochs[e]);
	for (size_t e = 0; e < result->epoch_count && shown < 5; e++) {
		if (!is_one(&result->epochs[e]))
			continue;
		used += (size_t)snprintf(text + used, 160 - used, "%s%u", shown ? ", " : "",
		                         result->epochs[e].stored.epoch);
		shown++;
	}
	if (count > shown)
		snprintf(text + used, 160 - used, " and %zu more", count - shown);
}

static bool
misses_some(const struct completeness_epoch *epoch)
{
	return epoch->missing && epoch->state != EPOCH_OPEN;
}

static bool
is_interrupted(const struct completeness_epoch *epoch)
{
	return epoch->state == EPOCH_INTERRUPTED;
}

static void
find_missing(const struct completeness *result, struct findings *findings)
{
	const struct store_run_info *info = &result->info;
	char some[NUMBER_ROOM], all[NUMBER_ROOM], epochs[160];

	if (info->declared > info->examples)
		add(findings, VERDICT_NEVER_OBSERVED, "never observed: %s of the %s declared examples",
		    grouped(info->declared - info->examples, some), grouped(info->declared, all));
	if (result->missing) {
		list_epochs(result, misses_some, epochs);
		add(findings, VERDICT_MISSING, "observations missing: %s (epochs %s)", grouped(result->missing, some),
		    epochs);
	}
	if (result->skipped_epochs)
		add(findings, VERDICT_SKIPPED_EPOCHS,
		    "epochs without any observation between the first and the last: %s",
		    grouped(result->skipped_epochs, some));
	list_epochs(result, is_interrupted, epochs);
	if (epochs[0])
		add(findings, VERDICT_NEVER_ENDED,
		    "never ended: epochs %s; their client neither ended them nor closed, and may have logged more",
		    epochs);
}

static void
find_lost(const struct completeness *result, struct findings *findings)
{
	const struct store_client *clients = &result->clients;
	char number[NUMBER_ROOM], spooled[NUMBER_ROOM];

	if (clients->dropped)
		add(findings, VERDICT_DROPPED, "observations dropped by clients: %s",
		    grouped(clients->dropped, number));
	if (result->not_arrived)
		add(findings, VERDICT_NOT_ARRIVED, "observations logged that have not arrived: %s (spooled: %s)",
		    grouped(result->not_arrived, number), grouped(clients->spooled, spooled));
}

void
verdict_find_incomplete(const struct completeness *result, struct findings *findings)
{
	find_recording(result, findings);
	find_missing(result, findings);
	verdict_find(&result->verdict, findings);
	find_lost(result, findings);
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
