#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Proves that golden.py fails when it should: a golden test that cannot fail proves
nothing. Each test writes cases into a directory of its own and runs golden.py on them.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EVERY_BYTE = "printf '%b' \"$(printf '\\\\0%o' $(seq 1 255))\""


class Golden(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(prefix="selftest-")
        self.addCleanup(self.dir.cleanup)

    def write(self, text, name="case"):
        path = os.path.join(self.dir.name, name + ".test")
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def read(self, path):
        with open(path, "rb") as f:
            return f.read()

    def run_golden(self, *args, folder=HERE, **env):
        runner = os.path.join(folder, "golden.py")
        done = subprocess.run(
            [sys.executable, runner, "--build", self.dir.name, *args],
            env={**os.environ, "HLG_TEST_LOCALE": "", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout.decode()

    def passes(self, text, *args, **env):
        status, output = self.run_golden(*args, self.write(text), **env)
        self.assertEqual(status, 0, output)
        self.assertEqual(output.splitlines()[:2], ["1..1", "ok 1 - case"])
        return output

    def fails(self, text, reason, *args, **env):
        status, output = self.run_golden(*args, self.write(text), **env)
        self.assertEqual(status, 1, output)
        self.assertIn("\nnot ok 1 - case\n", output)
        self.assertIn(reason, output)

    def test_no_cases(self):
        for name in ("golden.py", "golden_case.py"):
            shutil.copy(os.path.join(HERE, name), self.dir.name)
        status, output = self.run_golden(folder=self.dir.name)
        self.assertEqual(status, 1, output)
        self.assertIn("no cases", output)

    def test_all_as_expected(self):
        self.passes("# why\n$ echo out; echo err >&2\n$ exit 3\n> out\n! err\n= 3\n")

    def test_wrong_stdout(self):
        self.fails("$ echo new\n> old\n", "# -> old\n# +> new\n")

    def test_missing_stdout(self):
        self.fails("$ true\n> gone\n", "# -> gone\n")

    def test_unexpected_stdout(self):
        self.fails("$ echo more\n", "# +> more\n")

    def test_wrong_stderr(self):
        self.fails("$ echo new >&2\n! old\n", "# -! old\n# +! new\n")

    def test_streams_are_told_apart(self):
        self.fails("$ echo x >&2\n> x\n", "# -> x\n# +! x\n")

    def test_wrong_status(self):
        self.fails("$ exit 4\n= 3\n", "# -= 3\n# += 4\n")
        self.fails("$ exit 4\n", "# += 4\n")
        self.fails("$ true\n= 3\n", "# -= 3\n")

    def test_status_above_the_signals(self):
        self.passes("$ exit 255\n= 255\n")

    def test_missing_newline(self):
        self.passes("$ printf 'a\\nb'\n> a\n>| b\n")
        self.fails("$ printf 'a\\nb'\n> a\n> b\n", "# -> b\n# +>| b\n")
        self.fails("$ echo b\n>| b\n", "# ->| b\n# +> b\n")

    def test_empty_lines_count(self):
        self.passes("$ echo; echo\n>\n>\n")
        self.fails("$ echo; echo\n>\n", "# +>\n")

    def test_escapes(self):
        self.passes("$ printf 'a\\033[1m\\377\\\\b \\n'\n>x a\\x1b[1m\\xff\\\\b\\x20\n")
        self.fails("$ printf '\\033\\n'\n>x \\x1a\n", "# ->x \\x1a\n# +>x \\x1b\n")
        self.fails("$ true\n>x \\q\n", "no such escape")
        self.fails("$ true\n>x \\x1\n", "no such escape")

    def test_look_alikes(self):
        self.fails("$ printf 'a \\n'\n> a\n", "# +>x a\\x20\n")
        self.fails("$ printf 'a\\r\\n'\n> a\n", "# +>x a\\r\n")
        self.fails("$ printf 'a\\xe2\\x80\\x8b\\n'\n> a\n", "# +>x a\\xe2\\x80\\x8b\n")

    def test_death_by_signal(self):
        self.fails("$ kill -SEGV $$\n", "# += signal SEGV\n")
        self.fails("$ kill -SEGV $$\n= 139\n", "death by signal")
        self.fails("$ exit 139\n= 1\n", "died by signal 11")
        self.fails("$ kill -SEGV $$\n= signal ABRT\n", "# += signal SEGV\n")
        self.passes("$ kill -SEGV $$\n= signal SEGV\n")

    def test_steps_share_a_directory(self):
        self.passes("$ echo x >f\n\n# later\n$ cat f\n> x\n$ cat g 2>/dev/null\n= 1\n")
        self.fails("$ exit 1\n\n$ true\n", "# += 1\n")

    def test_scripts_of_several_lines(self):
        self.passes("$ cat <<END\n$ a\n$\n$ b\n$ END\n> a\n>\n> b\n")

    def test_files_at_hand(self):
        self.passes("$ readlink hlguest.so\n> /x/f.so\n", PERF_FILTER="/x/f.so")
        self.passes(f"$ diff -r data {os.path.dirname(HERE)}/data\n")
        self.passes("$ [ data/demo-user.data -nt data/demo.elf ]\n")
        self.passes("$ echo $MKELF $LC_ALL $PERF_CONFIG\n> /m C /dev/null\n", MKELF="/m")

    def test_locale(self):
        self.passes("$ echo $LC_ALL\n> C.UTF-8\n", HLG_TEST_LOCALE="C.UTF-8")

    def test_needs(self):
        path = self.write("? need: jansson\n$ false\n")
        _, output = self.run_golden(path, HLG_FEATURES="")
        self.assertEqual(output, "1..1\nok 1 - case # SKIP needs jansson\n")
        self.fails("? need: jansson\n$ false\n", "# += 1\n", HLG_FEATURES="zydis jansson")
        self.passes("? need: !jansson\n$ true\n", HLG_FEATURES="zydis")
        path = self.write("? need: !zydis\n$ false\n")
        _, output = self.run_golden(path, HLG_FEATURES="zydis")
        self.assertEqual(output, "1..1\nok 1 - case # SKIP without zydis only\n")
        self.fails("? need: jannson\n$ true\n", "no such need: jannson")

    def test_malformed(self):
        self.fails("# nothing\n", "no command")
        self.fails("$ true\n\n> x\n", "case.test:3: not right below a command")
        self.fails("$ true\nx\n", "case.test:2: no such line")
        self.fails("$ true\n>x\\x41\n", "blank must follow")
        self.fails("$ true\n>| a\n> b\n", "after the one without a newline")
        self.fails("$ true\n= 256\n", "not an exit status")
        self.fails("$ true\n= signal NONE\n", "no such signal")
        self.fails("$ true\n? need: perf\n", "before the first command")

    def test_missing_case(self):
        status, output = self.run_golden("no-such-case")
        self.assertEqual(status, 1)
        self.assertIn("not ok 1 - no-such-case", output)

    def test_one_failure_among_many(self):
        paths = [self.write(f"$ exit {i == 7:d}\n", f"case{i}") for i in range(20)]
        status, output = self.run_golden(*paths)
        lines = output.splitlines()
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], "1..20")
        self.assertIn("not ok 8 - case7", lines)
        self.assertIn("ok 20 - case19", lines)
        self.assertEqual(sum(line.startswith("ok") for line in lines), 19)

    def test_update_keeps_the_rest(self):
        head = "# why\n? need: !zydis\n$ echo a\n"
        path = self.write(head + "> old\n= 2\n\n# then\n$ exit 5\n")
        self.run_golden("--update", path, HLG_FEATURES="")
        after = head + "> a\n\n# then\n$ exit 5\n= 5\n"
        self.assertEqual(self.read(path), after.encode())

    def test_update_round_trip(self):
        text = f"$ {EVERY_BYTE}; echo; {EVERY_BYTE} >&2\n"
        self.passes(text, "--update")
        path = os.path.join(self.dir.name, "case.test")
        updated = self.read(path)
        self.assertTrue(updated.isascii() and b"\\xff" in updated, updated)
        self.assertEqual(self.run_golden(path), (0, "1..1\nok 1 - case\n"))
        self.run_golden("--update", path)
        self.assertEqual(self.read(path), updated)

    def test_update_refuses(self):
        path = os.path.join(self.dir.name, "case.test")
        self.fails("$ kill -SEGV $$\n", "died by signal 11", "--update")
        self.assertEqual(self.read(path), b"$ kill -SEGV $$\n")
        self.fails("$ pwd\n", "the path of", "--update")
        self.assertEqual(self.read(path), b"$ pwd\n")

    def test_update_leaves_good_cases_alone(self):
        path = self.write("$ true\n")
        os.chmod(path, stat.S_IRUSR)
        before = os.stat(path).st_mtime_ns
        self.assertEqual(self.run_golden("--update", path)[0], 0)
        self.assertEqual(os.stat(path).st_mtime_ns, before)


if __name__ == "__main__":
    unittest.main()
