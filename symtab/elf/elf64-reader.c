// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/elf64-reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "symtab/file.h"
#include "symtab/memory.h"

int hlg_elf64_reader_unread(struct hlg_elf64_reader *r)
{
	if (errno == ENOMEM)
		return hlg_err_memory(r->err, r->path);
	return hlg_err_set(r->err, HLG_ESYSTEM, "%s: cannot be read: %s (try a copy)",
			   r->path, errno ? strerrordesc_np(errno) : "it became shorter");
}

int hlg_elf64_reader_damaged(struct hlg_elf64_reader *r, const char *what)
{
	if (errno)
		return hlg_elf64_reader_unread(r);
	return hlg_err_set(r->err, HLG_EINPUT,
			   "%s: %s (the ELF is damaged; build or copy it again)", r->path,
			   what);
}

int hlg_elf64_reader_truncated(struct hlg_elf64_reader *r, const char *what)
{
	return hlg_err_set(r->err, HLG_EINPUT,
			   "%s: is truncated: %s past its %" PRIu64
			   " bytes (copy it again)",
			   r->path, what, r->size);
}

bool hlg_elf64_reader_in_file(const struct hlg_elf64_reader *r, uint64_t off,
			      uint64_t len)
{
	return off <= r->size && len <= r->size - off;
}

int hlg_elf64_reader_contents(struct hlg_elf64_reader *r, const GElf_Shdr *sh, void **out)
{
	*out = hlg_memory_alloc(sh->sh_size + 1);
	if (!*out)
		return hlg_err_memory(r->err, r->path);
	((char *)*out)[sh->sh_size] = '\0';
	if (hlg_file_read(r->fd, *out, sh->sh_size, sh->sh_offset) < 0)
		return hlg_elf64_reader_unread(r);
	return 0;
}
