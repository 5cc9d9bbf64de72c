#!/usr/bin/env python3
"""What docs/robot.md says, done as it stands there. Run and built as test_robot.py is."""

import os
import pathlib
import sys
import tempfile
import unittest

import programs
import stage

sys.path.insert(0, str(programs.ROOT / "tests/install"))
from page_case import PageCase


class Page(PageCase):
    def test_the_page_about_the_robot_does_what_it_says(self):
        built = programs.sinew()
        number, held = stage.ros_domain()
        with held, tempfile.TemporaryDirectory(prefix="sinew-") as work:
            home = pathlib.Path(work) / "home"
            (home / "opt").mkdir(parents=True)
            (home / "opt/sinew").symlink_to(built.prefix)
            environment = {
                "PATH": f"{built.commands}:{built.python.parent}:{os.environ['PATH']}",
                "LD_LIBRARY_PATH": str(built.prefix / "lib"),
                "XDG_RUNTIME_DIR": str(home),  # where its domains are
                "ROS_DOMAIN_ID": str(number),
            }
            self.assert_page_is_true(programs.ROOT / "docs/robot.md", home, environment)


if __name__ == "__main__":
    unittest.main()
