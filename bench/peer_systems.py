"""The systems that bench/peers.py compares: whether they are there, what runs beside their drivers, and one cell of one of them."""
import array
import contextlib
import dataclasses
import glob
import grp
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

WARM_UP = 16
STARTING_S = 30
# How long drivers may trail the last publish before the cell has failed.
GRACE_S = 5
DRIVERS = pathlib.Path(__file__).resolve().parent / "peers"


class Failed(Exception):
    """A cell without samples, and why."""


class Process:
    """A process that ends with this script, whatever happens to it. Runs on one core, if one is given."""

    def __init__(self, command, folder, core=None, descriptors=()):
        self.name = pathlib.Path(command[0]).name
        self.errors = tempfile.TemporaryFile(dir=folder)
        self.said = b""
        bound = ["setpriv", "--pdeathsig", "TERM", "--"] + (["taskset", "--cpu-list", str(core)] if core is not None else [])
        self.process = subprocess.Popen(bound + [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, pass_fds=descriptors, start_new_session=True)

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
            file.close()

    def failed(self, why):
        self.errors.seek(0)
        lines = [line for line in self.errors.read().decode(errors="replace").splitlines() if line.strip()]
        return Failed("; ".join([f"{self.name} {why}", *lines[-3:]]))

    def hear(self, words, seconds):
        """Waits until it says a line that contains `words`."""
        until = time.monotonic() + seconds
        while words.encode() not in self.said:
            ready, _, _ = select.select([self.process.stdout], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise self.failed(f"did not say '{words}' within {seconds:.0f} s")
            more = os.read(self.process.stdout.fileno(), 4096)
            if not more:
                raise self.failed(f"ended before it said '{words}'")
            self.said += more

    def say(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.failed("ended too early") from None

    def end(self, seconds):
        """Waits for its end, which must be a good one."""
        self.process.stdin.close()
        try:
            if self.process.wait(seconds) != 0:
                raise self.failed(f"ended with status {self.process.returncode}")
        except subprocess.TimeoutExpired:
            raise self.failed(f"did not end within {seconds} s of the last message") from None


@contextlib.contextmanager
def nothing_beside(system, folder, cell):
    """Drivers that need nobody else."""
    yield


@contextlib.contextmanager
def manager(system, folder, cell):
    """sinew's, for the cell alone."""
    with Process([system.program.with_name("sinewd"), "--socket", folder / "domain.sock"], folder) as process:
        process.hear("listens", STARTING_S)
        yield


ROUDI_CONFIG = """[general]
version = 1

[[segment]]

[[segment.mempool]]
size = {size}
count = {count}
"""


@contextlib.contextmanager
def roudi(system, folder, cell):
    """iceoryx's, for the cell alone, with chunks for its payload, a header and what alignment takes. It does not look whether the cell's processes live."""
    config = folder / "roudi.toml"
    config.write_text(ROUDI_CONFIG.format(size=(cell["size"] + 256 + 63) // 64 * 64, count=16))
    with Process(["iox-roudi", "--config-file", config, "--monitoring-mode", "off", "--log-level", "error"], folder) as process:
        process.hear("ready for clients", STARTING_S)
        yield


@dataclasses.dataclass
class System:
    name: str
    program: pathlib.Path
    version: str
    missing: str = ""  # why it cannot be measured here
    beside: object = nothing_beside
    descriptors: bool = False  # its processes inherit memory and eventfds
    # What it may leave in the file system when it is killed; FOLDER is the name of the cell's folder, which is removed with all that lies in it.
    traces: tuple = ()
    interpreter: pathlib.Path = None  # of the program, when that is a script
    publisher: "System" = None  # who publishes, when it is another

    def command(self):
        return [self.interpreter, self.program] if self.interpreter else [self.program]


def version_of_package(package):
    asked = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    done = subprocess.run(asked, capture_output=True, text=True) if shutil.which("dpkg-query") else None
    return done.stdout if done and done.returncode == 0 else ""


def iceoryx(programs):
    version = version_of_package("libiceoryx-posh-dev")
    program = programs / "sinew-peer-iceoryx"
    missing = ""
    if not shutil.which("iox-roudi"):
        missing = "iox-roudi is not there: the Debian package iceoryx has it (tools/setup peers)"
    elif not program.exists():
        missing = "its driver is not built: the Debian package libiceoryx-posh-dev has what it needs (make bench-peers)"
    group = grp.getgrgid(os.getegid()).gr_name
    return System("iceoryx", program, version, missing, roudi,
                  traces=("/dev/shm/iceoryx_mgmt", f"/dev/shm/{group}", "/tmp/sinew-peer-*", "/tmp/roudi", "/tmp/roudi.lock", "/tmp/iox-unique-roudi.lock"))


def iceoryx2(build):
    """Builds its driver, from the crates of Cargo.lock."""
    source = DRIVERS / "iceoryx2"
    version = next(line for line in (source / "Cargo.toml").read_text().splitlines() if line.startswith("iceoryx2")).split('"')[1].lstrip("=")
    missing = ""
    if not shutil.which("cargo"):
        missing = "there is no cargo: install Rust 1.89 or newer (https://rustup.rs)"
    else:
        print(f"building the driver of iceoryx2 {version} with cargo, which fetches its crates from crates.io", flush=True)
        made = subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--target-dir", build], cwd=source, capture_output=True, text=True)
        if made.returncode != 0:
            missing = "cargo cannot build its driver: " + "; ".join(line for line in made.stderr.splitlines() if line.startswith("error"))
    return System("iceoryx2", build / "release/sinew-peer-iceoryx2", version, missing, traces=("/dev/shm/FOLDER_*",))


def all_systems(programs, build, names):
    """Those of `names`, in their order here. Building what is not asked for is left out."""
    made = {
        "sinew": lambda: System("sinew", programs / "sinew-peer-sinew", "this one", beside=manager),
        "floor": lambda: System("floor", programs / "sinew-peer-floor", "shared memory and eventfd", descriptors=True),
        "iceoryx": lambda: iceoryx(programs),
        "iceoryx2": lambda: iceoryx2(build),
    }
    return [make() for name, make in made.items() if name in names]


NAMES = ("sinew", "floor", "iceoryx", "iceoryx2")


@contextlib.contextmanager
def swept(system, folder):
    """Removes afterwards what the system has left, but nothing that was there before."""
    def found():
        return {path for pattern in system.traces for path in glob.glob(pattern.replace("FOLDER", folder.name))}

    before = found()
    try:
        yield
    finally:
        for path in found() - before:
            pathlib.Path(path).unlink(missing_ok=True)


def cores_of(count):
    """A core for each of so many processes, where there are enough; else the scheduler chooses, as in the rest of the benchmark."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[:count] if count <= len(allowed) else [None] * count


def measure(system, cell, count, rate):
    """All processes of one cell, from their start to their end. Returns transport and end-to-end times in ns, of all subscribers, and the processor time of a message in ns, of each that tells it. Throws Failed."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sinew-peers-")))
        stack.enter_context(swept(system, folder))
        stack.enter_context(system.beside(system, folder, cell))
        readers = range(cell["subscribers"])
        memory, bells = [], [[] for _ in readers]
        if system.descriptors:
            memory = [os.memfd_create("floor")]
            bells = [[os.eventfd(0)] for _ in readers]
            for descriptor in memory + sum(bells, []):
                stack.callback(os.close, descriptor)

        def start(role, core, descriptors, *more):
            options = {"topic": "cell", "folder": folder, "size": cell["size"], "rate": rate, "count": count, "warm-up": WARM_UP,
                       "subscribers": cell["subscribers"], "read": cell["read"]}
            words = [word for key, value in options.items() for word in (f"--{key}", value)]
            if descriptors:
                words += ["--descriptors", ",".join(map(str, descriptors))]
            command = (system.publisher or system if role == "publish" else system).command()
            return stack.enter_context(Process([*command, role, *words, *more], folder, core, descriptors))

        cores = cores_of(1 + len(readers))
        files = [folder / f"{reader}.ns" for reader in readers]
        subscribers = [start("subscribe", cores[1 + reader], memory + bells[reader], "--output", files[reader]) for reader in readers]
        publisher = start("publish", cores[0], memory + sum(bells, []))
        for process in (*subscribers, publisher):
            process.hear("connected", STARTING_S)
        publisher.say("go")
        publisher.hear("published", STARTING_S + (WARM_UP + count) / rate)
        for process in subscribers:
            process.end(GRACE_S)
        publisher.end(GRACE_S)

        samples = array.array("q")
        for file in files:
            samples.frombytes(file.read_bytes())
        cpu = [float(file.with_suffix(".cpu").read_text()) for file in files if file.with_suffix(".cpu").exists()]
    return samples[0::2], samples[1::2], cpu
