// SPDX-License-Identifier: GPL-2.0-only
/* hlguest doctor: can this machine profile guests, and what does an image tell. */
#include "tools/doctor/doctor.h"

#include <argp.h>

#include "filter/run.h"
#include "symtab/image/base.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"

static const char doc[] =
	"Says what this machine and a guest's ELF can do for a profile, and how to do "
	"better.\v"
	"Each line is ok, warn or fail; the exit status is 1 if one is fail.";

static error_t parse(int key, char *value, struct argp_state *state)
{
	char **image = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*image)
		argp_error(state, "one image at a time (run it once for each)");
	*image = value;
	return 0;
}

static int open_image(struct hlg_image **image, char *word, struct hlg_err *err)
{
	struct hlg_options options;
	int rc = hlg_images_parse(&options, &word, 1, err);

	*image = NULL;
	if (rc == 0)
		rc = hlg_run_open_image(image, &options.images[0], err);
	if (rc == 0)
		rc = hlg_base_decide(*image, err);
	hlg_options_finish(&options);
	return rc;
}

static void look_at_image(struct hlg_findings *findings, char *word)
{
	struct hlg_image *image;
	struct hlg_err err;

	if (open_image(&image, word, &err) < 0) {
		struct hlg_finding *f = hlg_doctor_add(findings, HLG_LEVEL_FAIL, "image");

		/* The remedy is in the message. */
		snprintf(f->text, sizeof(f->text), "%s", err.msg);
	} else {
		hlg_doctor_judge_image(findings, image);
	}
	hlg_image_destroy(image);
}

int hlg_verb_doctor(int argc, char **argv)
{
	static const struct argp argp = {NULL, parse, "[guest.elf[@BASE]]", doc, NULL,
					 NULL, NULL};
	static struct hlg_findings findings;
	static struct hlg_probes probes;
	char *image = NULL;
	enum hlg_level worst;

	hlg_words_parse(&argp, argc, argv, 0, &image);
	hlg_doctor_look(&probes, "");
	hlg_doctor_judge(&findings, &probes);
	if (image)
		look_at_image(&findings, image);
	worst = hlg_doctor_write(stdout, &findings, hlg_colour_of(stdout).on);
	return hlg_output_end(worst == HLG_LEVEL_FAIL);
}
