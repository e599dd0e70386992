/*
 * select.c: portolan select: the ids, or the user's own lines, of the examples a rule ranks first.
 *
 * Joined lines come in rank order, like ids do: the first lines are the most ambiguous (hardest, …) ones. The file is
 * mapped, so that takes no memory for its text.
 */
#include "base/message.h"
#include "base/parallel.h"
#include "files/join.h"
#include "select_files.h"
#include "select_options.h"
#include "trajectories.h"

#include <portolan/error.h>

#include <string.h>

/* STATUS_INCOMPLETE if a list had ids that cannot be chosen. */
static int
report_lists(const struct select_request *request, const struct dynamics *dynamics)
{
	int status = STATUS_DONE;

	for (size_t i = 0; i < request->list_count; i++) {
		const struct pool_list *list = &request->lists[i];

		if (list->unknown == 0)
			continue;
		message_warning("not observed in run '%s': %s of the %s ids in %s, '%s' in %s %llu the first",
		                dynamics->info->name, NUMBER_GROUPED(list->unknown), NUMBER_GROUPED(list->ids),
		                list->path, list->first, list->unit, (unsigned long long)list->first_place);
		status = STATUS_INCOMPLETE;
	}
	return request->common.strict ? status : STATUS_DONE;
}

/* An exit status, or a negative code with `error` filled. */
static int
write_selection(struct select_request *request, struct dynamics *dynamics, struct portolan_error *error)
{
	struct features features = {0};
	struct pool pool;
	int status = pool_make(&pool, dynamics, request->lists, request->list_count, request->within, error), lists;

	if (status < 0)
		return status;
	lists = report_lists(request, dynamics);
	if (request->run_count == 1) /* behind the polygons, which were drawn over events alone */
		never_learned_count(dynamics, (enum never_learned)request->never_learned);
	if (request->features)
		status = features_open(&features, request->features, request->feature_ids, dynamics, false, error);
	if (status >= 0) {
		struct selection_source source = {
		        .dynamics = dynamics,
		        .order = pool.order,
		        .count = pool.count,
		        .cuts = request->has_cuts ? &request->cuts : NULL,
		        .threshold = request->has_threshold ? &request->threshold : NULL,
		        .features = request->features ? &features : NULL,
		        .threads = parallel_threads(request->common.query.threads),
		        .beta_c = request->beta_c,
		        .clusters = (size_t)request->clusters,
		        .seed = request->seed,
		};

		status = select_write_files(request, &source, error);
	}
	features_close(&features);
	pool_free(&pool);
	return status ? status : lists;
}

/* The selection of --within. Its epochs are used unless others were asked for. */
static int
read_within(struct select_request *request, struct dynamics_request *wanted, struct portolan_error *error)
{
	struct common_options *common = &request->common;
	const char *run, *epochs;
	int code = within_read(&request->within, request->within_file, error);

	if (code < 0)
		return code;
	run = within_run(request->within);
	epochs = within_epochs(request->within);
	if (run && strcmp(run, request->runs[0]) != 0)
		message_warning("%s was made on run '%s', and is applied to '%s'", request->within_file, run,
		                request->runs[0]);
	if (epochs && common->query.epochs_given)
		message_warning("%s was made on epochs %s, and is applied to others", request->within_file, epochs);
	else if (epochs && (!run_query_parse_epochs(epochs, &common->query.epoch_from, &common->query.epoch_to) ||
	                    common->query.epoch_from >= common->query.epoch_to))
		return error_set(error, PORTOLAN_E_INVALID, "%s: 'epochs' is A:B, with A below B, not '%s'",
		                 request->within_file, epochs);
	common->query.epochs_given = common->query.epochs_given || epochs;
	within_request(request->within, wanted);
	return 0;
}

/* Warns if the values on which the polygons were drawn have changed. */
static void
warn_changed(const struct select_request *request, const struct dynamics *dynamics)
{
	if (request->within && request->run_count == 1 && within_is_changed(request->within, dynamics))
		message_warning(
		        "%s: observations of these epochs were replaced or added since it was made: the ids may be others",
		        request->within_file);
}

