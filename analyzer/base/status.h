/* status.h: the exit statuses of the program, which a command, or a part of one, returns. */
#ifndef STATUS_H
#define STATUS_H

enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,      /* the command line is wrong */
	STATUS_INCOMPLETE = 3, /* done, but something is missing: see --strict */
};

#endif
