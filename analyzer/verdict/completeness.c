/*
 * completeness.c: finds out for `portolan check` what of a run is missing or damaged (completeness.h). It looks at the
 * run three times: at its records against their checksums, at its observations, and at its counters.
 *
 * The three looks follow one another, so while the run is being recorded, each may see a little more than the one
 * before.
 */
#include "completeness.h"

#include "base/arrays.h"
#include "base/ids.h"
#include "base/number.h"

#include <portolan/error.h>
#include <progress.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPOCHS_LISTED 5
#define CLASSES_ROWS 100 /* the least number of predictions that tells the number of classes */
#define CLASSES_NEAR 0.9
/* the largest number of classes that is believed: what was logged as entropy need not be one */
#define CLASSES_MOST 1e6

void
completeness_free(struct completeness *result)
{
	for (uint64_t i = 0; result->damage && i < result->damaged && i < COMPLETENESS_LINES; i++)
		free(result->damage[i]);
	free(result->damage);
	free(result->epochs);
	free(result->sessions);
	free(result->classes);
	*result = (struct completeness){0};
}

struct verification {
	struct completeness *result;
	struct progress progress;
	bool begun;
};

static void
note_damage(struct completeness *result, const char *what)
{
	if (result->damaged < COMPLETENESS_LINES)
		result->damage[result->damaged] = strdup(what);
	result->damaged++;
}

static void
take_damage(void *context, const char *what)
{
	struct verification *verification = context;

	note_damage(verification->result, what);
}

static void
show_progress(void *context, uint64_t done, uint64_t total)
{
	struct verification *verification = context;

	if (!verification->begun)
		progress_begin(&verification->progress, "verifying", total);
	verification->begun = true;
	progress_show(&verification->progress, done);
}

static int
verify(struct store *store, struct completeness *result, struct portolan_error *error)
{
	struct verification verification = {.result = result};
	struct store_verify options = {.damaged = take_damage, .progress = show_progress, .context = &verification};
	int code = store_verify(store, result->info.number, &options, &result->records, error);

	progress_clear(&verification.progress);
	return code;
}

struct count {
	struct completeness *result;
	struct store_snapshot *snapshot;
	const uint32_t *epochs;
	struct ids ids;
};

/* Has `session` ended `epoch`? A session that came after the sessions were read counts as live. */
static enum epoch_state
state_for(const struct completeness *result, uint32_t session, uint32_t epoch)
{
	const struct store_session *of = session < result->session_count ? &result->sessions[session] : NULL;

	if (!of)
		return EPOCH_OPEN;
	if (of->frontier > epoch || of->client.closed)
		return EPOCH_ENDED;
	return of->live ? EPOCH_OPEN : EPOCH_INTERRUPTED;
}

static void
note_classes(struct completeness_classes *classes, const struct store_values *predicted,
             const struct store_values *entropy, uint32_t row)
{
	int32_t class = ((const int32_t *)predicted->values)[row];
	float nats = ((const float *)entropy->values)[row];

	if (!(predicted->present[row / 64] & entropy->present[row / 64] & UINT64_C(1) << row % 64))
		return;
	classes->rows++;
	classes->predicted = class > classes->predicted ? class : classes->predicted;
	classes->entropy = nats > classes->entropy ? nats : classes->entropy;
}

/* Counts the observations of an epoch within a block, and which sessions made them. */
static void
count_epoch(struct completeness *result, const struct store_block *block, size_t e)
{
	const struct store_values *seen = store_block_values(block, e, STORE_SESSION);
	const struct store_values *predicted = store_block_values(block, e, STORE_PREDICTED);
	const struct store_values *entropy = store_block_values(block, e, STORE_ENTROPY);
	struct completeness_epoch *epoch = &result->epochs[e];
	uint32_t last = UINT32_MAX;

	for (uint32_t word = 0; seen->present && word < (block->rows + 63) / 64; word++) {
		for (uint64_t bits = seen->present[word]; bits; bits &= bits - 1) {
			uint32_t row = word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t session = ((const uint32_t *)seen->values)[row];

			epoch->observed++;
			if (predicted->values && entropy->values && session < result->session_count)
				note_classes(&result->classes[session], predicted, entropy, row);
			if (session == last)
				continue;
			last = session;
			if (epoch->state == EPOCH_ENDED)
				epoch->state = state_for(result, session, epoch->stored.epoch);
		}
	}
}

