"""From what is declared in Python to a type of messages."""

from __future__ import annotations

import difflib
from typing import Any, List, Optional

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
        return _named(declared)
    return _native.Type(_signature.of(declared))


def _named(name: str) -> _native.Type:
    if definitions.NAME.fullmatch(name):
        return _native.Type(definitions.signature_of(name))
    try:
        return _native.Type(name)
    except _native.InvalidArgument:
        meant = _meant(name)
        if not meant:
            raise
        raise _native.InvalidArgument(f"{name!r} is no type. Did you mean {' or '.join(map(repr, meant))}?") from None


def _meant(name: str) -> List[str]:
    """ROS names that are like this one: with the folder that ROS 1 leaves out, or with the package."""
    *package, base = name.split("/")
    of_base = [each for each in definitions.names() if each.split("/")[2] == base]
    of_package = [each for each in of_base if package == each.split("/")[:1]]
    most = 3
    return of_package or (of_base[:most] if name == base else difflib.get_close_matches("/".join([*package, "msg", base]), definitions.names(), 1))


def type_of_class(cls: type) -> Optional[_native.Type]:
    """Of a class that is declared as a message, or inherits from one without fields of its own. None of all others, also of plain dataclasses: those are whatever has their fields."""
    for each in cls.__mro__:
        if "__sinew_name__" in vars(each):
            return type_of(each)
        if "__dataclass_fields__" in vars(each):
            break
    return None
