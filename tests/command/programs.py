"""The programs that the session of the command is about: the demo with its recordings, a gripper, and the command."""

import functools
import os
import pathlib
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import bounded
import rust

DATA = ROOT / "build/demo-data"
# Debian's, for which tools/setup installs python3-pip; another one may come first in PATH.
PYTHON = "/usr/bin/python3"
BUILD_SECONDS = 1500


class Programs(NamedTuple):
    demo: pathlib.Path
    gripper: pathlib.Path
    sinew: pathlib.Path
    load: pathlib.Path  # of bench/command.py
    gateway: pathlib.Path
    traffic: pathlib.Path  # of bench/gateway.py, with the emulator beside it
    prefix: pathlib.Path  # of the library and the manager
    data: pathlib.Path


def must(command, **arguments):
    status, output = bounded.run([str(word) for word in command], seconds=BUILD_SECONDS, capture=True, **arguments)
    if status != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with status {status}:\n{output}")


@functools.cache
def programs():
    """Builds them as developers do, and fetches the recordings where they are not there yet. With SINEW_SESSION_PROGRAMS, a folder, those in it are taken as they
    are; `prefix` in it is where the library is installed."""
    must([PYTHON if os.access(PYTHON, os.X_OK) else sys.executable, ROOT / "tools/fetch_demo_data.py", DATA])
    if built := os.environ.get("SINEW_SESSION_PROGRAMS"):
        folder = pathlib.Path(built).resolve()
        return Programs(folder / "demo", folder / "command_gripper", folder / "sinew", folder / "load", folder / "sinew-gateway", folder / "traffic", folder / "prefix", DATA)
    jobs = os.environ.get("JOBS", "2")
    if not rust.install(jobs):
        raise AssertionError("the library does not build")
    must(["cmake", "--build", "--preset", "dev", "--parallel", jobs, "--target", "demo", "command_gripper"], cwd=ROOT)
    environment = rust.environment("test")
    # With all features, as the tests of the workspace: what they have built is not built again.
    must(["cargo", "build", "--workspace", "--bins", "--examples", "--all-features", "--locked", "--jobs", jobs], env=environment, cwd=rust.WORKSPACE)
    built = pathlib.Path(environment["CARGO_TARGET_DIR"]) / "debug"
    return Programs(ROOT / "build-dev/bin/demo", ROOT / "build-dev/bin/command_gripper", built / "sinew", built / "examples/load", built / "sinew-gateway", built / "examples/traffic", rust.PREFIX, DATA)
