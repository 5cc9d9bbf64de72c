"""What pages say is to be done by hand, which no test can do here."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Packages that are faster with, but go without.
SPARED = {"ccache", "python3", "python3-pip"}


def packages_of(group):
    """What tools/setup installs for it, of what it names literally."""
    text = (ROOT / "tools/setup").read_text(encoding="utf-8")
    common = set(re.search(r"(?m)^build=\((.*)\)$", text).group(1).split())
    named = re.search(rf'(?m)^  \[{group}\]="(.*)"$', text.split("declare -A packages=(")[1]).group(1)
    return {word for word in named.split() if "$" not in word} | (common if "${build[*]}" in named else set())


def packages_by_hand(page):
    """What its lines with apt install."""
    lines = re.findall(r"apt-get install --yes ([^\n`]*)", (ROOT / page).read_text(encoding="utf-8"))
    return {package for line in lines for package in line.split()}


class ByHand(unittest.TestCase):
    def test_the_python_page_installs_all_that_building_the_package_takes(self):
        self.assertEqual(packages_of("python") - SPARED - packages_by_hand("docs/python.md"), set())

    def test_the_robots_page_installs_what_the_quick_start_does_not(self):
        self.assertEqual(packages_of("python") - SPARED - packages_of("build") - packages_by_hand("docs/robot.md"), set())

    def test_no_two_pages_put_their_own_things_into_the_same_folder(self):
        makes = re.compile(r"(?m)^(?:mkdir -p|python3 -m venv|cp -r \S+|cargo new) ~/([\w-]+)")
        made = {page.name: set(makes.findall(page.read_text(encoding="utf-8"))) for page in [*(ROOT / "docs").glob("*.md"), ROOT / "rust/README.md"]}
        self.assertIn("robot", made["robot.md"])
        for name, folders in made.items():
            for other in made.keys() - {name}:
                self.assertEqual(folders & made[other], set(), f"{name}, {other}")


if __name__ == "__main__":
    unittest.main()
