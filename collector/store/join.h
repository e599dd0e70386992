/*
 * join.h: what becomes of a session whose run exists already; private to the writing half.
 *
 * A group is one launch of a job, in which each rank has one session: the same string is the same launch, whatever the
 * clocks say. So a session joins the run of its group when its rank is not there yet. A rank that is there already,
 * with another session, is a launch that was started again under the name of the old one: it goes on with `resume`, and
 * with `overwrite` it begins anew once nobody records into the run any more.
 */
#ifndef STORE_JOIN_H
#define STORE_JOIN_H

#include "layout.h"
#include "write.h"

struct store_writer;

enum join {
	JOIN_SESSION = 1, /* the session joins the run */
	JOIN_REPLACES,    /* the run is removed, and made anew */
	JOIN_BESIDE,      /* a run is made beside it, which may take its name later */
	JOIN_REFUSED,
};

/* The sessions of one run. */
struct survey {
	uint32_t sessions;
	uint64_t newest; /* the latest start of a session */
	struct session_record first;
	bool has_rank;
};

int store_survey(struct store_writer *writer, uint32_t run, uint32_t rank, struct survey *survey,
                 struct portolan_error *error);

int store_join(struct store_writer *writer, const struct store_run_info *info, const struct store_run_request *request,
               enum join *join, struct portolan_error *error);

#endif
