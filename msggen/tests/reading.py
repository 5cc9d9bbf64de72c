"""What tests of msggen share: texts read as definitions, and folders of definitions made for a test."""

import pathlib
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "msggen"))

from sinew_msggen import parse
from sinew_msggen.definition import Dialect
from sinew_msggen.errors import DefinitionError

MSGGEN = ROOT / "msggen" / "sinew-msggen"


def read(text, kind="msg", dialect=Dialect.ROS2, base="Some", package="my_msgs"):
    """The interface of a text."""
    return parse.parse(text, package, kind, base, f"my_msgs/{kind}/{base}.{kind}", dialect)


def fields(text, dialect=Dialect.ROS2):
    """(type, name, default) of each field of a .msg."""
    return [(str(field.type), field.name, field.default) for field in read(text, dialect=dialect).structures[0].fields]


def constants(text, dialect=Dialect.ROS2):
    """Name to value of the constants of a .msg."""
    return {constant.name: constant.value for constant in read(text, dialect=dialect).structures[0].constants}


class Case(unittest.TestCase):
    maxDiff = None

    def assert_complains(self, text, expected, **how):
        """That a text is refused, in exactly these words."""
        self.assert_refuses(lambda: read(text, **how), expected)

    def assert_refuses(self, action, expected):
        with self.assertRaises(DefinitionError) as caught:
            action()
        self.assertEqual(str(caught.exception), textwrap.dedent(expected).strip("\n"))

    def folder_with(self, files):
        """A new folder with these files, path to text or bytes."""
        made = tempfile.TemporaryDirectory(prefix="msggen-")
        self.addCleanup(made.cleanup)
        folder = pathlib.Path(made.name)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else textwrap.dedent(content).encode())
        return folder
