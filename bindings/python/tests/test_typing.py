"""The package, its examples and what its users may rely on, as mypy sees them in its strict mode."""

import subprocess
import sys
import unittest

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
