"""Types by their ROS names: definitions (`.msg`, `.srv`, `.action`) that come along, and folders of your own.

    sinew.definitions.add("install/share")                           # FOLDER/PACKAGE/msg/Name.msg
    node.create_publisher("camera/image", "sensor_msgs/msg/Image")
    from sinew.msgs.my_robot_msgs.msg import Battery
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Any, Iterator, List, Union

from .msggen.sinew_msggen import errors, resolve, signature

__all__ = ["DefinitionError", "add", "names"]

DefinitionError = errors.DefinitionError
"""Definitions that cannot be used: its text says where, and shows the line."""

# Those of the structures of services and actions, too: "std_srvs/srv/SetBool_Request".
NAME = resolve.NAME

_folders: List[pathlib.Path] = []
_all = resolve.Definitions()


def add(folder: Union[str, os.PathLike[str]]) -> None:
    """Takes definitions from FOLDER/PACKAGE/{msg,srv,action}/Name.msg, or .srv, .action. Folders that were added first come first, and all of them before what comes along.

    Raises FileNotFoundError where there is no such folder.
    """
    path = pathlib.Path(folder).resolve()
    if not path.is_dir():
        raise FileNotFoundError(f"{folder} is no folder: it is to have packages, as {folder}/my_robot_msgs/msg/Battery.msg")
    if path not in _folders:
        _folders.append(path)
        _read_anew()


def names() -> List[str]:
    """Of all that is defined: "sensor_msgs/msg/Image", "std_srvs/srv/SetBool"."""
    return _all.names()


def structure(name: str) -> Any:
    """What a message, or a part of a service or action, has. DefinitionError where it, or what it needs, is not there or wrong."""
    with _advice():
        return _all.structure_in_order(name)


def signature_of(name: str) -> str:
    """As spec/types.md has it, with ROS names of structures."""
    with _advice():
        return signature.signature(name, _all)


def _read_anew() -> None:
    global _all
    _all = resolve.Definitions(_folders)


@contextlib.contextmanager
def _advice() -> Iterator[None]:
    """What the command's users are told to do, in words of Python."""
    try:
        yield
    except DefinitionError as error:
        advised = [each._replace(sentence=each.sentence.replace("say with -I which folder it is in", "add its folder with sinew.definitions.add(...)")) for each in error.complaints]
        raise DefinitionError(advised) from None
