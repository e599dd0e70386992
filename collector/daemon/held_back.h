/* held_back.h: makes libzmq's connections that are held back safe; see held_back.c. */
#ifndef COLLECTOR_HELD_BACK_H
#define COLLECTOR_HELD_BACK_H

/* Before any context of libzmq is made. */
void held_back_init(void);

#endif
