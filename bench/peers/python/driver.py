"""What the drivers in Python have in common, as driver.hpp for those in C++: their command line, what they take down, and what they say to bench/compare."""
import argparse
import array
import ctypes
import dataclasses
import os
import pathlib
import struct
import sys
import threading
import time

import numpy

PATIENCE_S = 30
SECOND_NS = 1_000_000_000
# Before who measures is woken, by what a publisher says at its end: the last message shall not wait for a core for that.
SETTLING_S = 0.01
# What no byte of a payload is.
ABSENT = 255
LOST, DAMAGED = -1, -2
# In front of payloads that have no fields for it: began, sent, number, publisher.
HEADER = struct.Struct("=qqQQ")
# What all drivers read with.
memchr = ctypes.CDLL(None).memchr
memchr.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
memchr.restype = ctypes.c_void_p


@dataclasses.dataclass
class Run:
    """One end of a cell."""

    role: str
    way: str
    topic: str
    folder: pathlib.Path
    size: int
    rate: float
    count: int
    warm_up: int
    publishers: int
    subscribers: int
    index: int
    read: str
    wait: str
    fifo: int
    rate_step: float
    size_step: float
    step: int
    seconds: float
    sizes: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.sizes.append(self.size)
        while self.size_step > 0 and len(self.sizes) <= self.messages // self.step:
            self.sizes.append(self.sizes[-1] + max(1, int(self.sizes[-1] * self.size_step)))

    @property
    def messages(self):
        """Of each publisher."""
        return self.warm_up + self.count

    @property
    def largest(self):
        return self.sizes[-1]

    def size_of(self, number):
        return self.sizes[number // self.step] if self.size_step > 0 else self.size

    def rate_of(self, number):
        return self.rate + self.rate_step * (number // self.step)


def reads_absent(payload):
    """Whether the byte is there that is in no payload. Reads it where it lies."""
    bytes_there = numpy.frombuffer(payload, numpy.uint8)
    return memchr(bytes_there.ctypes.data, ABSENT, bytes_there.size) is not None


def value_of(number):
    """What every byte of a payload is."""
    return number % ABSENT


def say(words):
    print(words, flush=True)


def fail(run, why):
    """Ends the process, from whatever thread."""
    print(f"{sys.argv[0]} {run.role}: {why}", file=sys.stderr, flush=True)
    os._exit(1)


def become_fifo(run):
    """The calling thread, if the run wants it."""
    try:
        if run.fifo:
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(run.fifo))
    except PermissionError as why:
        fail(run, f"SCHED_FIFO, which needs root: {why}")


class Arrivals:
    """What a subscriber takes down. Threads of the system may call `add`, while another waits."""

    def __init__(self, run):
        self.run = run
        # Began, sent, readable, read: those of the first publisher, then of the next.
        self.samples = array.array("q", [0, 0, LOST, LOST]) * (run.publishers * run.messages)
        self.outstanding = run.publishers
        self.lock = threading.Lock()
        self.thread = threading.local()

    def add(self, began, sent, number, publisher, payload):
        """To be called first thing when the payload is readable: the clock is read here. `payload` can be indexed, and has memory."""
        readable = time.monotonic_ns()
        run = self.run
        whole = run.read != "all" or not reads_absent(payload)
        read = time.monotonic_ns()
        if not hasattr(self.thread, "known"):
            self.thread.known = True
            become_fifo(run)
        if publisher >= run.publishers or number >= run.messages:
            fail(run, "a message of another cell came")
        size = len(payload)
        value = value_of(number)
        whole = whole and size == run.size_of(number) and payload[0] == value and payload[size // 2] == value and payload[-1] == value
        at = 4 * (publisher * run.messages + number)
        with self.lock:
            self.samples[at:at + 4] = array.array("q", (began, sent, readable if whole else DAMAGED, read))
            if number + 1 == run.messages:
                self.outstanding -= 1
                if not self.outstanding:
                    say(f"complete {run.index}")

    def wait(self):
        """Blocks until the script lets the subscriber end, whether all is there or not, and writes the samples."""
        sys.stdin.readline()
        with self.lock:
            (self.run.folder / f"subscriber-{self.run.index}.ns").write_bytes(self.samples.tobytes())


def connect(connected):
    """Polls until it is, then says so."""
    until = time.monotonic() + PATIENCE_S
    while not connected():
        if time.monotonic() > until:
            raise RuntimeError("the other side was not there in time")
        time.sleep(0.001)
    say("connected")


def publish_all(run, send):
    """Waits for the word to begin, then calls send(began, number) for each message when it is due. It obtains memory for `run.size_of(number)` bytes, fills it, takes the time, publishes,
    and gives this time. Writes when each began, was sent and had been published. Returns when the script lets the publisher end."""
    samples = array.array("q", [-1, -1, -1]) * run.messages
    if not sys.stdin.readline():
        raise RuntimeError("the script ended before this cell began")
    become_fifo(run)
    start = time.monotonic_ns()
    # Publishers are evenly spread over a period.
    due = start + (int(SECOND_NS / run.rate * run.index / run.publishers) if run.rate else 0)
    number = 0
    while number < run.messages and (not run.seconds or time.monotonic_ns() - start < run.seconds * SECOND_NS):
        if run.rate:
            time.sleep(max(due - time.monotonic_ns(), 0) / SECOND_NS)
            due = max(due + int(SECOND_NS / run.rate_of(number)), time.monotonic_ns())
        began = time.monotonic_ns()
        sent = send(began, number)
        samples[3 * number], samples[3 * number + 1], samples[3 * number + 2] = began, sent, time.monotonic_ns()
        number += 1
        if number == run.warm_up:
            say("warm")
    time.sleep(SETTLING_S)
    (run.folder / f"publisher-{run.index}.ns").write_bytes(samples[:3 * number].tobytes())
    say("published")
    sys.stdin.readline()


def within(least, most):
    def parse(word):
        if not least <= int(word) <= most:
            raise argparse.ArgumentTypeError(f"{word} is not within {least} and {most}")
        return int(word)

    return parse


def parse():
    parser = argparse.ArgumentParser(description="One end of a cell that bench/compare measures.")
    parser.add_argument("role", choices=("publish", "subscribe", "both"))
    parser.add_argument("--way", default="", help="of those that the system has to carry a message")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="for samples, and where the system may keep files")
    parser.add_argument("--size", type=within(1, 1 << 30), default=128, help="payload bytes")
    parser.add_argument("--rate", type=float, default=30, help="messages per second; 0: one right after the other")
    parser.add_argument("--count", type=int, default=100, help="messages of each publisher that are measured")
    parser.add_argument("--warm-up", type=int, default=16, help="messages of each that go before")
    parser.add_argument("--publishers", type=within(1, 8), default=1)
    parser.add_argument("--subscribers", type=within(1, 8), default=1)
    parser.add_argument("--index", type=int, default=0, help="which of them this one is, from 0")
    parser.add_argument("--read", choices=("all", "touch"), default="all", help="what subscribers read: every byte, or three")
    parser.add_argument("--wait", choices=("block", "spin"), default="block", help="whether subscribers sleep until a message comes")
    parser.add_argument("--fifo", type=int, default=0, help="priority at SCHED_FIFO of the threads that publish and that receive")
    parser.add_argument("--rate-step", type=float, default=0, help="how much the rate grows with each step")
    parser.add_argument("--size-step", type=float, default=0, help="by which share of itself the size grows with each step, at least by a byte")
    parser.add_argument("--step", type=within(1, 1000), default=10, help="messages of a step")
    parser.add_argument("--seconds", type=float, default=0, help="a publisher ends after so long")
    return Run(**vars(parser.parse_args()))


def drive(publish, subscribe, ways):
    """The program: `publish(run)` or `subscribe(run, arrivals)`. `ways` has for each role the word for the only way that it has. Errors become a line on stderr and status 1."""
    run = parse()
    try:
        if run.role == "both":
            raise ValueError("this system does not carry messages within a process")
        if run.wait == "spin":
            raise ValueError("in Python nobody spins: callbacks sleep")
        if run.way not in ("", ways[run.role]):
            raise ValueError(f"in Python there is no way '{run.way}' to {run.role}, only '{ways[run.role]}'")
        if run.role == "publish":
            publish(run)
        else:
            subscribe(run, Arrivals(run))
    except Exception as why:
        fail(run, f"{type(why).__name__}: {why}")
    return 0
