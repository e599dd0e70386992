/*
 * notify.h: tells the service manager that started this process how it is doing (sd_notify(3), without its library).
 */
#ifndef COLLECTOR_NOTIFY_H
#define COLLECTOR_NOTIFY_H

/* Sends lines like "READY=1" to $NOTIFY_SOCKET; does nothing where there is none. Failures are the manager's to notice.
 */
void notify_send(const char *state);

#endif
