/* unit.h: what every test here includes. */
#ifndef UNIT_H
#define UNIT_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#define assert_close(a, b, tolerance) assert_true(fabs((double)(a) - (double)(b)) <= (tolerance))

/* Whether an address is in a mapping of a file, as large arrays are that --max-memory has no room for. */
static inline bool
is_in_file(const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t begin, end, inode, at = (uintptr_t)address;
	bool found = false;
	char line[600];

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %" SCNuPTR, &begin, &end, &inode) == 3 &&
		        at >= begin && at < end && inode != 0;
	fclose(maps);
	return found;
}

#endif
