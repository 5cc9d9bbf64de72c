"""Received messages are not to be changed, and their copies are."""

import copy
import unittest

import numpy as np
import sinew
from harness import PATIENCE, Case
from sinew.msgs.geometry_msgs.msg import PoseStamped

KIND = sinew.Type(
    "t/All{header:t/Header{frame_id:string;};data:uint8[];points:t/P{x:float32;y:float32;}[];parts:t/Part{name:string;}[];maybe:t/Part{name:string;}?;"
    "some:(uint8|uint16);map:entry<string,uint8>{key:string;value:uint8;}[];from:string;}"
)
VALUE = {
    "header": {"frame_id": "map"},
    "data": np.arange(5000, dtype=np.uint8),
    "points": [{"x": 1.0}, {"y": 2.0}],
    "parts": [{"name": "a"}, {"name": "b"}],
    "some": sinew.Variant(1, 3),
    "map": {"k": 1},
    "from": "here",
}


def received():
    return KIND.decode(KIND.encode(VALUE))


class Received(unittest.TestCase):
    def test_a_message_says_that_it_cannot_be_changed_and_how_one_gets_one_that_can(self):
        message = received()
        says = r"^a received message cannot be changed: .* copy\.deepcopy\(message\) makes one that can be"
        for change in lambda: setattr(message.header, "frame_id", "odom"), lambda: delattr(message, "data"), lambda: setattr(message, "nothing", 1):
            with self.assertRaisesRegex(AttributeError, says):
                change()
        with self.assertRaisesRegex(TypeError, says):
            message["from"] = "there"
        self.assertEqual(message, received())

    def test_a_message_says_its_type(self):
        message = received()
        self.assertEqual(sinew.type_of(message), KIND)
        self.assertEqual(sinew.type_of(message.parts).name, "t/Part[]")
        self.assertEqual(sinew.type_of(copy.deepcopy(message)), KIND)


class Copies(unittest.TestCase):
    def test_are_what_was_copied_until_they_are_changed(self):
        for made in copy.copy(received()), copy.deepcopy(received()), copy.deepcopy(copy.deepcopy(received())):
            self.assertIsInstance(made, sinew.Draft)
            self.assertEqual(KIND.encode(made), KIND.encode(VALUE))
            self.assertEqual(KIND.decode(KIND.encode(made))._alternative("some"), 1)

    def test_are_changed_in_any_depth_and_leave_what_was_copied_alone(self):
        message = received()
        made = copy.deepcopy(message)
        made.header.frame_id = "odom"
        made.data[0] = 7
        made.points["x"] += 1
        made.parts[1].name = "c"
        made.parts.append({"name": "d"})
        made.map["l"] = 2
        made["from"] = "there"
        changed = KIND.decode(KIND.encode(made))
        self.assertEqual((changed.header.frame_id, changed.data[0], changed.points["x"].tolist(), [part.name for part in changed.parts]), ("odom", 7, [2.0, 1.0], ["a", "c", "d"]))
        self.assertEqual((changed.map, changed["from"], changed.maybe), ({"k": 1, "l": 2}, "there", None))
        self.assertEqual(message, received())

    def test_of_copies_are_their_own(self):
        first = copy.deepcopy(received())
        second = copy.deepcopy(first)
        second.header.frame_id = "odom"
        second.data[0] = 7
        self.assertEqual((first.header.frame_id, first.data[0]), ("map", 0))

    def test_show_what_they_have(self):
        self.assertRegex(repr(copy.deepcopy(received())), r"^<draft of t/All: header=<draft of t/Header: frame_id='map'>, data=array\(")
        self.assertEqual(repr(KIND.draft()), "<draft of t/All>")

    def test_of_what_is_no_message_are_refused(self):
        with self.assertRaises(sinew.DecodeError):
            copy.deepcopy(KIND.decode(KIND.encode(VALUE)[:-8]))


class Published(Case):
    def test_a_field_of_a_received_message_is_changed_and_published(self):
        with sinew.Node("test") as node:
            poses, moved = node.create_publisher("pose", PoseStamped, qos=sinew.qos.latched), node.subscribe("moved", PoseStamped)
            poses.publish(PoseStamped())
            pose, _ = node.subscribe("pose", qos=sinew.qos.latched).take(PATIENCE)
            publisher = node.create_publisher("moved", sinew.type_of(pose))
            self.wait_until(lambda: publisher.statistics()["subscribers"])
            pose = copy.deepcopy(pose)
            pose.pose.position.x = 2.0
            publisher.publish(pose)
            self.assertEqual(moved.take(PATIENCE)[0].pose.position.x, 2.0)