/* From a run, or several made into one. */
static int
select_from(struct select_request *request, struct dynamics *dynamics, struct portolan_error *error)
{
	int status = select_check_rules(request, dynamics);

	warn_changed(request, dynamics);
	return status == 0 ? write_selection(request, dynamics, error) : status;
}

static int
run(void *context, struct portolan_error *error)
{
	struct select_request *request = context;
	struct dynamics_request wanted = {
	        .measures = request->with_measures ? MEASURE_ALL : 0,
	        .user = request->with_measures,
	        .gold = request->with_measures || select_has_manifest(request),
	};
	const struct common_options *common = &request->common;
	struct dynamics_request ranked = {0};
	struct aggregate_report report;
	struct dynamics dynamics = {0};
	int status = request->within_file ? read_within(request, &wanted, error) : 0, gaps;

	selection_plan_request(&request->plan, &wanted);
	selection_plan_request(&request->plan, &ranked);
	if (status >= 0 && request->run_count == 1)
		status = dynamics_load(&dynamics, &common->query, request->runs[0], &wanted, error);
	else if (status >= 0)
		status = dynamics_load_aggregate(&dynamics, &common->query, request->runs, request->run_count, &wanted,
		                                 (enum never_learned)request->never_learned, &report, error);
	if (status >= 0)
		status = select_from(request, &dynamics, error);
	if (status == STATUS_DONE || status == STATUS_INCOMPLETE) {
		dynamics_report_variability(&dynamics, ranked.measures);
		gaps = request->run_count > 1 ? aggregate_report_gaps(&report, common->strict)
		                              : dynamics_report(&dynamics, common->strict);
		status = status ? status : gaps;
	}
	dynamics_free(&dynamics);
	within_free(request->within);
	select_free_files(request);
	return status;
}

static const struct select_request defaults = {
        .plan = {.fraction = 1, .top_share = 1},
        .beta_c = 4,
        .clusters = TRAJECTORIES_CLUSTERS,
        .format = -1,
        .never_learned = -1,
        .run_count = 1,
};

