#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the chroot that builds: two packages of one commit, as far apart as can be. Their
# sources are /build/tarball/hlguest-VERSION and /build/far/away/from-git.
set -eu

fail()
{
	echo "tests/package: $*" >&2
	exit 1
}

cd /build/tarball/hlguest-*/
DEBIAN_FRONTEND=noninteractive apt-get -qq build-dep -y --no-install-recommends . >/build/log 2>&1 ||
	{ tail -n 5 /build/log; fail "build-dep failed (see above)"; }
localedef -i fr_FR -f UTF-8 fr_FR.UTF-8

# build LOG ARGUMENT...
build()
{
	log=$1
	shift
	dpkg-buildpackage -us -uc "$@" >"$log" 2>&1 ||
		{ tail -n 40 "$log"; fail "$PWD: does not build (see above)"; }
}

(umask 022 && TZ=UTC build /build/tarball/log)
cd /build/far/away/from-git
find . -exec touch -h -d 2001-02-03 {} +
(umask 077 && TZ=Pacific/Auckland LC_ALL=fr_FR.UTF-8 DEB_BUILD_OPTIONS=nocheck \
	build /build/far/away/log -b)

for deb in /build/tarball/*.deb; do
	cmp "$deb" "/build/far/away/${deb##*/}" || fail "$deb: another when built elsewhere (diffoscope)"
done
cd /build/tarball
lintian --allow-root --suppress-tags bad-distribution-in-changes-file \
	--fail-on error,warning --tag-display-limit 0 ./*.changes 2>/build/log ||
	{ tail -n 5 /build/log; fail "lintian: see above"; }
echo "built twice, the same; lintian has nothing to say:"
sha256sum ./*.deb
