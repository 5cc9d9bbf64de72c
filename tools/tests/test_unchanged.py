"""The sentences that tools/unchanged.py stands for, each on a small tree of its own."""

import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import unchanged


class Unchanged(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.clone = self.folder / "clone"
        (self.clone / "build").mkdir(parents=True)
        (self.clone / "one.cpp").write_text('#include "both.hpp"\nint one() { return number; }\n')
        (self.clone / "two.cpp").write_text('#include "both.hpp"\n#include "second.hpp"\nint two() { return number + 1; }\n')
        (self.clone / "both.hpp").write_text("#include <cstddef>\nconst int number = 1;\n")
        (self.clone / "second.hpp").write_text("\n")
        self.asked = []

    def examine(self, check=b"1", flags="", complaints=lambda name: ""):
        """Whether all is well, and which units were asked about."""
        def told(unit):
            self.asked.append(pathlib.Path(unit["file"]).name)
            return complaints(self.asked[-1])

        units = [
            {"directory": str(self.clone / "build"), "file": f"{self.clone}/{name}.cpp", "command": f"clang++-19 -I{self.clone} {flags} -o {name}.o -c {self.clone}/{name}.cpp"}
            for name in ("one", "two")
        ]
        self.asked = []
        with unittest.mock.patch.object(unchanged, "ROOT", self.clone), unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache")), contextlib.redirect_stdout(io.StringIO()) as self.printed:
            return unchanged.examine(units, told, check, jobs=2), sorted(self.asked)

    def test_what_has_passed_and_is_as_it_was_is_not_asked_about_again(self):
        self.assertEqual(self.examine(), (True, ["one.cpp", "two.cpp"]))
        self.assertEqual(self.examine(), (True, []))

    def test_a_header_that_changes_is_asked_about_in_each_unit_that_reads_it(self):
        self.examine()
        (self.clone / "second.hpp").write_text("// more\n")
        self.assertEqual(self.examine(), (True, ["two.cpp"]))
        (self.clone / "both.hpp").write_text("const int number = 2;\n")
        self.assertEqual(self.examine(), (True, ["one.cpp", "two.cpp"]))

    def test_other_flags_and_another_check_are_other_questions(self):
        self.examine()
        self.assertEqual(self.examine(flags="-Wall"), (True, ["one.cpp", "two.cpp"]))
        self.assertEqual(self.examine(check=b"2"), (True, ["one.cpp", "two.cpp"]))

    def test_a_finding_is_told_until_it_is_gone(self):
        finds = {"complaints": lambda name: "number is one" if name == "one.cpp" else ""}
        self.assertEqual(self.examine(**finds), (False, ["one.cpp", "two.cpp"]))
        self.assertIn("one.cpp\nnumber is one\n", self.printed.getvalue())
        self.assertEqual(self.examine(**finds), (False, ["one.cpp"]))
        self.assertEqual(self.examine(), (True, ["one.cpp"]))

    def test_another_clone_of_the_same_is_not_asked_about(self):
        self.examine()
        elsewhere = self.folder / "elsewhere"
        shutil.copytree(self.clone, elsewhere)
        self.clone = elsewhere
        self.assertEqual(self.examine(), (True, []))

    def test_a_source_that_is_compiled_twice_is_two_units(self):
        twice = [{"directory": str(self.clone), "file": f"{self.clone}/one.cpp", "command": f"clang++-19 -DN={n} -I{self.clone} -o {n}.o -c {self.clone}/one.cpp"} for n in (1, 2)]
        asked = []
        with unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache")), contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(unchanged.examine(twice, lambda unit: asked.append(unit["command"]) or ("wrong" if "-DN=2" in unit["command"] else ""), b"1", jobs=1))
        self.assertEqual(sorted(asked), [unit["command"] for unit in twice])

    def test_nothing_to_examine_is_not_well(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(unchanged.examine([], lambda unit: "", b"", jobs=1))


if __name__ == "__main__":
    unittest.main()
