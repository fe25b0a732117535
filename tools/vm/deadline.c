// SPDX-License-Identifier: GPL-2.0-only
#include "tools/vm/deadline.h"

#include <errno.h>
#include <linux/kvm.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "symtab/err.h"

/* What the signal stops: the vCPU of the thread it is sent to. */
static _Thread_local struct kvm_run *volatile stepping;
static _Thread_local volatile sig_atomic_t expired;
static _Thread_local timer_t timer;
static _Thread_local bool timer_set;

/* immediate_exit closes the gap between the test of expired and KVM_RUN. */
static void on_deadline(int signal)
{
	(void)signal;
	expired = 1;
	if (stepping)
		stepping->immediate_exit = 1;
}

static int fail(struct hlg_err *err, const char *advice)
{
	int rc = -errno;

	return hlg_err_set(err, rc, "deadline: %s (%s)", strerror(-rc), advice);
}

int hlg_vm_deadline_start(unsigned int seconds, struct hlg_err *err)
{
	struct sigaction action = {.sa_handler = on_deadline};
	struct itimerspec when = {.it_value.tv_sec = seconds};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};

	expired = 0;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (sigaction(SIGALRM, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return fail(err, "free some timers");
	timer_set = true;
	if (timer_settime(timer, 0, &when, NULL) < 0)
		return fail(err, "choose a shorter one");
	return 0;
}

void hlg_vm_deadline_stop(void)
{
	if (timer_set)
		timer_delete(timer);
	timer_set = false;
	stepping = NULL;
}

unsigned int hlg_vm_deadline_left(unsigned int none)
{
	struct itimerspec left;

	if (!timer_set || timer_gettime(timer, &left) < 0)
		return none;
	return (unsigned int)(left.it_value.tv_sec * 1000 +
			      left.it_value.tv_nsec / 1000000) +
	       1;
}

bool hlg_vm_deadline_passed(struct kvm_run *run)
{
	stepping = run;
	return expired;
}
