"""Experiments whose programs measure by themselves and say rows of JSON: the graphs and the image pipelines of the ROS 2 intra-process design, serialization, types of messages that are supported, and where processor time goes."""
import collections.abc
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import graphs
import serialization_report
from compare import hot_spots, processes, systems, types


@dataclasses.dataclass
class Extra:
    name: str
    title: str
    source: str
    quoted: list
    seconds: float  # of a round
    rounds: int  # at most
    commands: collections.abc.Callable  # by where programs are, and whether it is a quick run: the program and its arguments, of each run in a round
    lines: collections.abc.Callable  # rows: tables, in Markdown


def of_graphs(names, name, title, source, quoted):
    """The one that runs these graphs in all modes."""
    def commands(programs, quick):
        seconds = graphs.QUICK_SECONDS if quick else graphs.SECONDS
        modes = graphs.MODES + (graphs.OF_ROS1 if (programs / f"{graphs.PROGRAM}-ros1").exists() else ())
        return [[graphs.PROGRAM, "--graph", graph, "--mode", mode, "--seconds", str(seconds)] for graph in names for mode in modes]

    seconds = len(names) * (len(graphs.MODES) + len(graphs.OF_ROS1)) * (graphs.SECONDS + 3)
    return Extra(name, title, source, quoted, seconds, 1, commands, graphs.tables)


def serialization_commands(_, quick):
    return [["sinew-bench-serialization", *(["--rounds", "3"] if quick else [])]]


@contextlib.contextmanager
def environment_of(command):
    """That in which it runs; rosmaster is there, where nodes of ROS 1 are."""
    if not any(mode in command for mode in graphs.OF_ROS1):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="sinew-peers-") as folder, systems.master(None, pathlib.Path(folder), None) as beside:
        yield {**os.environ, **beside.environment}


ALL = (
    of_graphs(graphs.GRAPHS, "graphs", "Sierra Nevada and Mont Blanc, graphs of ten and twenty nodes", "ROS 2 intra-process communication, experimental results",
              ["in one process, the new design of ROS 2 halves processor time and latency of the old, and its memory stays as it is"]),
    of_graphs(graphs.PIPELINES, "image_pipeline", "An image pipeline: three nodes, one and two viewers",
              "ROS 2 intra-process communication, image_pipeline_all_in_one and _with_two_image_view",
              ["on a laptop (i7-6600U), with intra-process communication off / as it was / of the new design:",
               "one viewer: latency 1800 / 920 / 350 us, CPU 23 / 20 / 15 %, RAM 90 / 90 / 90 MB",
               "two viewers: latency 2900 / 2000 / 1400 us, CPU 24 / 20 / 16 %, RAM 94 / 95 / 94 MB"]),
    Extra("serialization", "Serialization, beside what others do it with", "none of the papers: what LOT, TZC and Agnocast leave out", [],
          12, 3, serialization_commands, serialization_report.tables),
    Extra("types", "Types of messages that are supported", "TZC, table II",
          ["of 358 types of six meta-packages 104 have arrays of variable length and need support; TZC supports 98 of them"],
          2, 1, lambda *_: [[types.__file__]], types.lines),
    Extra("hot_spots", "Where the processor time of images of 16 MB goes", "LOT, table 1",
          ["within a minute: TCP 14 s in send, 13 in memcpy, 11 in recv, with five subscribers 45, 43 and 32; LOT 0.5 and 1.3 s in pthread_cond_timedwait"],
          len(hot_spots.SHAPES) * len(hot_spots.MEASURED) * (hot_spots.COUNT / 30 + 3), 1,
          lambda programs, quick: [[hot_spots.__file__, "--programs", str(programs), *(["--quick"] if quick else [])]], hot_spots.lines),
)


def run(extra, programs, number, quick, rows):
    """Adds the rows of one round, of what is not there yet."""
    if number >= extra.rounds:
        return
    done = {(row["command"], row["round"]) for row in rows.all if row.get("extra") == extra.name}
    for program, *arguments in extra.commands(programs, quick):
        command = " ".join([program, *arguments])
        if (command, number) in done:
            continue
        print(f"round {number + 1}: {command}", file=sys.stderr, flush=True)
        common = {"extra": extra.name, "round": number, "command": command}
        try:
            with environment_of(command) as environment:
                ran = subprocess.run([programs / program, *arguments], capture_output=True, text=True, env=environment)
        except (processes.Failed, OSError) as why:
            rows.add(common | {"failed": str(why)})
            continue
        if ran.returncode != 0:
            rows.add(common | {"failed": ran.stderr.strip() or f"ended with status {ran.returncode}"})
            continue
        for line in ran.stdout.splitlines():
            rows.add(common | json.loads(line))
