#!/usr/bin/env python3
"""Makes what is handed to others, in build/dist: the archive of the sources, Debian packages and the Python wheel, both made of that archive.

Usage: dist.py [--jobs N] [PART...]        parts: archive debian wheel; without names all, and the archive always

Of what is committed: what is only in the working tree is in none of them, which is said. The words of what builds are in build/dist/NAME.log. That they
work is another matter: tools/dist_test.py.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build/dist"
SECONDS = 3600
# Debian's, for which the wheel is; another one may come first in PATH.
PYTHON = "/usr/bin/python3"
LINES_OF_A_FAILURE = 30


class Failed(Exception):
    """A sentence, and what was printed."""


def version(root=ROOT):
    """That of CMakeLists.txt, from which all others are taken, or which they are held to by tools/tests/test_dist.py."""
    return re.search(r"project\(sinew VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def logged(name, command, *, cwd, env=None):
    """A command that has to succeed; it prints into a file."""
    log = OUT / f"{name}.log"
    status, _ = bounded.run(["sh", "-c", 'log=$1; shift; exec "$@" >"$log" 2>&1', "sh", str(log), *map(str, command)], seconds=SECONDS, cwd=cwd, env=env)
    if status != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-LINES_OF_A_FAILURE:])
        raise Failed(f"{' '.join(map(str, command))} ended with status {status}; all of its words are in {log}, the last ones:\n{tail}")


def archive():
    """The sources that are committed."""
    name = f"sinew-{version()}"
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout:
        print("dist.py: what is not committed is in none of these", file=sys.stderr)
    path = OUT / f"{name}.tar.gz"
    subprocess.run(["git", "archive", "--format=tar.gz", f"--prefix={name}/", f"--output={path}", "HEAD"], cwd=ROOT, check=True)
    return [path]


def unpacked(name):
    """The sources of the archive, in a folder of that name: only cargo's crates are there from the last time, which are the same for all."""
    folder = OUT / name
    tree, kept = folder / f"sinew-{version()}", folder / "kept"
    crates = tree / "build/rust"
    if crates.is_dir() and not kept.exists():
        folder.mkdir(exist_ok=True)
        crates.rename(kept)
    shutil.rmtree(tree, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    # With the time of now: what is newer than what cargo has built is built anew.
    subprocess.run(["tar", "--extract", "--touch", "--file", OUT / f"{tree.name}.tar.gz", "--directory", folder], check=True)
    if kept.exists():
        crates.parent.mkdir()
        kept.rename(crates)
    return tree


def debian(jobs):
    """Two packages of what `make install` installs; packaging/debian says which has what."""
    tree = unpacked("debian")
    shutil.copytree(tree / "packaging/debian", tree / "debian")
    for old in (*tree.parent.glob("*.deb"), *OUT.glob("*.deb")):
        old.unlink()
    logged("debian", ["dpkg-buildpackage", "--build=binary", "--unsigned-source", "--unsigned-changes"], cwd=tree, env={"DEB_BUILD_OPTIONS": f"parallel={jobs}"})
    made = [pathlib.Path(shutil.move(path, OUT / path.name)) for path in sorted(tree.parent.glob("*.deb"))]
    if shutil.which("lintian"):
        logged("lintian", ["lintian", "--allow-root", "--fail-on", "error", *made], cwd=OUT)
    return made


def wheel(jobs):
    """The Python package, for the Python of this Debian: it is no manylinux wheel, and goes to no index."""
    tree = unpacked("wheel")
    for old in OUT.glob("*.whl"):
        old.unlink()
    command = [PYTHON, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", "--wheel-dir", OUT, tree]
    logged("wheel", command, cwd=OUT, env={"CMAKE_BUILD_PARALLEL_LEVEL": str(jobs)})
    return sorted(OUT.glob("*.whl"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    parts = {"debian": debian, "wheel": wheel}
    if unknown := [name for name in arguments.parts if name not in {"archive", *parts}]:
        parser.error(f"no such part: {', '.join(unknown)}")
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        made = archive()
        for name in [name for name in parts if name in arguments.parts or not arguments.parts]:
            print(f"Making: {parts[name].__doc__} What is said meanwhile: build/dist/{name}.log", flush=True)
            start = time.monotonic()
            made += parts[name](arguments.jobs)
            print(f"  {time.monotonic() - start:.0f} s", flush=True)
    except Failed as failure:
        print(f"dist.py: {failure}", file=sys.stderr)
        return 1
    for path in made:
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
