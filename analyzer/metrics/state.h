/*
 * state.h: for `portolan metrics --state FILE`: keeps the sums of the epochs that are over in a file, so that the next
 * call reads only those that came since (measures/sums.h has the sums, state_file.h the file).
 *
 *     must(dynamics_open(&run, …)); must(state_open(&state, &run, path, &failure));
 *     … scan_run(&run, …) …
 *     must(state_check(&state, &failure));
 *     must(state_finish(&state, &failure));
 *
 * A state holds the first epochs of the run that are over, from --epochs' begin on. An epoch under way is read each
 * time. A state fits as long as the run's first epochs are those that it holds, and no batch came for them since: the
 * store counts those of an epoch. Otherwise all epochs are read and the state is made anew, which stderr says. A file
 * that is no state, is damaged, or is of another store, run or question is an error, and is left as it is.
 */
#ifndef STATE_H
#define STATE_H

#include "measures/dynamics.h"
#include "state_file.h"

/* The columns of the store that a state needs: for struct dynamics_request's `signals`. */
uint64_t state_signals(void);

struct state {
	const struct dynamics *run;
	struct dynamics_earlier earlier;
	struct state_file old;
	size_t epochs_over;  /* how many of the run's epochs the new state holds */
	size_t blocks_taken; /* how many blocks of the old state were read */
	bool writes;
	struct state_head head; /* of the new one */
	uint64_t check;         /* its checksum */
	struct output output;
};

/* Opens the state in the file `path`, if there is one, for a run that was opened with state_signals(). From now on
 * scan_run() reads only the epochs that the state lacks, and the run has no tdds. On success call state_finish(). */
int state_open(struct state *state, struct dynamics *run, const char *path, struct portolan_error *error);

/* After a scan of the whole run, before its results are used: was all of the old state taken? */
int state_check(const struct state *state, struct portolan_error *error);

/* Gives the new state its name, if there is a new one, when the results are safe. */
int state_finish(struct state *state, struct portolan_error *error);

#endif
