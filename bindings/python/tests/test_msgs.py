"""Definitions of ROS, those that come along and those of a folder, as types and as classes."""

import dataclasses
import importlib
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import List

import numpy as np
import sinew
from sinew import _signature
from sinew.msgs import _classes


# sinew has no wstring.
REFUSED = ["example_interfaces/msg/WString"]


def classes():
    """Of all messages that come along, and of the parts of services and actions."""
    for name in sorted({*sinew.definitions.names()} - {*REFUSED}):
        package, kind, base = name.split("/")
        made = getattr(importlib.import_module(f"sinew.msgs.{package}.{kind}"), base)
        yield from [(name, made)] if kind == "msg" else ((f"{name}_{part}", getattr(made, part)) for part in {"srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}[kind])


class Standard(unittest.TestCase):
    def test_all_can_be_made_with_their_defaults_and_are_equal_to_their_like(self):
        count = 0
        for name, made in classes():
            with self.subTest(name=name):
                self.assertEqual(made(), made())
                self.assertTrue(dataclasses.is_dataclass(made))
                count += 1
        self.assertGreater(count, 150)

    def test_annotations_say_what_the_definition_says(self):
        for name, made in classes():
            with self.subTest(name=name):
                without = dataclasses.make_dataclass(made.__name__, [(each.name, each.type) for each in dataclasses.fields(made)], namespace={"__sinew_name__": name})
                # Structures without fields have one in ROS 2, which nobody sets.
                self.assertEqual(_signature.of(without).replace("{}", "{structure_needs_at_least_one_member:uint8;}"), sinew.type_of(made).signature)
                self.assertEqual(sinew.type_of(name), sinew.type_of(made))

    def test_fields_and_constants_have_their_ros_names_and_defaults(self):
        from sinew.msgs.geometry_msgs.msg import Pose, PoseWithCovariance
        from sinew.msgs.sensor_msgs.msg import Image, NavSatStatus
        from sinew.msgs.std_srvs.srv import SetBool

        self.assertEqual(Pose().orientation.w, 1.0)
        self.assertEqual(Pose().position.x, 0.0)
        self.assertEqual((NavSatStatus.STATUS_NO_FIX, NavSatStatus().status), (-1, -2))
        self.assertEqual(PoseWithCovariance().covariance.shape, (36,))
        self.assertEqual(Image(encoding="rgb8").data.dtype, np.uint8)
        self.assertIs(SetBool.Request(data=True).data, True)
        self.assertEqual(SetBool.Response().message, "")

    def test_defaults_of_one_message_are_not_those_of_another(self):
        from sinew.msgs.geometry_msgs.msg import PoseWithCovariance

        one, other = PoseWithCovariance(), PoseWithCovariance()
        one.covariance[0] = one.pose.position.x = 1.0
        self.assertEqual((other.covariance[0], other.pose.position.x), (0.0, 0.0))
        self.assertNotEqual(one, other)

    def test_go_to_other_processes_as_other_values_of_python_do(self):
        from sinew.msgs.geometry_msgs.msg import PoseWithCovariance
        from sinew.msgs.std_srvs.srv import SetBool

        values = [PoseWithCovariance(covariance=np.arange(36.0)), SetBool.Request(data=True)]
        command = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
        done = subprocess.run([sys.executable, "-c", command], input=pickle.dumps(values), stdout=subprocess.PIPE, check=True)
        self.assertEqual(pickle.loads(done.stdout), values)

    def test_there_is_one_class_of_each_whichever_thread_asks_first(self):
        import sinew.msgs.sensor_msgs.msg as module

        _classes._made.clear()
        vars(module).pop("CameraInfo", None)
        begin, found = threading.Barrier(8), []

        def ask():
            begin.wait()
            found.append(module.CameraInfo)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(found)), 1)

    def test_are_fields_of_ones_own_dataclasses(self):
        from sinew.msgs.geometry_msgs.msg import Point

        @sinew.message
        class Path:
            points: List[Point]

        self.assertEqual(_signature.of(Path), "Path{points:geometry_msgs/msg/Point{x:float64;y:float64;z:float64;}[];}")

    def test_with_a_wstring_are_refused(self):
        for name in REFUSED:
            with self.assertRaisesRegex(sinew.definitions.DefinitionError, "sinew has no `wstring`"):
                _classes.interface(name)

    def test_modules_tell_what_they_have(self):
        import sinew.msgs.geometry_msgs.msg as module

        self.assertIn("Twist", dir(module))
        self.assertIs(module.Twist, module.Twist)

    def test_what_is_not_there_is_said(self):
        import sinew.msgs.geometry_msgs.msg as module

        with self.assertRaisesRegex(AttributeError, "there is no `geometry_msgs/msg/Twis`; there is `geometry_msgs/msg/Twist`"):
            module.Twis
        with self.assertRaises(ImportError):
            from sinew.msgs.geometry_msgs.msg import Twis  # noqa: F401
        for module in "sinew.msgs.geometry_messages", "sinew.msgs.geometry_msgs.srv":
            with self.assertRaises(ModuleNotFoundError):
                importlib.import_module(module)
        with self.assertRaisesRegex(sinew.definitions.DefinitionError, "there is no `sensor_msgs/msg/Imag`; there is `sensor_msgs/msg/Image`"):
            sinew.type_of("sensor_msgs/msg/Imag")
        with self.assertRaisesRegex(sinew.definitions.DefinitionError, r"nor such a package: add its folder with sinew\.definitions\.add"):
            sinew.type_of("completely_unknown/msg/Xyzzy")
        with self.assertRaisesRegex(sinew.definitions.DefinitionError, "defines a service, whose messages are `std_srvs/srv/SetBool_Request` or"):
            sinew.type_of("std_srvs/srv/SetBool")


