// SPDX-License-Identifier: GPL-2.0-only
/*
 * The doctor's rules, on machines that are made up: a healthy one has nothing but ok, and
 * each single thing that is wrong changes the line of that thing, to the level and with
 * the remedy that is written here. The probes read folders that are made up as well, and
 * a child that hangs, dies or floods its pipe holds nobody up.
 */
#include "config.h"
#include "tools/doctor/doctor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symtab/image/base.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

static struct hlg_probes healthy(void)
{
	struct hlg_probes p = {
		.perf = "/usr/bin/perf",
		.perf_asked = {.text = "perf version 6.18.1\n"},
		.major = 6,
		.minor = 18,
		.folder = "/usr/lib/perf-core/dlfilters",
		.installed = true,
		.machine.kvm = "kvm_intel",
		.machine.intel = true,
		.nested = 1,
		.mediated = -1,
		.paranoid = 1,
		.kvm_events = true,
		.calibration = true,
		.calibrated.holds = true,
	};

	return p;
}

/* The findings of p, with how many there are of each level. */
static void judge(struct hlg_findings *f, const struct hlg_probes *p,
		  size_t n[HLG_LEVELS])
{
	memset(f, 0, sizeof(*f));
	memset(n, 0, HLG_LEVELS * sizeof(*n));
	hlg_doctor_judge(f, p);
	for (size_t i = 0; i < f->n; i++) {
		n[f->finding[i].level]++;
		ck_assert_uint_ne(f->finding[i].text[0], '\0');
		/* What is not ok has a remedy. */
		ck_assert(f->finding[i].level == HLG_LEVEL_OK || f->finding[i].remedy[0]);
	}
}

/* p differs from a healthy machine in one finding: this topic, level, words. */
static void expect(const struct hlg_probes *p, enum hlg_level level, const char *topic,
		   const char *text, const char *remedy)
{
	static struct hlg_findings f;
	size_t n[HLG_LEVELS];

	judge(&f, p, n);
	ck_assert_uint_eq(n[HLG_LEVEL_INFO] + n[HLG_LEVEL_WARN] + n[HLG_LEVEL_FAIL], 1);
	for (size_t i = 0; i < f.n; i++) {
		if (f.finding[i].level == HLG_LEVEL_OK)
			continue;
		ck_assert_int_eq(f.finding[i].level, level);
		ck_assert_str_eq(f.finding[i].topic, topic);
		ck_assert_msg(strstr(f.finding[i].text, text), "%s", f.finding[i].text);
		ck_assert_msg(strstr(f.finding[i].remedy, remedy), "%s",
			      f.finding[i].remedy);
	}
}

START_TEST(healthy_machine)
{
	static struct hlg_findings f;
	struct hlg_probes p = healthy();
	size_t n[HLG_LEVELS];

	judge(&f, &p, n);
	ck_assert_uint_eq(n[HLG_LEVEL_OK], f.n);
	ck_assert_uint_ge(f.n, 9);
}
END_TEST

START_TEST(perf_is_missing_hangs_or_is_old)
{
	struct hlg_probes p = healthy();

	p.perf[0] = '\0';
	p.major = 0;
	expect(&p, HLG_LEVEL_FAIL, "perf", "none in PATH", "linux-perf");
	p = healthy();
	p.major = 0;
	p.perf_asked = (struct hlg_child){.end = HLG_CHILD_TIMEOUT};
	expect(&p, HLG_LEVEL_FAIL, "perf", "5 seconds", "by hand");
	p.perf_asked = (struct hlg_child){.status = 2, .text = "WARNING: none\nmore"};
	expect(&p, HLG_LEVEL_FAIL, "perf", "does not run: WARNING: none", "this kernel");
	/* One that says nothing ends somehow. */
	p.perf_asked = (struct hlg_child){.status = 2};
	expect(&p, HLG_LEVEL_FAIL, "perf", "does not run: status 2, without",
	       "this kernel");
	p.perf_asked = (struct hlg_child){.end = HLG_CHILD_KILLED, .status = SIGSEGV};
	expect(&p, HLG_LEVEL_FAIL, "perf", "killed by signal 11 (Segm", "this kernel");
	p.perf_asked.status = SIGRTMIN;
	expect(&p, HLG_LEVEL_FAIL, "perf", "a real-time one", "this kernel");
	p.perf_asked = (struct hlg_child){.end = HLG_CHILD_FAILED, .status = EAGAIN};
	expect(&p, HLG_LEVEL_FAIL, "perf", "does not run: Resource temp", "this kernel");
	p.perf_asked = (struct hlg_child){.text = "abc\n"};
	expect(&p, HLG_LEVEL_WARN, "perf", "not understood: abc", "5.14");
	p = healthy();
	p.major = 5;
	p.minor = 13;
	expect(&p, HLG_LEVEL_FAIL, "perf", "5.13 has no dlfilters", "5.14");
}
END_TEST

