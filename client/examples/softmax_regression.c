/*
 * softmax_regression.c: an example for users of the C library: a real training loop, and the four calls that record it.
 *
 *     cc -O2 softmax_regression.c $(pkg-config --cflags --libs portolan) -lm -o softmax_regression
 *     ./softmax_regression data.txt my-store && portolan map softmax --store my-store -o map.png
 *
 * data.txt holds one example per line: its class, 0 … CLASSES−1, then FEATURES numbers. The program runs stochastic
 * gradient descent over the lines in their order. At the end of each epoch it logs the model's logits for every line.
 */
#include <portolan/portolan.h>

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FEATURES 4
#define CLASSES 3
#define EPOCHS 6
#define BATCH 16
#define STEP 0.1

struct example {
	int32_t gold;
	double x[FEATURES];
};

struct model {
	double weights[CLASSES][FEATURES], bias[CLASSES];
};

static struct example *
read_examples(const char *path, size_t *count)
{
	struct example *examples = NULL, next = {0};
	FILE *file = fopen(path, "r");
	size_t n = 0;

	if (!file)
		err(1, "%s", path);
	while (fscanf(file, "%d%lf%lf%lf%lf", &next.gold, &next.x[0], &next.x[1], &next.x[2], &next.x[3]) == 5) {
		if (next.gold < 0 || next.gold >= CLASSES)
			errx(1, "%s: example %zu has the class %d", path, n, next.gold);
		examples = reallocarray(examples, n + 1, sizeof(*examples));
		if (!examples)
			err(1, "%s", path);
		examples[n++] = next;
	}
	if (!feof(file))
		errx(1, "%s: example %zu is not a class and %d numbers", path, n, FEATURES);
	fclose(file);
	*count = n;
	return examples;
}

static void
forward(const struct model *model, const struct example *example, double logits[CLASSES])
{
	for (int k = 0; k < CLASSES; k++) {
		logits[k] = model->bias[k];
		for (int j = 0; j < FEATURES; j++)
			logits[k] += model->weights[k][j] * example->x[j];
	}
}

/* Makes one step against the gradient of the mean cross-entropy over n examples. */
static void
train_batch(struct model *model, const struct example *examples, size_t n)
{
	struct model gradient = {0};

	for (size_t i = 0; i < n; i++) {
		double logits[CLASSES], sum = 0;

		forward(model, &examples[i], logits);
		for (int k = 0; k < CLASSES; k++)
			sum += exp(logits[k]);
		for (int k = 0; k < CLASSES; k++) {
			double error = exp(logits[k]) / sum - (k == examples[i].gold);

			gradient.bias[k] += error;
			for (int j = 0; j < FEATURES; j++)
				gradient.weights[k][j] += error * examples[i].x[j];
		}
	}
	for (int k = 0; k < CLASSES; k++) {
		model->bias[k] -= STEP * gradient.bias[k] / (double)n;
		for (int j = 0; j < FEATURES; j++)
			model->weights[k][j] -= STEP * gradient.weights[k][j] / (double)n;
	}
}

/* Logs the model's logits for every example. An example's id is the number of its line. */
static void
observe(portolan_run *run, uint32_t epoch, const struct model *model, const struct example *examples, size_t count)
{
	struct portolan_error error;

	for (size_t start = 0; start < count; start += BATCH) {
		uint64_t ids[BATCH];
		float logits[BATCH][CLASSES];
		int32_t gold[BATCH];
		size_t n = count - start < BATCH ? count - start : BATCH;

		for (size_t i = 0; i < n; i++) {
			double row[CLASSES];

			forward(model, &examples[start + i], row);
			for (int k = 0; k < CLASSES; k++)
				logits[i][k] = (float)row[k];
			ids[i] = start + i;
			gold[i] = examples[start + i].gold;
		}
		if (portolan_log_logits(run, epoch, n, CLASSES, ids, logits[0], gold, &error) < 0)
			errx(1, "%s", error.message);
	}
	portolan_end_epoch(run, epoch, NULL);
}

int
main(int argc, char **argv)
{
	struct portolan_options options = {.store = argc > 2 ? argv[2] : "./portolan-store",
	                                   .config = "{\"model\": \"softmax regression\", \"step\": 0.1}",
	                                   .overwrite = 1};
	struct portolan_error error;
	struct model model = {0};
	struct example *examples;
	portolan_run *run;
	size_t count;

	if (argc < 2)
		errx(2, "usage: softmax_regression DATA [STORE]");
	examples = read_examples(argv[1], &count);
	options.examples = count;
	if (portolan_open("softmax", &options, &run, &error) < 0)
		errx(1, "%s", error.message);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		for (size_t start = 0; start < count; start += BATCH)
			train_batch(&model, &examples[start], count - start < BATCH ? count - start : BATCH);
		observe(run, epoch, &model, examples, count);
	}
	if (portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error) < 0)
		errx(1, "%s", error.message);
	free(examples);
	return 0;
}
