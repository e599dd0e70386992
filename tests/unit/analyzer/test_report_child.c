/* test_report_child.c: what the report makes of a command that ends in each way. This program stands for the command, too:
 * the child is the same program with a word, which says how to end. */
#include "unit.h"

#include "report/child.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ends as the word says, after a whole line, or before any. */
static int
end_as(const char *how)
{
	if (strstr(how, "line"))
		puts("{\"id\": 1}");
	fflush(stdout);
	if (strncmp(how, "killed", 6) == 0)
		raise(SIGKILL);
	if (strncmp(how, "refused", 7) == 0)
		fputs("portolan: it says why\n", stderr);
	return strncmp(how, "odd", 3) == 0 ? 7 : strncmp(how, "refused", 7) == 0 ? 1 : 0;
}

static void
check_end(const char *how, bool lines, enum child_end end)
{
	struct child child = {.lines = lines};

	child_begin(&child, how);
	children_run(&child, 1, 1);
	if (child.end != end)
		fail_msg("%s, %s: %d, not %d", how, lines ? "lines" : "one value", (int)child.end, (int)end);
	assert_true((child.answer != NULL) == (end == CHILD_ANSWERED));
	assert_true((child.why != NULL) == (end != CHILD_ANSWERED));
	child_free(&child);
}

static void
test_ends(void **state)
{
	(void)state;
	for (int lines = 0; lines < 2; lines++) {
		check_end("whole line", lines, CHILD_ANSWERED);
		check_end("killed", lines, CHILD_CRASHED);
		check_end("killed after a line", lines, CHILD_CRASHED);
		check_end("odd", lines, CHILD_CRASHED);
		check_end("odd after a line", lines, CHILD_CRASHED);
		check_end("refused", lines, CHILD_REFUSED);
	}
	check_end("nothing", true, CHILD_ANSWERED);
	check_end("nothing", false, CHILD_CRASHED);
}

int
main(int count, char *words[])
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends)};

	return count > 1 ? end_as(words[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
