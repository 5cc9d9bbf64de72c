#!/usr/bin/env python3
"""Kills ten thousand processes of a busy graph, and its manager a hundred times (tests/storm), and writes what was tried, and what came of it, into docs/reliability.md.

Usage: soak.py [--jobs N] [--kills N]
Takes about ten minutes. The exit status is 0 when nobody noticed anything and nothing was left; else the last lines say in which round it was otherwise, and how to have it again.
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

Written by `make soak` ([tests/storm](../tests/storm/README.md)), from what the harness has counted: {kills} kills in {rounds} rounds, on Linux {kernel}, {machine}, {cores} cores.

A busy graph of processes: publishers and subscribers of three topics (best effort; reliable and keep-all; transient-local), in place, by pointer, by views, by copies and of another user, services and actions. *Seen by others* counts how often
a worker that was left had ended, had got a wrong byte or a wrong order, had missed something that was not counted, or did not get on with something that it does, when all were looked at next. *Left behind* counts rounds after which the
descriptors, mappings or private memory of a worker or of the manager had grown, or there were entries in the domain's state, files but the one socket, or processes.

| fault | times | seen by others | left behind |
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
    kills_per_round = str(arguments.kills // rounds)
    faults = collections.defaultdict(lambda: [0, 0, 0])
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        report.touch()
        for seed in range(rounds + 1):
            name = "Storm.*" if seed else "Restart.*"
            print(f"=== soak: round {seed} of {rounds}", flush=True)
            wanted = {"SINEW_STORM_KILLS": kills_per_round, "SINEW_STORM_SEED": str(seed)}
            command = [ROOT / "build-dev" / "bin" / "storm_test", f"--gtest_filter={name}"]
            if bounded.run(command, seconds=ROUND_SECONDS, env=wanted | {"SINEW_STORM_REPORT": str(report)}, cwd=ROOT)[0] != 0:
                failed.append(" ".join([*(f"{key}={value}" for key, value in wanted.items()), f"build-dev/bin/storm_test --gtest_filter='{name}'"]))
        for line in report.read_text().splitlines():
            *counts, fault = line.split("\t")
            faults[fault] = [sum(pair) for pair in zip(faults[fault], map(int, counts))]
    kills = sum(times for fault, (times, _, _) in faults.items() if not fault.startswith("stopped"))
    head = HEAD.format(kills=kills, rounds=rounds + 1, kernel=platform.release().split("-")[0], machine=platform.machine(), cores=os.cpu_count())
    rows = "".join(f"| {fault} | {times} | {seen} | {left} |\n" for fault, (times, seen, left) in sorted(faults.items()))
    (ROOT / "docs" / "reliability.md").write_text(head + rows)
    print(f"{kills} kills: docs/reliability.md")
    for again in failed:
        print(f"it was not as it should be: {again}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
