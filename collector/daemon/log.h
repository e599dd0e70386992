/*
 * log.h: the collector's log: lines on stderr, for people. One write per line, so that lines of several processes do
 * not mix.
 */
#ifndef COLLECTOR_LOG_H
#define COLLECTOR_LOG_H

/* "2026-01-31 12:00:00 portoland: …" */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

#endif
