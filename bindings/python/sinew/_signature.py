"""The signature (spec/types.md) of what is declared in Python. All errors are TypeErrors whose text begins with the place: `robot/Image.data: ...`."""

from __future__ import annotations

import dataclasses
import enum
import re
import sys
import typing
from typing import Annotated, Any, Dict, List, Tuple, Union

import numpy as np

from .types import Number, Length

MOST_FIELDS = 128
MOST_BYTES = 32768

# What an annotation alone says.
_PLAIN: Dict[Any, str] = {bool: "bool", int: "int64", float: "float64", str: "string", bytes: "uint8[]"}
_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_NUMBERS = _INTEGERS | {"bool", "float32", "float64"}
_UNIONS = {Union, getattr(sys.modules["types"], "UnionType", Union)}
# Of letters, digits, bytes of UTF-8, and these; more of them within template arguments.
_NAME = re.compile(r"[\w/.\-]+(<[\w/.\-<>\[\]?, ]*>)?")

# How to say what cannot be said like this.
_INSTEAD = {
    bytearray: "write bytes or NDArray[np.uint8]",
    complex: "write a dataclass of two floats",
    dict: "write a list of a dataclass with the fields `key` and `value`",
    list: "say of what: list[int]",
    np.ndarray: "say of what: numpy.typing.NDArray[np.float32]",
    object: "it must be known what is in there",
    set: "write a list",
    tuple: "write a dataclass, or sinew.Array[int, 3] where all are of one type",
    type(None): "it must be known what is in there",
}


def of(declared: Any) -> str:
    """The signature of a dataclass, or of whatever can be a message on its own, as `sinew.uint32`."""
    text = _type(declared, getattr(declared, "__name__", str(declared)), ())
    if len(text.encode()) > MOST_BYTES:
        raise TypeError(f"{_name(declared)}: the type has more than {MOST_BYTES} bytes as a signature: make it of fewer fields, or shorter names")
    return text


def check_name(name: str, cls: type) -> None:
    if not _NAME.fullmatch(name):
        raise TypeError(f"{cls.__name__}: {name!r} is no name of a type: it has letters, digits, '_', '.', '-' and '/', as 'robot/Image'")


def integer_of(number: Any) -> str:
    """The kind of an integer: of `sinew.uint8`, "uint8"."""
    kind = next((each.kind for each in getattr(number, "__metadata__", ()) if isinstance(each, Number)), _PLAIN.get(number))
    if kind not in _INTEGERS:
        raise TypeError(f"{number!r} is not an integer: say sinew.uint8 or the like")
    return kind


def _name(cls: Any) -> str:
    return typing.cast(str, vars(cls).get("__sinew_name__", cls.__name__))


def _unaliased(wanted: Any) -> Any:
    """What an alias stands for (`type Pixels = ...`), as NumPy's NDArray is one from 2.5 on."""
    origin = typing.get_origin(wanted)
    if hasattr(origin, "__value__"):
        return _unaliased(origin.__value__[typing.get_args(wanted)])
    return _unaliased(wanted.__value__) if hasattr(wanted, "__value__") else wanted


def _type(wanted: Any, place: str, outer: Tuple[type, ...]) -> str:
    wanted = _unaliased(wanted)
    if typing.get_origin(wanted) is Annotated:
        return _annotated(wanted, place, outer)
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in _UNIONS:
        return _optional(arguments, place, outer)
    if origin is list:
        return _type(arguments[0], place, outer) + "[]"
    if origin is np.ndarray:
        return _array(wanted, place)
    if dataclasses.is_dataclass(wanted) and not isinstance(wanted, type):
        raise TypeError(f"{type(wanted).__name__}(...) is a message, and a type is wanted: {type(wanted).__name__}")
    parts = [name for name in ("Request", "Response", "Goal", "Result", "Feedback") if isinstance(wanted, type) and isinstance(getattr(wanted, name, None), type)]
    if len(parts) > 1 and not dataclasses.is_dataclass(wanted):
        raise TypeError(f"{wanted.__name__} is a service or an action: messages are its {' and '.join(f'{wanted.__name__}.{name}' for name in parts)}")
    if not isinstance(wanted, type) or origin is not None:
        raise TypeError(f"{place}: {_spelled(wanted)} cannot be in a message{_instead(origin)}")
    if wanted in _PLAIN:
        return _PLAIN[wanted]
    if "__sinew_type__" in vars(wanted):
        return typing.cast(str, vars(wanted)["__sinew_type__"])
    if issubclass(wanted, enum.Enum):
        return _enumeration(wanted, place)
    if dataclasses.is_dataclass(wanted):
        return _structure(wanted, place, outer)
    if issubclass(wanted, np.generic):
        raise TypeError(f"{place}: {_spelled(wanted)} is what NumPy has in arrays; a field of its own is sinew.{np.dtype(wanted).name}")
    raise TypeError(f"{place}: {_spelled(wanted)} cannot be in a message{_instead(wanted)}")


