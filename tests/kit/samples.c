// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/samples.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS         " \t"
#define DEFAULT_PERIOD 1000000
#define CPUMODE_MAX    PERF_RECORD_MISC_CPUMODE_MASK

static void *grow(void *array, size_t n, size_t size)
{
	void *p;

	if (n & (n - 1))
		return array;
	p = reallocarray(array, n ? n * 2 : 1, size);
	if (!p)
		abort();
	return p;
}

/* The next word of *at, which moves past it; NULL at the end. */
static char *word(char **at)
{
	char *w;

	*at += strspn(*at, BLANKS);
	if (!**at)
		return NULL;
	w = strsep(at, BLANKS);
	if (!*at)
		*at = w + strlen(w);
	return w;
}

static bool number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

/* A number, or missing for "-". */
static bool field(char **at, uint64_t max, uint64_t missing, uint64_t *value)
{
	const char *w = word(at);

	if (w && !strcmp(w, "-")) {
		*value = missing;
		return true;
	}
	return number(w, max, value);
}

/* Turns \xHH into bytes, in place. */
static bool unescape(char *s)
{
	char *out = s;

	while (*s) {
		unsigned byte;
		int used = 0;

		if (*s != '\\') {
			*out++ = *s++;
			continue;
		}
		if (sscanf(s, "\\x%2x%n", &byte, &used) != 1 || used != 4 || !byte)
			return false;
		*out++ = (char)byte;
		s += used;
	}
	*out = '\0';
	return true;
}

static size_t find_event(const struct samples *s, const char *name)
{
	size_t i = 0;

	while (i < s->n_events && strcmp(s->events[i].name, name))
		i++;
	return i;
}

static struct samples_event *add_event(struct samples *s, const char *name)
{
	struct samples_event *event;

	s->events = grow(s->events, s->n_events, sizeof(*s->events));
	event = &s->events[s->n_events++];
	*event = (struct samples_event){.name = strdup(name)};
	if (!event->name)
		abort();
	event->attr.size = sizeof(event->attr);
	return event;
}

static bool set_attr(struct perf_event_attr *attr, const char *key, uint64_t value)
{
	if (!strcmp(key, "sample_freq")) {
		attr->freq = 1;
		attr->sample_freq = value;
		return true;
	}
	if (!strcmp(key, "type"))
		attr->type = (__u32)value;
	else if (!strcmp(key, "config"))
		attr->config = value;
	else if (!strcmp(key, "sample_period"))
		attr->sample_period = value;
	else if (!strcmp(key, "sample_type"))
		attr->sample_type = value;
	else if (!strcmp(key, "precise_ip"))
		attr->precise_ip = value & 3;
	else if (!strcmp(key, "exclude_host"))
		attr->exclude_host = value & 1;
	else if (!strcmp(key, "exclude_guest"))
		attr->exclude_guest = value & 1;
	else if (!strcmp(key, "exclude_kernel"))
		attr->exclude_kernel = value & 1;
	else if (!strcmp(key, "exclude_user"))
		attr->exclude_user = value & 1;
	else
		return false;
	return true;
}

