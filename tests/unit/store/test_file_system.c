/* test_file_system.c: which file systems a store may be on. */
#include "file_system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
network_file_systems_are_known_by_number(void **state)
{
	static const struct {
		uint32_t number;
		const char *name;
	} shared[] = {
	        {0x6969, "NFS"},          {0x517b, "SMB"},        {0xff534d42, "CIFS"},  {0xfe534d42, "SMB"},
	        {0x564c, "NCP"},          {0x73757245, "Coda"},   {0x5346414f, "AFS"},   {0x6b414653, "AFS"},
	        {0x00c36400, "Ceph"},     {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},
	        {0x20030528, "OrangeFS"}, {0xaad7aaea, "PanFS"},  {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},
	        {0x786f4256, "vboxsf"},   {0x01021997, "9p"},
	};
	/* ext4, XFS, btrfs, tmpfs, overlay, ZFS, FUSE, F2FS, bcachefs, and one nobody has heard of. */
	static const uint32_t others[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994, 0x794c7630,
	                                  0x2fc12fc1, 0x65735546, 0xf2f52010, 0xca451a4e, 0x12345678};

	(void)state;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		assert_non_null(store_file_system_shared_number(shared[i].number));
		assert_string_equal(store_file_system_shared_number(shared[i].number), shared[i].name);
		/* As a machine whose statfs has a signed number of 64 bits would give it. */
		assert_non_null(store_file_system_shared_number((uint64_t)(int64_t)(int32_t)shared[i].number));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(store_file_system_shared_number(others[i]));
}

static void
fuse_is_known_by_type(void **state)
{
	static const char *const shared[] = {"fuse.sshfs",  "fuse.glusterfs", "fuse.s3fs",       "fuse.rclone",
	                                     "fuse.cephfs", "fuse.juicefs",   "fuse.mfs",        "fuse.gcsfuse",
	                                     "fuse.wekafs", "fuse.dfuse",     "fuse.vmhgfs-fuse"};
	static const char *const local[] = {"fuse",           "fuseblk", "fuse.ntfs-3g", "fuse.fuse-overlayfs",
	                                    "fuse.gocryptfs", "ext4",    "virtiofs",     "overlay",
	                                    "fusectl"};

	(void)state;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		assert_true(store_file_system_shared_type(shared[i]));
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		assert_false(store_file_system_shared_type(local[i]));
}

static bool
find(const char *text, unsigned major, unsigned minor, char type[32])
{
	FILE *mountinfo = tmpfile();
	bool found;

	assert_non_null(mountinfo);
	fputs(text, mountinfo);
	rewind(mountinfo);
	found = store_file_system_find_type(mountinfo, major, minor, type, 32);
	fclose(mountinfo);
	return found;
}

static void
the_type_is_found_in_mountinfo(void **state)
{
	static const char text[] = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	                           "31 22 0:45 / /mnt/a\\040b rw,nosuid - fuse.sshfs host:/a rw,user_id=0\n"
	                           "32 22 0:4 / /mnt/c rw shared:2 master:3 - fuseblk /dev/sdb1 rw\n"
	                           "33 22 0:46 / /mnt/cut rw\n"
	                           "nonsense\n"
	                           "34 22 0:47 / /mnt/old rw - fuse.rclone remote: rw\n"
	                           "35 22 0:47 / /mnt/new rw - fuse.bindfs /x rw";
	char type[32] = "";

	(void)state;
	assert_true(find(text, 0, 45, type));
	assert_string_equal(type, "fuse.sshfs");
	assert_true(find(text, 0, 4, type));
	assert_string_equal(type, "fuseblk");
	assert_true(find(text, 8, 1, type));
	assert_string_equal(type, "ext4");
	assert_true(find(text, 0, 47, type));
	assert_string_equal(type, "fuse.bindfs");
	/* A line without its end is not continued on the next one. */
	assert_false(find(text, 0, 46, type));
	assert_false(find(text, 45, 0, type));
	assert_false(find("", 0, 45, type));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(network_file_systems_are_known_by_number),
	        cmocka_unit_test(fuse_is_known_by_type),
	        cmocka_unit_test(the_type_is_found_in_mountinfo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
