/* SPDX-License-Identifier: GPL-2.0-only */
/* What system calls do, of those that read and write files, start threads and programs,
 * or ask devices. For calls.c alone. */
#ifndef HLG_TESTS_FAULTS_KINDS_H
#define HLG_TESTS_FAULTS_KINDS_H

#include <sys/syscall.h>

enum class {
	READ = 1,
	WRITE = 2,
	MAP = 4,
	OPEN = 8, /* READ or WRITE, as its flags say */
	START = 16,
	ASK = 32
};

struct call {
	long nr;
	const char *name;
	unsigned class;
	int fd, flags, length; /* which argument; -1: none */
};

static const struct call calls[] = {
	{SYS_read, "read", READ, 0, -1, 2},
	{SYS_pread64, "pread64", READ, 0, -1, 2},
	{SYS_newfstatat, "newfstatat", READ, -1, -1, -1},
	{SYS_fstat, "fstat", READ, 0, -1, -1},
	{SYS_lseek, "lseek", READ, 0, -1, -1},
	{SYS_access, "access", READ, -1, -1, -1},
	{SYS_readlink, "readlink", READ, -1, -1, -1},
	{SYS_readlinkat, "readlinkat", READ, -1, -1, -1},
	{SYS_getdents64, "getdents64", READ, 0, -1, -1},
	{SYS_fstatfs, "fstatfs", READ, 0, -1, -1},
	{SYS_mmap, "mmap", READ | MAP, 4, -1, -1},
	{SYS_openat, "openat", OPEN, -1, 2, -1},
	{SYS_write, "write", WRITE, 0, -1, 2},
	{SYS_pwrite64, "pwrite64", WRITE, 0, -1, 2},
	{SYS_writev, "writev", WRITE, 0, -1, -1},
	{SYS_fsync, "fsync", WRITE, 0, -1, -1},
	{SYS_ftruncate, "ftruncate", WRITE, 0, -1, -1},
	{SYS_rename, "rename", WRITE, -1, -1, -1},
	{SYS_renameat, "renameat", WRITE, -1, -1, -1},
	{SYS_link, "link", WRITE, -1, -1, -1},
	{SYS_linkat, "linkat", WRITE, -1, -1, -1},
	{SYS_mkdir, "mkdir", WRITE, -1, -1, -1},
	{SYS_fchmod, "fchmod", WRITE, 0, -1, -1},
	{SYS_flock, "flock", WRITE, 0, -1, -1},
	{SYS_close, "close", WRITE, 0, -1, -1},
	{SYS_clone, "clone", START, -1, -1, -1},
	{SYS_clone3, "clone3", START, -1, -1, -1},
	{SYS_fork, "fork", START, -1, -1, -1},
	{SYS_vfork, "vfork", START, -1, -1, -1},
	{SYS_pipe2, "pipe2", START, -1, -1, -1},
	{SYS_ioctl, "ioctl", ASK, 0, -1, -1},
	{SYS_perf_event_open, "perf_event_open", ASK, -1, -1, -1},
};

#endif
