"""The systems that are compared: whether they are there, how their drivers are started, and what runs beside them."""
import contextlib
import dataclasses
import glob
import grp
import os
import pathlib
import shutil
import socket
import subprocess
import time
import tomllib

from compare.processes import STARTING_S, Failed, Process

DRIVERS = pathlib.Path(__file__).resolve().parent.parent / "peers"
OBJECT = "ordinary C++ types"
BYTES = "bytes"
FIXED = "bytes in a type of fixed size"


@dataclasses.dataclass
class Beside:
    """What runs beside the drivers of a cell; its time and memory count."""

    processes: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    around: list = dataclasses.field(default_factory=list)  # what starts the drivers


@contextlib.contextmanager
def nothing(system, folder, cell):
    yield Beside()


@contextlib.contextmanager
def manager(system, folder, cell):
    """sinew's, for the cell alone."""
    with Process([system.sinewd, "--socket", folder / "domain.sock"], folder) as process:
        process.hear("listens", STARTING_S)
        yield Beside([process])


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
    config.write_text(ROUDI_CONFIG.format(size=(cell["size"] + 256 + 63) // 64 * 64, count=16 * cell["publishers"] + 16))
    with Process(["iox-roudi", "--config-file", config, "--monitoring-mode", "off", "--log-level", "error"], folder) as process:
        process.hear("ready for clients", STARTING_S)
        yield Beside([process])


def answers(port):
    """Whether somebody listens there, on this machine."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def master(system, folder, cell):
    """ROS 1's, for the cell alone."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1", "ROS_HOME": str(folder), "ROS_LOG_DIR": str(folder)}
    with Process(["rosmaster", "--core", "-p", port], folder, environment=environment) as process:
        # A subscriber that asks it before it listens waits for a second. It does not say when it does.
        until = time.monotonic() + STARTING_S
        while not answers(port):
            if time.monotonic() > until:
                raise process.failed("does not listen")
            time.sleep(0.01)
        yield Beside([process], environment)


@contextlib.contextmanager
def network(system, folder, cell):
    """One of its own, whose loopback takes multicast: on that of the machine it is not routed, and on a real network it would leave."""
    name = folder.name
    try:
        for words in (["netns", "add", name], ["-n", name, "link", "set", "lo", "up"], ["-n", name, "route", "add", "239.255.76.67", "dev", "lo"]):
            done = subprocess.run(["ip", *words], capture_output=True, text=True)
            if done.returncode != 0:
                raise Failed(f"ip {' '.join(words)}: {done.stderr.strip()}")
        yield Beside(around=["ip", "netns", "exec", name])
    finally:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@dataclasses.dataclass
class System:
    name: str
    title: str  # in reports
    program: pathlib.Path
    version: str = ""
    missing: str = ""  # why it cannot be measured here
    carries: str = BYTES  # what a message is to it
    publish: str = ""  # by which way of its driver
    subscribe: str = ""
    beside: object = nothing
    spins: bool = False  # subscribers look again and again
    one_process: bool = False  # publisher and subscribers are one
    descriptors: bool = False  # its processes inherit memory and eventfds
    largest: int = 1 << 30  # payload
    grows: bool = True  # messages of one run may differ in size
    # What it may leave in the file system when it is killed; FOLDER is the name of the cell's folder, which is removed with all that lies in it.
    traces: tuple = ()
    interpreter: pathlib.Path = None  # of the program, when that is a script
    publisher: "System" = None  # who publishes, when it is another
    sinewd: pathlib.Path = None

    @property
    def ours(self):
        return self.name.startswith("sinew")

    @property
    def floor(self):
        """What the machine can do, and its plain sockets."""
        return self.name.startswith(("floor", "socket"))

    def command(self, role):
        program = (self.publisher or self) if role == "publish" else self
        start = [program.interpreter, program.program] if program.interpreter else [program.program]
        way = {"publish": program.publish, "subscribe": self.subscribe}.get(role, "")
        return [*start, role, *(["--way", way] if way else [])]

    def takes(self, cell):
        """Whether this cell can be measured with it."""
        fits = cell["size"] <= self.largest and (self.grows or not cell["size_step"])
        return fits and self.spins == (cell["wait"] == "spin") and not (self.one_process and cell["publishers"] > 1)


def version_of_package(package):
    asked = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    done = subprocess.run(asked, capture_output=True, text=True) if shutil.which("dpkg-query") else None
    return done.stdout if done and done.returncode == 0 else ""


def version_of_wheel(package):
    lines = (DRIVERS / "python/requirements.txt").read_text().splitlines()
    return next(line.split("==")[1] for line in lines if line.startswith(f"{package}=="))


def of_debian(programs, name, package, **more):
    """A driver that CMake has built, if there was what it needs."""
    program = programs / f"sinew-peer-{name}"
    missing = "" if program.exists() else f"its driver is not built: the Debian package {package} has what it needs (make bench-peers)"
    if "tool" in more and not shutil.which(tool := more.pop("tool")):
        missing = f"{tool} is not there (tools/setup peers)"
    return {"program": program, "version": version_of_package(package), "missing": missing, **more}


def in_rust(build, crate, **more):
    """A driver that cargo has built."""
    program = build / f"release/sinew-peer-{crate}"
    locked = tomllib.loads((DRIVERS / "rust/Cargo.lock").read_text())["package"]
    version = next(package["version"] for package in locked if package["name"] == crate)
    missing = "" if program.exists() else "its driver is not built: that takes cargo of Rust 1.89 or newer (https://rustup.rs), and crates.io (make bench-peers)"
    return {"program": program, "version": version, "missing": missing, **more}


def in_python(interpreter, title, script, **more):
    """A driver in Python."""
    missing = "" if interpreter.exists() else f"{interpreter} is not there: make bench-peers makes it, by tools/python_env.py"
    return System(more.pop("name", title), title, DRIVERS / "python" / script, interpreter=interpreter, missing=missing, **more)


def ours(programs, interpreter):
    program = programs / "sinew-peer-sinew"
    common = {"program": program, "version": "this one", "carries": OBJECT, "beside": manager, "sinewd": programs / "sinewd",
              "publish": "loan", "subscribe": "native"}
    return [System("sinew", "sinew", **common),
            System("sinew-spin", "sinew, spinning", **common, spins=True),
            System("sinew-publish", "sinew, publish(const T&)", **{**common, "publish": "heap"}),
            System("sinew-view", "sinew, read by a view", **{**common, "subscribe": "view"}),
            System("sinew-copy", "sinew, read from a checked copy", **{**common, "subscribe": "copy"}),
            System("sinew-process", "sinew, in one process", **common, one_process=True),
            in_python(interpreter, "sinew, Python", "sinew_driver.py", name="sinew-python", version="this one", carries=OBJECT, beside=manager, sinewd=programs / "sinewd")]


def floors(programs):
    memory = {"program": programs / "sinew-peer-floor", "version": "this one", "descriptors": True}
    sockets = {"program": programs / "sinew-peer-sockets", "version": "this one"}
    return [System("floor", "floor: shared memory, eventfd", **memory, publish="eventfd", subscribe="eventfd"),
            System("floor-futex", "floor: shared memory, futex", **memory, publish="futex", subscribe="futex"),
            System("floor-spin", "floor: shared memory, spinning", **memory, spins=True),
            System("floor-memcpy", "floor: one memcpy to each", **memory, one_process=True),
            *(System(f"socket-{way}", f"plain {name}", **sockets, publish=way, subscribe=way, largest=65_475 if way == "udp" else 1 << 30)
              for way, name in (("unix", "unix socket"), ("tcp", "TCP"), ("udp", "UDP")))]


def iceoryx_traces():
    group = grp.getgrgid(os.getegid()).gr_name
    return "/dev/shm/iceoryx_mgmt", f"/dev/shm/{group}", "/tmp/sinew-peer-*", "/tmp/roudi", "/tmp/roudi.lock", "/tmp/iox-unique-roudi.lock"


def iceoryx(programs):
    common = of_debian(programs, "iceoryx", "libiceoryx-posh-dev", tool="iox-roudi", beside=roudi, traces=iceoryx_traces(), grows=False)
    return [System("iceoryx", "iceoryx", **common), System("iceoryx-spin", "iceoryx, spinning", **common, spins=True)]


def ways_of(name, titles, common, **particular):
    """A system for each way that a driver has. `particular`: what only one of them has, by way."""
    return [System(f"{name}-{way}", title, **{**common, "publish": way, "subscribe": way, **particular.get(way, {})}) for way, title in titles.items()]


def dds(programs):
    cyclone = of_debian(programs, "cyclonedds", "cyclonedds-dev")
    fast = of_debian(programs, "fastdds", "libfastrtps-dev", traces=("/dev/shm/fastrtps_*", "/dev/shm/sem.fastrtps_*", "/dev/shm/fast_datasharing_*"))
    fixed = {"carries": FIXED}
    shared = {**fixed, "beside": roudi, "traces": (*iceoryx_traces(), "/tmp/iceoryx_rt_*")}
    return [*ways_of("cyclonedds", {"udp": "Cyclone DDS, UDP", "iceoryx": "Cyclone DDS with iceoryx, fixed size"}, cyclone, iceoryx=shared),
            *ways_of("fastdds", {"shm": "Fast DDS, shared memory", "datasharing": "Fast DDS, data sharing, fixed size", "udp": "Fast DDS, UDP"}, fast, datasharing=fixed)]


def ros1(programs):
    common = of_debian(programs, "ros1", "libroscpp-dev", tool="rosmaster", beside=master, carries=OBJECT)
    return [*ways_of("ros1", {"tcp": "ROS 1, TCP", "udp": "ROS 1, UDP"}, common), System("ros1-process", "ROS 1, in one process", **common, one_process=True)]


def brokerless(programs):
    return [*ways_of("zeromq", {"ipc": "ZeroMQ, ipc", "tcp": "ZeroMQ, TCP"}, of_debian(programs, "zeromq", "libzmq3-dev")),
            System("lcm", "LCM, in a network of its own", **of_debian(programs, "lcm", "liblcm-dev", beside=network))]


def of_rust(build):
    iceoryx2 = in_rust(build, "iceoryx2", traces=("/dev/shm/FOLDER_*",))
    return [System("iceoryx2", "iceoryx2", **iceoryx2), System("iceoryx2-spin", "iceoryx2, spinning", **iceoryx2, spins=True),
            *ways_of("zenoh", {"tcp": "Zenoh, TCP", "unix": "Zenoh, unix socket", "shm": "Zenoh, shared memory"}, in_rust(build, "zenoh", traces=("/dev/shm/*.zenoh",)))]


def all_systems(programs, interpreter, build):
    """`programs`: where CMake puts them; `interpreter`: of the drivers in Python; `build`: where cargo puts its."""
    return [*ours(programs, interpreter), *floors(programs), *iceoryx(programs), *of_rust(build), *dds(programs), *brokerless(programs), *ros1(programs),
            in_python(interpreter, "eCAL, Python", "ecal_driver.py", name="ecal", version=version_of_wheel("eclipse-ecal"), traces=("/dev/shm/ecal_*",))]


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
