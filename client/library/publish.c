/* publish.c: publishes how a run's I/O thread (io.c) is getting on, its phase and its counts, to the threads that log,
 * and in some lines on stderr to the user. */
#include "run.h"

#include <portolan/clock.h>

#include <stdio.h>

#define LEFT_OVER_MS 5000 /* closing waits at most so long until left-over files of earlier processes are sent */

enum run_phase
io_phase(const struct portolan_run *run)
{
	switch (run->session.state) {
	case SESSION_FAILED:
		return PHASE_FAILED;
	case SESSION_CLOSED:
		return leftover_is_done(&run->leftover) || clock_ms() - run->session.last_heard >= LEFT_OVER_MS
		               ? PHASE_CLOSED
		               : PHASE_OPEN;
	default:
		return run->session.opened_count > 0 ? PHASE_OPEN
		       : run->session.offline        ? PHASE_OFFLINE
		                                     : PHASE_OPENING;
	}
}

void
run_warn_no_texts(struct portolan_run *run)
{
	if (!atomic_exchange(&run->warned_texts, true))
		fprintf(stderr, "portolan: run %s: %s\n", run->name, session_no_texts);
}

static void
io_say_on_stderr(struct portolan_run *run, enum run_phase phase)
{
	int before = atomic_load(&run->phase);
	bool was_open = before == PHASE_OPEN || before == PHASE_OFFLINE;

	if (run->session.state == SESSION_ALONE && !run->said_alone) {
		run->said_alone = true;
		fprintf(stderr,
		        "portolan: run %s: a collector answers, and refuses the run: %s (recording continues in %s)\n",
		        run->name, run->session.failure.message, run->counters.spool);
	}
	if (run->session.texts_are_lost)
		run_warn_no_texts(run);
	if (before == PHASE_OFFLINE && phase == PHASE_OPEN)
		fprintf(stderr, "portolan: run %s: a collector answers; the spool is being sent\n", run->name);
	if (run->session.complaint.code != 0 && run->session.complaint.code != run->complained && was_open) {
		run->complained = run->session.complaint.code;
		fprintf(stderr, "portolan: run %s: the collector says: %s\n", run->name,
		        run->session.complaint.message);
	}
}

void
io_publish(struct portolan_run *run, enum run_phase phase)
{
	const struct session *session = &run->session;
	const struct backlog *backlog = &session->backlog;
	bool matters = phase != (enum run_phase)atomic_load(&run->phase) ||
	               backlog->settled_position != atomic_load(&run->settled_position) ||
	               session->complaint.code != run->complaint.code;

	io_say_on_stderr(run, phase);
	atomic_store(&run->takes_texts, session->takes_texts);
	pthread_mutex_lock(&run->mutex);
	run->counters.settled = backlog->settled_observations;
	run->counters.saved = run->saved;
	run->counters.texts_saved = run->texts_saved;
	run->counters.texts = backlog->settled_texts;
	run->counters.stats = (struct portolan_stats){
	        .acknowledged = run->counters.settled > session->refused ? run->counters.settled - session->refused : 0,
	        .refused = session->refused,
	        .replaced = session->replaced,
	        .spooled = backlog->spooled_observations,
	        .bytes_sent = run->bytes_sent,
	        .reconnects = session->opened_count > 0 ? session->opened_count - 1 : 0,
	};
	snprintf(run->counters.spool, sizeof(run->counters.spool), "%s", backlog->spool ? backlog->spool->path : "");
	if (matters) {
		run->blocked_since = 0;
		run->failure = session->failure;
		run->refusal = session->refusal;
		run->complaint = session->complaint;
		if (atomic_load(&run->phase) == PHASE_OPENING)
			atomic_store(&run->id_kind, session->id_kind);
		atomic_store(&run->settled_position, backlog->settled_position);
		atomic_store(&run->phase, phase);
		pthread_cond_broadcast(&run->changed);
	}
	pthread_mutex_unlock(&run->mutex);
}
