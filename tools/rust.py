"""The Rust workspace with what it stands on: the library and the manager, as developers build them."""

import pathlib

import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKSPACE = ROOT / "rust"
BUILD = ROOT / "build-rust"
PREFIX = BUILD / "prefix"
BUILD_SECONDS = 1500


def install(jobs, root=ROOT):
    """False when the library does not build; else cargo finds it there with environment(). `root`: of another checkout."""
    for command in (
        ["cmake", "--log-level=WARNING", "--preset", "dev"],
        ["cmake", "--build", "--preset", "dev", "--parallel", str(jobs), "--target", "sinew", "sinew_operator_new", "sinew_messages_headers", "sinewd", "sinew-bridges"],
        ["cmake", "--install", "build-dev", "--prefix", root / PREFIX.relative_to(ROOT)],
    ):
        status, output = bounded.run(command, seconds=BUILD_SECONDS, capture=True, cwd=root)
        if status != 0:
            print(output)
            return False
    return True


def environment(target, root=ROOT):
    """For cargo, which builds into a folder of this name. `root`: of another checkout."""
    prefix, build = (root / path.relative_to(ROOT) for path in (PREFIX, BUILD))
    return {
        "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(prefix / "lib"),
        "CARGO_TARGET_DIR": str(build / target),
        "CARGO_TERM_COLOR": "never",
    }
