/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads whose samples do not lie on instruction boundaries, where others' do. Only
 * addresses that one thread alone was sampled at can tell.
 */
#ifndef HLG_FILTER_TRUST_THREADS_H
#define HLG_FILTER_TRUST_THREADS_H

#include "filter/trust/image-test.h"

struct hlg_thread_test {
	int32_t tid;
	struct hlg_boundaries samples;
};

/*
 * Lists the threads of which less than 99 % of the samples in view are on boundaries:
 * *n of them, to be freed; the one with most samples off boundaries first. tests: of the
 * n_tests images of the view's space. False without memory; then *threads is untouched.
 */
bool hlg_threads_find(struct hlg_thread_test **threads, size_t *n,
		      struct hlg_image_test *tests, size_t n_tests,
		      const struct hlg_view *view);

#endif
