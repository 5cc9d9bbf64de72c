"""One cell of one system: its processes from their start to their end, and what they and the kernel say of it."""
import array
import contextlib
import dataclasses
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from compare import systems
from compare.processes import STARTING_S, Failed, Memory, Process

WARM_UP = 16
# How long messages may trail the last publish: what has not come by then is lost.
GRACE_S = 2
ENDING_S = 10
# What every cell has, unless it says otherwise. `rate` and `size` grow by their steps after every `step` messages.
DEFAULTS = {"publishers": 1, "subscribers": 1, "size": 128, "rate": 30, "count": 100, "read": "touch", "wait": "block", "pinned": True, "ordered": False,
            "containers": "none", "load": 0, "fifo": 0, "rate_step": 0, "size_step": 0, "step": 10, "seconds": 0, "work": "plain"}
# What is worked on where that is not plain.
DATA = pathlib.Path(__file__).resolve().parents[2] / "build/demo-data"
LOST, DAMAGED = -1, -2


@dataclasses.dataclass
class Measured:
    """Times in ns of CLOCK_MONOTONIC, all messages one after the other."""

    published: list  # of each publisher (began, sent, published) of each message
    received: list  # of each subscriber, of each publisher, (began, sent, readable, read) of each message; `readable` may be LOST or DAMAGED
    cpu_ns: int  # of all processes
    publish_cpu_ns: int  # of those that publish, and
    receive_cpu_ns: int  # of those that subscribe; the same where they are one
    memory: Memory


