/*
 * file_system.c: recognises network file systems, on which the writer makes and opens no store.
 *
 * LMDB's locks and shared memory do not reach across hosts, so a store there would be damaged as soon as two hosts
 * opened it. Unknown file systems are allowed: most are local, and new ones come all the time. FUSE has one number for
 * all its file systems, so there the type in mountinfo decides. Few FUSE programs serve disks of this host, and many
 * serve a network. So of FUSE only the known local types, and types without a program's name, are allowed.
 */
#include "file_system.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#define FUSE 0x65735546

static const struct {
	uint32_t number;
	const char *name;
} shared[] = {
        {0x00006969, "NFS"},      {0x0000517b, "SMB"},    {0xff534d42, "CIFS"},  {0xfe534d42, "SMB"},
        {0x0000564c, "NCP"},      {0x73757245, "Coda"},   {0x5346414f, "AFS"},   {0x6b414653, "AFS"},
        {0x00c36400, "Ceph"},     {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},
        {0x20030528, "OrangeFS"}, {0xaad7aaea, "PanFS"},  {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},
        {0x786f4256, "vboxsf"},   {0x01021997, "9p"},
};

/* Types "fuse.NAME" for disks of this host, or layers over them. */
static const char *const local_fuse[] = {
        "bindfs", "cryfs",    "dislocker", "encfs",   "exfat",    "ext2", "ext4",       "fuse-overlayfs", "gocryptfs",
        "lxcfs",  "mergerfs", "ntfs",      "ntfs-3g", "securefs", "shfs", "squashfuse", "unionfs",        "zfs",
};

const char *
store_file_system_shared_number(uint64_t number)
{
	/* statfs(2) gives a signed number, which has more bits on some machines. */
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if ((uint32_t)number == shared[i].number)
			return shared[i].name;
	return NULL;
}

bool
store_file_system_shared_type(const char *type)
{
	if (strncmp(type, "fuse.", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof(local_fuse) / sizeof(local_fuse[0]); i++)
		if (strcmp(type + 5, local_fuse[i]) == 0)
			return false;
	return true;
}

/* The fields of a line: number, parent, MAJOR:MINOR, root, where, options, any others, "-", TYPE, source, … */
bool
store_file_system_find_type(FILE *mountinfo, unsigned major, unsigned minor, char *type, size_t size)
{
	unsigned of_major, of_minor;
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (getline(&line, &room, mountinfo) > 0) {
		const char *dash = strstr(line, " - ");

		if (!dash || sscanf(line, "%*u %*u %u:%u ", &of_major, &of_minor) != 2 || of_major != major ||
		    of_minor != minor)
			continue;
		snprintf(type, size, "%.*s", (int)strcspn(dash + 3, " \n"), dash + 3);
		found = true;
	}
	free(line);
	return found;
}

static bool
file_system_find_type(const char *directory, char *type, size_t size)
{
	struct stat status;
	FILE *file = stat(directory, &status) == 0 ? fopen("/proc/self/mountinfo", "re") : NULL;
	bool found = file && store_file_system_find_type(file, major(status.st_dev), minor(status.st_dev), type, size);

	if (file)
		fclose(file);
	return found;
}

bool
store_file_system_is_shared(const char *directory, char *name, size_t size)
{
	struct statfs status;
	const char *known;
	char type[64];

	if (statfs(directory, &status) != 0)
		return false;
	known = store_file_system_shared_number((uint64_t)status.f_type);
	if (!known && (uint32_t)status.f_type == FUSE && file_system_find_type(directory, type, sizeof(type)) &&
	    store_file_system_shared_type(type))
		known = type;
	if (known)
		snprintf(name, size, "%s", known);
	return known != NULL;
}
