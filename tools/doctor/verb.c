// SPDX-License-Identifier: GPL-2.0-only
/* hlguest doctor: can this machine profile guests, and what does an image tell. */
#include "tools/doctor/doctor.h"

#include "filter/output/out.h"
#include "filter/run.h"
#include "symtab/image/base.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"

struct arguments {
	char *image; /* NULL: none */
	const char *out;
};

static int set_image(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct arguments *args = arguments;

	(void)option;
	if (args->image)
		return hlg_err_set(err, HLG_EINPUT,
				   "one image at a time (run it once for each)");
	args->image = value;
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

	if (open_image(&image, word, &err) < 0) /* the remedy is in the message */
		hlg_doctor_say(findings, HLG_LEVEL_FAIL, "image", NULL, "%s", err.msg);
	else
		hlg_doctor_judge_image(findings, image);
	hlg_image_destroy(image);
}

static int doctor(const struct arguments *args)
{
	static struct hlg_findings findings;
	static struct hlg_probes probes;
	enum hlg_level worst;
	struct hlg_out out;
	struct hlg_err err;
	int rc = hlg_images_check_out(&args->image, args->image ? 1 : 0, args->out, &err);

	if (rc < 0)
		return hlg_output_error(&err);
	hlg_doctor_look(&probes, "");
	hlg_doctor_judge(&findings, &probes);
	if (args->image)
		look_at_image(&findings, args->image);
	if (hlg_out_open(&out, args->out, stdout, &err) < 0)
		return hlg_output_error(&err);
	worst = hlg_doctor_write(out.f, &findings, hlg_colour_of(out.f).on);
	if (hlg_out_commit(&out, &err) < 0)
		return hlg_output_error(&err);
	return worst == HLG_LEVEL_FAIL;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status))
		status = doctor(&args);
	return status;
}

static const struct hlg_verb_option options[] = {
	HLG_VERB_OUTPUT(struct arguments, out, "where the lines go; written atomically"),
	{.kind = HLG_VERB_TEXT, .set = set_image},
	{0},
};

const struct hlg_verb hlg_verb_doctor = {
	.name = "doctor",
	.args = "[guest.elf]",
	.help = "can this machine profile guests",
	.group = HLG_VERB_PREPARES,
	.usage = "[guest.elf[@BASE]]",
	.doc = "Shows what this machine and a guest's ELF can do for a profile, and how "
	       "to do better.\v"
	       "Each line is ok, info, warn or fail, and the last one sums them up; "
	       "the exit status is 1 if one is fail.",
	.examples = "hlguest doctor\tcan this machine record guests?\n"
		    "hlguest doctor guest.elf\tand has this ELF what a profile needs?\n"
		    "hlguest doctor -o doctor.txt guest.elf\tinto a file, as for a bug "
		    "report",
	.files = "elf",
	.options = options,
	.run = run,
};
