"""Definitions that refer to one another are found, in an order in which each comes after those that it needs."""

import unittest

from reading import Case

from sinew_msggen.definition import Dialect
from sinew_msggen.resolve import Definitions


class Finding(Case):
    def test_takes_what_was_given_then_what_lies_beside_it_then_folders_then_the_standard_packages(self):
        folder = self.folder_with(
            {
                "given/a_msgs/msg/A.msg": "B b\nstd_msgs/Header header",
                "given/a_msgs/msg/B.msg": "uint8 beside",
                "search/a_msgs/msg/B.msg": "uint8 searched",
                "search/a_msgs/msg/C.msg": "uint8 searched",
                "search/std_msgs/msg/Header.msg": "uint8 searched",
            }
        )
        definitions = Definitions([folder / "search"])
        self.assertEqual(definitions.add(folder / "given/a_msgs/msg/A.msg"), "a_msgs/msg/A")
        found = {name: definitions.structure(name).fields[0].name for name in ("a_msgs/msg/B", "a_msgs/msg/C", "std_msgs/msg/Header", "std_msgs/msg/String")}
        self.assertEqual(found, {"a_msgs/msg/B": "beside", "a_msgs/msg/C": "searched", "std_msgs/msg/Header": "searched", "std_msgs/msg/String": "data"})

    def test_takes_all_of_a_folder_at_whatever_depth(self):
        folder = self.folder_with({"x/a_msgs/msg/A.msg": "", "b_msgs/srv/B.srv": "---", "b_msgs/action/C.action": "---\n---", "b_msgs/msg/README.md": "", "b_msgs/other/D.msg": ""})
        self.assertEqual(sorted(Definitions().add_folder(folder)), ["a_msgs/msg/A", "b_msgs/action/C", "b_msgs/srv/B"])

    def test_takes_a_package_by_another_name_than_its_folder(self):
        folder = self.folder_with({"here/msg/A.msg": "b_msgs/B b\nC c", "here/msg/C.msg": "uint8 x", "there/msg/B.msg": "uint8 x"})
        definitions = Definitions([f"b_msgs={folder / 'there'}"])
        self.assertEqual(definitions.add(folder / "here/msg/A.msg", "a_msgs"), "a_msgs/msg/A")
        self.assertEqual([each.name for each in definitions.in_order(["a_msgs/msg/A"])], ["b_msgs/msg/B", "a_msgs/msg/C", "a_msgs/msg/A"])

    def test_takes_a_file_in_no_package_when_that_is_said(self):
        folder = self.folder_with({"A.msg": "uint8 x"})
        self.assertEqual(Definitions().add(folder / "A.msg", "a_msgs"), "a_msgs/msg/A")
        self.assert_refuses(lambda: Definitions().add(folder / "A.msg"), f"{folder}/A.msg: lies in no folder PACKAGE/msg: say with --package which package it is of.")

    def test_takes_parts_of_services_and_actions_as_structures(self):
        folder = self.folder_with({"a_msgs/srv/Ask.srv": "uint8 x\n---\nuint8 y", "a_msgs/action/Go.action": "---\n---\nuint8 z"})
        definitions = Definitions([folder])
        self.assertEqual(definitions.structure("a_msgs/srv/Ask_Response").fields[0].name, "y")
        self.assertEqual(definitions.structure("a_msgs/action/Go_Feedback").fields[0].name, "z")
        self.assert_refuses(
            lambda: definitions.structure("a_msgs/srv/Ask"),
            f"{folder}/a_msgs/srv/Ask.srv: defines a service, whose messages are `a_msgs/srv/Ask_Request` or `a_msgs/srv/Ask_Response`: say which.",
        )

    def test_knows_ros_1_by_the_package_xml_or_because_it_is_said(self):
        files = {f"{package}/msg/A.msg": "Header header\nbyte x" for package in ("old", "new", "both", "none")}
        files["old/package.xml"] = "<package><buildtool_depend>catkin</buildtool_depend><build_depend>message_generation</build_depend></package>"
        files["new/package.xml"] = "<package><buildtool_depend>ament_cmake</buildtool_depend></package>"
        files["both/package.xml"] = '<package><buildtool_depend condition="1">catkin</buildtool_depend><buildtool_depend>rosidl_default_generators</buildtool_depend></package>'
        folder = self.folder_with(files)

        def types(package, **how):
            return [field.type.name for field in Definitions([folder], **how).structure(f"{package}/msg/A").fields]

        ros1 = ["std_msgs/msg/Header", "int8"]
        self.assertEqual({package: types(package) for package in ("old", "new", "both", "none")}, {
            "old": ros1, "new": ["new/msg/Header", "byte"], "both": ["both/msg/Header", "byte"], "none": ["none/msg/Header", "byte"]})  # fmt: skip
        self.assertEqual((types("none", dialect=Dialect.ROS1), types("old", dialect=Dialect.ROS2)), (ros1, ["old/msg/Header", "byte"]))

    def test_reads_the_standard_packages_as_ros_2_whatever_is_said(self):
        self.assertEqual(Definitions(dialect=Dialect.ROS1).structure("diagnostic_msgs/msg/DiagnosticStatus").fields[0].type.base, "byte")


