"""What Python does of the matrix of test_interop.py; interop.cpp and rust/sinew/examples/interop.rs are the others. Half of it by dataclasses and half without, as a viewer that knows nothing of the type."""

import enum
import sys
import time
from typing import List, Optional

import numpy as np
import sinew
from numpy.typing import NDArray


@sinew.enumeration(sinew.uint8, "robot/Mode")
class Mode(enum.IntEnum):
    idle = 0
    driving = 1
    broken = 2


@sinew.message("robot/Point")
class Point:
    x: sinew.float32
    y: sinew.float32
    z: sinew.float32


@sinew.message("robot/Header")
class Header:
    number: sinew.uint64
    frame_id: str


@sinew.message("robot/Everything")
class Everything:
    header: Header
    flag: bool
    small: sinew.int8
    medium: sinew.int16
    mixed: sinew.uint32
    big: int
    ratio: sinew.float32
    exact: float
    mode: Mode
    text: str
    position: sinew.Array[float, 3]
    data: NDArray[np.uint8]
    points: List[Point]
    names: List[str]
    maybe: Optional[float]
    bits: List[bool]


def message_of(n):
    """The message of a number, which is the same in all languages."""
    points = np.zeros(n % 7 * 300, [("x", "f4"), ("y", "f4"), ("z", "f4")])
    points["x"] = np.arange(len(points))
    points["y"] = n
    points["z"] = -points["x"]
    return Everything(
        Header(n, f"frame of number {n}"),
        n % 2 == 1,
        -(n % 100),
        -(n % 30000),
        n * 2654435761 % 2**32,
        -n * 10**12,
        n / 4,
        n / 8,
        Mode(n % 3),
        "grün " * (n % 50),
        [n, -n, n / 2],
        ((n + np.arange(n % 5 * 50000)) % 256).astype(np.uint8),
        points,
        [f"name {i}" for i in range(n % 4)],
        n / 2 if n % 2 else None,
        [i % 3 == 0 for i in range(n % 17)],
    )


def require(is_so, what, number):
    if not is_so:
        sys.exit(f"{what}: number {number}")


def check(message, number):
    """A message that was received is the one of its number."""
    expected = message_of(number)
    for name in Everything.__dataclass_fields__:
        value, wanted = getattr(message, name), getattr(expected, name)
        if name == "header":
            value, wanted = (value.number, value.frame_id), (wanted.number, wanted.frame_id)
        elif name in ("position", "data", "points", "bits"):
            value, wanted = np.asarray(value).tolist(), np.asarray(wanted).tolist()
        elif name == "names":
            value = list(value)
        require(value == wanted, f"{name} is {str(value)[:200]} and not {str(wanted)[:200]}", number)


def publish(node, _):
    publisher = node.create_publisher("everything", Everything)
    number = 0
    while True:
        number += 1
        message = message_of(number)
        if number % 2:
            publisher.publish(message)
        else:
            with publisher.loan(data=len(message.data)) as loan:
                for name in Everything.__dataclass_fields__:
                    if name != "data":
                        setattr(loan, name, getattr(message, name))
                loan.data[...] = message.data
        time.sleep(0.005)


def subscribe(node, count):
    ways, before = set(), 0
    for message, info in node.subscribe("everything", timeout=60):
        require(message.header.number > before, "not newer", message.header.number)
        before = message.header.number
        check(message, before)
        ways.add(info.delivery)
        count -= 1
        if count == 0:
            break
    print("".join(f"delivery {way}\n" for way in sorted(ways)), end="")


def provide(node, _):
    def answer(request):
        if request.header.number % 13 == 0:
            raise ValueError("unlucky")
        check(request, request.header.number)
        return message_of(request.header.number + 1)

    node.provide("next", Everything, Everything, answer)
    node.spin()


def call(node, count):
    client = node.create_client("next", timeout=60)
    for number in range(1, count + 1):
        try:
            check(client.call(message_of(number), 60), number + 1)
            require(number % 13, "not refused", number)
        except sinew.CallFailed as error:
            require(number % 13 == 0 and "unlucky" in str(error), error, number)


role, count = sys.argv[1], int((*sys.argv[2:], 0)[0])
with sinew.Node(role) as node:
    {"publish": publish, "subscribe": subscribe, "provide": provide, "call": call}[role](node, count)
