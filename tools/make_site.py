#!/usr/bin/env python3
"""Makes a site of the pages in docs/: make_site.py [FOLDER]        (default: build/site)

A link that leads nowhere is an error, as every warning. Nothing is fetched, neither here nor by who reads it.
"""

import os
import pathlib
import sys

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Debian's, which its Sphinx belongs to; another one may come first in PATH.
PYTHON = "/usr/bin/python3"
SECONDS = 300


def make(folder):
    """(status, what was printed)."""
    doctrees = folder.with_name(f"{folder.name}-doctrees")
    command = [PYTHON if os.access(PYTHON, os.X_OK) else sys.executable, "-m", "sphinx", "-b", "html", "-c", "docs", "-d", doctrees, "-E", "-W", "-n", "--keep-going", "-q", ".", folder]
    return bounded.run([str(word) for word in command], seconds=SECONDS, capture=True, cwd=ROOT)


def main():
    folder = pathlib.Path(sys.argv[1] if sys.argv[1:] else ROOT / "build/site").resolve()
    status, output = make(folder)
    print(output, end="")
    print(f"{folder}: not made" if status else f"open {folder / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
