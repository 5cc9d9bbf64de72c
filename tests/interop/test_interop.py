#!/usr/bin/env python3
"""Programs in C++, Rust and Python understand each other: each as publisher, subscriber, client and provider beside each, of the same user and of another one.

Run by `make test`; by hand: tests/interop/test_interop.py [-v]. Each checks every field of what it gets, by a rule that is the same in all languages (interop.cpp).
"""

import contextlib
import itertools
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
import python_package
import rust

EXAMPLES = ("talker", "listener", "camera", "viewer")
LANGUAGES = ("cpp", "rust", "python")
MESSAGES = 60
CALLS = 40
IMAGES = 450
SECONDS = 120
COMPILE_SECONDS = 1500
# Of nobody, on Debian.
STRANGER = 65534
AS_STRANGER = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]


def must(command, **arguments):
    status, output = bounded.run([str(word) for word in command], seconds=COMPILE_SECONDS, capture=True, **arguments)
    if status != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with status {status}:\n{output}")
    return output


def setUpModule():
    global work, programs, with_library
    work = pathlib.Path(tempfile.mkdtemp(prefix="sinew-"))
    unittest.addModuleCleanup(shutil.rmtree, work, ignore_errors=True)
    jobs = os.environ.get("JOBS", str(os.cpu_count()))
    assert rust.install(jobs), "the library does not build"
    flags = shlex.split(must(["pkg-config", "--cflags", "--libs", "sinew"], env={"PKG_CONFIG_PATH": str(rust.PREFIX / "lib/pkgconfig")}))
    for source in HERE / "interop.cpp", *(ROOT / "examples" / f"{name}.cpp" for name in EXAMPLES):
        must(["c++", "-std=c++20", "-O1", source, *flags, "-o", work / source.stem])
    (work / "users").mkdir()
    for source in (HERE / "users").glob("*.cpp"):
        must(["c++", "-std=c++20", "-O2", source, *flags, "-o", work / "users" / source.stem])
    must(["cargo", "build", "--locked", "--jobs", jobs, "--package", "sinew", "--example", "interop"], env=rust.environment("test"), cwd=rust.WORKSPACE)
    interpreter = python_package.install(jobs)
    assert interpreter, "the Python package does not build"
    # Python has its own.
    with_library = ["env", f"LD_LIBRARY_PATH={rust.PREFIX / 'lib'}"]
    programs = {"cpp": [*with_library, work / "interop"], "rust": [*with_library, rust.BUILD / "test/debug/examples/interop"], "python": [interpreter, "-u", HERE / "interop.py"]}