START_TEST(perf_has_traps)
{
	struct hlg_probes p = healthy();

	p.minor = 17;
	expect(&p, HLG_LEVEL_WARN, "perf", "cycles:P", "cycles:G");
	p.machine.intel = false;
	p.minor = 12;
	expect(&p, HLG_LEVEL_INFO, "perf", "groups of counters miss threads", "-p");
	p.major = 5;
	p.minor = 14;
	expect(&p, HLG_LEVEL_INFO, "perf", "5.14: groups of counters", "-a");
	p.major = 7;
	p.minor = 0;
	p.here = true;
	expect(&p, HLG_LEVEL_WARN, "hlguest.so", "goes before", "remove");
	p.installed = false;
	p.untrusted = true;
	expect(&p, HLG_LEVEL_WARN, "hlguest.so", "was not loaded", "another folder");
}
END_TEST

START_TEST(filter_is_missing_or_broken)
{
	struct hlg_probes p = healthy();

	p.installed = false;
	expect(&p, HLG_LEVEL_INFO, "hlguest.so", "not in /usr/lib", "--dlfilter");
	p.folder[0] = '\0';
	expect(&p, HLG_LEVEL_INFO, "hlguest.so", "no folder", "--dlfilter");
	p = healthy();
	p.filter = (struct hlg_child){.status = 1, .text = "libZ.so: cannot open"};
	expect(&p, HLG_LEVEL_FAIL, "hlguest.so", "does not load: libZ.so", "build it");
	p.filter = (struct hlg_child){.end = HLG_CHILD_KILLED, .status = SIGSEGV};
	expect(&p, HLG_LEVEL_FAIL, "hlguest.so", "does not load", "build it");
}
END_TEST

static void expect_kvm(const char *module, const char *text)
{
	static struct hlg_findings f;
	struct hlg_probes p = healthy();
	size_t n[HLG_LEVELS], found = 0;

	strcpy(p.machine.kvm, module);
	judge(&f, &p, n);
	for (size_t i = 0; i < f.n; i++)
		found += strcmp(f.finding[i].text, text) == 0;
	ck_assert_msg(found == 1, "%s", text);
}

/* The processor's or software: what is measured differs. */
START_TEST(kvm_is_of_a_kind)
{
	struct hlg_probes p = healthy();

	expect_kvm("kvm_intel", "opens (kvm_intel: the processor's VMX)");
	expect_kvm("kvm_amd", "opens (kvm_amd: the processor's SVM)");
	expect_kvm("kvm_other", "opens (kvm_other)");
	expect_kvm("", "opens (no kvm_ module)");
	strcpy(p.machine.kvm, "kvm_pvm");
	expect(&p, HLG_LEVEL_INFO, "/dev/kvm", "kvm_pvm: no VMX or SVM", "Hyperlight");
}
END_TEST

START_TEST(kvm_is_closed)
{
	struct hlg_probes p = healthy();

	p.kvm = EACCES;
	expect(&p, HLG_LEVEL_FAIL, "/dev/kvm", "may not", "usermod");
	p.kvm = ENOENT;
	expect(&p, HLG_LEVEL_FAIL, "/dev/kvm", "not there", "firmware");
	p.kvm = ENODEV;
	expect(&p, HLG_LEVEL_FAIL, "/dev/kvm", "No such device", "dmesg");
	p.kvm = 0;
	p.machine.guest = true;
	expect(&p, HLG_LEVEL_INFO, "nesting", "itself", "shares");
}
END_TEST

START_TEST(events_are_refused)
{
	struct hlg_probes p = healthy();

	p.clock = EACCES;
	p.paranoid = 4;
	expect(&p, HLG_LEVEL_FAIL, "perf events", "perf_event_paranoid is 4", "sysctl");
	p.perfmon = true;
	expect(&p, HLG_LEVEL_FAIL, "perf events", "in spite of", "seccomp");
	p.clock = ENOSYS;
	expect(&p, HLG_LEVEL_FAIL, "perf events", "not in this kernel", "CONFIG");
	p = healthy();
	p.mediated = 1;
	expect(&p, HLG_LEVEL_WARN, "mediated PMU", "on:", "enable_mediated_pmu=0");
}
END_TEST

