"""Messages between the processes of a robot, read where their publisher wrote them.

    import sinew

    with sinew.Node("viewer") as node:
        for image, info in node.subscribe("camera/image"):
            print(image.header.frame_id, sinew.image_array(image).mean(), info.publisher)

A Node publishes and subscribes to topics, and calls and provides services, beside programs in C++, Rust and Python. Arrays in messages are NumPy arrays in the publisher's memory. docs/python.md takes ten minutes; then:

- `sinew.Node` creates everything: publishers, subscribers, clients, providers, timers
- `sinew.message`, `sinew.types`: types by dataclasses; `sinew.msgs`, `sinew.definitions`: those of ROS, and your own definitions
- `sinew.Qos`, `sinew.qos`: quality of service, and its presets
- `sinew.image_array`: images as arrays
- `sinew.Error`, and those below it: what can go wrong
"""

from types import GenericAlias as _GenericAlias

from . import _node, _texts, definitions, qos, types
from ._native import (
    Call,
    CallFailed,
    Cancelled,
    Client,
    Closed,
    Counters,
    DecodeError,
    Denied,
    Disconnected,
    DomainEndpoint,
    DomainNode,
    DomainPair,
    DomainTopic,
    DomainUpdate,
    Draft,
    EncodeError,
    Error,
    Event,
    Exhausted,
    Incompatible,
    InvalidArgument,
    InvalidMessage,
    Loan,
    Lost,
    Message,
    MessageInfo,
    NameTaken,
    Node,
    NoMemory,
    Provider,
    Publisher,
    Sequence,
    Subscriber,
    SystemFailure,
    Timeout,
    Timer,
    Type,
    TypeMismatch,
    Unavailable,
    Variant,
    Watch,
    WouldBlock,
    asdict,
)
from .declared import type_of
from .images import image_array
from .qos import Qos
from .types import Array, enumeration, float32, float64, int8, int16, int32, int64, message, uint8, uint16, uint32, uint64

# In annotations, as `sinew.Subscriber[Image]`; when a program runs they are the same for all types.
for _generic in (Call, Client, Provider, Publisher, Subscriber):
    setattr(_generic, "__class_getitem__", classmethod(_GenericAlias))

__all__ = [
    "Array",
    "Call",
    "CallFailed",
    "Cancelled",
    "Client",
    "Closed",
    "Counters",
    "DecodeError",
    "Denied",
    "Disconnected",
    "DomainEndpoint",
    "DomainNode",
    "DomainPair",
    "DomainTopic",
    "DomainUpdate",
    "Draft",
    "EncodeError",
    "Error",
    "Event",
    "Exhausted",
    "Incompatible",
    "InvalidArgument",
    "InvalidMessage",
    "Loan",
    "Lost",
    "Message",
    "MessageInfo",
    "NameTaken",
    "Node",
    "NoMemory",
    "Provider",
    "Publisher",
    "Qos",
    "Sequence",
    "Subscriber",
    "SystemFailure",
    "Timeout",
    "Timer",
    "Type",
    "TypeMismatch",
    "Unavailable",
    "Variant",
    "Watch",
    "WouldBlock",
    "asdict",
    "definitions",
    "enumeration",
    "float32",
    "float64",
    "image_array",
    "int16",
    "int32",
    "int64",
    "int8",
    "message",
    "qos",
    "type_of",
    "types",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