class Domains:
    @contextlib.contextmanager
    def domain(self):
        """One in which a stranger may take part, if there can be one."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=work))
        (folder / "rules").write_text('{"join": {"uid": [%d]}}' % STRANGER)
        for each in work, folder:
            each.chmod(0o755)
        self.socket = folder / "socket"
        self.env = {**os.environ, "SINEW_DOMAIN": str(self.socket), "SINEW_CONFIG": str(folder / "rules"), "SINEW_NODE": ""}
        self.folder, self.started = folder, []
        try:
            yield
        finally:
            for process in self.started:
                process.kill()
                process.wait()

    def launch(self, *command):
        output = self.folder / f"output{len(self.started)}"
        with open(output, "wb") as sink:
            process = subprocess.Popen([str(word) for word in command], env=self.env, cwd="/", stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        process.output = output
        self.started.append(process)
        return process

    def story(self):
        return "".join(f"\n--- {' '.join(process.args)} (status {process.poll()}):\n{process.output.read_text(errors='replace')}" for process in self.started)

    def assert_ends_well(self, process):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS)
        self.assertEqual(process.poll(), 0, self.story())
        return process.output.read_text()


class Matrix(Domains):
    def start(self, language, *arguments, stranger=False):
        return self.launch(*(AS_STRANGER if stranger else []), *programs[language], *arguments)

    def await_manager(self):
        """A stranger cannot start it, nor reach it before it has read its rules."""
        until = time.monotonic() + SECONDS
        while not self.socket.is_socket() or self.stranger > bool(self.socket.stat().st_mode & 0o002):
            self.assertLess(time.monotonic(), until, self.story())
            time.sleep(0.005)

    def test_messages_of_each_language_are_read_by_each(self):
        for publisher, subscriber in itertools.product(LANGUAGES, LANGUAGES):
            with self.subTest(publisher=publisher, subscriber=subscriber), self.domain():
                publishing = self.start(publisher, "publish")
                self.await_manager()
                ways = self.assert_ends_well(self.start(subscriber, "subscribe", MESSAGES, stranger=self.stranger)).splitlines()
                self.assertIsNone(publishing.poll(), self.story())
                self.assertEqual(ways, [f"delivery {self.way(publisher, subscriber)}"])

    def test_calls_of_each_language_are_answered_by_each(self):
        for provider, client in itertools.product(LANGUAGES, LANGUAGES):
            with self.subTest(provider=provider, client=client), self.domain():
                providing = self.start(provider, "provide")
                self.await_manager()
                self.assert_ends_well(self.start(client, "call", CALLS, stranger=self.stranger))
                self.assertIsNone(providing.poll(), self.story())


class OfOneUser(Matrix, unittest.TestCase):
    stranger = False

    def way(self, publisher, subscriber):
        return "native" if publisher == subscriber == "cpp" else "view"


@unittest.skipIf(os.geteuid() != 0, "only root can become another user")
class OfAnotherUser(Matrix, unittest.TestCase):
    """Subscribers and clients of a user who is given copies."""

    stranger = True

    def setUp(self):
        reached = [rust.PREFIX / "lib/libsinew.so", rust.BUILD / "test/debug/examples/interop", programs["python"][0], HERE / "interop.py"]
        for path in reached:
            if subprocess.run([*AS_STRANGER, "test", "-r", path], check=False).returncode != 0:
                self.skipTest(f"another user cannot reach {path}: these sources are in a folder of one user alone")

    def way(self, publisher, subscriber):
        return "copy"


class Examples(Domains, unittest.TestCase):
    """Those for people to read in C++ and in Python are of the same topics."""

    def assert_prints(self, program, pattern):
        until = time.monotonic() + SECONDS
        while not re.search(pattern, program.output.read_text()):
            self.assertIsNone(program.poll(), self.story())
            self.assertLess(time.monotonic(), until, self.story())
            time.sleep(0.005)

    def example(self, language, name):
        return self.launch(*with_library, work / name) if language == "cpp" else self.launch(*programs["python"][:2], ROOT / f"examples/python/{name}.py")

    def test_a_listener_hears_a_talker_in_the_other_language(self):
        for one, other in ("cpp", "python"), ("python", "cpp"):
            with self.subTest(talker=one, listener=other), self.domain():
                self.example(one, "talker")
                self.assert_prints(self.example(other, "listener"), r"(?m)^talker: hello for time number \d+$")

    def test_a_viewer_reads_the_pictures_of_a_camera_in_the_other_language_where_they_are(self):
        for one, other in ("cpp", "python"), ("python", "cpp"):
            with self.subTest(camera=one, viewer=other), self.domain():
                self.example(one, "camera")
                viewer = self.example(other, "viewer")
                self.assert_prints(viewer, r"(?m)(^1920 x 1080, mean 127\.\d, sequence \d+, delivery view, missed \d+$\n){5}")


class Users(Domains, unittest.TestCase):
    """Programs that stand for those that are written elsewhere: they are never changed, and do what their first comment says."""

    def start(self, name, *arguments):
        return self.launch(*with_library, work / "users" / name, *arguments)

    def await_nodes(self, *names):
        looks = "import sys, time, sinew\nwith sinew.Node('looks') as node:\n    while not set(sys.argv[1:]) <= {each.name for each in node.domain().nodes}: time.sleep(0.01)"
        self.assert_ends_well(self.launch(programs["python"][0], "-c", looks, *names))

    def test_what_they_publish_comes_in_its_order(self):
        with self.domain():
            self.start("talker")
            said = self.assert_ends_well(self.start("listener"))
            # One more may come before the program has seen that it has enough; so it is below.
            self.assertGreaterEqual(len(re.findall(r"(?m)^\d+ from talker, sequence \d+$", said)), 5, said)

    def test_their_pictures_are_never_copied(self):
        with self.domain():
            viewer = self.start("viewer")
            in_python = self.launch(*programs["python"][:2], HERE / "users/viewer.py")
            # Neither waits for a camera that has ended, or for long for one that does not begin; and the one in C++, which looks at each byte, has not seen 30 of 90 images where the processors are busy.
            self.await_nodes("viewer", "viewer_py")
            camera = self.start("camera", IMAGES)
            self.assertRegex(self.assert_ends_well(viewer), r"^seen [3-9]\d+, bad bytes 0, not in place 0\n$")
            self.assert_ends_well(in_python)
            self.assertEqual(self.assert_ends_well(camera), f"published {IMAGES}, payload bytes copied 0\n")

    def test_their_messages_go_by_pointer_in_one_process(self):
        with self.domain():
            self.assertEqual(self.assert_ends_well(self.start("pointer")), "shared 1 owned 1 none 1\n")

    def test_their_calls_are_answered_and_failures_say_why(self):
        with self.domain():
            self.assertEqual(self.assert_ends_well(self.start("adder")), "nothing to add\n")


if __name__ == "__main__":
    unittest.main()
