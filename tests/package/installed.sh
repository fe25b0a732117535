#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the chroot that only installs: /debs has the package, /build its source. What was there
# before hlguest is what is there after it.
set -eu
export DEBIAN_FRONTEND=noninteractive PERF_PAGER=cat

fail()
{
	echo "tests/package: $*" >&2
	exit 1
}

# What is everywhere but where other programs keep caches and logs.
files()
{
	find / \( -path /proc -o -path /sys -o -path /dev -o -path /src -o -path /debs -o -path /build \
		-o -path /tmp -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
		-o -path /var/lib/dpkg -o -path /root \) -prune -o -print | sort
}

get()
{
	apt-get -qq -o Dpkg::Use-Pty=0 "$@" >/tmp/log 2>&1 ||
		{ tail -n 5 /tmp/log; fail "apt-get $*: failed (see above)"; }
}

# run_test NAME: one of DEP-8's, as autopkgtest does.
run_test()
{
	AUTOPKGTEST_TMP=$(mktemp -d)
	export AUTOPKGTEST_TMP
	status=0
	(cd /build/tarball/hlguest-*/ && "debian/tests/$1") >/tmp/log 2>&1 || status=$?
	case $status in
	0) echo "$1: ok" ;;
	77) echo "$1: skipped: $(tail -n 1 /tmp/log)" ;;
	*)
		tail -n 20 /tmp/log
		fail "debian/tests/$1: status $status (see above)"
		;;
	esac
	rm -rf "$AUTOPKGTEST_TMP"
}

# gone HOW: after a removal.
gone()
{
	files >/tmp/after
	diff /tmp/before /tmp/after || fail "$1 leaves or takes something (see above)"
	found=$(grep -l hlguest /var/lib/dpkg/info/* /var/lib/dpkg/diversions \
		/var/lib/dpkg/statoverride 2>/dev/null || :)
	[ -z "$found" ] || fail "$1 leaves something in $found"
	echo "$1: nothing left"
}

deb=$(echo /debs/hlguest_*.deb)
! dpkg -s hlguest >/dev/null 2>&1 || get purge -y hlguest # of a run that was broken off
get install -y "$deb"
dpkg -s linux-perf >/dev/null || fail "perf does not come with it"
hlguest report /build/tarball/hlguest-*/tests/data/demo.elf \
	/build/tarball/hlguest-*/tests/data/demo-user.data | grep -q '^check  *OK' ||
	fail "Zydis does not come with it"
get purge -y hlguest
get install -y bash-completion binutils man-db zsh # what its tests need
files >/tmp/before

get install -y "$deb"
run_test smoke
run_test live
get remove -y hlguest
gone remove

# Upgraded to the same under a higher version.
get install -y "$deb"
rm -rf /tmp/newer
dpkg-deb -R "$deb" /tmp/newer
sed -i 's/^Version: .*/&+1/' /tmp/newer/DEBIAN/control
dpkg-deb -b /tmp/newer /tmp/newer.deb >/dev/null
get install -y /tmp/newer.deb
case $(dpkg-query -W -f '${Version}' hlguest) in
*+1) ;;
*) fail "not upgraded" ;;
esac
run_test smoke
get purge -y hlguest
gone "upgrade and purge"
rm -rf /tmp/newer /tmp/newer.deb /tmp/before /tmp/after /tmp/log
