"""The robot of examples/robot, built in a folder of its own, with domains and ports that nobody else has, and what can be asked of it."""

import collections
import contextlib
import json
import os
import pathlib
import random
import re
import socket
import subprocess

import programs
from launched import PATIENCE


def ros_domain():
    """The number of a domain of ROS 2 that nobody else on this machine is in, so that two of these robots do not hear each other; and what keeps others of these tests from it until it is closed."""
    # In 250 ports of UDP for each domain, from 7400 on, the first is where all of it listen. Above 100 they are those that the kernel gives to anybody.
    taken = {int(line.split()[1].rpartition(":")[2], 16) for of in ("udp", "udp6") for line in pathlib.Path("/proc/net", of).read_text().splitlines()[1:]}
    for number in random.sample(range(1, 101), 100):
        mine = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):
            mine.bind(f"\0sinew-tests-ros-domain-{number}")
            if 7400 + 250 * number not in taken:
                return number, mine
        mine.close()
    raise AssertionError("all domains of ROS 2 are taken")


class Stage:
    def __init__(self, work):
        built = programs.sinew()
        self.work, self.folder = pathlib.Path(work), pathlib.Path(work) / "robot"
        programs.robot(built, self.folder)
        self.use_free_ports()
        number, self.ros_domain = ros_domain()
        self.environment = os.environ | {
            "PATH": f"{built.commands}:{built.python.parent}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": str(built.prefix / "lib"),
            "XDG_RUNTIME_DIR": str(self.work),  # where the domains are
            "ROS_DOMAIN_ID": str(number),
        }
        for command in (["init"], ["issue", "robot"], ["issue", "station"]):
            self.run("sinew-gateway", "certs", *command, "--folder", "certificates")

    def use_free_ports(self):
        """In the place of those of the example, on which something of whoever runs this may listen."""
        with contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(3)]
            for each in sockets:
                each.bind(("127.0.0.1", 0))
            free = dict(zip(("7463", "7464", "7465"), (str(each.getsockname()[1]) for each in sockets)))
        for file in ("robot.json", "station.json", "station.yaml"):
            path = self.folder / file
            path.write_text(re.sub(r"\b746[345]\b", lambda port: free[port[0]], path.read_text()))

    def let_out(self, topic):
        """One more that the robot's gateway sends to the station."""
        path = self.folder / "robot.json"
        path.write_text(path.read_text().replace('"exceptions": [', f'"exceptions": [ {{ "name": "{topic}", "rule": "out", "priority": 5 }},', 1))

    def run(self, *command):
        """What a command has printed, which has to end well."""
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def newest(self, topic, domain="robot"):
        """A message of a topic that comes now."""
        return json.loads(self.run("sinew", "--domain", domain, "--json", "topic", "echo", "--once", topic))

    def place(self):
        position = self.newest("odom")["pose"]["pose"]["position"]
        return position["x"], position["y"]

    def battery(self):
        """How full a node hears that it is."""
        program = "import sinew\nwith sinew.Node('technician', domain='robot') as node: print(node.subscribe('battery', 'sensor_msgs/msg/BatteryState').take(timeout=30)[0].percentage)"
        return float(self.run("python3", "-c", program))

    def topics(self):
        return set(self.run("sinew", "--domain", "robot", "topic", "list").split())

    def managers(self, domain):
        """Their processes: one, or for a moment none."""
        return [pid for pid, command in self.processes() if "sinewd" in command and f"{self.work}/sinew/{domain}.sock" in command]

    def inventory(self, domain):
        """All nodes of a domain, and who publishes and subscribes to what, how often. A gateway is called otherwise each time that it is started."""
        state = json.loads(self.run("sinew", "--domain", domain, "--json", "domain", "state"))
        nodes, topics = ({each["id"]: re.sub(r"\bgateway_[0-9a-f]{8}", "a gateway", each["name"]) for each in state[what]} for what in ("nodes", "topics"))
        ends = (f"{nodes.get(end['node'])} {'publishes' if end['publishes'] else 'subscribes to'} {topics.get(end['topic'])}" for end in state["endpoints"])
        return collections.Counter(nodes.values()) + collections.Counter(ends)

    def processes(self):
        """(pid, command line) of all that belong to these domains."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"XDG_RUNTIME_DIR={self.work}\0".encode() in (process / "environ").read_bytes():
                    found.append((int(process.name), (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
        return found
