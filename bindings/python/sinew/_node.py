"""What a node creates: those methods of Node that look at their arguments, so that who errs is told in a sentence, and leave the rest to the native ones."""

from __future__ import annotations

import inspect
import numbers
from typing import Any, Dict, Tuple

from . import _arguments, _manual, _native

_NATIVE: Dict[str, Any] = {name: vars(_native.Node)[name] for name in ("create_publisher", "subscribe", "create_client", "provide", "create_timer", "watch")}


def create_publisher(self: Any, topic: Any, type: Any, *more: Any, **options: Any) -> Any:
    _arguments.require_order("create_publisher", "topic", (topic, type, *more), 2)
    _require_on_event(f"the publisher of {topic!r}", options)
    return _create("create_publisher", self, (topic, type), options)


def subscribe(self: Any, topic: Any, type: Any = None, callback: Any = None, *more: Any, **options: Any) -> Any:
    _arguments.require_order("subscribe", "topic", (topic, type, callback, *more) if more or callback is not None else (topic, type), 3)
    if inspect.isroutine(type):
        raise TypeError(f"where no type is given, the callback goes by its name: subscribe({topic!r}, callback={_arguments.spelled(type)})")
    owner = f"the subscriber of {topic!r}"
    if callback is not None:
        _arguments.require_callback(owner, callback, "message", "message, info")
    _require_on_event(owner, options)
    return _create("subscribe", self, (topic, type, callback), options)


def create_client(self: Any, service: Any, request: Any = None, response: Any = None, *more: Any, **options: Any) -> Any:
    _arguments.require_order("create_client", "service", (service, request, response, *more) if more or response is not None else (service, request), 3)
    parts = _arguments.service_parts(request)
    if isinstance(service, str) and request is not None and response is None and not parts:
        _arguments.refuse_service(f"create_client({service!r}, Request, Response)", request)
    request, response = parts or (request, response)
    return _create("create_client", self, (service, request, response), options)


def provide(self: Any, service: Any, request: Any, response: Any = None, handler: Any = None, *more: Any, **options: Any) -> Any:
    given = tuple(each for each in (service, request, response, handler, *more) if each is not None)
    _arguments.require_order("provide", "service", given, 4)
    parts = _arguments.service_parts(request)
    if parts and handler is None:
        response, handler = None, response
    elif handler is None and not parts:
        _arguments.refuse_service(f"provide({service!r}, Request, Response, handler)", request)
    request, response = parts or (request, response)
    _arguments.require_callback(f"the provider of {service!r}", handler, "call" if options.get("deferred") else "request")
    return _create("provide", self, (service, request, response, handler), options)


def create_timer(self: Any, period: Any, callback: Any, *, execution_thread: int = 0) -> Any:
    _arguments.require_callback("a timer", callback, "")
    if not isinstance(period, numbers.Real):
        raise TypeError(f"the period of a timer is a number of seconds, as in create_timer(0.1, callback), and not {_arguments.spelled(period)}")
    return _NATIVE["create_timer"](self, period, callback, execution_thread=execution_thread)


def watch(self: Any, callback: Any, *, execution_thread: int = 0) -> Any:
    _arguments.require_callback("a watch", callback, "update")
    return _NATIVE["watch"](self, callback, execution_thread=execution_thread)


def _require_on_event(owner: str, options: Dict[str, Any]) -> None:
    if options.get("on_event") is not None:
        _arguments.require_callback(owner, options["on_event"], "event")


def _create(method: str, node: Any, given: Tuple[Any, ...], options: Dict[str, Any]) -> Any:
    _arguments.require_options(method, options, _manual.OPTIONS[method])
    try:
        return _NATIVE[method](node, *given, **options)
    except TypeError as error:
        if "incompatible function arguments" not in str(error):
            raise
        raise TypeError(f"{method}({given[0]!r}): one of the options cannot be what is given, {options!r}: help(sinew.Node.{method}) tells what they are") from None


for _method in (create_publisher, subscribe, create_client, provide, create_timer, watch):
    setattr(_native.Node, _method.__name__, _method)
