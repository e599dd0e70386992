/*
 * verdict.h: finds what went wrong when a run was recorded (ids that two examples share, refused observations, changed
 * labels …), so that nobody trusts measures that mean something else. Each finding has a kind with a name, a sentence,
 * and, where there is one, a remedy.
 *
 * `portolan check` lists every finding. The other commands warn of the findings that change the meaning of a run's
 * measures; these are found without reading any observation.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <portolan/store.h>

enum verdict_kind {
	VERDICT_RECORDING,
	VERDICT_EMPTY,
	VERDICT_NEVER_OBSERVED,
	VERDICT_MISSING,
	VERDICT_SKIPPED_EPOCHS,
	VERDICT_NEVER_ENDED,
	VERDICT_REFUSED,
	VERDICT_LEFT_OUT,
	VERDICT_DROPPED,
	VERDICT_NOT_ARRIVED,
	VERDICT_SHARED_IDS,
	VERDICT_ONE_EPOCH_NUMBER,
	VERDICT_REPLACED,
	VERDICT_CHANGED_LABELS,
	VERDICT_TWO_PROCESSES,
	VERDICT_CLASSES,
	VERDICT_SALVAGED,
	VERDICT_KINDS,
};
struct verdict_text {
	const char *name, *remedy; /* name: as in "shared-ids"; remedy: NULL where none is known */
};
extern const struct verdict_text verdict_texts[VERDICT_KINDS];
/* names of the reasons for which observations are refused, as in "gold_prob" */
extern const char *const verdict_refusals[STORE_REFUSALS];

/* How a run was recorded, as far as its counters and sessions tell. */
struct verdict {
	uint64_t refused, refused_by[STORE_REFUSALS]; /* observations that the collector refused */
	uint64_t left_out;                            /* rows that clients left out */
	uint64_t received, replaced; /* observations; replaced: as far as sessions that log again do not explain it */
	/* observations that were replaced by the session that had logged them, counted each time */
	uint64_t returned;
	struct store_left left; /* what salvaging a damaged store had to leave behind */
	uint64_t changed_labels, epochs;
	/* the number of classes of one session, and the least number of another that has more; 0: no two such sessions
	 * are known */
	uint64_t classes, more_classes;
	bool are_named;                    /* `classes` is the number of classes that the run names */
	bool has_two;                      /* two processes recorded the run side by side: */
	uint32_t two[2];                   /* the numbers of their sessions in the run, */
	struct store_process processes[2]; /* and who they are */
};

struct finding {
	enum verdict_kind kind;
	char problem[320];
};
#define FINDING_ROOM 448 /* a finding as one line */

struct findings {
	struct finding found[VERDICT_KINDS];
	size_t count;
};

/* Judges a run by its record, counters and sessions. The numbers of classes are left unknown. */
struct verdict verdict_make(const struct store_run_info *info, const struct store_counters *counters,
                            const struct store_session *sessions, size_t session_count);

/* As verdict_make(), with counters and sessions read from the store. Counters that cannot be read count as 0: `check`
 * reports them. */
struct verdict verdict_read(struct store *store, const struct store_run_info *info);

/* Adds the findings of the verdict. */
void verdict_find(const struct verdict *verdict, struct findings *findings);

/* Adds a finding of a kind, whose problem is the text of `format`. */
__attribute__((format(printf, 3, 4))) void verdict_add(struct findings *findings, enum verdict_kind kind,
                                                       const char *format, ...);

/* Prints the problem and its remedy. */
void verdict_print(const struct finding *finding, char line[FINDING_ROOM]);

/* Warns of the findings of the verdict. Returns whether there are any. */
bool verdict_warn(const struct verdict *verdict, const char *run);

#endif
