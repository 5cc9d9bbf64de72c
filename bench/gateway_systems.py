"""What carries messages between two machines in bench/gateway.py: sinew and its gateways, Zenoh and its routers. Each is entered for a network, and starts programs that publish and subscribe on either machine, which all understand the same arguments."""
import contextlib
import json
import pathlib
import subprocess
import tempfile
import time

import gateway_networks
from compare.processes import Failed
from gateway_report import IMAGE_BYTES

PATIENCE_S = 40
ZENOH_NODE = pathlib.Path(__file__).resolve().parent / "peers/python/zenoh_node.py"
COMMAND, IMAGE = "command", "image"


class Program:
    """That prints `ready`, and ends when its input does, or by itself."""

    def __init__(self, stack, command, environment=None):
        self.name = " ".join(map(str, command))
        self.process = subprocess.Popen([str(word) for word in command], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.close)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def ready(self):
        line = self.process.stdout.readline()
        if line != "ready\n":
            raise Failed(f"{self.name}: ended with status {self.process.wait(PATIENCE_S)}")
        return self

    def end(self, within=PATIENCE_S, told=True):
        """Ends it, or waits until it has ended by itself; what it has printed."""
        with contextlib.suppress(BrokenPipeError):
            if told:
                self.process.stdin.close()
        try:
            status = self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name}: does not end") from None
        if status != 0:
            raise Failed(f"{self.name}: ended with status {status}")
        return self.process.stdout.read()


class System:
    """`network` None: one machine alone, nothing leaves it."""

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        try:
            self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="sinew-bench-")))
            self.start()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def listen(self, out, _seconds):
        """Somebody at the base subscribes to both topics, and writes what came into the files of `out`."""
        return [self.node("base", "subscribe", "--topic", topic, "--out", out[topic]).ready() for topic in (IMAGE, COMMAND)]


class Sinew(System):
    def __init__(self, tools, network, discovery=False):
        self.tools, self.network, self.discovery = tools, network, discovery

    def start(self):
        for side in gateway_networks.ADDRESSES if self.network else ("robot",):
            self.manage(side)
            if self.network:
                self.join(side)

    def manage(self, side):
        """A domain on that machine."""
        socket = self.folder / side
        self.run([self.tools.prefix / "bin/sinewd", "--socket", socket], side)
        wait_until(socket.exists, "the manager listens")

    def join(self, side):
        """A gateway between the domain and the network."""
        other = next(name for name in gateway_networks.ADDRESSES if name != side)
        both = {"base_rule": "both", "exceptions": [{"name": COMMAND, "rule": "both", "priority": 10}]}
        settings = {"name": side, "security": "ad-hoc", "listen": "[::]:7463", "discovery": self.discovery, "rules": [{"topics": both, "services": {"base_rule": "both"}}]}
        if side == "robot" and not self.discovery:
            settings["peers"] = [f"{gateway_networks.ADDRESSES[other]}:7463"]
        config = self.folder / f"{side}.json"
        config.write_text(json.dumps(settings))
        self.run([*self.network.inside(side), self.tools.gateway, "run", config], side)

    def environment(self, side):
        return self.tools.environment | {"SINEW_DOMAIN": str(self.folder / side), "RUST_LOG": "error"}

    def run(self, command, side):
        return Program(self.stack, command, self.environment(side))

    def node(self, side, *words):
        return self.run([self.tools.traffic, *words], side)


class Quinn(Sinew):
    """The robot alone, without a gateway, and beside it bare quinn, which sends the base as much as the link takes: what sharing the cores with a sender costs, whoever it is."""

    def start(self):
        self.manage("robot")

    def listen(self, _out, seconds):
        address = f"{gateway_networks.ADDRESSES['base']}:7000"
        self.quinn("base", "serve", address).ready()
        self.quinn("robot", "send", address, "--size", IMAGE_BYTES, "--seconds", seconds)
        return []

    def quinn(self, side, *words):
        return self.run([*self.network.inside(side), self.tools.traffic, "quinn", *words], side)


class Zenoh(System):
    """A router on each machine, and nodes that find each other through it, as its middleware for ROS 2 is set up."""

    def __init__(self, tools, network, is_tuned):
        self.tools, self.network, self.is_tuned = tools, network, is_tuned

    def start(self):
        for side in gateway_networks.ADDRESSES:
            other = ["--connect", f"tcp/{gateway_networks.ADDRESSES['robot']}:7447"] if side == "base" else []
            self.node(side, "route", *other).ready()

    def node(self, side, *words):
        tuned = ["--tuned"] if self.is_tuned else []
        return Program(self.stack, [*self.network.inside(side), self.tools.zenoh, ZENOH_NODE, *tuned, *words])


def wait_until(is_so, what):
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            raise Failed(f"in vain: {what}")
        time.sleep(0.01)
