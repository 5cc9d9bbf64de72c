"""What is wrong with a definition is said with its place, a caret, and what to do: these are the texts, word for word.

Long because: each of them stands here as people see it.
"""

import pickle
import unittest

from reading import Case, read

from sinew_msggen import parse
from sinew_msggen.definition import Dialect
from sinew_msggen.errors import DefinitionError


class Types(Case):
    def test_a_type_that_is_not_there_but_much_like_another(self):
        self.assert_complains(
            "flot64 x",
            """
            my_msgs/msg/Some.msg:1:1: there is no type `flot64`; do you mean `float64`?
                flot64 x
                ^~~~~~
            """,
        )

    def test_what_is_no_type(self):
        self.assert_complains(
            "x: 3",
            """
            my_msgs/msg/Some.msg:1:2: no type is written like this: write `TYPE NAME`, as in `float64 x` or `std_msgs/Header header`.
                x: 3
                 ^
            """,
        )

    def test_a_type_without_a_name(self):
        self.assert_complains(
            "uint8  # count",
            """
            my_msgs/msg/Some.msg:1:1: a type without a name: write `TYPE NAME`.
                uint8  # count
                ^~~~~
            """,
        )

    def test_a_name_without_a_type(self):
        self.assert_complains(
            "= 4",
            """
            my_msgs/msg/Some.msg:1:1: a constant has a type and a name, as in `uint8 COUNT=3`.
                = 4
                ^
            """,
        )

    def test_a_bound_apart_from_its_string(self):
        self.assert_complains(
            "string <=5 text",
            """
            my_msgs/msg/Some.msg:1:8: no name of a field begins like this: the bound touches the type, as in `string<=5`.
                string <=5 text
                       ^~~
            """,
        )

    def test_a_size_apart_from_its_type(self):
        self.assert_complains(
            "uint8 [5] data",
            """
            my_msgs/msg/Some.msg:1:7: no name of a field begins like this: the bound touches the type, as in `uint8[5]`.
                uint8 [5] data
                      ^~~
            """,
        )

    def test_a_bound_of_what_is_no_string(self):
        self.assert_complains(
            "uint8<=5 x",
            """
            my_msgs/msg/Some.msg:1:6: only strings have a bound like this; for an array write `uint8[<=5]`.
                uint8<=5 x
                     ^~~
            """,
        )

    def test_a_bound_that_is_no_number(self):
        self.assert_complains(
            "string<=five x",
            """
            my_msgs/msg/Some.msg:1:7: a bound is a number behind `<=`, as in `string<=20` or `uint8[<=20]`.
                string<=five x
                      ^~~~~~
            """,
        )

    def test_arrays_of_arrays(self):
        self.assert_complains(
            "float64[3][3] m",
            """
            my_msgs/msg/Some.msg:1:11: there are no arrays of arrays: put the inner one into a message of its own.
                float64[3][3] m
                          ^~~
            """,
        )

    def test_a_size_that_is_no_number(self):
        self.assert_complains(
            "float64[N] m",
            """
            my_msgs/msg/Some.msg:1:8: the size of an array is a number, as in `[3]` or `[<=3]`; `[]` is one of any size.
                float64[N] m
                       ^~~
            """,
        )

    def test_a_negative_size(self):
        self.assert_complains(
            "float64[-1] m",
            """
            my_msgs/msg/Some.msg:1:8: the size of an array is a number, as in `[3]` or `[<=3]`; `[]` is one of any size.
                float64[-1] m
                       ^~~~
            """,
        )

    def test_an_array_of_nothing(self):
        self.assert_complains(
            "float64[0] m",
            """
            my_msgs/msg/Some.msg:1:9: `0` elements cannot be: there are 1 to 4294967295.
                float64[0] m
                        ^
            """,
        )

    def test_a_bound_without_a_number(self):
        self.assert_complains(
            "float64[<=] m",
            """
            my_msgs/msg/Some.msg:1:8: how many elements? Write `[<=10]`, or `[]` for any number.
                float64[<=] m
                       ^~~~
            """,
        )

    def test_arrays_of_more_than_cdr_can_count(self):
        self.assert_complains(
            "uint8[4294967296] data",
            """
            my_msgs/msg/Some.msg:1:7: `4294967296` elements cannot be: there are 1 to 4294967295.
                uint8[4294967296] data
                      ^~~~~~~~~~
            """,
        )

    def test_strings_of_more_than_cdr_can_count(self):
        self.assert_complains(
            "string<=4294967295 data",
            """
            my_msgs/msg/Some.msg:1:9: `4294967295` characters cannot be: there are 1 to 4294967294.
                string<=4294967295 data
                        ^~~~~~~~~~
            """,
        )

    def test_a_type_with_its_folder(self):
        self.assert_complains(
            "std_msgs/msg/Header header",
            """
            my_msgs/msg/Some.msg:1:13: a type has a package and a name: write `std_msgs/Header`.
                std_msgs/msg/Header header
                            ^~~~~~~
            """,
        )

