"""The crates of others, compiled once for all clones of this repository, as ccache does it for C++.

What cargo has made of the crates that Cargo.lock takes from a registry depends on nothing in a clone. A clone whose target folder is not there yet gets that from
sinew-checks in the user's cache folder. What is made of our own crates is in no such copy: cargo takes it for unchanged in another clone whose files are older.
"""

import contextlib
import hashlib
import pathlib
import shutil
import subprocess
import tempfile

import unchanged

OURS = "sinew"
# Of a folder that cargo builds in: what it knows of each crate, what the crate's build script did, and what was compiled.
PARTS = (".fingerprint", "build", "deps")


def cache():
    return unchanged.cache() / "crates"


def of_others(folder, part):
    """What is in a part of a folder that cargo builds in, without what is made of our own crates."""
    for path in (folder / part).glob("*"):
        # Programs, of which there are only ours, have no suffix in deps/.
        if not path.name.removeprefix("lib").startswith(OURS) and (part != "deps" or path.suffix in (".rlib", ".rmeta", ".so", ".d")):
            yield path


def built_in(target):
    """The folders that cargo builds in: one for each profile, and each target that was named."""
    return [folder.parent for folder in target.glob("**/.fingerprint") if "build" not in folder.relative_to(target).parts]


def known(target):
    """The crates of others that are there, each as often as it was compiled in another way. None where another one that builds takes them away meanwhile."""
    with contextlib.suppress(OSError):
        return {str(path.relative_to(target)) for folder in built_in(target) for path in of_others(folder, ".fingerprint")}
    return set()


def copy(source, destination):
    for folder in built_in(source):
        for part in PARTS:
            into = destination / folder.relative_to(source) / part
            into.mkdir(parents=True)
            # With their times, by which cargo sees that nothing has changed.
            for path in of_others(folder, part):
                shutil.copytree(path, into / path.name, symlinks=True) if path.is_dir() else shutil.copy2(path, into / path.name)


def replace(source, destination):
    """Makes `destination` a copy of `source`: at once, also for others who look. Where that cannot be done it says why, and it takes longer."""
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=destination.parent) as folder:
            made = pathlib.Path(folder, "made")
            copy(source, made)
            if destination.exists():
                destination.rename(pathlib.Path(folder, "old"))
            made.rename(destination)
    except (OSError, shutil.Error) as why:
        print(f"crates.py: {destination} is not a copy of {source}: {why}", flush=True)


@contextlib.contextmanager
def shared(environment, workspace):
    """While cargo builds in a workspace, with this environment."""
    target = pathlib.Path(environment["CARGO_TARGET_DIR"])
    compiler = subprocess.run(["rustc", "-vV"], capture_output=True, check=True).stdout
    key = hashlib.sha256(compiler + (workspace / "Cargo.lock").read_bytes() + environment.get("RUSTFLAGS", "").encode()).hexdigest()[:16]
    kept = cache() / f"{target.name}-{key}"
    if kept.exists() and not target.exists():
        replace(kept, target)
    yield
    if target.exists() and not known(target) <= known(kept):
        for old in cache().glob(f"{target.name}-*"):
            shutil.rmtree(old, ignore_errors=True)
        replace(target, kept)
