// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of KVM's tracepoints that no kernel would write: in any order, of any thread,
 * vCPU and time, lost, cut short. The recording around them is well made; the input is
 * records, some bytes each. Each pair is in one row of a table, and all is written.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/door.h"
#include "tests/fuzz/exits-report.h"
#include "tests/fuzz/tracing.h"
#include "tools/exits/read.h"

#define FIELD(type, name, at, size)                                                      \
	"\tfield:" type " " name ";\toffset:" at ";\tsize:" size ";\tsigned:0;\n"
#define FORMAT(system, name, id, fields)                                                 \
	{                                                                                \
		system,                                                                  \
			"name: " name "\nID: " id                                        \
			"\nformat:\n" FIELD("unsigned short", "common_type", "0",        \
					    "2") "\n" fields "\nprint fmt: \"\"\n",      \
			0                                                                \
	}
#define A(name)    FIELD("u64", name, "8", "8")
#define B(name)    FIELD("u32", name, "16", "4")
#define C(name)    FIELD("u32", name, "20", "4")
#define VCPU(name) FIELD("u32", name, "24", "4")

static struct tracing_format formats[] = {
	FORMAT("kvm", "kvm_exit", "1",
	       A("guest_rip") B("exit_reason") C("isa") VCPU("vcpu_id")),
	FORMAT("kvm", "kvm_entry", "2", VCPU("vcpu_id")),
	FORMAT("kvm", "kvm_pio", "3", B("port") C("rw")),
	FORMAT("kvm", "kvm_mmio", "4", A("gpa") B("type")),
	FORMAT("kvm", "kvm_userspace_exit", "5", A("errno") B("reason")),
	FORMAT("kvm", "kvm_emulate_insn", "6", A("rip")),
	FORMAT("syscalls", "sys_enter_ioctl", "7", B("cmd")),
};

enum {
	N_FORMATS = sizeof(formats) / sizeof(formats[0]),
	IOCTL = N_FORMATS - 1,
	KVM_RUN_CMD = 0xae80, /* linux/kvm.h */
};

#define SAMPLE_TYPE                                                                      \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_RAW)

struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time, cpu;
	uint32_t size; /* of what follows; with it a multiple of 8 */
	uint8_t raw[36];
};

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
	uint32_t pid, tid;
	uint64_t time, cpu, identifier;
};

static struct tracing_part container;
static struct perf_event_attr attrs[N_FORMATS];

static void begin(void)
{
	char *text;
	FILE *f = open_memstream(&text, &container.size);

	if (!f)
		door_fail("no memory");
	for (size_t i = 0; i < N_FORMATS; i++) {
		formats[i].size = strlen(formats[i].text);
		attrs[i] = (struct perf_event_attr){.type = PERF_TYPE_TRACEPOINT,
						    .size = sizeof(attrs[i]),
						    .config = i + 1,
						    .sample_period = 1,
						    .sample_type = SAMPLE_TYPE,
						    .sample_id_all = 1};
	}
	tracing_put_formats(f, formats, N_FORMATS);
	fclose(f);
	container.bytes = text;
}

static void put_lost(FILE *f, struct door_bytes *bytes, uint64_t time)
{
	struct lost lost = {
		.header = {.type = PERF_RECORD_LOST, .size = sizeof(lost)},
		.id = 1,
		.lost = door_take(bytes, 1),
		.time = time,
		.identifier = 1,
	};

	lost.cpu = lost.lost & 3;
	if (lost.lost & 128) /* PERF_RECORD_FINISHED_ROUND instead */
		lost.header = (struct perf_event_header){68, 0, 8};
	tracing_put(f, &lost, lost.header.size);
}

static void put_sample(FILE *f, struct door_bytes *bytes, unsigned how, uint64_t time)
{
	bool wide = how & 128;
	unsigned event = how & 7;
	uint32_t a = wide ? 8 : 1;
	struct sample s = {
		.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof(s)},
		.id = event + 1,
		.pid = 1,
		.tid = 1 + (how >> 5 & 3),
		.time = time,
		.cpu = how >> 3 & 3,
		.size = sizeof(s.raw),
	};
	const uint64_t address = door_take(bytes, a);
	uint32_t b = (uint32_t)door_take(bytes, wide ? 4 : 1);
	const uint32_t c = (uint32_t)door_take(bytes, 1), vcpu = c >> 2 & 3;

	if (event == IOCTL)
		b += KVM_RUN_CMD;
	s.raw[0] = (uint8_t)(event + 1);
	memcpy(s.raw + 8, &address, sizeof(address));
	memcpy(s.raw + 16, &b, sizeof(b));
	s.raw[20] = c & 3;
	memcpy(s.raw + 24, &vcpu, sizeof(vcpu));
	if ((c & 0xf0) == 0xf0) /* lacks fields */
		s.header.size -= 16, s.size -= 16;
	tracing_put(f, &s, s.header.size);
}

static void put_records(FILE *f, struct door_bytes *bytes)
{
	uint64_t time = 1000;

	while (bytes->left) {
		unsigned how = (unsigned)door_take(bytes, 1);

		time = door_take_time(bytes, time);
		if ((how & 7) < N_FORMATS)
			put_sample(f, bytes, how, time);
		else
			put_lost(f, bytes, time);
	}
}

static void read_it(const char *path, unsigned how)
{
	struct hlg_exits_sums sums = {.exact = how & 1};
	struct hlg_exits_counts counts = {0};
	struct hlg_options options;
	struct hlg_err err;

	if (hlg_options_parse(&options, 0, NULL, &err) < 0)
		door_fail(err.msg);
	if (hlg_exits_read(path, &options, NULL, &sums, &counts, &err) < 0)
		door_fail(err.msg);
	hlg_exits_settle(&sums);
	if (!sums.no_memory)
		door_exits_report(&sums, how);
	hlg_exits_sums_finish(&sums);
	hlg_options_finish(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct door_bytes bytes = {data, size};
	unsigned how = (unsigned)door_take(&bytes, 1);
	struct tracing_part records, file;
	char *inner, *text;
	FILE *f;

	if (!container.size)
		begin();
	f = open_memstream(&inner, &records.size);
	if (!f)
		door_fail("no memory");
	put_records(f, &bytes);
	fclose(f);
	records.bytes = inner;
	f = open_memstream(&text, &file.size);
	if (!f)
		door_fail("no memory");
	tracing_put_file(f, attrs, N_FORMATS, records, container);
	fclose(f);
	read_it(door_path(text, file.size), how);
	free(text);
	free(inner);
	return 0;
}
