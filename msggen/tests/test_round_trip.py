"""What msggen generates carries any message: structs are compiled, and messages that rosbags encoded are read into them and written again, to the same bytes.

Three sets of definitions have a program each, since packages of ROS 1 and ROS 2 have the same names: those of this repository, those that ROS 2 has beside and instead of them,
and those of ROS 1 in Debian's packages. Of the latter `time` and `duration` are builtin_interfaces/Time and Duration, and `Header` is std_msgs/Header, in rosbags as in msggen.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import others

from sinew_msggen import cpp, definition, resolve, signature

BUILD = others.ROOT / "build-msggen"
SOURCES = pathlib.Path(__file__).resolve().parent / "round_trip"
CONSTRUCTS = others.ROOT / "tests" / "coverage" / "definitions" / "sinew"
# For what some definitions of ROS 2 refer to, and is in none of its repositories that are here.
STAND_INS = CONSTRUCTS.parent / "stand_ins"
SECONDS = 1200
SEPARATOR = re.compile(r"^\s*-{3,}\s*(?:#.*)?$", re.MULTILINE)


def files_of_ros_1():
    """Of all packages of Debian with definitions that are installed."""
    if not shutil.which("dpkg-query"):
        raise unittest.SkipTest("there are no packages of Debian here, whose definitions are those of ROS 1")
    installed = subprocess.run(["dpkg-query", "--show", "--showformat", "${Package}\n", "ros-*"], capture_output=True, text=True, check=False).stdout.split()
    listed = subprocess.run(["dpkg-query", "--listfiles", *installed], capture_output=True, text=True, check=True).stdout.split("\n") if installed else []
    files = [pathlib.Path(file) for file in listed if re.fullmatch(r".*/(msg|srv|action)/\w+\.\1", file)]
    if not files:
        raise unittest.SkipTest("the packages ros-*-msgs are not installed, whose definitions are those of ROS 1: tools/setup test")
    return files


class Set:
    """Some definitions, and what is made of them."""

    def __init__(self, name, definitions, names):
        self.name = name
        self.definitions = definitions
        self.interfaces = definitions.in_order(names)
        self.structures = {structure.name: structure for interface in self.interfaces for structure in interface.structures}
        self.wide = {name for name in self.structures if self.is_wide(name)}

    def is_wide(self, name):
        """Whether there is a wstring in it: sinew has no text but std::string."""
        types = [field.type for field in self.structures[name].fields]
        return any(type.base == "wstring" if type.is_primitive else self.is_wide(type.name) for type in types)

    def generate(self):
        """Headers, and a source for each package, in the folder that CMake looks at; what is there and no longer made goes."""
        folder = BUILD / "generated" / self.name
        cpp.write(folder, self.interfaces)
        packages = {}
        for interface in self.interfaces:
            packages.setdefault(interface.package, []).append(interface)
        for package, interfaces in packages.items():
            cpp.write_file(folder / f"{package}.cpp", self.source(interfaces))
        made = {folder / cpp.file_of(interface.name) for interface in self.interfaces} | {folder / f"{package}.cpp" for package in packages}
        for file in [*folder.rglob("*.hpp"), *folder.glob("*.cpp")]:
            if file not in made:
                file.unlink()

    def source(self, interfaces):
        includes = "".join(f'#include "{cpp.file_of(interface.name)}"\n' for interface in interfaces)
        types = [structure.name for interface in interfaces for structure in interface.structures if structure.name not in self.wide]
        listed = ", ".join("::" + name.replace("/", "::") for name in types)
        return f'#include "listed.hpp"\n{includes}\nnamespace {{\nconst sinew::round_trip::Listed<{listed}> listed;\n}}  // namespace\n'

    def texts(self):
        """The text of each structure that can be sent, as its file has it."""
        texts = {}
        for interface in self.interfaces:
            parts = SEPARATOR.split(pathlib.Path(interface.path).read_text(encoding="utf-8"))
            texts.update({structure.name: part for structure, part in zip(interface.structures, parts) if structure.name not in self.wide})
        return texts


class RoundTrips(unittest.TestCase):
    maxDiff = 2000

    def test_of_our_definitions(self):
        # With those of tests/coverage, in which there is everything that a definition may have; one refers to what is nowhere.
        names = {*others.definitions_in(others.DEFINITIONS), *others.definitions_in(CONSTRUCTS)} - {"coverage_msgs/msg/Unknown"}
        wide = {"example_interfaces/msg/WString", "coverage_msgs/msg/Wide", "coverage_msgs/msg/WideInside"}
        self.try_set(Set("ours", resolve.Definitions([CONSTRUCTS]), sorted(names)), wide)

    def test_of_definitions_of_ros_2(self):
        folders = others.folders_of_ros_2()
        names = {name for folder in folders for name in others.definitions_in(folder)}
        self.try_set(Set("ros_2", resolve.Definitions([*folders, STAND_INS]), sorted(names)), set())

    def test_of_definitions_of_ros_1(self):
        definitions = resolve.Definitions(dialect=definition.Dialect.ROS1)
        self.try_set(Set("ros_1", definitions, [definitions.add(file) for file in files_of_ros_1()]), set(), bytes_are="int8")

    def try_set(self, tried, wide, bytes_are="uint8"):
        self.assertEqual(tried.wide, wide)
        tried.generate()
        program = self.build(tried.name)
        texts = tried.texts()
        with tempfile.TemporaryDirectory() as folder:
            streams, expected, results = (pathlib.Path(folder, name) for name in ("streams", "expected", "results"))
            signatures = others.ask("encode", structures=texts, bytes_are=bytes_are, streams=str(streams), expected=str(expected))
            ran = subprocess.run([program, streams, results], capture_output=True, text=True, timeout=SECONDS, check=False)
            self.assertEqual(ran.stderr, "")
            self.assertEqual(ran.returncode, 0)
            self.assertFalse(self.first_difference(streams, expected, results))
        listed = subprocess.run([program], capture_output=True, text=True, timeout=SECONDS, check=True).stdout.splitlines()
        compiled = dict(line.split() for line in listed)
        self.assertEqual(sorted(compiled), sorted(texts))
        for name in texts:
            self.assertEqual(compiled[name], signatures[name])
            self.assertEqual(signature.signature(name, tried.definitions), signatures[name])
        print(f"{tried.name}: {len(tried.interfaces)} definitions, {len(texts)} structures, the same bytes")

    @staticmethod
    def build(name):
        """The program of a set. `nice`, for whoever works beside it."""
        folder = BUILD / "round_trip"
        # Not optimized: they run for a second and take minutes to compile.
        configure = ["cmake", "--log-level=WARNING", "-G", "Ninja", "-S", SOURCES, "-B", folder, "-DCMAKE_BUILD_TYPE=Plain", f"-DGENERATED={BUILD / 'generated'}"]
        for command in configure, ["nice", "cmake", "--build", folder, "--parallel", os.environ.get("JOBS") or str(os.cpu_count()), "--target", name]:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
            if ran.returncode != 0:
                raise AssertionError(ran.stdout)
        return folder / "bin" / name

    @staticmethod
    def first_difference(streams, expected, results):
        """The type of the first message that came back otherwise, with the bytes of both; nothing when there is none."""
        asked, wanted, came = (list(records(file.read_bytes())) for file in (streams, expected, results))
        if len(came) != len(wanted):
            return f"{len(came)} instead of {len(wanted)}"
        for name, one, other in zip(asked[::2], wanted, came):
            if one != other:
                return f"{name.decode()}: {one.hex()} became {other.hex()}"
        return ""


def records(content):
    at = 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 4], "little")
        yield content[at + 4 : at + 4 + size]
        at += 4 + size


if __name__ == "__main__":
    unittest.main()
