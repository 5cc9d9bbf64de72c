"""What definitions of ROS 2 and ROS 1 mean."""

import math
import unittest

from reading import Case, constants, fields, read

from sinew_msggen import parse
from sinew_msggen.definition import PRIMITIVES, Array, Dialect


class Fields(Case):
    def test_have_the_primitive_types_of_ros_2(self):
        text = "".join(f"{base} x{number}\n" for number, base in enumerate(PRIMITIVES))
        self.assertEqual(fields(text), [(base, f"x{number}", None) for number, base in enumerate(PRIMITIVES)])

    def test_are_single_or_arrays_of_a_fixed_a_bounded_or_any_size(self):
        types = [field.type for field in read("uint8 a\nuint8[3] b\nuint8[<=4] c\nuint8[] d").structures[0].fields]
        self.assertEqual([(type.array, type.size) for type in types], [(Array.NONE, 0), (Array.FIXED, 3), (Array.BOUNDED, 4), (Array.UNBOUNDED, 0)])

    def test_may_be_arrays_of_bounded_strings(self):
        [field] = read("string<=5[<=3] x").structures[0].fields
        self.assertEqual((field.type.base, field.type.characters, field.type.array, field.type.size), ("string", 5, Array.BOUNDED, 3))
        self.assertEqual(fields("wstring<=7[2] x")[0][0], "wstring<=7[2]")

    def test_are_of_messages_of_the_same_package_or_of_another(self):
        [own, other] = read("Part a\nstd_msgs/Header[] b").structures[0].fields
        self.assertEqual((own.type.name, other.type.name), ("my_msgs/msg/Part", "std_msgs/msg/Header"))

    def test_of_time_and_duration_are_those_of_builtin_interfaces(self):
        for dialect in Dialect:
            self.assertEqual([type for type, *_ in fields("time a\nduration[] b", dialect)], ["builtin_interfaces/Time", "builtin_interfaces/Duration[]"])

    def test_have_defaults(self):
        self.assertEqual([default for *_, default in fields("bool a true\nint8 b -5\nfloat32 c 1e-3\nstring d abc\nchar e 65")], [True, -5, 0.001, "abc", 65])

    def test_that_are_arrays_have_defaults_in_brackets(self):
        self.assertEqual(fields("int32[] x [1, -2,3 ]")[0][2], (1, -2, 3))
        self.assertEqual(fields("bool[2] x [true, 0]")[0][2], (True, False))
        self.assertEqual(fields("float64[] x []")[0][2], ())

    def test_that_are_arrays_of_strings_have_quoted_elements_with_commas_brackets_and_hashes(self):
        self.assertEqual(fields("""string[] x ["a, b", 'c]', "d#", "e\\"#", f]  # and so on""")[0][2], ("a, b", "c]", "d#", 'e"#', "f"))

    def test_stand_between_whatever_blanks_and_ends_of_lines(self):
        expected = [("uint8", "a", None), ("uint8[]", "b", (1,)), ("uint8", "c", None)]
        for end in "\n", "\r\n", "\r":
            self.assertEqual(fields(f"uint8 a{end}\tuint8[]\t b \t[1]\t# {end}   {end}uint8 c"), expected)

    def test_begin_behind_a_byte_order_mark(self):
        folder = self.folder_with({"Some.msg": b"\xef\xbb\xbfuint8 a\n"})
        self.assertEqual(parse.read(folder / "Some.msg", "my_msgs").structures[0].fields[0].name, "a")


class Values(Case):
    def test_of_integers_are_decimal_hexadecimal_octal_or_binary(self):
        text = "uint8 A=0xFF\nint16 B = -0x10\nint32 C=010\nuint8 D=0b101\nuint16 E=0o17\nint8 F=+7"
        self.assertEqual(constants(text), {"A": 255, "B": -16, "C": 10, "D": 5, "E": 15, "F": 7})

    def test_of_integers_reach_their_limits(self):
        text = "int64 A=-9223372036854775808\nuint64 B=18446744073709551615\nint8 C=-128\nbyte D=255"
        self.assertEqual(list(constants(text).values()), [-(2**63), 2**64 - 1, -128, 255])

    def test_of_floats_are_numbers_infinite_or_none(self):
        found = constants("float64 A=.5\nfloat32 B=-1E+3\nfloat64 C=7\nfloat64 D=-inf\nfloat32 E=nan")
        self.assertEqual([found[name] for name in "ABCD"], [0.5, -1000.0, 7.0, -math.inf])
        self.assertTrue(math.isnan(found["E"]))

    def test_of_bool_are_words_or_digits(self):
        self.assertEqual(list(constants("bool A=true\nbool B=False\nbool C=1\nbool D=0").values()), [True, False, True, False])

    def test_of_strings_are_quoted_once_or_twice_or_not_at_all(self):
        self.assertEqual(list(constants("""string A="a b"\nstring B='it is "so"'\nstring C=  bare words  \nstring D="it is \\"so\\"" """).values()), ["a b", 'it is "so"', "bare words", 'it is "so"'])

    def test_of_strings_go_on_behind_a_hash_in_quotes_and_end_there_without(self):
        self.assertEqual(constants("""string A="a # b" # c\nstring B='#'\nstring C=a # b""" + "\nstring D=\"a # b"), {"A": "a # b", "B": "#", "C": "a", "D": '"a'})
        self.assertEqual(fields("""string x "a#b"  # c""")[0][2], "a#b")

    def test_of_strings_have_the_escapes_of_ros_2(self):
        self.assertEqual(constants(r"""string A="\t\x41\u00e4\101\\n\q" """), {"A": "\tA\u00e4A\\n\\q"})

    def test_of_strings_keep_an_equals_sign(self):
        self.assertEqual(constants("string A=b=c"), {"A": "b=c"})
        self.assertEqual(fields('string x "b=c"')[0][2], "b=c")