static int
count_block(struct count *count, struct store_cursor *cursor, size_t index, struct portolan_error *error)
{
	struct completeness *result = count->result;
	struct store_block block;
	struct store_ids ids;
	int code = store_cursor_block(cursor, index, &block, error);

	for (size_t e = 0; code >= 0 && e < block.epoch_count; e++)
		count_epoch(result, &block, e);
	if (code >= 0)
		code = store_cursor_ids(cursor, index, &ids, error);
	if (code >= 0 && !result->info.declared)
		code = ids_append(&count->ids, result->info.id_kind, &ids, error);
	if (code != STORE_E_CORRUPT)
		return code;
	note_damage(result, error->message);
	return 0;
}

/* Checks that no two examples have the same id: two equal neighbours in sorted order are a fault. */
static int
check_ids(struct count *count, struct portolan_error *error)
{
	struct completeness *result = count->result;
	uint32_t *order = ids_in_order(&count->ids, error);
	uint64_t twice = 0;
	char line[400];

	if (!order)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 1; i < count->ids.rows; i++)
		twice += ids_are_equal(&count->ids, order[i - 1], order[i]);
	array_free(order);
	if (twice) {
		snprintf(line, sizeof(line), "run '%s': %llu ids stand for more than one example", result->info.name,
		         (unsigned long long)twice);
		note_damage(result, line);
	}
	return 0;
}

static int
count_blocks(struct count *count, struct portolan_error *error)
{
	size_t blocks = store_snapshot_blocks(count->snapshot);
	struct progress progress;
	struct store_cursor *cursor;
	int code = store_cursor_open(count->snapshot, &cursor, error);

	if (code < 0)
		return code;
	progress_begin(&progress, "counting", blocks);
	for (size_t b = 0; b < blocks && code >= 0; b++) {
		code = count_block(count, cursor, b, error);
		progress_show(&progress, b + 1);
	}
	progress_clear(&progress);
	store_cursor_close(cursor);
	return code < 0 || count->result->damaged ? code : check_ids(count, error);
}

/* Takes the store's records of the epochs that were read a moment ago, as they are now. */
static int
take_epochs(struct store *store, struct count *count, struct portolan_error *error)
{
	struct completeness *result = count->result;
	struct store_epoch *stored;
	size_t stored_count, at = 0;
	int code = store_epochs(store, result->info.number, &stored, &stored_count, error);

	if (code < 0)
		return code;
	result->epoch_count = store_snapshot_epochs(count->snapshot, &count->epochs);
	result->epochs = calloc(result->epoch_count + 1, sizeof(*result->epochs));
	for (size_t e = 0; result->epochs && e < result->epoch_count; e++) {
		while (at < stored_count && stored[at].epoch < count->epochs[e])
			at++;
		if (at < stored_count && stored[at].epoch == count->epochs[e])
			result->epochs[e].stored = stored[at];
		result->epochs[e].stored.epoch = count->epochs[e];
	}
	free(stored);
	return result->epochs
	               ? 0
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu epochs", result->epoch_count);
}

static void
count_missing(struct completeness *result)
{
	result->expected = result->info.declared ? result->info.declared : result->info.rows;
	for (size_t e = 0; e < result->epoch_count; e++) {
		struct completeness_epoch *epoch = &result->epochs[e];

		epoch->missing = result->expected > epoch->observed ? result->expected - epoch->observed : 0;
		if (epoch->state != EPOCH_OPEN)
			result->missing += epoch->missing;
		if (e > 0)
			result->skipped_epochs += epoch->stored.epoch - result->epochs[e - 1].stored.epoch - 1;
	}
}