class Names(Case):
    def test_a_type_that_is_not_in_camel_case(self):
        self.assert_complains(
            "std_msgs/header header",
            """
            my_msgs/msg/Some.msg:1:10: `header` is no name of a type in ROS 2: those are camel case, as in `LaserScan`. (Definitions of ROS 1 are read with --ros 1.)
                std_msgs/header header
                         ^~~~~~
            """,
        )

    def test_a_package_that_is_not_in_lower_case(self):
        self.assert_complains(
            "Std_msgs/Header header",
            """
            my_msgs/msg/Some.msg:1:1: `Std_msgs` is no name of a package in ROS 2: those are lower case, as in `my_msgs`. (Definitions of ROS 1 are read with --ros 1.)
                Std_msgs/Header header
                ^~~~~~~~
            """,
        )

    def test_a_field_that_is_not_in_lower_case(self):
        self.assert_complains(
            "uint8 frameId",
            """
            my_msgs/msg/Some.msg:1:7: `frameId` is no name of a field in ROS 2: those are lower case, as in `frame_id`. (Definitions of ROS 1 are read with --ros 1.)
                uint8 frameId
                      ^~~~~~~
            """,
        )

    def test_underscores_where_ros_2_has_none(self):
        self.assert_complains(
            "uint8 frame__id\nuint8 id_",
            """
            my_msgs/msg/Some.msg:1:7: `frame__id` is no name of a field in ROS 2: those are without a `_` at the end or beside another. (Definitions of ROS 1 are read with --ros 1.)
                uint8 frame__id
                      ^~~~~~~~~
            my_msgs/msg/Some.msg:2:7: `id_` is no name of a field in ROS 2: those are without a `_` at the end or beside another. (Definitions of ROS 1 are read with --ros 1.)
                uint8 id_
                      ^~~
            """,
        )

    def test_a_constant_that_is_not_in_upper_case(self):
        self.assert_complains(
            "uint8 Max=3",
            """
            my_msgs/msg/Some.msg:1:7: `Max` is no name of a constant in ROS 2: those are upper case, as in `MAX_SPEED`. (Definitions of ROS 1 are read with --ros 1.)
                uint8 Max=3
                      ^~~
            """,
        )

    def test_a_name_with_other_characters(self):
        self.assert_complains(
            "uint8 frame-id",
            """
            my_msgs/msg/Some.msg:1:12: no name of a field goes on like this: write letters, digits and `_`.
                uint8 frame-id
                           ^~~
            """,
        )

    def test_a_name_that_begins_with_a_digit(self):
        self.assert_complains(
            "uint8 2d",
            """
            my_msgs/msg/Some.msg:1:7: no name of a field begins like this: write letters, digits and `_`.
                uint8 2d
                      ^~
            """,
        )

    def test_a_name_that_is_there_already(self):
        self.assert_complains(
            "uint8 x\nfloat32 x",
            """
            my_msgs/msg/Some.msg:2:9: there is a field or constant `x` already, in line 1: choose another name.
                float32 x
                        ^
            """,
        )

    def test_a_constant_that_is_there_already(self):
        self.assert_complains(
            "uint8 X=1\nuint8 x\nuint8 X=2",
            """
            my_msgs/msg/Some.msg:3:7: there is a field or constant `X` already, in line 1: choose another name.
                uint8 X=2
                      ^
            """,
        )

    def test_a_file_with_a_wrong_name(self):
        self.assert_complains(
            "uint8 a",
            """
            my_msgs/msg/some_thing.msg: `some_thing` is no name of a type in ROS 2: those are camel case, as in `LaserScan`. (Definitions of ROS 1 are read with --ros 1.)
            """, base='some_thing',
        )

    def test_a_package_with_a_wrong_name(self):
        self.assert_complains(
            "uint8 a",
            """
            my_msgs/msg/Some.msg: `my-msgs` is no name of a package in ROS 2: those are lower case, as in `my_msgs`. (Definitions of ROS 1 are read with --ros 1.)
            """, package='my-msgs',
        )

    def test_names_that_ros_1_does_not_have_either(self):
        self.assert_complains(
            "uint8 a",
            """
            my_msgs/msg/2x.msg: `2x` is no name of a type: it begins with a letter, and has letters, digits and `_`.
            """, base='2x', dialect=Dialect.ROS1,
        )

    def test_a_name_that_no_file_could_have(self):
        name = "A" * 201
        with self.assertRaises(DefinitionError) as caught:
            read(f"{name} x")
        self.assertEqual(str(caught.exception).splitlines()[0], "my_msgs/msg/Some.msg:1:1: a name has at most 200 characters, and this 201: choose a shorter one.")


