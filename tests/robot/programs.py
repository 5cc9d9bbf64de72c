"""What the robot of examples/robot is run with: sinew, its commands, its Python package, and the robot's own programs, built against them as a user does."""

import functools
import os
import pathlib
import shutil
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import bounded
import python_env
import python_package
import rust

BUILD_SECONDS = 1500


class Programs(NamedTuple):
    prefix: pathlib.Path  # of the library and the manager
    commands: pathlib.Path  # where sinew and sinew-gateway are
    python: pathlib.Path


def must(command, **arguments):
    """The output of a command that has to end well."""
    status, output = bounded.run([str(word) for word in command], seconds=BUILD_SECONDS, capture=True, **arguments)
    if status != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with status {status}:\n{output}")
    return output


@functools.cache
def sinew():
    """Builds it as developers do. With SINEW_ROBOT_PREFIX, where all of it is installed, and SINEW_ROBOT_PYTHON, an interpreter that has it and what requirements.txt says, nothing is built."""
    if prefix := os.environ.get("SINEW_ROBOT_PREFIX"):
        prefix = pathlib.Path(prefix).resolve()
        return Programs(prefix, prefix / "bin", pathlib.Path(os.environ["SINEW_ROBOT_PYTHON"]).absolute())
    jobs = os.environ.get("JOBS", "2")
    if not rust.install(jobs):
        raise AssertionError("the library does not build")
    environment = rust.environment("test")
    # With all features, as the tests of the workspace: what they have built is not built again.
    must(["cargo", "build", "--workspace", "--bins", "--all-features", "--locked", "--jobs", jobs], env=environment, cwd=rust.WORKSPACE)
    if not python_package.install(jobs):
        raise AssertionError("the Python package does not build")
    python = python_env.make(pathlib.Path(__file__).with_name("requirements.txt"), python_package.BUILD / "robot")
    if not python:
        raise AssertionError("what the robot's Python needs could not be installed")
    wheels = python_package.BUILD / "wheels"
    must([python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps", "--no-index", "--force-reinstall", "--find-links", wheels, "sinew"])
    return Programs(rust.PREFIX, pathlib.Path(environment["CARGO_TARGET_DIR"]) / "debug", python)


def robot(of, folder):
    """The example in a folder of its own, built there."""
    shutil.copytree(ROOT / "examples/robot", folder)
    must(["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={of.prefix}"])
    must(["cmake", "--build", folder / "build", "--parallel", os.environ.get("JOBS", "2")])
