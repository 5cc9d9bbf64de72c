"""Quality of service: what a publisher offers and a subscriber asks for.

    node.create_publisher("map", Map, qos=sinew.Qos(depth=1, reliable=True, transient_local=True))
    node.subscribe("scan", qos=sinew.qos.sensor_data)
    node.create_publisher("pose", Pose, qos=10)                      # sinew.Qos(depth=10)

Where a publisher offers less than a subscriber asks for, the two are not connected: the event INCOMPATIBLE_QOS tells both.
"""

from __future__ import annotations

import dataclasses
import operator
from typing import Any, Optional

__all__ = ["Qos", "latched", "sensor_data", "services", "system_default"]

MOST_DEPTH = 512
LONGEST_S = 100 * 365 * 24 * 3600


@dataclasses.dataclass(frozen=True)
class Qos:
    """A value; `dataclasses.replace(qos, depth=1)` makes another. The defaults of both sides fit. Durations are seconds, above 0 and at most 100 years.

    Raises ValueError for what is out of range, and TypeError for what is of another type.
    """

    depth: int = 8
    """1 to 512: so many of the newest messages of each publisher are kept; older ones that were not taken are lost, and counted as missed."""
    keep_all: bool = False
    """As many as a ring has (1024), in place of `depth`; a subscriber of another user 8 at most, of either. A reliable publisher, whatever it keeps, waits for a reliable subscriber that keeps all and is a whole ring behind, at most `max_blocking`."""
    reliable: bool = False
    """A best-effort publisher is not connected to a reliable subscriber."""
    transient_local: bool = False
    """A publisher keeps its newest messages for those who come late; a subscriber asks for what was kept. A volatile publisher is not connected to a subscriber that asks."""
    manual_by_topic: bool = False
    """A publisher shows that it is alive by publishing, or assert_liveliness(), within each `lease`; else its process answers for it."""
    deadline: Optional[float] = None
    """No two messages are further apart. None: no promise."""
    lifespan: Optional[float] = None
    """Of a publisher: its messages that are older are not delivered. None: they never are too old. Of a subscriber it means nothing."""
    lease: Optional[float] = None
    """A sign of life comes at least so often. None: the end of its process tells."""

    def __post_init__(self) -> None:
        if _whole(self.depth) is None:
            raise TypeError(f"depth={self.depth!r}: it is a whole number of messages, as in sinew.Qos(depth=10)")
        for name in ("keep_all", "reliable", "transient_local", "manual_by_topic"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}={getattr(self, name)!r}: it is True or False, as in sinew.Qos({name}=True); bool(...) makes one of other values")
        if not 1 <= self.depth <= MOST_DEPTH:
            raise ValueError(f"a depth of {self.depth}: 1 to {MOST_DEPTH} messages of a publisher can be kept, or all of them, by keep_all")
        for name in ("deadline", "lifespan", "lease"):
            duration = getattr(self, name)
            if duration is not None and not 0 < duration <= LONGEST_S:
                raise ValueError(f"a {name} of {duration} s: it is above 0 and at most 100 years, or None")


def _whole(given: Any) -> Optional[int]:
    """The whole number that it is, or None."""
    if isinstance(given, bool):  # which is a number to Python, and not what is meant by one
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


sensor_data = Qos(depth=5)
"""The newest five, best effort: ROS 2's SensorDataQoS."""
services = Qos(depth=10, reliable=True)
"""The newest ten, reliable: ROS 2's ServicesQoS, and what its topics have unless told otherwise. Both sides must have it."""
system_default = Qos()
"""What is used where nothing is said."""
latched = Qos(depth=1, reliable=True, transient_local=True)
"""The newest message, also for those who come late: ROS 1's latched topics. Both sides must have it."""


def asked(given: Any) -> Qos:
    """What `qos=` says: a Qos, or a number, which is its depth."""
    if isinstance(given, Qos):
        return given
    depth = _whole(given)
    if depth is not None:
        return Qos(depth=depth)
    preset = f" sinew.qos.{given} is one." if isinstance(given, str) and given in __all__[1:] else ""
    raise TypeError(f"qos={given!r}: it is a sinew.Qos, as qos=sinew.Qos(depth=10, reliable=True), or a number, the depth.{preset}")
