"""What tools/fuzz.py says of fuzzers that find something, find nothing, or do not end. The fuzzers are scripts that speak as libFuzzer does."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fuzz

NOTHING_FOUND = "echo '#8 DONE cov: 12 ft: 34 corp: 5/6b'; echo 'stat::number_of_executed_units: 8'"
FOUND = "echo 'NOT TRUE: two and two is four'; echo '==7== ERROR: libFuzzer: deadly signal'; echo 'Test unit written to /tmp/crash-1'; exit 77"


class Fuzz(unittest.TestCase):
    def run_scripts(self, scripts, jobs=2):
        """(what failed, what was printed)"""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(fuzz, "BUILD", pathlib.Path(folder)):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                failures = fuzz.run(list(scripts), seconds=1, jobs=jobs, command_of=lambda name, seconds: ["sh", "-c", scripts[name]])
            return failures, printed.getvalue()

    def test_nothing_found_is_no_failure_and_says_how_far_it_came(self):
        failures, printed = self.run_scripts({"one": NOTHING_FOUND})
        self.assertEqual(failures, [])
        self.assertRegex(printed, r"one +8 inputs, +12 edges, +34 features, +5 kept +ok")

    def test_what_is_found_is_told_with_its_input_and_stops_nothing_else(self):
        failures, printed = self.run_scripts({"bad": FOUND, "good": NOTHING_FOUND}, jobs=1)
        self.assertEqual(len(failures), 1)
        self.assertIn("failed: bad ended with status 77: NOT TRUE: two and two is four", failures[0])
        self.assertIn("bin/fuzz_bad /tmp/crash-1", failures[0])
        self.assertRegex(printed, r"good .* ok")

    def test_one_that_ends_early_without_a_word_has_failed(self):
        self.assertEqual(len(self.run_scripts({"silent": "exit 0"})[0]), 1)

    def test_one_that_does_not_end_is_stopped_and_has_failed(self):
        with mock.patch.object(fuzz, "GRACE_SECONDS", -1):
            failures, _ = self.run_scripts({"endless": "sleep 1000"})
        self.assertIn("endless ended with status 124", failures[0])

    def test_every_packet_of_the_specification_is_a_seed(self):
        vectors = sorted((fuzz.ROOT / "spec/vectors/wire").glob("*.hex"))
        self.assertNotEqual(vectors, [])
        for vector in vectors:
            packet = bytes.fromhex("".join(line.partition("#")[0] for line in vector.read_text().splitlines()))
            with self.subTest(vector.name):
                self.assertEqual((fuzz.SEEDS / "wire_decode" / vector.stem).read_bytes(), packet)


if __name__ == "__main__":
    unittest.main()
