/* orientation.h: tells, exactly, on which side of a line a point lies; for outline.c, which finds the examples inside a
 * polygon. */
#ifndef ORIENTATION_H
#define ORIENTATION_H

/* 1: the point (x, y) is to the left of the line from a to b; −1: to the right; 0: on it. The answer is that of exact
 * arithmetic, for all finite numbers: it suffers from no rounding, overflow or underflow. */
int orientation(double ax, double ay, double bx, double by, double x, double y);

#endif
