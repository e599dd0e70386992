/* remove_folder.c: see remove_folder.h. */
#include "remove_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>

static int
remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

int
remove_folder(const char *path)
{
	int result = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	return result < 0 && errno == ENOENT ? 0 : result;
}
