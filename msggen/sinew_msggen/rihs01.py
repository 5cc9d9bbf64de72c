"""Type hashes as ROS 2 computes them: RIHS01, the SHA-256 of a type's description and those of all types that it contains.

ROS 2 sends them with its topics, and rmw_zenoh finds publishers by them. Comments, constants, defaults and where things stand do not matter.
"""

from __future__ import annotations

import hashlib
import json

from .definition import PLACEHOLDER, Array, Interface, Type
from .errors import Complaint, DefinitionError, Place
from .resolve import Definitions

# Numbers of type_description_interfaces. `char` is uint8 here, as ROS 2 makes IDL of a definition before it looks at it.
NESTED = 1
NUMBERS = {"int8": 2, "uint8": 3, "char": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8, "uint64": 9}
NUMBERS.update({"float32": 10, "float64": 11, "bool": 15, "byte": 16, "string": 17, "wstring": 18})
WITH_BOUND = {"string": 21, "wstring": 22}
OF_ARRAY = {Array.NONE: 0, Array.FIXED: 48, Array.BOUNDED: 96, Array.UNBOUNDED: 144}


def type_hash(name: str, definitions: Definitions) -> str:
    """The hash of what `name` says, "RIHS01_" and 64 digits.

    That is an interface ("sensor_msgs/msg/Image", "std_srvs/srv/SetBool", "tf2_msgs/action/LookupTransform"), or a type that ROS 2 makes of a service
    or action: `_Request`, `_Response` and `_Event`; `_Goal`, `_Result`, `_Feedback`, `_FeedbackMessage`, and the services `_SendGoal` and `_GetResult`.

    Of a service it depends on service_msgs too, of an action also on unique_identifier_msgs. A definition that is missing is a DefinitionError.
    """
    definitions.in_order([_owner(name, definitions)])  # refuses what contains itself, or is too deep to be walked through
    found: dict[str, dict] = {}
    _collect(name, definitions, found, Place(name))
    whole = {"type_description": found.pop(name), "referenced_type_descriptions": [found[each] for each in sorted(found)]}
    return "RIHS01_" + hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def _collect(name, definitions, found, referrer):
    """Adds the description of a type, and those of the types that it contains."""
    if name in found:
        return
    interface = definitions.interface(_owner(name, definitions), referrer)
    types = _types_of(interface)
    if name not in types:
        made = ", ".join(f"`{each}`" for each in types)
        raise DefinitionError([Complaint(referrer, f"ROS 2 makes no `{name}` of {interface.path}, but {made}.")])
    found[name] = {"type_name": name, "fields": [_field(*field) for field in types[name]]}
    for _, type in types[name]:
        if not type.is_primitive:
            _collect(_full_name(type), definitions, found, Place(interface.path))


def _owner(name, definitions):
    """What a type was made of: of Go_SendGoal_Request that is Go."""
    owner = name
    while owner.count("/") == 2 and not definitions.find(owner):
        if "_" not in owner.rpartition("/")[2]:
            return name
        owner = owner.rpartition("_")[0]
    return owner


def _full_name(type: Type) -> str:
    # What a service or action brings is not in PACKAGE/msg.
    return f"{type.package}/{type.base}" if "/" in type.package else type.name


def _field(name, type):
    number = NUMBERS[type.base] if type.is_primitive else NESTED
    if type.characters:
        number = WITH_BOUND[type.base]
    return {
        "name": name,
        "type": {
            "type_id": number + OF_ARRAY[type.array],
            "capacity": type.size,
            "string_capacity": type.characters,
            "nested_type_name": "" if type.is_primitive else _full_name(type),
        },
    }


def _types_of(interface: Interface) -> dict[str, list]:
    """Names and types of the fields of all types that ROS 2 makes of one interface, by the types' names."""
    types = {structure.name: [(field.name, field.type) for field in structure.fields] for structure in interface.structures}
    if interface.kind == "srv":
        types.update(_service(interface, interface.base))
    elif interface.kind == "action":
        types.update(_action(interface))
    # IDL has no structure without fields.
    return {name: fields or [(PLACEHOLDER, Type("uint8"))] for name, fields in types.items()}


def _service(interface, base):
    """What there is of a service beside its request and response."""

    def own(suffix, array=Array.NONE, size=0):
        return Type(base + suffix, f"{interface.package}/{interface.kind}", array, size)

    name = f"{interface.package}/{interface.kind}/{base}"
    at_most_one = (Array.BOUNDED, 1)
    event = [("info", Type("ServiceEventInfo", "service_msgs")), ("request", own("_Request", *at_most_one)), ("response", own("_Response", *at_most_one))]
    return {
        name: [("request_message", own("_Request")), ("response_message", own("_Response")), ("event_message", own("_Event"))],
        name + "_Event": event,
    }


def _action(interface):
    """What there is of an action beside its goal, result and feedback."""

    def own(suffix):
        return Type(interface.base + suffix, f"{interface.package}/action")

    name = interface.name
    goal_id = ("goal_id", Type("UUID", "unique_identifier_msgs"))
    return {
        name: [
            ("goal", own("_Goal")),
            ("result", own("_Result")),
            ("feedback", own("_Feedback")),
            ("send_goal_service", own("_SendGoal")),
            ("get_result_service", own("_GetResult")),
            ("feedback_message", own("_FeedbackMessage")),
        ],
        **_service(interface, interface.base + "_SendGoal"),
        name + "_SendGoal_Request": [goal_id, ("goal", own("_Goal"))],
        name + "_SendGoal_Response": [("accepted", Type("bool")), ("stamp", Type("Time", "builtin_interfaces"))],
        **_service(interface, interface.base + "_GetResult"),
        name + "_GetResult_Request": [goal_id],
        name + "_GetResult_Response": [("status", Type("int8")), ("result", own("_Result"))],
        name + "_FeedbackMessage": [goal_id, ("feedback", own("_Feedback"))],
    }
