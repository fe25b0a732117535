// SPDX-License-Identifier: GPL-2.0-only
/* What an image lets a profile say. */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "config.h"
#include "symtab/code/frame.h"
#include "symtab/code/padding.h"
#include "symtab/image/base.h"
#include "tools/callers/unwind.h"
#include "tools/doctor/doctor.h"
#include "tools/source/source.h"

static void judge_symbols(struct hlg_findings *f, const struct hlg_image *image)
{
	size_t count[HLG_SYM_BARE_LABEL + 1] = {0};
	const char *remedy = NULL;
	char skipped[64] = "";

	for (size_t i = 0; i < image->tab.n_syms; i++)
		count[image->tab.syms[i].class]++;
	if (image->elf.dynsym)
		remedy = "what is not exported has no name: keep .symtab "
			 "(strip --strip-debug is safe)";
	else if (count[HLG_SYM_FUNCTION] == 0)
		remedy = "labels reach to the next one: give functions a type and a "
			 "size (.type, .size)";
	if (image->skipped)
		snprintf(skipped, sizeof(skipped), "; lines skipped %zu", image->skipped);
	hlg_doctor_say(f, remedy ? HLG_LEVEL_WARN : HLG_LEVEL_OK, "symbols", remedy,
		       "%zu from %s%s%s: functions %zu, labels %zu, without a size %zu%s",
		       image->tab.n_syms,
		       image->map          ? "a perf map"
		       : image->elf.dynsym ? ".dynsym"
					   : ".symtab",
		       image->debug_path ? " of " : "",
		       image->debug_path ? image->debug_path : "",
		       count[HLG_SYM_FUNCTION], count[HLG_SYM_SIZED_LABEL],
		       count[HLG_SYM_BARE_LABEL], skipped);
}

struct gaps {
	size_t n;
	uint64_t code, bytes, filler;
	bool lost; /* no memory to look for filler */
};

/* Of a gap that cannot be read, or is larger than the file, nothing is filler. */
static void count_filler(struct gaps *gaps, const struct hlg_image *image, uint64_t start,
			 uint64_t size)
{
	struct hlg_padding pad = {0, 0};
	unsigned char *bytes;

	if (size > (uint64_t)image->elf.id.size)
		return;
	bytes = malloc(size);
	if (!bytes)
		gaps->lost = true;
	else if (hlg_image_read(image, start, bytes, size) == size)
		pad = hlg_padding_find(image->elf.machine, bytes, size);
	gaps->filler += pad.lead + pad.trail;
	free(bytes);
}

static struct gaps count_gaps(const struct hlg_image *image)
{
	struct gaps gaps = {0};

	for (size_t i = 0; i + 1 < image->spans.n; i++) {
		const struct hlg_span *span = &image->spans.span[i];
		uint64_t size = span[1].start - span->start;

		if (span->kind == HLG_DATA || span->kind == HLG_OUTSIDE)
			continue;
		gaps.code += size;
		if (span->kind != HLG_GAP)
			continue;
		gaps.n++;
		gaps.bytes += size;
		count_filler(&gaps, image, span->start, size);
	}
	return gaps;
}

static void judge_gaps(struct hlg_findings *f, const struct hlg_image *image)
{
	struct gaps gaps = count_gaps(image);
	uint64_t unlabelled = gaps.bytes - gaps.filler;
	const char *remedy = NULL;

	if (gaps.lost || hlg_image_unread(image))
		remedy = "not all of it was read: run it again";
	/* A tenth of the code without a name is more than anybody's assembly. */
	else if (unlabelled > gaps.code / 10)
		remedy = "much code has no symbol: was some of it stripped, or "
			 "linked in without names?";
	hlg_doctor_say(f, remedy ? HLG_LEVEL_WARN : HLG_LEVEL_OK, "gaps", remedy,
		       "%zu without a symbol: %" PRIu64 " of %" PRIu64
		       " bytes of code, of which %" PRIu64 " are padding",
		       gaps.n, gaps.bytes, gaps.code, gaps.filler);
}

