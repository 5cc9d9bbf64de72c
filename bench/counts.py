#!/usr/bin/env python3
"""Counts what an operation of the data path executes and touches, by tracing it under valgrind: instructions, and cache lines of code, of private memory and of
memory that another process sees. Other than times, counts do not depend on what else the machine does. Writes counts.md and counts.json.

Examples:
  bench/counts.py                             all parts, about a minute
  bench/counts.py --part take                 one of them
  bench/counts.py --before old/counts.json    beside those of another build
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import shutil
import subprocess
import sys
import tempfile

from parts import INSIDE, OUTSIDE

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = 64
# Where parts/trace.hpp has the marks: of an operation of sinew's, of its floor's, and of the end of either.
MARKS = {0x20000000: "sinew", 0x20000008: "floor", 0x20000010: None}

# Name, program, batches: as many as make the median one of an operation that finds everything as it mostly is. What copies megabytes would count the copy.
PARTS = (
    ("publish", OUTSIDE, 8),
    ("publish-vector", OUTSIDE, 8),
    ("take", OUTSIDE, 8),
    ("take-vector", OUTSIDE, 8),
    ("life", OUTSIDE, 8),
    ("handle", OUTSIDE, 2),
    ("heap-16", OUTSIDE, 2),
    ("audit-image", INSIDE, 2),
    ("state-write", INSIDE, 2),
    ("state-read", INSIDE, 2),
    ("cloud-pieces", INSIDE, 2),
)
COUNTS = {"instructions": "instructions", "code": "lines of code", "own": "own memory", "shared": "shared memory", "shared_written": "of these written"}


def shared_ranges(pid):
    """What the process has mapped of files without a name: memory that it gives to others, or has from them."""
    ranges = []
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5].startswith("/memfd:"):
            ranges.append(tuple(int(word, 16) for word in words[0].split("-")))
    return ranges


class Operation:
    """What is executed and touched between two marks."""

    def __init__(self, whose, ranges):
        self.whose = whose
        self.ranges = ranges
        self.instructions = 0
        self.code, self.touched, self.written = set(), set(), set()

    def note(self, kind, address, size):
        lines = range(address // LINE, (address + size - 1) // LINE + 1)
        if kind == "I":
            self.instructions += 1
            self.code.update(lines)
        else:
            self.touched.update(lines)
            if kind in "SM":
                self.written.update(lines)

    def counts(self):
        shared = {line for line in self.touched if any(first <= line * LINE < end for first, end in self.ranges)}
        return {"instructions": self.instructions, "code": len(self.code), "own": len(self.touched - shared), "shared": len(shared),
                "shared_written": len(shared & self.written)}


def operations(trace, ranges):
    """What a trace of valgrind's lackey has between marks, one after the other; `ranges` is asked for each what is shared."""
    current = None
    for line in trace:
        kind = line[:2].strip()
        if kind not in ("I", "L", "S", "M"):
            continue  # what valgrind says itself
        address, _, size = line[3:].partition(",")
        address = int(address, 16)
        if kind == "S" and address in MARKS:
            if current:
                yield current
            current = Operation(MARKS[address], ranges()) if MARKS[address] else None
        elif current:
            current.note(kind, address, int(size))


def measure(program, part, batches):
    """{"sinew": counts, "floor": counts}: medians, of which other threads of the program, whose work the trace shows as well, disturb few."""
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        pipe = pathlib.Path(folder) / "trace"
        os.mkfifo(pipe)
        command = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={pipe}", str(program), "--part", part, "--count", str(batches), "--mark"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            with open(pipe, encoding="ascii", errors="replace") as trace:
                for operation in operations(trace, lambda: shared_ranges(process.pid)):
                    found[operation.whose].append(operation.counts())
            said = process.stderr.read().strip()
        if process.returncode != 0:
            raise RuntimeError(f"{part}: {said or f'ended with status {process.returncode}'}")
    # The second half: by then memory is mapped, and everything was used before.
    return {whose: {key: statistics.median(each[key] for each in counts[len(counts) // 2:]) for key in COUNTS} for whose, counts in found.items()}


def shown(counts, before, key):
    return f"{before[key]:g} -> {counts[key]:g}" if before else f"{counts[key]:g}"


def table(measured, before):
    """`before`: what another run measured, or {}. A floor, where a part has one, has a line of its own."""
    lines = ["| | " + " | ".join(COUNTS.values()) + " |", "|---|" + "---|" * len(COUNTS)]
    for part, counts in measured.items():
        for whose, own in counts.items():
            then = before.get(part, {}).get(whose)
            lines.append(f"| {part}{', floor' if whose == 'floor' else ''} | " + " | ".join(shown(own, then, key) for key in COUNTS) + " |")
    return lines


def main():
    names = [name for name, *_ in PARTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=names, action="append", help="only this one; may be given more than once")
    parser.add_argument("--before", type=pathlib.Path, metavar="JSON", help="the counts.json of another run, to be shown beside")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin", help="folder; default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        parser.error("this needs valgrind: apt-get install valgrind")
    wanted = [part for part in PARTS if not options.part or part[0] in options.part]
    for program in {program for _, program, _ in wanted}:
        if not (options.programs / program).exists():  # else the trace would be waited for in vain
            parser.error(f"{options.programs / program} is not there: build it first (make bench-counts does)")
    before = json.loads(options.before.read_text()) if options.before else {}
    measured = {}
    for name, program, batches in wanted:
        print(f"counting {name}", file=sys.stderr, flush=True)
        try:
            measured[name] = measure(options.programs / program, name, batches)
        except (OSError, RuntimeError) as error:
            print(f"bench/counts.py: {error}", file=sys.stderr)
            return 1
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "counts.json").write_text(json.dumps(measured, indent=1) + "\n")
    text = "\n".join(["# What an operation executes and touches", "", "Instructions of one operation, and cache lines of 64 bytes: medians over those of a warm run.", "",
                      *table(measured, before)]) + "\n"
    (options.output / "counts.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
