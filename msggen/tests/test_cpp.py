"""Headers are plain structs, named and typed as those of ROS 2, that every compiler takes without a warning."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from reading import MSGGEN, ROOT, Case, read

from sinew_msggen import cpp
from sinew_msggen.definition import Dialect
from sinew_msggen.resolve import Definitions

COMPILERS = ["g++", "clang++-16", "clang++-19"]
# GNU's dialect, too: its macros are fewer in the other.
FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion", "-fsyntax-only"]
OWN = ROOT / "tests/coverage/definitions"


def header(text, **how):
    return cpp.header(read(text, **how))


def body(text, **how):
    """The lines of the struct."""
    return header(text, **how).split("struct Some {\n")[1].split("\n};")[0].splitlines()


class Headers(Case):
    def test_are_as_a_person_would_write_them(self):
        text = """\
# A track.
# It goes on.

std_msgs/Header header
# Section.

# How fast it is.
float32[<=3] speed [0.5, 1]  # in m/s,
                             # by axis
uint8 NONE=0  # nothing
string<=8 label "none"
Part[2] parts"""
        self.assertEqual(
            header(text, base="TrackList2D"),
            """\
// Made by sinew-msggen of my_msgs/msg/TrackList2D.msg.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "my_msgs/msg/part.hpp"
#include "std_msgs/msg/header.hpp"

namespace my_msgs::msg {

/// A track.
/// It goes on.
struct TrackList2D {
  std_msgs::msg::Header header{};

  // Section.

  /// How fast it is.
  std::vector<float> speed{0.5F, 1.0F};  ///< at most 3 elements
                                         ///< in m/s,
                                         ///< by axis
  static constexpr std::uint8_t NONE = 0;  ///< nothing
  std::string label{"none"};  ///< at most 8 bytes
  std::array<my_msgs::msg::Part, 2> parts{};
};

}  // namespace my_msgs::msg
""",
        )

    def test_are_called_as_those_of_ros_2(self):
        names = {"PointCloud2": "point_cloud2", "TFMessage": "tf_message", "ColorRGBA": "color_rgba", "UInt8MultiArray": "u_int8_multi_array", "BoundingBox3D": "bounding_box3_d", "Empty": "empty", "NavSatFix": "nav_sat_fix", "UUID": "uuid", "MultiDOFJointState": "multi_dof_joint_state"}
        self.assertEqual({name: cpp.file_of(f"my_msgs/msg/{name}") for name in names}, {name: f"my_msgs/msg/{file}.hpp" for name, file in names.items()})

    def test_have_the_types_of_ros_2(self):
        text = "bool a\nbyte b\nchar c\nint8 d\nuint64 e\nfloat32 f\nfloat64 g\nstring h\nwstring i\nbool[] j\nstring<=3[<=2] k\nuint8[4] l\nduration m"
        self.assertEqual([line.split("{")[0].strip() for line in body(text)], [
            "bool a", "std::uint8_t b", "std::uint8_t c", "std::int8_t d", "std::uint64_t e", "float f", "double g", "std::string h", "std::u16string i", "std::vector<bool> j",
            "std::vector<std::string> k", "std::array<std::uint8_t, 4> l", "builtin_interfaces::msg::Duration m"])  # fmt: skip

    def test_have_signed_bytes_of_ros_1(self):
        self.assertEqual(body("byte OK=-1\nbyte a\nchar b", dialect=Dialect.ROS1), ["  static constexpr std::int8_t OK = -1;", "  std::int8_t a{};", "  std::uint8_t b{};"])

    def test_have_a_field_where_the_definition_has_none_as_in_ros_2(self):
        self.assertIn("  std::uint8_t structure_needs_at_least_one_member{};", "\n".join(body("uint8 X=1")))

    def test_of_services_and_actions_have_their_parts_and_a_struct_that_names_them(self):
        self.assertTrue(
            header("int64 a\n---\nint64 sum", kind="srv", base="AddTwoInts").endswith(
                """
struct AddTwoInts_Request {
  std::int64_t a{};
};

struct AddTwoInts_Response {
  std::int64_t sum{};
};

