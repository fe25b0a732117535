// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where fields of tracepoints stand, from format texts as kernels write them and as
 * nobody should: what is damaged is told, and no byte outside a sample is ever named.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/tracepoint/trace.h"

/* What the recording holds; trace.c asks for it here. */
static uint8_t data[1 << 17];
static size_t size;
static struct hlg_perfdata_counts counts;

const struct hlg_perfdata_counts *hlg_perfdata_counts(const struct hlg_perfdata *pd)
{
	(void)pd;
	return &counts;
}

int hlg_perfdata_tracing(const struct hlg_perfdata *pd, void **bytes, size_t *n,
			 struct hlg_err *err)
{
	(void)pd;
	/* Exactly as long as it is, for what looks at memory. */
	*bytes = malloc(size ? size : 1);
	if (!*bytes)
		return hlg_err_memory(err, "test");
	memcpy(*bytes, data, size);
	*n = size;
	return 0;
}

static void put(const void *bytes, size_t n)
{
	ck_assert_uint_le(n, sizeof(data) - size);
	memcpy(data + size, bytes, n);
	size += n;
}

static void put_number(uint64_t v, size_t n)
{
	put(&v, n);
}

static void put_text(const char *text)
{
	put_number(strlen(text), 8);
	put(text, strlen(text));
}

/* n events of one system; the texts of their formats follow. */
static void hold_system(unsigned n)
{
	size = 0;
	put("\x17\x08\x44tracing0.6", 14);
	put_number(0, 1); /* little-endian */
	put_number(8, 1);
	put_number(4096, 4);
	put("header_page", 12);
	put_text("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	put("header_event", 13);
	put_text("# compressed entry header\n");
	put_number(1, 4);
	put_text("name: function\nID: 1\n");
	put_number(1, 4);
	put("kvm", 4);
	put_number(n, 4);
}

/* One event of one system; text is all of its format. */
static void hold(const char *text)
{
	hold_system(1);
	put_text(text);
}

#define HEAD                                                                             \
	"name: kvm_exit\nID: 77\nformat:\n"                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"           \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD "\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
#define TAIL  "\nprint fmt: \"reason %d\", REC->exit_reason\n"

static struct hlg_trace *trace;
static struct hlg_err err;

static int look_for(const char *name, struct hlg_trace_field *field)
{
	ck_assert_msg(hlg_trace_open(&trace, NULL, "x.data", "perf", &err) == 0, "%s",
		      err.msg);
	return hlg_trace_need(trace, "kvm:kvm_exit", name, field, &err);
}

START_TEST(fields_are_found)
{
	struct hlg_trace_field field;

	hold(HEAD FIELD "\tfield:s16 errno;\toffset:30;\tsize:2;\tsigned:1;\n" TAIL);
	ck_assert_int_eq(look_for("exit_reason", &field), 0);
	ck_assert_uint_eq(field.offset, 8);
	ck_assert_uint_eq(field.size, 4);
	ck_assert(!field.is_signed);
	ck_assert_str_eq(hlg_trace_name(trace, 77), "kvm:kvm_exit");
	ck_assert_ptr_null(hlg_trace_name(trace, 78));
	ck_assert_int_eq(hlg_trace_find(trace, "kvm:kvm_exit", "errno", &field, &err), 0);
	ck_assert(field.is_signed && field.size == 2 && field.offset == 30);
	ck_assert_int_eq(hlg_trace_find(trace, "kvm:kvm_exit", "none", &field, &err), 0);
	ck_assert_uint_eq(field.size, 0);
	ck_assert_int_lt(hlg_trace_find(trace, "kvm:kvm_pio", "port", &field, &err), 0);
	ck_assert_str_eq(err.msg,
			 "x.data: holds no format of kvm:kvm_pio (record it with perf)");
	hlg_trace_close(trace);
}
END_TEST

/* Of formats in any order; the first of those with one name or number. */
START_TEST(formats_are_found)
{
	struct hlg_trace_field field;
	char text[200];
	const unsigned n = 500;

	hold_system(2 * n);
	for (unsigned i = 0; i < n; i++) {
		unsigned k = i * 77 % n; /* each once */

		for (unsigned second = 0; second < 2; second++) {
			snprintf(text, sizeof(text),
				 "name: n%u%s\nID: %u\nformat:\n"
				 "\tfield:int a;\toffset:%u;\tsize:4;\tsigned:1;\n",
				 k, second && k % 2 ? "x" : "", 3 * k + k % 2 + 5,
				 8 * k + second);
			put_text(text);
		}
	}
	ck_assert_int_eq(hlg_trace_open(&trace, NULL, "x.data", "perf", &err), 0);
	for (unsigned k = 0; k < n; k++) {
		snprintf(text, sizeof(text), "kvm:n%u", k);
		ck_assert_str_eq(hlg_trace_name(trace, 3 * k + k % 2 + 5), text);
		ck_assert_ptr_null(hlg_trace_name(trace, 3 * k + 7));
		ck_assert_int_eq(hlg_trace_need(trace, text, "a", &field, &err), 0);
		ck_assert_uint_eq(field.offset, 8 * k);
	}
	ck_assert_ptr_null(hlg_trace_name(trace, 0));
	ck_assert_ptr_null(hlg_trace_name(trace, UINT64_MAX));
	ck_assert_int_lt(hlg_trace_find(trace, "kvm:o", "a", &field, &err), 0);
	hlg_trace_close(trace);
}
END_TEST

/* None is a number that can be read; each is told by the event's name. */
static const char *const hostile[] = {
	HEAD "\tfield:unsigned int exit_reason;\toffset:99999999;\tsize:4;\tsigned:0;\n",
	HEAD "\tfield:unsigned int exit_reason;\toffset:-8;\tsize:4;\tsigned:0;\n",
	HEAD "\tfield:unsigned int exit_reason;\toffset:8;\tsize:400;\tsigned:0;\n",
	HEAD "\tfield:unsigned int exit_reason;\toffset:8;\tsize:0;\tsigned:0;\n",
	HEAD "\tfield:unsigned int exit_reason;\toffset:8;\tsize:3;\tsigned:0;\n",
	HEAD "\tfield:char exit_reason[4];\toffset:8;\tsize:4;\tsigned:0;\n",
	HEAD "\tfield:__data_loc char[] exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n",
	HEAD "\tfield:((((",
	HEAD "\tfield:unsigned int exit_reason;\toffset:",
	HEAD "\xff\x1b[31m",
	"name: kvm_exit\nID: 77\n",
	"name: kvm_exit\nID: 77\nformat:\n",
};

START_TEST(hostile_fields_are_none)
{
	struct hlg_trace_field field;

	hold(hostile[_i]);
	ck_assert_int_lt(look_for("exit_reason", &field), 0);
	ck_assert_uint_eq(field.size, 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "kvm:kvm_exit"));
	hlg_trace_close(trace);
}
END_TEST