class Own(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sinew-python-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("own_msgs/msg/Battery.msg", "uint8 CELLS=4\nfloat32[4] volts\nstring<=8 name \"main\"\nstd_msgs/Header header\nbyte[] raw\nstring[2] words\n")
        sinew.definitions.add(self.folder)
        self.addCleanup(self.forget)

    def forget(self):
        """What tests have to do, and programs cannot: the next test has other definitions of the same names."""
        sinew.definitions._folders.clear()
        sinew.definitions._read_anew()
        _classes._made.clear()
        for name in [name for name in sys.modules if name.startswith("sinew.msgs.")]:
            if name != _classes.__name__:
                del sys.modules[name]

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_are_found_in_a_folder_beside_those_that_come_along(self):
        from sinew.msgs.own_msgs.msg import Battery

        battery = Battery(volts=[1.0, 2.0, 3.0, 4.0])
        self.assertEqual((battery.name, Battery.CELLS, battery.header.frame_id, battery.words), ("main", 4, "", ["", ""]))
        self.assertEqual(
            sinew.type_of("own_msgs/msg/Battery").signature,
            "own_msgs/msg/Battery{volts:float32[4];name:string;header:std_msgs/msg/Header{stamp:builtin_interfaces/msg/Time{sec:int32;nanosec:uint32;};frame_id:string;};raw:uint8[];words:string[2];}",
        )

    def test_that_are_wrong_are_shown_with_file_line_and_caret(self):
        self.write("own_msgs/msg/Wrong.msg", "float32 volts\nfloat33 amperes\n")
        with self.assertRaisesRegex(sinew.definitions.DefinitionError, r"Wrong\.msg:2:1: there is no type `float33`.*\n +float33 amperes\n +\^~+"):
            sinew.type_of("own_msgs/msg/Wrong")

    def test_folders_that_are_not_there_are_said(self):
        with self.assertRaisesRegex(FileNotFoundError, "is no folder: it is to have packages"):
            sinew.definitions.add(self.folder / "nothing")

    def test_a_field_that_python_has_no_name_for_is_said_with_what_to_do(self):
        self.write("own_msgs/msg/Words.msg", "string from\n")
        import sinew.msgs.own_msgs.msg as module

        with self.assertRaisesRegex(TypeError, r"has a field `from`, which Python takes for itself: publish a draft"):
            module.Words
