#!/usr/bin/env python3
"""Measures what the command `sinew` costs: `top` beside 500 topics at 100 Hz, how soon `topic echo` shows an image, and `record` beside writing as many bytes with one
`write` each. Writes command.json and command.md.

Examples:
  bench/command.py            seven rounds, about six minutes; leave the machine alone meanwhile
  bench/command.py --quick    one short round: shows that all of it works

`make bench-command` builds what it needs: a prefix with the command, and the program that publishes and subscribes (rust/sinew-cli/examples/load.rs).
"""
import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import random
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import command_report
import report
from awake import awake
from command_report import AGAIN, ALONE, CAMERA_HZ, FAST_HZ, IMAGE, TOP, TOPIC_BYTES, TOPIC_HZ, TOPICS

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS, LINES = 160, 50
PATIENCE_S = 60
SETTLE_S = 1
# Beyond the rate of a camera, bytes a second.
FASTER = (200_000_000, 300_000_000, 400_000_000, 500_000_000)


class Failed(Exception):
    """Why there is no row."""


def cpu_s(pid):
    """Processor time of all threads of a process until now: CPUCLOCK_SCHED of it, as clock_getcpuclockid() makes it."""
    return time.clock_gettime(~pid << 3 | 2)


class Bench:
    """The programs, and a domain of its own for each measurement."""

    def __init__(self, prefix, sinew, load, folder):
        self.prefix, self.sinew, self.load, self.folder = prefix, sinew, load, folder
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(prefix / "lib"), "TERM": "xterm-256color"}

    @contextlib.contextmanager
    def domain(self):
        with tempfile.TemporaryDirectory(prefix="sinew-bench-") as folder:
            socket = f"{folder}/domain"
            self.environment["SINEW_DOMAIN"] = socket
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
    def publishing(self, topics, hz, size, *more):
        """Gives the process that publishes, when all topics are there, and connected where more arguments say so."""
        with self.running(self.load, "publish", "--topics", topics, "--hz", hz, "--size", size, *more) as process:
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
    load = bench.load
    with bench.domain(), bench.running(load, "subscribe", "--topics", TOPICS), bench.publishing(TOPICS, TOPIC_HZ, TOPIC_BYTES, "--readers", 1) as publisher:
        for beside in random.sample((ALONE, AGAIN, TOP), 3):
            with bench.top() if beside == TOP else contextlib.nullcontext() as top:
                until = time.monotonic() + PATIENCE_S
                while top and b"load/0" not in top[1]:
                    if time.monotonic() > until:
                        raise Failed("sinew top did not show the topics")
                    time.sleep(0.01)
                time.sleep(SETTLE_S)
                processes = [publisher.pid] + ([top[0].pid] if top else [])
                begin, before = time.monotonic(), [cpu_s(pid) for pid in processes]
                time.sleep(seconds)
                took = time.monotonic() - begin
                used = [(cpu_s(pid) - then) / took for pid, then in zip(processes, before)]
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
    for name, hz, size in (("camera", CAMERA_HZ, IMAGE), ("fast", FAST_HZ, TOPIC_BYTES)):
        with bench.domain(), bench.publishing(1, hz, size):
            commands = {name: [bench.sinew, "topic", "echo", "-1", "load/0"]} | ({"true": ["/bin/true"], "version": [bench.sinew, "--version"]} if name == "camera" else {})
            for _ in range(count):
                for what in random.sample(list(commands), len(commands)):
                    # Not in step with the camera.
                    time.sleep(random.random() / CAMERA_HZ)
                    row.setdefault(what, []).append(first_line_ms(commands[what], bench.environment))
    return row