def cores_of(count):
    """A core for each of so many processes, where there are enough; else the scheduler chooses."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[:count] if count <= len(allowed) else [None] * count


def messages_of(cell):
    return WARM_UP + cell["count"]


def seconds_of(cell):
    """How long its messages take, when the system keeps up."""
    if cell["seconds"]:
        return cell["seconds"]
    if not cell["rate"]:
        return 0
    return sum(1 / (cell["rate"] + cell["rate_step"] * (number // cell["step"])) for number in range(messages_of(cell)))


NAMESPACES = ["--mount", "--pid", "--ipc", "--uts"]


@contextlib.contextmanager
def containers(kind, folder):
    """Gives what starts a process where it belongs: on the host, in one container that all share, or in one of its own. Containers are namespaces of their own, but for the network."""
    if kind == "none":
        yield []
    elif kind == "each":
        yield ["unshare", *NAMESPACES, "--fork", "--kill-child", "--mount-proc"]
    else:
        # It ends when its input does: as the first of its process name space it heeds no signal.
        with Process(["sh", "-c", "echo there; cat"], folder, around=["unshare", *NAMESPACES, "--fork", "--kill-child", "--mount-proc"]) as holder:
            holder.hear("there", STARTING_S)
            yield ["nsenter", "--target", str(holder.first_child), *NAMESPACES]
            holder.tell_to_end()


@contextlib.contextmanager
def loaded(percent, folder):
    """All cores compute for so much of the time."""
    if not percent:
        yield
        return
    with Process(["stress-ng", "--quiet", "--cpu", os.cpu_count(), "--cpu-load", percent, "--cpu-load-slice", 0], folder) as stress:
        with contextlib.suppress(subprocess.TimeoutExpired):
            stress.process.wait(1)
            raise stress.failed(f"ended with status {stress.process.returncode}")
        yield
        if stress.process.poll() is not None:
            raise stress.failed(f"ended with status {stress.process.returncode}")


class Cell:
    """What is running of it."""

    def __init__(self, stack, system, cell):
        self.stack, self.system, self.cell = stack, system, cell
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sinew-peers-")))
        stack.enter_context(systems.swept(system, self.folder))
        self.beside = stack.enter_context(system.beside(system, self.folder, cell))
        self.around = stack.enter_context(containers(cell["containers"], self.folder))
        self.descriptors = self.make_descriptors() if system.descriptors else []
        count = 1 if system.one_process else cell["publishers"] + cell["subscribers"]
        self.cores = cores_of(count) if cell["pinned"] else [None] * count
        self.publishers, self.subscribers = [], []

    def make_descriptors(self):
        made = [os.memfd_create("floor") for _ in range(self.cell["publishers"])] + [os.eventfd(0) for _ in range(self.cell["subscribers"])]
        for descriptor in made:
            self.stack.callback(os.close, descriptor)
        return made

    def start(self, role, index, core):
        cell = self.cell
        options = {"topic": "cell", "folder": self.folder, "warm-up": WARM_UP, "index": index}
        options |= {key.replace("_", "-"): cell[key] for key in ("size", "rate", "count", "publishers", "subscribers", "read", "wait", "fifo", "rate_step", "size_step", "step", "seconds")
                    if cell[key] != DEFAULTS[key] or key in ("size", "count", "read")}
        if cell["work"] != "plain":
            options |= {"work": cell["work"], "data": DATA}
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        if self.descriptors:
            words += ["--descriptors", ",".join(map(str, self.descriptors))]
        return self.stack.enter_context(Process([*self.system.command(role), *words], self.folder, core, self.descriptors, self.beside.environment, [*self.around, *self.beside.around]))

    def start_all(self):
        """In the order in which they connect, if the cell asks for that."""
        if self.system.one_process:
            self.publishers = self.subscribers = [self.start("both", 0, self.cores[0])]
        elif self.cell["ordered"]:
            self.publishers = [self.start("publish", index, self.cores[index]) for index in range(self.cell["publishers"])]
            for index in range(self.cell["subscribers"]):
                self.subscribers.append(self.start("subscribe", index, self.cores[len(self.publishers) + index]))
                self.subscribers[-1].hear("connected", STARTING_S)
        else:
            self.subscribers = [self.start("subscribe", index, self.cores[self.cell["publishers"] + index]) for index in range(self.cell["subscribers"])]
            self.publishers = [self.start("publish", index, self.cores[index]) for index in range(self.cell["publishers"])]
        for process in {*self.publishers, *self.subscribers}:
            process.hear("connected", STARTING_S)

    def cpu_ns(self):
        """Of all, of publishers, of subscribers."""
        times = {process: process.cpu_ns() for process in {*self.publishers, *self.subscribers, *self.beside.processes}}
        return [sum(times[process] for process in chosen) for chosen in (times, self.publishers, self.subscribers)]

    def run(self):
        """Returns the processor time that it took after all had warmed up."""
        for process in self.publishers:
            process.say("go")
        for process in self.publishers:
            process.hear("warm", STARTING_S)
        before = self.cpu_ns()
        for process in self.publishers:
            process.hear("published", STARTING_S + 20 * seconds_of(self.cell))
        until = time.monotonic() + GRACE_S
        for index in range(self.cell["subscribers"]):
            process = self.subscribers[0 if self.system.one_process else index]
            if not process.heard(f"complete {index}", max(until - time.monotonic(), 0)):
                break
        return [after - begin for after, begin in zip(self.cpu_ns(), before)]

    def memory(self):
        return sum((process.memory() for process in {*self.publishers, *self.subscribers, *self.beside.processes}), Memory())

    def end(self):
        for process in {*self.publishers, *self.subscribers}:
            process.tell_to_end()
        for process in {*self.publishers, *self.subscribers}:
            process.end(ENDING_S)

    def samples(self):
        published = [in_groups(self.folder / f"publisher-{index}.ns", 3) for index in range(self.cell["publishers"])]
        received = []
        for index in range(self.cell["subscribers"]):
            whole = in_groups(self.folder / f"subscriber-{index}.ns", 4)
            each = [whole[begin:begin + messages_of(self.cell)] for begin in range(0, len(whole), messages_of(self.cell))]
            received.append([one[:len(sent)] for one, sent in zip(each, published, strict=True)])
        return published, received

    def keep(self, folder):
        """Copies the samples there: 64-bit integers as the drivers have written them."""
        folder.mkdir(parents=True, exist_ok=True)
        for file in self.folder.glob("*.ns"):
            shutil.copy(file, folder)


def in_groups(path, size):
    """The numbers of a file, as tuples of so many."""
    whole = array.array("q", path.read_bytes())
    return list(zip(*[iter(whole)] * size, strict=True))


def measure(system, cell, keep=None):
    """Throws Failed. `cell` has what DEFAULTS has. Samples are kept in the folder `keep`, if one is given."""
    with contextlib.ExitStack() as stack:
        running = Cell(stack, system, cell)
        running.start_all()
        with loaded(cell["load"], running.folder):
            cpu = running.run()
        memory = running.memory()
        running.end()
        if keep:
            running.keep(keep)
        published, received = running.samples()
        if not all(published):
            raise Failed("nothing was published")
        return Measured(published, received, *cpu, memory)
