"""Programs in a domain of their own, for tests."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
# How long to wait for what must come; how soon it does is nobody's business here.
PATIENCE = 60
# What nanobind says at the end of an interpreter in development mode in which something of the module was not given back.
LEAK = "nanobind: leaked"


class Program:
    def __init__(self, command, output, environment, cwd):
        self.output = output
        self.command = [str(word) for word in command]
        with open(output, "wb") as sink:
            self.process = subprocess.Popen(self.command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT)

    @property
    def said(self):
        return self.output.read_text(errors="replace")

    def interrupt(self):
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def __str__(self):
        return f"\n--- {' '.join(self.command)} (status {self.process.poll()}):\n{self.said}"


class Case(unittest.TestCase):
    """A test in a domain of its own: nodes that it makes itself are there, too. What it started and left is killed at its end."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sinew-python-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.programs = []
        before = {name: os.environ.get(name) for name in ("SINEW_DOMAIN", "SINEW_NODE")}
        self.addCleanup(self.restore, before)
        os.environ["SINEW_DOMAIN"] = str(self.folder / "socket")
        os.environ.pop("SINEW_NODE", None)
        self.addCleanup(self.kill_all)

    @staticmethod
    def restore(before):
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def kill_all(self):
        for program in self.programs:
            program.kill()
        self.assertNotIn(LEAK, self.story())

    def start(self, *command, **environment):
        """A program that goes on beside the test; what ends in .py is run by this interpreter."""
        python = [sys.executable, "-u"] if str(command[0]).endswith(".py") else []
        output = self.folder / f"output{len(self.programs)}"
        self.programs.append(Program([*python, *command], output, {**os.environ, "PYTHONDEVMODE": "1", **environment}, self.folder))
        return self.programs[-1]

    def start_text(self, text, **environment):
        """The same of a program that is given as text."""
        path = self.folder / f"program{len(self.programs)}.py"
        path.write_text(text)
        return self.start(path, **environment)

    def story(self):
        """Everything that was printed here, for the text of a failure."""
        return "".join(map(str, self.programs))

    def assert_prints(self, program, pattern, times=1):
        """It goes on, and prints so many lines with the pattern."""
        self.wait_until(lambda: len(re.findall(pattern, program.said)) >= times or self.assertIsNone(program.process.poll(), self.story()))

    def assert_ends(self, program, status=0):
        """What it has printed when it has ended by itself."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.process.wait(PATIENCE)
        self.assertEqual(program.process.poll(), status, self.story())
        return program.said

    def wait_until(self, is_so):
        until = time.monotonic() + PATIENCE
        while not is_so():
            self.assertLess(time.monotonic(), until, self.story())
            time.sleep(0.005)
