#!/usr/bin/env python3
"""The robot of examples/robot for a minute: launched, looked at, killed, recorded, played, and driven from the other end of a bad link.

Run by `make test`; by hand: tests/robot/test_robot.py [-v] [Class.test...]. With SINEW_ROBOT_PREFIX and SINEW_ROBOT_PYTHON nothing of sinew is built (programs.py).
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from launched import PATIENCE, Launched
from stage import Stage

robot = station = None  # while they run
PROCESSES = ["simulator", "lidar", "camera", "controller", "planner", "battery", "ros2", "gateway"]
TOPICS = {"battery", "camera/image", "cmd_vel", "odom", "plan", "scan"}


def setUpModule():
    global stage, robot, station
    stack = contextlib.ExitStack()
    unittest.addModuleCleanup(stack.close)
    stage = Stage(stack.enter_context(tempfile.TemporaryDirectory(prefix="sinew-")))
    stack.callback(stage.ros_domain.close)
    robot = Launched(stage.folder / "robot.yaml", stage.work / "robot.log", stage.environment)
    stack.callback(robot.stop)
    station = Launched(stage.folder / "station.yaml", stage.work / "station.log", stage.environment)
    stack.callback(station.stop)
    for name in PROCESSES:
        robot.wait_for(rf"^\[launch\] +{name} started, process")
    while not all(stage.managers(domain) for domain in ("robot", "station")):
        time.sleep(0.1)


def story():
    """What all have said until now, for the text of a failure."""
    return "".join(f"\n--- {launched.log.stem}:\n{launched.said()}" for launched in (robot, station))


class Case(unittest.TestCase):
    def assert_comes_to_be(self, what, is_so):
        until = time.monotonic() + PATIENCE
        while not is_so():
            self.assertLess(time.monotonic(), until, f"{what}: never{story()}")
            time.sleep(0.1)

    def start(self, *command):
        """What goes on until the test ends."""
        process = subprocess.Popen(command, cwd=stage.folder, env=stage.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate, timeout=PATIENCE)
        self.addCleanup(process.terminate)
        return process

    def assert_drives(self):
        there = stage.place()
        self.assert_comes_to_be("it drives", lambda: sum(abs(now - then) for now, then in zip(stage.place(), there)) > 0.5)

    def assert_pictures_arrive(self):
        station.wait_for(r"^\[dashboard\] at [-\d.]+, [-\d.]+, \d+ ms ago; [1-9]\d* pictures", len(station.said()))

    def assert_its_battery_is_seen(self):
        """At the station, as it is now."""
        station.wait_for(r"^\[dashboard\] .*; battery at \d+ %, [0-3] s ago$", len(station.said()))


class Robot(Case):
    def test_it_drives_where_its_planner_wants(self):
        robot.wait_for(r"^\[planner\] +to [\d.]+, [\d.]+: \d+ squares$")
        self.assert_drives()
        self.assertNotIn("bumped", robot.said())

    def test_all_its_topics_are_there(self):
        self.assert_comes_to_be("topics", lambda: TOPICS <= stage.topics())

    def test_what_its_driver_in_ros_2_says_arrives(self):
        self.assertAlmostEqual(stage.battery(), 1, delta=0.2)

    def test_its_pictures_arrive_at_the_station(self):
        self.assert_pictures_arrive()

    def test_what_its_driver_in_ros_2_says_arrives_at_the_station_too(self):
        self.assert_its_battery_is_seen()

    def test_it_stops_when_the_station_says_so_and_goes_on(self):
        self.assert_drives()
        self.assertIn("success: true", stage.run("sinew", "--domain", "station", "service", "call", "stop", "{data: true}"))
        self.assert_comes_to_be("it stands", lambda: stage.newest("odom")["twist"]["twist"]["linear"]["x"] == 0)
        stage.run("sinew", "--domain", "station", "service", "call", "stop", "{data: false}")
        self.assert_drives()

    def test_it_goes_where_the_station_sends_it(self):
        before = len(robot.said())
        stage.run("sinew", "--domain", "station", "topic", "pub", "--once", "goal", "geometry_msgs/msg/PoseStamped", "{pose: {position: {x: 8.2, y: 5.2}}}")
        robot.wait_for(r"^\[planner\] +to 8.0, 5.0: ", before)

    def test_whoever_of_it_is_killed_comes_again_and_the_rest_goes_on(self):
        for name in PROCESSES:
            robot.kill(name)
        for name in ("link", "gateway", "dashboard"):
            station.kill(name)
        self.assert_drives()
        self.assert_pictures_arrive()
        self.assert_its_battery_is_seen()
        self.assertAlmostEqual(stage.battery(), 1, delta=0.2)

    def test_its_managers_are_killed_and_nobody_notices(self):
        for domain in ("robot", "station"):
            [manager] = stage.managers(domain)
            os.kill(manager, signal.SIGKILL)
        self.assert_pictures_arrive()
        self.assert_comes_to_be("newcomers find all again", lambda: TOPICS <= stage.topics())
        self.assert_drives()

    def test_it_is_recorded_and_played_elsewhere(self):
        stage.run("timeout", "--preserve-status", "--signal=INT", "10", "sinew", "--domain", "robot", "record", "--all", "--output", "drive")
        recorded = stage.run("sinew", "bag", "info", "drive")
        for topic in ("camera/image", "odom", "scan", "cmd_vel", "plan"):
            self.assertIn(topic, recorded)
        self.start("sinew", "--domain", "replay", "play", "--loop", "drive")
        self.assert_comes_to_be("it plays", lambda: "camera/image" in stage.run("sinew", "--domain", "replay", "topic", "list"))
        self.assertEqual(stage.newest("camera/image", "replay")["encoding"], "rgb8")

    def test_foxglove_sees_it(self):
        served = self.start("sinew", "--domain", "robot", "foxglove", "--port", "0")
        url = re.search(r"ws://[\d.]+:\d+", served.stdout.readline())[0]
        looks = pathlib.Path(__file__).with_name("foxglove.py")
        schema, size = stage.run("python3", looks, url, "/camera/image", "/odom", "/scan", "/plan", "/cmd_vel").split()
        self.assertEqual(schema, "sensor_msgs/msg/Image")
        self.assertGreater(int(size), 640 * 480 * 3)


class Stopped(Case):
    """The last of all."""

    def test_ctrl_c_stops_all_of_it_and_nothing_is_left(self):
        self.assertEqual((robot.stop(), station.stop()), (0, 0), story())
        self.assert_comes_to_be("nobody is left", lambda: not stage.processes())


if __name__ == "__main__":
    unittest.main()
