#!/usr/bin/env python3
"""Builds the command `sinew` and the gateway with the library that is installed in a prefix, and installs them there, with what completes them in shells.

Usage: install_command.py [--jobs N] PREFIX
"""

import argparse
import os
import pathlib
import shutil
import sys

import bounded
import rust

BUILD = rust.ROOT / "build/rust"
BUILD_SECONDS = 1500
MANIFEST = rust.ROOT / "build/install_manifest.txt"  # of CMake, which writes it anew
COMPLETIONS = {
    "bash": "share/bash-completion/completions/{}",
    "zsh": "share/zsh/site-functions/_{}",
    "fish": "share/fish/vendor_completions.d/{}.fish",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("prefix", type=pathlib.Path)
    arguments = parser.parse_args()
    prefix = pathlib.Path(os.path.abspath(arguments.prefix))  # spelled as CMake does it: a link in it stays one
    command = ["cargo", "build", "--release", "--locked", "--package", "sinew-cli", "--package", "sinew-gateway", "--jobs", arguments.jobs]
    environment = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "CARGO_TARGET_DIR": str(BUILD)}
    if bounded.run(command, seconds=BUILD_SECONDS, env=environment, cwd=rust.WORKSPACE)[0] != 0:
        return 1
    schema = prefix / "share/sinew/gateway.schema.json"
    print(f"-- Installing: {schema}")
    schema.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(rust.WORKSPACE / "sinew-gateway/config.schema.json", schema)
    note(schema)
    return 0 if all(install(name, prefix) for name in ("sinew", "sinew-gateway")) else 1


def note(path):
    """For `make uninstall`."""
    with MANIFEST.open("a", encoding="utf-8") as manifest:
        manifest.write(f"\n{path}")


def install(name, prefix):
    """The program of that name, and what completes it. Whether it runs."""
    installed = prefix / "bin" / name
    print(f"-- Installing: {installed}")
    # Not into the file that is there: that may be running, and goes on with what it is.
    beside = installed.with_name(f"{name}.new")
    shutil.copy(BUILD / "release" / name, beside)
    beside.replace(installed)
    note(installed)
    for shell, place in COMPLETIONS.items():
        status, completions = bounded.run([str(installed), "completions", shell], seconds=60, capture=True)
        if status != 0:
            print(f"install_command.py: {installed} does not run:\n{completions}", file=sys.stderr)
            return False
        path = prefix / place.format(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(completions, encoding="utf-8")
        note(path)
        print(f"-- Installing: {path}")
    return True


if __name__ == "__main__":
    sys.exit(main())
