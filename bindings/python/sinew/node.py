"""Nodes, with types as Python declares them."""

from __future__ import annotations

import dataclasses
import enum
import typing
from typing import Any, Callable, Optional

from . import _native, _signature, definitions

__all__ = ["Node", "type_of"]


def type_of(declared: Any) -> _native.Type:
    """The type of messages that something declares: a dataclass, an annotation (`sinew.uint32`, `list[float]`), the ROS name of a definition ("sensor_msgs/msg/Image"), a signature (spec/types.md), or a Type.

    Raises TypeError where it declares none, DefinitionError where the definition is not there or wrong.
    """
    if isinstance(declared, _native.Type):
        return declared
    if isinstance(declared, str):
        return _native.Type(definitions.signature_of(declared) if definitions.NAME.fullmatch(declared) else declared)
    known = getattr(declared, "__dict__", {}).get("__sinew_type__")
    if known is None:
        known = _signature.of(declared)
    return known if isinstance(known, _native.Type) else _native.Type(known)


class Node(_native.Node):
    """A process's part in a domain.

        with sinew.Node("camera") as node:
            images = node.publish("camera/image", Image)
            node.timer(1 / 30, lambda: images.publish(grab()))
            node.spin()

    Joins the domain under its name, or what SINEW_NODE says; the first node starts the domain's manager. Types are whatever `sinew.type_of()` takes. Callbacks run on a thread of the library's, one at a time, also while
    `spin()` does not run: that only waits, until Ctrl-C.
    """

    def publish(self, topic: str, type: Any, **options: Any) -> _native.Publisher:
        return super().publish(topic, type_of(type), **options)

    def subscribe(self, topic: str, type: Any = None, callback: Optional[Callable[..., object]] = None, **options: Any) -> _native.Subscriber:
        return super().subscribe(topic, None if type is None else type_of(type), callback, **options)

    def call(self, service: str, request: Any = None, response: Any = None, **options: Any) -> _native.Client:
        return super().call(service, None if request is None else type_of(request), None if response is None else type_of(response), **options)

    def provide(self, service: str, request: Any, response: Any, handler: Callable[[Any], Any], **options: Any) -> _native.Provider:
        return super().provide(service, type_of(request), type_of(response), handler, **options)
