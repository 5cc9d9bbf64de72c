"""Processes that are measured: started, listened to, looked into and ended."""
import contextlib
import dataclasses
import os
import pathlib
import select
import subprocess
import tempfile
import time

STARTING_S = 30


class Failed(Exception):
    """A cell without samples, and why."""


@dataclasses.dataclass
class Memory:
    """Of one process or of several, in KiB. Pages that others have as well count by their share (PSS)."""

    private: float = 0  # nobody else has it
    pss: float = 0

    def __add__(self, other):
        return Memory(self.private + other.private, self.pss + other.pss)


class Process:
    """A process that ends with this script, whatever happens to it. Runs on one core, if one is given; `around` are commands that start others, such as nsenter."""

    def __init__(self, command, folder, core=None, descriptors=(), environment=None, around=()):
        self.name = pathlib.Path(command[0]).name
        self.forks = "--fork" in around or "nsenter" in around
        self.errors = tempfile.TemporaryFile(dir=folder)
        self.said = b""
        bound = ["setpriv", "--pdeathsig", "TERM", "--"] + (["taskset", "--cpu-list", str(core)] if core is not None else [])
        self.process = subprocess.Popen([*bound, *around, *(str(word) for word in command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        pass_fds=descriptors, start_new_session=True, env={**os.environ, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(STARTING_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(BrokenPipeError):
                file.close()

    def failed(self, why):
        self.errors.seek(0)
        lines = [line for line in self.errors.read().decode(errors="replace").splitlines() if line.strip()]
        return Failed("; ".join([f"{self.name} {why}", *lines[-3:]]))

    def heard(self, words, seconds):
        """Waits until it says a line that contains `words`, or the time is over; whether it has."""
        until = time.monotonic() + seconds
        while words.encode() not in self.said:
            ready, _, _ = select.select([self.process.stdout], [], [], max(until - time.monotonic(), 0))
            if not ready:
                return False
            more = os.read(self.process.stdout.fileno(), 4096)
            if not more:
                raise self.failed(f"ended before it said '{words}'")
            self.said += more
        return True

    def hear(self, words, seconds):
        if not self.heard(words, seconds):
            raise self.failed(f"did not say '{words}' within {seconds:.0f} s")

    def say(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.failed("ended too early") from None

    def tell_to_end(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def end(self, seconds):
        """Waits for its end, which must be a good one."""
        self.tell_to_end()
        try:
            if self.process.wait(seconds) != 0:
                raise self.failed(f"ended with status {self.process.returncode}")
        except subprocess.TimeoutExpired:
            raise self.failed(f"did not end within {seconds} s") from None

    @property
    def first_child(self):
        return int(pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])

    @property
    def pid(self):
        """Of the program itself: what was put around it may be another process, of which it is the child."""
        return self.first_child if self.forks else self.process.pid

    def cpu_ns(self):
        """Processor time, user and system, of all threads, also of those that have ended."""
        return time.clock_gettime_ns(~self.pid << 3 | 2)  # the process' CPU clock, as clock_getcpuclockid(3) gives it

    def memory(self):
        found = Memory()
        for line in pathlib.Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("Private_Clean", "Private_Dirty"):
                found.private += int(value.split()[0])
            elif name == "Pss":
                found.pss += int(value.split()[0])
        return found
