"""What tools/lint.py takes for a complaint."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import lint


class Complaints(unittest.TestCase):
    HERE = {"directory": "/"}

    def test_of_a_command_that_fails_is_what_it_said_or_that_it_said_nothing(self):
        self.assertEqual(lint.said_by(["sh", "-c", "echo wrong; exit 1"], self.HERE), "wrong\n")
        self.assertEqual(lint.said_by(["false"], self.HERE), "false ended with status 1 and said nothing")

    def test_of_a_command_that_does_not_fail_is_nothing(self):
        self.assertEqual(lint.said_by(["echo", "a remark"], self.HERE), "")


if __name__ == "__main__":
    unittest.main()
