#!/usr/bin/env python3
"""Everything about the code that a machine can hold without running it. All checks run, also after one has failed.

Usage: lint.py [--jobs N] [CHECK...]        without names: all checks, in the order of --help
"""

import argparse
import collections
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import bounded
import crates
import rust
import unchanged

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMAT = "clang-format-19"
CLANG = "clang++-19"
COMPILERS = ["g++", CLANG]
OLD_CLANG = "clang++-16"
TIDY = "clang-tidy-19"
CLANG_BUILD = ROOT / "build-clang"
COMMANDS = CLANG_BUILD / "compile_commands.json"


def files(*patterns):
    """Files of the checkout that match, tracked or about to be."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in listing.stdout.splitlines() if (ROOT / name).is_file())


def run(*command, seconds=60):
    return bounded.run([str(word) for word in command], seconds=seconds, cwd=ROOT)[0] == 0


def layers(_):
    """the layer rule, and no includes in circles"""
    return run("tools/check_layers.py")


def sync(_):
    """every access of an atomic says which pair it belongs to, or why relaxed is enough, and no pair lacks a side"""
    return run("python3", "tools/sync_pairs.py")


def lengths(_):
    """no long file without a reason"""
    return run("python3", "tools/check_lengths.py", *files("*.cpp", "*.hpp", "*.c", "*.h", "*.py", "*.rs", "*.cmake", "*CMakeLists.txt"))


def python(_):
    """every Python file compiles, and the tools' own tests pass"""
    sources = [name for name in files("*.py") + files("tools/*") if "python3" in (ROOT / name).open(errors="replace").readline() or name.endswith(".py")]
    for name in sources:
        try:
            compile((ROOT / name).read_text(encoding="utf-8"), name, "exec")
        except SyntaxError as error:
            print(f"{name}:{error.lineno}: {error.msg}")
            return False
    return run("python3", "-m", "unittest", "discover", "--quiet", "--start-directory", "tools/tests")


def formatting(_):
    """clang-format has nothing to change"""
    sources = files("*.cpp", "*.hpp", "*.c", "*.h")
    status, output = bounded.run([FORMAT, "--dry-run", "-Werror", *sources], seconds=120, capture=True, cwd=ROOT)
    places = collections.Counter(re.findall(r"^(\S+?):\d+:\d+: error:", output, re.MULTILINE))
    if places:
        print("\n".join(f"{name}: {count} places" for name, count in sorted(places.items())))
        print(f"to change them: {FORMAT} -i {' '.join(sorted(places))}")
    elif status != 0:
        print(output)
    return status == 0


def seeded(_):
    """every seeded fault can be applied, and its tests are there"""
    return run("tools/seeded.py", "--check")


def headers(_):
    """every installed header compiles alone"""
    return run("python3", "tools/check_headers.py", *COMPILERS, seconds=300)


@functools.cache
def configured():
    """Whether it is written down how a current Clang compiles each source, with the headers that are generated for them."""
    return run("cmake", "--log-level=WARNING", "--preset", "clang", seconds=120) and run(
        "cmake", "--build", "--preset", "clang", "--target", "sinew_messages_headers", seconds=120
    )


def units(pattern):
    """How each source whose path matches is compiled."""
    return [unit for unit in json.loads(COMMANDS.read_text()) if re.match(pattern, os.path.relpath(unit["file"], ROOT))]


def flags(unit):
    """What stands in its command between the compiler and the output."""
    words = shlex.split(unit["command"])
    return words[1 : words.index("-o")]


def said_by(command, unit):
    """What a command that fails has to say; nothing of one that does not."""
    status, said = bounded.run(command, seconds=600, capture=True, cwd=unit["directory"])
    return "" if status == 0 else said or f"{command[0]} ended with status {status} and said nothing"


def compiles(compiler, pattern, jobs):
    """Whether a compiler has no complaints about the sources whose paths match."""

    def complaints(unit):
        return said_by([compiler, *flags(unit), "-fsyntax-only", unit["file"]], unit)

    return unchanged.examine(units(pattern), complaints, version(compiler), jobs)


