#!/usr/bin/env python3
"""Where the processor time of images of 16 MB goes, after LOT's table 1: by perf, the functions in which sinew and ROS 1 over TCP spend most of it. Prints a row of JSON for each number of publishers and subscribers and each of both."""
import argparse
import collections
import contextlib
import json
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from awake import awake
from compare import cells, systems
from compare.processes import STARTING_S, Failed
from parts import number

SHAPES = ((1, 1), (1, 5), (5, 1))
MEASURED = ("sinew", "ros1-tcp")
CELL = {**cells.DEFAULTS, "size": 16_000_000}
COUNT, QUICK_COUNT = 150, 5
SHOWN = 4
FREQUENCY = 4000  # looks in a second of processor time


@contextlib.contextmanager
def watched(pids, folder):
    """perf looks at these processes meanwhile, and writes what it sees there."""
    asked = ["perf", "record", "--quiet", "--event", "cpu-clock", "--freq", str(FREQUENCY), "--output", str(folder / "perf.data"), "--pid", ",".join(map(str, pids))]
    with (folder / "perf.log").open("w") as log:
        perf = subprocess.Popen(asked, stdout=log, stderr=log)
        try:
            yield
        finally:
            perf.send_signal(signal.SIGINT)
            perf.wait(STARTING_S)


def reason_against():
    """Why perf cannot look at processes here, or nothing."""
    try:
        tried = subprocess.run(["perf", "record", "--quiet", "--event", "cpu-clock", "--output", "/dev/null", "--", "true"], capture_output=True, text=True)
    except FileNotFoundError:
        return "perf is not there: it is in Debian's package linux-perf"
    return "" if tried.returncode == 0 else "; ".join(["perf cannot look at processes here", *tried.stderr.strip().splitlines()[:2]])


def functions_of(folder):
    """What it has written, as (function, part of all samples), the most active first."""
    asked = ["perf", "report", "--input", str(folder / "perf.data"), "--stdio", "--no-children", "--sort", "dso,symbol", "--field-separator", "\t"]
    said = subprocess.run(asked, capture_output=True, text=True)
    if said.returncode != 0:
        raise Failed("; ".join(["perf", *(folder / "perf.log").read_text().splitlines()[-1:], *said.stderr.splitlines()[-1:]]))
    return parts_of(said.stdout)


def parts_of(report):
    parts = collections.Counter()
    for line in report.splitlines():
        words = [word.strip() for word in line.split("\t")]
        if line.startswith("#") or len(words) < 3:
            continue
        part, program, symbol = words[:3]
        where = "kernel" if symbol.startswith("[k]") else program
        name = symbol[4:]
        parts[where if name.startswith("0x") else f"{name} ({where})"] += float(part.rstrip("%")) / 100
    return parts.most_common()


def looked_at(system, shape, count):
    """A row."""
    cell = {**CELL, "publishers": shape[0], "subscribers": shape[1], "count": count}
    with contextlib.ExitStack() as stack:
        running = cells.Cell(stack, system, cell)
        running.start_all()
        with watched([process.pid for process in (*running.publishers, *running.subscribers, *running.beside.processes)], running.folder):
            cpu_ns, *_ = running.run()
        running.end()
        return {"publishers": shape[0], "subscribers": shape[1], "system": system.name, "title": system.title, "cpu_us": cpu_ns / 1000 / count / shape[0],
                "functions": functions_of(running.folder)[:SHOWN]}


def lines(rows):
    """The tables of the report."""
    if any("missing" in row for row in rows):
        return ["", f"Not measured: {rows[0]['missing']}"]
    made = ["", "| publishers, subscribers | system | processor time an image, us | most active functions, us an image |", "|---|---|---|---|"]
    for row in rows:
        functions = "<br>".join(f"{number(part * row['cpu_us'])} `{name}`" for name, part in row["functions"])
        made.append(f"| {row['publishers']}, {row['subscribers']} | {row['title']} | {number(row['cpu_us'])} | {functions} |")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="where the drivers are")
    parser.add_argument("--quick", action="store_true", help="few images")
    options = parser.parse_args()
    if missing := reason_against():
        print(json.dumps({"missing": missing}))
        return
    nowhere = pathlib.Path("nowhere")
    every = {system.name: system for system in systems.all_systems(options.programs, nowhere, nowhere)}
    with awake():
        for shape in SHAPES:
            for system in (every[name] for name in MEASURED):
                if not system.missing:
                    print(json.dumps(looked_at(system, shape, QUICK_COUNT if options.quick else COUNT)), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (Failed, OSError) as why:
        sys.exit(str(why))
