// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/options.h"

#include <string.h>

#include "filter/options/number.h"

int hlg_record_options_set_frequency(void *arguments,
				     const struct hlg_verb_option *option, char *value,
				     struct hlg_err *err)
{
	uint64_t n;

	*(const char **)((char *)arguments + option->field) = value;
	if (strcmp(value, "max") == 0 || (hlg_number_u64(value, &n) && n > 0))
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "-%c %s: not a frequency (samples a second, or max)",
			   option->letter, value);
}