/* Declarations as the kernel writes them; the name may begin with a digit. */
START_TEST(lines_of_the_kernel)
{
	struct hlg_trace_field field;

	hold("name: 9p_client_req\nID: 103\nformat:\n"
	     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	     "\tfield:const char * name;\toffset:8;\tsize:8;\tsigned:0;\n"
	     "\tfield:void *vcpu;\toffset:16;\tsize:8;\tsigned:0;\n"
	     "\tfield:const char *const* argv;\toffset:24;\tsize:8;\tsigned:0;\n"
	     "\tfield:u64 info1;\toffset:32;\tsize:8;\n"
	     "\tfield:u64 info1;\toffset:48;\tsize:8;\n"
	     "\tfield:int last;\toffset:40;\tsize:1;\tsigned:1;");
	ck_assert_int_eq(hlg_trace_open(&trace, NULL, "x.data", "perf", &err), 0);
	for (unsigned i = 0; i < 5; i++) {
		static const char *const names[] = {"name", "vcpu", "argv", "info1",
						    "last"};

		ck_assert_int_eq(hlg_trace_need(trace, "kvm:9p_client_req", names[i],
						&field, &err),
				 0);
		ck_assert_uint_eq(field.offset, 8 * (i + 1));
		ck_assert_uint_eq(field.size, i == 4 ? 1 : 8);
		ck_assert_int_eq(field.is_signed, i == 4);
	}
	hlg_trace_close(trace);
}
END_TEST

/* None declares the number x. */
static const char *const lines[] = {
	"\tfield:d short x[\xff\xff;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:int x[1];\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:__data_loc char[] x;\toffset:8;\tsize:4;\tsigned:0;",
	"\tfield:int x;\toffset:9999999;\tsize:8;\tsigned:0;",
	"\tfield:int x;\toffset:65536;\tsize:8;\tsigned:0;",
	"\tfield:int x;\toffset:4294967304;\tsize:8;\tsigned:0;",
	"\tfield:int x;\toffset:-8;\tsize:8;\tsigned:0;",
	"\tfield:int x;\toffset:8;\tsize:;\tsigned:0;",
	"\tfield:int x;\toffset:8;\tsize:264;\tsigned:0;",
	"\tfield:int x;\toffset:8;\tsize:8;\tsigned:;",
	"\tfield:int x;\toffset:8;\tsize:8;\tsigned:0; more",
	"\tfield:x;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:int;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:int  x;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:int x ;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:int 8x;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:int xx;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:* x;\toffset:8;\tsize:8;\tsigned:0;",
	"field:int x;\toffset:8;\tsize:8;\tsigned:0;",
	"\tfield:",
	"",
};

START_TEST(hostile_lines_are_none)
{
	struct hlg_trace_field field;
	char text[200];

	snprintf(text, sizeof(text), "name: kvm_exit\nID: 77\nformat:\n%s", lines[_i]);
	hold(text);
	ck_assert_int_eq(hlg_trace_open(&trace, NULL, "x.data", "perf", &err), 0);
	ck_assert_int_eq(hlg_trace_find(trace, "kvm:kvm_exit", "x", &field, &err), 0);
	ck_assert_uint_eq(field.size, 0);
	hlg_trace_close(trace);
}
END_TEST

