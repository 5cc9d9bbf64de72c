#!/usr/bin/env python3
"""Compares sinew with other systems that carry messages between processes of one machine, and with the floor, in interleaved rounds. Writes peers.json, peers.md and all samples.

Examples:
  bench/peers.py                            seven rounds, about a quarter of an hour; leave the machine alone meanwhile
  bench/peers.py --quick                    one short round, less than a minute: shows that all of it works
  bench/peers.py --systems sinew iceoryx    only these

What it needs: tools/setup peers installs Debian's packages, and cargo fetches the crates of iceoryx2. What cannot be had is left out, and the report says why.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import signal
import statistics
import struct
import subprocess
import sys

import peer_systems
import plan
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATE_HZ = 30
SIZES = (128, plan.FRAME)
SUBSCRIBERS = (1, 5)
# What is measured, and what subscribers read meanwhile: transport without the reading that would take the cores of other subscribers, the whole with it.
MEASURES = {"transport": "touch", "end-to-end": "all"}
TITLES = {"transport": "Transport: from just before publish to the readable payload", "end-to-end": "End to end: obtain memory, fill, publish, receive, read every byte"}
PERCENTILES = {"p50_us": 0.5, "p99_us": 0.99}


def cells():
    return [{"experiment": measure, "read": read, "size": size, "subscribers": subscribers}
            for measure, read in MEASURES.items() for size in SIZES for subscribers in SUBSCRIBERS]


def cell_name(cell):
    return f"{cell['experiment']} {cell['system']} {report.size_name(cell['size'])}, subscribers: {cell['subscribers']}"


def percentile(ordered, fraction):
    """Nearest rank: a sample that really occurred."""
    return ordered[max(math.ceil(fraction * len(ordered)), 1) - 1]


def row_of(cell, transport, end_to_end):
    ordered = sorted(transport if cell["experiment"] == "transport" else end_to_end)
    return {**cell, "count": len(ordered), **{key: percentile(ordered, fraction) / 1000 for key, fraction in PERCENTILES.items()}}


@contextlib.contextmanager
def awake():
    """Keeps idle cores from deep sleep meanwhile, as awake.hpp does; gives whether the kernel granted it."""
    try:
        descriptor = os.open("/dev/cpu_dma_latency", os.O_RDWR)
    except OSError:
        yield False
        return
    try:
        os.write(descriptor, struct.pack("i", 0))
        yield True
    finally:
        os.close(descriptor)


def run_rounds(systems, rounds, count, samples):
    """(rows, failures). Cells in random order, and the systems of each right after another, in random order, too."""
    rows, failures = [], []
    with awake() as granted:
        for number in range(rounds):
            for cell in random.sample(cells(), len(cells())):
                for system in random.sample(systems, len(systems)):
                    measured = {**cell, "system": system.name, "round": number, "awake": granted}
                    print(f"round {number + 1} of {rounds}: {cell_name(measured)}", file=sys.stderr, flush=True)
                    try:
                        transport, end_to_end, _ = peer_systems.measure(system, cell, count, RATE_HZ)
                    except peer_systems.Failed as failure:
                        failures.append({**measured, "why": str(failure)})
                        continue
                    rows.append(row_of(measured, transport, end_to_end))
                    for name, values in (("transport", transport), ("end-to-end", end_to_end)):
                        (samples / f"{system.name}-{cell['size']}-{cell['subscribers']}-{cell['read']}-{number}.{name}.ns").write_bytes(values.tobytes())
    return rows, failures


def spread(values):
    return f"{statistics.median(values):.3g} [{min(values):.3g} .. {max(values):.3g}]"


def show_latency(rows, wanted):
    found = [rows.by_round(key, **wanted).values() for key in PERCENTILES]
    return " / ".join(spread(values) for values in found) if all(found) else ""


def show_ratio(rows, wanted):
    """How many times as long as sinew, in the same round."""
    found = [report.ratios(rows.by_round(key, **wanted), rows.by_round(key, **{**wanted, "system": "sinew"})) for key in PERCENTILES]
    return " / ".join(spread(values) for values in found) if all(found) else ""


def table(rows, measure, show, systems):
    """A line for each system, a column for each cell."""
    chosen = [cell for cell in cells() if cell["experiment"] == measure]
    heads = [f"{report.size_name(cell['size'])}, {cell['subscribers']} subscriber{'s' if cell['subscribers'] > 1 else ''}" for cell in chosen]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    return lines + [f"| {system} | " + " | ".join(show(rows, {**cell, "system": system}) for cell in chosen) + " |" for system in systems]


def write(all_rows, failures, left_out, rounds, quick, facts):
    rows = report.Rows(all_rows)
    systems = [name for name in peer_systems.NAMES if any(row["system"] == name for row in all_rows)]
    how = f"{rounds}, interleaved, in random order; {RATE_HZ} Hz; subscribers block; every process on a core of its own where there are enough"
    lines = report.opening("sinew beside other systems", all_rows, how, quick, facts)
    lines += [f"- not measured: {name}: {why}" for name, why in left_out.items()]
    for measure, title in TITLES.items():
        lines += ["", f"## {title}", "", "p50 / p99, us; of each the median over the rounds [smallest .. largest]:", ""]
        lines += table(rows, measure, show_latency, systems)
        lines += ["", "The same over that of sinew in the same round; above 1, sinew is ahead:", ""]
        lines += table(rows, measure, show_ratio, [system for system in systems if system != "sinew"])
    if failures:
        lines += ["", "## Failed", ""]
        lines += [f"- round {failure['round']}: {cell_name(failure)}: {failure['why']}" for failure in failures]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often every cell is measured (default 7; 1 with --quick)")
    parser.add_argument("--count", type=int, help="messages of a cell that are measured (default 100; 5 with --quick)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--systems", nargs="+", choices=peer_systems.NAMES, default=list(peer_systems.NAMES), help="default: all")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin", help="where the drivers are; default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    if not (options.programs / "sinew-peer-sinew").exists():
        parser.error(f"{options.programs}/sinew-peer-sinew is not there: build it first (make bench-peers does)")
    # So that everything is ended and removed then, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    samples = options.output.resolve() / "peers"
    samples.mkdir(parents=True, exist_ok=True)

    systems = peer_systems.all_systems(options.programs.resolve(), samples / "iceoryx2", options.systems)
    left_out = {system.name: system.missing for system in systems if system.missing}
    for name, why in left_out.items():
        print(f"{name} is left out: {why}", file=sys.stderr)
    systems = [system for system in systems if not system.missing]
    rounds = options.rounds or (1 if options.quick else 7)
    rows, failures = run_rounds(systems, rounds, options.count or (5 if options.quick else 100), samples)

    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    facts = {**report.machine_facts(), **{system.name: system.version for system in systems}, "sinew": commit or "unknown"}
    (options.output / "peers.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = write(rows, failures, left_out, rounds, options.quick, facts)
    (options.output / "peers.md").write_text(text)
    print(text)
    print(f"written to {options.output}: peers.json, peers.md, and all samples in peers/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
