#!/usr/bin/env python3
"""clang-tidy over the translation units of a build folder, in parallel, skipping those that passed before and have not changed since.

A unit has not changed when its compile command, the configuration, clang-tidy itself, and every file of this repository that it
includes (as the last build recorded them) are the same. So the folder must have been built with Ninja just before. What has passed is remembered for
all clones, in sinew-tidy of the user's cache folder.

Usage: tidy.py [--jobs N] BUILD_FOLDER
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TIDY = "clang-tidy-19"
ROOT = pathlib.Path(__file__).resolve().parent.parent
# Tests are held by the compilers' warnings and the formatter; what GoogleTest's macros expand to is not ours to tidy.
SKIPPED = re.compile(r"/tests/")


def units_of(build):
    """Source path to compile-database entry, for the sources of this repository that are to be tidied."""
    units = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if file.is_relative_to(ROOT) and not SKIPPED.search(file.as_posix()) and not file.is_relative_to(build):
            units[file] = entry
    return units


def recorded_includes(build):
    """Object path to the files that its compilation read, as Ninja recorded them."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    includes, current = {}, None
    for line in listing.splitlines():
        if line.startswith("    "):
            includes[current].append(line.strip())
        elif ": #deps" in line:
            current = line.split(": #deps")[0]
            includes[current] = []
    return includes


def fingerprint(entry, includes, constant):
    """Changes whenever the verdict about this unit could change."""
    digest = hashlib.sha256(constant)
    digest.update(entry["command"].replace(str(ROOT), "").encode())
    for name in sorted({entry["file"], *includes}):
        file = pathlib.Path(entry["directory"], name).resolve()
        if file.is_relative_to(ROOT):
            digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def tidy(build, file):
    command = [TIDY, "-p", build, "--quiet", "--warnings-as-errors=*", file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + (done.stderr if not done.stdout else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("build", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    constant = version + (ROOT / ".clang-tidy").read_bytes()
    passed = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "sinew-tidy")
    passed.mkdir(parents=True, exist_ok=True)
    includes = recorded_includes(build)

    due = {}
    units = units_of(build)
    for file, entry in units.items():
        print_ = fingerprint(entry, includes.get(entry.get("output"), []), constant)
        if not (passed / print_).exists():
            due[file] = print_
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = {pool.submit(tidy, build, file): file for file in sorted(due)}
        for job in concurrent.futures.as_completed(jobs):
            status, output = job.result()
            file = jobs[job]
            if status == 0:
                (passed / due[file]).touch()
            else:
                failures += 1
                print(f"--- {file.relative_to(ROOT)}\n{output}", flush=True)
    print(f"{len(units)} units, {len(units) - len(due)} unchanged since they passed, {failures} with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
