#!/usr/bin/env python3
"""Builds the Python package as users do, by pip, installs it into a virtual environment of its own and runs its tests: python_package.py [TEST...]

Everything is in build-python/: what CMake built stays there, so that the next time takes seconds. TEST is as unittest names them: test_types, test_types.Refusals.
"""

import os
import pathlib
import sys

import bounded
import python_env

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-python"
REQUIREMENTS = ROOT / "bindings/python/requirements.txt"
TESTS = [ROOT / "bindings/python/tests", ROOT / "msggen/tests"]
BUILD_SECONDS = 1500
RUN_SECONDS = 900
# What nanobind says on stderr at the end of an interpreter in development mode in which something of the module was not given back.
LEAK = "nanobind: leaked"


def install(jobs):
    """An interpreter that has the package as it is now, or None when it does not build; then it was said why."""
    interpreter = python_env.make(REQUIREMENTS, BUILD / "env")
    if interpreter is None:
        return None
    wheels = BUILD / "wheels"
    for wheel in wheels.glob("*.whl"):
        wheel.unlink()
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    # Tools of the environment, which pip would fetch anew each time.
    environment = {"PATH": f"{interpreter.parent}:{os.environ['PATH']}", "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs)}
    for command in (
        [*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", wheels, "--config-settings", f"build-dir={BUILD / 'build'}", ROOT],
        [*pip, "install", "--no-deps", "--no-index", "--force-reinstall", "--find-links", wheels, "sinew"],
    ):
        status, output = bounded.run(command, seconds=BUILD_SECONDS, capture=True, env=environment, cwd=ROOT)
        if status != 0:
            print(output)
            return None
    return interpreter


def run_tests(interpreter, folder, names=()):
    """(status, what was printed) of the tests of a folder. The status is not 0 either where the module says that something leaked."""
    command = [interpreter, "-m", "unittest", *(names or ["discover", "--start-directory", folder])]
    path = {"PYTHONPATH": str(folder)} if names else {}
    status, output = bounded.run(command, seconds=RUN_SECONDS, capture=True, env={"PYTHONUNBUFFERED": "1", "PYTHONDEVMODE": "1", **path}, cwd=ROOT, kill_rest=True)
    if LEAK in output:
        status = status or 1
    return status, output


def main():
    interpreter = install(os.cpu_count())
    if interpreter is None:
        return 1
    failed = 0
    for folder in TESTS[: 1 if sys.argv[1:] else None]:
        status, output = run_tests(interpreter, folder, sys.argv[1:])
        print(output)
        failed |= status != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
