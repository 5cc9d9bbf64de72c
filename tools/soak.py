#!/usr/bin/env python3
"""Kills ten thousand processes of a busy graph (tests/storm), and writes what was tried into docs/reliability.md.

Usage: soak.py [--jobs N] [--kills N]
Takes about ten minutes. The exit status is 0 when nobody noticed anything; else nothing is written, and the last lines say what was noticed, and the seed that shows it again.
"""

import argparse
import collections
import os
import pathlib
import platform
import sys
import tempfile

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
KILLS_PER_ROUND = 1000
BUILD_SECONDS = 1500
ROUND_SECONDS = 600

HEAD = """# What sinew was tried with

Written by `make soak` ([tests/storm](../tests/storm/README.md)): {kills} kills in {rounds} rounds, on Linux {kernel}, {machine}, {cores} cores.

A busy graph of processes: publishers and subscribers of three topics (best effort; reliable and keep-all; transient-local), in place, by pointer, by views, by copies and of another user, services and actions. *What others saw* counts the
workers that were left and ended, got a wrong byte or a wrong order, missed something that was not counted, or did not get on with something that they do. *What was left* counts those, and the manager, whose descriptors, mappings or
private memory had grown, entries of the domain's state, files but the one socket, and processes.

| fault | times | what others saw | what was left |
| --- | ---: | ---: | ---: |
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kills", type=int, default=10_000)
    arguments = parser.parse_args()
    for command in (
        ["cmake", "--log-level=WARNING", "--preset", "dev"],
        ["cmake", "--build", "--preset", "dev", "--parallel", str(arguments.jobs), "--target", "storm_test", "sinewd"],
    ):
        if bounded.run(command, seconds=BUILD_SECONDS, cwd=ROOT)[0] != 0:
            return 1
    rounds = max(1, arguments.kills // KILLS_PER_ROUND)
    faults = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        for seed in range(1, rounds + 1):
            print(f"=== soak: round {seed} of {rounds}", flush=True)
            environment = {"SINEW_STORM_KILLS": str(arguments.kills // rounds), "SINEW_STORM_SEED": str(seed), "SINEW_STORM_REPORT": str(report)}
            if bounded.run([ROOT / "build-dev" / "bin" / "storm_test"], seconds=ROUND_SECONDS, env=environment, cwd=ROOT)[0] != 0:
                print(f"noticed in round {seed}: SINEW_STORM_KILLS={arguments.kills // rounds} SINEW_STORM_SEED={seed} build-dev/bin/storm_test")
                return 1
        for line in report.read_text().splitlines():
            times, fault = line.split("\t")
            faults[fault] += int(times)
    kills = sum(times for fault, times in faults.items() if not fault.startswith("stopped"))
    head = HEAD.format(kills=kills, rounds=rounds, kernel=platform.release().split("-")[0], machine=platform.machine(), cores=os.cpu_count())
    rows = "".join(f"| {fault} | {times} | 0 | 0 |\n" for fault, times in sorted(faults.items()))
    (ROOT / "docs").mkdir(exist_ok=True)
    (ROOT / "docs" / "reliability.md").write_text(head + rows)
    print(f"{kills} kills, and nobody noticed: docs/reliability.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
