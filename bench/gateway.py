#!/usr/bin/env python3
"""Measures what goes between two machines through gateways: beside nothing, beside bare quinn, and beside Zenoh, over a good cable and over bad ones. Writes gateway.json, gateway.md, and plots.

Examples:
  bench/gateway.py                    five rounds, about half an hour; leave the machine alone meanwhile
  bench/gateway.py --quick            one short round: shows that all of it works
  bench/gateway.py --only cable idle  only these

`make bench-gateway` builds and installs what it needs. Both machines are network namespaces of this one, which takes root.
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

import gateway_networks
import gateway_plot
import gateway_report
import gateway_systems
import report
from awake import awake
from compare.processes import Failed
from gateway_report import AGAIN, ALONE, COMMAND_BYTES, COMMAND_HZ, IMAGE_BYTES, IMAGE_HZ, LINKS, MANY, QUINN, SINEW, ZENOH, ZENOH_TUNED
from gateway_systems import COMMAND, IMAGE, Program

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of what bare quinn moves, so that the gateways always have something to send.
MORE_THAN_FITS = 1.25
SMALL = 64
# Moderate, so that all arrives, and large beside what is around it.
SHARED_HZ, SHARED_BYTES, SHARED_TRIES = 50, 100_000, 5
SETTLE_S = 0.5


class Tools:
    def __init__(self, options):
        self.prefix, self.gateway, self.emulator, self.traffic = options.prefix, options.gateway, options.programs / "emulator", options.programs / "traffic"
        self.zenoh = options.zenoh
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(options.prefix / "lib")}


def pairs(file):
    """What is written in two numbers each."""
    numbers = array.array("Q", file.read_bytes())
    return list(zip(numbers[::2], numbers[1::2]))


def enter(tools, name, network):
    if name in (ALONE, AGAIN):
        return gateway_systems.Sinew(tools, None)
    if name == SINEW:
        return gateway_systems.Sinew(tools, network)
    if name == QUINN:
        return gateway_systems.Quinn(tools, network)
    return gateway_systems.Zenoh(tools, network, name == ZENOH_TUNED)


def measure_robot(tools, name, link, seconds):
    """The thesis' test: images for somebody on the robot, then for somebody at the base, too, and commands beside them. Times are from when the base joined, in seconds."""
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(gateway_networks.Network(link, tools.emulator)) if link else None
        system = stack.enter_context(enter(tools, name, network))
        out = {key: system.folder / key for key in ("published", "commanded", "local", "image", "command")}
        local = system.node("robot", "subscribe", "--topic", IMAGE, "--out", out["local"]).ready()
        asked = ("--hz", IMAGE_HZ, "--size", IMAGE_BYTES, "--readers", 1)
        publishers = [system.node("robot", "publish", "--topic", IMAGE, *asked, "--seconds", seconds, "--out", out["published"]),
                      system.node("robot", "publish", "--topic", COMMAND, "--hz", COMMAND_HZ, "--size", COMMAND_BYTES, "--readers", 0, "--seconds", seconds, "--out", out["commanded"])]
        for publisher in publishers:
            publisher.ready()
        time.sleep(seconds / 3)
        joined = time.monotonic_ns()
        remote = system.listen(out, seconds) if network else []
        for publisher in publishers:
            publisher.end(seconds + gateway_systems.PATIENCE_S, told=False)
        time.sleep(SETTLE_S)
        for subscriber in (local, *remote):
            subscriber.end()

        def told(key):
            return [((at - joined) / 1e9, value / 1e6) for at, value in pairs(out[key])] if out[key].exists() else []

        def late(key):
            return [((at - joined) / 1e9, (arrived - at) / 1e6) for at, arrived in pairs(out[key])] if out[key].exists() else []

        return {"published": told("published"), "local": late("local"), "image": late("image"), "command": late("command"), "commanded": told("commanded")}


