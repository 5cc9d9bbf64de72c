"""The package, its examples and what its users may rely on, as mypy sees them in its strict mode, and as help() tells it."""

import subprocess
import sys
import unittest

import sinew
from harness import ROOT

HERE = ROOT / "bindings/python"


class Typing(unittest.TestCase):
    def assert_nothing_to_say(self, *arguments):
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={ROOT / 'build-python/mypy'}", *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_what_users_may_rely_on(self):
        self.assert_nothing_to_say(HERE / "tests/typed.py")

    def test_each_example(self):
        for path in sorted((ROOT / "examples/python").glob("*.py")):
            with self.subTest(example=path.name):
                self.assert_nothing_to_say(path)

    def test_the_package_itself(self):
        # What generates messages has hints for people.
        self.assert_nothing_to_say("--package", "sinew", "--exclude", "msggen")


class Help(unittest.TestCase):
    def test_says_of_each_class_what_its_stub_says(self):
        self.assertIn("A process's part in a domain.", sinew.Node.__doc__)
        self.assertIn("Messages a second of each publisher at most", sinew.Node.__doc__)
        self.assertRegex(sinew.Publisher.__doc__, r"loan\(self, .*\) -> Loan\n    A message whose named vectors")
        self.assertRegex(sinew.MessageInfo.__doc__, r"publisher: str\n    The name of its node\.")

    def test_says_something_of_all_that_is_public(self):
        silent = [name for name in sinew.__all__ if not getattr(sinew, name).__doc__]
        self.assertEqual(silent, [])
