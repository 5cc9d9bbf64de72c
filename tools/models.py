#!/usr/bin/env python3
"""Checks the models of the protocols in models/: that no interleaving breaks what they promise, that every step of them is reached, and that each of their
mutations, which have one step wrong, is found out. All run, also after one has failed.

Usage: models.py [--jobs N] [NAME...]        names: those of the files in models/
The exit status is 0 when all is well. What went wrong is in the folder that it names, and shown there step by step by `spin -t -p -g`.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import time

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-models"
SECONDS = 600
DEPTH = 1_000_000

# Of each model the ways to run it, and the mutations by the way in which they are found out.
MODELS = {
    "reclaim": {
        "": "CLAIMS_BEFORE_RETIRING NO_SECOND_LOOK NOT_RETIRED CLAIM_AFTER_LOOKING CURSOR_BEFORE_CLAIM FORGOTTEN_WHEN_IT_UNSUBSCRIBES HEAD_BEFORE_THE_ENTRY"
        " UNCLAIMED_BEFORE_THE_LAST_READ",
        "LIVENESS FRAMES=2 STORAGES=1": "DEAD_ARE_NOT_FORGOTTEN LEFT_READERS_STILL_DECIDE",
    },
    "doorbell": {
        "": "LOOKED_BEFORE_MARKED_ASLEEP NOT_LOOKED_AGAIN_BEFORE_SLEEPING RUNG_BEFORE_THE_HEAD DRAINED_AFTER_THE_LAST_LOOK NEWCOMERS_COME_SILENTLY",
        "ALONE": "RUNG_IN_WHATEVER_EPOCH NOT_WOKEN_BY_THE_END SPACE_NOT_LOOKED_FOR_AGAIN SPACE_LOOKED_FOR_BEFORE_BLOCKED FORGOTTEN_SILENTLY",
        "ALONE RING=1": "BLOCKED_LOOKED_AT_BEFORE_THE_CURSOR",
    },
    "chunks": {
        "": "REUSED_AT_ONCE REUSED_AFTER_ONE_ANSWER ANSWERED_WHILE_USED NOT_LEFT_PENDING NOT_REFRESHED_AFTER_LOOKING TOLD_BEFORE_IT_IS_MAPPED"
        " NEWEST_READ_AFTER_ANNOUNCING DROPPED_READ_BEFORE_ANNOUNCING WITHDRAWN_UNTOLD_IN_SILENCE",
        "DEATH FRAMES=1": "",
        "ALONE": "DEAD_ARE_NOT_FORGOTTEN END_LOOKED_AT_AFTER_CHUNKS",
        "ALONE ADDRESSES=3": "WITHDRAWN_THOUGH_MADE_AFTER_ANNOUNCING",
    },
}


# The uses of an inline are not told apart: of these steps each way to run the model leaves out one use, not always the same.
NOT_TOLD_APART = {
    "chunks": r"to_reader\[\d\]!(CHUNK|WITHDRAWN),c|told\[\d\]\.(in_flight = c|chunk\[c\] = 1|owes\[c\] = 1)|owner_of\[address_of\[id\]\] = 0|else|\(\(!\(told\[0\]\.is_waited_for.*",
}


class Run:
    """A model, built and searched in one way: what pan found, and how long it took."""

    def __init__(self, model, way, mutation=None):
        self.model, self.way, self.mutation = model, way, mutation
        self.title = " ".join(filter(None, [model, way, mutation]))
        self.folder = BUILD / self.title.replace(" ", "-")

    def search(self):
        start = time.monotonic()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        macros = [f"-D{name}" for name in [*self.way.split(), self.mutation] if name]
        shutil.copy(ROOT / "models" / f"{self.model}.pml", self.folder / "model.pml")
        live = "LIVENESS" in self.way.split()
        kind, search = (["-DNFAIR=2"], ["-a", "-f"]) if live else (["-DSAFETY"], [])
        self.said = ""
        for command in (
            ["spin", "-a", *macros, "model.pml"],
            ["gcc", "-O1", "-w", *kind, "-DCOLLAPSE", "-DVECTORSZ=2048", "-o", "pan", "pan.c"],
            ["./pan", f"-m{DEPTH}", *search],
        ):
            status, said = bounded.run(command, seconds=SECONDS, capture=True, cwd=self.folder)
            self.said += said
            if status != 0:
                break
        self.seconds = time.monotonic() - start
        found = re.search(r"errors: (\d+)", self.said)
        self.errors = int(found.group(1)) if found and status == 0 else None
        stored = re.search(r"^\s*(\S+) states, stored", self.said, re.MULTILINE)
        self.states = int(float(stored.group(1))) if stored else 0
        return self

    def unreached(self):
        """The steps of each process that the search has not come to. Where a process may stop for good, it need not come to its end."""
        process, steps = None, set()
        for line in self.said.splitlines():
            if at := re.match(r"unreached in (?:proctype|claim) (\w+)", line):
                process = at.group(1)
            elif (at := re.match(r"\t\S+:(\d+), state \d+, \"(.*)\"", line)) and process:
                steps.add((process, at.group(1), at.group(2)))
            elif not line.startswith("\t"):
                process = None
        return {step for step in steps if step[2] not in ("-end-", "(gone[2])")}

    def trouble(self):
        if self.errors is None or "max search depth too small" in self.said:
            return f"the search was not completed: {(self.said.strip().splitlines() or ['nothing was said'])[-1]}"
        if self.mutation is None and self.errors > 0:
            return next(line for line in self.said.splitlines() if line.startswith("pan:1:"))
        if self.mutation is not None and self.errors == 0:
            return "the mutation was not found out"
        return None


def run(names, jobs):
    """(passed, what failed) of the models."""
    runs = []
    for name in names:
        for way, mutations in MODELS[name].items():
            runs += [Run(name, way), *(Run(name, way, mutation) for mutation in mutations.split())]
    runs.sort(key=lambda run: run.mutation is not None)  # first those that take long
    failures = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for run in pool.map(Run.search, runs):
            trouble = run.trouble()
            verdict = trouble or ("found out" if run.mutation else "holds")
            print(f"  {run.title:<72} {run.states:>9} states {run.seconds:6.1f} s   {verdict}", flush=True)
            failures += [f"failed: {run.title}: {trouble}\n    see it: cd {run.folder} && spin -t -p -g {' '.join('-D' + each for each in [*run.way.split(), run.mutation] if each)} model.pml"] if trouble else []
    for name in names:
        unreached = set.intersection(*(run.unreached() for run in runs if run.model == name and run.mutation is None))
        failures += [f"failed: {name}: no way to run it reaches line {line} of {process}: {step}" for process, line, step in sorted(unreached) if not re.fullmatch(NOT_TOLD_APART.get(name, ""), step)]
        known = {word for mutations in MODELS[name].values() for word in mutations.split()} | {"ALONE", "DEATH", "LIVENESS", "FRAMES", "STORAGES", "ADDRESSES", "RING"}
        conditions = re.findall(r"^#(?:ifn?def|if|elif) .*", (ROOT / "models" / f"{name}.pml").read_text(), re.MULTILINE)
        if strange := {word for line in conditions for word in re.findall(r"\b[A-Z][A-Z_]+\b", line)} - known:
            failures.append(f"failed: nobody tries the mutations {', '.join(sorted(strange))} of {name}")
    return len(runs) - len(failures), failures


def names():
    return list(MODELS)


def main():
    parser = argparse.ArgumentParser(epilog="names: " + " ".join(names()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in names()]:
        parser.error(f"no such model: {', '.join(unknown)}")
    passed, failures = run(arguments.names or names(), arguments.jobs)
    print("\n".join([*failures, f"{passed} passed, {len(failures)} failed"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
