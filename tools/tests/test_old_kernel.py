"""What is read of the words of an emulated machine."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import old_kernel

WELL = "[ RUN      ] Ring.turns\n[       OK ] Ring.turns (3 ms)\n=== a_test ended with status 0\n"
FAILED = """[ RUN      ] By/Ring.stands/0
[  FAILED  ] By/Ring.stands/0, where GetParam() = 1 (3 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] By/Ring.stands/0, where GetParam() = 1
=== a_test ended with status 1
"""


class Results(unittest.TestCase):
    def test_what_passed_and_what_was_skipped_is_counted_once(self):
        skipped = "[  SKIPPED ] Huge.pages (0 ms)\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] Huge.pages\n"
        self.assertEqual(old_kernel.results(skipped + WELL, ["a_test"]), (1, 0, 1, []))

    def test_what_failed_is_named_once(self):
        self.assertEqual(old_kernel.results(FAILED, ["a_test"]), (0, 1, 0, ["failed: By/Ring.stands/0"]))

    def test_a_program_that_ended_otherwise_than_by_a_failed_test_has_failed(self):
        said = WELL.replace("status 0", "status 139")
        self.assertEqual(old_kernel.results(said, ["a_test"])[3], ["failed: a_test ended with status 139"])
        self.assertEqual(old_kernel.results(FAILED + said.replace("a_test", "b_test"), ["a_test", "b_test"])[1], 2)

    def test_a_machine_that_stopped_in_between_has_failed(self):
        self.assertEqual(old_kernel.results(WELL, ["a_test", "b_test"])[3], ["failed: b_test was not run to its end"])


if __name__ == "__main__":
    unittest.main()
