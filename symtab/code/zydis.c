// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/zydis.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Those that were tested, the newest first. */
static const char *const libraries[2] = {"libZydis.so.4.1", "libZydis.so.4.0"};

/* Of the versions above: the structures are theirs. */
_Static_assert(ZYDIS_VERSION >> 32 == 0x00040000 || ZYDIS_VERSION >> 32 == 0x00040001,
	       "Zydis is neither 4.0 nor 4.1");

static struct hlg_zydis found;
static bool is_found;
static char problem[256] = "neither libZydis.so.4.1 nor libZydis.so.4.0 can be opened: "
			   "install libzydis4.1 or libzydis4.0";

#define NAME(name) #name,
static const char *const mnemonics[] = {HLG_ZYDIS_MNEMONICS(NAME)};
static const char *const categories[] = {HLG_ZYDIS_CATEGORIES(NAME)};
static const char *const isa_exts[] = {HLG_ZYDIS_ISA_EXTS(NAME)};

#define SMALL 0x20 /* of a letter: asked first, as hundreds of thousands are compared */

/* Its place in the list, from 1 on; 0: it is not there. The library has some names in
 * small letters, and none behind its last number. */
static uint8_t find_name(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if ((list[i][0] | SMALL) == (name[0] | SMALL) &&
		    strcasecmp(list[i], name) == 0)
			return (uint8_t)(i + 1);
	return 0;
}

#define FIND(list, name) find_name(list, sizeof(list) / sizeof((list)[0]), name)

static void read_names(struct hlg_zydis *z)
{
	for (unsigned i = 0; i < HLG_ZYDIS_MNEMONICS_MAX; i++)
		z->mnemonics[i] = FIND(mnemonics, z->mnemonic_name((ZydisMnemonic)i));
	for (unsigned i = 0; i < HLG_ZYDIS_CATEGORIES_MAX; i++)
		z->categories[i] =
			FIND(categories, z->category_name((ZydisInstructionCategory)i));
	for (unsigned i = 0; i < HLG_ZYDIS_ISA_EXTS_MAX; i++)
		z->isa_exts[i] = FIND(isa_exts, z->isa_ext_name((ZydisISAExt)i));
}

/* False if one is missing. */
static bool find_functions(struct hlg_zydis *z)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{"ZydisGetVersion", &z->version},
		{"ZydisDecoderInit", &z->init},
		{"ZydisDecoderEnableMode", &z->enable},
		{"ZydisDecoderDecodeInstruction", &z->decode},
		{"ZydisDecoderDecodeFull", &z->decode_full},
		{"ZydisFormatterInit", &z->formatter_init},
		{"ZydisFormatterSetProperty", &z->formatter_set},
		{"ZydisFormatterFormatInstruction", &z->format},
		{"ZydisCalcAbsoluteAddress", &z->absolute},
		{"ZydisMnemonicGetString", &z->mnemonic_name},
		{"ZydisCategoryGetString", &z->category_name},
		{"ZydisISAExtGetString", &z->isa_ext_name},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *at = dlsym(z->library, functions[i].name);

		if (!at)
			return false;
		memcpy(functions[i].to, &at, sizeof(at));
	}
	return true;
}

static bool is_tested(const struct hlg_zydis *z)
{
	uint64_t version = z->version() >> 32;

	return version == 0x00040000 || version == 0x00040001;
}

/* Once: a tenth of what an instruction takes otherwise. Nothing changes them then. */
static bool make_decoders(struct hlg_zydis *z)
{
	ZydisDecoder *both[] = {&z->plain.decoder, &z->minimal.decoder};

	for (int i = 0; i < 2; i++)
		if (!ZYAN_SUCCESS(z->init(both[i], ZYDIS_MACHINE_MODE_LONG_64,
					  ZYDIS_STACK_WIDTH_64)) ||
		    !ZYAN_SUCCESS(z->enable(both[i], ZYDIS_DECODER_MODE_MINIMAL, i == 1)))
			return false;
	return true;
}

bool hlg_zydis_open(struct hlg_zydis *zydis, const char *name, struct hlg_err *err)
{
	memset(zydis, 0, sizeof(*zydis));
	zydis->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!zydis->library) {
		hlg_err_set(err, HLG_ESYSTEM, "%s", dlerror());
		return false;
	}
	if (find_functions(zydis) && is_tested(zydis) && make_decoders(zydis)) {
		read_names(zydis);
		return true;
	}
	hlg_err_set(err, HLG_ESYSTEM, "%s: is not Zydis 4.0 or 4.1", name);
	dlclose(zydis->library);
	return false;
}

/* Each twice: want of memory, unlike want of the library, may be over. */
static void find(void)
{
	struct hlg_err err;

	for (int i = 0; !is_found && i < 4; i++) {
		is_found = hlg_zydis_open(&found, libraries[i % 2], &err);
		/* One that is there fails for a reason of its own. */
		if (!is_found && !strstr(err.msg, "No such file"))
			snprintf(problem, sizeof(problem), "%.255s", err.msg);
	}
}

/*
 * Not once for each thread: a library that is loaded late, as a filter is, gets such
 * variables when they are first used, and without memory for them libc ends the program.
 */
const struct hlg_zydis *hlg_zydis_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find);
	return is_found ? &found : NULL;
}

const char *hlg_zydis_problem(void)
{
	return hlg_zydis_get() ? "" : problem;
}
