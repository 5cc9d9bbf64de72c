#!/usr/bin/env python3
"""Measures how latency holds while every core is loaded: stress-ng at 0, 30, 60 and 90 % beside sinew, a plain unix socket, and the floor, a bare wake-up by eventfd. Their
publishing and receiving threads (of sinew the callback's execution thread) run at SCHED_FIFO. After figure 10 of the Agnocast paper. Writes stress.json and stress.md.

Examples:
  bench/stress.py             three rounds, about twelve minutes; leave the machine alone meanwhile
  bench/stress.py --quick     one short round, about a minute: shows that all of it works

Needs stress-ng, and root or a limit of rtprio (ulimit -r) of at least the priority.
"""
import argparse
import contextlib
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

import plan
import report
import run

LOADS = (0, 30, 60, 90)
SYSTEMS = ("sinew-loan", "unix", "floor")
SIZES = (128, plan.MB)
RATE_HZ = 100
PRIORITY = 80
MOST_SLOWER = 1.5
MOST_ABOVE_FLOOR = 1.3
SETTLE_S = 1.0
COLUMNS = (("p50_us", "p50, us"), ("p99_us", "p99, us"), ("max_us", "max, us"), ("variation", "coefficient of variation"))


def cells(count):
    """Those of one load, which run in random order."""
    return [{**plan.cell("stress", system, size, rate=RATE_HZ, count=count), "fifo": PRIORITY} for system in SYSTEMS for size in SIZES]


def busy_and_all():
    """Processor time of all cores since the start, in ticks: what was not idle, and all."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


@contextlib.contextmanager
def loaded(percent):
    """Every core is busy for so many percent of the time; gives how much that was in truth before anything else ran."""
    command = ["stress-ng", "--quiet", "--cpu", "0", "--cpu-load", str(percent)]
    stress = subprocess.Popen(command, stdout=subprocess.DEVNULL) if percent > 0 else None
    try:
        time.sleep(SETTLE_S)
        busy, total = busy_and_all()
        time.sleep(SETTLE_S)
        busy_after, total_after = busy_and_all()
        if stress and stress.poll() is not None:
            raise RuntimeError(f"stress-ng ended with status {stress.returncode}")
        yield 100 * (busy_after - busy) / max(total_after - total, 1)
    finally:
        if stress:
            stress.terminate()
            stress.wait()


def measure(program, rounds, count):
    """(rows, failures) of all rounds. Loads come in random order, and what is compared under one load in random order, too."""
    rows, failures = [], []
    for number in range(rounds):
        for percent in random.sample(LOADS, len(LOADS)):
            with loaded(percent) as busy:
                for cell in random.sample(cells(count), len(cells(count))):
                    print(f"round {number + 1} of {rounds}, {percent} %: {report.cell_name(cell)}", file=sys.stderr, flush=True)
                    result = run.measure(program, cell)
                    if isinstance(result, str):
                        failures.append({**cell, "round": number, "load": percent, "why": result})
                    else:
                        rows.append({**result, "round": number, "load": percent, "busy": busy})
    return rows, failures


def values(rows, key, **wanted):
    """{round: value} of the rows that have the wanted values."""
    return {row["round"]: row[key] for row in rows if row.get(key) is not None and all(row[name] == value for name, value in wanted.items())}


def bars(rows):
    made = []
    for size in SIZES:
        same = {"system": "sinew-loan", "size": size}
        ratios = report.ratios(values(rows, "p50_us", load=LOADS[-1], **same), values(rows, "p50_us", load=0, **same))
        made.append(report.Bar(f"{report.size_name(size)}: p50 at {LOADS[-1]} % load / at 0 %", MOST_SLOWER, " x", ratios))
        floor = values(rows, "p50_us", load=LOADS[-1], system="floor", size=size)
        above = report.ratios(values(rows, "p50_us", load=LOADS[-1], **same), floor)
        made.append(report.Bar(f"{report.size_name(size)}: p50 at {LOADS[-1]} % load / of the floor under that load", MOST_ABOVE_FLOOR, " x", above))
        made.append(report.Bar(f"{report.size_name(size)}: lost, all loads", 0, "", [row["lost"] for row in rows if row["system"] == "sinew-loan" and row["size"] == size]))
    return made


def write(rows, failures, rounds, facts):
    lines = ["# Latency while all cores are loaded", ""] + [f"- {name}: {value}" for name, value in facts.items()]
    lines += [f"- rounds: {rounds}, loads and systems in random order; {RATE_HZ} Hz, SCHED_FIFO at priority {PRIORITY} for the publishing and the receiving thread",
              "", "## Bars", "", "Each ratio is taken within a round; median over the rounds [smallest .. largest].", "", "| bar | limit | measured | holds |", "|---|---|---|---|"]
    lines += [bar.line() for bar in bars(rows)]
    for size in SIZES:
        lines += ["", f"## {report.size_name(size)}", "", "Medians over the rounds; max is the largest of all:", "",
                  "| load asked (had) | | " + " | ".join(name for _, name in COLUMNS) + " |", "|---|---|" + "---|" * len(COLUMNS)]
        for percent in LOADS:
            for system in SYSTEMS:
                same = {"load": percent, "system": system, "size": size}
                found = [list(values(rows, key, **same).values()) for key, _ in COLUMNS]
                if not all(found):
                    continue
                busy = statistics.median(values(rows, "busy", **same).values())
                shown = [f"{(max if key == 'max_us' else statistics.median)(each):.3g}" for (key, _), each in zip(COLUMNS, found)]
                lines.append(f"| {percent} % ({busy:.0f} %) | {system} | " + " | ".join(shown) + " |")
    if failures:
        lines += ["", "## Not measured", ""]
        lines += [f"- round {each['round']}, {each['load']} %: {report.cell_name(each)}: {each['why']}" for each in failures]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often every cell is measured (default 3; 1 with --quick)")
    parser.add_argument("--count", type=int, help="messages of a cell (default 1000; 100 with --quick)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--program", type=pathlib.Path, default=run.ROOT / "build/bin/sinew-bench", help="default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=run.ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    if not options.program.exists():
        parser.error(f"{options.program} is not there: build it first (make bench-stress does)")
    if not shutil.which("stress-ng"):
        parser.error("stress-ng is not there: apt-get install stress-ng (make bench-stress does)")
    rounds = options.rounds or (1 if options.quick else 3)
    rows, failures = measure(options.program.resolve(), rounds, options.count or (100 if options.quick else 1000))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "stress.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = write(rows, failures, rounds, report.machine_facts())
    (options.output / "stress.md").write_text(text)
    print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
