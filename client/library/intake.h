/* intake.h: from the pool of frames into the session: part of the thread of io_loop.c. */
#ifndef CLIENT_INTAKE_H
#define CLIENT_INTAKE_H

#include "io_loop.h"

/* Takes frames while they can be sent, or go to the spool; true: there were some, or one is being filled. */
bool intake_frames(struct io *io);

/* Adds `close` once there is no frame left. */
void intake_finish(struct io *io);

/* Everything that is not acknowledged, the frames too, and `close`, to the spool; on disk when this returns. */
int intake_save(struct io *io, struct portolan_error *error);

#endif
