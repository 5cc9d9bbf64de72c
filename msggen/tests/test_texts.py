"""Schemas and signatures are what ROS tools and sinew expect."""

import unittest

from reading import Case, read

from sinew_msggen.resolve import Definitions
from sinew_msggen.schema import schema, text_of
from sinew_msggen.signature import signature

LINE = "=" * 80


class Schemas(Case):
    def test_have_the_definition_and_behind_it_each_message_in_it_once(self):
        folder = self.folder_with({"p/msg/A.msg": "# A.\nB b  # it\nstd_msgs/Header header\nuint8 X=1\nuint8[<=3] x [1]\nB[] more", "p/msg/B.msg": "time t"})
        self.assertEqual(
            schema("p/msg/A", Definitions([folder])),
            f"p/B b\nstd_msgs/Header header\nuint8 X=1\nuint8[<=3] x [1]\np/B[] more\n{LINE}\nMSG: p/B\nbuiltin_interfaces/Time t\n"
            f"{LINE}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n{LINE}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n",
        )

    def test_of_services_are_those_of_their_parts(self):
        self.assertEqual(schema("std_srvs/srv/SetBool_Response", Definitions()), "bool success\nstring message\n")

    def test_read_again_say_the_same(self):
        text = """string A="a # \\"b\\" \\\\ \\n \\x07 \\u200b \u00e4"\nfloat32 B=-1e-7\nfloat64 C=inf\nint64 D=-0x10\nbool E=1\nstring<=5[<=2] x ["a,", "'"]\nbyte[2] y [1, 2]\nbool z false\nchar[] w\nwstring<=3 v"""
        once = read(text).structures[0]
        again = read(text_of(once)).structures[0]
        self.assertEqual([(str(m.type), m.name, getattr(m, "value", None), getattr(m, "default", None)) for m in again.members], [(str(m.type), m.name, getattr(m, "value", None), getattr(m, "default", None)) for m in once.members])
        self.assertEqual(once.constants[0].value, 'a # "b" \\ \n \a \u200b \u00e4')

    def test_have_each_message_once_also_where_it_is_in_2_to_the_50_places(self):
        doubling = {f"p/msg/A{number}.msg": f"A{number + 1}[] a\nA{number + 1}[] b" for number in range(50)} | {"p/msg/A50.msg": ""}
        self.assertEqual(schema("p/msg/A0", Definitions([self.folder_with(doubling)])).count("MSG:"), 50)

    def test_of_ros_1_are_in_words_of_ros_2(self):
        folder = self.folder_with({"p/msg/A.msg": "Header header\nbyte x\ntime t\nstring S= \"a\" # b", "p/package.xml": "<package><buildtool_depend>catkin</buildtool_depend></package>"})
        self.assertEqual(schema("p/msg/A", Definitions([folder])).partition(LINE)[0], 'std_msgs/Header header\nint8 x\nbuiltin_interfaces/Time t\nstring S="\\"a\\" # b"\n')


class Signatures(Case):
    def test_are_as_sinew_makes_them_of_the_struct(self):
        self.assertEqual(
            signature("std_msgs/msg/Header", Definitions()), "std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;}"
        )

    def test_have_arrays_of_all_kinds_bytes_and_chars_as_numbers_and_no_constants(self):
        folder = self.folder_with({"p/srv/S.srv": "byte a\nchar[] b\nbool[3] c\nstring<=5[<=3] d\nuint8 X=1\nE[] e\n---", "p/msg/E.msg": ""})
        empty = "structure_needs_at_least_one_member:uint8;"
        self.assertEqual(signature("p/srv/S_Request", Definitions([folder])), f"p/srv/S_Request{{a:uint8;b:uint8[];c:bool[3];d:string[];e:p/msg/E{{{empty}}}[];}}")
        self.assertEqual(signature("p/srv/S_Response", Definitions([folder])), f"p/srv/S_Response{{{empty}}}")

    def assert_refused(self, files, expected):
        folder = self.folder_with(files)
        self.assert_refuses(lambda: signature("p/msg/A", Definitions([folder])), expected.replace("FOLDER", str(folder)))

    def test_are_refused_where_there_is_a_wide_string(self):
        self.assert_refused(
            {"p/msg/A.msg": "B b", "p/msg/B.msg": "wstring[] text"},
            """
            FOLDER/p/msg/B.msg:1:1: sinew has no `wstring`: make it a `string`, which holds any text as UTF-8.
                wstring[] text
                ^~~~~~~~~
            """,
        )

    def test_are_refused_where_there_are_more_than_128_fields(self):
        self.assertIn(";f127:", signature("p/msg/A", Definitions([self.folder_with({"p/msg/A.msg": "".join(f"uint8 f{number}\n" for number in range(128))})])))
        self.assert_refused(
            {"p/msg/A.msg": "".join(f"uint8 f{number}\n" for number in range(129))},
            """
            FOLDER/p/msg/A.msg:129:7: `p/msg/A` has 129 fields, and a message of sinew at most 128: put some into a message of their own.
                uint8 f128
                      ^~~~
            """,
        )

    def test_are_refused_where_they_are_too_long_and_at_once(self):
        doubling = {f"p/msg/A{number}.msg": f"A{number + 1}[] a\nA{number + 1}[] b" for number in range(50)} | {"p/msg/A50.msg": "", "p/msg/A.msg": "A0 a"}
        folder = self.folder_with(doubling)
        with self.assertRaisesRegex(Exception, r"A\d+\.msg:\d:1: the signature of `p/msg/A\d+` has more than 32768 bytes, as many as one of sinew may have"):
            signature("p/msg/A", Definitions([folder]))

    def test_are_refused_where_structures_and_arrays_are_too_deep(self):
        def chain(length):
            return {"p/msg/A.msg": "A1[] a"} | {f"p/msg/A{number}.msg": f"A{number + 1}[] a" for number in range(1, length)} | {f"p/msg/A{length}.msg": "uint8 x"}

        # A structure and an array each, but for the last, which is a structure; and the number in it.
        self.assertTrue(signature("p/msg/A", Definitions([self.folder_with(chain(31))])))
        with self.assertRaisesRegex(Exception, "A.msg:1:1: `p/msg/A` is more than 64 structures and arrays deep, as deep as a message of sinew may be."):
            signature("p/msg/A", Definitions([self.folder_with(chain(32))]))


if __name__ == "__main__":
    unittest.main()
