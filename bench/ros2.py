#!/usr/bin/env python3
"""Measures what `sinew bridge ros2` costs: messages between a program of DDS and one of sinew, beside the same message between two programs of DDS, and a bridge with nothing to do. Writes ros2.json and ros2.md.

Examples:
  bench/ros2.py                    five rounds, about half an hour; leave the machine alone meanwhile
  bench/ros2.py --quick            one short round: shows that all of it works
  bench/ros2.py --only idle        only that

`make bench-ros2` builds and installs what it needs, Fast DDS among it.
"""
import argparse
import array
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import report
import ros2_report
from awake import awake
from compare.processes import Failed
from gateway_systems import Program, wait_until
from ros2_report import CASES, IDLE_TOPICS, IN, OUT, PLAIN, case_name

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATE_HZ = 30
# Where the ends of a message are.
ENDS = {PLAIN: ("dds", "dds"), IN: ("dds", "sinew"), OUT: ("sinew", "dds")}
SETTLE_S = 0.5
# Of higher domains the ports are those that the kernel gives to anybody.
DOMAINS = range(120, 230)


# As the documentation of Fast DDS says it to users.
PROFILE = """<?xml version="1.0" encoding="UTF-8" ?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <transport_descriptors>
    <transport_descriptor><transport_id>memory</transport_id><type>SHM</type><segment_size>{bytes}</segment_size><maxMessageSize>{bytes}</maxMessageSize></transport_descriptor>
    <transport_descriptor><transport_id>udp</transport_id><type>UDPv4</type></transport_descriptor>
  </transport_descriptors>
  <participant profile_name="roomy" is_default_profile="true"><rtps>
    <userTransports><transport_id>memory</transport_id><transport_id>udp</transport_id></userTransports><useBuiltinTransports>false</useBuiltinTransports>
  </rtps></participant>
</profiles>
"""


class Setting:
    """Programs in one DDS domain and one domain of sinew, with a bridge between them or not. Those of Fast DDS have segments of so many MiB, the bridge among them."""

    def __init__(self, options, stack, bridged, segment=None):
        self.options, self.stack = options, stack
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sinew-bench-")))
        self.domain = random.choice(DOMAINS)
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(options.prefix / "lib"), "SINEW_DOMAIN": str(self.folder / "domain"), "RUST_LOG": "error"}
        if segment is not None:
            profile = self.folder / "profile.xml"
            profile.write_text(PROFILE.format(bytes=segment << 20))
            self.environment |= {"FASTRTPS_DEFAULT_PROFILES_FILE": str(profile)}
        if bridged is not None:
            self.run([options.prefix / "bin/sinewd", "--socket", self.folder / "domain"])
            wait_until((self.folder / "domain").exists, "the manager listens")
        self.bridge = self.join() if bridged else None

    def join(self):
        both = {"topics": {"base_rule": "both"}, "services": {"base_rule": "both"}}
        config = self.folder / "ros2.json"
        config.write_text(json.dumps({"name": "bench", "transport": "ros2", "ros2": {"domain_id": self.domain}, "rules": [both]}))
        return self.run([self.options.prefix / "bin/sinew-gateway", "run", config])

    def run(self, command):
        return Program(self.stack, command, self.environment)

    def end(self, where, role, *words):
        return self.run([self.options.program, where, role, "--domain", self.domain, *words])


