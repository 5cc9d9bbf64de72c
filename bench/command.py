#!/usr/bin/env python3
"""Measures what the command `sinew` costs: `top` beside 500 topics at 100 Hz, and how soon `topic echo` shows an image. Writes command.json and command.md.

Examples:
  bench/command.py            seven rounds, about four minutes; leave the machine alone meanwhile
  bench/command.py --quick    one short round: shows that all of it works

`make bench-command` builds what it needs: a prefix with the command, and the program that publishes and subscribes (rust/sinew-cli/examples/load.rs).
"""
import argparse
import contextlib
import fcntl
import json
import math
import os
import pathlib
import pty
import random
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import peers
import plan
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What `sinew top` looks at.
TOPICS, TOPIC_HZ, TOPIC_BYTES = 500, 100, 64
CAMERA_HZ = 30
FAST_HZ = 1000
COLUMNS, LINES = 160, 50
PATIENCE_S = 60
TOP_PERCENT = 2
FIRST_LINE_MS = 50
# Beside what: nothing, nothing again, which says how much two such measurements differ, and `sinew top`.
ALONE, AGAIN, TOP = "alone", "alone again", "beside sinew top"


class Failed(Exception):
    """Why there is no row."""


def cpu_s(pid):
    """Processor time of all threads of a process until now: CPUCLOCK_SCHED of it, as clock_getcpuclockid() makes it."""
    return time.clock_gettime(~pid << 3 | 2)