START_TEST(no_counters)
{
	static struct hlg_findings f;
	struct hlg_probes p = healthy();
	size_t n[HLG_LEVELS];

	p.cycles = ENOENT;
	judge(&f, &p, n);
	ck_assert_uint_eq(n[HLG_LEVEL_INFO], 1);
	ck_assert_uint_eq(n[HLG_LEVEL_WARN] + n[HLG_LEVEL_FAIL], 0);
}
END_TEST

START_TEST(tracefs)
{
	struct hlg_probes p = healthy();

	p.tracefs = ENOENT;
	expect(&p, HLG_LEVEL_WARN, "tracefs", "not mounted", "mount -t tracefs");
	p.tracefs = EACCES;
	expect(&p, HLG_LEVEL_WARN, "tracefs", "Permission denied", "root");
	p.tracefs = 0;
	p.kvm_events = false;
	expect(&p, HLG_LEVEL_WARN, "tracefs", "without events", "load kvm");
}
END_TEST

START_TEST(guest_stacks)
{
	struct hlg_probes p = healthy();

	strcpy(p.guest_stacks, "may not load (be root (or not))");
	expect(&p, HLG_LEVEL_INFO, "guest stacks", "may not load", "be root (or not)");
	strcpy(p.guest_stacks, "no remedy");
	expect(&p, HLG_LEVEL_INFO, "guest stacks", "no remedy",
	       "see hlguest-guest-stacks");
}
END_TEST

static void make_folder(const char *root, const char *path)
{
	char full[512], *slash;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
}

