"""Type hashes are those of ROS 2."""

import pathlib
import tempfile
import unittest

import others

from sinew_msggen import errors, resolve, rihs01

PUBLISHED = dict(
    line.split() for line in (pathlib.Path(__file__).with_name("published_hashes.txt")).read_text(encoding="utf-8").splitlines() if not line.startswith("#")
)
# rosbags gives `char` a number of its own, which ROS 2 does not: there a char is uint8 before it is looked at.
CHAR = {"std_msgs/msg/Char", "service_msgs/msg/ServiceEventInfo", "rmw_dds_common/msg/Gid"}


class Hashes(unittest.TestCase):
    def compare(self, definitions, names):
        different = [name for name in names if rihs01.type_hash(name, definitions) != "RIHS01_" + PUBLISHED[name]]
        self.assertEqual(different, [])

    def test_of_our_definitions_are_those_that_ros_2_published_also_of_services_and_actions(self):
        packages = {path.name for path in others.DEFINITIONS.iterdir()}
        names = [name for name in PUBLISHED if name.split("/")[0] in packages]
        self.assertGreater(len(names), 250)
        self.assertTrue({"example_interfaces/srv/AddTwoInts", "example_interfaces/action/Fibonacci_GetResult_Event", "tf2_msgs/action/LookupTransform"} < set(names))
        self.compare(resolve.Definitions(), names)

    def test_of_definitions_of_others_are_those_that_ros_2_published(self):
        self.compare(resolve.Definitions(others.folders_of_ros_2(), standard=None), [name for name in PUBLISHED if self.is_of_repositories(name)])

    @staticmethod
    def is_of_repositories(name):
        # These come from repositories of their own, and all actions and what is in example_interfaces refer to the second.
        return name.split("/")[0] not in ("tf2_msgs", "unique_identifier_msgs", "vision_msgs", "example_interfaces", "action_msgs") and "/action/" not in name

    def test_of_what_contains_itself_or_is_too_deep_are_refused(self):
        circle = {"p/msg/A.msg": "B[] b", "p/msg/B.msg": "A a"}
        deep = {f"p/msg/A{number}.msg": f"A{number + 1} a" for number in range(2000)} | {"p/msg/A2000.msg": ""}
        for files, name, why in (circle, "p/msg/A", "a message cannot contain itself"), (deep, "p/msg/A0", "more than 64 deep"):
            with tempfile.TemporaryDirectory() as folder:
                for path, text in files.items():
                    file = pathlib.Path(folder, path)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(errors.DefinitionError, why):
                    rihs01.type_hash(name, resolve.Definitions([folder]))

    def test_are_those_that_rosbags_computes_of_all_that_it_knows(self):
        for release, messages in others.ask("typestores").items():
            with tempfile.TemporaryDirectory() as folder:
                for name, message in messages.items():
                    path = pathlib.Path(folder, name + ".msg")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(message["text"], encoding="utf-8")
                definitions = resolve.Definitions([folder], standard=None)
                different = {name for name in messages if rihs01.type_hash(name, definitions) != messages[name]["hash"]}
            with_char = {name for name in messages if self.contains(definitions, name, CHAR)}
            self.assertGreater(len(messages), 150)
            self.assertEqual(different, with_char, release)

    def contains(self, definitions, name, wanted):
        return name in wanted or any(self.contains(definitions, need, wanted) for need in definitions.interface(name).needs)

    def test_do_not_depend_on_comments_constants_and_defaults(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "std_msgs/msg/String.msg")
            path.parent.mkdir(parents=True)
            path.write_text('# other words\nuint8 A = 1\n\nstring   data "x"  # again\n', encoding="utf-8")
            self.assertEqual(rihs01.type_hash("std_msgs/msg/String", resolve.Definitions([folder])), "RIHS01_" + PUBLISHED["std_msgs/msg/String"])

    def test_name_the_definition_that_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "my_msgs/srv/Ask.srv")
            path.parent.mkdir(parents=True)
            path.write_text("---\n", encoding="utf-8")
            rihs01.type_hash("my_msgs/srv/Ask", resolve.Definitions([folder]))
            for name, missing in (
                ("my_msgs/srv/Ask", "ServiceEventInfo"),
                ("my_msgs/srv/Ask_Goal", "Ask_Goal"),
                ("my_msgs/srv/Tell", "my_msgs/srv/Tell"),
                ("Tell", "no name of a type"),
            ):
                with self.assertRaisesRegex(errors.DefinitionError, missing):
                    rihs01.type_hash(name, resolve.Definitions([folder], standard=None))


if __name__ == "__main__":
    unittest.main()
