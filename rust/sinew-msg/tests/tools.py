"""Reads messages with tools of others, for tools.rs: tools.py < REQUESTS > ANSWERS

A request is a line of JSON, and so is its answer. {"ask": "read", "tool": "mcap_ros2" or "rosbags", "name", "text", "stream"} is answered by the
message in the stream as a list of its numbers and strings, as texts, with the length of each list before its elements. {"ask": "ros1", "name", "text", "stream"}
is answered by the same message as ROS 1 writes it. {"ask": "definitions", "of", "ros": 1 or 2} is answered by [name, text] of each type of a distribution of ROS.
{"ask": "hashes", "texts", "services"} is answered by the hash (RIHS01) of each type of which there is a text, by its name, and of these services, whose requests and responses are among them.
Streams are in hexadecimal digits.
"""

import dataclasses
import json
import re
import struct
import sys

import numpy
from mcap_ros2._dynamic import generate_dynamic
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


def flat(value):
    """Numbers and strings in their order, written so that equal ones are equal texts."""
    if isinstance(value, (bool, numpy.bool_)):
        return ["true" if value else "false"]
    if isinstance(value, (int, numpy.integer)):
        return [str(value)]
    if isinstance(value, (float, numpy.floating)):
        return ["nan" if value != value else struct.pack(">d", value).hex()]
    if isinstance(value, str):
        return ["'" + value]
    if isinstance(value, (list, bytes, memoryview, numpy.ndarray)):
        return [f"[{len(value)}", *(part for element in value for part in flat(element))]
    # An object, whose class says the names of its fields.
    names = [field.name for field in dataclasses.fields(value) if field.name != "__msgtype__"] if dataclasses.is_dataclass(value) else value.__slots__
    is_empty = names == ["structure_needs_at_least_one_member"]
    return [] if is_empty else [part for name in names for part in flat(getattr(value, name))]


def type_store(request):
    """The types of a text, as rosbags has them."""
    types = get_typestore(Stores.EMPTY)
    types.register(get_types_from_msg(request["text"], request["name"]))
    return types


def definitions(distribution, version):
    types = get_typestore(Stores[distribution])
    return [[name, types.generate_msgdef(name, ros_version=version)[0]] for name in types.fielddefs]


def hashes(texts, services):
    """rosbags has no services, and hashes `char` as a type of its own, where ROS 2 has `uint8`."""
    found = {}
    for name, text in texts.items():
        package, _, base = name.split("/")
        (found[name],) = get_types_from_msg(re.sub(r"(?m)^\s*char\b", "uint8", text), f"{package}/msg/{base}").values()
    for name in services:
        request, response, event = ((Nodetype.NAME, f"{name}_{part}") for part in ("Request", "Response", "Event"))
        info = (Nodetype.NAME, "service_msgs/msg/ServiceEventInfo")
        found[event[1]] = ([], [("info", info), ("request", (Nodetype.SEQUENCE, (request, 1))), ("response", (Nodetype.SEQUENCE, (response, 1)))])
        found[name] = ([], [("request_message", request), ("response_message", response), ("event_message", event)])
    types = get_typestore(Stores.EMPTY)
    # It knows some without being told.
    types.fielddefs.clear()
    types.register(found)
    return {name: types.hash_rihs01(name) for name in found}


def answer(request):
    if request["ask"] == "hashes":
        return hashes(request["texts"], request["services"])
    if request["ask"] == "definitions":
        return definitions(request["of"], request["ros"])
    stream = bytes.fromhex(request["stream"])
    if request["ask"] == "ros1":
        types, name = type_store(request), request["name"]
        # By way of an object: what would make ROS 1 of the bytes leaves out and adds the field seq of headers.
        return bytes(types.serialize_ros1(types.deserialize_cdr(stream, name), name)).hex()
    if request["tool"] == "mcap_ros2":
        return flat(generate_dynamic(request["name"], request["text"])[request["name"]](stream))
    return flat(type_store(request).deserialize_cdr(stream, request["name"]))


def main():
    for line in sys.stdin:
        try:
            result = {"answer": answer(json.loads(line))}
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
