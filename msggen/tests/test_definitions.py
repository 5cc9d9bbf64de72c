"""The definitions that come along are those of ROS 2, in words of our own."""

import re
import unittest

import others

from sinew_msggen import parse, resolve

OURS = others.definitions_in(others.DEFINITIONS)
# As issue 9 asks for, and what these and all services and actions refer to.
PACKAGES = """action_msgs builtin_interfaces diagnostic_msgs example_interfaces geometry_msgs lifecycle_msgs nav_msgs rosgraph_msgs sensor_msgs service_msgs
shape_msgs std_msgs std_srvs stereo_msgs tf2_msgs trajectory_msgs unique_identifier_msgs vision_msgs visualization_msgs""".split()


def content(structure):
    """All that a structure says, but its comments: fields with their defaults, and constants, which may stand in another order among the fields."""
    fields = [(str(field.type), field.name, repr(field.default)) for field in structure.fields]
    return fields, [(str(constant.type), constant.name, repr(constant.value)) for constant in structure.constants]


def words(comment):
    return re.sub(r"\W+", " ", comment).strip().lower()


class Definitions(unittest.TestCase):
    def test_are_all_there_and_refer_to_nothing_that_is_not(self):
        self.assertEqual(sorted({name.split("/")[0] for name in OURS}), PACKAGES)
        resolve.Definitions().in_order(OURS)

    def test_say_what_those_of_ros_2_say_constants_and_defaults_included(self):
        compared = 0
        for folder in others.folders_of_ros_2():
            for name, path in others.definitions_in(folder).items():
                if name.split("/")[0] not in PACKAGES:
                    continue
                compared += 1
                theirs, ours = (parse.read(each, name.split("/")[0]) for each in (path, OURS[name]))
                self.assertEqual([content(each) for each in ours.structures], [content(each) for each in theirs.structures], name)
        self.assertGreater(compared, 100)

    def test_say_what_rosbags_knows_of_jazzy(self):
        compared = 0
        for name, message in others.ask("typestores")["ROS2_JAZZY"].items():
            if name.split("/")[0] not in PACKAGES:
                continue
            compared += 1
            theirs, ours = (parse.parse(text, *name.split("/")) for text in (message["text"], OURS[name].read_text(encoding="utf-8")))
            without_defaults = [(type, field) for type, field, _ in content(ours.structures[0])[0]]
            fields, constants = content(theirs.structures[0])
            # It gives a structure without fields one, as ROS 2's own code has it.
            self.assertEqual(without_defaults, [(type, field) for type, field, _ in fields], name)
            self.assertEqual(content(ours.structures[0])[1], constants, name)
        self.assertGreater(compared, 120)

    def test_are_explained_in_words_of_our_own(self):
        theirs = set()
        for folder in others.folders_of_ros_2():
            for path in others.definitions_in(folder).values():
                theirs.update(words(line.partition("#")[2]) for line in path.read_text(encoding="utf-8").splitlines())
        for name, path in OURS.items():
            for line in path.read_text(encoding="utf-8").splitlines():
                comment = words(line.partition("#")[2])
                if len(comment.split()) > 3:
                    self.assertNotIn(comment, theirs, name)


if __name__ == "__main__":
    unittest.main()