static void judge_base(struct hlg_findings *f, const struct hlg_image *image)
{
	bool guessed = image->from == HLG_BASE_DEFAULT;
	char from[128];

	hlg_base_describe(image, from, sizeof(from));
	hlg_doctor_say(f, guessed ? HLG_LEVEL_WARN : HLG_LEVEL_OK, "base",
		       guessed ? "report finds it from the samples, or use FILE@ADDRESS"
			       : NULL,
		       "0x%" PRIx64 " (%s)", image->base, from);
}

/* Callers are found by frame pointers, or else by unwind tables. */
static void judge_callers(struct hlg_findings *f, const struct hlg_image *image)
{
	struct hlg_callers_unwind_count tables = {0};
	struct hlg_callers_unwind *unwind;
	struct hlg_frame_count frames;
	bool kept, covered;
	enum hlg_level level;
	const char *remedy;
	struct hlg_err err;

	if (hlg_frame_count(image, &frames, &err) < 0 || frames.calling == 0)
		return;
	if (hlg_callers_unwind_open(&unwind, image, &err) == 0)
		hlg_callers_unwind_count(unwind, &tables);
	hlg_callers_unwind_close(unwind);
	kept = hlg_frame_is_kept(&frames);
	covered = hlg_callers_unwind_is_covered(&tables);
	hlg_doctor_say(f, kept ? HLG_LEVEL_OK : HLG_LEVEL_INFO, "frames",
		       kept      ? NULL
		       : covered ? "record --guest-stacks takes its unwind tables"
				 : "for record --guest-stacks " HLG_FRAME_ADVICE,
		       "%zu of %zu functions that call others keep a frame pointer",
		       frames.framed, frames.calling);
	level = kept || covered ? HLG_LEVEL_OK : HLG_LEVEL_INFO;
	remedy = kept || covered ? NULL : "or " HLG_CALLERS_UNWIND_ADVICE;
	if (tables.covered)
		hlg_doctor_say(f, level, "tables", remedy,
			       "%zu of %zu functions have unwind tables", tables.covered,
			       tables.functions);
	else
		hlg_doctor_say(f, level, "tables", remedy, "%s",
			       HLG_HAVE_LIBDW ? "no function has unwind tables"
					      : "not looked for: built without libdw");
}

static void judge_lines(struct hlg_findings *f, const struct hlg_image *image)
{
	struct hlg_source *source;
	struct hlg_err err;

	if (image->elf.wasm) {
		hlg_doctor_say(f, HLG_LEVEL_INFO, "lines", NULL,
			       "those of a module of WebAssembly are not read");
		return;
	}
	source = hlg_source_open(image, &err);
	hlg_doctor_say(
		f, source ? HLG_LEVEL_OK : HLG_LEVEL_INFO, "lines",
		source || err.msg[0] || !HLG_HAVE_LIBDW
			? NULL
			: "compile with -g, for source lines in annotate and lookup",
		"%s",
		source           ? "source lines are known"
		: err.msg[0]     ? err.msg
		: HLG_HAVE_LIBDW ? "none"
				 : "not looked for: built without libdw");
	hlg_source_close(source);
}

/* What only an ELF has. */
static void judge_elf(struct hlg_findings *f, const struct hlg_image *image)
{
	const char *id = image->elf.build_id;

	hlg_doctor_say(f, id[0] ? HLG_LEVEL_OK : HLG_LEVEL_INFO, "build id",
		       id[0] || image->elf.wasm
			       ? NULL
			       : "link with -Wl,--build-id: builds are recognized by it",
		       "%s", id[0] ? id : "none");
	judge_lines(f, image);
	if (image->elf.machine == EM_AARCH64 && !HLG_HAVE_CAPSTONE)
		hlg_doctor_say(f, HLG_LEVEL_INFO, "instructions",
			       "install libcapstone-dev and build again",
			       "annotate shows words (.inst): built without Capstone");
}

void hlg_doctor_judge_image(struct hlg_findings *f, const struct hlg_image *image)
{
	hlg_doctor_say(f, HLG_LEVEL_OK, "image", NULL, "%s", image->path);
	judge_symbols(f, image);
	judge_gaps(f, image);
	judge_base(f, image);
	judge_callers(f, image);
	if (!image->map)
		judge_elf(f, image);
}
