/* remove_folder.h: what tests leave behind goes. */
#ifndef TESTS_REMOVE_FOLDER_H
#define TESTS_REMOVE_FOLDER_H

/* Removes the folder and everything in it; follows no link. 0 also where there is none; -1 with errno. */
int remove_folder(const char *path);

#endif
