/* frame_warnings.c: warnings about the run's recording. */
#include "frame.h"

#include "base/number.h"

#include <stdarg.h>

#define IDLE_S 30.0 /* an epoch's end may take a while: evaluation, a checkpoint */

struct list {
	char (*lines)[FRAME_WARNING_ROOM];
	unsigned count;
};

__attribute__((format(printf, 2, 3))) static void
add(struct list *list, const char *format, ...)
{
	va_list arguments;

	if (list->count == FRAME_WARNINGS)
		return;
	va_start(arguments, format);
	vsnprintf(list->lines[list->count++], FRAME_WARNING_ROOM, format, arguments);
	va_end(arguments);
}

static void
add_count(struct list *list, uint64_t count, const char *what)
{
	char number[NUMBER_ROOM];

	if (count == 0)
		return;
	number_print_grouped(count, number);
	add(list, "%s %s", number, what);
}

static void
add_idle(struct list *list, const struct live_view *view, const struct frame_moment *moment)
{
	if (view->state != LIVE_RECORDING && view->state != LIVE_NOTHING)
		return;
	if (!view->collector)
		add(list,
		    "no collector serves the store: clients keep what they log until one does (portoland --store %s)",
		    moment->directory);
	else if (moment->idle >= IDLE_S)
		add(list, "nothing new for %.0f seconds: is the training loop at work?", moment->idle);
}

unsigned
frame_warnings(const struct live_view *view, const struct frame_moment *moment,
               char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM])
{
	struct list list = {.lines = warnings};
	struct findings findings = {.count = 0};
	char line[FINDING_ROOM];

	if (moment->trouble)
		add(&list, "cannot be read at the moment: %s", moment->trouble);
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN)
		return list.count;
	add_count(&list, view->clients.dropped, "observations dropped by clients that had no room left");
	verdict_find(&view->verdict, &findings);
	for (size_t i = 0; i < findings.count; i++) {
		verdict_print(&findings.found[i], line);
		add(&list, "%s", line);
	}
	add_count(&list, view->counters.failures, "commits failed: is the disk full?");
	add_count(&list, view->counters.malformed, "malformed frames came");
	add_count(&list, view->info.replaced, "observations replaced by later ones of the same example and epoch");
	add_count(&list, view->lost_sessions, "sessions ended without closing the run");
	add_count(&list, view->clients.waits, "log calls had to wait: the collector does not keep up");
	add_idle(&list, view, moment);
	return list.count;
}
