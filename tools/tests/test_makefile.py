"""What `make` does by itself, before any tool of ours runs."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import uninstall


def make(*words, **variables):
    """What it would do: its exit status, and what it says."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DESTDIR", "MAKEFLAGS", "MAKEOVERRIDES")}
    done = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, env=environment | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


class Install(unittest.TestCase):
    def test_refuses_a_destdir_which_cmake_alone_would_obey_and_says_what_stages_all(self):
        for words, variables in (["DESTDIR=/stage", "PREFIX=/usr"], {}), (["PREFIX=/usr"], {"DESTDIR": "/stage"}):
            status, said = make("install", *words, **variables)
            self.assertEqual(status, 2, said)
            self.assertIn("make install PREFIX=/stage/usr", said)
            self.assertNotIn("cmake", said)

    def test_goes_on_without_one(self):
        status, said = make("install", "PREFIX=/stage/usr")
        self.assertEqual(status, 0, said)
        self.assertIn("cmake --install build --prefix /stage/usr", said)

    def test_into_a_relative_prefix_names_it_as_it_is_called_from_everywhere(self):
        status, said = make("install", "PREFIX=../opt/sinew")
        self.assertEqual(status, 0, said)
        self.assertIn(f"cmake --install build --prefix {ROOT.parent}/opt/sinew", said)
        self.assertIn(f"PKG_CONFIG_PATH={ROOT.parent}/opt/sinew/lib/pkgconfig", said)

    def test_into_a_prefix_with_a_space_is_refused_before_anything_is_done(self):
        status, said = make("install", "PREFIX=/my robot/sinew")
        self.assertEqual(status, 2, said)
        self.assertIn("PREFIX must have no spaces: '/my robot/sinew'", said)
        self.assertNotIn("tools/setup", said)

    def test_that_fails_halfway_as_root_gives_what_it_built_back_to_who_called_sudo(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            shutil.copy(ROOT / "Makefile", place)
            (place / "build").mkdir()
            (place / "build/install_manifest.txt").write_text("/nowhere/lib/libsinew.so\n", encoding="utf-8")
            scripts = {"tools/setup": "", "tools/install_command.py": "exit 1", "bin/cmake": "", "bin/ldconfig": "", "bin/chown": f'echo "$@" >> {place}/given'}
            for name, line in scripts.items():
                script = place / name
                script.parent.mkdir(exist_ok=True)
                script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
                script.chmod(0o755)
            environment = os.environ | {"PATH": f"{place}/bin:{os.environ['PATH']}", "SUDO_UID": "1000", "SUDO_GID": "1001"}
            done = subprocess.run(["make", "install", "PREFIX=/nowhere"], cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertEqual((place / "given").read_text(encoding="utf-8").splitlines()[-1], "-R 1000:1001 build")
            self.assertEqual((place / "build/installed.txt").read_text(encoding="utf-8"), "/nowhere/lib/libsinew.so\n", "for `make uninstall`")
            self.assertEqual(len((place / "given").read_text(encoding="utf-8").splitlines()), 4, "after each step that builds")


class Uninstall(unittest.TestCase):
    def test_removes_what_was_installed_and_empty_folders_named_after_it_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder, "usr")
            ours, others = [prefix / path for path in ("bin/sinew", "include/sinew/msg/a.hpp", "lib/libsinew.so")], [prefix / "lib/other.so"]
            for path in ours + others:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            self.assertEqual(uninstall.remove(ours), 3)
            self.assertEqual(sorted(prefix.rglob("*")), [prefix / "bin", prefix / "include", prefix / "lib", prefix / "lib/other.so"])
            self.assertEqual(uninstall.remove(ours), 0, "what is gone already")


if __name__ == "__main__":
    unittest.main()
