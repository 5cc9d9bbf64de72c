"""A type as a text, `ros2msg`, as rosbag2, MCAP and Foxglove have it: its definition, and behind it those of all messages in it. Without comments."""

from __future__ import annotations

from .definition import Constant, Structure
from .resolve import Definitions

ENCODING = "ros2msg"
SEPARATOR = "=" * 80
ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def schema(name: str, definitions: Definitions) -> str:
    """Of a structure, "sensor_msgs/msg/Image" or "std_srvs/srv/SetBool_Request". DefinitionError where there is none."""
    found = {}

    def add(structure):
        found[structure.name] = structure
        for field in structure.fields:
            if not field.type.is_primitive and field.type.name not in found:
                add(definitions.structure(field.type.name))

    add(definitions.structure_in_order(name))
    main, *others = found.values()
    return text_of(main) + "".join(f"{SEPARATOR}\nMSG: {other.package}/{other.base}\n{text_of(other)}" for other in others)


def text_of(structure: Structure) -> str:
    """Its definition, a line for each member."""
    return "".join(f"{line(member)}\n" for member in structure.members)


def line(member) -> str:
    if isinstance(member, Constant):
        return f"{member.type} {member.name}={written(member.value)}"
    if member.default is None:
        return f"{member.type} {member.name}"
    default = member.default
    value = f"[{', '.join(map(written, default))}]" if isinstance(default, tuple) else written(default)
    return f"{member.type} {member.name} {value}"


def written(value) -> str:
    """A value as definitions write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    return f'"{"".join(map(escaped, value))}"'


def escaped(character):
    if character in ESCAPED or character.isprintable():
        return ESCAPED.get(character, character)
    return f"\\U{ord(character):08x}"
