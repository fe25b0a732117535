/* SPDX-License-Identifier: GPL-2.0-only */
/* What demo.c and demo.S say to each other. */
#ifndef DEMO_H
#define DEMO_H

/* Hyperlight's ports. */
#define PORT_LOG   99
#define PORT_CALL  101
#define PORT_ABORT 102
#define PORT_PRINT 103
#define PORT_HALT  108

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

/* demo.S: a sized function, and the code without a symbol that lives after it. */
uint64_t checksum_words(const uint64_t *words, size_t count);
extern uint64_t (*const unlabelled_mixer)(uint64_t *words, size_t count);

/* demo.S: labels without a type or size, as hand-written exception handlers have. */
uint64_t excp_divide(uint64_t state);
uint64_t excp_general_protection(uint64_t state);
uint64_t excp_page_fault(uint64_t state);

/* demo.c: called by demo.S, once for each run. */
void guest_main(void);

#endif
#endif
