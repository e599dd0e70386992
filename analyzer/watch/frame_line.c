/* frame_line.c: a look as one line, for logs. */
#include "frame.h"

#include "base/number.h"

#include <math.h>

/* Control characters could move a terminal's cursor. */
static void
put_text(FILE *stream, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, stream);
}

static void
put_epoch(FILE *stream, const struct live_view *view)
{
	const struct tally_epoch *epoch = &view->epochs[view->epoch_count - 1];
	char observed[NUMBER_ROOM], expected[NUMBER_ROOM];

	number_print_grouped(epoch->observed, observed);
	number_print_grouped(view->expected, expected);
	fprintf(stream, ": epoch %u, %s", epoch->epoch, observed);
	if (view->expected)
		fprintf(stream, " of %s (%.0f%%)", expected,
		        floor(100 * (double)epoch->observed / (double)view->expected));
	if (epoch->observed)
		fprintf(stream, ", accuracy %.4f, confidence %.4f", (double)epoch->correct / (double)epoch->observed,
		        epoch->gold_prob / (double)epoch->observed);
}

static void
put_rest(FILE *stream, const struct live_view *view, const struct frame_moment *moment)
{
	char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM], number[NUMBER_ROOM];
	unsigned count = frame_warnings(view, moment, warnings);

	if (!isnan(moment->rate)) {
		number_print_grouped((uint64_t)llround(moment->rate), number);
		fprintf(stream, ", %s/s", number);
	}
	number_print_grouped(view->events, number);
	fprintf(stream, "; forgetting events %s", number);
	number_print_grouped(view->counts.never_learned, number);
	fprintf(stream, ", not learned yet %s", number);
	if (view->state == LIVE_CLOSED)
		fputs("; closed", stream);
	for (unsigned i = 0; i < count; i++) {
		fputs("; warning: ", stream);
		put_text(stream, warnings[i]);
	}
}

void
frame_line(FILE *stream, const struct live_view *view, const struct frame_moment *moment)
{
	fprintf(stream, "%s ", moment->clock);
	put_text(stream, moment->run);
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN) {
		fputs(": waiting: ", stream);
		put_text(stream, moment->trouble ? moment->trouble : view->why);
	} else if (view->epoch_count == 0) {
		fputs(view->state == LIVE_CLOSED ? ": closed, without observations" : ": recording, nothing stored yet",
		      stream);
	} else {
		put_epoch(stream, view);
		put_rest(stream, view, moment);
	}
	fputc('\n', stream);
}
