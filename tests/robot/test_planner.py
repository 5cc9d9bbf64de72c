#!/usr/bin/env python3
"""The planner of examples/robot alone, with somebody who says where the robot is.

Run by `make test`; by hand: tests/robot/test_planner.py [-v]. With SINEW_ROBOT_PREFIX and SINEW_ROBOT_PYTHON nothing of sinew is built (programs.py).
"""

import os
import subprocess
import tempfile
import unittest

import programs

PATIENCE = 60
ROBOT = programs.ROOT / "examples/robot"
# Is at a place until a plan has come for it, and prints from where to where it leads.
WHEELS = """
import sys, sinew
from sinew.msgs.geometry_msgs.msg import Point, Pose, PoseWithCovariance
from sinew.msgs.nav_msgs.msg import Odometry, Path

with sinew.Node("wheels") as node:
    odometry = node.create_publisher("odom", Odometry)
    plans = node.subscribe("plan", Path, qos=sinew.Qos(depth=1, reliable=True, transient_local=True))

    def be_at(x, y):
        odometry.publish(Odometry(pose=PoseWithCovariance(Pose(Point(x, y, 0.0)))))

    def plan_at(x, y):
        while True:
            be_at(x, y)
            try:
                plan, _ = plans.take(0.05)
            except sinew.Timeout:
                continue
            first, last = (plan.poses[at].pose.position for at in (0, -1))
            print(f"{first.x} {first.y} {last.x} {last.y}", flush=True)
            return plan

    plan = plan_at(2.2, 4.8)
    for pose in plan.poses[:-2]:
        be_at(pose.pose.position.x, pose.pose.position.y)
    plan_at(17.2, 2.2)
"""


class Planner(unittest.TestCase):
    def test_it_plans_anew_where_the_robot_was_moved_off_its_way_and_not_while_it_is_on_it(self):
        built = programs.sinew()
        with tempfile.TemporaryDirectory(prefix="sinew-") as work:
            environment = os.environ | {"XDG_RUNTIME_DIR": work, "LD_LIBRARY_PATH": str(built.prefix / "lib"), "PATH": f"{built.commands}:{os.environ['PATH']}"}
            planner = subprocess.Popen([built.python, ROBOT / "planner.py", ROBOT / "map.txt"], env=environment, stdout=subprocess.PIPE, text=True)
            try:
                wheels = subprocess.run([built.python, "-c", WHEELS], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
            finally:
                planner.terminate()
                said, _ = planner.communicate(timeout=PATIENCE)
        self.assertEqual(wheels.stdout.splitlines(), ["2.25 4.75 1.75 8.25", "17.25 2.25 1.75 8.25"], wheels.stderr + said)
        self.assertRegex(said, r"\Ato 1.5, 8.0: \d+ squares\noff its way, to 1.5, 8.0: \d+ squares\n\Z")


if __name__ == "__main__":
    unittest.main()
