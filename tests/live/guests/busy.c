// SPDX-License-Identifier: GPL-2.0-only
/*
 * No guest: a program of this machine that is busy on many stacks, for so many seconds.
 * In two threads and in a child that has executed it again; in the kernel, in a library
 * that was there from the start and in one that came later.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long sum;
static double end;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noipa)) static void spin(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}

__attribute__((noipa)) static void deeper(int depth)
{
	if (depth)
		deeper(depth - 1);
	else
		spin(2000);
	sum++;
}

__attribute__((noipa)) static void print(void)
{
	char text[64];

	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "%d %s %f", i, "x", i / 3.0);
		sum += (long)strlen(text);
	}
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noipa)) static void sort(void)
{
	int numbers[500];

	for (int i = 0; i < 500; i++)
		numbers[i] = i * 7919 % 500;
	qsort(numbers, 500, sizeof(*numbers), compare);
	sum += numbers[0];
}

__attribute__((noipa)) static void ask_kernel(void)
{
	for (int i = 0; i < 20; i++) {
		int ends[2];

		if (pipe(ends) < 0)
			continue;
		sum += write(ends[1], "x", 1);
		close(ends[0]);
		close(ends[1]);
	}
}

static void *work(void *unused)
{
	for (int i = 0; now() < end; i++) {
		deeper(i % 25);
		print();
		sort();
		ask_kernel();
	}
	return unused;
}

int main(int argc, char **argv)
{
	double (*function)(double) = NULL;
	pthread_t thread;
	void *library;

	if (argc < 2)
		return 2;
	end = now() + atof(argv[1]);
	if (argc < 3 && fork() == 0) {
		execl("/proc/self/exe", "again", argv[1], "child", NULL);
		_exit(1);
	}
	if (pthread_create(&thread, NULL, work, NULL) != 0)
		return 1;
	library = dlopen("libm.so.6", RTLD_NOW);
	*(void **)&function = library ? dlsym(library, "cosh") : NULL;
	for (int i = 0; function && i < 100000; i++)
		sum += (long)function(i % 7);
	work(NULL);
	pthread_join(thread, NULL);
	wait(NULL);
	return 0;
}
