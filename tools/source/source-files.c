// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/source-files.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM "/usr/lib/debug"

/* FOLDER/NAME, or a NAME that begins with a slash, is a regular file or not there. */
static bool is_harmless(const char *folder, const char *name)
{
	char path[3 * PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : folder,
			 name[0] == '/' ? "" : "/", name);

	/* What is too long for us is so for the kernel. */
	return n < 0 || n >= (int)sizeof(path) || stat(path, &st) != 0 ||
	       S_ISREG(st.st_mode);
}

/* The folder that path is in: "." if it names none. */
static void cut_folder(const char *path, char folder[static PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
}

/*
 * What libdwfl tries beside the file at path, and in .debug there (libdwfl.h): what its
 * .gnu_debuglink says, or its own name with .debug behind it, and its own name.
 */
static bool are_harmless(const char *path, const char *link)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char folder[PATH_MAX], below[PATH_MAX + 8], made[PATH_MAX + 8];

	cut_folder(path, folder);
	snprintf(below, sizeof(below), "%s/.debug", folder);
	snprintf(made, sizeof(made), "%s.debug", base);
	if (!link)
		link = made;
	return is_harmless(folder, link) && is_harmless(below, link) &&
	       is_harmless(below, base);
}

/* As libdwfl's own, which follows a symbolic link to the ELF, too. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **found)
{
	char target[PATH_MAX];

	/* A name with a slash could lead anywhere, also out of /usr/lib/debug. */
	if (!path || !realpath(path, target) || (link && strchr(link, '/')))
		return dwfl_build_id_find_debuginfo(module, data, name, base, path, link,
						    crc, found);
	if (geteuid() != 0 && (!are_harmless(path, link) || !are_harmless(target, link)))
		return -1;
	return dwfl_standard_find_debuginfo(module, data, name, base, path, link, crc,
					    found);
}

Dwfl *hlg_source_files_begin(void)
{
	static char system[] = SYSTEM;
	static char *folders; /* NULL: beside the ELF, too */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &folders,
	};

	if (geteuid() == 0)
		folders = system;
	/* A guest's own ELF is on no server; asking could take minutes. */
	unsetenv("DEBUGINFOD_URLS");
	return dwfl_begin(&callbacks);
}

bool hlg_source_files_shared(Dwarf *dwarf)
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
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static const char *text_of(Dwarf_Die *unit, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(unit, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

bool hlg_source_files_split(Dwarf_Die *unit, const char *path)
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
	return is_harmless(folder, name) && is_harmless(beside, name);
}
