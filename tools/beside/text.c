// SPDX-License-Identifier: GPL-2.0-only
#include "tools/beside/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#if HLG_HAVE_JANSSON
#include "filter/options/number.h"
#include "filter/write/json.h"
#include "symtab/grow.h"

#define FORMAT 1

bool hlg_beside_text_built(void)
{
	return true;
}

static json_t *guest_object(const struct hlg_beside_guest *guest)
{
	json_t *o = json_object();

	/* As it is, not escaped: it is opened again. */
	json_object_set_new(o, "file", json_string(guest->file));
	json_object_set_new(o, "inside", hlg_json_hex(guest->inside));
	json_object_set_new(o, "size", hlg_json_number(guest->print.size));
	json_object_set_new(o, "build_id",
			    guest->print.build_id[0] ? json_string(guest->print.build_id)
						     : json_null());
	json_object_set_new(o, "crc32", hlg_json_hex(guest->print.crc));
	json_object_set_new(o, "code_crc32", hlg_json_hex(guest->print.code));
	if (guest->stripped)
		json_object_set_new(o, "stripped", json_true());
	return o;
}

static void put_list(struct hlg_json *json, const char *key,
		     const struct hlg_beside *beside, bool others)
{
	hlg_json_open_list(json, key);
	for (size_t i = 0; i < beside->n_guests; i++)
		if (beside->guests[i].other == others)
			hlg_json_put(json, NULL, guest_object(&beside->guests[i]));
	hlg_json_close(json);
}

int hlg_beside_text_write(FILE *f, const struct hlg_beside *beside, struct hlg_err *err)
{
	struct hlg_json json;
	json_t *recording;
	bool others = false;

	hlg_json_begin(&json, f, FORMAT);
	recording = json_object();
	json_object_set_new(recording, "size", hlg_json_number(beside->size));
	json_object_set_new(recording, "first_sample",
			    hlg_json_number(beside->first_sample));
	hlg_json_put(&json, "recording", recording);
	put_list(&json, "guests", beside, false);
	for (size_t i = 0; i < beside->n_guests && !others; i++)
		others = beside->guests[i].other;
	if (others)
		put_list(&json, "others", beside, true);
	return hlg_json_end(&json, err);
}

static bool take_number(uint64_t *to, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*to = (uint64_t)json_integer_value(value);
	return true;
}

static bool take_hex(uint64_t *to, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && hlg_number_u64(text, to);
}

static bool take_crc(uint32_t *to, const json_t *object, const char *key)
{
	uint64_t crc;

	if (!take_hex(&crc, object, key) || crc > UINT32_MAX)
		return false;
	*to = (uint32_t)crc;
	return true;
}

/* Bytes in lower-case hex, of which record notes at least one; "" for null: it has none.
 */
static bool take_build_id(char to[static HLG_NOTE_BUILD_ID], const json_t *object)
{
	const json_t *value = json_object_get(object, "build_id");
	const char *id = json_string_value(value);
	size_t n;

	to[0] = '\0';
	if (!id)
		return json_is_null(value);
	n = strlen(id);
	if (n == 0 || n % 2 || n >= HLG_NOTE_BUILD_ID ||
	    strspn(id, "0123456789abcdef") != n)
		return false;
	strcpy(to, id);
	return true;
}

static bool take_guest(struct hlg_beside *beside, const json_t *object, bool other)
{
	const char *file = json_string_value(json_object_get(object, "file"));
	struct hlg_beside_guest guest = {.other = other};

	if (!file || file[0] != '/' || !take_build_id(guest.print.build_id, object) ||
	    !take_hex(&guest.inside, object, "inside") ||
	    !take_number(&guest.print.size, object, "size") ||
	    !take_crc(&guest.print.crc, object, "crc32") ||
	    (json_object_get(object, "code_crc32") &&
	     !take_crc(&guest.print.code, object, "code_crc32")))
		return false;
	guest.stripped = json_is_true(json_object_get(object, "stripped"));
	guest.file = HLG_GROW(beside->guests, beside->n_guests) ? strdup(file) : NULL;
	if (!guest.file)
		return false;
	beside->guests[beside->n_guests++] = guest;
	return true;
}

static bool take_list(struct hlg_beside *beside, const json_t *list, bool others)
{
	if (!json_is_array(list) || json_array_size(list) > HLG_BESIDE_GUESTS)
		return false;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!take_guest(beside, json_array_get(list, i), others))
			return false;
	return true;
}

/* A note made before there were others has none. */
static bool take(struct hlg_beside *beside, const json_t *root)
{
	const json_t *recording = json_object_get(root, "recording");
	const json_t *others = json_object_get(root, "others");

	if (!json_is_string(json_object_get(root, "hlguest")) ||
	    json_integer_value(json_object_get(root, "format")) != FORMAT ||
	    !take_number(&beside->size, recording, "size") ||
	    !take_number(&beside->first_sample, recording, "first_sample"))
		return false;
	return take_list(beside, json_object_get(root, "guests"), false) &&
	       (!others || take_list(beside, others, true));
}

int hlg_beside_text_read(struct hlg_beside *beside, const char *path, const char *text,
			 size_t size, struct hlg_err *err)
{
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	bool ok = root && take(beside, root);

	json_decref(root);
	if (ok)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is not what hlguest record notes, or of another version "
			   "of hlguest (name the guest's ELF)",
			   path);
}
#else
bool hlg_beside_text_built(void)
{
	return false;
}

int hlg_beside_text_write(FILE *f, const struct hlg_beside *beside, struct hlg_err *err)
{
	(void)f, (void)beside, (void)err;
	return 0;
}

int hlg_beside_text_read(struct hlg_beside *beside, const char *path, const char *text,
			 size_t size, struct hlg_err *err)
{
	(void)beside, (void)path, (void)text, (void)size, (void)err;
	return 0;
}
#endif
