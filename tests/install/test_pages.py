#!/usr/bin/env python3
"""What stands in the pages of docs/, done as it stands there, with an installed sinew. page.py says what the words behind the language of a block mean.

Run by `make test`; by hand: tests/install/test_pages.py [-v] [Pages.test...]. With SINEW_INSTALL_PREFIX, where sinew is installed already, it is not installed anew.
"""

import os
import pathlib
import re
import signal
import sys
import unittest

from installed import ROOT, Domain, installed, must
from page_case import PageCase
import page

QUICK_START = ROOT / "docs/quick-start.md"
# Whose blocks of commands are run elsewhere, and where.
ELSEWHERE = {"python": "bindings/python/tests/test_docs.py", "robot": "tests/robot/test_page.py"}
# Where rustup and cargo of whoever runs this are, for those with a home of their own.
RUST = {name: os.environ.get(name, str(pathlib.Path.home() / folder)) for name, folder in {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}.items()}


def setUpModule():
    global work, prefix
    work, prefix = installed()


class Pages(PageCase):
    """What stands in the pages that a user reads first, done as it stands there."""

    def test_the_quick_start_does_what_it_says(self):
        # A new user's, in the folder that the lines by hand lead to.
        self.assert_does_what_it_says("quick-start", RUST | {"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": ""}, alone=False)

    def test_the_guide_for_users_of_rclcpp_does_what_it_says(self):
        self.assert_does_what_it_says("rclcpp", alone=False)

    def test_the_page_about_concepts_does_what_it_says(self):
        self.assert_does_what_it_says("concepts", alone=False)

    def test_the_page_about_the_tools_does_what_it_says(self):
        self.assert_does_what_it_says("tools")

    def test_the_page_about_launching_does_what_it_says(self):
        self.assert_does_what_it_says("launch", alone=False)

    def test_the_page_about_gateways_does_what_it_says(self):
        self.assert_does_what_it_says("gateway", in_sources=False)

    def test_the_page_about_ros2_does_what_it_says(self):
        self.assert_does_what_it_says("ros2", {"ROS_DOMAIN_ID": "231"}, in_sources=False)

    def test_the_page_about_ros1_does_what_it_says(self):
        self.assert_does_what_it_says("ros1", {"ROS_MASTER_URI": "http://localhost:11311", "ROS_HOSTNAME": "localhost"}, in_sources=False)

    def test_the_page_of_the_crate_does_what_it_says(self):
        # What is done before it begins; and what cargo needs of others it has from building the command.
        (opt := work / "home-rust/opt").mkdir(parents=True)
        (opt / "sinew").symlink_to(prefix)
        self.assert_does_what_it_says("rust", RUST | {"PKG_CONFIG_PATH": "", "CARGO_NET_OFFLINE": "true"}, path=ROOT / "rust/README.md", alone=False)

    def test_every_page_with_commands_is_tried(self):
        tried = set(re.findall(r'self\.assert_does_what_it_says\("([\w-]+)"', pathlib.Path(__file__).read_text()))
        for path in sorted((ROOT / "docs").glob("*.md")):
            blocks = page.blocks_of(path.read_text())
            for block in blocks:
                self.assertTrue(block.language, f"{path.name}, {block}is of no language: it is sh, text, or what is to be saved in a file")
                self.assertTrue(block.word != "by-hand" or block.reason, f"{path.name}, {block}does not say why no test can run it")
            if any(block.language == "sh" for block in blocks) and path.stem not in ELSEWHERE:
                self.assertIn(path.stem, tried, f"no test runs the commands of {path.name}")
        for stem, test in ELSEWHERE.items():
            self.assertIn(f"docs/{stem}.md", (ROOT / test).read_text())

    def assert_does_what_it_says(self, stem, environment=None, *, path=None, alone=True, in_sources=True):
        """Of a page of docs/, unless its path is given, with sinew installed unless the environment says otherwise."""
        usual = {"PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
        self.assert_page_is_true(path or ROOT / f"docs/{stem}.md", work / f"home-{stem}", usual | (environment or {}), alone=alone, in_sources=in_sources)

    def test_what_the_quick_start_fetches_from_the_network_is_not_tried(self):
        by_hand = [block for block in page.blocks_of(QUICK_START.read_text()) if block.word == "by-hand"]
        lines = "".join(block.text for block in by_hand).splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^(sudo apt-get update && sudo apt-get install --yes|git clone) |^cd sinew$", "this can be tried")
        self.skipTest("; ".join(lines))

    def test_the_words_of_sinew_in_the_quick_start_are_those_of_the_headers(self):
        headers = "".join(path.read_text() for path in (prefix / "include").rglob("*.hpp"))
        known = set(re.findall(r"\w+", headers)) | {"init"}
        text = page.text_of(QUICK_START.read_text())
        text = re.sub(r"(?m)^\| (?!what)[^|]+\|", "", text[: text.index("## 6")]) + text[text.index("## 6") :]  # the words of ROS 2
        text = re.sub(r"\bstd(::\w+)+", "", text)  # the words of the language
        spans = [span for span in re.findall(r"`([^`\n]+)`", text) if not re.search(r"[/$]|\.(cpp|hpp|txt|msg)$", span)]
        words = {word for span in spans for word in re.findall(r"\b[a-z]+_\w+|\b[a-z]\w+(?=[(<])|(?<=::)\w+|(?<=\)\.)\w+", span)}
        self.assertGreater(len(words), 30)
        self.assertEqual(words - known, set())

    def test_the_first_program_of_the_readme_is_built_as_it_says_and_runs(self):
        blocks = page.blocks_of((ROOT / "README.md").read_text())
        folder = work / "readme"
        (folder / "opt").mkdir(parents=True)
        [program] = [block.text for block in blocks if block.language == "cpp"]
        (folder / "my_node.cpp").write_text(program)
        [commands] = [block.text for block in blocks if "my_node.cpp" in block.text]
        (folder / "opt/sinew").symlink_to(prefix)
        must(["bash", "-e", "-c", commands], env={"HOME": str(folder), "PKG_CONFIG_PATH": ""}, cwd=folder)
        with Domain() as domain:
            self.assertRegex(self.assert_ends_well(domain, domain.start(folder / "my_node")), r"(?m)^0\.\d: 1000 ranges$")


class Blocks(unittest.TestCase):
    """What a text in a page stands for."""

    def assert_stands_for(self, word, text, output, *, yes=True):
        [block] = page.blocks_of(f"```text {word}\n{text}\n```")
        self.assertEqual(bool(re.search(block.pattern(), output)), yes, block.pattern())

    def test_any_figures_are_figures_units_ids_and_spaces(self):
        for output in "camera/image: 62.2 MB/s,  2.07 MB each, 9 Hz", "first\ncamera/image: 900 kB/s, 1 B each, 120 Hz\nlast":
            self.assert_stands_for("any-figures", "camera/image: 60.1 MB/s, 2.07 MB each, 29.0 Hz", output)
        self.assert_stands_for("any-figures", "goal 2fc9ccd480ff0732c01d55e41776e048 is sent", "goal 93c1a7d80ff0732c01d55e41776e048b is sent")
        for output in "camera/image: fast, 2.07 MB each, 29.0 Hz", "camera/images: 60.1 MB/s, 2.07 MB each, 29.0 Hz", "camera/image: 60.1 MB/s, 2.07 MB each, 29.0 Hz!":
            self.assert_stands_for("any-figures", "camera/image: 60.1 MB/s, 2.07 MB each, 29.0 Hz", output, yes=False)

    def test_dots_stand_for_the_rest_of_a_line_or_for_lines(self):
        self.assert_stands_for("any-figures", "one ...\n...\ntwo", "one 1 more\nanother\ntwo")
        self.assert_stands_for("any-figures", "one ...\n...\ntwo", "two\none 1 more", yes=False)

    def test_by_hand_has_a_reason(self):
        [block] = page.blocks_of("```sh by-hand: it fetches from the network\ngit clone\n```")
        self.assertEqual((block.word, block.reason), ("by-hand", "it fetches from the network"))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unittest.main()
