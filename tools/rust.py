"""The Rust workspace with what it stands on: the library and the manager, as developers build them."""

import pathlib

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKSPACE = ROOT / "rust"
BUILD = ROOT / "build-rust"
PREFIX = BUILD / "prefix"
BUILD_SECONDS = 1500


def install(jobs):
    """False when the library does not build; else cargo finds it there with environment()."""
    for command in (
        ["cmake", "--log-level=WARNING", "--preset", "dev"],
        ["cmake", "--build", "--preset", "dev", "--parallel", str(jobs), "--target", "sinew", "sinew_operator_new", "sinew_messages_headers", "sinewd", "sinew-bridges"],
        ["cmake", "--install", "build-dev", "--prefix", PREFIX],
    ):
        status, output = bounded.run(command, seconds=BUILD_SECONDS, capture=True, cwd=ROOT)
        if status != 0:
            print(output)
            return False
    return True


def environment(target):
    """For cargo, which builds into a folder of this name."""
    return {
        "PKG_CONFIG_PATH": str(PREFIX / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(PREFIX / "lib"),
        "CARGO_TARGET_DIR": str(BUILD / target),
        "CARGO_TERM_COLOR": "never",
    }
