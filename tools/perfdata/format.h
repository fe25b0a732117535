/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the file format that linux/perf_event.h does not have. Sections below are of
 * tools/perf/Documentation/perf.data-file-format.txt; types that it lacks are of
 * tools/lib/perf/include/perf/event.h. Internal.
 */
#ifndef HLG_TOOLS_PERFDATA_FORMAT_H
#define HLG_TOOLS_PERFDATA_FORMAT_H

#include <linux/perf_event.h>
#include <stdint.h>

/* "perf_header". Magic numbers as a little-endian machine reads them. */
#define HLG_MAGIC_2       UINT64_C(0x32454c4946524550) /* PERFILE2 */
#define HLG_MAGIC_1       UINT64_C(0x454c494646524550) /* PERFFILE, before 2012 */
#define HLG_MAGIC_SWAPPED UINT64_C(0x50455246494c4532) /* the other byte order */

struct hlg_file_section {
	uint64_t offset, size;
};

struct hlg_file_header {
	uint64_t magic;
	uint64_t size;
	uint64_t
		attr_size; /* of an entry of attrs: the attribute, and a section of ids */
	struct hlg_file_section attrs, data, event_types;
	uint64_t features[4];
};

/* "Pipe-mode data": the header ends here, and its size field says so. */
#define HLG_PIPE_HEADER_SIZE 16
/* Headers from before there were features. */
#define HLG_SHORT_HEADER_SIZE offsetof(struct hlg_file_header, features)

/* "Flags section". */
enum hlg_feature {
	HLG_FEATURE_TRACING_DATA = 1,
	HLG_FEATURE_BUILD_ID = 2,
	HLG_FEATURE_HOSTNAME = 3,
	HLG_FEATURE_ARCH = 6,
	HLG_FEATURE_NRCPUS = 7, /* u32 available, u32 online */
	HLG_FEATURE_CPUDESC = 8,
	HLG_FEATURE_CMDLINE = 11,
	HLG_FEATURE_EVENT_DESC = 12,
	HLG_FEATURE_AUXTRACE = 18,
	HLG_FEATURE_SAMPLE_TIME = 21,
	HLG_FEATURE_DIR_FORMAT = 24,
	HLG_FEATURE_COMPRESSED = 27,
	HLG_FEATURE_CLOCK_DATA = 29,
	HLG_FEATURE_PMU_CAPS = 31,  /* the last that perf 6.1 knows */
	HLG_FEATURE_E_MACHINE = 33, /* perf 7.0: u32 e_machine, u32 e_flags */
	HLG_FEATURES = 256,
};

/* The numbers newer kernels' linux/perf_event.h has. PERF_RECORD_, 6.18: */
#define HLG_RECORD_CALLCHAIN_DEFERRED 22
/* struct perf_event_attr: its flags stand behind this; defer_callchain is one of 6.18. */
#define HLG_ATTR_FLAGS           (offsetof(struct perf_event_attr, read_format) + 8)
#define HLG_ATTR_DEFER_CALLCHAIN (UINT64_C(1) << 38)

/* "Perf record specific events". */
enum hlg_user_record {
	HLG_RECORD_USER = 64,
	HLG_RECORD_HEADER_ATTR = 64,
	HLG_RECORD_TRACING_DATA = 66,
	HLG_RECORD_FINISHED_ROUND = 68,
	HLG_RECORD_AUXTRACE = 71,
	HLG_RECORD_CPU_MAP = 74,
	HLG_RECORD_EVENT_UPDATE = 78,
	HLG_RECORD_HEADER_FEATURE = 80,
	HLG_RECORD_COMPRESSED = 81,
	HLG_RECORD_FINISHED_INIT = 82,
	HLG_RECORD_COMPRESSED2 = 83,
};

#define HLG_EVENT_UPDATE_NAME 2 /* enum perf_event_update */

/* And of those, again: */
#define HLG_BRANCH_HW_INDEX (UINT64_C(1) << 17) /* PERF_SAMPLE_BRANCH_HW_INDEX */
#define HLG_BRANCH_COUNTERS (UINT64_C(1) << 19) /* PERF_SAMPLE_BRANCH_COUNTERS, 6.8 */
#define HLG_FORMAT_LOST     (UINT64_C(1) << 4)  /* PERF_FORMAT_LOST, 6.0 */

/* LOST_SAMPLES, perf 6.1 on: those that the user's own filter left out, a BPF program
 * (PERF_RECORD_MISC_LOST_SAMPLES_BPF, tools/lib/perf/include/perf/event.h). */
#define HLG_MISC_LEFT_OUT (1u << 15)
/* PERF_RECORD_MMAP2 (linux/perf_event.h of 5.12): a build id stands where the device
 * would. */
#define HLG_MISC_MMAP_BUILD_ID (1u << 14)

#define HLG_HEADER_SIZE 8 /* struct perf_event_header */
#define HLG_RECORD_MAX  UINT16_MAX

#endif
