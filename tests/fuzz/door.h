/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A door is where bytes that somebody else wrote come in: one program for each. A door's
 * file has LLVMFuzzerTestOneInput, libFuzzer's entry (llvm.org/docs/LibFuzzer.html), and
 * is linked twice: with libFuzzer, which makes up inputs, and with replay.c, which runs
 * those there are. It must leave nothing behind, or the next input is judged wrongly.
 */
#ifndef HLG_TESTS_FUZZ_DOOR_H
#define HLG_TESTS_FUZZ_DOOR_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A path at which these bytes are a regular file, until the next call. Ends the program
 * where that cannot be had.
 */
const char *door_path(const void *data, size_t size);

/* The same for as long as the program runs. */
#define DOOR_PATH 32
void door_keep(const void *data, size_t size, char path[DOOR_PATH]);

/* Ends the program, as a crash: a promise does not hold. */
_Noreturn void door_fail(const char *what);

/* Input taken apart: a number of up to 8 bytes from its front; 0 when it is used up. */
struct door_bytes {
	const uint8_t *at;
	size_t left;
};

uint64_t door_take(struct door_bytes *bytes, size_t size);

/* The time of what comes behind time: some steps of 16 ns later or earlier, or any. */
uint64_t door_take_time(struct door_bytes *bytes, uint64_t time);

#endif
