#!/usr/bin/env python3
"""The robot of examples/robot for a minute: launched, looked at, killed, recorded, played, and driven from the other end of a bad link.

Run by `make test`; by hand: tests/robot/test_robot.py [-v] [Class.test...]. With SINEW_ROBOT_PREFIX and SINEW_ROBOT_PYTHON nothing of sinew is built (programs.py).
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import programs
from launched import PATIENCE, Launched

robot = station = None  # while they run
PROCESSES = ["simulator", "lidar", "camera", "controller", "planner", "battery", "ros2", "gateway"]
TOPICS = {"battery", "camera/image", "cmd_vel", "odom", "plan", "scan"}
# Where ROS 2 is in these tests: nobody else's domain.
ROS_DOMAIN_ID = "83"


def setUpModule():
    global folder, environment, robot, station
    stack = contextlib.ExitStack()
    unittest.addModuleCleanup(stack.close)
    built = programs.sinew()
    work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sinew-")))
    folder = work / "robot"
    programs.robot(built, folder)
    use_free_ports()
    environment = os.environ | {
        "PATH": f"{built.commands}:{built.python.parent}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": str(built.prefix / "lib"),
        "XDG_RUNTIME_DIR": str(work),  # where the domains are
        "ROS_DOMAIN_ID": ROS_DOMAIN_ID,
    }
    (work / "sinew").mkdir(mode=0o700)
    os.environ["PATH"] = environment["PATH"]
    for command in (["init"], ["issue", "robot"], ["issue", "station"]):
        run("sinew-gateway", "certs", *command, "--folder", "certificates")
    robot = Launched(folder / "robot.yaml", work / "robot.log", environment)
    stack.callback(robot.stop)
    station = Launched(folder / "station.yaml", work / "station.log", environment)
    stack.callback(station.stop)


def use_free_ports():
    """In the place of those of the example, on which something of whoever runs this may listen."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(3)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        free = dict(zip(("7463", "7464", "7465"), (str(each.getsockname()[1]) for each in sockets)))
    for file in ("robot.json", "station.json", "station.yaml"):
        path = folder / file
        path.write_text(re.sub(r"\b746[345]\b", lambda port: free[port[0]], path.read_text()))


def run(*command, status=0):
    """What it has printed, when it ends as it should."""
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))} ended with status {done.returncode}:\n{done.stdout}{done.stderr}{story()}")
    return done.stdout


def story():
    """What all have said until now, for the text of a failure."""
    return "".join(f"\n--- {launched.log.stem}:\n{launched.said()}" for launched in (robot, station) if launched)


def newest(topic, domain="robot"):
    """A message of a topic that comes now."""
    return json.loads(run("sinew", "--domain", domain, "--json", "topic", "echo", "--once", topic))


def battery():
    """How full a node hears that it is."""
    program = "import sinew\nwith sinew.Node('technician') as node: print(node.subscribe('battery', 'sensor_msgs/msg/BatteryState').take(timeout=30)[0].percentage)"
    return float(run("env", "SINEW_DOMAIN=robot", "python3", "-c", program))


def place():
    position = newest("odom")["pose"]["pose"]["position"]
    return position["x"], position["y"]


class Case(unittest.TestCase):
    def assert_comes_to_be(self, what, is_so):
        until = time.monotonic() + PATIENCE
        while not is_so():
            self.assertLess(time.monotonic(), until, f"{what}: never{story()}")
            time.sleep(0.1)

    def assert_drives(self):
        there = place()
        self.assert_comes_to_be("it drives", lambda: abs(place()[0] - there[0]) + abs(place()[1] - there[1]) > 0.5)

    def assert_pictures_arrive(self):
        station.wait_for(r"^\[dashboard\] at [-\d.]+, [-\d.]+, \d+ ms ago; [1-9]\d* pictures", len(station.said()))