class Bench:
    """The programs, and a domain of its own for each measurement."""

    def __init__(self, prefix, sinew, load):
        self.prefix, self.sinew, self.load = prefix, sinew, load

    @contextlib.contextmanager
    def domain(self):
        with tempfile.TemporaryDirectory(prefix="sinew-bench-") as folder:
            socket = f"{folder}/domain"
            self.environment = os.environ | {"SINEW_DOMAIN": socket, "LD_LIBRARY_PATH": str(self.prefix / "lib"), "TERM": "xterm-256color"}
            with self.running(self.prefix / "bin/sinewd", "--socket", socket):
                until = time.monotonic() + PATIENCE_S
                while not os.path.exists(socket):
                    if time.monotonic() > until:
                        raise Failed("the manager does not listen")
                    time.sleep(0.01)
                yield

    @contextlib.contextmanager
    def running(self, *command):
        """A program that goes on until it is ended."""
        process = subprocess.Popen([str(word) for word in command], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            process.stdout.close()

    @contextlib.contextmanager
    def publishing(self, topics, hz, size, *, readers=False):
        """Gives the process that publishes, when all topics are there and, if there are readers, connected."""
        with contextlib.ExitStack() as stack:
            if readers:
                stack.enter_context(self.running(self.load, "subscribe", "--topics", topics))
            process = stack.enter_context(self.running(self.load, "publish", "--topics", topics, "--hz", hz, "--size", size, "--readers", int(readers)))
            if process.stdout.readline() != b"ready\n":
                raise Failed(f"the publisher of {topics} topics ended")
            yield process

    @contextlib.contextmanager
    def top(self):
        """`sinew top` in a terminal, all of whose output is read."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        process = subprocess.Popen([self.sinew, "top"], env=self.environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        shown = bytearray()

        def read():
            with contextlib.suppress(OSError):
                while data := os.read(master, 1 << 16):
                    shown.extend(data)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield process, shown
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            reader.join()
            os.close(master)

    def flowing_hz(self):
        """Of all topics together."""
        command = [self.sinew, "topic", "hz", "--json", "--count", "1"]
        told = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, timeout=PATIENCE_S, check=True).stdout
        return sum(json.loads(line)["hz"] for line in told.splitlines())


def measure_top(bench, seconds):
    """The publisher's processor time a second alone and beside `sinew top`, in random order, and that of top."""
    row = {"publisher": {}}
    with bench.domain(), bench.publishing(TOPICS, TOPIC_HZ, TOPIC_BYTES, readers=True) as publisher:
        for beside in random.sample((ALONE, AGAIN, TOP), 3):
            with bench.top() if beside == TOP else contextlib.nullcontext() as top:
                time.sleep(seconds / 4)
                processes = [publisher.pid] + ([top[0].pid] if top else [])
                begin, before = time.monotonic(), [cpu_s(pid) for pid in processes]
                time.sleep(seconds)
                took = time.monotonic() - begin
                used = [(cpu_s(pid) - then) / took for pid, then in zip(processes, before)]
                if top and b"load/0" not in top[1]:
                    raise Failed("sinew top did not show the topics")
            row["publisher"][beside] = used[0]
            if top:
                row["top"] = used[1]
        row["flowing_hz"] = bench.flowing_hz()
    return row


def first_line_ms(command, environment):
    """(until its first line, until its end), from before it is started."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    first = time.perf_counter() - begin
    process.stdout.read()
    status = process.wait(PATIENCE_S)
    whole = time.perf_counter() - begin
    process.stdout.close()
    if status != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with status {status}")
    return (first if line else whole) * 1000, whole * 1000


def measure_echo(bench, count):
    """Times of `sinew topic echo -1` on a camera, of the same where messages come all the time, and of their floors, in turns and random order."""
    row = {}
    for name, hz, size in (("camera", CAMERA_HZ, plan.FRAME), ("fast", FAST_HZ, TOPIC_BYTES)):
        with bench.domain(), bench.publishing(1, hz, size):
            commands = {name: [bench.sinew, "topic", "echo", "-1", "load/0"]} | ({"true": ["/bin/true"], "version": [bench.sinew, "--version"]} if name == "camera" else {})
            for _ in range(count):
                for what in random.sample(list(commands), len(commands)):
                    # Not in step with the camera.
                    time.sleep(random.random() / CAMERA_HZ)
                    row.setdefault(what, []).append(first_line_ms(commands[what], bench.environment))
    return row


def run_rounds(bench, rounds, seconds, count):
    """(rows, failures)."""
    rows, failures = [], []
    with peers.awake() as granted:
        for number in range(rounds):
            for name, measure, length in random.sample((("top", measure_top, seconds), ("echo", measure_echo, count)), 2):
                print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
                try:
                    rows.append({"what": name, "round": number, "awake": granted, **measure(bench, length)})
                except Failed as why:
                    failures.append(f"round {number + 1}, {name}: {why}")
    return rows, failures


def percent(values):
    return [100 * value for value in values]


def bars(rows):
    top = [row for row in rows if row["what"] == "top"]
    ratio = [row["publisher"][TOP] / statistics.mean((row["publisher"][ALONE], row["publisher"][AGAIN])) for row in top]
    noise = [row["publisher"][AGAIN] / row["publisher"][ALONE] for row in top]
    # By so much the same measurement differs from itself, half of the times.
    usual = statistics.median([abs(math.log(value)) for value in noise] or [0])
    first = [statistics.median(first for first, _ in row["camera"]) for row in rows if row["what"] == "echo"]
    return [
        report.Bar(f"sinew top, {TOPICS} topics at {TOPIC_HZ} Hz, {TOPICS} subscribers: of a core", TOP_PERCENT, " %", percent(row["top"] for row in top)),
        report.Bar("processor time of their publisher: beside top / alone", float(f"{math.exp(usual):.3g}"), " x", ratio),
        report.Bar(f"sinew topic echo -1, images of {report.size_name(plan.FRAME)} at {CAMERA_HZ} Hz: start to first line, median", FIRST_LINE_MS, " ms", first),
    ], noise


ECHOED = {
    "true": "/bin/true",
    "version": "sinew --version",
    "fast": f"sinew topic echo -1, {report.size_name(TOPIC_BYTES)} at {FAST_HZ} Hz",
    "camera": f"sinew topic echo -1, {report.size_name(plan.FRAME)} at {CAMERA_HZ} Hz",
}


def write(rows, failures, rounds, quick, facts):
    held = bool(rows) and all(row["awake"] for row in rows)
    lines = ["# What the command costs", ""]
    if quick:
        lines += ["A quick run: it shows that everything works. Its numbers say nothing about speed.", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += [f"- rounds: {rounds}, interleaved, in random order",
              "- /dev/cpu_dma_latency: " + ("held at 0 while measuring" if held else "**not** held (needs root): waking an idle core may drown everything")]
    judged, noise = bars(rows)
    lines += ["", "## Bars", "", "Each ratio is taken within a round; median over the rounds [smallest .. largest].", "",
              "| bar | limit | measured | holds |", "|---|---|---|---|", *(bar.line() for bar in judged)]
    top = [row for row in rows if row["what"] == "top"]
    if top:
        lines += ["", "## Beside sinew top", "",
                  f"Processor time of the process that publishes on {TOPICS} topics, {statistics.median(row['flowing_hz'] for row in top):,.0f} messages a second, of a core. "
                  f"The limit is by how much the same measurement differs from itself half of the times: alone again / alone is {peers.spread(noise)}.", "",
                  "| | publisher, % | top, % |", "|---|---|---|"]
        for beside in (ALONE, AGAIN, TOP):
            own = peers.spread(percent(row["top"] for row in top)) if beside == TOP else ""
            lines.append(f"| {beside} | {peers.spread(percent(row['publisher'][beside] for row in top))} | {own} |")
    echo = [row for row in rows if row["what"] == "echo"]
    if echo:
        lines += ["", "## From start to what it shows", "",
                  f"ms, of all runs. The wait for the next message is in it: at {CAMERA_HZ} Hz up to {1000 / CAMERA_HZ:.0f} ms, half of that on average.", "",
                  "| | runs | first line: p50 | p90 | p99 | largest | end: p50 |", "|---|---|---|---|---|---|---|"]
        for what, name in ECHOED.items():
            times = [each for row in echo for each in row[what]]
            first, ends = sorted(first for first, _ in times), sorted(end for _, end in times)
            shown = [peers.percentile(first, part) for part in (0.5, 0.9, 0.99, 1)] + [peers.percentile(ends, 0.5)]
            lines.append(f"| {name} | {len(times)} | " + " | ".join(f"{value:.3g}" for value in shown) + " |")
    if failures:
        lines += ["", "## Failed", "", *(f"- {failure}" for failure in failures)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often each is measured (default 7; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--prefix", type=pathlib.Path, default=ROOT / "build/command", help="where sinew is installed; default: %(default)s")
    parser.add_argument("--sinew", type=pathlib.Path, help="the command; default: that of the prefix")
    parser.add_argument("--load", type=pathlib.Path, default=ROOT / "build/rust/release/examples/load", help="default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/bench", help="folder; default: %(default)s")
    options = parser.parse_args()
    options.sinew = options.sinew or options.prefix / "bin/sinew"
    for program in (options.sinew, options.load):
        if not program.exists():
            parser.error(f"{program} is not there: build it first (make bench-command does)")
    # So that everything is ended and removed then, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    rounds = options.rounds or (1 if options.quick else 7)
    bench = Bench(options.prefix.resolve(), options.sinew.resolve(), options.load.resolve())
    rows, failures = run_rounds(bench, rounds, 1 if options.quick else 5, 3 if options.quick else 20)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "command.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = write(rows, failures, rounds, options.quick, report.machine_facts())
    (options.output / "command.md").write_text(text)
    print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
