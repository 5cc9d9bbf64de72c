"""What the tests of an installed sinew have in common: where it is installed, and domains of their own for the programs that they start."""

import atexit
import contextlib
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import bounded
import crates
import install_command
import rust

EXAMPLES = ["readme", "talker", "listener", "camera", "viewer", "pipeline", "adder", "fibonacci"]
# These only bound what hangs: beside others a compiler takes a multiple of its time.
COMPILE_SECONDS = 600
RUN_SECONDS = 120


@functools.cache
def installed():
    """(a folder for the tests, the prefix in it where sinew is installed)."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="sinew-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    prefix = work / "prefix"
    if there := os.environ.get("SINEW_INSTALL_PREFIX"):
        shutil.copytree(there, prefix, symlinks=True)
    else:
        with crates.shared({"CARGO_TARGET_DIR": str(install_command.BUILD)}, rust.WORKSPACE):
            must(["make", "-C", ROOT, "install", f"PREFIX={prefix}"], seconds=2400)
    return work, prefix


def must(command, *, seconds=COMPILE_SECONDS, env=None, cwd=None):
    """Output of a command that has to succeed."""
    status, output = bounded.run([str(word) for word in command], seconds=seconds, capture=True, env=env, cwd=cwd)
    if status != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with status {status}:\n{output}")
    return output


def flags(of=None):
    """What pkg-config says about the sinew installed in the prefix `of`."""
    search = {"PKG_CONFIG_PATH": str((of or installed()[1]) / "lib/pkgconfig")}
    return shlex.split(must(["pkg-config", "--cflags", "--libs", "sinew"], env=search))


def compile_example(name, into, of=None):
    into.mkdir(exist_ok=True)
    must(["c++", "-std=c++20", ROOT / f"examples/{name}.cpp", *flags(of), "-o", into / name])


class Domain:
    """A domain of its own for the programs of one test; on leaving, everything it started and that still runs is killed. `within` is what comes before each command; `work` is where
    it has a folder."""

    def __init__(self, within=(), work=None):
        self.within, self.work = list(within), work

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.work or installed()[0]))
        # Nothing that a user would not have set, and nothing that would help the library to find its manager.
        self.env = {"SINEW_DOMAIN": str(self.folder / "socket"), "LD_LIBRARY_PATH": "", "SINEW_NODE": ""}
        self.started = []
        return self

    def __exit__(self, *_):
        for process in self.started:
            self.kill(process)

    def kill(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()

    def start(self, *command, cwd=None):
        """A program that goes on beside the test."""
        output = self.folder / f"output{len(self.started)}"
        environment = {name: value for name, value in (os.environ | self.env).items() if value}
        with open(output, "wb") as sink:
            process = subprocess.Popen([*self.within, *(str(word) for word in command)], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        process.output = output
        self.started.append(process)
        return process

    def said(self, process):
        """What a started program has printed until now."""
        return process.output.read_text(errors="replace")

    def finish(self, process):
        """Status of a started program that ends by itself; None when it does not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(RUN_SECONDS)
        return process.poll()

    def story(self):
        """Everything that was printed here, for the text of a failure."""
        return "".join(f"\n--- {process.args[0]} (status {process.poll()}):\n{self.said(process)}" for process in self.started)


class Case(unittest.TestCase):
    def assert_ends_well(self, domain, process):
        """What `process` has printed when it has ended with status 0."""
        self.assertEqual(domain.finish(process), 0, domain.story())
        return domain.said(process)

    def assert_prints(self, domain, process, pattern, times):
        """`process` goes on, and prints `times` lines with `pattern`."""
        until = time.monotonic() + RUN_SECONDS
        while len(re.findall(pattern, domain.said(process))) < times:
            self.assertIsNone(process.poll(), domain.story())
            self.assertLess(time.monotonic(), until, domain.story())
            time.sleep(0.01)

    def assert_examples_run(self, folder):
        with Domain() as domain:
            domain.start(folder / "talker")
            self.assert_prints(domain, domain.start(folder / "listener"), r"(?m)^talker: .+$", 3)
        with Domain() as domain:
            domain.start(folder / "camera")
            viewer = domain.start(folder / "viewer")
            self.assert_prints(domain, viewer, r"delivery \w+", 10)
            self.assertNotRegex(domain.said(viewer), r"delivery (?!native)")
        with Domain() as domain:
            pipeline = domain.start(folder / "pipeline")
            self.assertEqual(pipeline.wait(RUN_SECONDS), 0, domain.story())
        with Domain() as domain:
            # Where nobody gets a processor for half a second, the last feedback is not waited for any longer.
            said = [self.assert_ends_well(domain, domain.start(folder / "fibonacci")) for _ in range(3)]
            self.assertTrue(any(re.search(r"34\nsucceeded, 10 numbers\ncancelled\nrejected: that is too large", each) for each in said), domain.story())
        with Domain() as domain:
            self.assertEqual(self.assert_ends_well(domain, domain.start(folder / "adder")), "6\nnothing to add\n")
        with Domain() as domain:
            self.assertRegex(self.assert_ends_well(domain, domain.start(folder / "readme")), r"(?m)^0\.\d: 1000 ranges$")
