"""What tools/seeded.py says of faults that cannot be applied, of tests that do not fail, and what it leaves behind in its copy of the sources."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import bounded
import seeded

FAULT = {
    "mend": "It looks twice.",
    "file": "src/look.cpp",
    "where": "Eye::look",
    "old": "look(); look();",
    "new": "look();",
    "program": "eye_test",
    "tests": ["At/Eye.F1_looks_twice/noon"],
}


class Seeded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/look.cpp", "void Eye::look() { look(); look(); }")
        self.write("src/tests/eye_test.cpp", "TEST_P(Eye, F1_looks_twice) {}")
        self.write("rust/eye/tests/eye.rs", '#[test]\nfn looks_twice() {}\n#[tokio::test(flavor = "multi_thread")]\nasync fn looks_at_once() {}\nfn helps() {}\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def complaints(self, **changes):
        fault = {**seeded.OPTIONAL, "finding": "F1", **FAULT, **changes}
        with mock.patch.object(seeded, "FINDINGS", ["F1"]):
            return seeded.complaints({"F1": {"hazard": "It was seen once.", "faults": [fault]}}, self.root)

    def test_a_fault_that_can_be_applied_and_whose_test_is_there_is_right(self):
        self.assertEqual(self.complaints(), [])

    def test_one_that_cannot_be_applied_once_or_whose_test_is_gone_is_told(self):
        for changes, complaint in (
            ({"old": "look(3);"}, "stands 0 times in src/look.cpp"),
            ({"old": "look(); "}, "stands 2 times in src/look.cpp"),
            ({"new": FAULT["old"]}, "replaces something by itself"),
            ({"where": "Eye::blink"}, "there is no Eye::blink"),
            ({"where": "Eye::loo"}, "there is no Eye::loo"),
            ({"tests": ["Eye.F1_blinks"]}, "there is no test Eye.F1_blinks"),
            ({"tests": []}, "names no test"),
            ({"program": "rust/eye/tests/eye.rs", "tests": ["helps"]}, "there is no test helps"),
            ({"tires": 3}, "strange keys tires"),
        ):
            with self.subTest(complaint):
                self.assertEqual(len(self.complaints(**changes)), 1)
                self.assertIn(complaint, self.complaints(**changes)[0])

    def test_a_test_in_rust_is_found_by_its_name(self):
        self.assertEqual(self.complaints(program="rust/eye/tests/eye.rs", tests=["looks_twice", "looks_at_once"]), [])

    def test_a_finding_without_a_fault_must_say_what_is_open(self):
        with mock.patch.object(seeded, "FINDINGS", ["F1"]):
            self.assertEqual(len(seeded.complaints({"F1": {"hazard": "It was seen once.", "faults": []}}, self.root)), 1)

    def test_what_was_skipped_or_is_not_there_neither_passed_nor_failed(self):
        self.assertEqual(seeded.verdict(0, "[       OK ] Eye.F1_looks_twice (0 ms)\n", "it"), "passed")
        self.assertEqual(seeded.verdict(1, "[  FAILED  ] Eye.F1_looks_twice (0 ms)\n", "it"), "failed")
        self.assertEqual(seeded.verdict(-11, "", "it"), "failed")
        self.assertEqual(seeded.verdict(bounded.TIMED_OUT, "", "it"), "failed")
        self.assertEqual(seeded.verdict(0, "[  SKIPPED ] Eye.F1_looks_twice (0 ms)\n", "it"), "it was skipped here")
        self.assertEqual(seeded.verdict(0, "[==========] 0 tests from 0 test suites ran. (0 ms total)\n", "it"), "there is no it")
        self.assertEqual(seeded.verdict(0, "\nrunning 1 test\ntest looks_twice ... ok\n", "it"), "passed")
        self.assertEqual(seeded.verdict(0, "\nrunning 1 test\ntest looks_twice ... ignored\n", "it"), "it was skipped here")
        self.assertEqual(seeded.verdict(0, "\nrunning 0 tests\n", "it"), "there is no it")

    def try_out(self, runs):
        seen = []

        def run(preset, program, name, tries):
            seen.append((self.root / "src/look.cpp").read_text())
            return runs

        with mock.patch.multiple(seeded, COPY=self.root, build=lambda *_: (True, ""), run=run):
            found = seeded.try_out({**seeded.OPTIONAL, **FAULT}, 1)
        return found, seen

    def test_a_fault_is_caught_when_its_test_fails_and_the_source_is_whole_afterwards(self):
        found, seen = self.try_out("failed")
        self.assertEqual((found, seen), ([], ["void Eye::look() { look(); }"]))
        self.assertEqual((self.root / "src/look.cpp").read_text(), "void Eye::look() { look(); look(); }")

    def test_a_test_that_passes_without_the_measure_is_told(self):
        self.assertEqual(self.try_out("passed")[0], ["At/Eye.F1_looks_twice/noon passed without it"])

    def test_the_page_says_what_the_last_run_over_all_was_until_there_is_another(self):
        findings = {"F1": {"hazard": "It was seen once.", "faults": [{**seeded.OPTIONAL, "finding": "F1", **FAULT}]}}
        with mock.patch.object(seeded, "TABLE", self.root / "hazards.md"):
            page = seeded.table(findings, seeded.told(1, "1234567"))
            self.assertIn("took out 1 measures, at 1234567: without", page)
            self.write("hazards.md", page)
            self.assertEqual(seeded.table(findings), page)

    def test_the_copy_has_what_the_checkout_has_and_keeps_its_builds(self):
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            seeded.synchronise(self.root, copy)
            (copy / "src/look.cpp").write_text("with a fault")
            (copy / "src/old.cpp").write_text("long gone")
            (copy / "build-dev").mkdir()
            (copy / "build-dev/done").write_text("")
            untouched = (copy / "src/tests/eye_test.cpp").stat().st_mtime_ns
            seeded.synchronise(self.root, copy)
            self.assertEqual((copy / "src/look.cpp").read_text(), (self.root / "src/look.cpp").read_text())
            self.assertFalse((copy / "src/old.cpp").exists())
            self.assertTrue((copy / "build-dev/done").exists())
            self.assertEqual((copy / "src/tests/eye_test.cpp").stat().st_mtime_ns, untouched)


if __name__ == "__main__":
    unittest.main()
