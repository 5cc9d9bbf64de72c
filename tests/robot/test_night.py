#!/usr/bin/env python3
"""A short form of the robot's worst night (night.py)."""

import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = int(os.environ.get("SINEW_NIGHT_SECONDS", "15"))


class Night(unittest.TestCase):
    def test_nobody_is_lost_in_a_bad_night_and_nothing_uncounted(self):
        night = subprocess.run([sys.executable, HERE / "night.py", "--seconds", str(SECONDS)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS + 2400, check=False)
        self.assertEqual(night.returncode, 0, night.stdout + night.stderr)


if __name__ == "__main__":
    unittest.main()