def measure_cable(tools, seconds, count):
    """What bare quinn moves over a cable, and what the gateways do; how long a small message takes there and back through either; what ten subscribers cost the link beyond one."""
    row = {}
    with gateway_networks.Network(None, tools.emulator) as network:
        address = gateway_networks.ADDRESSES["base"]
        with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory(prefix="sinew-bench-") as folder:
            def quinn(side, role, *words):
                return Program(stack, [*network.inside(side), tools.traffic, "quinn", role, f"{address}:7000", *words], tools.environment)

            server = quinn("base", "serve").ready()
            row["quinn_bytes_per_s"] = float(quinn("robot", "send", "--size", IMAGE_BYTES, "--seconds", seconds).end(told=False))
            out = pathlib.Path(folder) / "ping"
            quinn("robot", "ping", "--count", count, "--size", SMALL, "--out", out).end(told=False)
            row["quinn_round_trip_us"] = [took / 1e3 for took in array.array("Q", out.read_bytes())]
            server.end()
        with gateway_systems.Sinew(tools, network) as system:
            row["bytes_per_s"] = moved(system, MORE_THAN_FITS * row["quinn_bytes_per_s"] / IMAGE_BYTES, seconds)
            pong, out = system.node("base", "pong").ready(), system.folder / "ping"
            system.node("robot", "ping", "--count", count, "--size", SMALL, "--out", out).ready().end(told=False)
            row["round_trip_us"] = [took / 1e3 for took in array.array("Q", out.read_bytes())]
            pong.end()
        row["link_bytes"] = {}
        for subscribers in (1, MANY):
            row["link_bytes"][str(subscribers)] = shared_whole(tools, network, subscribers, seconds)
    return row


def moved(system, hz, seconds):
    """Bytes a second that come to one subscriber at the base."""
    subscriber = system.node("base", "subscribe", "--topic", IMAGE, "--out", system.folder / "moved").ready()
    publisher = system.node("robot", "publish", "--topic", IMAGE, "--hz", hz, "--size", IMAGE_BYTES, "--readers", 1, "--seconds", seconds, "--out", system.folder / "published")
    publisher.ready().end(seconds + gateway_systems.PATIENCE_S, told=False)
    subscriber.end()
    # As of quinn, without the first moments.
    arrived = [at for _, at in pairs(system.folder / "moved")]
    arrived = [at for at in arrived if at >= arrived[0] + seconds / 5 * 1e9]
    return IMAGE_BYTES * (len(arrived) - 1) / ((arrived[-1] - arrived[0]) / 1e9)


def shared_whole(tools, network, subscribers, seconds):
    """As shared(). Where a processor is wanted elsewhere for long, a message may be left out for a newer one: then once more."""
    for left in reversed(range(SHARED_TRIES)):
        try:
            with gateway_systems.Sinew(tools, network) as system:
                return shared(system, network, subscribers, seconds)
        except Failed as why:
            if not left:
                raise
            print(f"measured again, {left} more times at most: {why}", file=sys.stderr)


def shared(system, network, subscribers, seconds):
    """Bytes on the link for each message that all of them got."""
    outs = [system.folder / f"got{number}" for number in range(subscribers)]
    listening = [system.node("base", "subscribe", "--topic", IMAGE, "--out", out).ready() for out in outs]
    publisher = system.node("robot", "publish", "--topic", IMAGE, "--hz", SHARED_HZ, "--size", SHARED_BYTES, "--readers", 1, "--seconds", seconds, "--out", system.folder / "published")
    publisher.ready()
    before = network.sent_bytes()
    publisher.end(seconds + gateway_systems.PATIENCE_S, told=False)
    time.sleep(SETTLE_S)
    after = network.sent_bytes()
    for subscriber in listening:
        subscriber.end()
    counts = {len(pairs(out)) for out in outs}
    sent = len(pairs(system.folder / "published"))
    if counts != {sent}:
        raise Failed(f"of {sent} messages {sorted(counts)} came to {subscribers} subscribers")
    return (after - before) / sent


