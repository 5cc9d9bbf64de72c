"""What the drivers in Python have in common, as driver.hpp for those in C++: their command line, what they take down, and what they say to bench/peers.py."""
import argparse
import array
import dataclasses
import pathlib
import struct
import sys
import threading
import time

PATIENCE_S = 30
# What no byte of a payload is.
ABSENT = 255
# In front of payloads that have no fields for it: began, sent, number.
HEADER = struct.Struct("=qqQ")


@dataclasses.dataclass
class Run:
    """One end of a cell."""

    role: str
    topic: str
    folder: pathlib.Path
    size: int
    rate: float
    count: int
    warm_up: int
    subscribers: int
    read: str
    output: pathlib.Path

    @property
    def messages(self):
        return self.warm_up + self.count


def value_of(number):
    """What every byte of a payload is."""
    return number % ABSENT


class Arrivals:
    """What a subscriber takes down. `add` is called by one thread."""

    def __init__(self, run):
        self.run = run
        self.samples = array.array("q", [-1]) * (2 * run.count)
        self.next = self.missing = self.damaged = 0
        self.complete = threading.Event()
        self.cpu_ns = 0

    def add(self, began, sent, number, payload):
        """To be called first thing when the payload is readable: the clock is read here. `payload` can be indexed, and has memory."""
        readable = time.monotonic_ns()
        run = self.run
        whole = run.read != "all" or ABSENT.to_bytes(1, "little") not in memoryview(payload).tobytes()
        read = time.monotonic_ns()
        size = len(payload)
        value = value_of(number)
        if not whole or size == 0 or payload[0] != value or payload[size // 2] != value or payload[-1] != value:
            self.damaged += 1
        self.missing += number - self.next
        self.next = number + 1
        if number >= run.warm_up:
            at = 2 * (number - run.warm_up)
            self.samples[at], self.samples[at + 1] = readable - sent, read - began
        if self.next == run.warm_up:
            self.cpu_ns = -time.process_time_ns()
        if self.next == run.messages:
            self.cpu_ns += time.process_time_ns()
            self.complete.set()

    def finish(self):
        if self.damaged:
            raise RuntimeError(f"{self.damaged} messages arrived damaged")
        if self.missing:
            raise RuntimeError(f"{self.missing} of {self.run.messages} messages were lost")
        self.run.output.write_bytes(self.samples.tobytes())
        self.run.output.with_suffix(".cpu").write_text(str(self.cpu_ns / self.run.count))


def connect(connected):
    """Polls until it is, then says so."""
    until = time.monotonic() + PATIENCE_S
    while not connected():
        if time.monotonic() > until:
            raise RuntimeError("the other side was not there in time")
        time.sleep(0.001)
    print("connected", flush=True)


def publish_all(run, send):
    """Waits for the word to begin, then calls send(number) for each message at the rate of the run. It obtains memory, fills it and publishes."""
    if not sys.stdin.readline():
        raise RuntimeError("the script ended before this cell began")
    due = time.monotonic()
    for number in range(run.messages):
        time.sleep(max(due - time.monotonic(), 0))
        due += 1 / run.rate
        send(number)
    print("published", flush=True)
    sys.stdin.readline()


def drive(publish, subscribe):
    """The program: `publish(run)` or `subscribe(run, arrivals)`. Errors become a line on stderr and status 1."""
    parser = argparse.ArgumentParser(description="One end of a cell that bench/peers.py measures.")
    parser.add_argument("role", choices=("publish", "subscribe"))
    parser.add_argument("--topic", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--rate", type=float, default=30)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=16)
    parser.add_argument("--subscribers", type=int, default=1)
    parser.add_argument("--read", choices=("all", "touch"), default="all")
    parser.add_argument("--output", type=pathlib.Path)
    run = Run(**vars(parser.parse_args()))
    try:
        if run.role == "publish":
            publish(run)
        else:
            arrivals = Arrivals(run)
            subscribe(run, arrivals)
            arrivals.finish()
    except Exception as why:
        print(f"{sys.argv[0]} {run.role}: {why!r}", file=sys.stderr)
        return 1
    return 0