def _annotated(wanted: Any, place: str, outer: Tuple[type, ...]) -> str:
    base = typing.get_args(wanted)[0]
    for word in wanted.__metadata__:
        if isinstance(word, Number):
            return word.kind
        if isinstance(word, Length):
            return f"{_type(base, place, outer)[:-2]}[{word.count}]"  # in place of `[]`
    return _type(base, place, outer)


def _optional(arguments: Tuple[Any, ...], place: str, outer: Tuple[type, ...]) -> str:
    rest = [each for each in arguments if each is not type(None)]
    if len(rest) != 1 or len(rest) == len(arguments):
        raise TypeError(f"{place}: a field has one type, or Optional of one; here are {' and '.join(map(_spelled, arguments))}")
    return _type(rest[0], place, outer) + "?"


def _array(wanted: Any, place: str) -> str:
    of_numbers = typing.get_args(typing.get_args(wanted)[-1])
    element = of_numbers[0] if of_numbers else None
    kind = np.dtype(element).name if isinstance(element, type) and issubclass(element, np.generic) and not _is_abstract(element) else None
    if kind not in _NUMBERS:
        raise TypeError(f"{place}: {_spelled(element or wanted)} is not what arrays in messages are of: those are bool, int8 to uint64, float32 and float64")
    return f"{kind}[]"


def _is_abstract(scalar: type) -> bool:
    return scalar in (np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating, np.complexfloating, np.flexible, np.character)


def _enumeration(wanted: Any, place: str) -> str:
    if not issubclass(wanted, enum.IntEnum):
        raise TypeError(f"{place}: {wanted.__name__} is an enumeration, but not of integers: make it an enum.IntEnum")
    kind = vars(wanted).get("__sinew_number__", "int32")
    limits = np.iinfo(kind)
    for value in wanted:
        if not limits.min <= value <= limits.max:
            raise TypeError(f"{place}: {wanted.__name__}.{value.name} is {int(value)}, more than {kind} holds: write @sinew.enumeration(sinew.int64) above {wanted.__name__}")
    return f"{_name(wanted)}({kind})"


def _structure(wanted: type, place: str, outer: Tuple[type, ...]) -> str:
    if wanted in outer:
        raise TypeError(f"{place}: {_name(wanted)} contains itself, by way of {' and '.join(_name(each) for each in outer[outer.index(wanted):])}")
    fields = dataclasses.fields(wanted)
    if len(fields) > MOST_FIELDS:
        raise TypeError(f"{place}: {_name(wanted)} has {len(fields)} fields, and a structure at most {MOST_FIELDS}")
    hints = _hints(wanted, place)
    inner = [f"{each.name}:{_type(hints[each.name], f'{_name(wanted)}.{each.name}', (*outer, wanted))};" for each in fields]
    return f"{_name(wanted)}{{{''.join(inner)}}}"


def _hints(wanted: type, place: str) -> Dict[str, Any]:
    try:
        return typing.get_type_hints(wanted, include_extras=True)
    except NameError as error:
        raise TypeError(f"{place}: an annotation of {wanted.__name__} cannot be found: {error}. Write it where the whole module sees it") from error
    except TypeError as error:
        raise TypeError(f"{place}: an annotation of {wanted.__name__} means nothing to this Python: {error}. Before 3.10, `T | None` is Optional[T]") from error


def _spelled(wanted: Any) -> str:
    return wanted.__name__ if isinstance(wanted, type) and typing.get_origin(wanted) is None else str(wanted).replace("typing.", "")


def _instead(wanted: Any) -> str:
    return f": {_INSTEAD.get(wanted, 'make it a dataclass')}"
