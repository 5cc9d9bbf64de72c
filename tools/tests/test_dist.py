"""What `make dist` takes for granted: that there is one version, and that the packages have all that is installed."""

import fnmatch
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import dist

DEBIAN = ROOT / "packaging/debian"


def said(path, pattern):
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    return found and found.group(1)


class Version(unittest.TestCase):
    def test_is_the_same_wherever_it_is_stated(self):
        for path, pattern in (
            ("rust/Cargo.toml", r'^version = "(.*)"'),
            ("rust/sinew-gateway/fuzz/Cargo.toml", r'^version = "(.*)"'),
            ("packaging/debian/changelog", r"\Asinew \((.*?)-1\)"),
            ("CHANGELOG.md", r"(?:^The first version, |^## \[)(\d+\.\d+\.\d+)"),
        ):
            self.assertEqual(said(path, pattern), dist.version(), path)

    def test_of_the_wheel_and_of_each_crate_is_taken_from_there(self):
        pattern = said("pyproject.toml", r"^regex = '(.*)'")
        self.assertEqual(said("CMakeLists.txt", pattern), dist.version())
        for crate in (ROOT / "rust").glob("sinew*/Cargo.toml"):
            self.assertEqual(said(crate, r"^version\.?(.*)"), "workspace = true", crate)


class Packages(unittest.TestCase):
    def lists(self):
        return {path.stem: path.read_text().split() for path in DEBIAN.glob("*.install")}

    def test_are_those_of_control_with_a_list_each(self):
        self.assertEqual(sorted(self.lists()), sorted(re.findall(r"(?m)^Package: (.*)$", (DEBIAN / "control").read_text())))

    def test_have_each_file_that_is_installed_once(self):
        """Those that tests/install expects; debhelper fails on others, when the packages are made."""
        text = (ROOT / "tests/install/test_install.py").read_text()
        expected = set(re.findall(r'"((?:bin|lib|include|share)/[\w./-]+\.?\w+)"', text)) | {"include/sinew/sinew.hpp", "share/sinew/msggen/definitions/std_msgs/msg/String.msg", "share/sinew/msggen/sinew_msggen/cpp.py"}
        self.assertIn("bin/sinewd", expected)
        for path in expected:
            # The name with the version, and that without it, which is for the linker.
            for name in ("lib/libsinew.so.0.1", path) if path == "lib/libsinew.so" else (path,):
                having = [package for package, patterns in self.lists().items() if any(fnmatch.fnmatchcase(f"usr/{name}", pattern) or f"usr/{name}".startswith(f"{pattern}/") for pattern in patterns)]
                self.assertEqual(len(having), 1, f"{name}: {having}")


if __name__ == "__main__":
    unittest.main()
