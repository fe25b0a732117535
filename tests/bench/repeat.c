// SPDX-License-Identifier: GPL-2.0-only
/*
 * repeat [--samples=N] [--cpus=N] [--block=KIB] IN.data OUT.data
 *
 * Makes a long recording of a short one: the samples of IN again and again, in time
 * order, each round of them later than the one before. Everything else (header, events,
 * mappings, features) is copied once, so that perf reads OUT as it reads IN.
 *
 * What makes perf's work real is the order of the records. perf record empties the buffer
 * of one CPU after the other and then writes FINISHED_ROUND; perf script sorts what lies
 * between those marks. A buffer is read when it is half full, and is 512 KiB by default:
 * so OUT has a block of at most 256 KiB per CPU between two marks, or of --block.
 */
#include "tests/bench/recording.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK_KIB_MAX = 1024 * 1024,
	CPUS_MAX = 4096,
};

struct repeat {
	struct recording in;
	FILE *out;
	uint64_t samples;
	uint64_t cpus;
	uint64_t block_kib;
	uint64_t span;       /* from one copy of the samples to the next, ns */
	uint64_t next_other; /* first of in.others that is not written yet */
	uint64_t data_size;  /* written so far */
};

static bool put(struct repeat *r, const void *bytes, size_t size)
{
	r->data_size += size;
	return fwrite(bytes, size, 1, r->out) == 1;
}

static bool put_round(struct repeat *r)
{
	struct perf_event_header h = {
		.type = PERF_USER_FINISHED_ROUND,
		.size = sizeof(h),
	};

	return put(r, &h, sizeof(h));
}

/* @time_at: where the record has its time, 0 for none. */
static uint8_t *copy_record(struct repeat *r, const struct record *rec, size_t time_at,
			    uint64_t time)
{
	static uint8_t copy[UINT16_MAX];

	memcpy(copy, r->in.map + rec->offset, rec->size);
	if (time_at)
		memcpy(copy + time_at, &time, sizeof(time));
	return copy;
}

static uint64_t sample_time(const struct repeat *r, uint64_t i)
{
	const struct records *s = &r->in.samples;

	return s->at[i % s->n].time + i / s->n * r->span;
}

static bool put_sample(struct repeat *r, uint64_t i)
{
	const struct record *rec = &r->in.samples.at[i % r->in.samples.n];
	const struct layout *l = &r->in.layouts[rec->layout];
	uint8_t *copy = copy_record(r, rec, l->at[FIELD_TIME], sample_time(r, i));
	uint32_t cpu = (uint32_t)(i % r->cpus);

	if (r->cpus > 1 && l->at[FIELD_CPU])
		memcpy(copy + l->at[FIELD_CPU], &cpu, sizeof(cpu));
	return put(r, copy, rec->size);
}

static bool put_others(struct repeat *r, uint64_t until)
{
	const struct records *o = &r->in.others;

	while (r->next_other < o->n && o->at[r->next_other].time <= until) {
		const struct record *rec = &o->at[r->next_other++];
		uint16_t back = r->in.layouts[rec->layout].time_back;
		size_t time_at =
			rec->type < PERF_USER_FIRST && back ? rec->size - back : 0;

		if (!put(r, copy_record(r, rec, time_at, rec->time), rec->size))
			return false;
	}
	return true;
}

static bool put_data(struct repeat *r)
{
	const struct records *s = &r->in.samples;
	uint64_t largest = 1, round, first, i, cpu;

	for (i = 0; i < s->n; i++)
		if (s->at[i].size > largest)
			largest = s->at[i].size;
	round = r->block_kib * 1024 / largest;
	round = (round ? round : 1) * r->cpus;
	for (first = 0; first < r->samples; first += round) {
		uint64_t end = r->samples - first > round ? first + round : r->samples;

		if (!put_others(r, sample_time(r, end - 1)))
			return false;
		for (cpu = 0; cpu < r->cpus; cpu++)
			for (i = first + cpu; i < end; i += r->cpus)
				if (!put_sample(r, i))
					return false;
		if (!put_round(r))
			return false;
	}
	return put_others(r, UINT64_MAX) && put_round(r);
}

/*
 * The feature table stands right after the data and holds places in the file, which move
 * by @grown; SAMPLE_TIME holds the time of the last sample.
 */
