/* unfinished.h: removes the files that still have a temporary name when a signal ends the program (INT, TERM, HUP). */
#ifndef OUTPUT_UNFINISHED_H
#define OUTPUT_UNFINISHED_H

/* The path stays the caller's, unchanged until unfinished_forget(). NULL is forgotten too. Any thread. */
void unfinished_add(const char *path);
void unfinished_forget(const char *path);

#endif