static void make_file(const char *root, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	make_folder(root, path);
	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(probes_read_files)
{
	static struct hlg_probes p;
	char root[] = "/tmp/hlguest-doctor-XXXXXX", remove[64];

	ck_assert_ptr_nonnull(mkdtemp(root));
	p.kvm = 0;
	hlg_doctor_look_at_files(&p, root);
	ck_assert_int_eq(p.kvm, ENOENT);
	ck_assert_int_eq(p.tracefs, ENOENT);
	ck_assert_int_eq(p.paranoid, INT_MIN);
	ck_assert_int_eq(p.nested, -1);
	ck_assert_int_eq(p.mediated, -1);
	ck_assert(!p.perfmon && !p.machine.intel && !p.machine.guest &&
		  !p.machine.kvm[0]);
	/* One that cannot be opened says more than one that is not there. */
	make_file(root, "/sys/kernel/tracing/events", "");
	hlg_doctor_look_at_files(&p, root);
	ck_assert_int_eq(p.tracefs, ENOTDIR);
	snprintf(remove, sizeof(remove), "rm %s/sys/kernel/tracing/events", root);
	ck_assert_int_eq(system(remove), 0);

	make_file(root, "/dev/kvm", "");
	make_file(root, "/sys/module/kvm_intel/parameters/nested", "Y\n");
	make_file(root, "/sys/module/kvm_intel/parameters/enable_mediated_pmu", "1\n");
	make_file(root, "/sys/kernel/tracing/events/kvm/x", "");
	make_file(root, "/proc/sys/kernel/perf_event_paranoid", "-1\n");
	make_file(root, "/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\n");
	make_file(root, "/proc/cpuinfo",
		  "vendor_id\t: GenuineIntel\nmodel name\t:  Intel(R) Core: a  CPU\n"
		  "flags\t\t: fpu hypervisor lm\n");
	memset(&p, 0, sizeof(p));
	hlg_doctor_look_at_files(&p, root);
	ck_assert_int_eq(p.kvm, 0);
	ck_assert_str_eq(p.machine.kvm, "kvm_intel");
	ck_assert_int_eq(p.nested, 1);
	ck_assert_int_eq(p.mediated, 1);
	ck_assert_int_eq(p.tracefs, 0);
	ck_assert(p.kvm_events && p.perfmon && p.machine.intel && p.machine.guest);
	ck_assert_str_eq(p.machine.cpu, "Intel(R) Core: a  CPU");
	ck_assert_int_eq(p.paranoid, -1);
	/* CAP_SYS_ADMIN was enough before there was CAP_PERFMON, and is. */
	make_file(root, "/proc/self/status", "Name:\tx\nCapEff:\t0000000000200000\n");
	hlg_doctor_look_at_files(&p, root);
	ck_assert(p.perfmon);
	make_file(root, "/proc/self/status", "Name:\tx\nCapEff:\t0000000000100000\n");
	hlg_doctor_look_at_files(&p, root);
	ck_assert(!p.perfmon);
	snprintf(remove, sizeof(remove), "rm -r %s", root);
	ck_assert_int_eq(system(remove), 0);
}
END_TEST

static int hang(void *arg)
{
	(void)arg;
	while (pause() < 0)
		;
	return 0;
}

static int crash(void *arg)
{
	(void)arg;
	signal(SIGABRT, SIG_DFL);
	abort();
}

static int flood(void *arg)
{
	for (int i = 0; i < 100000; i++)
		puts(arg);
	puts("the end");
	return 7;
}

START_TEST(children_are_bounded)
{
	static struct hlg_child child;
	char name[] = "/no/such/program", *argv[] = {name, NULL};
	char text[] = "a line of some length that fills a pipe";

	hlg_child_call(&child, hang, NULL, 100);
	ck_assert_int_eq(child.end, HLG_CHILD_TIMEOUT);
	hlg_child_call(&child, crash, NULL, 20000);
	ck_assert_int_eq(child.end, HLG_CHILD_KILLED);
	ck_assert_int_eq(child.status, SIGABRT);
	hlg_child_call(&child, flood, text, 50000);
	ck_assert_int_eq(child.end, HLG_CHILD_EXITED);
	ck_assert_int_eq(child.status, 7);
	ck_assert_uint_eq(strlen(child.text), sizeof(child.text) - 1);
	ck_assert_uint_eq(strlen(child.last), sizeof(child.last) - 1);
	ck_assert_str_eq(child.last + strlen(child.last) - 8, "the end\n");
	hlg_child_run(&child, argv, 20000);
	ck_assert_int_eq(child.end, HLG_CHILD_EXITED);
	ck_assert_int_eq(child.status, 127);
	ck_assert_str_eq(child.text, "No such file or directory");
	ck_assert_str_eq(child.last, child.text);
}
END_TEST

static int tell_and_hang(void *arg)
{
	if (write(*(int *)arg, "x", 1) != 1)
		return 1;
	return hang(NULL);
}

/* Whoever started a child is killed: the pipe that both hold ends. */
START_TEST(children_end_with_their_parent)
{
	static struct hlg_child child;
	struct pollfd end;
	int pipes[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		hlg_child_call(&child, tell_and_hang, &pipes[1], 60000);
		_exit(0);
	}
	close(pipes[1]);
	ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	end = (struct pollfd){.fd = pipes[0], .events = POLLIN};
	ck_assert_int_eq(poll(&end, 1, 10000), 1);
	ck_assert_int_eq(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
}
END_TEST

START_TEST(images)
{
	static struct mkelf_guest g;
	static struct hlg_findings f;
	struct hlg_image *image;
	struct hlg_err err;

	mkelf_guest_init(&g, 0);
	g.elf.version = NULL;
	ck_assert_int_eq(hlg_image_open_elf(&image, scratch_elf("g.elf", &g.elf), &err),
			 0);
	ck_assert_int_eq(hlg_base_decide(image, &err), 0);
	memset(&f, 0, sizeof(f));
	hlg_doctor_judge_image(&f, image);
	hlg_image_destroy(image);
	ck_assert_str_eq(f.finding[1].topic, "symbols");
	ck_assert_str_eq(f.finding[1].text,
			 "8 from .symtab: functions 7, labels 0, without a size 1");
	ck_assert_str_eq(f.finding[2].topic, "gaps");
	/* 0xc + 0x40 + 0x20 + 0x20 of 0x240; the 0x40 are code: over a tenth. */
	ck_assert_str_eq(
		f.finding[2].text,
		"4 without a symbol: 140 of 576 bytes of code, of which 76 are padding");
	ck_assert_int_eq(f.finding[2].level, HLG_LEVEL_WARN);
	ck_assert_str_eq(f.finding[3].topic, "base");
	ck_assert_int_eq(f.finding[3].level, HLG_LEVEL_WARN);
	ck_assert_str_eq(f.finding[4].topic, "build id");
}
END_TEST

/* Only a build without Capstone has something to say of that. */
START_TEST(instructions_of_aarch64)
{
	static struct mkelf_guest g;
	static struct hlg_findings f;
	struct hlg_image *image;
	struct hlg_err err;
	bool said;

	mkelf_guest_init(&g, 0);
	g.elf.machine = EM_AARCH64;
	ck_assert_int_eq(hlg_image_open_elf(&image, scratch_elf("a.elf", &g.elf), &err),
			 0);
	ck_assert_int_eq(hlg_base_decide(image, &err), 0);
	memset(&f, 0, sizeof(f));
	hlg_doctor_judge_image(&f, image);
	hlg_image_destroy(image);
	said = strcmp(f.finding[f.n - 1].topic, "instructions") == 0;
	ck_assert_int_eq(said, !HLG_HAVE_CAPSTONE);
}
END_TEST

START_TEST(image_is_cut)
{
	static struct mkelf_guest g;
	static struct hlg_findings f;
	struct hlg_image *image;
	struct hlg_err err;
	const char *path;

	mkelf_guest_init(&g, 0);
	path = scratch_elf("cut.elf", &g.elf);
	ck_assert_int_eq(hlg_image_open_elf(&image, path, &err), 0);
	ck_assert_int_eq(hlg_base_decide(image, &err), 0);
	ck_assert_int_eq(truncate(path, 0), 0);
	memset(&f, 0, sizeof(f));
	hlg_doctor_judge_image(&f, image);
	hlg_image_destroy(image);
	ck_assert_int_eq(f.finding[2].level, HLG_LEVEL_WARN);
	ck_assert_str_eq(f.finding[2].remedy, "not all of it was read: run it again");
}
END_TEST

START_TEST(text_is_escaped)
{
	static struct hlg_findings f;
	enum hlg_level worst;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	memset(&f, 0, sizeof(f));
	hlg_doctor_say(&f, HLG_LEVEL_OK, "one", NULL, "%s", "a\033[31m");
	hlg_doctor_say(&f, HLG_LEVEL_WARN, "two", "do it", "%s", "");
	hlg_doctor_say(&f, HLG_LEVEL_OK, "three", NULL, "%s", "b");
	worst = hlg_doctor_write(out, &f, false);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(worst, HLG_LEVEL_WARN);
	ck_assert_str_eq(text, "ok    one           a\\x1b[31m\n"
			       "warn  two           \n"
			       "                    -> do it\n"
			       "ok    three         b\n"
			       "ready, 1 warning\n");
	free(text);
}
END_TEST

static void check_verdict(const struct hlg_probes *p, const char *expected)
{
	static struct hlg_findings f;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	memset(&f, 0, sizeof(f));
	hlg_doctor_judge(&f, p);
	hlg_doctor_write(out, &f, false);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_msg(size > strlen(expected) &&
			      strcmp(text + size - strlen(expected), expected) == 0,
		      "%s", text);
	free(text);
}

START_TEST(verdict)
{
	struct hlg_probes p = healthy();

	check_verdict(&p, "\nready\n");
	p.machine.guest = true;
	p.cycles = ENOENT;
	check_verdict(&p, "\nready (cpu-clock only)\n");
	p.mediated = 1;
	p.tracefs = ENOENT;
	check_verdict(&p, "\nready (cpu-clock only), 2 warnings\n");
	p.kvm = ENOENT;
	check_verdict(&p, "\nnot ready: 1 to be mended first (fail)\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor");
	TCase *tc = tap_case(suite, "doctor");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, healthy_machine);
	tcase_add_test(tc, perf_is_missing_hangs_or_is_old);
	tcase_add_test(tc, perf_has_traps);
	tcase_add_test(tc, filter_is_missing_or_broken);
	tcase_add_test(tc, kvm_is_of_a_kind);
	tcase_add_test(tc, kvm_is_closed);
	tcase_add_test(tc, events_are_refused);
	tcase_add_test(tc, no_counters);
	tcase_add_test(tc, tracefs);
	tcase_add_test(tc, guest_stacks);
	tcase_add_test(tc, probes_read_files);
	tcase_add_test(tc, children_are_bounded);
	tcase_add_test(tc, children_end_with_their_parent);
	tcase_add_test(tc, images);
	tcase_add_test(tc, instructions_of_aarch64);
	tcase_add_test(tc, image_is_cut);
	tcase_add_test(tc, text_is_escaped);
	tcase_add_test(tc, verdict);
	return tap_main(suite);
}
