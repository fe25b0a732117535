// SPDX-License-Identifier: GPL-2.0-only
/* Markers: from the words of the command line to samples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tracepoint/trace.h"
#include "tools/windows/pairs.h"

/* "port:N" is Hyperlight's way to say kvm:kvm_pio:port=N. */
static bool parse_marker(struct hlg_marker *marker, const char *text, size_t n)
{
	char *word = strndup(text, n), *equals, *colon;
	bool ok = false;

	if (!word)
		return false;
	equals = strchr(word, '=');
	if (equals)
		*equals = '\0';
	colon = strrchr(word, ':');
	if (!equals && strncmp(word, "port:", 5) == 0) {
		marker->event = strdup("kvm:kvm_pio");
		marker->field = strdup("port");
		ok = hlg_number_u64(word + 5, &marker->value) && marker->field;
	} else if (equals && colon && colon[1] && strchr(word, ':') != colon) {
		*colon = '\0';
		marker->event = strdup(word);
		marker->field = strdup(colon + 1);
		ok = hlg_number_u64(equals + 1, &marker->value) && marker->field;
	} else if (!equals && colon && colon[1] && colon != word &&
		   strchr(word, ':') == colon) {
		marker->event = strdup(word);
		ok = true;
	}
	free(word);
	return ok && marker->event;
}

int hlg_between_parse(struct hlg_between *between, const char *text, struct hlg_err *err)
{
	const char *dots = strstr(text, "..");

	*between = (struct hlg_between){0};
	if (!dots || !parse_marker(&between->from, text, (size_t)(dots - text)) ||
	    !parse_marker(&between->to, dots + 2, strlen(dots + 2)))
		return hlg_err_set(
			err, HLG_EINPUT,
			"--between=%s: not two markers (use port:101..port:108 "
			"or SYSTEM:NAME:FIELD=VALUE..SYSTEM:NAME:FIELD=VALUE)",
			text);
	if (strcmp(between->from.event, between->to.event) != 0)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--between=%s: markers of two tracepoints (both must be "
			"of the one that leads the group)",
			text);
	return 0;
}

void hlg_between_finish(struct hlg_between *between)
{
	free(between->from.event);
	free(between->from.field);
	free(between->to.event);
	free(between->to.field);
}

#define MOST_VALUES 8

/* Values that the begin's field had, in the order they came: some of them. */
struct values {
	uint64_t values[MOST_VALUES];
	size_t n;
	bool more;
};

struct marking {
	const struct hlg_between *between;
	const char *path;
	struct hlg_trace *trace;
	struct hlg_trace_field from, to;
	bool began, ended; /* is a sample the one, the other? */
	struct values seen;
};

/* Where the fields stand, once the formats are there. */
static int find_fields(struct marking *m, const struct hlg_perfdata *pd,
		       struct hlg_err *err)
{
	const struct hlg_between *b = m->between;
	int rc = 0;

	if (m->trace || (!b->from.field && !b->to.field))
		return 0;
	rc = hlg_trace_open(&m->trace, pd, m->path,
			    "perf record -e '{TRACEPOINT,EVENTS}:S' -c 1", err);
	if (rc == 0 && b->from.field)
		rc = hlg_trace_need(m->trace, b->from.event, b->from.field, &m->from,
				    err);
	if (rc == 0 && b->to.field)
		rc = hlg_trace_need(m->trace, b->to.event, b->to.field, &m->to, err);
	return rc;
}

static int on_event(void *ctx, const struct hlg_perfdata *pd,
		    const struct hlg_perfdata_event *event, bool *is, struct hlg_err *err)
{
	struct marking *m = ctx;

	*is = event->attr.type == PERF_TYPE_TRACEPOINT &&
	      strcmp(event->name, m->between->from.event) == 0;
	return *is ? find_fields(m, pd, err) : 0;
}

static void add_value(struct values *seen, uint64_t value)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->values[i] == value)
			return;
	if (seen->n < MOST_VALUES)
		seen->values[seen->n++] = value;
	else
		seen->more = true;
}

static bool is_marker(const struct hlg_marker *marker,
		      const struct hlg_trace_field *field,
		      const struct hlg_perfdata_bytes *data, struct values *seen)
{
	uint64_t value;

	if (!marker->field)
		return true;
	if (!hlg_trace_get(field, data->at, data->n, &value))
		return false;
	add_value(seen, value);
	return value == marker->value;
}

static uint8_t mark(void *ctx, const struct hlg_perfdata_raw *raw)
{
	struct values others = {0};
	struct marking *m = ctx;
	struct hlg_perfdata_bytes data;
	bool begins, ends;

	if (!hlg_perfdata_data(raw, &data))
		data = (struct hlg_perfdata_bytes){0};
	begins = is_marker(&m->between->from, &m->from, &data, &m->seen);
	ends = is_marker(&m->between->to, &m->to, &data, &others);
	m->began |= begins;
	m->ended |= ends;
	return (begins ? HLG_WINDOW_FROM : 0) | (ends ? HLG_WINDOW_TO : 0);
}

/* A marker that is in no sample; what may have been meant are values of its field. */
static int fail_unmarked(const struct marking *m, struct hlg_err *err)
{
	const struct hlg_marker *from = &m->between->from, *to = &m->between->to,
				*none = m->began ? to : from;
	bool known = from->field && strcmp(none->field, from->field) == 0;
	char values[MOST_VALUES * 24] = "";

	for (size_t i = 0; known && i < m->seen.n; i++)
		snprintf(values + strlen(values), sizeof(values) - strlen(values),
			 "%s%" PRIu64, i ? ", " : "", m->seen.values[i]);
	if (values[0] && m->seen.more)
		strcat(values, ", ...");
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: no sample of %s has %s=%" PRIu64 " (use %s%s%s%s)",
			   m->path, none->event, none->field, none->value,
			   values[0] ? "one of " : "another marker",
			   values[0] ? none->field : "", values[0] ? ": " : "", values);
}

int hlg_between_read(struct hlg_windows *w, const char *path, struct hlg_profile *profile,
		     const struct hlg_between *between, struct hlg_err *err)
{
	struct marking m = {.between = between, .path = path};
	const struct hlg_windows_marker marker = {on_event, mark, between->from.event,
						  &m};
	int rc = hlg_windows_read(w, path, profile, &marker, err);

	hlg_trace_close(m.trace);
	if (rc == 0 && w->period != 1)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: not each %s has a sample, so markers are missing "
				 "(record with -c 1)",
				 path, between->from.event);
	if (rc == 0 && w->n_rows > 0 && !(m.began && m.ended))
		rc = fail_unmarked(&m, err);
	return rc;
}