class Values(Case):
    def test_a_bool_that_is_none(self):
        self.assert_complains(
            "bool on yes",
            """
            my_msgs/msg/Some.msg:1:9: `yes` is no bool: write `true` or `false`.
                bool on yes
                        ^~~
            """,
        )

    def test_an_integer_that_is_none(self):
        self.assert_complains(
            "int32 COUNT=3.5",
            """
            my_msgs/msg/Some.msg:1:13: `3.5` is no integer: write it like `-5` or `0xff`.
                int32 COUNT=3.5
                            ^~~
            """,
        )

    def test_a_number_that_is_too_large(self):
        self.assert_complains(
            "uint8 COUNT=256",
            """
            my_msgs/msg/Some.msg:1:13: `256` does not fit into uint8, which goes from 0 to 255.
                uint8 COUNT=256
                            ^~~
            """,
        )

    def test_a_number_that_is_too_small(self):
        self.assert_complains(
            "byte x -1",
            """
            my_msgs/msg/Some.msg:1:8: `-1` does not fit into byte, which goes from 0 to 255.
                byte x -1
                       ^~
            """,
        )

    def test_a_float_that_is_none(self):
        self.assert_complains(
            "float32 x 1,5",
            """
            my_msgs/msg/Some.msg:1:11: `1,5` is no number: write it like `-0.5` or `1e-3`.
                float32 x 1,5
                          ^~~
            """,
        )

    def test_floats_that_are_too_large(self):
        self.assert_complains(
            "float32 x 1e39\nfloat64 y 1e400",
            """
            my_msgs/msg/Some.msg:1:11: `1e39` does not fit into float32, which goes up to 3.4e38.
                float32 x 1e39
                          ^~~~
            my_msgs/msg/Some.msg:2:11: `1e400` does not fit into float64, which goes up to 1.7e308.
                float64 y 1e400
                          ^~~~~
            """,
        )

    def test_a_string_beyond_its_bound(self):
        self.assert_complains(
            'string<=3 text "four"',
            """
            my_msgs/msg/Some.msg:1:16: the text has a length of 4, and `string<=3` has room for 3.
                string<=3 text "four"
                               ^~~~~~
            """,
        )

    def test_quotes_inside_of_quotes(self):
        self.assert_complains(
            'string text "a" b "c"',
            """
            my_msgs/msg/Some.msg:1:15: inside of quotes a quote is written `\\"`, and a backslash at the end `\\\\`.
                string text "a" b "c"
                              ^
            """,
        )

    def test_a_character_that_ends_strings(self):
        self.assert_complains(
            'string text "a\\x00b"',
            """
            my_msgs/msg/Some.msg:1:13: `\\x00` is no character that a string may have.
                string text "a\\x00b"
                            ^~~~~~~~
            """,
        )

    def test_a_constant_without_a_value(self):
        self.assert_complains(
            "int32 COUNT=  # none",
            """
            my_msgs/msg/Some.msg:1:15: a value of type `int32` is missing.
                int32 COUNT=  # none
                              ^
            """,
        )

    def test_a_constant_that_is_an_array(self):
        self.assert_complains(
            "int32[] X=[1]",
            """
            my_msgs/msg/Some.msg:1:1: `int32[]` is no type of a constant: those are single numbers, bools and strings without a bound.
                int32[] X=[1]
                ^~~~~~~
            """,
        )

    def test_a_constant_that_is_a_message(self):
        self.assert_complains(
            "std_msgs/Header X=1",
            """
            my_msgs/msg/Some.msg:1:1: `std_msgs/Header` is no type of a constant: those are single numbers, bools and strings without a bound.
                std_msgs/Header X=1
                ^~~~~~~~~~~~~~~
            """,
        )

    def test_a_default_of_a_message(self):
        self.assert_complains(
            "std_msgs/Header header 1",
            """
            my_msgs/msg/Some.msg:1:24: only numbers and strings have defaults, and `Header` is a message: give its own fields defaults.
                std_msgs/Header header 1
                                       ^
            """,
        )

    def test_the_default_of_an_array_without_brackets(self):
        self.assert_complains(
            "int32[] x 1",
            """
            my_msgs/msg/Some.msg:1:11: the default of an array stands in brackets, as in `[1, 2]`.
                int32[] x 1
                          ^
            """,
        )

    def test_a_default_with_too_few_elements(self):
        self.assert_complains(
            "int32[3] x [1, 2]",
            """
            my_msgs/msg/Some.msg:1:12: `int32[3]` has 3 elements, and its default has 2.
                int32[3] x [1, 2]
                           ^~~~~~
            """,
        )

    def test_a_default_with_too_many_elements(self):
        self.assert_complains(
            "int32[<=1] x [1, 2]",
            """
            my_msgs/msg/Some.msg:1:14: `int32[<=1]` has at most 1 elements, and its default has 2.
                int32[<=1] x [1, 2]
                             ^~~~~~
            """,
        )

    def test_an_element_that_is_wrong(self):
        self.assert_complains(
            "int32[] x [1, two, 3]",
            """
            my_msgs/msg/Some.msg:1:15: `two` is no integer: write it like `-5` or `0xff`.
                int32[] x [1, two, 3]
                              ^~~
            """,
        )

    def test_an_element_that_is_missing(self):
        self.assert_complains(
            "int32[] x [1,, 3]",
            """
            my_msgs/msg/Some.msg:1:14: an element is missing.
                int32[] x [1,, 3]
                             ^
            """,
        )

    def test_a_comma_that_is_missing(self):
        self.assert_complains(
            'string[] x ["a" "b"]',
            """
            my_msgs/msg/Some.msg:1:16: a `,` is missing between elements.
                string[] x ["a" "b"]
                               ^~~~
            """,
        )

