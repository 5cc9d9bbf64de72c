"""The package, its examples and what its users may rely on, as mypy sees them in its strict mode, and as help() tells it."""

import pydoc
import subprocess
import sys
import tempfile
import unittest

import sinew
from harness import ROOT

HERE = ROOT / "bindings/python"


class Typing(unittest.TestCase):
    def assert_nothing_to_say(self, *arguments):
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={ROOT / 'build-python/mypy'}", *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_what_users_may_rely_on(self):
        self.assert_nothing_to_say(HERE / "tests/typed.py")

    def test_each_example(self):
        for path in sorted((ROOT / "examples/python").glob("*.py")):
            with self.subTest(example=path.name):
                self.assert_nothing_to_say(path)

    def test_the_package_itself(self):
        # What generates messages has hints for people.
        self.assert_nothing_to_say("--package", "sinew", "--exclude", "msggen")


class Help(unittest.TestCase):
    def test_says_of_each_class_what_its_stub_says(self):
        self.assertIn("A process's part in a domain.", sinew.Node.__doc__)
        self.assertRegex(sinew.Node.__doc__, r"Node\(name: str, \*, domain: Optional\[str\]=None, by_caller: bool=False\)")
        self.assertRegex(sinew.MessageInfo.__doc__, r"publisher: str\n    The name of its node\.")
        self.assertRegex(text_of(sinew.Publisher), r"loan\(self, .*\)\n.* A message whose named vectors")

    def test_says_of_each_method_what_its_stub_says(self):
        for asked, says in (
            (sinew.Node.create_publisher, r"create_publisher\(self, topic: .*, type: .*, \*\*options: .*\) -> .*\n.*Waits until the manager has agreed(.|\n)*memory_budget: int\n +Bytes of shared memory at most"),
            (sinew.Node.subscribe, r"callback: .*(.|\n)*Without a type, takes that of the topic(.|\n)*max_rate: float\n +Messages a second of each publisher at most"),
            (sinew.Node.close, r"close\(self\) -> .*\n.*Waits for running callbacks"),
            (sinew.Publisher.publish, r"publish\(self, .*message\)\n.*Publishes a message, or anything that can be one"),
            (sinew.Subscriber.take, r"take\(self, .*timeout=None\)\n.*The next message, oldest first"),
            (sinew.Timer.missed, "Periods without a call"),
        ):
            self.assertRegex(text_of(asked), says)

    def test_says_the_same_of_a_method_that_somebody_has_at_hand(self):
        with sinew.Node("test", domain=f"{tempfile.mkdtemp(prefix='sinew-python-')}/socket") as node:
            publisher = node.create_publisher("x", sinew.uint32)
            for asked, says in (
                (node.create_publisher, r"create_publisher\(topic: .*\).* method of .*Node"),
                (node.spin, r"spin\(\) -> .* method of .*Node(.|\n)*Runs callbacks of `by_caller` nodes"),
                (publisher.publish, r"publish\(message\) method of .*Publisher(.|\n)*Publishes a message"),
                (publisher.loan, r"loan\(\*\*arrays\) method of .*Publisher(.|\n)*A message whose named vectors"),
                (publisher.statistics, r"statistics\(\) -> .* method of .*Publisher(.|\n)*Counts since it was created"),
            ):
                self.assertRegex(text_of(asked), says)
                self.assertNotIn("nb_", text_of(asked))

    def test_says_something_of_all_that_is_public(self):
        silent = [name for name in sinew.__all__ if not getattr(sinew, name).__doc__]
        classes = (sinew.Node, sinew.Publisher, sinew.Subscriber, sinew.Client, sinew.Provider, sinew.Call, sinew.Timer, sinew.Watch, sinew.Counters, sinew.Type)
        silent += [f"{each.__name__}.{name}" for each in classes for name, told in vars(each).items() if not name.startswith("_") and callable(told) and not told.__doc__]
        self.assertEqual(silent, [])


def text_of(asked):
    """What help() prints."""
    return pydoc.plain(pydoc.render_doc(asked))
