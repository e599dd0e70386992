/* small_runs.h: a store of two small runs, for targets that ask about runs and change nothing. */
#ifndef SMALL_RUNS_H
#define SMALL_RUNS_H

#define SMALL_RUNS_N 90 /* examples: more than a word of a bitmap */

/*
 * The store's directory, made at the first call and removed with the process. "a/b" has integer ids 0 … N-1, the
 * classes x, y and z, and a user's column "heat"; "names" has string ids, "id-0" and on, and no gold labels. Three
 * epochs each; the last epoch of "a/b" lacks some examples. Nothing has the store open.
 */
const char *small_runs(void);

#endif
