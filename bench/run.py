#!/usr/bin/env python3
"""Measures sinew beside the floors of this machine, in interleaved rounds, and writes results.json, report.md and a plot.

Examples:
  bench/run.py                        the whole benchmark, about sixteen minutes; leave the machine alone meanwhile
  bench/run.py --graph-seconds 120    the same with the graphs in full length, about forty minutes
  bench/run.py --quick                two sizes, one round, about a minute: shows that all of it works, not how fast it is
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time

import graphs
import parts
import plan
import report
import scale

ROOT = pathlib.Path(__file__).resolve().parent.parent
CELL_TIMEOUT_S = 150


def option(key, value):
    """The words that give sinew-bench one option; those that are on or off have no value."""
    return ([f"--{key}"] if value else []) if isinstance(value, bool) else [f"--{key}", str(value)]


def measure(program, cell):
    """Runs one cell, by `program` or the one beside it that the cell names. Returns its row, or a sentence that says why there is none."""
    timeout = CELL_TIMEOUT_S + cell.get("seconds", 0)
    options = {key: value for key, value in cell.items() if key != "program"}
    command = [str(program.with_name(cell.get("program", program.name)))] + [word for key, value in options.items() for word in option(key, value)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return f"did not end within {timeout} s"
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return "; ".join(said) or f"ended with status {done.returncode}"
    return json.loads(done.stdout.splitlines()[-1])


def run_round(program, number, bundles, shuffle, rows, failures, progress):
    """One round: the bundles in random order, and the cells of each bundle in random order."""
    shuffle(bundles)
    for bundle in bundles:
        shuffle(bundle)
        for cell in bundle:
            progress(cell)
            result = measure(program, cell)
            if isinstance(result, str):
                failures.append({**cell, "round": number, "why": result})
            else:
                rows.append({**result, "round": number})


def progress_printer(total):
    """Prints where the run stands: a line that is written over on a terminal, and one now and then elsewhere."""
    started = time.monotonic()
    done = 0

    def show(cell):
        nonlocal done
        what = f"[{done:3}/{total}] {time.monotonic() - started:4.0f} s  {report.cell_name(cell)}"
        if sys.stderr.isatty():
            print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)
        elif done % 25 == 0:
            print(what, file=sys.stderr, flush=True)
        done += 1

    return show


def can_make_containers():
    """Root can, unless he is in a container himself."""
    return shutil.which("unshare") is not None and subprocess.run(["unshare", "--mount", "--pid", "--ipc", "--net", "--fork", "true"], capture_output=True).returncode == 0


def draw(rows, output):
    """Draws the plot; without matplotlib the numbers are there all the same."""
    try:
        import plot
    except ImportError:
        print("no plot: this Python has no matplotlib (apt-get install python3-matplotlib, then run with /usr/bin/python3)", file=sys.stderr)
        return False
    plot.draw(rows, output)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often every cell is measured (default 5; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="two sizes and few messages, in about a minute")
    parser.add_argument("--graph-seconds", type=int, help=f"how long each graph runs in each mode (default {graphs.SECONDS}, {graphs.QUICK_SECONDS} with --quick; "
                        f"{graphs.FULL_SECONDS} for a full run)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/bin/sinew-bench", help="default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    if not options.program.exists():
        parser.error(f"{options.program} is not there: build it first (make bench does)")
    program = options.program.resolve()
    rounds = options.rounds or (1 if options.quick else 5)
    options.output.mkdir(parents=True, exist_ok=True)

    graph_seconds = options.graph_seconds or (graphs.QUICK_SECONDS if options.quick else graphs.SECONDS)
    containers = can_make_containers()
    schedule = [plan.bundles(options.quick, idle=number == 0, containers=containers) + parts.bundles(options.quick, first=number == 0) for number in range(rounds)]
    schedule[0] += graphs.bundles(graph_seconds) + scale.bundles(options.quick)  # once: each takes long enough to be its own average
    show = progress_printer(sum(len(bundle) for bundles in schedule for bundle in bundles))
    rows, failures = [], []
    shuffle = random.Random(time.time_ns()).shuffle
    for number, bundles in enumerate(schedule):
        run_round(program, number, bundles, shuffle, rows, failures, show)
    if sys.stderr.isatty():
        print(file=sys.stderr)

    results = options.output / "results.json"
    results.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = report.write(rows, failures, rounds, options.quick, report.machine_facts())
    (options.output / "report.md").write_text(text)
    drawn = draw(rows, options.output)
    print(text)
    print(f"written to {options.output}: results.json, report.md" + (", latency and parts as .png and .svg" if drawn else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
