// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hlguest record --exits asks perf for is what the machine has, and what is missing
 * is told by name, with the remedy: of a tracefs that is made up.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/kit/tap.h"
#include "tools/record/tracing.h"

#define CALLS                                                                            \
	"-e syscalls:sys_enter_ioctl --filter cmd == 0xae80 || cmd == 0xae41 || "        \
	"cmd == 0x4008ae90 || cmd == 0x4020ae46 || cmd == 0x4020aeae"

static char root[64];

static void set_up(void)
{
	strcpy(root, "/tmp/hlguest-record-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(chmod(root, 0755), 0);
}

static void tear_down(void)
{
	char remove[192];

	snprintf(remove, sizeof(remove), "chmod -R u+rwx %s; rm -r %s", root, root);
	ck_assert_int_eq(system(remove), 0);
}

/* A folder with those above it, or a file if there is a text. */
static void make(const char *name, const char *text)
{
	char path[256], *slash;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s%s", root, name, text ? "" : "/");
	for (slash = strchr(path + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	if (!text)
		return;
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static void lock(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, name);
	ck_assert_int_eq(chmod(path, 0), 0);
	/* To root nothing is locked; each test is a process of its own. */
	if (geteuid() == 0)
		ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
}

static const char *join(const char *const *words, size_t n)
{
	static char line[1024];

	ck_assert_uint_le(n, HLG_RECORD_TRACING_WORDS);
	line[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s",
			 i ? " " : "", words[i]);
	return line;
}

/* All words as one line, or the message. */
static const char *ask_how(struct hlg_record_tracing how)
{
	const char *words[HLG_RECORD_TRACING_WORDS];
	static struct hlg_err err;
	size_t n = 0;

	how.root = root;
	if (hlg_record_tracing_words(&how, words, &n, &err) < 0)
		return err.msg;
	return join(words, n);
}

static const char *ask(const char *event, const char *frequency)
{
	return ask_how((struct hlg_record_tracing){
		.exits = true, .event = event, .frequency = frequency});
}

START_TEST(nothing_is_mounted)
{
	const char *told = "--exits: tracefs is not mounted (as root: mount -t tracefs "
			   "nodev /sys/kernel/tracing)";

	ck_assert_str_eq(ask("cpu-clock", "997"), told);
	make("/sys/kernel/tracing", NULL); /* the folder to mount it on */
	ck_assert_str_eq(ask("cpu-clock", "997"), told);
}
END_TEST

START_TEST(there_is_no_kvm)
{
	make("/sys/kernel/tracing/events/sched/sched_switch/id", "1\n");
	ck_assert_str_eq(
		ask("cpu-clock", "997"),
		"--exits: the kernel has no tracepoints of KVM (load it: modprobe "
		"kvm_intel or kvm_amd)");
}
END_TEST

/* Files of tracefs are its group's to read, and nobody else's. */
static void check_denied(const char *said)
{
	char told[256];

	snprintf(told, sizeof(told),
		 "--exits: tracepoints may not be read by this user (as root; or with "
		 "CAP_PERFMON, and: mount -o remount,mode=750,gid=%u "
		 "/sys/kernel/tracing)",
		 (unsigned)getegid());
	ck_assert_str_eq(said, told);
}

START_TEST(tracefs_is_locked)
{
	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	lock("/sys/kernel/tracing");
	check_denied(ask("cpu-clock", "997"));
}
END_TEST

START_TEST(events_are_locked)
{
	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	lock("/sys/kernel/tracing/events/kvm/kvm_exit/id");
	check_denied(ask("cpu-clock", "997"));
}
END_TEST

START_TEST(what_is_there_is_recorded)
{
	make("/sys/kernel/debug/tracing/events/kvm/kvm_pio/id", "7\n");
	make("/sys/kernel/debug/tracing/events/kvm/kvm_userspace_exit/id", "8\n");
	ck_assert_str_eq(
		ask("cpu-clock", "997"),
		"-e cpu-clock/freq=997/ -e kvm:kvm_pio -e kvm:kvm_userspace_exit");
	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	make("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl/id", "2\n");
	ck_assert_str_eq(ask("cycles:G", "10"),
			 "-e cycles/freq=10/G -e kvm:kvm_exit " CALLS);
}
END_TEST

/* Their system calls, once, with whatever else is recorded. */
START_TEST(sandboxes)
{
	struct hlg_record_tracing how = {
		.sandboxes = true, .event = "cpu-clock:HG", .frequency = "997"};

	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	ck_assert_str_eq(ask_how(how), "--sandboxes: the kernel does not trace system "
				       "calls (one with CONFIG_FTRACE_SYSCALLS does)");
	make("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl/id", "2\n");
	ck_assert_str_eq(ask_how(how), "-e cpu-clock/freq=997/HG " CALLS);
	how.exits = true;
	ck_assert_str_eq(ask_how(how), "-e cpu-clock/freq=997/HG -e kvm:kvm_exit " CALLS);
	how.exits = false;
	how.stacks = true;
	ck_assert_str_eq(ask_how(how),
			 "-g --buildid-all -e cpu-clock/freq=997/HG " CALLS);
	how.exits = true;
	ck_assert_str_eq(ask_how(how), "-g --buildid-all -e cpu-clock/freq=997/HG "
				       "-e kvm:kvm_exit/call-graph=no/ " CALLS);
}
END_TEST

/* Who records them unasked is told why they cannot be. */
START_TEST(sandboxes_that_cannot_be)
{
	struct hlg_record_tracing how = {.sandboxes = true,
					 .event = "cpu-clock",
					 .frequency = "997",
					 .root = root};
	struct hlg_err err;

	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	ck_assert_int_lt(hlg_record_tracing_check(&how, &err), 0);
	ck_assert_str_eq(err.msg, "--sandboxes: the kernel does not trace system calls "
				  "(one with CONFIG_FTRACE_SYSCALLS does)");
	/* No kernel has that many tracepoints. */
	make("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl/id", "4000000000\n");
	ck_assert_int_lt(hlg_record_tracing_check(&how, &err), 0);
	ck_assert_str_eq(err.msg, "--sandboxes: tracepoints may not be recorded by this "
				  "user (as root, or with CAP_PERFMON)");
	how.event = "x:G,y:G";
	ck_assert_int_lt(hlg_record_tracing_check(&how, &err), 0);
	ck_assert_str_eq(err.msg, "-e x:G,y:G: not one plain event (with --sandboxes use "
				  "-e cpu-clock or -e cycles:G)");
}
END_TEST

/* With exits, too, callchains are taken once for each run of a vCPU. */
START_TEST(stacks_and_exits)
{
	const struct hlg_record_tracing how = {
		.exits = true, .stacks = true, .event = "cpu-clock", .frequency = "997"};

	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	make("/sys/kernel/tracing/events/kvm/kvm_entry/id", "3\n");
	ck_assert_str_eq(ask_how(how), "-g --buildid-all -e cpu-clock/freq=997/ "
				       "-e kvm:kvm_exit/call-graph=no/ -e kvm:kvm_entry");
	make("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl/id", "2\n");
	ck_assert_str_eq(ask_how(how), "-g --buildid-all -e cpu-clock/freq=997/ "
				       "-e kvm:kvm_exit/call-graph=no/ "
				       "-e kvm:kvm_entry/call-graph=no/ " CALLS);
}
END_TEST

#define HALT "-e kvm:kvm_pio --filter port == 0x6c && val >= 0x1000 && val < 0x7fffffff"

/* With exits every write to a port is recorded, else those that say where a guest lies.
 */
START_TEST(what_guests_halt_with)
{
	struct hlg_record_tracing how = {
		.sandboxes = true, .event = "cpu-clock", .frequency = "997"};

	make("/sys/kernel/tracing/events/kvm/kvm_pio/id", "1\n");
	make("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl/id", "2\n");
	ck_assert_str_eq(ask_how(how), "-e cpu-clock/freq=997/ " HALT " " CALLS);
	how.exits = true;
	ck_assert_str_eq(ask_how(how), "-e cpu-clock/freq=997/ -e kvm:kvm_pio " CALLS);
}
END_TEST

/* A port of Hyperlight's is a word of a page where the kernel is arm64's. */
START_TEST(what_guests_of_arm64_halt_with)
{
	const struct hlg_record_tracing how = {
		.sandboxes = true, .event = "cpu-clock", .frequency = "997"};

	make("/sys/kernel/tracing/events/kvm/kvm_mmio/id", "1\n");
	make("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl/id", "2\n");
	ck_assert_str_eq(
		ask_how(how),
		"-e cpu-clock/freq=997/ -e kvm:kvm_mmio --filter type == 2 && "
		"gpa == 0xffffff360 && val >= 0x1000 && val < 0x7fffffff " CALLS);
}
END_TEST

/* The number of a tracepoint that this kernel has and this user may record; else 0. */
static unsigned long a_tracepoint(void)
{
	FILE *f = fopen("/sys/kernel/tracing/events/sched/sched_switch/id", "r");
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .sample_type = PERF_SAMPLE_RAW,
				       .disabled = 1};
	unsigned long id = 0;
	long fd;

	if (!f)
		return 0;
	ck_assert_int_eq(fscanf(f, "%lu", &id), 1);
	fclose(f);
	attr.config = id;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		return 0;
	close((int)fd);
	return id;
}

/* An ordinary recording has them where that is allowed, and is none the worse without:
 * sched_switch stands in for kvm_pio. */
START_TEST(an_ordinary_recording)
{
	const char *words[HLG_RECORD_TRACING_WORDS];
	char id[32];
	size_t n = 0;

	ck_assert(!hlg_record_tracing_halt(root, words, &n));
	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	ck_assert(!hlg_record_tracing_halt(root, words, &n));
	make("/sys/kernel/tracing/events/kvm/kvm_pio/id", "none\n");
	ck_assert(!hlg_record_tracing_halt(root, words, &n));
	make("/sys/kernel/tracing/events/kvm/kvm_pio/id", "4000000000\n");
	ck_assert(!hlg_record_tracing_halt(root, words, &n));
	ck_assert_uint_eq(n, 0);
	snprintf(id, sizeof(id), "%lu\n", a_tracepoint());
	make("/sys/kernel/tracing/events/kvm/kvm_pio/id", id);
	if (id[0] == '0') {
		ck_assert(!hlg_record_tracing_halt(root, words, &n));
		fputs("# not tried: tracepoints may not be recorded here\n", stderr);
		return;
	}
	ck_assert(hlg_record_tracing_halt(root, words, &n));
	ck_assert_str_eq(join(words, n), HALT);
	lock("/sys/kernel/tracing/events/kvm/kvm_pio/id");
	n = 0;
	ck_assert(!hlg_record_tracing_halt(root, words, &n));
}
END_TEST

START_TEST(events_that_take_no_frequency)
{
	char name[300] = "cycles";

	memset(name + 6, 'x', sizeof(name) - 7); /* cut, it would be another event's */
	make("/sys/kernel/tracing/events/kvm/kvm_exit/id", "1\n");
	ck_assert_ptr_nonnull(strstr(ask("{a,b}:S", "997"), "not one plain event"));
	ck_assert_ptr_nonnull(
		strstr(ask("kvm:kvm_exit:G", "997"), "not one plain event"));
	ck_assert_ptr_nonnull(strstr(ask("cycles", "max"), "use a number"));
	ck_assert_ptr_nonnull(strstr(ask(name, "997"), "too long a name"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record exits");
	/* The folder is made and removed by the parent: a test may become nobody. */
	const TTest *const tests[] = {
		nothing_is_mounted,
		there_is_no_kvm,
		tracefs_is_locked,
		events_are_locked,
		what_is_there_is_recorded,
		sandboxes,
		sandboxes_that_cannot_be,
		stacks_and_exits,
		what_guests_halt_with,
		an_ordinary_recording,
		events_that_take_no_frequency,
		what_guests_of_arm64_halt_with,
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		TCase *tc = tap_case(suite, tests[i]->name);

		tcase_add_unchecked_fixture(tc, set_up, tear_down);
		tcase_add_test(tc, tests[i]);
	}
	return tap_main(suite);
}
