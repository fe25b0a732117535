// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/comment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX       "hlguest: "
#define NO_MEMORY    "out of memory"
#define MAX_PRECISE  3 /* perf_event_attr.precise_ip has two bits */
#define N_TOTALS     (sizeof(totals) / sizeof(totals[0]))
#define TOTAL(field) offsetof(struct hlg_saved_totals, field)

/* The totals by name, and how many numbers each is. */
static const struct {
	const char *name;
	size_t at, n;
} totals[] = {
	{"seen", TOTAL(seen), 2},
	{"deselected", TOTAL(deselected), 2},
	{"host", TOTAL(host), 2},
	{"guest", TOTAL(guest), 2},
	{"unnamed", TOTAL(unnamed), 2},
	{"untold", TOTAL(untold), 1},
	{"unrecorded", TOTAL(unrecorded), 1},
	{"overflow", TOTAL(overflow), 1},
	{"samples", TOTAL(samples), 1},
	{"lost", TOTAL(lost), 1},
	{"throttled", TOTAL(throttled), 1},
	{"skipped", TOTAL(skipped), 1},
	{"left", TOTAL(left), 1},
};

static const char *const keys[] = {"pid", "tid", "cpu"};
static const unsigned key_bits[] = {HLG_BY_PID, HLG_BY_TID, HLG_BY_CPU};

static void write_text(FILE *f, const char *text)
{
	for (; *text; text++)
		if (*text > ' ' && *text < 0x7f && *text != '%' && *text != ',')
			fputc(*text, f);
		else
			fprintf(f, "%%%02x", (unsigned)(unsigned char)*text);
}

static void write_key(FILE *f, const char *name, const struct hlg_saved_key *key)
{
	fprintf(f, "%s=%" PRIu32 ",%" PRId32 ",%" PRId32 ",%" PRId32 ",", name,
		key->event, key->pid, key->tid, key->cpu);
}

static void write_total(FILE *f, const struct hlg_saved_totals *sums, size_t i)
{
	const uint64_t *value = (const void *)((const char *)sums + totals[i].at);

	if (value[0] == 0 && (totals[i].n == 1 || value[1] == 0))
		return;
	fprintf(f, " %s=%" PRIu64, totals[i].name, value[0]);
	if (totals[i].n > 1)
		fprintf(f, ",%" PRIu64, value[1]);
}

static void write_comment(FILE *f, const struct hlg_saved *saved)
{
	const char *before = " by=";

	fputs(PREFIX "version=2", f);
	for (size_t i = 0; i < 3; i++)
		if (saved->by & key_bits[i])
			fprintf(f, "%s%s", before, keys[i]), before = ",";
	for (size_t i = 0; i < N_TOTALS; i++)
		write_total(f, &saved->totals, i);
	fputc('\n', f);
}

void hlg_comment_write(FILE *f, const struct hlg_saved *saved)
{
	write_comment(f, saved);
	for (uint32_t i = 0; i < saved->events.n; i++) {
		const struct hlg_saved_event *event = HLG_SAVED(event, &saved->events, i);

		fprintf(f, "event=%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",",
			event->precise_ip, event->kind, event->member);
		write_text(f, event->name);
		fputc('\n', f);
	}
	for (uint32_t i = 0; i < saved->images.n; i++) {
		const struct hlg_saved_image *image = HLG_SAVED(image, &saved->images, i);

		fprintf(f, "image=%s,0x%" PRIx64 ",0x%" PRIx64 "\n",
			image->map ? "map" : "elf", image->base, image->bias);
	}
	for (uint32_t i = 0; i < saved->series.n; i++) {
		const struct hlg_saved_series *s = HLG_SAVED(series, &saved->series, i);

		write_key(f, "series", &s->key);
		fprintf(f, "%016" PRIx64 "%016" PRIx64 "\n", (uint64_t)(s->squares >> 64),
			(uint64_t)s->squares);
	}
	for (uint32_t i = 0; i < saved->hosts.n; i++) {
		const struct hlg_saved_host *row = HLG_SAVED(host, &saved->hosts, i);

		write_key(f, "hostrow", &row->key);
		fprintf(f, "%" PRIu64 ",%" PRIu64 ",", row->count.samples,
			row->count.period);
		write_text(f, row->dso);
		fputc(',', f);
		write_text(f, row->comm);
		fputc('\n', f);
	}
}

