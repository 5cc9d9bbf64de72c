"""`sinew launch` of one file, beside a test."""

import os
import pathlib
import re
import signal
import subprocess
import time

PATIENCE = 60


class Launched:
    def __init__(self, file, log, environment, *arguments):
        self.log = pathlib.Path(log)
        with open(log, "wb") as sink:
            self.process = subprocess.Popen(
                ["sinew", "launch", file, *arguments], cwd=file.parent, env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
            )

    def said(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern, after=0):
        """Where the log has the pattern, behind so many characters of it."""
        until = time.monotonic() + PATIENCE
        while not (found := re.compile(pattern, re.MULTILINE).search(self.said(), after)):
            if self.process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"the log does not say '{pattern}' behind its first {after} characters:\n{self.said()}")
            time.sleep(0.05)
        return found

    def pid(self, name):
        """Of the process of that name that was started last."""
        return int(re.findall(rf"(?m)^\[launch\] +{name} started, process (\d+)$", self.said())[-1])

    def names(self):
        """Of its processes that have been started."""
        return sorted(set(re.findall(r"(?m)^\[launch\] +(\w+) started, process \d+$", self.said())))

    def kill(self, name):
        """As by kill -9; returns when it has been started again."""
        before = len(self.said())
        os.kill(self.pid(name), signal.SIGKILL)
        self.wait_for(rf"^\[launch\] +{name} started, process", before)

    def stop(self):
        """The status with which it ends after Ctrl-C."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it does not stop:\n{self.said()}") from None