static bool move_features(struct repeat *r, uint8_t *tail, uint64_t tail_size,
			  uint64_t grown)
{
	const struct file_header *h = &r->in.header;
	uint64_t old = r->in.map_size - tail_size;
	uint64_t last = sample_time(r, r->samples - 1), at = 0, bit;

	for (bit = 0; bit < FEAT_BITS; bit++) {
		struct file_section s;

		if (!(h->features[bit / 64] >> bit % 64 & 1))
			continue;
		if (tail_size - at < sizeof(s))
			return false;
		memcpy(&s, tail + at, sizeof(s));
		if (s.offset < old || s.offset - old > tail_size ||
		    s.size > tail_size - (s.offset - old))
			return false;
		if (bit == FEAT_SAMPLE_TIME && s.size >= 16)
			memcpy(tail + (s.offset - old) + 8, &last, sizeof(last));
		s.offset += grown;
		memcpy(tail + at, &s, sizeof(s));
		at += sizeof(s);
	}
	return true;
}

static const char *put_features(struct repeat *r)
{
	const struct file_header *h = &r->in.header;
	uint64_t old = h->data.offset + h->data.size;
	uint64_t size = r->in.map_size - old;
	const char *problem = NULL;
	uint8_t *tail = malloc(size + 1);

	if (!tail)
		return strerror(ENOMEM);
	memcpy(tail, r->in.map + old, size);
	if (!move_features(r, tail, size, r->data_size - h->data.size))
		problem = "header features of the input are damaged (record it again)";
	else if (fwrite(tail, 1, size, r->out) != size)
		problem = strerror(errno);
	free(tail);
	return problem;
}

static const char *put_file(struct repeat *r)
{
	const struct file_header *h = &r->in.header;
	const char *problem;

	if (fwrite(r->in.map, h->data.offset, 1, r->out) != 1 || !put_data(r))
		return strerror(errno);
	problem = put_features(r);
	if (problem)
		return problem;
	if (fseeko(r->out, offsetof(struct file_header, data.size), SEEK_SET) ||
	    fwrite(&r->data_size, sizeof(r->data_size), 1, r->out) != 1)
		return strerror(errno);
	return NULL;
}

/* A recording whose task ended early would give samples of a task perf has forgotten. */
static const char *plan_times(struct repeat *r)
{
	struct records *s = &r->in.samples, *o = &r->in.others;
	uint64_t length = s->at[s->n - 1].time - s->at[0].time;
	uint64_t shift, end, i;

	r->span = length + length / s->n + 1;
	if (__builtin_mul_overflow((r->samples - 1) / s->n, r->span, &shift) ||
	    __builtin_add_overflow(s->at[s->n - 1].time, shift, &end) || end > INT64_MAX)
		return "times would overflow (give fewer --samples)";
	for (i = 0; i < o->n; i++)
		if (o->at[i].type == PERF_RECORD_EXIT && o->at[i].time <= INT64_MAX)
			o->at[i].time += shift;
	records_sort(o);
	return NULL;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && text[0] >= '0' && text[0] <= '9' && !*end && *value &&
	       *value <= max;
}

static int usage(void)
{
	fputs("usage: repeat [--samples=N] [--cpus=N] [--block=KIB] IN.data OUT.data\n",
	      stderr);
	return 2;
}

static int run(struct repeat *r, const char *in, const char *out)
{
	const char *problem = recording_open(&r->in, in);

	if (!problem)
		problem = plan_times(r);
	if (problem) {
		fprintf(stderr, "%s: %s\n", in, problem);
		return 1;
	}
	/* Never over an existing file: OUT could be IN. */
	r->out = fopen(out, "wxe");
	if (!r->out) {
		fprintf(stderr, "%s: %s (give the name of a new file)\n", out,
			strerror(errno));
		return 1;
	}
	setvbuf(r->out, NULL, _IOFBF, 1024 * 1024);
	problem = put_file(r);
	if (fclose(r->out) && !problem)
		problem = strerror(errno);
	if (!problem)
		return 0;
	fprintf(stderr, "%s: %s\n", out, problem);
	unlink(out);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"samples", required_argument, NULL, 's'},
		{"cpus", required_argument, NULL, 'c'},
		{"block", required_argument, NULL, 'b'},
		{NULL, 0, NULL, 0},
	};
	struct repeat r = {.samples = 10000000, .cpus = 1, .block_kib = 256};
	int c, status;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's' && parse_number(optarg, INT64_MAX, &r.samples))
			continue;
		if (c == 'c' && parse_number(optarg, CPUS_MAX, &r.cpus))
			continue;
		if (c == 'b' && parse_number(optarg, BLOCK_KIB_MAX, &r.block_kib))
			continue;
		if (c != '?')
			fprintf(stderr, "%s: not a number in range (give 1 or more)\n",
				optarg);
		return usage();
	}
	if (argc - optind != 2)
		return usage();
	status = run(&r, argv[optind], argv[optind + 1]);
	recording_close(&r.in);
	return status;
}
