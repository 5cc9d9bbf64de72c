"""Classes of messages, made of definitions when they are asked for, with the names that ROS 2 has:

    from sinew.msgs.geometry_msgs.msg import Twist
    from sinew.msgs.std_srvs.srv import SetBool          # SetBool.Request, SetBool.Response

They are dataclasses. Fields have the defaults of the definition, or 0, "" and empty ones; constants are attributes of the class. Packages of your own: sinew.definitions.add().
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any, Iterable, List, Optional, Sequence, Set

from .. import definitions
from . import _classes

__all__: List[str] = []


def _packages() -> Set[str]:
    return {name.split("/")[0] for name in definitions.names()}


def _kinds(package: str) -> Set[str]:
    return {name.split("/")[1] for name in definitions.names() if name.startswith(package + "/")}


class _Module(types.ModuleType):
    """PACKAGE.msg and the like: its classes are made when they are looked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        _, _, package, kind = self.__name__.split(".")
        try:
            made = _classes.interface(f"{package}/{kind}/{name}")
        except definitions.DefinitionError as error:
            if f"{package}/{kind}/{name}" in definitions.names():
                raise
            raise AttributeError(str(error)) from None
        setattr(self, name, made)
        return made

    def __dir__(self) -> Iterable[str]:
        _, _, package, kind = self.__name__.split(".")
        return sorted({*super().__dir__(), *(name.split("/")[2] for name in definitions.names() if name.startswith(f"{package}/{kind}/"))})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Optional[Sequence[str]], target: Optional[types.ModuleType] = None) -> Optional[importlib.machinery.ModuleSpec]:
        words = fullname.split(".")
        if words[:2] != __name__.split("."):
            return None
        if len(words) == 3 and words[2] in _packages():
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        if len(words) == 4 and words[3] in _kinds(words[2]):
            return importlib.machinery.ModuleSpec(fullname, self)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[types.ModuleType]:
        return _Module(spec.name) if spec.name.count(".") == 3 else None

    def exec_module(self, module: types.ModuleType) -> None:
        pass


sys.meta_path.insert(0, _Finder())
