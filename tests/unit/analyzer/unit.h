/* unit.h: what every test here includes. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#define assert_close(a, b, tolerance) assert_true(fabs((double)(a) - (double)(b)) <= (tolerance))

#endif
