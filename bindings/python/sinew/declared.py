"""From what is declared in Python to a type of messages."""

from __future__ import annotations

from typing import Any, Optional

from . import _native, _signature, definitions

__all__ = ["type_of"]


def type_of(declared: Any) -> _native.Type:
    """The type of messages that something declares: a dataclass, an annotation (`sinew.uint32`, `List[float]`), the ROS name of a definition ("sensor_msgs/msg/Image"), a signature (spec/types.md), a Type, or a message that was received, which has one. What takes a type takes all of these.

    Raises TypeError where it declares none, InvalidArgument where it is no signature, DefinitionError where the definition is not there or wrong.
    """
    if isinstance(declared, _native.Type):
        return declared
    if isinstance(declared, (_native.Message, _native.Sequence, _native.Draft)):
        return declared._type
    if isinstance(declared, str):
        return _native.Type(definitions.signature_of(declared) if definitions.NAME.fullmatch(declared) else declared)
    return _native.Type(_signature.of(declared))


def type_of_class(cls: type) -> Optional[_native.Type]:
    """Of a class that is declared as a message, or inherits from one without fields of its own. None of all others, also of plain dataclasses: those are whatever has their fields."""
    for each in cls.__mro__:
        if "__sinew_name__" in vars(each):
            return type_of(each)
        if "__dataclass_fields__" in vars(each):
            break
    return None