def version(program):
    return subprocess.run([program, "--version"], capture_output=True, check=True).stdout


def clang(jobs):
    """the tests of the benchmark compile without a warning with a current Clang: `tidy` reads no tests, and the suite asan, which Clang builds, leaves these out"""
    return configured() and compiles(CLANG, r"bench/.*tests/", jobs)


def old_clang(jobs):
    """the library, and tests that are written for rclcpp, compile without a warning with the oldest Clang we promise"""
    return configured() and compiles(OLD_CLANG, r"(src|bindings)/(?!.*/tests/)|tests/system/(rclcpp\w*|message_filters)_test", jobs)


def tidy(jobs):
    """clang-tidy has no findings, and a current Clang no warnings"""

    def complaints(unit):
        return said_by([TIDY, "--quiet", "--warnings-as-errors=*", unit["file"], "--", *flags(unit)], unit)

    # Not tests: they are held by the compilers' warnings and the formatter; what GoogleTest's macros expand to is not ours to tidy. Nor what is generated.
    ours = r"(?!\.\./|tests/|.*/tests/|build)"
    return configured() and unchanged.examine(units(ours), complaints, version(TIDY) + (ROOT / ".clang-tidy").read_bytes(), jobs)


def cargo(jobs):
    """rustfmt has nothing to change in what is written in Rust, its lock files are complete, and neither compiler, clippy nor rustdoc warns"""
    whole = ["--workspace", "--all-features", "--locked", "--jobs", str(jobs)]
    # Not members of the workspace, but they stand on its crates: a dependency that is new there must be in their lock files too.
    others = ["sinew-gateway/fuzz/Cargo.toml", "../bench/peers/rust/Cargo.toml"]
    fuzzers = ["--manifest-path", others[0], "--locked", "--jobs", str(jobs)]
    # By itself it has fewer features than others ask of it.
    alone = ["--package", "sinew-msg", "--locked", "--jobs", str(jobs)]
    # Where the tests are built, as both need the same build scripts and macros of others.
    environment = {**rust.environment("test"), "RUSTDOCFLAGS": "-D warnings"}
    if bounded.run(["cargo", "clippy", "--version"], seconds=60, capture=True)[0] == 0:
        check, denied = "clippy", ["--", "-D", "warnings"]
    else:
        # Debian's Rust comes without it. These flags are for all crates, so that none is shared with the tests.
        check, denied = "check", []
        environment |= rust.environment("lint") | {"RUSTFLAGS": "-D warnings"}
    commands = [["cargo", "fmt", "--all", "--check"], *(["cargo", "fmt", "--manifest-path", other, "--check", "--", "--config-path", str(rust.WORKSPACE)] for other in others),
                *(["cargo", "update", "--workspace", "--locked", "--quiet", "--manifest-path", other] for other in others),
                ["cargo", check, "--all-targets", *whole, *denied], ["cargo", check, *alone, *denied], ["cargo", check, *fuzzers, *denied], ["cargo", "doc", "--no-deps", *whole]]
    with crates.shared(environment, rust.WORKSPACE):
        if not rust.install(jobs):
            return False
        for command in commands:
            status, _ = bounded.run(command, seconds=900, env=environment, cwd=rust.WORKSPACE)
            if status != 0:
                print(f"lint: '{' '.join(command)}' failed with status {status}", flush=True)
                return False
        return True


CHECKS = {check.__name__: check for check in (layers, sync, lengths, python, formatting, seeded, headers, cargo, clang, old_clang, tidy)}


def main():
    described = "\n".join(f"  {name:<12}{check.__doc__}" for name, check in CHECKS.items())
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, epilog=f"checks:\n{described}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.checks if name not in CHECKS]:
        parser.error(f"no such check: {', '.join(unknown)}")
    chosen = arguments.checks or list(CHECKS)
    failed = []
    for name in chosen:
        print(f"=== lint: {CHECKS[name].__doc__}", flush=True)
        if not CHECKS[name](arguments.jobs):
            failed.append(name)
    print(f"lint: {len(failed)} of {len(chosen)} checks failed: {', '.join(failed)}" if failed else f"lint: all {len(chosen)} checks hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