class Robot(Case):
    def test_it_drives_where_its_planner_wants(self):
        robot.wait_for(r"^\[planner\] +to [\d.]+, [\d.]+: \d+ squares$")
        self.assert_drives()
        self.assertNotIn("bumped", robot.said())

    def test_all_its_topics_are_there(self):
        self.assert_comes_to_be("topics", lambda: TOPICS <= set(run("sinew", "--domain", "robot", "topic", "list").split()))

    def test_what_its_driver_in_ros_2_says_arrives(self):
        self.assertAlmostEqual(battery(), 1, delta=0.2)

    def test_its_pictures_arrive_at_the_station(self):
        self.assert_pictures_arrive()

    def test_it_stops_when_the_station_says_so_and_goes_on(self):
        self.assert_drives()
        self.assertIn("success: true", run("sinew", "--domain", "station", "service", "call", "stop", "{data: true}"))
        self.assert_comes_to_be("it stands", lambda: newest("odom")["twist"]["twist"]["linear"]["x"] == 0)
        run("sinew", "--domain", "station", "service", "call", "stop", "{data: false}")
        self.assert_drives()

    def test_it_goes_where_the_station_sends_it(self):
        before = len(robot.said())
        run("sinew", "--domain", "station", "topic", "pub", "--once", "--type", "geometry_msgs/msg/PoseStamped", "goal", "{pose: {position: {x: 8.2, y: 5.2}}}")
        robot.wait_for(r"^\[planner\] +to 8.0, 5.0: ", before)

    def test_whoever_of_it_is_killed_comes_again_and_the_rest_goes_on(self):
        for name in PROCESSES:
            robot.kill(name)
        for name in ("link", "gateway", "dashboard"):
            station.kill(name)
        self.assert_drives()
        self.assert_pictures_arrive()
        self.assertAlmostEqual(battery(), 1, delta=0.2)

    def test_its_managers_are_killed_and_nobody_notices(self):
        for domain in ("robot", "station"):
            subprocess.run(["pkill", "-KILL", "--full", f"sinewd.*{folder.parent}/sinew/{domain}.sock"], check=True)
        self.assert_drives()
        self.assert_pictures_arrive()
        self.assert_comes_to_be("all are known again", lambda: TOPICS <= set(run("sinew", "--domain", "robot", "topic", "list").split()))

    def test_it_is_recorded_and_played_elsewhere(self):
        run("timeout", "--preserve-status", "--signal=INT", "4", "sinew", "--domain", "robot", "record", "--all", "--output", "drive")
        recorded = run("sinew", "bag", "info", "drive")
        for topic in ("camera/image", "odom", "scan", "cmd_vel", "plan"):
            self.assertIn(topic, recorded)
        player = subprocess.Popen(["sinew", "--domain", "replay", "play", "--loop", "drive"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(player.wait, PATIENCE)
        self.addCleanup(player.terminate)
        self.assert_comes_to_be("it plays", lambda: "camera/image" in run("sinew", "--domain", "replay", "topic", "list"))
        self.assertEqual(newest("camera/image", "replay")["encoding"], "rgb8")

    def test_foxglove_sees_it(self):
        served = subprocess.Popen(["sinew", "--domain", "robot", "foxglove", "--port", "0"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(served.communicate, timeout=PATIENCE)
        self.addCleanup(served.terminate)
        url = re.search(r"ws://[\d.]+:\d+", served.stdout.readline())[0]
        looks = pathlib.Path(__file__).with_name("foxglove.py")
        schema, size = run("python3", looks, url, "/camera/image", "/odom", "/scan", "/plan", "/cmd_vel").split()
        self.assertEqual(schema, "sensor_msgs/msg/Image")
        self.assertGreater(int(size), 640 * 480 * 3)


class Stopped(Case):
    """The last of all."""

    def test_ctrl_c_stops_all_of_it_and_nothing_is_left(self):
        self.assertEqual((robot.stop(), station.stop()), (0, 0), story())
        self.assert_comes_to_be("nobody is left", lambda: not left())


def left():
    """Processes of these domains."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"XDG_RUNTIME_DIR={folder.parent}\0".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


if __name__ == "__main__":
    unittest.main()
