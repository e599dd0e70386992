/*
 * join.h: decides what happens to a session whose run exists already; private to the writing half.
 *
 * A group is one launch of a job, in which each rank has one session; the same string means the same launch, whatever
 * the clocks say. So a session joins the run of its group if the run has no session of its rank. If the run has one,
 * the launch was started again under the old name: with `resume` it continues the run, and with `overwrite` it begins
 * anew once no session records into the run any more.
 */
#ifndef STORE_JOIN_H
#define STORE_JOIN_H

#include "layout.h"
#include "write.h"

struct store_writer;

enum join {
	JOIN_SESSION = 1, /* the session joins the run */
	JOIN_REPLACES,    /* the run is removed, and made anew */
	JOIN_BESIDE,      /* another run is made, which may take its name later */
	JOIN_REFUSED,
};

/* The sessions of one run. */
struct survey {
	uint32_t sessions;
	uint64_t newest; /* the latest start of the run's sessions */
	struct session_record first;
	bool has_rank;
};

int store_survey(struct store_writer *writer, uint32_t run, uint32_t rank, struct survey *survey,
                 struct portolan_error *error);

int store_join(struct store_writer *writer, const struct store_run_info *info, const struct store_run_request *request,
               enum join *join, struct portolan_error *error);

#endif