static bool read_event(struct samples *s, char *at)
{
	char *name = word(&at);
	struct samples_event *event;
	char *pair;

	if (!name || !unescape(name) || find_event(s, name) < s->n_events)
		return false;
	event = add_event(s, name);
	while ((pair = word(&at))) {
		char *key = strsep(&pair, "=");
		uint64_t value;

		if (!number(pair, UINT64_MAX, &value))
			return false;
		if (!set_attr(&event->attr, key, value))
			return false;
	}
	return true;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* What perf makes of these names; any other is a clock. */
static void set_kind(struct perf_event_attr *attr, const char *name)
{
	attr->type = PERF_TYPE_HARDWARE;
	if (begins(name, "cycles")) {
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
	} else if (begins(name, "branches")) {
		attr->config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	} else {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
	}
}

static size_t event_of(struct samples *s, const char *name)
{
	size_t i = find_event(s, name);
	struct samples_event *event;

	if (i < s->n_events)
		return i;
	event = add_event(s, name);
	set_kind(&event->attr, name);
	event->attr.sample_period = DEFAULT_PERIOD;
	return i;
}

/* Takes "COUNTx " off the front; 1 without it, 0 for a bad one. */
static uint64_t read_count(char **at)
{
	size_t digits = strspn(*at, "0123456789");
	uint64_t count;

	/* cpumode may be written as 0x5 */
	if (!digits || (*at)[digits] != 'x' || !strchr(BLANKS, (*at)[digits + 1]))
		return 1;
	(*at)[digits] = '\0';
	if (!number(*at, UINT64_MAX, &count))
		return 0;
	*at += digits + 1;
	return count;
}

static bool read_chain(struct samples *s, char *at)
{
	const char *w;

	s->next.chain = s->n_words;
	s->next.n_chain = 0;
	while ((w = word(&at))) {
		s->words = grow(s->words, s->n_words, sizeof(*s->words));
		if (!number(w, UINT64_MAX, &s->words[s->n_words++]))
			return false;
		s->next.n_chain++;
	}
	return true;
}

static bool read_ioctl(struct samples *s, char *at)
{
	const char *w = word(&at);
	uint64_t cmd = 0;

	if (w && !number(w, UINT32_MAX, &cmd))
		return false;
	s->next.ioctl = w ? (int64_t)cmd : -1;
	return true;
}

static bool read_row(struct samples *s, char *at)
{
	struct samples_row row = s->next;
	uint64_t cpumode, pid, tid, cpu;
	uint64_t missing = (uint32_t)-1;

	row.count = read_count(&at);
	if (!row.count || !number(word(&at), CPUMODE_MAX, &cpumode) ||
	    !field(&at, UINT64_MAX, 0, &row.ip) ||
	    !field(&at, UINT64_MAX, UINT64_MAX, &row.period) ||
	    !field(&at, INT32_MAX, missing, &pid) ||
	    !field(&at, INT32_MAX, missing, &tid) ||
	    !field(&at, INT32_MAX, missing, &cpu) ||
	    !field(&at, UINT64_MAX, UINT64_MAX, &row.time))
		return false;
	at += strspn(at, BLANKS);
	if (!*at || !unescape(at))
		return false;
	row.cpumode = (uint8_t)cpumode;
	row.pid = (int32_t)pid;
	row.tid = (int32_t)tid;
	row.cpu = (int32_t)cpu;
	row.event = event_of(s, at);
	if (row.period == UINT64_MAX)
		row.period = s->events[row.event].attr.sample_period;
	s->rows = grow(s->rows, s->n_rows, sizeof(*s->rows));
	s->rows[s->n_rows++] = row;
	return true;
}

static bool read_line(struct samples *s, char *text)
{
	text[strcspn(text, "\n")] = '\0';
	text += strspn(text, BLANKS);
	if (!*text || *text == '#')
		return true;
	if (!strncmp(text, "event ", 6))
		return read_event(s, text + 6);
	if (!strncmp(text, "chain", 5))
		return read_chain(s, text + 5);
	if (!strncmp(text, "ioctl", 5))
		return read_ioctl(s, text + 5);
	return read_row(s, text);
}

int samples_read(struct samples *s, const char *path, unsigned *line)
{
	char *text = NULL;
	size_t room = 0;
	bool good = true;
	int error = 0;
	FILE *f;

	*s = (struct samples){.next.ioctl = -1};
	*line = 0;
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (good && getline(&text, &room, f) >= 0) {
		++*line;
		good = read_line(s, text);
	}
	if (good && ferror(f)) {
		error = errno;
		*line = 0;
		good = false;
	}
	free(text);
	fclose(f);
	errno = error;
	return good ? 0 : -1;
}

void samples_finish(struct samples *s)
{
	for (size_t i = 0; i < s->n_events; i++)
		free(s->events[i].name);
	free(s->events);
	free(s->rows);
	free(s->words);
	*s = (struct samples){0};
}