/*
 * The store does not have the number of classes, but predictions bound it from below: by the highest class, and as k
 * classes have an entropy of ln k at most. If a session with enough rows predicted exactly k classes and comes near ln
 * k, k is taken for its number of classes. A session that needs more then has another number.
 */
static void
compare_classes(struct completeness *result)
{
	uint64_t known = UINT64_MAX, most = 0, named = result->info.label_count, predicted = 0;

	for (size_t s = 0; s < result->session_count; s++) {
		const struct completeness_classes *classes = &result->classes[s];
		double by_entropy = fmin(exp((double)classes->entropy), CLASSES_MOST);
		uint64_t least = classes->rows ? (uint64_t)classes->predicted + 1 : 0;

		predicted = least > predicted ? least : predicted;
		if (classes->rows >= CLASSES_ROWS && by_entropy < (double)least + 0.01 &&
		    by_entropy > CLASSES_NEAR * (double)least && least < known)
			known = least;
		if (by_entropy > (double)least + 0.01)
			least = (uint64_t)ceil(by_entropy - 0.01);
		most = classes->rows && least > most ? least : most;
	}
	result->verdict.are_named = named > 0 && predicted > named;
	result->verdict.classes = result->verdict.are_named ? named : known;
	result->verdict.more_classes = result->verdict.are_named ? predicted : most > known ? most : 0;
}

/* Counts the observations in a snapshot, which is opened by the run's name and must still be of the same run. */
static int
count_observations(struct store *store, struct completeness *result, struct portolan_error *error)
{
	const struct store_snapshot_options options = {.occupied = true,
	                                               .epoch_to = UINT32_MAX,
	                                               .columns = STORE_COLUMN_BIT(STORE_SESSION) |
	                                                          STORE_COLUMN_BIT(STORE_PREDICTED) |
	                                                          STORE_COLUMN_BIT(STORE_ENTROPY)};
	struct count count = {.result = result};
	int code;

	result->classes = calloc(result->session_count + 1, sizeof(*result->classes));
	if (!result->classes)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu sessions", result->session_count);
	code = store_snapshot_open(store, result->info.name, &options, &count.snapshot, error);

	if (code >= 0 && store_snapshot_info(count.snapshot)->number != result->info.number)
		code = error_set(error, STORE_E_NO_RUN, "run '%s' was overwritten during the check; check again",
		                 result->info.name);
	if (code >= 0) {
		result->info = *store_snapshot_info(count.snapshot);
		code = take_epochs(store, &count, error);
	}
	if (code >= 0)
		code = count_blocks(&count, error);
	if (code >= 0)
		count_missing(result);
	store_snapshot_close(count.snapshot);
	ids_free(&count.ids);
	return code;
}

void
completeness_sum_sessions(struct completeness *result)
{
	struct store_client *sum = &result->clients;

	for (size_t i = 0; i < result->session_count; i++) {
		const struct store_session *session = &result->sessions[i];
		const struct store_client *client = &session->client;
		uint64_t arrived = session->observations + session->refused;

		if (session->live)
			result->live++;
		else if (client->closed)
			result->closed++;
		else
			result->lost++;
		sum->told += client->told != 0;
		sum->logged += client->logged;
		sum->refused += client->refused;
		sum->dropped += client->dropped;
		sum->spooled += client->spooled;
		sum->waits += client->waits;
		if (!session->live && client->logged > arrived)
			result->not_arrived += client->logged - arrived;
	}
}

static void
add_recording(const struct completeness *result, struct findings *findings)
{
	if (result->info.state == STORE_RECORDING)
		verdict_add(findings, VERDICT_RECORDING, "still being recorded: sessions live: %s",
		            NUMBER_GROUPED(result->live));
	if (result->epoch_count == 0 && !result->damaged)
		verdict_add(findings, VERDICT_EMPTY, "no observations");
}

