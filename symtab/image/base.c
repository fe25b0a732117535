// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/image/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/image/image-bases.h"

#define BASE_0_13 UINT64_C(0x1000)
#define BASE_0_17 UINT64_C(0x4000)
#define BASE_WASM UINT64_C(0x100000000)

/* The base that Hyperlight's version decides; false if it does not. */
static bool of_version(const char *version, bool exec, uint64_t *base)
{
	char digits[2][4]; /* %u would take signs and blanks */
	unsigned long major, minor;

	if (sscanf(version, "%3[0-9].%3[0-9]", digits[0], digits[1]) != 2)
		return false;
	major = strtoul(digits[0], NULL, 10);
	minor = strtoul(digits[1], NULL, 10);
	if (major == 0 && minor < 13)
		return false;
	if (exec && (major > 0 || minor >= 18))
		return false;
	*base = major == 0 && minor < 17 ? BASE_0_13 : BASE_0_17;
	return true;
}

int hlg_base_read(struct hlg_image *image, struct hlg_err *err)
{
	uint64_t base;

	if (image->from != HLG_BASE_NONE)
		return 0;
	if (image->map)
		return hlg_image_set_base(image, 0, HLG_BASE_MAP, err);
	if (of_version(image->elf.hyperlight, image->elf.type == ET_EXEC, &base))
		return hlg_image_set_base(image, base, HLG_BASE_NOTE, err);
	if (image->elf.type == ET_EXEC)
		return hlg_image_set_base(image, image->first, HLG_BASE_EXEC, err);
	return 0;
}

int hlg_base_decide(struct hlg_image *image, struct hlg_err *err)
{
	int rc = hlg_base_read(image, err);

	if (rc < 0 || image->from != HLG_BASE_NONE)
		return rc;
	return hlg_image_set_base(image, image->elf.wasm ? BASE_WASM : BASE_0_13,
				  HLG_BASE_DEFAULT, err);
}

static const struct {
	const char *word, *text;
} sources[] = {
	[HLG_BASE_NONE] = {"none", "no sample fits it"},
	[HLG_BASE_STATED] = {"stated", "stated"},
	[HLG_BASE_NOTE] = {"note", "from the Hyperlight note, version "},
	[HLG_BASE_EXEC] = {"exec", "its own addresses: not a PIE"},
	[HLG_BASE_MAP] = {"map", "its own addresses: a perf map"},
	[HLG_BASE_KVM] = {"kvm", "from KVM's records"},
	[HLG_BASE_FOUND] = {"found", "found from the samples"},
	[HLG_BASE_DEFAULT] = {"default", "assumed: nothing states it"},
};

void hlg_base_describe_from(const struct hlg_image *image, enum hlg_base_from from,
			    char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", sources[from].text,
		 from == HLG_BASE_NOTE ? image->elf.hyperlight : "");
}

void hlg_base_describe(const struct hlg_image *image, char *buf, size_t size)
{
	hlg_base_describe_from(image, image->from, buf, size);
	if (image->n_also_found)
		strncat(buf, HLG_BASE_OTHERS, size - strlen(buf) - 1);
}

void hlg_base_where(const struct hlg_image *image, char *buf, size_t size)
{
	const size_t n = hlg_image_bases_places(image);

	if (n > 1)
		snprintf(buf, size, "%zu bases", n);
	else if (image->from == HLG_BASE_NONE)
		snprintf(buf, size, "no base");
	else
		snprintf(buf, size, "base 0x%" PRIx64, image->base);
}

const char *hlg_base_word(enum hlg_base_from from)
{
	return sources[from].word;
}