class Order(Case):
    def test_puts_each_behind_what_it_needs_once(self):
        folder = self.folder_with({"p/msg/A.msg": "B b\nC c", "p/msg/B.msg": "D d", "p/msg/C.msg": "D[] d", "p/msg/D.msg": "", "p/srv/S.srv": "A a\n---\nD d"})
        self.assertEqual([each.base for each in Definitions([folder]).in_order(["p/srv/S", "p/msg/A"])], ["D", "B", "C", "A", "S"])

    def test_refuses_messages_that_contain_themselves(self):
        folder = self.folder_with({"p/msg/A.msg": "B[] b", "p/msg/B.msg": "# a comment\n  q/C c", "q/msg/C.msg": "uint8 x\np/A a"})
        self.assert_refuses(
            lambda: Definitions([folder]).in_order(["p/msg/A"]),
            f"""
            {folder}/q/msg/C.msg:2:1: a message cannot contain itself: p/msg/A -> p/msg/B -> q/msg/C -> p/msg/A. Send the parts on a topic of their own, or as an array with indices.
                p/A a
                ^~~
            """,
        )

    def test_refuses_messages_too_deep_in_one_another(self):
        folder = self.folder_with({f"p/msg/A{number}.msg": f"A{number + 1} a" for number in range(2000)} | {"p/msg/A2000.msg": ""})
        self.assert_refuses(
            lambda: Definitions([folder]).in_order(["p/msg/A0"]),
            f"""
            {folder}/p/msg/A63.msg:1:1: messages are more than 64 deep in one another here: p/msg/A0 begins it.
                A64 a
                ^~~
            """,
        )

    def test_refuses_objects_of_4_gib(self):
        folder = self.folder_with({"p/msg/A.msg": "uint8 x\nB[100000] b", "p/msg/B.msg": "float64[6000] x"})
        self.assert_refuses(
            lambda: Definitions([folder]).in_order(["p/msg/A"]),
            f"""
            {folder}/p/msg/A.msg:2:1: `p/msg/A` would have 4 GiB or more in the object itself: make this `B[]`, whose elements lie elsewhere.
                B[100000] b
                ^~~~~~~~~
            """,
        )

    def test_says_what_is_wrong_in_all_files_at_once(self):
        folder = self.folder_with({"p/msg/A.msg": "B b\nuint9 x", "p/msg/C.msg": "D d", "p/msg/D.msg": "uint8 X"})
        definitions = Definitions([folder], standard=None)
        self.assert_refuses(
            lambda: definitions.in_order(["p/msg/A", "p/msg/C"]),
            f"""
            {folder}/p/msg/A.msg:2:1: there is no type `uint9`; do you mean `uint8`?
                uint9 x
                ^~~~~
            {folder}/p/msg/D.msg:1:7: `X` is no name of a field in ROS 2: those are lower case, as in `frame_id`. (Definitions of ROS 1 are read with --ros 1.)
                uint8 X
                      ^
            """,
        )


class Advice(Case):
    def assert_advises(self, text, *lines):
        """About a message that refers to what is not there."""
        folder = self.folder_with({"my_msgs/msg/Some.msg": text, "my_msgs/msg/Other.msg": ""})
        definitions = Definitions()
        definitions.add(folder / "my_msgs/msg/Some.msg")
        self.assert_refuses(lambda: definitions.in_order(["my_msgs/msg/Some"]), "\n".join([f"{folder}/my_msgs/msg/Some.msg:1:1: {lines[0]}", *(f"    {line}" for line in lines[1:])]))

    def test_names_what_is_much_like_it_in_the_same_package(self):
        self.assert_advises("std_msgs/Hedder header", "there is no `std_msgs/Hedder`; there is `std_msgs/Header`.", "std_msgs/Hedder header", "^~~~~~~~~~~~~~~")

    def test_names_the_package_that_has_it(self):
        self.assert_advises("Image image", "there is no `my_msgs/Image`; there is `sensor_msgs/Image`.", "Image image", "^~~~~")

    def test_tells_of_the_header_of_ros_1(self):
        self.assert_advises("Header header", "there is no `my_msgs/Header`; in ROS 2 the header is `std_msgs/Header`. (Definitions of ROS 1 are read with --ros 1.)", "Header header", "^~~~~~")

    def test_lists_what_the_package_has(self):
        self.assert_advises("Zzz zzz", "there is no `my_msgs/Zzz`; `my_msgs` has Other, Some.", "Zzz zzz", "^~~")

    def test_names_a_package_much_like_it(self):
        self.assert_advises("sensors_msgs/Zzz[3] z", "there is no `sensors_msgs/Zzz`, nor such a package; there is `sensor_msgs`.", "sensors_msgs/Zzz[3] z", "^~~~~~~~~~~~~~~~~~~")

    def test_says_how_to_name_folders(self):
        self.assert_advises("qqq/Zzz z", "there is no `qqq/Zzz`, nor such a package: say with -I which folder it is in.", "qqq/Zzz z", "^~~~~~~")

    def test_says_what_names_are_like(self):
        for name in "Image", "sensor_msgs/Image", "../msg/Image", "sensor_msgs/msg/Image/":
            self.assert_refuses(lambda name=name: Definitions().structure(name), f"`{name}` is no name of a type: those are like `sensor_msgs/msg/Image`.")

    def test_of_two_definitions_with_one_name_names_both(self):
        folder = self.folder_with({"x/p/msg/A.msg": "", "y/p/msg/A.msg": ""})
        definitions = Definitions()
        definitions.add(folder / "x/p/msg/A.msg")
        definitions.add(folder / "x/../x/p/msg/A.msg")
        self.assert_refuses(lambda: definitions.add(folder / "y/p/msg/A.msg"), f"{folder}/y/p/msg/A.msg: defines `p/msg/A`, and so does {folder}/x/p/msg/A.msg: give one of them.")

    def test_of_an_empty_folder_says_where_was_looked(self):
        folder = self.folder_with({"p/A.msg": ""})
        self.assert_refuses(lambda: Definitions().add_folder(folder), f"{folder}: has no definitions: they are looked for as PACKAGE/msg/Name.msg, and so for srv and action, in it and in its folders.")


if __name__ == "__main__":
    unittest.main()
