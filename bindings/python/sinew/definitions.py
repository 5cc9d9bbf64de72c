"""Types by their ROS names: definitions (`.msg`, `.srv`, `.action`) that come along, and folders of your own.

    sinew.definitions.add("install/share")                           # FOLDER/PACKAGE/msg/Name.msg
    node.publish("camera/image", "sensor_msgs/msg/Image")
    from sinew.msgs.my_robot_msgs.msg import Battery
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any, List, Union

from .msggen.sinew_msggen import definition, errors, resolve

__all__ = ["DefinitionError", "add", "names"]

DefinitionError = errors.DefinitionError
"""Definitions that cannot be used: its text says where, and shows the line."""

# Those of the structures of services and actions, too: "std_srvs/srv/SetBool_Request".
NAME = re.compile(r"\w+/(?:msg|srv|action)/\w+")

_all = resolve.Definitions()


def add(folder: Union[str, os.PathLike[str]]) -> None:
    """Takes definitions from FOLDER/PACKAGE/{msg,srv,action}/Name.msg, or .srv, .action. Folders that were added first come first, and all of them before what comes along. Definitions that were used stay as they were read.

    Raises FileNotFoundError where there is no such folder.
    """
    path = pathlib.Path(folder).resolve()
    if not path.is_dir():
        raise FileNotFoundError(f"{folder} is no folder: it is to have packages, as {folder}/my_robot_msgs/msg/Battery.msg")
    if path not in _all.folders:
        _all.folders.insert(len(_all.folders) - 1, path)


def names() -> List[str]:
    """Of all that is defined: "sensor_msgs/msg/Image", "std_srvs/srv/SetBool"."""
    return _all.names()


def structure(name: str) -> Any:
    """What a message, or a part of a service or action, has. DefinitionError where it, or what it needs, is not there or wrong."""
    try:
        found = _all.structure(name)
        _all.in_order(dict.fromkeys(each.type.name for each in found.fields if not each.type.is_primitive))
    except DefinitionError as error:
        raise _with_advice(error) from None
    return found


def signature(name: str) -> str:
    """As spec/types.md has it, with ROS names of structures."""
    return _of(structure(name))


def _of(found: Any) -> str:
    fields = "".join(f"{each.name}:{_type(each.type)};" for each in found.fields)
    return f"{found.name}{{{fields}}}"


def _type(type: Any) -> str:
    base = {"byte": "uint8", "char": "uint8", "wstring": "string"}.get(type.base, type.base) if type.is_primitive else _of(_all.structure(type.name))
    return base + {definition.Array.NONE: "", definition.Array.FIXED: f"[{type.size}]"}.get(type.array, "[]")


def _with_advice(error: DefinitionError) -> DefinitionError:
    return DefinitionError(each._replace(sentence=each.sentence.replace("say with -I which folder it is in", "add its folder with sinew.definitions.add(...)")) for each in error.complaints)
