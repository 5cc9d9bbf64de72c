"""What help() says: the native classes and their methods get their texts and signatures from `_manual`, which has them from the stub."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, MethodDescriptorType
from typing import Any

from . import _manual, _native


def _give(cls: Any, told: Any) -> None:
    cls.__doc__ = told.__doc__
    for name, text in vars(told).items():
        if isinstance(text, FunctionType):
            text.__module__ = _native.__package__
        native = vars(cls).get(name)
        if isinstance(text, property) and isinstance(native, property):
            native.__doc__ = text.__doc__
        elif isinstance(native, FunctionType):
            functools.update_wrapper(native, text)
        elif isinstance(native, MethodDescriptorType):
            _native._describe(native, f"{name}{_plain(text)}\n--\n\n{text.__doc__ or ''}")
        elif isinstance(text, FunctionType) and native is not None:
            setattr(cls, name, _method(native, text))


def _plain(text: Any) -> str:
    """The signature as Python's own methods have it: without annotations."""
    nothing = inspect.Parameter.empty
    signature = inspect.signature(text)
    bare = signature.replace(parameters=[each.replace(annotation=nothing) for each in signature.parameters.values()], return_annotation=nothing)
    return str(bare).replace("(self", "($self")


def _method(native: Any, text: Any) -> Any:
    """What help() does not know for a method, as one that it does."""

    @functools.wraps(text)
    def method(self: Any, *given: Any, **named: Any) -> Any:
        return native(self, *given, **named)

    return method


for _name, _told in list(vars(_manual).items()):
    if isinstance(_told, type) and hasattr(_native, _name):
        _give(getattr(_native, _name), _told)
