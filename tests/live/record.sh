#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Records tests/data/*.data anew, with the micro-VM and the demo guest of a build:
#
#	$ tests/live/record.sh build
#
# Takes about a minute and the rights to use /dev/kvm and perf (root, mostly). Skips
# with a reason and exit status 77 where that is not possible. The golden files that
# depend on the recordings have to be made anew afterwards. See tests/data/README.md.
set -eu

data=$(cd "$(dirname "$0")/../data" && pwd)
lab=/tmp/guest-lab # in every recording, hence a neutral and constant name

skip()
{
	echo "record.sh: skipped: $*"
	exit 77
}

fail()
{
	echo "record.sh: $*" >&2
	exit 1
}

# record NAME KEEP WHO PERF-ARGS... -- MICROVM-ARGS...
# WHO: --guest, or "--host --guest". KEEP: one host sample in KEEP stays in the file.
record()
{
	name=$1 keep=$2 who=$3
	shift 3
	# shellcheck disable=SC2086 # $who is up to two words
	perf kvm $who record -q -B -N -o raw.data "$@" 2>"$name.log" ||
		fail "$name: perf failed: $(cat "$name.log")"
	cat "$name.log"
	python3 "$data/trim.py" raw.data "$name.data" "$keep"
	rm raw.data
	[ "$(stat -c %s "$name.data")" -lt 300000 ] || fail "$name: larger than 300 kB"
}

[ $# -eq 1 ] || { echo "usage: record.sh BUILD-DIR" >&2; exit 2; }
built=$(cd "$1" && pwd)/tests/rig
[ -x "$built/microvm" ] || fail "$1: no tests/rig/microvm there (build it first)"
[ -w /dev/kvm ] || skip "/dev/kvm is absent or not permitted"
command -v perf >/dev/null || skip "perf is not installed"
perf record -q -e cpu-clock -o /dev/null true 2>/dev/null ||
	skip "perf may not record (see kernel.perf_event_paranoid)"

mkdir "$lab" || fail "$lab: already there (another recording? else remove it)"
trap 'rm -rf "$lab"' EXIT
trap 'exit 1' INT TERM
cp "$built/microvm" "$built/demo.elf" "$data/rusty.elf" "$lab"
cd "$lab"
said=$(./microvm demo.elf 2>&1) || skip "$said"

record demo-user 1 --guest -e cpu-clock -F 1000 -- ./microvm --seconds=4 demo.elf
record demo-far 1 --guest -e cpu-clock -F 1000 -- \
	./microvm --seconds=2 --base=0x7f3a51c26000 demo.elf
record demo-host 1 "--host --guest" -e cpu-clock -F 1000 -- ./microvm --seconds=2 demo.elf
record demo-events 1 --guest -e cpu-clock,task-clock -F 1000 -- \
	./microvm --seconds=2 demo.elf
record demo-threads 1 --guest -e cpu-clock -F 1000 --sample-cpu -- \
	./microvm --seconds=2 --sandboxes=2 demo.elf
record demo-windows 1 --guest -T --sample-cpu -c 10000000 \
	-e '{cpu-clock,page-faults,context-switches}:S' -- ./microvm --seconds=1 demo.elf
record demo-calls 1 "--host --guest" -T --sample-cpu -c 1 \
	-e '{kvm:kvm_pio,task-clock,page-faults}:S' -- ./microvm --seconds=0.05 demo.elf
record rusty-user 1 --guest -e cpu-clock -F 1000 -- ./microvm --seconds=3 rusty.elf
# Where ring 0 is emulated, nearly all samples hit the emulator: hence the short period.
record demo-kernel 1000 --guest -e cpu-clock -c 20000 -- \
	./microvm --ring=0 --seconds=30 --deadline=120 demo.elf

cp demo.elf demo-user.data demo-far.data demo-host.data demo-events.data \
	demo-threads.data demo-windows.data demo-calls.data rusty-user.data demo-kernel.data "$data"
