#!/usr/bin/env python3
"""Removes what the last `make install` of this folder has installed, as far as it came, and the folders of that that are empty then.

Usage: uninstall.py
"""

import os
import pathlib
import sys

INSTALLED = pathlib.Path(__file__).resolve().parent.parent / "build/installed.txt"


def remove(paths):
    """Removes these files, and those of their folders that are empty then and are named after sinew, or lie in one that is. How many files there were."""
    removed = 0
    common = pathlib.Path(os.path.commonpath(paths))
    for path in paths:
        try:
            path.unlink()
            removed += 1
        except FileNotFoundError:
            pass
    # Others may be there for everybody, as /usr/local/bin is, also empty.
    ours = {folder for path in paths for folder in path.parents if common in folder.parents and "sinew" in str(folder.relative_to(common))}
    for folder in sorted(ours, reverse=True):
        try:
            folder.rmdir()
        except OSError:
            pass  # there is more in it, or it is gone
    return removed


def main():
    if not INSTALLED.exists():
        print(f"There is nothing to remove: `make install` has not been run here, or {INSTALLED} is gone.", file=sys.stderr)
        return 1
    paths = [pathlib.Path(line) for line in INSTALLED.read_text(encoding="utf-8").splitlines() if line]
    print(f"{remove(paths)} of {len(paths)} files of {os.path.commonpath(paths)} removed.")
    INSTALLED.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
