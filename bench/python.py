#!/usr/bin/env python3
"""Measures sinew in Python beside sinew in C++ and beside eCAL's and Zenoh's Python packages, in interleaved rounds, and what messages of ROS cost to generate and to compile. Writes python.json and python.md.

Examples:
  bench/python.py            seven rounds, about eleven minutes; leave the machine alone meanwhile
  bench/python.py --quick    one short round: shows that all of it works

`make bench-python` builds what it needs: the drivers in C++, and an environment with the packages of all (bench/peers/python/requirements.txt).
"""
import argparse
import dataclasses
import json
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import plan
import python_report
import report
from awake import awake
from compare import cells, figures, systems
from compare.processes import Failed

ROOT = pathlib.Path(__file__).resolve().parent.parent
MSGGEN = ROOT / "msggen"
PATIENCE_S = 120
HAND_WRITTEN = """#include <sinew/sinew.hpp>
#include <string>
#include <vector>
struct Time { std::int32_t sec; std::uint32_t nanosec; };
struct Header { Time stamp; std::string frame_id; };
struct Image { Header header; std::uint32_t height, width; std::string encoding; std::uint8_t is_bigendian; std::uint32_t step; std::vector<std::uint8_t> data; };
"""
GENERATED = """#include <sinew/sinew.hpp>
#include <sensor_msgs/msg/image.hpp>
using sensor_msgs::msg::Image;
"""
PROGRAM = """int main() {
  const auto node = sinew::Node::create("talker");
  node->create_publisher<Image>("image")->publish(Image{});
}
"""


def systems_of(programs, interpreter):
    """By what the report calls them."""
    in_cpp = next(system for system in systems.ours(programs, interpreter) if system.name == "sinew")
    in_python = next(system for system in systems.ours(programs, interpreter) if system.name == "sinew-python")
    return [dataclasses.replace(in_cpp, name=python_report.CPP),
            dataclasses.replace(in_python, name=python_report.FROM_CPP, publisher=in_cpp),
            dataclasses.replace(in_cpp, name=python_report.TO_CPP, subscribe="", publisher=in_python),
            dataclasses.replace(in_python, name=python_report.PYTHON),
            systems.in_python(interpreter, python_report.ECAL, "ecal_driver.py"), systems.in_python(interpreter, python_report.ZENOH, "zenoh_driver.py")]


def copy_us():
    """One memcpy of an image, as NumPy does it: the median of some."""
    import numpy

    source, into = numpy.ones(plan.FRAME, numpy.uint8), numpy.zeros(plan.FRAME, numpy.uint8)
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        into[...] = source
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def run_s(*command):
    begin = time.perf_counter()
    done = subprocess.run([str(word) for word in command], cwd=MSGGEN, capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: {done.stderr}")
    return time.perf_counter() - begin


def measure_msggen(prefix):
    """How long it takes to generate all packages, and to compile a program with a message of theirs and with one that is written by hand."""
    with tempfile.TemporaryDirectory(prefix="sinew-bench-") as folder:
        folder = pathlib.Path(folder)
        row = {"what": "msggen", "generate_s": run_s(sys.executable, "-m", "sinew_msggen", "cpp", folder / "messages", "definitions")}
        compiled = {"by hand": HAND_WRITTEN, "generated": GENERATED}
        for name in random.sample(list(compiled), 2):
            source = folder / "program.cpp"
            source.write_text(compiled[name] + PROGRAM)
            row[name] = run_s("g++", "-std=c++20", "-O2", f"-I{prefix}/include", f"-I{folder}/messages", "-c", source, "-o", folder / "program.o")
    return row


def run_rounds(systems, prefix, rounds, count):
    """(rows, failures)."""
    rows, failures = [], []
    with awake() as granted:
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}: generating and compiling", file=sys.stderr, flush=True)
            rows.append({"what": "copy", "round": number, "us": copy_us()})
            try:
                rows.append({"round": number, **measure_msggen(prefix)})
            except (Failed, OSError, subprocess.SubprocessError) as why:
                failures.append(f"round {number + 1}, msggen: {why}")
            for size in random.sample(python_report.SIZES, len(python_report.SIZES)):
                for system in random.sample(systems, len(systems)):
                    print(f"round {number + 1} of {rounds}: {system.name}, {report.size_name(size)}", file=sys.stderr, flush=True)
                    try:
                        found = figures.row_of(cells.measure(system, {**cells.DEFAULTS, "size": size, "count": count}))
                    except Failed as why:
                        failures.append(f"round {number + 1}, {system.name}, {report.size_name(size)}: {why}")
                        continue
                    if found["lost"] or found["damaged"]:
                        failures.append(f"round {number + 1}, {system.name}, {report.size_name(size)}: {found['lost']} messages were lost, {found['damaged']} damaged")
                    rows.append({**found, "what": "cell", "round": number, "awake": granted, "system": system.name, "size": size, "cpu_us": found["receive_cpu_us"]})
    return rows, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often every cell is measured (default 7; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin", help="where the drivers in C++ are; default: %(default)s")
    parser.add_argument("--prefix", type=pathlib.Path, default=ROOT / "build/command", help="where sinew is installed; default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    if not (options.programs / "sinew-peer-sinew").exists():
        parser.error(f"{options.programs}/sinew-peer-sinew is not there: build it first (make bench-python does)")
    # So that everything is ended and removed then, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    rounds = options.rounds or (1 if options.quick else 7)
    systems = systems_of(options.programs.resolve(), pathlib.Path(sys.executable))
    rows, failures = run_rounds(systems, options.prefix.resolve(), rounds, 5 if options.quick else 100)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "python.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = python_report.write(rows, failures, rounds, options.quick, report.machine_facts())
    (options.output / "python.md").write_text(text)
    print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