/// A service, by the names of its messages.
struct AddTwoInts {
  using Request = AddTwoInts_Request;
  using Response = AddTwoInts_Response;
};

}  // namespace my_msgs::srv
"""
            )
        )
        self.assertIn("struct Go {\n  using Goal = Go_Goal;\n  using Result = Go_Result;\n  using Feedback = Go_Feedback;\n};\n", header("---\n---", kind="action", base="Go"))

    def test_write_values_that_cpp_has_no_literal_for(self):
        text = "int64 A=-9223372036854775808\nuint64 B=18446744073709551615\nfloat32 C=nan\nfloat64 D=-inf\nfloat32 E=1e-60\nfloat64 F=2\nstring G=\"??/\\\\ \\n\\x01\\u200b\"\nwstring H=\"\u00e4\\u200b\""
        self.assertEqual([line.split(" = ")[1] for line in body(text)[:8]], [
            "-9223372036854775807 - 1;", "18446744073709551615U;", "std::numeric_limits<float>::quiet_NaN();", "-std::numeric_limits<double>::infinity();", "0.0F;", "2.0;",
            '"?\\?/\\\\ \\n\\001\\342\\200\\213";', 'u"\u00e4\\U0000200b";'])  # fmt: skip

    def test_do_not_let_a_comment_go_on_in_the_next_line(self):
        self.assertEqual(body("\n# a \\\nuint8 x # b ??/\n")[0], "  std::uint8_t x{};  ///< b ??/.")
        self.assertIn("/// a \\.\n", header("# a \\\n\nuint8 x"))


class Refused(Case):
    def test_are_words_and_macros_of_cpp_as_names(self):
        self.assert_refuses(
            lambda: header("uint8 NULL=1\nuint8 class\nfloat32 ok\nuint8[] requires"),
            """
            my_msgs/msg/Some.msg:1:7: `NULL` is a macro of C++, and cannot be a name there, neither here nor with ROS 2: rename it, as in `NULL_value`.
                uint8 NULL=1
                      ^~~~
            my_msgs/msg/Some.msg:2:7: `class` is a word of C++, and cannot be a name there, neither here nor with ROS 2: rename it, as in `class_value`.
                uint8 class
                      ^~~~~
            my_msgs/msg/Some.msg:4:9: `requires` is a word of C++, and cannot be a name there, neither here nor with ROS 2: rename it, as in `requires_value`.
                uint8[] requires
                        ^~~~~~~~
            """,
        )

    def test_are_all_macros_of_headers_that_ours_include(self):
        headers = "".join(f"#include <{each}>\n" for each in sorted(set(cpp.STANDARD.values())))
        told = subprocess.run(["g++", "-std=gnu++20", "-E", "-dM", "-x", "c++", "-"], input=headers, capture_output=True, text=True, timeout=60, check=True).stdout
        # Without parameters, by the names that constants may have; what is only itself is in nobody's way.
        macros = dict(re.findall(r"(?m)^#define ([A-Z](?:_?[A-Z0-9])*) (.*)$", told))
        self.assertIn("ENOENT", macros)
        self.assertEqual([name for name, text in macros.items() if text != name and not cpp.is_taken(name)], [])

    def test_are_no_names_that_are_but_like_macros_or_stand_for_themselves(self):
        lines = body("uint8 ERROR=1\nuint8 EMPTY=2\nuint8 ENABLED=3\nuint8 INT8=4\nstring stdout\nstring stderr")
        self.assertEqual(len(lines), 6)

    def test_are_services_and_actions_called_as_their_parts(self):
        for kind, text, bases in ("srv", "---", ["Request", "Response"]), ("action", "---\n---", ["Goal", "Result", "Feedback"]):
            for base in bases:
                self.assert_refuses(
                    lambda base=base, kind=kind, text=text: header(text, kind=kind, base=base),
                    f"my_msgs/{kind}/{base}.{kind}: `{base}` is also a part of itself, which C++ cannot call so, neither here nor with ROS 2: rename it.",
                )
        header("---", kind="srv", base="Goal")

    def test_are_members_called_as_the_struct(self):
        self.assert_refuses(
            lambda: header("uint8 Some", dialect=Dialect.ROS1),
            """
            my_msgs/msg/Some.msg:1:7: `Some` is the struct itself in C++, whose members have other names: rename it.
                uint8 Some
                      ^~~~
            """,
        )

    def test_are_packages_whose_namespaces_hide_others(self):
        self.assert_refuses(lambda: header("", package="std"), "my_msgs/msg/Some.msg: a package cannot be called `std` in C++, where this namespace is another one: rename it.")
        self.assert_refuses(lambda: header("", package="union"), "my_msgs/msg/Some.msg: `union` is a word of C++, and cannot be a name there, neither here nor with ROS 2: rename it, as in `union_value`.")

    def test_are_two_definitions_with_one_header(self):
        interfaces = [read("", base=base) for base in ("AB1", "Ab1")]
        self.assert_refuses(lambda: cpp.write("/nowhere", interfaces), "my_msgs/msg/Ab1.msg: has the same header as my_msgs/msg/AB1.msg, my_msgs/msg/ab1.hpp: rename one of them.")


class Written(Case):
    def test_are_headers_that_changed_alone(self):
        folder = self.folder_with({"p/msg/A.msg": "uint8 x", "p/msg/B.msg": "uint8 x"})
        definitions = Definitions([folder])
        names = ["p/msg/A", "p/msg/B"]
        self.assertEqual(cpp.write(folder / "out", definitions.in_order(names)), ["p/msg/a.hpp", "p/msg/b.hpp"])
        before = (folder / "out/p/msg/a.hpp").stat()
        (folder / "p/msg/B.msg").write_text("uint16 x")
        self.assertEqual(cpp.write(folder / "out", Definitions([folder]).in_order(names)), ["p/msg/b.hpp"])
        after = (folder / "out/p/msg/a.hpp").stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.assertEqual(sorted(path.name for path in (folder / "out/p/msg").iterdir()), ["a.hpp", "b.hpp"])


class Compiled(Case):
    """By all compilers that are promised, with all warnings as errors."""

    def compile(self, out, names, more="", flags=()):
        (out / "all.cpp").write_text("".join(f'#include "{cpp.file_of(name)}"\n' for name in names) + more)
        for compiler in COMPILERS:
            done = subprocess.run([compiler, *(flags or ["-std=c++20"]), *FLAGS, "-I", out, out / "all.cpp"], capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, f"{compiler}: {done.stderr[:4000]}")

    def generate(self, definitions, names):
        made = tempfile.TemporaryDirectory(prefix="msggen-")
        self.addCleanup(made.cleanup)
        cpp.write(made.name, definitions.in_order(names))
        return pathlib.Path(made.name)

    def test_are_all_standard_packages(self):
        definitions = Definitions()
        names = definitions.names()
        self.assertGreater(len(names), 150)
        self.compile(self.generate(definitions, names), names)

    def test_are_definitions_with_everything_that_definitions_have(self):
        definitions = Definitions([OWN / "stand_ins"])
        names = [name for name in definitions.add_folder(OWN / "sinew") if name != "coverage_msgs/msg/Unknown"]
        more = """
