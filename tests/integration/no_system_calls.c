/*
 * no_system_calls: a log call enters the kernel not once.
 *
 * A thread of its own logs through a warmed-up run with a seccomp filter in place that kills the process at any system
 * call but the one that ends the thread. The filter holds for that thread alone: the run's I/O thread goes on sending
 * meanwhile. So if this program ends, there was none; strace is not needed, and nothing can be overlooked.
 *
 *     no_system_calls PORTOLAND STORE            while a collector takes everything
 *     no_system_calls spool DIRECTORY            while there is none, and everything goes to a spool file
 */
#include <portolan/portolan.h>

#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROWS = 256, CLASSES = 3, CALLS = 400 };

static portolan_run *run;
static uint64_t ids[ROWS];
static float logits[ROWS * CLASSES];
static int32_t gold[ROWS];
static int failed;

static int
log_once(uint32_t epoch)
{
	return portolan_log_logits(run, epoch, ROWS, CLASSES, ids, logits, gold, NULL);
}

static void *
log_without_kernel(void *forbid)
{
	struct sock_filter program[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};

	for (int i = 0; i < CALLS; i++)
		failed |= log_once(0) != 0;
	if (forbid && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)))
		failed = 2;
	for (int i = 0; i < CALLS; i++)
		failed |= log_once(1) != 0;
	/* pthread_exit() would free the stack by a system call of its own */
	syscall(SYS_exit, 0);
	return NULL;
}

/* The spool file has served its purpose. */
static void
remove_spool(const char *directory)
{
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*.spool", directory);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
}

int
main(int argc, char **argv)
{
	struct portolan_options options = {.examples = ROWS, .overwrite = 1};
	struct portolan_error error;
	struct portolan_stats stats;
	pthread_t thread;
	bool spooling;

	if (argc != 3) {
		fprintf(stderr, "usage: no_system_calls PORTOLAND STORE\n");
		return 2;
	}
	spooling = strcmp(argv[1], "spool") == 0;
	if (spooling) {
		options.endpoint = "ipc:///nobody/is/here";
		options.spool = argv[2];
		options.open_timeout_ms = 1;
	} else {
		options.collector_program = argv[1];
		options.store = argv[2];
	}
	for (int i = 0; i < ROWS; i++) {
		ids[i] = (uint64_t)i;
		gold[i] = i % CLASSES;
		for (int c = 0; c < CLASSES; c++)
			logits[i * CLASSES + c] = (float)((i * 7 + c * 3) % 11) - 5.0f;
	}
	if (portolan_open("no-system-calls", &options, &run, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	pthread_create(&thread, NULL, log_without_kernel, &run);
	pthread_join(thread, NULL);
	portolan_end_epoch(run, 1, NULL);
	if (failed || (!spooling && portolan_flush(run, PORTOLAN_WAIT_DEFAULT, &error) < 0)) {
		fprintf(stderr, failed == 2 ? "seccomp is not available\n" : "a call failed\n");
		return failed == 2 ? 77 : 1; /* 77: skipped */
	}
	do
		portolan_get_stats(run, &stats);
	while (spooling && stats.spooled < (uint64_t)2 * CALLS * ROWS);
	if (stats.waits > 0 || (!spooling && stats.acknowledged != (uint64_t)2 * CALLS * ROWS))
		return 1;
	if (portolan_close(run, PORTOLAN_WAIT_DEFAULT, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	if (spooling)
		remove_spool(argv[2]);
	return 0;
}
