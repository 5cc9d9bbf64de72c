"""From what is declared in Python to a type of messages."""

from __future__ import annotations

from typing import Any

from . import _native, _signature, definitions

__all__ = ["type_of"]


def type_of(declared: Any) -> _native.Type:
    """The type of messages that something declares: a dataclass, an annotation (`sinew.uint32`, `List[float]`), the ROS name of a definition ("sensor_msgs/msg/Image"), a signature (spec/types.md), or a Type. What takes a type takes all of these.

    Raises TypeError where it declares none, InvalidArgument where it is no signature, DefinitionError where the definition is not there or wrong.
    """
    if isinstance(declared, _native.Type):
        return declared
    if isinstance(declared, str):
        return _native.Type(definitions.signature_of(declared) if definitions.NAME.fullmatch(declared) else declared)
    return _native.Type(_signature.of(declared))