/* A number that is none, or a name that is too long: it is nobody's format. */
START_TEST(formats_of_nobody)
{
	static char long_name[600];
	struct hlg_trace_field field;

	hold("name: kvm_exit\nID: 7x\nformat:\n" FIELD TAIL);
	ck_assert_int_lt(look_for("exit_reason", &field), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "holds no format"));
	hlg_trace_close(trace);
	strcpy(long_name, "name: ");
	memset(long_name + 6, 'k', 300);
	strcat(long_name, "\nID: 77\n");
	hold(long_name);
	ck_assert_int_eq(hlg_trace_open(&trace, NULL, "x.data", "perf", &err), 0);
	ck_assert_ptr_null(hlg_trace_name(trace, 77));
	hlg_trace_close(trace);
}
END_TEST

/* Cut anywhere it is damaged, and nothing past the cut is looked at. */
START_TEST(cuts_are_told)
{
	size_t whole;

	hold(HEAD FIELD TAIL);
	whole = size;
	for (size = 1; size < whole; size++) {
		ck_assert_int_lt(hlg_trace_open(&trace, NULL, "x.data", "perf", &err), 0);
		ck_assert_ptr_null(trace);
		ck_assert_str_eq(err.msg,
				 "x.data: its formats of tracepoints are damaged "
				 "(record it with perf)");
	}
	size = 0;
	ck_assert_int_lt(hlg_trace_open(&trace, NULL, "x.data", "perf", &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "holds no formats"));
	for (int i = 0; i < 3; i++) {
		counts = (struct hlg_perfdata_counts){
			.missing = i == 0, .unfinished = i == 1, .facts_cut = i == 2};
		ck_assert_int_lt(hlg_trace_open(&trace, NULL, "x.data", "perf", &err), 0);
		ck_assert_str_eq(err.msg,
				 "x.data: was cut off, and with it the formats of its "
				 "tracepoints, which stand at its end (record again)");
	}
	counts = (struct hlg_perfdata_counts){0};
}
END_TEST

/* A byte that is another: whatever comes out is inside the longest record. */
START_TEST(flips_stay_inside)
{
	size_t whole;

	hold(HEAD FIELD TAIL);
	whole = size;
	for (size_t i = 0; i < whole; i++) {
		struct hlg_trace_field field;

		data[i] ^= (uint8_t)(1u << i % 8);
		if (hlg_trace_open(&trace, NULL, "x.data", "perf", &err) == 0) {
			if (hlg_trace_need(trace, "kvm:kvm_exit", "exit_reason", &field,
					   &err) == 0) {
				ck_assert_uint_le(field.offset, UINT16_MAX);
				ck_assert(field.size == 1 || field.size == 2 ||
					  field.size == 4 || field.size == 8);
			}
			hlg_trace_close(trace);
		}
		data[i] ^= (uint8_t)(1u << i % 8);
	}
}
END_TEST

/* Both ways to load a field say the same, and neither reads past the end. */
START_TEST(values_are_loaded)
{
	static const uint8_t raw[16] = {0, 1, 2, 0x83, 0xff, 0xff, 0xff, 0xff, 0x80};

	for (unsigned bits = 0; bits < 4 * 2 * 9; bits++) {
		const struct hlg_trace_field field = {.offset = bits / 8,
						      .size = (uint8_t)(1 << bits % 4),
						      .is_signed = bits / 4 % 2};
		const struct hlg_trace_load load = hlg_trace_load(&field);
		uint64_t value, want = 0;

		memcpy(&want, raw + field.offset, field.size);
		if (field.is_signed && field.size < 8 &&
		    raw[field.offset + field.size - 1] & 0x80)
			want |= UINT64_MAX << 8 * field.size;
		ck_assert_uint_le(hlg_trace_needs(&load), sizeof(raw));
		ck_assert_uint_eq(hlg_trace_loaded(&load, raw), want);
		ck_assert(hlg_trace_get(&field, raw, sizeof(raw), &value));
		ck_assert_uint_eq(value, want);
		ck_assert(hlg_trace_get(&field, raw, field.offset + field.size, &value));
		ck_assert(!hlg_trace_get(&field, raw, field.offset + field.size - 1u,
					 &value));
	}
	ck_assert_uint_eq(hlg_trace_loaded(&(struct hlg_trace_load){0}, raw), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace");
	TCase *tc = tap_case(suite, "trace");

	tcase_add_test(tc, values_are_loaded);
	tcase_add_test(tc, lines_of_the_kernel);
	tcase_add_loop_test(tc, hostile_lines_are_none, 0,
			    sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(tc, fields_are_found);
	tcase_add_test(tc, formats_are_found);
	tcase_add_loop_test(tc, hostile_fields_are_none, 0,
			    sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_test(tc, formats_of_nobody);
	tcase_add_test(tc, cuts_are_told);
	tcase_add_test(tc, flips_stay_inside);
	return tap_main(suite);
}
