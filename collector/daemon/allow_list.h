/* allow_list.h: what is wrong with KEYS/clients, told before somebody is refused because of it. */
#ifndef COLLECTOR_ALLOW_LIST_H
#define COLLECTOR_ALLOW_LIST_H

/* Logs a line for each file in the directory that admits nobody, for a few at most. Hidden files are no business of
 * the list. */
void allow_list_check(const char *directory);

#endif
