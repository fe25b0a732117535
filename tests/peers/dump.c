// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfdata-dump [--split] FILE: what the reader makes of a recording, for comparison with
 * perf. One line for each sample:
 *
 *	S event pid tid time cpu ip period cpumode callchain-length raw-length
 *	digest-of-callchain digest-of-raw
 *
 * and then what else there is: E events, C counts, T tasks (with --tasks), H host.
 * --split reads it in two parts, the way two threads would.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/perfdata/perfdata.h"
#include "tools/perfdata/record.h"

struct dump {
	struct hlg_perfdata *pd;
	bool tasks;
	char *text; /* what is printed, so that a wrong guess can be forgotten */
	size_t size;
	FILE *out;
};

/* Tells what is in it, and in which order. */
static uint64_t digest(const uint8_t *at, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum = sum * 31 + at[i];
	return sum;
}

static void on_sample(void *ctx, struct hlg_perfdata_raw *raw)
{
	struct dump *d = ctx;
	struct hlg_sample s = hlg_perfdata_sample(raw);
	struct hlg_perfdata_fields f;

	if (!hlg_perfdata_decode(&f, &hlg_perfdata_event(d->pd, raw->layout->event)->attr,
				 raw->record, (uint16_t)raw->size))
		fprintf(d->out, "undecoded ");
	fprintf(d->out,
		"S %" PRIu32 " %" PRId32 " %" PRId32 " %" PRIu64 " %" PRId32 " %" PRIx64
		" %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64 "\n",
		s.event, s.pid, s.tid, s.time, s.cpu, s.ip, s.period, s.cpumode,
		f.callchain.n, f.raw.n,
		digest(f.callchain.at, f.callchain.n * sizeof(uint64_t)),
		digest(f.raw.at, f.raw.n));
}

static int on_task(void *ctx, const struct hlg_perfdata_task *t, struct hlg_err *err)
{
	struct dump *d = ctx;

	(void)err;
	if (!d->tasks)
		return 0;
	fprintf(d->out, "T %u %d %d %d %d %" PRIu64 " %" PRIx64 " %" PRIx64 " ", t->type,
		t->pid, t->tid, t->ppid, t->ptid, t->time, t->start, t->size);
	hlg_escape_print(d->out, t->name);
	fputc('\n', d->out);
	return 0;
}

static void print_events(const struct hlg_perfdata *pd)
{
	for (uint32_t i = 0; i < hlg_perfdata_n_events(pd); i++) {
		const struct hlg_perfdata_event *e = hlg_perfdata_event(pd, i);

		printf("E %u ", e->index);
		hlg_escape_print(stdout, e->name);
		putchar('\n');
	}
}

static void print_host(const struct hlg_perfdata *pd)
{
	const struct hlg_perfdata_host *h = hlg_perfdata_host(pd);

	fputs("H cpu ", stdout);
	hlg_escape_print(stdout, h->cpu ? h->cpu : "");
	printf("\nH shape %d %d %d\n", h->pipe, h->directory, h->compressed);
}

static int print_tracing(const struct hlg_perfdata *pd, struct hlg_err *err)
{
	void *data;
	size_t size;
	int rc = hlg_perfdata_tracing(pd, &data, &size, err);

	/* "\x17\x08\x44tracing" */
	if (rc == 0)
		printf("H tracing %zu %d\n", size,
		       size > 10 && memcmp((char *)data + 3, "tracing", 7) == 0);
	free(data);
	return rc;
}

static void print_counts(const struct hlg_perfdata_counts *c)
{
	printf("C samples %" PRIu64 "\nC zero_delta %" PRIu64 "\nC unknown_id %" PRIu64
	       "\nC bad_sample %" PRIu64 "\nC lost %" PRIu64 "\nC lost_samples %" PRIu64
	       "\nC bad_record %" PRIu64 "\nC no_zstd %" PRIu64
	       "\nC unknown_types %" PRIu64 "\nC left %" PRIu64 "\nC missing %" PRIu64
	       "\nC unfinished %d\nC facts_cut %d\nC corrupt %d\n",
	       c->samples, c->zero_delta, c->unknown_id, c->bad_sample, c->lost,
	       c->lost_samples, c->bad_record, c->no_zstd, c->unknown_types, c->left,
	       c->missing, c->unfinished, c->facts_cut, c->corrupt);
	for (unsigned i = 0; i < HLG_PERFDATA_TYPES; i++)
		if (c->types[i])
			printf("R %u %" PRIu64 "\n", i, c->types[i]);
}

static int read_into(struct dump *d, struct hlg_perfdata *pd, struct hlg_err *err)
{
	const struct hlg_perfdata_sink sink = {.task = on_task};

	return hlg_perfdata_read(pd, on_sample, &sink, d, err);
}

static int dump_split(struct dump *d, struct hlg_err *err)
{
	struct dump second = {.pd = d->pd, .tasks = d->tasks};
	struct hlg_perfdata *copy;
	uint64_t at;
	int rc;

	if (!hlg_perfdata_split(d->pd, &at)) {
		puts("X no split");
		return read_into(d, d->pd, err);
	}
	rc = hlg_perfdata_clone(&copy, d->pd, err);
	if (rc < 0)
		return rc;
	second.out = open_memstream(&second.text, &second.size);
	hlg_perfdata_range(d->pd, 0, at);
	hlg_perfdata_range(copy, at, UINT64_MAX);
	rc = read_into(d, d->pd, err);
	if (rc == 0)
		rc = read_into(&second, copy, err);
	fclose(second.out);
	if (rc == 0 && hlg_perfdata_split_holds(d->pd, copy, at)) {
		fwrite(second.text, 1, second.size, d->out);
		printf("X split %" PRIu64 "\n", at);
	} else if (rc == 0) {
		puts("X wrong split");
		hlg_perfdata_range(d->pd, hlg_perfdata_tell(d->pd), UINT64_MAX);
		rc = read_into(d, d->pd, err);
	}
	free(second.text);
	hlg_perfdata_close(copy);
	return rc;
}

int main(int argc, char **argv)
{
	struct dump d = {.out = stdout};
	bool split = false;
	struct hlg_err err;
	int i, rc;

	for (i = 1; i < argc - 1; i++) {
		d.tasks |= !strcmp(argv[i], "--tasks");
		split |= !strcmp(argv[i], "--split");
	}
	if (argc < 2) {
		fputs("usage: perfdata-dump [--tasks] [--split] FILE\n", stderr);
		return 2;
	}
	rc = hlg_perfdata_open(&d.pd, argv[argc - 1], &err);
	if (rc == 0)
		rc = split ? dump_split(&d, &err) : read_into(&d, d.pd, &err);
	if (rc == 0)
		rc = print_tracing(d.pd, &err);
	if (rc < 0) {
		fprintf(stderr, "perfdata-dump: %s\n", err.msg);
	} else {
		print_events(d.pd);
		print_host(d.pd);
		print_counts(hlg_perfdata_counts(d.pd));
	}
	hlg_perfdata_close(d.pd);
	return rc < 0;
}
