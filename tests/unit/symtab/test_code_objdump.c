// SPDX-License-Identifier: GPL-2.0-only
/*
 * Differential: the instructions that `objdump -d` lists, against what is known of every
 * byte that a function or label covers. What objdump lists there must be a boundary,
 * unless nothing is known; every other byte must be none. Arguments: ELF files, where
 * nothing may differ; then the C library and its libm, as far as this program runs with
 * them, where only what explain() knows may. Where objdump is absent, or made for another
 * machine, a line says that nothing was compared.
 */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

#define MAX_FILES 8
#define MAX_SHOWN 20

static char *files[MAX_FILES];
static int n_files, n_given;

/* A byte for each of the image's addresses. */
enum {
	NOT_LISTED,
	LISTED,
	LISTED_BAD,    /* bytes that objdump cannot decode */
	LISTED_PREFIX, /* prefixes that it takes for none of an instruction */
};

struct count {
	uint64_t covered, starts, unknown, explained, differ;
	const void *bad; /* the owner of bad bytes seen last */
};

static unsigned char *listed;

static uint64_t span(void)
{
	return code_image->end - code_image->first;
}

static bool lone_prefix(const char *text)
{
	static const char *const prefixes[] = {
		"rex", "data16", "addr32", "lock", "repz", "repnz", "cs",
		"ds",  "es",     "ss",     "fs",   "gs",   "bnd",   "notrack"};
	size_t len = strcspn(text, " .\n");

	if (text[strcspn(text, " ")] && text[strcspn(text, " ") + 1] != '\n')
		return false; /* more behind it: an instruction */
	for (int i = 0; i < N(prefixes); i++)
		if (len == strlen(prefixes[i]) && !strncmp(text, prefixes[i], len))
			return true;
	return false;
}

static void list(const char *line)
{
	char *end;
	uint64_t addr = strtoull(line, &end, 16);

	/* "  401000:\tpush   %rbp"; a symbol's line has no blanks before it */
	if (line[0] != ' ' || end[0] != ':' || end[1] != '\t')
		return;
	if (addr - code_image->first < span())
		listed[addr - code_image->first] = strstr(end, "(bad)")   ? LISTED_BAD
						   : lone_prefix(end + 2) ? LISTED_PREFIX
									  : LISTED;
}

/* Returns false when there is no objdump that can read path. */
static bool run_objdump(const char *path)
{
	char command[4096], line[1024];
	int status;
	FILE *f;

	ck_assert_ptr_null(strchr(path, '\''));
	snprintf(command, sizeof(command),
		 "LC_ALL=C objdump -d -z -w --no-show-raw-insn '%s' 2>/dev/null", path);
	listed = calloc(1, span());
	ck_assert_ptr_nonnull(listed);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		list(line);
	status = pclose(f);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/*
 * Where objdump shows something else than the processor executes: it joins fwait with
 * what comes behind it (SDM volume 2, FSTCW: two instructions); it shows prefixes of an
 * instruction alone; it reads on behind bytes that it cannot decode.
 */
static bool explain(const struct count *count, const struct hlg_place *place,
		    enum hlg_boundary is)
{
	const unsigned char *before = listed + (place->addr - 1 - code_image->first);
	unsigned char byte = 0;

	if (is == HLG_BOUNDARY_UNKNOWN)
		return count->bad == place->owner;
	if (place->addr == place->start)
		return false;
	hlg_image_read(code_image, place->addr - 1, &byte, 1);
	if (is == HLG_BOUNDARY_ON)
		return byte == 0x9b && *before == LISTED;
	return *before == LISTED_PREFIX;
}

static void differ(struct count *count, const struct hlg_place *place,
		   enum hlg_boundary is)
{
	static const char *const how[] = {
		[HLG_BOUNDARY_ON] = "a boundary here alone",
		[HLG_BOUNDARY_OFF] = "a boundary for objdump alone",
		[HLG_BOUNDARY_UNKNOWN] = "known to objdump alone",
	};
	bool explained = explain(count, place, is);

	count->explained += explained;
	count->differ += !explained;
	if (count->explained + count->differ <= MAX_SHOWN)
		printf("# %s: 0x%lx: %s%s\n", hlg_image_name(code_image, place->symbol),
		       (unsigned long)place->addr, how[is],
		       explained ? ", as explained" : "");
}

static void compare(uint64_t addr, struct count *count)
{
	unsigned char what = listed[addr - code_image->first];
	enum hlg_boundary is;
	struct hlg_place place;

	hlg_image_lookup(code_image, addr, &place);
	if (place.kind != HLG_FUNCTION && place.kind != HLG_LABEL)
		return;
	is = hlg_code_at(code, &place);
	count->covered++;
	count->starts += is == HLG_BOUNDARY_ON;
	count->unknown += is == HLG_BOUNDARY_UNKNOWN;
	if (what == LISTED_BAD)
		count->bad = place.owner;
	if (is == HLG_BOUNDARY_ON    ? what == NOT_LISTED || what == LISTED_BAD
	    : is == HLG_BOUNDARY_OFF ? what != NOT_LISTED
				     : what == LISTED)
		differ(count, &place, is);
}

static void teardown(void)
{
	code_close_all();
	free(listed);
	listed = NULL;
}

START_TEST(objdump_agrees)
{
	struct count count = {0};
	struct hlg_err err;

	ck_assert_msg(hlg_image_open_elf(&code_image, files[_i], &err) == 0, "%s",
		      err.msg);
	if (!hlg_insn_available(code_image->elf.machine)) {
		printf("# skipped: %s: a build without Zydis\n", files[_i]);
		return;
	}
	code_open();
	if (!run_objdump(files[_i])) {
		printf("# skipped: %s: no objdump that can read it\n", files[_i]);
		return;
	}
	for (uint64_t a = code_image->first; a < code_image->end; a++)
		compare(a, &count);
	printf("# %s: %lu bytes, %lu instructions, %lu bytes unknown, %lu "
	       "differences explained, %lu not\n",
	       files[_i], (unsigned long)count.covered, (unsigned long)count.starts,
	       (unsigned long)count.unknown, (unsigned long)count.explained,
	       (unsigned long)count.differ);
	fflush(stdout); /* a failed test does not */
	ck_assert_uint_gt(count.starts, 0);
	ck_assert_uint_eq(count.differ, 0);
	ck_assert(_i >= n_given || count.explained == 0);
}
END_TEST

static int find_libs(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	if (n_files < MAX_FILES && (strstr(info->dlpi_name, "/libc.so.") ||
				    strstr(info->dlpi_name, "/libm.so.")))
		files[n_files++] = strdup(info->dlpi_name);
	return 0;
}

int main(int argc, char **argv)
{
	Suite *suite = suite_create("code against objdump");
	TCase *tc = tap_case(suite, "code against objdump");
	int rc;

	for (int i = 1; i < argc && n_files < MAX_FILES; i++)
		files[n_files++] = strdup(argv[i]);
	n_given = n_files;
	dl_iterate_phdr(find_libs, NULL);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, objdump_agrees, 0, n_files);
	rc = tap_main(suite);
	while (n_files)
		free(files[--n_files]);
	return rc;
}
