# SPDX-License-Identifier: GPL-2.0-only
"""All that the command says, kept while somebody wants it: tap.run and programs.on_terminal
tell what they ran, where, and what it said."""
import collections
import os

COMMAND = "hlguest"
Run = collections.namedtuple("Run", "words cwd text status")
_kept = None


def tell(argv, cwd, text, status):
    """One run has ended. Of other programs nothing is kept: what perf says is perf's."""
    if _kept is not None and os.path.basename(argv[0]) == COMMAND:
        _kept.append(Run(list(argv[1:]), cwd, text, status))


def keep(work):
    """(what work() returns, the runs meanwhile)"""
    global _kept
    before, _kept = _kept, []
    try:
        return work(), _kept
    finally:
        _kept = before


def transcript(runs):
    return "".join(f"$ {COMMAND} {' '.join(run.words)}\n{run.text}status {run.status}\n"
                   for run in runs)
