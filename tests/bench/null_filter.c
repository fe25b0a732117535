// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least a perf dlfilter can do: drop every sample at once. What perf script costs
 * with this one is perf's own cost, and the measure for every other filter.
 */
struct perf_dlfilter_sample;

__attribute__((visibility("default"))) int filter_event_early(
	void *data, const struct perf_dlfilter_sample *sample, void *ctx);

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data;
	(void)sample;
	(void)ctx;
	return 1;
}
