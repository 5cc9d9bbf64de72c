"""Not run, but checked by test_typing.py: what type checkers know of sinew. A line that says `type: ignore` is wrong in just this way."""

import enum
from typing import Any, List, Literal, Optional, Tuple

import numpy as np
import sinew
from numpy.typing import NDArray
from sinew.msgs.geometry_msgs.msg import Point, Twist
from sinew.msgs.sensor_msgs.msg import Image, NavSatStatus
from sinew.msgs.std_srvs.srv import SetBool
from typing_extensions import assert_type


@sinew.enumeration(sinew.uint8, "robot/Mode")
class Mode(enum.IntEnum):
    idle = 0


@sinew.message("robot/State")
class State:
    number: sinew.uint64
    mode: Mode
    position: Point
    matrix: sinew.Array[sinew.float32, Literal[9]]
    maybe: Optional[float]
    raw: bytes
    names: List[str]
    data: NDArray[np.uint8]


@sinew.message
class Plain:
    x: sinew.float32 = 0.0


def declared() -> None:
    state = State(1, Mode.idle, Point(1.0, 2.0), [0.0] * 9, None, b"", ["a"], np.zeros(3, np.uint8))
    assert_type(state.number, int)
    assert_type(state.position.x, float)
    assert_type(state.maybe, Optional[float])
    assert_type(Plain(), Plain)
    State("1", Mode.idle, Point(), [0.0] * 9, None, b"", [], np.zeros(3, np.uint8))  # type: ignore[arg-type]
    Plain(y=1)  # type: ignore[call-arg]
    assert_type(sinew.type_of(State), sinew.Type)
    assert_type(sinew.type_of(sinew.uint32), sinew.Type)


def of_definitions() -> None:
    assert_type(Twist().linear.x, float)
    assert_type(Image(height=3).data, NDArray[np.uint8])
    assert_type(NavSatStatus.STATUS_FIX, int)
    assert_type(SetBool.Request(data=True), SetBool.Request)
    Twist(linear=3)  # type: ignore[arg-type]
    Twist().angular.w  # type: ignore[attr-defined]


def topics(node: sinew.Node) -> None:
    assert_type(node.create_publisher("state", State), sinew.Publisher[State])
    node.create_publisher("state", State, qos=sinew.qos.latched, when_full="wait").publish({"number": 3})
    node.create_publisher("state", State).publish(Plain())  # type: ignore[arg-type]
    node.create_publisher("state", State, qos=10)
    node.create_publisher("state", State, qos="latched")  # type: ignore[call-overload]
    node.create_publisher("state", State, dept=3)  # type: ignore[call-overload]
    assert_type(node.create_publisher("count", sinew.uint32), sinew.Publisher[int])
    assert_type(node.create_publisher("image", "sensor_msgs/msg/Image"), sinew.Publisher[Any])
    with node.create_publisher("image", Image).loan(data=(1080, 1920, 3)) as draft:
        draft.data[...] = 0
    assert_type(node.subscribe("state", State), sinew.Subscriber[State])
    for state, info in node.subscribe("state", State, timeout=1.0):
        assert_type(state, State)
        assert_type(info, sinew.MessageInfo)
        assert_type(info.source_time_ns, int)
    assert_type(node.subscribe("state"), sinew.Subscriber[Any])
    assert_type(node.subscribe("state", State).take(), Tuple[State, sinew.MessageInfo])
    assert_type(sinew.image_array(Image()), "np.ndarray[Any, Any]")
    node.subscribe("state", State, lambda message: print(message.number))
    node.subscribe("state", State, lambda message, info: print(message.number, info.missed))


async def in_asyncio(node: sinew.Node) -> None:
    async for state, info in node.subscribe("state", State):
        assert_type(state, State)
        assert_type(info, sinew.MessageInfo)
    answer = await node.create_client("set", SetBool.Request, SetBool.Response).call_async(SetBool.Request(True))
    assert_type(answer, SetBool.Response)


def services(node: sinew.Node) -> None:
    def answer(request: SetBool.Request) -> SetBool.Response:
        return SetBool.Response(request.data)

    assert_type(node.provide("set", SetBool.Request, SetBool.Response, answer), sinew.Provider[SetBool.Request, SetBool.Response])
    assert_type(node.provide("set", SetBool, answer), sinew.Provider[SetBool.Request, SetBool.Response])
    assert_type(node.create_client("set", SetBool), sinew.Client[SetBool.Request, SetBool.Response])
    node.provide("set", "std_srvs/srv/SetBool", lambda request: {"success": request.data})
    client = node.create_client("set", SetBool.Request, SetBool.Response)
    assert_type(client, sinew.Client[SetBool.Request, SetBool.Response])
    assert_type(client.call(SetBool.Request(True), timeout=1.0), SetBool.Response)
    client.call(SetBool.Response())  # type: ignore[arg-type]
    client.call_async(SetBool.Request()).add_done_callback(lambda future: print(future.result().success))