class Parts(Case):
    def test_parts_of_a_message(self):
        self.assert_complains(
            "uint8 x\n---\nuint8 y",
            """
            my_msgs/msg/Some.msg:2:1: one `---` too many: a .msg has one part, and none.
                ---
                ^~~
            """,
        )

    def test_a_service_without_a_response(self):
        self.assert_complains(
            "uint8 x",
            """
            my_msgs/srv/Some.srv: a line `---` is missing: a .srv has a request, `---`, and a response.
            """, kind='srv',
        )

    def test_an_action_without_feedback(self):
        self.assert_complains(
            "uint8 x\n---",
            """
            my_msgs/action/Some.action: a line `---` is missing: an .action has a goal, `---`, a result, `---`, and feedback.
            """, kind='action',
        )

    def test_a_third_part_of_a_service(self):
        self.assert_complains(
            "---\n---",
            """
            my_msgs/srv/Some.srv:2:1: one `---` too many: a .srv has a request, `---`, and a response.
                ---
                ^~~
            """, kind='srv',
        )

class Texts(Case):
    def test_control_characters(self):
        self.assert_complains(
            "uint8 a\x07",
            """
            my_msgs/msg/Some.msg:1:8: the character U+0007 is not for definitions: remove it.
                uint8 a?
                       ^
            """,
        )

    def test_a_nul_in_a_comment(self):
        self.assert_complains(
            "uint8 a # \0",
            """
            my_msgs/msg/Some.msg:1:11: the character U+0000 is not for definitions: remove it.
                uint8 a # ?
                          ^
            """,
        )

    def test_characters_that_turn_text_around(self):
        self.assert_complains(
            "uint8 a # \u202e",
            """
            my_msgs/msg/Some.msg:1:11: the character U+202E is not for definitions: remove it.
                uint8 a # ?
                          ^
            """,
        )

    def test_the_right_column_behind_tabs(self):
        self.assert_complains(
            "\tuint8\tA\n\tuint8\tfoo\tbar",
            """
            my_msgs/msg/Some.msg:1:8: `A` is no name of a field in ROS 2: those are lower case, as in `frame_id`. (Definitions of ROS 1 are read with --ros 1.)
                 uint8 A
                       ^
            my_msgs/msg/Some.msg:2:12: `bar` is no integer: write it like `-5` or `0xff`.
                 uint8 foo bar
                           ^~~
            """,
        )

    def test_a_file_of_another_kind(self):
        self.assert_complains(
            "uint8 x",
            """
            my_msgs/idl/Some.idl: is no definition: those of ROS end in .msg, .srv, .action.
            """, kind='idl',
        )


