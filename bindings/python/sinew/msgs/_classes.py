"""Makes dataclasses of definitions."""

from __future__ import annotations

import dataclasses
import keyword
import threading
from typing import Annotated, Any, Callable, Dict, List, Tuple

import numpy as np
from numpy.typing import NDArray

from .. import _values, definitions
from ..msggen.sinew_msggen.definition import PARTS, PLACEHOLDER, Array
from ..types import Length, Number

_made: Dict[str, type] = {}
# Of each there is one class, whichever thread asks first.
_making = threading.RLock()

_NUMPY = {"bool": "bool", "byte": "uint8", "char": "uint8"}
_TEXTS = ("string", "wstring")


def interface(name: str) -> type:
    """Of a message its class; of a service or action one that has those of its parts."""
    package, kind, base = name.split("/")
    if kind == "msg":
        return structure(name)
    with _making:
        if name not in _made:
            parts = {suffix[1:]: structure(name + suffix) for suffix in PARTS[kind]}
            _made[name] = type(base, (), {"__module__": f"sinew.msgs.{package}.{kind}", "__doc__": f"{name}: {', '.join(parts)}.", **parts})
        return _made[name]


def structure(name: str) -> type:
    """The class of a message, or of a part of a service or action. There is one of each."""
    with _making:
        if name not in _made:
            _made[name] = _make(definitions.structure(name))
        return _made[name]


def _make(found: Any) -> type:
    fields: List[Tuple[str, Any, Any]] = []
    for each in found.fields:
        if keyword.iskeyword(each.name):
            raise TypeError(f"{found.name} has a field `{each.name}`, which Python takes for itself: publish a draft, publisher.type.draft(**{{{each.name!r}: ...}}), or a mapping")
        annotation, default = _of(each.type, each.default)
        fields.append((each.name, annotation, default))
    module = f"sinew.msgs.{found.package}.{found.kind}"
    base, _, part = found.base.rpartition("_")
    names = {
        "__doc__": "\n".join(line.strip() for line in found.above) or found.name,
        "__qualname__": f"{base}.{part}" if found.kind != "msg" else found.base,
        "__sinew_name__": found.name,
        "__sinew_type__": definitions.signature_of(found.name),
        "__eq__": _values.equal,
        **{each.name: each.value for each in found.constants},
    }
    if not fields:
        names[PLACEHOLDER] = 0  # in ROS 2 a structure has at least this one
    made = dataclasses.make_dataclass(part if found.kind != "msg" else found.base, fields, namespace=names, eq=False)
    made.__module__ = module  # from Python 3.12 on, make_dataclass() sets it, to this one
    return made


def _of(type: Any, default: Any) -> Tuple[Any, Any]:
    """The annotation of a field, and the field with its default."""
    count = type.size if type.array is Array.FIXED else 0
    kind = _NUMPY.get(type.base, type.base)
    annotation: Any
    default_factory: Callable[[], Any]
    if not type.is_primitive:
        one = structure(type.name)
        if type.array is Array.NONE:
            return one, dataclasses.field(default_factory=one)
        annotation, default_factory = List[one], lambda: [one() for _ in range(count)]  # type: ignore[valid-type]
    elif type.base in _TEXTS:
        if type.array is Array.NONE:
            return str, dataclasses.field(default=default or "")
        texts = default if default is not None else [""] * count
        annotation, default_factory = List[str], lambda: list(texts)
    elif type.array is Array.NONE:
        plain = bool if kind == "bool" else float if kind.startswith("float") else int
        return plain if plain is bool else Annotated[plain, Number(kind)], dataclasses.field(default=default if default is not None else plain())
    else:
        numbers = np.array(default if default is not None else [0] * count, np.dtype(kind))
        annotation, default_factory = NDArray[numbers.dtype.type], numbers.copy  # type: ignore[name-defined]
    return Annotated[annotation, Length(count)] if count else annotation, dataclasses.field(default_factory=default_factory)
