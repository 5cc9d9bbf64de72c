#!/usr/bin/env python3
"""Tries the memory orders of src/shm/ring.cpp and bell.cpp, as they are compiled: all executions that RC11 allows of a few threads (models/orders), as the source is, which must do nothing wrong, then
with each order weakened, alone and two at a time: one that is needed in none of these cases is an error.

Usage: orders.py [TRIAL...]        only these trials, with the source as it is
The exit status is 0 when all is well.
"""

import argparse
import collections
import pathlib
import re
import shutil
import sys

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "models/orders"
BUILD = ROOT / "build-models/orders"
SECONDS = 600

SOURCES = ROOT / "src/shm"
FILES = ["layout.hpp", "counters.hpp", "ring.hpp", "ring.cpp", "bell.hpp", "bell.cpp", "fence.hpp"]
TRIED = ["ring.cpp", "bell.cpp"]
# Words are what the checker knows of, and as few as there may be; a thread is left in the middle of any function, by an exception.
EVERYWHERE = {"#include <atomic>": '#include "atomic.hpp"', "std::atomic<": "checked::atomic<", " noexcept": ""}
CHANGES = {
    "layout.hpp": {
        "ring_capacity = 1024": "ring_capacity = 2",
        "max_claims = 120": "max_claims = 66",
        "sizeof(Word64) == 8": "sizeof(Word64) >= 8",
        "sizeof(Word32) == 4": "sizeof(Word32) >= 4",
        "std::uint32_t capacity;": "checked::plain capacity;",
        "alignas(64) ": "",
    },
    "counters.hpp": {
        "latency_buckets = 48": "latency_buckets = 2",
        "static_assert(sizeof(CounterSlot) % 64 == 0 && sizeof(CounterHeader) == 64);": "",
        "alignas(64) ": "",
    },
    "fence.hpp": {
        "inline void fence(std::memory_order order)": "inline void fence(std::memory_order order, checked::Place at = checked::Place::current())",
        "std::atomic_thread_fence(order)": "checked::fence(order, at)",
    },
}


def build():
    """Whether it is built, and what was said."""
    shutil.rmtree(BUILD, ignore_errors=True)
    (BUILD / "shm").mkdir(parents=True)
    for name in FILES:
        text = (SOURCES / name).read_text()
        for old, new in EVERYWHERE.items():
            text = text.replace(old, new)
        for old, new in CHANGES.get(name, {}).items():
            if old not in text:
                return False, f"src/shm/{name} has no '{old}' any more: tools/orders.py must follow"
            text = text.replace(old, new)
        (BUILD / "shm" / name).write_text(text)
    sources = [*sorted(MODELS.glob("*.cpp")), *(BUILD / "shm" / name for name in TRIED)]
    command = ["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{BUILD}", f"-I{MODELS}", f"-I{ROOT}/src", "-o", BUILD / "orders", *sources]
    status, said = bounded.run(command, seconds=SECONDS, capture=True)
    return status == 0, said


def line_of(name, place):
    return (SOURCES / name).read_text().splitlines()[int(place.split(":")[0]) - 1].strip()


def unreached(said):
    """The lines with more memory orders than trials come to."""
    reached = collections.Counter(re.findall(r"^reached (\S+ \d+):", said, re.MULTILINE))
    for name in TRIED:
        begun = 0  # on the line before: an access may be wrapped
        for number, line in enumerate((SOURCES / name).read_text().splitlines(), 1):
            orders = re.findall(r"memory_order_(\w+)", line.split("//")[0])
            here = reached[f"{name} {number}"]
            if len(orders) > here + begun and set(orders) != {"relaxed"}:
                yield name, number, line.strip()
            begun = max(here - len(orders), 0)


def run():
    """(passed, what failed) of the checker's own examples, the trials, and each weaker order."""
    is_built, said = build()
    status = 1
    if is_built:
        status, said = bounded.run([BUILD / "orders"], seconds=SECONDS, capture=True)
    if status != 0:
        return 0, [f"failed: orders: {said.strip()}"]
    verdicts = {}
    for name, wrong in re.findall(r"^litmus (.+): (-|WRONG)$", said, re.MULTILINE):
        verdicts[f"known: {name}"] = wrong
    for name, graphs, wrong in re.findall(r"^trial (\S+) (\d+) (.+)$", said, re.MULTILINE):
        print(f"  orders {name:<64} {graphs:>9} graphs            {'holds' if wrong == '-' else wrong}")
        verdicts[f"trial {name}"] = wrong
    needed = {}
    for *one, found in re.findall(r"^weakened (\S+) (\S+) (\S+) (.+)$", said, re.MULTILINE):
        needed[tuple(one)] = None if found == "-" else found
    for *both, found in re.findall(r"^both (\S+) (\S+) (\S+) (\S+) (\S+) (\S+) (.+)$", said, re.MULTILINE):
        for one, other in ((both[:3], both[3:]), (both[3:], both[:3])):
            needed[tuple(one)] = needed[tuple(one)] or f"with {other[0]}:{other[1]} {other[2]}: {found}"
    for (name, place, order), found in needed.items():
        title = f"{name}:{place} {order}: {line_of(name, place)}"
        print(f"  orders {title[:96]:<96} {found or 'not found out'}")
        verdicts[title] = "-" if found else "no trial needs the order that stands there"
    for name, number, line in unreached(said):
        verdicts[f"{name}:{number} {line}"] = "no trial comes to it"
    failures = [f"failed: orders: {title}: {wrong}" for title, wrong in verdicts.items() if wrong != "-"]
    return len(verdicts) - len(failures), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="TRIAL")
    arguments = parser.parse_args()
    if not arguments.trials:
        passed, failures = run()
        print("\n".join([*failures, f"{passed} passed, {len(failures)} failed"]))
        return 1 if failures else 0
    is_built, said = build()
    if not is_built:
        print(said)
        return 1
    return bounded.run([BUILD / "orders", *arguments.trials], seconds=SECONDS)[0]


if __name__ == "__main__":
    sys.exit(main())