int main() {
  coverage_msgs::msg::Defaults defaults;
  coverage_msgs::srv::Ask::Request request{.question = "designated, without a warning for what is left out"};
  const auto three = coverage_msgs::msg::Comments{.spaced = 3};
  static_assert(coverage_msgs::msg::Constants::QUOTED == "two words" && coverage_msgs::msg::Constants::LEAST64 < 0);
  return defaults.numbers[1] + static_cast<int>(request.question.size()) + three.spaced;
}
"""
        self.compile(self.generate(definitions, names), names, more)

    def test_are_names_and_comments_that_look_like_something_else(self):
        text = """# */ \\
# ??/
\n# @param <b> \\file /* "
uint8 std  # ??/
std_msgs/Header std_msgs
geometry_msgs/Point[] geometry_msgs
geometry_msgs/Point[2] msg
string string "?" "x" # \\
string s "??(??/"
uint8 data 3
uint8[] size [1]
float32[2] vector [1e-50, 3.4e38]
wstring w "\u00e4\\n"
string[2] x ["{", "}"]
bool[2] array [true, false]
uint8 begin
int8 major
string A="\\""
"""
        text = text.replace('string string "?" "x" # \\', 'string string "?"')
        folder = self.folder_with({"my_msgs/msg/Odd.msg": text})
        definitions = Definitions()
        names = [definitions.add(folder / "my_msgs/msg/Odd.msg")]
        out = self.generate(definitions, names)
        self.compile(out, names)
        self.compile(out, names, flags=["-std=gnu++20"])

    def test_is_ros_1_with_its_names(self):
        folder = self.folder_with({"OldMsgs/msg/my_type.msg": "Header Header\ntime stamp_\nuint8 lower=3\nint32 numSamples\nstring Note= \"??/\" # \\\nmy_other[] my_other", "OldMsgs/msg/my_other.msg": ""})
        definitions = Definitions(dialect=Dialect.ROS1)
        names = definitions.add_folder(folder)
        self.compile(self.generate(definitions, names), names)


class Command(Case):
    def run_it(self, *arguments):
        return subprocess.run([MSGGEN, *arguments], capture_output=True, text=True, timeout=60, check=False)

    def test_writes_headers_of_files_and_folders_but_not_of_what_they_need(self):
        folder = self.folder_with({"a/p/msg/A.msg": "std_msgs/Header h\nq/B b", "i/q/msg/B.msg": "", "c/r/srv/C.srv": "---"})
        done = self.run_it("cpp", "-I", folder / "i", folder / "out", folder / "a/p/msg/A.msg", folder / "c")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(sorted(path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*.hpp")), ["p/msg/a.hpp", "r/srv/c.hpp"])

    def test_takes_lists_of_files(self):
        folder = self.folder_with({"p/msg/A.msg": "", "p/msg/B.msg": ""})
        (folder / "list").write_text("".join(f"{folder}/p/msg/{name}.msg\n" for name in "AB"))
        self.assertEqual(self.run_it("cpp", folder / "out", f"@{folder}/list").returncode, 0)
        self.assertEqual(len(list((folder / "out").rglob("*.hpp"))), 2)

    def test_says_what_is_wrong_on_standard_error_and_writes_nothing(self):
        folder = self.folder_with({"p/msg/A.msg": "", "p/msg/B.msg": "uint8 X"})
        done = self.run_it("cpp", folder / "out", folder, "nowhere.msg")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", "nowhere.msg: is no file that is there.\n"))
        done = self.run_it("cpp", folder / "out", folder)
        self.assertEqual((done.returncode, done.stderr.splitlines()[1:]), (1, ["    uint8 X", "          ^"]))
        self.assertFalse((folder / "out").exists())

    def test_says_where_a_struct_cannot_be_published(self):
        folder = self.folder_with({"p/msg/A.msg": "uint8 x\nwstring text"})
        done = self.run_it("cpp", folder / "out", folder)
        self.assertEqual((done.returncode, done.stderr.splitlines()), (0, [
            f"{folder}/p/msg/A.msg:2:1: note: sinew does not carry `wstring`, so this struct cannot be published: make it a `string`, which holds any text as UTF-8.",
            "    wstring text", "    ^~~~~~~"]))  # fmt: skip

    def test_prints_schemas_signatures_hashes_and_names(self):
        self.assertEqual(self.run_it("schema", "builtin_interfaces/msg/Time").stdout, "int32 sec\nuint32 nanosec\n")
        self.assertEqual(self.run_it("signature", "builtin_interfaces/msg/Time").stdout, "builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;}\n")
        self.assertRegex(self.run_it("hash", "builtin_interfaces/msg/Time").stdout, "^RIHS01_[0-9a-f]{64}\n$")
        self.assertIn("std_msgs/msg/Header\n", self.run_it("list").stdout)
        self.assertEqual(self.run_it("schema", "std_msgs/msg/Hedder").stderr, "there is no `std_msgs/msg/Hedder`; there is `std_msgs/msg/Header`.\n")

    def test_says_what_cannot_be_written(self):
        folder = self.folder_with({"p/msg/A.msg": "", "out": "a file"})
        done = self.run_it("cpp", folder / "out", folder / "p")
        self.assertEqual((done.returncode, done.stderr), (1, f"{folder}/out/p/msg/a.hpp: Not a directory\n"))

    def test_ends_quietly_when_nobody_reads(self):
        nobody, pipe = os.pipe()
        os.close(nobody)
        done = subprocess.run([MSGGEN, "list"], stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        os.close(pipe)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_writes_nothing_beside_itself(self):
        prefix = self.folder_with({})
        (prefix / "bin").mkdir()
        (prefix / "share/sinew").mkdir(parents=True)
        subprocess.run(["cp", "-r", ROOT / "msggen", prefix / "share/sinew"], check=True)
        subprocess.run(f"rm -rf {prefix}/share/sinew/msggen/sinew_msggen/__pycache__ {prefix}/share/sinew/msggen/tests; cp '{MSGGEN}' {prefix}/bin", shell=True, check=True)
        before = sorted(prefix.rglob("*"))
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run([prefix / "bin/sinew-msggen", "signature", "std_msgs/msg/String"], env=environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.stdout, done.stderr, sorted(prefix.rglob("*"))), ("std_msgs/msg/String{data:string;}\n", "", before))


if __name__ == "__main__":
    unittest.main()
