/* status.h: the exit statuses of `portolan`. The functions that run a command, or a part of one, return them. */
#ifndef STATUS_H
#define STATUS_H

enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,      /* the command line is wrong */
	STATUS_INCOMPLETE = 3, /* done, but something is missing: see --strict */
};

#endif
