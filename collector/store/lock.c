/*
 * lock.c: the directory and its lock.
 *
 * The lock is flock(2): it goes with the process, however that ends, so there is never a stale one. The process number
 * inside is only for the message. LMDB's locks and shared memory do not work across hosts, so network file systems are
 * refused by their type. 9p and FUSE are not: virtual machines and containers use them for disks of this host.
 */
#include "lock.h"

#include "environment.h"

#include <portolan/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static const struct {
	unsigned type;
	const char *name;
} network[] = {
        {0x6969, "NFS"},     {0x517b, "SMB"},      {0xff534d42, "CIFS"},   {0xfe534d42, "SMB"}, {0x73757245, "Coda"},
        {0x5346414f, "AFS"}, {0x00c36400, "Ceph"}, {0x0bd00bd0, "Lustre"}, {0x564c, "NCP"},
};

static int
make_directory(const char *directory, struct portolan_error *error)
{
	char *parent = NULL;

	if (mkdir(directory, 0777) != 0)
		return errno == EEXIST ? 0
		                       : error_set(error, STORE_E_SYSTEM, "store '%s' cannot be created: %s", directory,
		                                   strerror(errno));
	if (asprintf(&parent, "%s/..", directory) >= 0)
		store_sync_directory(parent); /* as good as the user may */
	free(parent);
	return 0;
}

static int
check_file_system(const char *directory, struct portolan_error *error)
{
	struct statfs status;

	if (statfs(directory, &status) != 0)
		return error_set(error, STORE_E_SYSTEM, "store '%s': %s", directory, strerror(errno));
	for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
		if ((unsigned)status.f_type == network[i].type)
			return error_set(error, STORE_E_SYSTEM,
			                 "store '%s' is on a network file system (%s), where it would be damaged: put "
			                 "it on a local "
			                 "disk and let clients connect by tcp://",
			                 directory, network[i].name);
	return 0;
}

static int
locked_by_other(const char *directory, int fd, struct portolan_error *error)
{
	char text[32] = "";
	long pid = pread(fd, text, sizeof(text) - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
	char who[48] = "";

	if (pid > 0)
		snprintf(who, sizeof(who), " (process %ld)", pid);
	return error_set(
	        error, STORE_E_LOCKED,
	        "store '%s' is already served by portoland%s: connect to it at ipc://%s/collector.sock, or stop it",
	        directory, who, directory);
}

int
store_lock_take(const char *directory, int *fd, struct portolan_error *error)
{
	char *path = NULL, *readers = NULL, text[32];
	int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid()), lock = -1,
	    rc = make_directory(directory, error);

	if (!rc)
		rc = check_file_system(directory, error);
	if (rc)
		return rc;
	if (asprintf(&path, "%s/portoland.lock", directory) < 0 || asprintf(&readers, "%s/readers", directory) < 0)
		rc = error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	if (!rc && (lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0)
		rc = error_set(error, STORE_E_SYSTEM, "'%s' cannot be opened: %s", path, strerror(errno));
	if (!rc && flock(lock, LOCK_EX | LOCK_NB) != 0)
		rc = errno == EWOULDBLOCK
		             ? locked_by_other(directory, lock, error)
		             : error_set(error, STORE_E_SYSTEM, "'%s' cannot be locked: %s", path, strerror(errno));
	if (!rc)
		rc = make_directory(readers, error);
	/* A full disk does not keep the collector from starting: only the message would lack the number. */
	if (!rc && (ftruncate(lock, 0) != 0 || pwrite(lock, text, (size_t)length, 0) != length) && errno != ENOSPC &&
	    errno != EDQUOT && errno != EFBIG)
		rc = error_set(error, STORE_E_SYSTEM, "'%s' cannot be written: %s", path, strerror(errno));
	free(path);
	free(readers);
	if (rc && lock >= 0)
		close(lock);
	if (!rc)
		*fd = lock;
	return rc;
}
