/* floor.c: the program that links a whole floor with the floors below it alone: code that calls upwards does not link. */
int
main(void)
{
	return 0;
}
