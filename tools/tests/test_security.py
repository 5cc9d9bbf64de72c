"""The tests and fuzzers that SECURITY.md names are there."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Security(unittest.TestCase):
    def test_every_test_that_is_named_is_there(self):
        text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
        found = subprocess.run(["git", "grep", "-hoE", r"TEST(_F|_P)?\(\w+, \w+|TYPED_TEST\(\w+, \w+"], cwd=ROOT, capture_output=True, text=True, check=True)
        tests = [tuple(re.split(r", ", line.split("(")[1])) for line in found.stdout.splitlines()]
        names = {".".join(test) for test in tests} | {suite for suite, _ in tests}
        fuzzers = {path.name for path in (ROOT / "tests/fuzz/corpus").iterdir()}
        for cells in re.findall(r"^\|.*\|(.*)\|$", text, re.MULTILINE):
            for name in re.findall(r"`([^`]+)`", cells):
                self.assertTrue(name in names or name in fuzzers or (ROOT / name).exists(), f"SECURITY.md names {name}")
        for name in re.findall(r"`([A-Z]\w+\.\w{8,})`", text):
            if not (ROOT / name).exists():
                self.assertIn(name, names)
        for path in re.findall(r"`((?:tests|tools)/[^`]*)`", text):
            self.assertTrue((ROOT / path).exists(), path)


if __name__ == "__main__":
    unittest.main()
