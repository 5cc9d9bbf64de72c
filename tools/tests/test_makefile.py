"""What `make` does by itself, before any tool of ours runs."""

import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


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


if __name__ == "__main__":
    unittest.main()
