/*
 * log_run.c: an example for users of the C library: the shortest training loop that records a run, with one thousand
 * examples, three classes and five epochs.
 *
 *     cc log_run.c $(pkg-config --cflags --libs portolan)
 */
#include <portolan/portolan.h>

#include <err.h>

int
main(int argc, char **argv)
{
	struct portolan_options options = {
	        .store = argc > 1 ? argv[1] : "./portolan-store", .examples = 1000, .overwrite = 1};
	struct portolan_error error;
	portolan_run *run;

	if (portolan_open("example", &options, &run, &error) < 0)
		errx(1, "%s", error.message);
	for (uint32_t epoch = 0; epoch < 5; epoch++) {
		for (uint64_t id = 0; id < 1000; id++) { /* your model's logits, one mini-batch at a time, go here */
			float logits[3] = {(float)(id % 7), (float)epoch, 2};
			int32_t gold = (int32_t)(id % 3);

			if (portolan_log_logits(run, epoch, 1, 3, &id, logits, &gold, &error) < 0)
				errx(1, "%s", error.message);
		}
		portolan_end_epoch(run, epoch, NULL);
	}
	if (portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error) < 0)
		errx(1, "%s", error.message);
	return 0;
}