class Ros1(Case):
    def test_has_string_constants_that_are_all_of_the_rest_of_the_line(self):
        self.assertEqual(constants("string A= \"x\" # y\\n\t 'z'  \nstring B=", Dialect.ROS1), {"A": "\"x\" # y\\n\t 'z'", "B": ""})

    def test_has_signed_bytes_and_unsigned_chars(self):
        self.assertEqual([type for type, *_ in fields("byte a\nchar b\nbyte[] c", Dialect.ROS1)], ["int8", "char", "int8[]"])
        self.assertEqual(constants("byte A=-1\nchar B=255", Dialect.ROS1), {"A": -1, "B": 255})

    def test_has_the_header_of_std_msgs_without_its_package(self):
        self.assertEqual(fields("Header header", Dialect.ROS1), [("std_msgs/Header", "header", None)])
        self.assertEqual(fields("Header[] more\nHeader[2] two", Dialect.ROS1), [("my_msgs/Header[]", "more", None), ("my_msgs/Header[2]", "two", None)])
        self.assertEqual(fields("Header header"), [("my_msgs/Header", "header", None)])

    def test_has_whatever_names(self):
        text = "int32 numSamples\nint32 x_\nint32 a__b\nuint8 lower=3\nother/my_type t"
        self.assertEqual([name for _, name, _ in fields(text, Dialect.ROS1)], ["numSamples", "x_", "a__b", "t"])
        self.assertEqual(read("", dialect=Dialect.ROS1, base="my_type", package="MyPackage").name, "MyPackage/msg/my_type")

    def test_separates_parts_by_three_or_more_dashes(self):
        self.assertEqual([len(part.fields) for part in read("int8 a\n----- # result\nint8 b\nint8 c", "srv", Dialect.ROS1).structures], [1, 2])


class Parts(Case):
    def test_of_services_are_a_request_and_a_response(self):
        interface = read("int64 a\nint64 b\n---\nint64 sum", "srv", base="AddTwoInts")
        self.assertEqual(interface.name, "my_msgs/srv/AddTwoInts")
        self.assertEqual([(part.name, [field.name for field in part.fields]) for part in interface.structures], [("my_msgs/srv/AddTwoInts_Request", ["a", "b"]), ("my_msgs/srv/AddTwoInts_Response", ["sum"])])

    def test_of_actions_are_goal_result_and_feedback(self):
        interface = read("int32 order\n---\nint32[] sequence\n--- \r\nint32[] partial", "action", base="Fibonacci")
        self.assertEqual([part.base for part in interface.structures], ["Fibonacci_Goal", "Fibonacci_Result", "Fibonacci_Feedback"])

    def test_may_be_empty(self):
        self.assertEqual([part.members for part in read("---", "srv").structures], [(), ()])

    def test_may_have_the_same_names(self):
        self.assertEqual([part.fields[0].name for part in read("int8 x\n---\nint16 x", "srv").structures], ["x", "x"])

    def test_name_what_they_need_once(self):
        self.assertEqual(read("A a\nb_msgs/B b\n---\nA[] c", "srv").needs, ["my_msgs/msg/A", "b_msgs/msg/B"])


class Comments(Case):
    TEXT = """\
# What this is,
#   in two lines.

# A section.
#
# It goes on.

# Above.
uint8 a  # Behind,
         # and below.
# Above b.
uint8 B=1 ## hashes
uint8 c
# At the end."""

    def test_stand_where_they_belong(self):
        structure = read(self.TEXT).structures[0]
        self.assertEqual(structure.above, (" What this is,", "   in two lines."))
        self.assertEqual(structure.below, ((" At the end.",),))
        a, b, c = structure.members
        self.assertEqual((a.sections, a.above, a.behind), (((" A section.", "", " It goes on."),), (" Above.",), (" Behind,", " and below.")))
        self.assertEqual((b.sections, b.above, b.behind), ((), (" Above b.",), (" hashes",)))
        self.assertEqual((c.sections, c.above, c.behind), ((), (), ()))

    def test_that_touch_the_first_field_are_about_the_whole_as_in_ros_2(self):
        structure = read("# About all.\nuint8 a").structures[0]
        self.assertEqual((structure.above, structure.members[0].above), ((" About all.",), ()))

    def test_of_each_part_are_its_own(self):
        request, response = read("# Request.\nuint8 a\n---\n# Response.\nuint8 b", "srv").structures
        self.assertEqual((request.above, response.above), ((" Request.",), (" Response.",)))


if __name__ == "__main__":
    unittest.main()