def cpu_s(program):
    """Processor time that its threads have taken so far, which none of them ends while it is measured: finer than what the kernel tells of whole processes."""
    threads = pathlib.Path(f"/proc/{program.process.pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def measure_messages(options, way, size, segment, count):
    with contextlib.ExitStack() as stack:
        setting = Setting(options, stack, None if way == PLAIN else True, segment)
        source, sink = ENDS[way]
        out = setting.folder / "latencies"
        warm_up = RATE_HZ
        asked = ("--size", size, "--rate", RATE_HZ, "--count", count, "--warm-up", warm_up)
        subscriber = setting.end(sink, "subscribe", *asked, "--out", out).ready()
        publisher = setting.end(source, "publish", *asked).ready()
        # That one end is connected does not mean that the other is.
        time.sleep(SETTLE_S)
        programs = [publisher, subscriber, *filter(None, [setting.bridge])]
        before = sum(map(cpu_s, programs))
        publisher.process.stdin.write("\n")
        publisher.process.stdin.flush()
        if publisher.process.stdout.readline() != "done\n":
            raise Failed(f"{publisher.name}: ended while it published")
        time.sleep(SETTLE_S)
        took = sum(map(cpu_s, programs)) - before
        publisher.end()
        subscriber.end()
        latencies = sorted(took_ns / 1e3 for took_ns in array.array("q", out.read_bytes()))
        if not latencies:
            raise Failed("nothing came")
        return {"p50_us": report.percentile(latencies, 0.5), "p99_us": report.percentile(latencies, 0.99), "lost": count - len(latencies),
                "cpu_us_per_message": took / (warm_up + count) * 1e6}


def measure_idle(options, read, seconds):
    """A bridge with topics that nobody publishes anything on; somebody there subscribes to all of them, or nobody does."""
    with contextlib.ExitStack() as stack:
        setting = Setting(options, stack, True)
        setting.end("sinew", "idle", "--topics", IDLE_TOPICS).ready()
        if read:
            setting.end("dds", "idle", "--topics", IDLE_TOPICS).ready()
        # Announcing and finding all of them takes a while.
        time.sleep(max(seconds, 10))
        before, begin = cpu_s(setting.bridge), time.monotonic()
        time.sleep(seconds)
        return {"cpu_percent": 100 * (cpu_s(setting.bridge) - before) / (time.monotonic() - begin)}


def tasks_of(options):
    """What is measured in one round, in random order, but for what compares with each other, which is done in turns."""
    groups = []
    if "messages" in options.only:
        groups += [[("messages", way, case) for way in random.sample(list(ENDS), len(ENDS))] for case in CASES]
    if "idle" in options.only:
        groups += [[("idle", read, None)] for read in (False, True)]
    return [task for group in random.sample(groups, len(groups)) for task in group]


def run_rounds(options):
    """(rows, failures)."""
    rows, failures = [], []
    with awake() as granted:
        for number in range(options.rounds):
            for what, which, case in tasks_of(options):
                title = f"{which}, {case_name(*case)}" if what == "messages" else f"{IDLE_TOPICS} idle topics{', all of them read' if which else ''}"
                print(f"round {number + 1} of {options.rounds}: {title}", file=sys.stderr, flush=True)
                row = {"what": what, "round": number, "awake": granted}
                try:
                    if what == "messages":
                        row |= {"way": which, "size": case[0], "segment": case[1]} | measure_messages(options, which, *case, 30 if options.quick else 300)
                    else:
                        row |= {"read": which} | measure_idle(options, which, 5 if options.quick else 20)
                    rows.append(row)
                except (Failed, OSError, subprocess.SubprocessError) as why:
                    failures.append(f"round {number + 1}, {title}: {why}")
    return rows, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often each is measured (default 5; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", nargs="+", choices=("messages", "idle"), default=["messages", "idle"], help="what to measure; default: all")
    parser.add_argument("--prefix", type=pathlib.Path, default=ROOT / "build/command", help="where sinew and its gateway are installed; default: %(default)s")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/bin/sinew-bench-ros2", help="one end of a message; default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.prefix, options.program = options.prefix.resolve(), options.program.resolve()
    for program in (options.program, options.prefix / "bin/sinew-gateway"):
        if not program.exists():
            parser.error(f"{program} is not there: build it first (make bench-ros2 does)")
    # So that everything is ended and removed then, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    rows, failures = run_rounds(options)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "ros2.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = ros2_report.write(rows, failures, options.rounds, options.quick, report.machine_facts())
    (options.output / "ros2.md").write_text(text)
    print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
