"""Each example does what its first line says, and ends at Ctrl-C without a word."""

import pathlib
import re
import unittest

from harness import LEAK, ROOT, Case

EXAMPLES = ROOT / "examples/python"


class Examples(Case):
    def example(self, name, **environment):
        return self.start(EXAMPLES / f"{name}.py", **environment)

    def assert_ends_when_interrupted(self, *programs):
        for program in programs:
            program.interrupt()
            self.assertNotRegex(self.assert_ends(program), r"Traceback|Error")

    def test_a_talker_and_a_listener_that_declares_no_type(self):
        listener = self.example("listener")
        talker, other = self.example("talker"), self.example("talker", SINEW_NODE="talker2")
        self.assert_prints(listener, r"(?m)^talker: hello for time number \d+$", 2)
        self.assert_prints(listener, r"(?m)^talker2: hello for time number \d+$", 2)
        self.assert_ends_when_interrupted(talker, other, listener)

    def test_a_camera_and_a_viewer_that_reads_in_its_memory(self):
        camera, viewer = self.example("camera"), self.example("viewer")
        self.assert_prints(viewer, r"(?m)^1920 x 1080, mean 127\.\d, sequence \d+, delivery view, missed \d+$", 10)
        self.assertNotIn("delivery copy", viewer.said)
        self.assert_ends_when_interrupted(viewer, camera)

    def test_a_viewer_in_asyncio_whose_other_tasks_go_on(self):
        camera, viewer = self.example("camera"), self.example("async_viewer")
        self.assert_prints(viewer, r"(?m)^1920 x 1080, mean 127\.\d", 10)
        self.assert_prints(viewer, r"(?m)^[1-9]\d* pictures until now$")
        self.assert_ends_when_interrupted(viewer, camera)

    def test_a_viewer_in_asyncio_that_waits_for_a_camera_leaves_its_other_tasks_their_turn_and_ends_at_one_interrupt(self):
        viewer = self.example("async_viewer")
        self.assert_prints(viewer, r"(?m)^0 pictures until now$")
        self.assert_ends_when_interrupted(viewer)

    def test_a_service_and_its_client(self):
        said = self.assert_ends(self.example("adder"))
        self.assertRegex(said, r"^6\n.*nothing to add\n$")


class Leaks(Case):
    def test_of_a_program_are_noticed(self):
        leaking = self.start_text("import ctypes, sinew\nctypes.pythonapi.Py_IncRef(ctypes.py_object(sinew.Node('leaks')))\n")
        self.assertIn(LEAK, self.assert_ends(leaking))
        self.programs.clear()


class All(unittest.TestCase):
    def test_examples_are_tried_here(self):
        tried = set(re.findall(r'example\("(\w+)"', pathlib.Path(__file__).read_text(encoding="utf-8")))
        self.assertEqual({path.stem for path in EXAMPLES.glob("*.py")}, tried)
