#!/usr/bin/env python3
"""Writes what type checkers know of sinew.msgs, whose classes are made only when a program runs: stubs.py OUT

For each package that comes along OUT/PACKAGE/__init__.pyi, and OUT/PACKAGE/msg.pyi, srv.pyi and action.pyi. They say what bindings/python/sinew/msgs/_classes.py makes.
"""

import keyword
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "msggen"))

from sinew_msggen.definition import Array  # noqa: E402
from sinew_msggen.resolve import Definitions  # noqa: E402

# No field of ROS begins with `_`, so none of them hides one of these.
HEAD = """import dataclasses as _dataclasses
from builtins import bool as _bool, float as _float, int as _int, list as _list, str as _str
from typing import ClassVar as _ClassVar

import numpy as _np
from numpy.typing import NDArray as _NDArray

import sinew.types as _types
from sinew._native import Service as _Service
"""
KINDS = {"byte": "uint8", "char": "uint8"}
PLAIN = {"bool": "_bool", "string": "_str"}
IN_ARRAYS = {"bool": "bool_"}


def annotation(type):
    kind = KINDS.get(type.base, type.base)
    if not type.is_primitive:
        package, of, base = type.name.split("/")
        one = f"sinew.msgs.{package}.{of}.{base}"
    else:
        one = PLAIN.get(kind, f"_types.{kind}")
    if type.array is Array.NONE:
        return one
    return f"_NDArray[_np.{IN_ARRAYS.get(kind, kind)}]" if type.is_primitive and kind != "string" else f"_list[{one}]"


def structure_text(structure, name, indent):
    lines = ["@_dataclasses.dataclass", f"class {name}:"]
    for constant in structure.constants:
        lines.append(f"    {constant.name}: _ClassVar[_{type(constant.value).__name__}]")
    for field in structure.fields:
        lines.append(f"    {field.name}: {annotation(field.type)} = ...")
    if len(lines) == 2:
        lines.append("    pass")
    return "".join(f"{indent}{line}\n" for line in lines)


def interface_text(interface):
    if interface.kind == "msg":
        return structure_text(interface.structures[0], interface.base, "")
    parts = [structure_text(structure, structure.base[len(interface.base) + 1 :], "    ") for structure in interface.structures]
    base = f'(_Service["{interface.base}.Request", "{interface.base}.Response"])' if interface.kind == "srv" else ""
    return f"class {interface.base}{base}:\n" + "".join(parts)


def is_for_python(interface):
    """Python has names for all of its fields, and sinew types."""
    fields = [field for structure in interface.structures for field in structure.fields]
    return not any(keyword.iskeyword(field.name) or field.type.base == "wstring" for field in fields)


def write(out):
    definitions = Definitions()
    of_module = {}
    for name in definitions.names():
        interface = definitions.interface(name)
        if is_for_python(interface):
            of_module.setdefault((interface.package, interface.kind), []).append(interface)
    for (package, kind), interfaces in of_module.items():
        folder = out / package
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.pyi").write_text("", encoding="utf-8")
        needs = sorted({"sinew.msgs." + ".".join(need.split("/")[:2]) for interface in interfaces for need in interface.needs})
        body = "".join("\n" + interface_text(interface) for interface in interfaces)
        (folder / f"{kind}.pyi").write_text(HEAD + "".join(f"import {module}\n" for module in needs) + body, encoding="utf-8")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
