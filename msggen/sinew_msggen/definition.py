"""What definitions say, whatever dialect they are written in: the words are those of ROS 2.

Names of interfaces and structures are as ROS 2 has them, PACKAGE/msg/Name. Everything here is read only once it is made.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Union

from .errors import Place

# In ROS 2; `byte` and `char` are names of their own there, and both are uint8 in C++.
INTEGERS = {f"{sign}int{bits}": (0 if sign else -(2 ** (bits - 1)), 2 ** (bits if sign else bits - 1) - 1) for bits in (8, 16, 32, 64) for sign in ("", "u")}
INTEGERS.update(byte=(0, 255), char=(0, 255))
FLOATS = ("float32", "float64")
STRINGS = ("string", "wstring")
PRIMITIVES = ("bool", *INTEGERS, *FLOATS, *STRINGS)

# The structures of an interface, as suffixes of its name.
PARTS = {"msg": ("",), "srv": ("_Request", "_Response"), "action": ("_Goal", "_Result", "_Feedback")}
# What ROS 2 gives a structure without fields, as IDL knows none: so that its CDR is that of others.
PLACEHOLDER = "structure_needs_at_least_one_member"
# Elements of a sequence, and characters of a string, are counted by a uint32 in CDR; of a string one more, its end.
MOST_ELEMENTS = 2**32 - 1
MOST_CHARACTERS = 2**32 - 2

Scalar = Union[bool, int, float, str]
# Lines of a comment, without `#`.
Block = tuple  # of str


class Dialect(enum.Enum):
    """Whose definitions they are. They differ in `byte`, `Header`, in string constants, and in what names are allowed."""

    ROS1 = "1"
    ROS2 = "2"


class Array(enum.Enum):
    """How many values a field has."""

    NONE = ""  # one
    FIXED = "fixed"  # always `size`
    BOUNDED = "bounded"  # at most `size`
    UNBOUNDED = "unbounded"


@dataclasses.dataclass(frozen=True)
class Type:
    """The type of a field."""

    base: str  # one of PRIMITIVES, or with a package the name of a message: "Image"
    package: str = ""  # "sensor_msgs"; of a primitive ""
    array: Array = Array.NONE
    size: int = 0  # of a fixed or bounded array
    characters: int = 0  # that a string has at most; 0: any number

    @property
    def is_primitive(self) -> bool:
        return not self.package

    @property
    def name(self) -> str:
        """Without array and bound: "uint8", "sensor_msgs/msg/Image"."""
        return f"{self.package}/msg/{self.base}" if self.package else self.base

    def __str__(self):
        """As a definition has it, with the package."""
        base = f"{self.package}/{self.base}" if self.package else self.base
        bound = f"<={self.characters}" if self.characters else ""
        array = {Array.NONE: "", Array.FIXED: f"[{self.size}]", Array.BOUNDED: f"[<={self.size}]", Array.UNBOUNDED: "[]"}[self.array]
        return base + bound + array


@dataclasses.dataclass(frozen=True)
class Field:
    """A value that messages carry."""

    type: Type
    name: str
    default: Scalar | tuple | None  # a tuple for an array
    place: Place  # of the name
    type_place: Place
    sections: tuple = ()  # blocks of comments that stand before it by themselves
    above: Block = ()  # its comment above it
    behind: Block = ()  # and on its line


@dataclasses.dataclass(frozen=True)
class Constant:
    """A value that has a name, and is in no message."""

    type: Type  # a primitive
    name: str
    value: Scalar
    place: Place  # of the name
    sections: tuple = ()
    above: Block = ()
    behind: Block = ()


@dataclasses.dataclass(frozen=True)
class Structure:
    """A message, or a part of a service or action."""

    package: str
    kind: str  # "msg", "srv", "action"
    base: str  # "Image", "SetBool_Request"
    members: tuple  # of Field and Constant, as they stand in the text
    above: Block = ()  # the comment that it begins with
    below: tuple = ()  # blocks of comments at its end

    @property
    def name(self) -> str:
        return f"{self.package}/{self.kind}/{self.base}"

    @property
    def fields(self) -> list[Field]:
        return [member for member in self.members if isinstance(member, Field)]

    @property
    def constants(self) -> list[Constant]:
        return [member for member in self.members if isinstance(member, Constant)]


@dataclasses.dataclass(frozen=True)
class Interface:
    """What one file defines."""

    package: str
    kind: str
    base: str  # "Image", "SetBool"
    structures: tuple  # as many as PARTS[kind]
    path: str

    @property
    def name(self) -> str:
        return f"{self.package}/{self.kind}/{self.base}"

    @property
    def needs(self) -> list[str]:
        """Names of the interfaces that its fields refer to, in the order of the text, each once."""
        types = (field.type for structure in self.structures for field in structure.fields)
        return list(dict.fromkeys(type.name for type in types if not type.is_primitive))