/* Takes a number and what is behind it ("" for the end) off *text. */
static bool take_u64(const char **text, const char *behind, uint64_t *value)
{
	size_t n = strcspn(*text, ",");
	char word[32];

	if (n >= sizeof(word) || (*text)[n] != behind[0])
		return false;
	memcpy(word, *text, n);
	word[n] = '\0';
	*text += n + (behind[0] != '\0');
	return hlg_number_u64(word, value);
}

static bool take_i32(const char **text, int32_t *value)
{
	uint64_t number;

	if (strncmp(*text, "-1,", 3) == 0) {
		*text += 3;
		*value = -1;
		return true;
	}
	if (!take_u64(text, ",", &number) || number > INT32_MAX)
		return false;
	*value = (int32_t)number;
	return true;
}

static bool take_key(const char **text, const struct hlg_saved *saved,
		     struct hlg_saved_key *key)
{
	const int32_t *told[] = {&key->pid, &key->tid, &key->cpu};
	uint64_t event;

	if (!take_u64(text, ",", &event) || event > INT32_MAX ||
	    !take_i32(text, &key->pid) || !take_i32(text, &key->tid) ||
	    !take_i32(text, &key->cpu))
		return false;
	key->event = (uint32_t)event;
	for (size_t i = 0; i < 3; i++)
		if (*told[i] != -1 && !(saved->by & key_bits[i]))
			return false;
	return true;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Takes text up to the next comma or the end, decoded and escaped; NULL if malformed. */
static const char *take_text(struct hlg_saved *saved, const char **text)
{
	size_t len = strcspn(*text, ","), n = 0;
	char *copy = hlg_saved_arena_text(&saved->arena, *text, len);

	for (size_t i = 0; copy && i < len; i++) {
		int high = -1, low = -1;

		if (copy[i] == '%' && i + 2 < len) {
			high = hex_digit(copy[i + 1]);
			low = hex_digit(copy[i + 2]);
		}
		if (copy[i] == '%') {
			if (high < 0 || low < 0 || high + low == 0)
				return NULL;
			copy[n++] = (char)(high << 4 | low);
			i += 2;
		} else {
			copy[n++] = copy[i];
		}
	}
	*text += len;
	if (!copy)
		return NULL;
	copy[n] = '\0';
	return hlg_saved_text(saved, copy);
}

static const char *read_total(struct hlg_comments *c, size_t i, const char *value)
{
	uint64_t *to = (void *)((char *)&c->saved->totals + totals[i].at);

	if (c->given & 1u << i)
		return "a number is told twice";
	c->given |= 1u << i;
	if (totals[i].n > 1 && !take_u64(&value, ",", to++))
		return "a number is malformed";
	return take_u64(&value, "", to) ? NULL : "a number is malformed";
}

static const char *read_by(struct hlg_comments *c, const char *value)
{
	if (c->given & 1u << N_TOTALS)
		return "by is told twice";
	c->given |= 1u << N_TOTALS;
	do {
		size_t len = strcspn(value, ","), i = 0;

		while (i < 3 && (strlen(keys[i]) != len || memcmp(keys[i], value, len)))
			i++;
		if (i == 3)
			return "by has a word that is not known";
		c->saved->by |= key_bits[i];
		value += len;
	} while (*value++ == ',');
	return NULL;
}

static const char *read_event(struct hlg_comments *c, const char *value)
{
	struct hlg_saved_event *event = hlg_saved_more(&c->saved->events, sizeof(*event));
	uint64_t precise, kind, member;

	if (!event)
		return NO_MEMORY;
	event->name = ""; /* until it is known */
	if (!take_u64(&value, ",", &precise) || precise > MAX_PRECISE ||
	    !take_u64(&value, ",", &kind) || kind > HLG_EVENT_BREAKPOINT ||
	    !take_u64(&value, ",", &member) || member > 1)
		return "an event is malformed";
	event->precise_ip = (uint32_t)precise;
	event->kind = (uint32_t)kind;
	event->member = (uint32_t)member;
	event->name = take_text(c->saved, &value);
	return event->name && *value == '\0' ? NULL : "an event is malformed";
}

static const char *read_image(struct hlg_comments *c, const char *value)
{
	struct hlg_saved_image *image;
	bool map = strncmp(value, "map,", 4) == 0;

	if (c->n_images == c->saved->images.n)
		return "there are more images than mappings";
	image = HLG_SAVED(image, &c->saved->images, c->n_images++);
	image->map = map;
	if (!map && strncmp(value, "elf,", 4) != 0)
		return "an image is malformed";
	value += 4;
	if (!take_u64(&value, ",", &image->base) || !take_u64(&value, "", &image->bias))
		return "an image is malformed";
	return NULL;
}

static const char *read_series(struct hlg_comments *c, const char *value)
{
	struct hlg_saved_series *series =
		hlg_saved_more(&c->saved->series, sizeof(*series));

	if (!series)
		return NO_MEMORY;
	if (!take_key(&value, c->saved, &series->key) || strlen(value) != 32)
		return "a series is malformed";
	for (; *value; value++) {
		int digit = hex_digit(*value);

		if (digit < 0)
			return "a series is malformed";
		series->squares = series->squares << 4 | (unsigned)digit;
	}
	return NULL;
}

static const char *read_hostrow(struct hlg_comments *c, const char *value)
{
	struct hlg_saved_host *row = hlg_saved_more(&c->saved->hosts, sizeof(*row));
	bool ok;

	if (!row)
		return NO_MEMORY;
	ok = take_key(&value, c->saved, &row->key) &&
	     take_u64(&value, ",", &row->count.samples) &&
	     take_u64(&value, ",", &row->count.period);
	row->dso = ok ? take_text(c->saved, &value) : NULL;
	ok = row->dso && *value++ == ',';
	row->comm = ok ? take_text(c->saved, &value) : NULL;
	ok = row->comm && *value == '\0';
	return ok ? NULL : "a host row is malformed";
}

/* One word of the comment. */
static const char *read_word(struct hlg_comments *c, const char *word)
{
	if (!c->version) {
		c->version = strcmp(word, "version=2") == 0;
		return c->version ? NULL : "it is of a version that is not known here";
	}
	if (strncmp(word, "by=", 3) == 0)
		return read_by(c, word + 3);
	for (size_t i = 0; i < N_TOTALS; i++) {
		size_t len = strlen(totals[i].name);

		if (strncmp(word, totals[i].name, len) == 0 && word[len] == '=')
			return read_total(c, i, word + len + 1);
	}
	return "its comment has a key that is not known";
}

const char *hlg_comment_read(struct hlg_comments *c, const char *text)
{
	const char *problem = NULL;

	if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return NULL;
	if (c->version)
		return "it has two comments of hlguest's";
	text += strlen(PREFIX);
	for (bool more = true; more && !problem;) {
		size_t len = strcspn(text, " ");
		char word[128];

		if (len >= sizeof(word))
			return "its comment has a word that is too long";
		memcpy(word, text, len);
		word[len] = '\0';
		problem = read_word(c, word);
		more = text[len] == ' ';
		text += len + more;
	}
	return problem;
}

const char *hlg_comment_read_row(struct hlg_comments *c, const char *text)
{
	static const struct {
		const char *name;
		const char *(*read)(struct hlg_comments *c, const char *value);
	} readers[] = {{"event=", read_event},
		       {"image=", read_image},
		       {"series=", read_series},
		       {"hostrow=", read_hostrow}};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		if (strncmp(text, readers[i].name, strlen(readers[i].name)) == 0)
			return readers[i].read(c, text + strlen(readers[i].name));
	return "a row has a key that is not known";
}

const char *hlg_comment_check(const struct hlg_comments *c)
{
	if (!c->version)
		return "it is not a profile that hlguest saved";
	if (c->n_images != c->saved->images.n)
		return "there are more mappings than images";
	if (c->saved->totals.overflow > 1)
		return "a number is malformed";
	return NULL;
}