class Files(Case):
    def test_that_are_not_utf_8(self):
        folder = self.folder_with({"Some.msg": b"uint8 a\r\nuint8 b # \xff\xfe\r\n"})
        self.assert_refuses(
            lambda: parse.read(folder / "Some.msg", "my_msgs"),
            f"""
            {folder}/Some.msg:2:11: this is not UTF-8: save the file in that encoding.
                uint8 b # ??
                          ^
            """.replace("??", "\ufffd\ufffd"),
        )

    def test_that_are_far_too_long(self):
        folder = self.folder_with({"Some.msg": b"#" * 2**20 + b"\n"})
        self.assert_refuses(lambda: parse.read(folder / "Some.msg", "my_msgs"), f"{folder}/Some.msg: has more than 1048576 bytes: this is no definition of a message.")

    def test_that_are_not_there(self):
        self.assert_refuses(lambda: parse.read("/no/Some.msg", "my_msgs"), "/no/Some.msg: cannot be read: No such file or directory.")


class Long(Case):
    def test_a_long_line_is_shown_around_the_place(self):
        with self.assertRaises(DefinitionError) as caught:
            read(f"uint8[{'9' * 5000}] data")
        place, line, caret = str(caught.exception).splitlines()
        self.assertEqual(place, f"my_msgs/msg/Some.msg:1:7: `{'9' * 37}...` elements cannot be: there are 1 to 4294967295.")
        self.assertEqual((line.strip(), caret), (f"uint8[{'9' * 114}", f"{' ' * 10}^{'~' * 113}"))
        with self.assertRaises(DefinitionError) as caught:
            read(f"string text {'x' * 1000}\nstring other {'y' * 1000}  # {'z' * 1000}\nuint8 a {' ' * 1000}b")
        _, line, caret = str(caught.exception).splitlines()
        self.assertEqual((len(line), line[caret.index("^")]), (65, "b"))

    def test_everything_wrong_with_a_text_is_said_at_once_up_to_fifty(self):
        with self.assertRaises(DefinitionError) as caught:
            read("uint8 A\n" * 60)
        said = str(caught.exception)
        self.assertEqual((said.count("is no name of a field"), said.splitlines()[-1]), (50, "and 10 more."))


class Pickles(Case):
    def test_say_in_another_process_what_was_said(self):
        with self.assertRaises(DefinitionError) as caught:
            read("uint8 A\nflot64 x\n" * 30)
        told = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(told), told.complaints), (str(caught.exception), caught.exception.complaints))


if __name__ == "__main__":
    unittest.main()
