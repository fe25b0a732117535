// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/source-files.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symtab/elf/debug-file.h"

#define SYSTEM "/usr/lib/debug"

/* How far a section may inflate: see source-files.h. */
enum {
	INFLATES = 32,
	INFLATES_PARSED = 10,
	INFLATES_ALWAYS = 1 << 20, /* bytes */
	MIB = 1 << 20
};

enum {
	LONGEST = 3 * PATH_MAX /* bytes of a path that is made of others */
};

/* A section that libdw makes structures of, under each of its names. */
static bool is_parsed(const char *name)
{
	static const char *const parsed[] = {"info", "types", "abbrev", "line"};
	const char *what = strstr(name, "debug_");

	for (size_t i = 0; what && i < sizeof(parsed) / sizeof(parsed[0]); i++) {
		size_t n = strlen(parsed[i]);

		if (strncmp(what + 6, parsed[i], n) == 0 &&
		    (what[6 + n] == '\0' || what[6 + n] == '.'))
			return true;
	}
	return false;
}

/* What a compressed section says that it inflates to; 0 of one that is none. */
static uint64_t inflated_size(Elf_Scn *section, const GElf_Shdr *sh, const char *name)
{
	const unsigned char *bytes;
	uint64_t size = 0;
	GElf_Chdr ch;
	Elf_Data *data;

	if (sh->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &ch) ? ch.ch_size : 0;
	/* GNU's older way: "ZLIB", and the size with its highest byte first. */
	if (strncmp(name, ".zdebug", 7) != 0)
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4) != 0)
		return 0;
	bytes = data->d_buf;
	for (int i = 4; i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

static int vet_section(Elf_Scn *section, const GElf_Shdr *sh, const char *name,
		       const char *path, struct hlg_err *err)
{
	uint64_t size = inflated_size(section, sh, name);
	uint64_t times = is_parsed(name) ? INFLATES_PARSED : INFLATES;

	if (size <= INFLATES_ALWAYS || size / times <= sh->sh_size)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: source lines left out: %s would take %" PRIu64
			   " MiB, of %" PRIu64 " KiB compressed (if that is right: "
			   "objcopy --decompress-debug-sections)",
			   path, name, size / MIB, sh->sh_size / 1024);
}

/* Fails if a section would inflate too far. What is no ELF at all has none. */
static int vet(int fd, const char *path, struct hlg_err *err)
{
	Elf_Scn *section = NULL;
	size_t names;
	int rc = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0) {
		elf_end(elf);
		return 0;
	}
	while (rc == 0 && (section = elf_nextscn(elf, section))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(section, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		rc = vet_section(section, &sh, name ? name : "", path, err);
	}
	elf_end(elf);
	return rc;
}

/* The same for a file by its name; one that cannot be opened is libdw's to refuse. */
static int vet_path(const char *path, struct hlg_err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;

	if (fd < 0)
		return 0;
	rc = vet(fd, path, err);
	close(fd);
	return rc;
}

/*
 * What is called FOLDER/NAME, or NAME where that begins with a slash, is a regular file
 * or not there. What is too long for path is so for the kernel.
 */
static bool is_harmless(const char *folder, const char *name, char path[static LONGEST])
{
	bool rooted = name[0] == '/';
	struct stat st;

	return snprintf(path, LONGEST, "%s%s%s", rooted ? "" : folder, rooted ? "" : "/",
			name) >= LONGEST ||
	       stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

/* The folder that path is in: "." if it names none. */
static void cut_folder(const char *path, char folder[static PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
}

/* What the search for a debug file is for. */
struct search {
	const struct hlg_image *image;
	struct hlg_err *err;
};

/* Opens the image's debug file. Returns less than 0, and perhaps a message. */
static int open_debug(const struct search *s, struct hlg_debug_file *file)
{
	struct hlg_file_id id;
	int fd;

	if (hlg_debug_file_find(file, hlg_image_file(s->image), &s->image->elf, s->err) <
	    0)
		return -1;
	if (!file->path) {
		*s->err = file->refused;
		return -1;
	}
	fd = hlg_file_open(file->path, &id, s->err);
	if (fd >= 0 && vet(fd, file->path, s->err) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* *data is the struct search; NULL when there is none any more. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **found)
{
	struct hlg_debug_file file;
	int fd;

	(void)module, (void)name, (void)base, (void)path, (void)link, (void)crc;
	if (!*data)
		return -1;
	fd = open_debug(*data, &file);
	if (fd >= 0) {
		*found = file.path;
		file.path = NULL;
	}
	hlg_debug_file_finish(&file);
	return fd;
}

Dwfl *hlg_source_files_begin(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};

	/* A guest's own ELF is on no server; asking could take minutes. */
	unsetenv("DEBUGINFOD_URLS");
	return dwfl_begin(&callbacks);
}

Dwarf *hlg_source_files_open(Dwfl *dwfl, const struct hlg_image *image,
			     Dwfl_Module **module, struct hlg_err *err)
{
	struct search search = {image, err};
	const char *path = hlg_image_file(image);
	Dwarf_Addr bias;
	Dwarf *dwarf;
	void **data;
	int fd = -1; /* path is opened */

	*module = NULL;
	if (vet_path(path, err) < 0)
		return NULL;
	if (image->inside_size) {
		fd = hlg_image_reopen(image, err);
		if (fd < 0)
			return NULL;
	}
	dwfl_report_begin(dwfl);
	*module = dwfl_report_offline(dwfl, "", path, fd); /* which closes fd then */
	dwfl_report_end(dwfl, NULL, NULL);
	if (!*module) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	dwfl_module_info(*module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
	*data = &search;
	dwarf = dwfl_module_getdwarf(*module, &bias);
	*data = NULL;
	return dwarf;
}

bool hlg_source_files_shared(Dwarf *dwarf, struct hlg_err *err)
{
	char path[sizeof(SYSTEM) + 512] = SYSTEM "/.build-id/";
	const unsigned char *id;
	const char *name;
	struct stat st;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, (const void **)&id);
	size_t end = strlen(path);

	if (n <= 0)
		return n == 0;
	for (ssize_t i = 0; i < n && end + sizeof("ff/.debug") < sizeof(path); i++)
		end += (size_t)sprintf(path + end, i == 0 ? "%02x/" : "%02x", id[i]);
	strcpy(path + end, ".debug");
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && vet_path(path, err) == 0;
}

static const char *text_of(Dwarf_Die *unit, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(unit, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

/* A half that was split off, by its name in a folder, may be opened or is not there. */
static bool may_open(const char *folder, const char *name, struct hlg_err *err)
{
	char path[LONGEST];

	return is_harmless(folder, name, path) && vet_path(path, err) == 0;
}

bool hlg_source_files_split(Dwarf_Die *unit, const char *path, struct hlg_err *err)
{
	const char *name = text_of(unit, DW_AT_dwo_name);
	const char *made = text_of(unit, DW_AT_comp_dir);
	char target[PATH_MAX], folder[PATH_MAX], beside[2 * PATH_MAX];

	if (!name)
		name = text_of(unit, DW_AT_GNU_dwo_name);
	if (!name)
		return true;
	if (geteuid() == 0 || !realpath(path, target))
		return false;
	cut_folder(target, folder);
	if (!made)
		made = "";
	snprintf(beside, sizeof(beside), "%s/%s", made[0] == '/' ? "" : folder, made);
	return may_open(folder, name, err) && may_open(beside, name, err);
}
