#!/usr/bin/env python3
"""Kills ten thousand processes of a busy graph, and its manager a hundred times (tests/storm); lets every system call of every operation fail (tests/faults); attacks the manager for a minute
(tests/isolation); and gives a robot its worst night (tests/robot/night.py). Writes what was tried, and what came of it, into docs/reliability.md.

Usage: soak.py [--jobs N] [--kills N] [--night SECONDS]
Takes about twenty minutes, and the night an hour. The exit status is 0 when nobody noticed anything and nothing was left; else the last lines say what was otherwise, and how to have it again.
"""

import argparse
import collections
import os
import pathlib
import platform
import re
import sys
import tempfile

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build-dev/bin"
KILLS_PER_ROUND = 1000
ATTACK_SECONDS = 60
BUILD_SECONDS = 1500
RUN_SECONDS = 1200
NIGHT_SECONDS = 3600

HEAD = """# What sinew was tried with

Written by `make soak`, at {commit}, from what the harnesses have counted, on Linux {kernel}, {machine}, {cores} cores.
"""

DEATHS = """## Processes that vanish

{vanished} processes that vanished, {kills} of them killed, in {rounds} rounds of [tests/storm](../tests/storm/README.md): a busy graph of processes, publishers and subscribers of three topics (best effort; reliable and keep-all; transient-local), in place, by pointer, by views, by
copies and of another user, services and actions. *Seen by others* counts how often a worker that was left had ended, had got a wrong byte or a wrong order, had missed something that was not counted, or did not get on with something
that it does, when all were looked at next. *Left behind* counts rounds after which the descriptors, mappings or private memory of a worker or of the manager had grown, or there were entries in the domain's state, files but the one
socket, or processes.
"""

CALLS = """## System calls that fail

{times} runs of an operation of [tests/faults](../tests/faults/README.md) in which one system call failed: each call that the operation makes, with each error that is plausible, in the process itself, in its peer and in the manager. The
operation must work, or say why not; the same must work right afterwards. *Seen by others* counts runs after which that was otherwise, *left behind* those after which a process had more descriptors, shared mappings or threads.
"""

LIMITS = """Real limits, which the kernel holds a process to; *times* counts the attempts to have more. The process had to be told so, and to work when there was room again.
"""

ATTACKS = """## Attacks

A client that may join ([tests/isolation](../tests/isolation/README.md)) sends wrong lengths, wrong descriptors and wrong messages, opens thousands of connections and never reads.
"""

OF_RESTARTS = "After a manager was killed"  # sentences of tests/storm

COLUMNS = """
| fault | times | seen by others | left behind |
| --- | ---: | ---: | ---: |
"""


def commit():
    """What is tried."""
    status, said = bounded.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], seconds=10, capture=True)
    return said.strip() if status == 0 else "a version that git does not know"


def by_call(faults):
    """The rows of a call's errors as one: "sendmsg fails" with EAGAIN and ENOBUFS."""
    calls, errors = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(list)
    for fault, counts in sorted(faults.items()):
        call, error = fault.split(" fails with ")
        calls[call] = [sum(pair) for pair in zip(calls[call], counts)]
        errors[call].append(error)
    return {f"`{call}` fails with {', '.join(errors[call])}": counts for call, counts in calls.items()}


def table(faults):
    return COLUMNS + "".join(f"| {fault} | {times} | {seen} | {left} |\n" for fault, (times, seen, left) in sorted(faults.items()))


def text(report, rounds, night):
    """docs/reliability.md, of the lines that the harnesses have written, and the section of the night."""
    faults, sentences = collections.defaultdict(lambda: [0, 0, 0]), []
    for line in report.splitlines():
        if counted := re.fullmatch(r"(\d+)\t(\d+)\t(\d+)\t(.+)", line):
            faults[counted[4]] = [sum(pair) for pair in zip(faults[counted[4]], map(int, counted.groups()[:3]))]
        else:
            sentences.append(line)
    calls = {fault: counts for fault, counts in faults.items() if " fails with " in fault}
    attacks = {fault: counts for fault, counts in faults.items() if "attack" in fault}
    limits = {fault: counts for fault, counts in faults.items() if fault.startswith("the limit ")}
    deaths = {fault: counts for fault, counts in faults.items() if fault not in calls and fault not in attacks and fault not in limits}
    vanished = sum(times for fault, (times, _, _) in deaths.items() if not fault.startswith("stopped"))
    kills = vanished - sum(times for fault, (times, _, _) in deaths.items() if fault.startswith("becomes another program"))
    return "\n".join(
        [
            HEAD.format(commit=commit(), kernel=platform.release().split("-")[0], machine=platform.machine(), cores=os.cpu_count()),
            DEATHS.format(vanished=vanished, kills=kills, rounds=rounds) + table(deaths),
            *(sentence + "\n" for sentence in sentences if sentence.startswith(OF_RESTARTS)),
            CALLS.format(times=sum(times for times, _, _ in calls.values())) + table(by_call(calls)),
            LIMITS + table(limits),
            ATTACKS + table(attacks),
            *(sentence for sentence in sentences if not sentence.startswith(OF_RESTARTS)),
            "",
            night,
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--night", type=int, default=NIGHT_SECONDS, metavar="SECONDS")
    arguments = parser.parse_args()
    for command in (
        ["cmake", "--log-level=WARNING", "--preset", "dev"],
        ["cmake", "--build", "--preset", "dev", "--parallel", str(arguments.jobs), "--target", "storm_test", "faults_test", "isolation_test", "sinewd"],
    ):
        if bounded.run(command, seconds=BUILD_SECONDS, cwd=ROOT)[0] != 0:
            return 1
    rounds = max(1, arguments.kills // KILLS_PER_ROUND)
    kills_per_round = str(arguments.kills // rounds)
    runs = [("storm_test", "Restart.*", {})]
    runs += [("storm_test", "Storm.*", {"SINEW_STORM_KILLS": kills_per_round, "SINEW_STORM_SEED": str(seed + 1)}) for seed in range(rounds)]
    runs += [("faults_test", "*", {}), ("isolation_test", "UnderAttack.*", {"SINEW_SOAK_SECONDS": str(ATTACK_SECONDS)})]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        report.touch()
        for number, (program, tests, settings) in enumerate(runs, 1):
            print(f"=== soak: {number} of {len(runs) + 1}", flush=True)
            command = [PROGRAMS / program, f"--gtest_filter={tests}"]
            if bounded.run(command, seconds=RUN_SECONDS, env=settings | {"SINEW_REPORT": str(report)}, cwd=ROOT)[0] != 0:
                failed.append(" ".join([*(f"{key}={value}" for key, value in settings.items()), f"build-dev/bin/{program} --gtest_filter='{tests}'"]))
        print(f"=== soak: {len(runs) + 1} of {len(runs) + 1}", flush=True)
        night = report.with_name("night")
        night.touch()
        command = [ROOT / "tests/robot/night.py", "--seconds", str(arguments.night), "--report", str(night)]
        # It says itself how to have it again.
        if bounded.run(command, seconds=arguments.night + 2 * BUILD_SECONDS + RUN_SECONDS, env={"JOBS": str(arguments.jobs)}, cwd=ROOT)[0] != 0:
            failed.append("tests/robot/night.py, above")
        (ROOT / "docs" / "reliability.md").write_text(text(report.read_text(), rounds + 1, night.read_text()))
    print("written to docs/reliability.md")
    for again in failed:
        print(f"it was not as it should be: {again}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
