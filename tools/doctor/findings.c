// SPDX-License-Identifier: GPL-2.0-only
/* What was found, as a list, and as lines. */
#include <assert.h>

#include "symtab/escape.h"
#include "tools/doctor/doctor.h"

struct hlg_finding *hlg_doctor_add(struct hlg_findings *findings, enum hlg_level level,
				   const char *topic)
{
	struct hlg_finding *f = &findings->finding[findings->n++];

	assert(findings->n <= HLG_MAX_FINDINGS);
	*f = (struct hlg_finding){.level = level, .topic = topic};
	return f;
}

enum hlg_level hlg_doctor_write(FILE *f, const struct hlg_findings *findings,
				bool colours)
{
	static const char *const words[] = {"ok", "warn", "fail"};
	static const char *const colour[] = {"\033[32m", "\033[33m", "\033[31m"};
	enum hlg_level worst = HLG_LEVEL_OK;

	for (size_t i = 0; i < findings->n; i++) {
		const struct hlg_finding *finding = &findings->finding[i];

		fprintf(f, "%s%-4s%s  %-12s  ", colours ? colour[finding->level] : "",
			words[finding->level], colours ? "\033[0m" : "", finding->topic);
		hlg_escape_print(f, finding->text);
		fputc('\n', f);
		if (finding->remedy[0])
			fprintf(f, "%20s-> %s\n", "", finding->remedy);
		worst = finding->level > worst ? finding->level : worst;
	}
	return worst;
}
