"""sinew_generate_messages() builds what is to be built, and nothing else."""

import subprocess
import unittest

from reading import ROOT, Case

PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
list(APPEND CMAKE_MODULE_PATH ${SINEW}/cmake)
include(SinewMessages)
add_subdirectory(${SINEW}/msggen msggen)
file(GLOB parts CONFIGURE_DEPENDS parts/msg/*.msg)
sinew_generate_messages(parts FILES ${parts} PACKAGE parts_msgs)
sinew_generate_messages(tracks FILES track_msgs/msg/Track.msg track_msgs/srv/Find.srv DEPENDENCIES parts)
foreach(program track find part)
  add_executable(${program} ${program}.cpp)
endforeach()
target_link_libraries(track PRIVATE tracks)
target_link_libraries(find PRIVATE tracks)
target_link_libraries(part PRIVATE parts)
"""
FILES = {
    "CMakeLists.txt": PROJECT,
    "parts/msg/Part.msg": "uint8 x\n",
    "track_msgs/msg/Track.msg": "std_msgs/Header header\nparts_msgs/Part[] parts\n",
    "track_msgs/srv/Find.srv": "string name\n---\nbool found\n",
    "track.cpp": '#include <track_msgs/msg/track.hpp>\nint main() { return static_cast<int>(track_msgs::msg::Track{}.parts.size()); }\n',
    "find.cpp": '#include <track_msgs/srv/find.hpp>\nint main() { return static_cast<int>(track_msgs::srv::Find::Request{}.name.size()); }\n',
    "part.cpp": '#include <parts_msgs/msg/part.hpp>\nint main() { return parts_msgs::msg::Part{}.x; }\n',
}
PROGRAMS = ("track", "find", "part")
SECONDS = 300


class Builds(Case):
    def start(self, generator):
        self.folder = self.folder_with(FILES)
        self.build_folder = self.folder / "build"
        self.run_cmake("-G", generator, "-S", self.folder, "-B", self.build_folder, f"-DSINEW={ROOT}")
        self.assertEqual(self.build(), {*PROGRAMS})

    def run_cmake(self, *arguments, fails=False):
        done = subprocess.run(["cmake", *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def build(self):
        """Builds all; returns which programs were compiled."""
        before = self.objects()
        self.run_cmake("--build", self.build_folder)
        after = self.objects()
        return {program for program in PROGRAMS if after[program] != before.get(program)}

    def objects(self):
        paths = {program: self.build_folder / f"CMakeFiles/{program}.dir/{program}.cpp.o" for program in PROGRAMS}
        return {program: path.stat().st_mtime_ns for program, path in paths.items() if path.exists()}

    def edit(self, file, text):
        """Writes a file, so that it is newer than all that was built: clocks of files move in steps."""
        path = self.folder / file
        newest = max(each.stat().st_mtime_ns for each in self.build_folder.rglob("*"))
        while not path.exists() or path.stat().st_mtime_ns <= newest:
            path.write_text(text)

    def has_header(self, header):
        return (self.build_folder / "sinew_messages" / header).exists()

    def assert_builds_what_is_to_be_built(self, generator):
        self.start(generator)
        self.assertEqual(self.build(), set(), "nothing was changed")
        self.edit("track_msgs/msg/Track.msg", FILES["track_msgs/msg/Track.msg"] + "uint8 later\n")
        self.assertEqual(self.build(), {"track"}, "a definition that one program includes was changed")
        self.edit("parts/msg/Part.msg", "uint8 x\nuint8 y\n")
        self.assertEqual(self.build(), {"track", "part"}, "a definition was changed that another contains")
        self.edit("parts/msg/Part.msg", "\n  uint8   x \nuint8 y\n")
        self.assertEqual(self.build(), set(), "a definition was changed, and not what it says")
        self.assertEqual(self.build(), set(), "nothing was changed again")
        self.edit("parts/msg/NewPart.msg", "Part part\n")
        self.assertEqual((self.build(), self.has_header("parts/parts_msgs/msg/new_part.hpp")), (set(), True), "a definition was added")
        (self.folder / "parts/msg/NewPart.msg").unlink()
        self.assertEqual((self.build(), self.has_header("parts/parts_msgs/msg/new_part.hpp")), (set(), False), "it was taken away")

    def test_by_ninja_compile_what_includes_a_definition_that_changed_and_nothing_else(self):
        self.assert_builds_what_is_to_be_built("Ninja")

    def test_by_make_compile_what_includes_a_definition_that_changed_and_nothing_else(self):
        self.assert_builds_what_is_to_be_built("Unix Makefiles")

    def test_fail_with_the_place_where_a_definition_is_wrong_until_it_is_right(self):
        self.start("Ninja")
        self.edit("track_msgs/msg/Track.msg", "parts_msgs/Prat part\n")
        said = self.run_cmake("--build", self.build_folder, fails=True)
        self.assertIn("track_msgs/msg/Track.msg:1:1: there is no `parts_msgs/Prat`; there is `parts_msgs/Part`.\n    parts_msgs/Prat part\n    ^~~~~~~~~~~~~~~\n", said)
        self.edit("track_msgs/msg/Track.msg", "parts_msgs/Part[] parts\n")
        self.assertEqual(self.build(), {"track"})

    def test_fail_with_the_places_that_need_a_definition_that_is_taken_away(self):
        self.start("Ninja")
        self.edit("parts/msg/NewPart.msg", "Part part\n")
        self.assertEqual(self.build(), set())
        (self.folder / "parts/msg/Part.msg").unlink()
        said = self.run_cmake("--build", self.build_folder, "--", "-k", "0", fails=True)
        self.assertIn("parts/msg/NewPart.msg:1:1: there is no `parts_msgs/Part`; there is `parts_msgs/NewPart`.\n", said)
        self.assertIn("track_msgs/msg/Track.msg:2:1: there is no `parts_msgs/Part`; there is `parts_msgs/NewPart`.\n", said)

    def test_are_not_begun_with_files_that_are_not_there_or_other_targets(self):
        for right, wrong, expected in (
            ("track_msgs/msg/Track.msg", "track_msgs/msg/Trick.msg", "no such file, or not PACKAGE/msg/Name.msg (or srv, or action)"),
            ("track_msgs/msg/Track.msg", "track.cpp", "no such file, or not PACKAGE/msg/Name.msg (or srv, or action)"),
            ("DEPENDENCIES parts", "DEPENDENCIES part", "of its DEPENDENCIES part was not made by this function"),
            ("FILES track_msgs/msg/Track.msg track_msgs/srv/Find.srv", "track_msgs/msg/Track.msg", "no files, or something else than these: track_msgs/msg/Track.msg"),
        ):
            folder = self.folder_with(FILES | {"CMakeLists.txt": PROJECT.replace(right, wrong).replace("sinew_generate_messages(tracks", "add_library(part INTERFACE)\nsinew_generate_messages(tracks")})
            said = self.run_cmake("-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DSINEW={ROOT}", fails=True)
            self.assertIn(expected, " ".join(said.split()))


if __name__ == "__main__":
    unittest.main()
