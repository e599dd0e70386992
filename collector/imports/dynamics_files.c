/*
 * dynamics_files.c: finds the files dynamics_epoch_N.jsonl that Dataset Cartography has written into a directory, for
 * import.c. They come in the numeric order of their epochs (a directory listing has 10 before 2).
 */
#include "dynamics.h"

#include <portolan/error.h>
#include <portolan/wire.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX "dynamics_epoch_"
#define SUFFIX ".jsonl"
#define FOLDER "training_dynamics"

static bool
files_parse_name(const char *name, uint32_t *epoch)
{
	unsigned long long number;
	char *end;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	name += strlen(PREFIX);
	if (*name < '0' || *name > '9')
		return false;
	errno = 0;
	number = strtoull(name, &end, 10);
	if (errno || number > WIRE_MAX_EPOCH || strcmp(end, SUFFIX) != 0)
		return false;
	*epoch = (uint32_t)number;
	return true;
}

static int
files_compare_epochs(const void *a, const void *b)
{
	const struct dynamics_file *first = a, *second = b;

	return (first->epoch > second->epoch) - (first->epoch < second->epoch);
}

static int
files_add_file(struct dynamics_file **files, size_t *count, const char *directory, const char *name, uint32_t epoch,
               struct portolan_error *error)
{
	struct dynamics_file *grown = realloc(*files, (*count + 1) * sizeof(*grown));
	struct stat status;
	char *path;

	if (!grown)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	*files = grown;
	if (asprintf(&path, "%s%s%s", directory, *directory ? "/" : "", name) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	grown[*count] = (struct dynamics_file){.path = path, .epoch = epoch};
	(*count)++;
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return error_set(error, PORTOLAN_E_INVALID, "%s is not a file that can be read", path);
	grown[*count - 1].bytes = (uint64_t)status.st_size;
	return 0;
}

static int
files_read_directory(const char *path, struct dynamics_file **files, size_t *count, struct portolan_error *error)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	uint32_t epoch;
	int result = 0;

	if (!directory)
		return error_set(error, PORTOLAN_E_INVALID, "cannot read %s: %s", path, strerror(errno));
	while (result == 0 && (entry = readdir(directory)))
		if (files_parse_name(entry->d_name, &epoch))
			result = files_add_file(files, count, path, entry->d_name, epoch, error);
	closedir(directory);
	return result;
}

/* Reads the directory of the files within `path`, which the published tools take as --model_dir. */
static int
files_read_below(const char *path, struct dynamics_file **files, size_t *count, struct portolan_error *error)
{
	struct stat status;
	char *below;
	int result = 0;

	if (asprintf(&below, "%s/" FOLDER, path) < 0)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (stat(below, &status) == 0 && S_ISDIR(status.st_mode))
		result = files_read_directory(below, files, count, error);
	free(below);
	return result;
}

static int
files_list_directory(const char *path, struct dynamics_file **files, size_t *count, struct portolan_error *error)
{
	int result = files_read_directory(path, files, count, error);

	if (result == 0 && *count == 0)
		result = files_read_below(path, files, count, error);
	if (result < 0)
		return result;
	if (*count == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "no " PREFIX "N" SUFFIX " in %s, nor in a " FOLDER
		                 " there; give the directory that holds them",
		                 path);
	qsort(*files, *count, sizeof(**files), files_compare_epochs);
	/* dynamics_epoch_1.jsonl beside dynamics_epoch_01.jsonl: which of them is epoch 1? */
	for (size_t i = 1; i < *count; i++)
		if ((*files)[i].epoch == (*files)[i - 1].epoch)
			return error_set(error, PORTOLAN_E_INVALID, "%s and %s are the same epoch; remove one of them",
			                 (*files)[i - 1].path, (*files)[i].path);
	return 0;
}

int
dynamics_files(const char *path, struct dynamics_file **files, size_t *count, struct portolan_error *error)
{
	struct stat status;
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	uint32_t epoch;
	int result;

	*files = NULL;
	*count = 0;
	if (stat(path, &status) < 0)
		return error_set(error, PORTOLAN_E_INVALID, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		result = files_list_directory(path, files, count, error);
	else if (files_parse_name(name, &epoch))
		result = files_add_file(files, count, "", path, epoch, error);
	else
		result = error_set(error, PORTOLAN_E_INVALID,
		                   "%s: the name must be " PREFIX "N" SUFFIX ", for it says which epoch it is", path);
	if (result < 0) {
		dynamics_files_free(*files, *count);
		*files = NULL;
		*count = 0;
	}
	return result;
}

void
dynamics_files_free(struct dynamics_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(files[i].path);
	free(files);
}