const struct command select_command = {
        .name = "select",
        .operands = "RUN --by RULE",
        .summary = "choose a subset: ids, or lines of your own file",
        .examples = "the ids of the third that the model finds ambiguous\n"
                    "portolan select snli/seed1 --by ambiguous --fraction 0.33\n"
                    "your own lines of the hundred hardest, likely mislabelled\n"
                    "portolan select snli/seed1 --by hard-to-learn --count 100 --data train.tsv --id-field guid\n"
                    "everything that was forgotten at least once, or never learned\n"
                    "portolan select snli/seed1 --by forgettable -o forgettable.txt\n"
                    "the third that is ambiguous over three seeds\n"
                    "portolan select snli/seed1 --with snli/seed2 --with snli/seed3 --by ambiguous --fraction 0.33\n"
                    "a quarter, one tenth of it easy (Swayamdipta et al. 2020, section 4)\n"
                    "portolan select snli/seed1 --by ambiguous --fraction 0.25 --mix easy-to-learn=0.1\n"
                    "a tenth over the whole range of margins, without the three lowest tenths\n"
                    "portolan select snli/seed1 --by aum:asc --strata 50 --cut 0.3 --fraction 0.1\n"
                    "the published sizes, one file each\n"
                    "portolan select snli/seed1 --by ambiguous --fractions paper -o ambiguous.txt\n"
                    "a random quarter of the examples that are not in that file\n"
                    "portolan select snli/seed1 --by random --fraction 0.25 --exclude ambiguous-0.5.txt\n"
                    "your own lines of the examples lassoed in the live page\n"
                    "portolan select snli/seed1 --within selection.json --data train.tsv --id-field guid\n"
                    "70% from the hard end, 30% from the easy end, classes as in the whole\n"
                    "portolan select snli/seed1 --by hard-to-learn --both-ends 0.7 --fraction 0.1 --stratified\n",
        .help = "Prints the examples that the rule ranks first, in rank order; ties are in the order of ascending ids. "
                "ambiguous ranks by variability, the highest first; hard-to-learn by confidence, the lowest first; easy-to-learn by confidence, the highest first (Swayamdipta et al. 2020). "
                "portolan help metrics says what the measures are. "
                "Examples for which a measure is not defined come last. forgettable is the set with at least one forgetting event, or never learned: the never learned first, then by forgetting events; all of it unless a size is given. "
                "So are the regions, each ranked as the rule of its name, and the groups of Data-IQ (Seedat et al. 2022): easy, confidence 0.75 or more and aleatoric no more than its median; hard, confidence 0.25 or less and aleatoric no more than that; ambiguous, all others. They are ranked by confidence, and ambiguous by aleatoric:desc.\n\n"
                "Errors: el2n:desc of an early epoch (Paul et al. 2021: --epochs 9:10, --with other seeds); its L1 form is 2 (1 - confidence), whose order is confidence:asc; loss:desc.\n\n"
                "Baselines: high-confidence, low-variability, high-correctness and low-correctness (the measure so); forgetting (all examples, by forgetting events, the never learned first; with several runs by the sum of their events, to which each run that never learned an example adds its number of epochs, as the code of Toneva et al. 2019 does: see --never-learned); uncertainty (entropy:desc); least-confidence (max_prob:asc, that is by 1 − max p); k-center (the lowest id, then each time the example whose features are farthest from all chosen; Sener and Savarese 2018).\n\n"
                "Pruning, as published since: dyn_unc:desc (Dyn-Unc; He et al. 2024); dual:desc (DUAL; Cho et al. 2025); tdds:desc (TDDS; Zhang et al. 2024); MEASURE:asc or MEASURE:desc with --strata and --cut (CCS; Zheng et al. 2023); dual-beta; s2l. "
                "dual-beta draws, without replacement, with probabilities in proportion to dual times the density of confidence under Beta(16 - b, b) (Cho et al. 2025, section 3): "
                "b = 15 (1 - m) (1 - r^c), where m is the mean confidence of the ten examples with the highest dual, r the share that is left out, and c is --c-d. It takes one size, and confidence and dual are of the same epochs: --epochs :30, as the paper has it. "
                "s2l clusters the examples by their losses, epoch by epoch (k-means, --clusters, 20 rounds on at most 256 examples a cluster), and takes from the clusters as evenly as they can give, at random (S2L; Yang et al. 2024, algorithm 1); clusters of one or two come last. Losses in epochs that were not observed are those of the epoch before, or else after. "
                "Second-split forgetting (Maini et al. 2022, section 3) is always_wrong_after:asc of a run that recorded the first split while the model was trained on the second.\n\n"
                "A selection has parts: --mix takes its fractions of the size, --both-ends shares the rest out, and with --per-class or --stratified all this is done within each class. "
                "Each part passes over the examples of the parts before it, so no example is there twice, and a mix replaces the examples that the rule ranks last. "
                "--stratified shares the size out by largest remainders.\n\n"
                "With --data, FILE's lines are printed unchanged, in rank order too, the header of CSV and TSV first; with --with-measures each gets the measures as further columns (fields). "
                "A FILE that has one of these already is refused, as its own would be ambiguous then: rename or remove it there. "
                "If ids are missing from FILE, the exit status is 3. "
                "Integer ids may be written as other programs do: 4.0 and \" 4\" are 4.\n\n"
                "npy is an array of the ids (uint64), or with --data of the lines' numbers (int64, from 0, the header not counted), or with --with-measures the table of portolan metrics, in rank order.\n\n"
                "The fractions of the paper (--fractions paper): 0.01, 0.05, 0.1, 0.1667, 0.25, 0.3319, 0.5 and 0.75, as the code published with Swayamdipta et al. 2020 has it, in files named by two decimals at most. "
                "Beside each output file stands FILE.manifest.json: rule, parameters, store, run, epochs, counts, checksum, version and date ($SOURCE_DATE_EPOCH, if it is set).",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_WINDOW | COMMON_STRICT | COMMON_THREADS |
                  COMMON_MEMORY,
        .options = select_option_table,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct select_request),
        .defaults = &defaults,
        .check = select_check,
        .run = run,
};