def measure_idle(tools, seconds):
    """Bits a second between gateways that have found each other and have nothing to say."""
    with gateway_networks.Network(None, tools.emulator) as network, gateway_systems.Sinew(tools, network, discovery=True) as system:
        # That they are connected is shown by what comes over, which nobody wants any more then.
        subscriber = system.node("base", "subscribe", "--topic", COMMAND, "--out", system.folder / "got").ready()
        system.node("robot", "publish", "--topic", COMMAND, "--hz", 10, "--size", 1, "--readers", 1, "--seconds", 1, "--out", system.folder / "published").ready().end(told=False)
        subscriber.end()
        # Announcements come at growing intervals.
        time.sleep(min(seconds, 15))
        before, begin = network.sent_bytes(), time.monotonic()
        time.sleep(seconds)
        return {"idle_bits_per_s": 8 * (network.sent_bytes() - before) / (time.monotonic() - begin)}


def tasks_of(options):
    """What is measured in one round, in random order, but for what compares with each other, which is done in turns."""
    tasks = []
    if "robot" in options.only:
        for link in LINKS:
            names = [SINEW, QUINN, *options.beside]
            tasks.append([("robot", name, link) for name in random.sample(names, len(names))])
        tasks.append([("robot", name, None) for name in (ALONE, AGAIN)])
    if "cable" in options.only:
        tasks.append([("cable", None, None)])
    if "idle" in options.only:
        tasks.append([("idle", None, None)])
    return [task for group in random.sample(tasks, len(tasks)) for task in group]


def run_rounds(options, tools):
    """(rows, failures)."""
    rows, failures = [], []
    with awake() as granted:
        for number in range(options.rounds):
            for what, name, link in tasks_of(options):
                title = " ".join(filter(None, (what, name, link)))
                print(f"round {number + 1} of {options.rounds}: {title}", file=sys.stderr, flush=True)
                row = {"what": what, "round": number, "awake": granted, "system": name, "link": link}
                try:
                    if what == "robot":
                        row |= measure_robot(tools, name, LINKS.get(link), 6 if options.quick else 15)
                    elif what == "cable":
                        row |= measure_cable(tools, 1 if options.quick else 5, 100 if options.quick else 2000)
                    else:
                        row |= measure_idle(tools, 5 if options.quick else 60)
                    rows.append(row)
                except (Failed, OSError, subprocess.SubprocessError, IndexError) as why:
                    failures.append(f"round {number + 1}, {title}: {why}")
    return rows, failures


def beside(python):
    """(what can be measured of Zenoh with that interpreter, and what it is, or why it cannot)."""
    asked = "import importlib.metadata, zenoh; print(importlib.metadata.version('eclipse-zenoh'))"
    try:
        told = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True, timeout=gateway_systems.PATIENCE_S).stdout
        return [ZENOH, ZENOH_TUNED], f"Zenoh {told.strip()}"
    except (OSError, subprocess.SubprocessError) as why:
        return [], f"nothing: {python} has no Zenoh: {why}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often each is measured (default 5; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", nargs="+", choices=("robot", "cable", "idle"), default=["robot", "cable", "idle"], help="what to measure; default: all")
    parser.add_argument("--prefix", type=pathlib.Path, default=ROOT / "build/command", help="where sinew and its gateway are installed; default: %(default)s")
    parser.add_argument("--gateway", type=pathlib.Path, help="the gateway; default: that of the prefix")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/rust/release/examples", help="where traffic and emulator are; default: %(default)s")
    parser.add_argument("--zenoh", type=pathlib.Path, default=ROOT / "build/bench-python/bin/python", help="an interpreter of Python with Zenoh; default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.prefix, options.programs = options.prefix.resolve(), options.programs.resolve()
    options.gateway = (options.gateway or options.prefix / "bin/sinew-gateway").resolve()
    for program in (options.gateway, options.programs / "traffic", options.programs / "emulator"):
        if not program.exists():
            parser.error(f"{program} is not there: build it first (make bench-gateway does)")
    if why := gateway_networks.probe():
        parser.error(f"there are no networks to measure in: {why}")
    # So that everything is ended and removed then, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    options.beside, said = beside(options.zenoh)
    rows, failures = run_rounds(options, Tools(options))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "gateway.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = gateway_report.write(rows, failures, options.rounds, options.quick, report.machine_facts() | {"beside": said})
    (options.output / "gateway.md").write_text(text)
    gateway_plot.draw(rows, options.output)
    print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