/* Prints the numbers of the epochs for which is_one() is true: "3, 5, 6, 8, 9 and 12 more". */
static void
list_epochs(const struct completeness *result, bool (*is_one)(const struct completeness_epoch *epoch), char text[160])
{
	size_t used = 0, count = 0;

	text[0] = '\0';
	for (size_t e = 0; e < result->epoch_count; e++)
		if (is_one(&result->epochs[e]) && count++ < EPOCHS_LISTED)
			used += (size_t)snprintf(text + used, 160 - used, "%s%u", used ? ", " : "",
			                         result->epochs[e].stored.epoch);
	if (count > EPOCHS_LISTED)
		snprintf(text + used, 160 - used, " and %zu more", count - EPOCHS_LISTED);
}

static bool
epoch_misses_some(const struct completeness_epoch *epoch)
{
	return epoch->missing && epoch->state != EPOCH_OPEN;
}

static bool
epoch_is_interrupted(const struct completeness_epoch *epoch)
{
	return epoch->state == EPOCH_INTERRUPTED;
}

static void
add_missing(const struct completeness *result, struct findings *findings)
{
	const struct store_run_info *info = &result->info;
	char epochs[160];

	if (info->declared > info->examples)
		verdict_add(findings, VERDICT_NEVER_OBSERVED, "never observed: %s of the %s declared examples",
		            NUMBER_GROUPED(info->declared - info->examples), NUMBER_GROUPED(info->declared));
	if (result->missing) {
		list_epochs(result, epoch_misses_some, epochs);
		verdict_add(findings, VERDICT_MISSING, "observations missing: %s (epochs %s)",
		            NUMBER_GROUPED(result->missing), epochs);
	}
	if (result->skipped_epochs)
		verdict_add(findings, VERDICT_SKIPPED_EPOCHS,
		            "epochs without any observation between the first and the last: %s",
		            NUMBER_GROUPED(result->skipped_epochs));
	list_epochs(result, epoch_is_interrupted, epochs);
	if (epochs[0])
		verdict_add(
		        findings, VERDICT_NEVER_ENDED,
		        "never ended: epochs %s; their client neither ended them nor closed, and may have logged more",
		        epochs);
}

static void
add_lost(const struct completeness *result, struct findings *findings)
{
	const struct store_client *clients = &result->clients;

	if (clients->dropped)
		verdict_add(findings, VERDICT_DROPPED, "observations dropped by clients: %s",
		            NUMBER_GROUPED(clients->dropped));
	if (result->not_arrived)
		verdict_add(findings, VERDICT_NOT_ARRIVED,
		            "observations logged that have not arrived: %s (spooled: %s)",
		            NUMBER_GROUPED(result->not_arrived), NUMBER_GROUPED(clients->spooled));
}

/* Adds a finding for each way in which the run is incomplete, and those of its verdict. */
static void
add_findings(const struct completeness *result, struct findings *findings)
{
	add_recording(result, findings);
	add_missing(result, findings);
	verdict_find(&result->verdict, findings);
	add_lost(result, findings);
}

/* Takes the result of a look at the run: damage becomes a finding, and is no error. */
static int
find(struct completeness *result, int code, const struct portolan_error *error)
{
	if (code != STORE_E_CORRUPT)
		return code;
	note_damage(result, error->message);
	return 0;
}

int
completeness_check(struct store *store, uint32_t run, const char *name, struct completeness *result,
                   struct portolan_error *error)
{
	int code;

	*result = (struct completeness){.info.number = run};
	snprintf(result->info.name, sizeof(result->info.name), "%s", name);
	result->damage = calloc(COMPLETENESS_LINES, sizeof(*result->damage));
	if (!result->damage)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory checking run '%s'", name);
	code = find(result, verify(store, result, error), error);
	if (code >= 0)
		code = find(result, store_counters(store, run, &result->counters, error), error);
	if (code >= 0)
		code = find(result, store_sessions(store, run, &result->sessions, &result->session_count, error),
		            error);
	if (code >= 0)
		code = find(result, count_observations(store, result, error), error);
	if (code < 0) {
		completeness_free(result);
		return code;
	}
	completeness_sum_sessions(result);
	result->verdict = verdict_make(&result->info, &result->counters, result->sessions, result->session_count);
	if (!result->damaged)
		compare_classes(result);
	add_findings(result, &result->findings);
	return 0;
}
