// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a report makes of samples that nobody would record: addresses anywhere, periods
 * near 2^64, many series. The first bytes choose the options, the rest is samples on an
 * ELF that is well made. Its counts are conserved, and it is written in every format.
 */
#include <stdio.h>
#include <stdlib.h>

#include "filter/run.h"
#include "tests/fuzz/door.h"
#include "tests/kit/mkelf-guest.h"

/* Words by the bits of the input's first bytes: one of each line. */
static const char *const choices[][4] = {
	{"format=text", "format=csv", "format=json", "format=folded"},
	{"gaps=retag", "gaps=drop", "gaps=stretch", "skid=3"},
	{"weight=period", "weight=samples", "top=3", "min=0.5"},
	{"mode=guest", "mode=host", "mode=all", "by=event"},
	{"by=pid", "by=tid,cpu", "region=16", "region=0"},
	{"force=yes", "aliases=yes", "demangle=no", "time=1,2"},
};

enum {
	N_CHOICES = sizeof(choices) / sizeof(choices[0])
};

static FILE *nowhere;

/* The ELF's path stays good: its file is never closed. */
static const char *guest(void)
{
	static char path[DOOR_PATH];
	struct mkelf_guest g;

	if (path[0])
		return path;
	mkelf_guest_init(&g, 0);
	if (mkelf_build(&g.elf, &g.img) < 0)
		door_fail("mkelf");
	door_keep(g.img.bytes, g.img.size, path);
	mkelf_finish(&g.img);
	return path;
}

static void feed(struct hlg_run *run, struct door_bytes *bytes)
{
	static const char *const names[] = {"cpu-clock", "cycles:G", "b"};
	uint32_t events[3];

	for (unsigned i = 0; i < 3; i++)
		events[i] = hlg_profile_event(&run->profile, names[i], i);
	while (bytes->left) {
		uint64_t how = door_take(bytes, 1);
		struct hlg_sample sample = {
			.event = events[how % 3],
			.cpumode = (uint8_t)(how >> 4 & 7),
			/* Mostly inside, with few bytes. */
			.ip = how & 8 ? door_take(bytes, 8)
				      : 0x4000 + door_take(bytes, 2),
			.period = how & 4 ? door_take(bytes, 8) : door_take(bytes, 2),
			.time = HLG_NO_TIME,
			.tid = (int32_t)(how >> 7),
			.pid = -1,
			.cpu = (int32_t)(how >> 6 & 1),
		};

		if (hlg_profile_add(&run->profile, &sample) == HLG_HOST &&
		    run->options.mode != HLG_SHOW_GUEST)
			hlg_host_add(&run->host,
				     hlg_profile_series(&run->profile, &sample),
				     how & 64 ? "[kvm]" : NULL, "vmm", sample.period);
	}
}

static void check(const struct hlg_run *run)
{
	const struct hlg_profile *p = &run->profile;
	uint64_t guest_samples = 0;

	for (size_t i = 0; i < hlg_profile_room(p); i++)
		guest_samples += p->cells[i].count.samples;
	if (p->seen.samples !=
	    p->deselected.samples + p->host.samples + guest_samples + p->unrecorded)
		door_fail("samples are not conserved");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct door_bytes bytes = {data, size};
	char *words[N_CHOICES + 1] = {(char *)(uintptr_t)guest()};
	uint64_t which = door_take(&bytes, 2);
	struct hlg_run run;
	struct hlg_err err;

	for (unsigned i = 0; i < N_CHOICES; i++)
		words[i + 1] = (char *)(uintptr_t)choices[i][which >> 2 * i & 3];
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		door_fail("/dev/null");
	/* Words that exclude each other (by= twice) are refused. */
	if (hlg_run_start(&run, N_CHOICES + 1, words, &err) == 0) {
		feed(&run, &bytes);
		check(&run);
		hlg_run_report(&run, nowhere, &err);
		rewind(nowhere);
	}
	hlg_run_finish(&run);
	return 0;
}
