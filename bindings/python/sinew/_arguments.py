"""What is said of arguments that cannot be meant, before the native module sees them."""

from __future__ import annotations

import difflib
import inspect
from typing import Any, Dict, Iterable, NoReturn, Optional, Tuple

from . import definitions


def require_order(method: str, first: str, given: Tuple[Any, ...], most: int) -> None:
    """The name of a topic or service comes first, and `most` arguments go by their places: in rclpy the type comes first, and the QoS goes by its place, too."""
    is_swapped = len(given) > 1 and not isinstance(given[0], str) and isinstance(given[1], str)
    if not is_swapped and len(given) <= most:
        return
    places = [given[1], given[0], *given[2:most]] if is_swapped else given[:most]
    words = [*map(spelled, places), *(f"qos={spelled(each)}" for each in given[most : most + 1])]
    raise TypeError(f"{f'the {first} comes first' if is_swapped else 'options go by their names'}: {method}({', '.join(words)})")


def require_callback(owner: str, given: Any, *calls: str) -> None:
    """`calls`: the arguments with which it may be called, as "message, info". What cannot be told is not refused."""
    if not callable(given):
        raise TypeError(f"{owner} needs something that can be called, and {spelled(given)} cannot be")
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError):
        return
    for each in calls:
        try:
            signature.bind(*filter(None, each.split(", ")))
            return
        except TypeError:
            pass
    name = spelled(given)
    raise TypeError(f"{owner} calls {' or '.join(f'{name}({each})' for each in calls)}, and it is {name}{signature}")


def require_options(method: str, given: Dict[str, Any], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"{method}() has no option {name!r}" + (f". Did you mean {near[0]!r}?" if near else f": there are {', '.join(known)}"))


def service_parts(given: Any) -> Optional[Tuple[Any, Any]]:
    """Request and response of a service of ROS: of a class that has both, or of the name of a definition, as "std_srvs/srv/Trigger"."""
    if isinstance(given, str):
        is_service = definitions.NAME.fullmatch(given) and given.split("/")[1] == "srv" and not given.endswith(("_Request", "_Response"))
        return (given + "_Request", given + "_Response") if is_service else None
    parts = getattr(given, "Request", None), getattr(given, "Response", None)
    return parts if isinstance(given, type) and all(isinstance(each, type) for each in parts) else None


def refuse_service(meant: str, given: Any) -> NoReturn:
    raise TypeError(f"{spelled(given)} is no service, which has a Request and a Response: {meant}, or a class of sinew.msgs, as std_srvs.srv.Trigger, in place of both")


def spelled(given: Any) -> str:
    """As it may stand in a program."""
    if isinstance(given, type) or inspect.isroutine(given):
        return given.__name__
    most = 60
    shown = repr(given)
    return shown if len(shown) <= most else shown[:most] + "..."


class Culprit:
    """The `object` of what sys.unraisablehook is told when a callback raised."""

    def __init__(self, function: Any, owner: str):
        self.function = function
        self.owner = owner
        """"the subscriber of 'chat'" """

    def __repr__(self) -> str:
        return f"{self.function!r}, called by {self.owner}"
