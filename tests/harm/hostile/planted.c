// SPDX-License-Identifier: GPL-2.0-only
/* A library that somebody left in a folder: says that it ran, by a file called "ran". */
#include <fcntl.h>
#include <unistd.h>

static void __attribute__((constructor)) run(void)
{
	close(open("ran", O_WRONLY | O_CREAT, 0666));
}
