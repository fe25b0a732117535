// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/command.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "symtab/file.h"
#include "symtab/image/image.h"

/* 0, or why it cannot be run. */
static int try(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

/* As execvp(3): a file that may not be run counts only if no later folder has one. */
static int try_folders(const char *name, char path[static PATH_MAX])
{
	const char *folders = getenv("PATH");
	int result = ENOENT;

	for (folders = folders ? folders : "/bin:/usr/bin";; folders++) {
		size_t len = strcspn(folders, ":");
		int n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, folders,
				 len ? "/" : "", name);
		int error = n < PATH_MAX ? try(path) : ENAMETOOLONG;

		if (error == 0)
			return 0;
		if (error == EACCES)
			result = EACCES;
		folders += len;
		if (*folders == '\0')
			return result;
	}
}

int hlg_record_command_find(const char *name, char found[static PATH_MAX],
			    struct hlg_err *err)
{
	bool path = strchr(name, '/');
	int error = ENOENT;

	if (path && snprintf(found, PATH_MAX, "%s", name) >= PATH_MAX)
		error = ENAMETOOLONG;
	else if (name[0])
		error = path ? try(name) : try_folders(name, found);

	if (error == 0)
		return 0;
	if (error == ENOENT || error == ENOTDIR) {
		hlg_err_set(err, HLG_EINPUT,
			    path ? "%s: not found (check the path)"
				 : "%s: not found in PATH (check the name, "
				   "or give a path)",
			    name[0] ? name : "''");
		return 127;
	}
	hlg_err_set(err, HLG_EINPUT, "%s: cannot be run: %s (%s)", name,
		    strerrordesc_np(error),
		    error == EACCES ? "try chmod +x" : "check the path");
	return 126;
}

int hlg_record_command_check(const char *name, struct hlg_err *err)
{
	char found[PATH_MAX];

	return hlg_record_command_find(name, found, err);
}

/* What an ELF among the words of a command may be. */
enum sort {
	GUEST,   /* with symbols, of its own or of a debug file */
	MODULE,  /* of WebAssembly, which a guest runs; the same */
	STRIPPED /* a guest without */
};

static bool is_elf_of(enum sort sort, const char *path, const struct stat *vmm)
{
	struct hlg_image *image;
	struct hlg_err err;
	struct stat st;
	bool is;

	if (hlg_target_magic(path) != HLG_MAGIC_ELF || stat(path, &st) != 0 ||
	    hlg_file_is_one(&st, vmm))
		return false;
	is = (sort == STRIPPED ? hlg_image_open_stripped(&image, path, &err)
			       : hlg_image_open_guest(&image, path, 0, &err)) == 0 &&
	     !image->elf.needs_loader && image->elf.wasm == (sort == MODULE);
	hlg_image_destroy(image);
	return is;
}

/* The VMM's own file, where a guest lies inside it. */
static const char *find_inside(const char *vmm)
{
	struct hlg_image *image;
	struct hlg_err err;
	bool is;

	if (!vmm || !strchr(vmm, '/') || hlg_target_magic(vmm) != HLG_MAGIC_ELF)
		return NULL;
	is = hlg_image_open_guest(&image, vmm, 0, &err) == 0 && image->inside_size;
	hlg_image_destroy(image);
	return is ? vmm : NULL;
}

bool hlg_record_command_same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && hlg_file_is_one(&x, &y);
}

/* Those of a sort among the words behind the first, each file once: at most `most` of
 * them into found. Returns how many are in it. */
static size_t find_named(char *const *command, enum sort sort, const char **found,
			 size_t most)
{
	struct stat vmm;
	size_t n = 0;

	if (stat(command[0], &vmm) != 0)
		memset(&vmm, 0, sizeof(vmm));
	for (size_t i = 1; command[0] && command[i]; i++) {
		const char *value = strchr(command[i], '=');
		const char *word = is_elf_of(sort, command[i], &vmm) ? command[i]
				   : value && is_elf_of(sort, value + 1, &vmm) ? value + 1
									       : NULL;
		size_t k = 0;

		while (word && k < n && k < most &&
		       !hlg_record_command_same(found[k], word))
			k++;
		if (!word || (k < n && k < most))
			continue;
		if (n < most)
			found[n] = word;
		n++;
	}
	return n < most ? n : most;
}

size_t hlg_record_command_guests(char *const *command, const char **found, size_t most)
{
	const char *inside;
	size_t n = find_named(command, GUEST, found, most);

	if (n)
		return n;
	inside = find_inside(command[0]);
	if (inside)
		found[0] = inside;
	return inside ? 1 : 0;
}

size_t hlg_record_command_others(char *const *command, const char **found, size_t most)
{
	size_t n = find_named(command, STRIPPED, found, most);
	const char *inside = n < most ? find_inside(command[0]) : NULL;

	if (inside)
		found[n++] = inside;
	return n;
}

const char *hlg_record_command_module(char *const *command)
{
	const char *found[2];

	return find_named(command, MODULE, found, 2) == 1 ? found[0] : NULL;
}