def waited_for(process, what):
    """The processor time that a process took from its start to its end, which must be a good one."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{what} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def write_s(bench, file, hz, count):
    """What it takes to write the images, without having them."""
    used = []
    for number in (0, count):
        file.unlink(missing_ok=True)
        command = [bench.load, "write", "--hz", str(hz), "--size", str(IMAGE), "--count", str(number), file]
        used.append(waited_for(subprocess.Popen(command, env=bench.environment, stdin=subprocess.DEVNULL), "who writes"))
    return used[1] - used[0]


def record_s(bench, file, hz, count):
    """(what it takes to record them, what the recorder says of it)."""
    with bench.domain(), bench.running(bench.load, "publish", "--topics", 1, "--hz", hz, "--size", IMAGE, "--count", count, "--readers", 1) as camera:
        with tempfile.TemporaryFile() as said:
            recorder = subprocess.Popen([bench.sinew, "record", "--json", "-o", file], env=bench.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.DEVNULL)
            try:
                until = time.monotonic() + count / hz + PATIENCE_S
                while camera.poll() is None:
                    if recorder.poll() is not None or time.monotonic() > until:
                        raise Failed(f"not all images were recorded: sinew record {'goes on' if recorder.returncode is None else f'ended with status {recorder.returncode}'}")
                    time.sleep(0.01)
                recorder.send_signal(signal.SIGINT)
                used = waited_for(recorder, "sinew record")
            finally:
                if recorder.returncode is None:
                    recorder.kill()
                    recorder.wait()
            said.seek(0)
            return used, json.loads(said.read())


def measure_record(bench, seconds):
    """Processor time of writing images and of recording them, in random order, and what is lost when they come faster."""
    row = {"lost": {}}
    with tempfile.TemporaryDirectory(prefix="sinew-bench-", dir=bench.folder) as folder:
        written, recorded = pathlib.Path(folder) / "written", pathlib.Path(folder) / "recorded.mcap"
        for what in random.sample(("write", "record"), 2):
            count = int(seconds * CAMERA_HZ)
            if what == "write":
                row[what] = write_s(bench, written, CAMERA_HZ, count)
                row["written"] = written.stat().st_size
                written.unlink()
            else:
                row[what], told = record_s(bench, recorded, CAMERA_HZ, count)
                row["recorded"] = recorded.stat().st_size
                row["lost"][str(CAMERA_HZ * IMAGE)] = told["lost"]
                recorded.unlink()
        for rate in FASTER:
            _, told = record_s(bench, recorded, rate / IMAGE, int(seconds / 2 * rate / IMAGE))
            row["lost"][str(rate)] = told["lost"]
            recorded.unlink()
    if row["recorded"] < row["written"] and row["lost"][str(CAMERA_HZ * IMAGE)] == 0:
        raise Failed(f"{row['recorded']} bytes were recorded as if they were all, and {row['written']} written")
    return row


MEASURES = {"top": measure_top, "echo": measure_echo, "record": measure_record}


def run_rounds(bench, only, rounds, seconds, count):
    """(rows, failures)."""
    rows, failures = [], []
    with awake() as granted:
        for number in range(rounds):
            for name in random.sample(only, len(only)):
                print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
                try:
                    rows.append({"what": name, "round": number, "awake": granted, **MEASURES[name](bench, count if name == "echo" else seconds)})
                except (Failed, OSError, subprocess.SubprocessError) as why:
                    failures.append(f"round {number + 1}, {name}: {why}")
    return rows, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often each is measured (default 7; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES), help="what to measure; default: all")
    parser.add_argument("--prefix", type=pathlib.Path, default=ROOT / "build/command", help="where sinew is installed; default: %(default)s")
    parser.add_argument("--sinew", type=pathlib.Path, help="the command; default: that of the prefix")
    parser.add_argument("--load", type=pathlib.Path, default=ROOT / "build/rust/release/examples/load", help="default: %(default)s")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/dev/shm"), help="where images are recorded and written, up to 1.3 GB of them; default: %(default)s")
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
    bench = Bench(options.prefix.resolve(), options.sinew.resolve(), options.load.resolve(), options.folder)
    rows, failures = run_rounds(bench, options.only, rounds, 1 if options.quick else 5, 3 if options.quick else 20)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "command.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = command_report.write(rows, failures, rounds, options.quick, report.machine_facts())
    (options.output / "command.md").write_text(text)
    print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
