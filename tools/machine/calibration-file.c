// SPDX-License-Identifier: GPL-2.0-only
#include "tools/machine/calibration-file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "symtab/file.h"

#define LARGEST (4 << 20) /* bytes; a real one has less than 100 KiB */

void hlg_calibration_file_place(char path[static PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = 0;

	path[0] = '\0';
	if (state && state[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/hlguest/calibration.json", state);
	else if (home && home[0] == '/' && access(home, F_OK) == 0)
		n = snprintf(path, PATH_MAX, "%s/.local/state/hlguest/calibration.json",
			     home);
	if (n >= PATH_MAX)
		path[0] = '\0';
}

/* Where the modifiers of an event's name begin: at its last colon. */
static size_t stem(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? (size_t)(colon - name) : strlen(name);
}

const struct hlg_calibration_file_event *hlg_calibration_file_find(
	const struct hlg_calibration_file *calibrated, const char *name,
	unsigned precise_ip)
{
	size_t n = stem(name);

	for (size_t i = 0; i < calibrated->n_events; i++) {
		const struct hlg_calibration_file_event *event = &calibrated->events[i];
		bool precise = strchr(event->name + stem(event->name), 'p') != NULL;

		if (stem(event->name) == n && strncmp(event->name, name, n) == 0 &&
		    precise == (precise_ip > 0))
			return event;
	}
	return NULL;
}

const char *hlg_calibration_file_within(char to[static 48], uint64_t window)
{
	if (window == 0)
		return "95 % on the right instruction";
	snprintf(to, 48, "95 %% within %" PRIu64 " instruction%s", window,
		 window == 1 ? "" : "s");
	return to;
}

#if HLG_HAVE_JANSSON
#include <jansson.h>

static void take_text(char *to, size_t size, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	snprintf(to, size, "%s", text ? text : "");
}

static bool take_event(struct hlg_calibration_file *calibrated, const json_t *object)
{
	struct hlg_calibration_file_event *event =
		&calibrated->events[calibrated->n_events];
	const json_t *window = json_object_get(object, "window");
	json_int_t value = json_integer_value(window);

	take_text(event->name, sizeof(event->name), object, "event");
	if (!event->name[0] || value < 0 || value > HLG_CALIBRATION_FILE_WINDOW ||
	    !(json_is_integer(window) || json_is_null(window)))
		return false;
	event->known = json_is_integer(window);
	event->window = (uint64_t)value;
	calibrated->n_events++;
	return true;
}

static bool take(struct hlg_calibration_file *calibrated, const json_t *root)
{
	const json_t *machine = json_object_get(root, "machine");
	const json_t *crossings = json_object_get(root, "crossings");
	const json_t *ring0 = json_object_get(crossings, "ring0_emulated");
	const json_t *events =
		json_object_get(json_object_get(root, "landing"), "events");

	if (json_integer_value(json_object_get(root, "hlguest_calibration")) != 1 ||
	    !json_is_object(machine) ||
	    json_array_size(events) > HLG_CALIBRATION_FILE_EVENTS)
		return false;
	take_text(calibrated->cpu, sizeof(calibrated->cpu), machine, "cpu");
	take_text(calibrated->kernel, sizeof(calibrated->kernel), machine, "kernel");
	take_text(calibrated->date, sizeof(calibrated->date), machine, "date");
	calibrated->holds = json_is_true(json_object_get(root, "holds"));
	calibrated->emulated = json_is_boolean(ring0) ? json_is_true(ring0) : -1;
	for (size_t i = 0; i < json_array_size(events); i++)
		if (!take_event(calibrated, json_array_get(events, i)))
			return false;
	return true;
}

static int parse(struct hlg_calibration_file *calibrated, const char *path,
		 const char *text, size_t size, struct hlg_err *err)
{
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	bool ok = root && take(calibrated, root);

	json_decref(root);
	if (ok)
		return 0;
	return hlg_err_set(
		err, HLG_EINPUT,
		"%s: is no calibration (make one: hlguest calibrate --save=FILE)", path);
}
#else
static int parse(struct hlg_calibration_file *calibrated, const char *path,
		 const char *text, size_t size, struct hlg_err *err)
{
	(void)calibrated, (void)text, (void)size;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: calibrations are not in this build (install "
			   "libjansson-dev and build again)",
			   path);
}
#endif

int hlg_calibration_file_read(struct hlg_calibration_file *calibrated, const char *path,
			      struct hlg_err *err)
{
	struct hlg_file_id id;
	int fd = hlg_file_open(path, &id, err), rc;
	size_t size;
	char *text;

	*calibrated = (struct hlg_calibration_file){.emulated = -1};
	if (fd < 0)
		return fd;
	size = id.size <= LARGEST ? (size_t)id.size : 0;
	text = malloc(size + 1);
	if (!text)
		rc = hlg_err_memory(err, path);
	else if (size == 0)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: %s (make one: hlguest calibrate --save=FILE)", path,
				 id.size ? "is too large for a calibration" : "is empty");
	else if (hlg_file_read(fd, text, size, 0) < 0)
		rc = hlg_err_set(err, HLG_EINPUT, "%s: cannot be read: %s (try again)",
				 path, errno ? strerrordesc_np(errno) : "it shrank");
	else
		rc = parse(calibrated, path, text, size, err);
	free(text);
	close(fd);
	return rc;
}
