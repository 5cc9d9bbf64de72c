#!/usr/bin/env python3
"""How many of ROS' message types sinew carries, after TZC's table II: all that come along (those of ROS 2) and all of ROS 1 that Debian has installed. Prints a row of JSON for each of both.

A type needs support, as TZC counts, when it has arrays of variable length, itself or in what it contains; TZC supports it when one of them is of a type of fixed size. sinew supports what sinew-msggen makes a header of, whose objects it carries as they are."""
import json
import pathlib
import sys
import tempfile

MSGGEN = pathlib.Path(__file__).resolve().parents[2] / "msggen"
sys.path.append(str(MSGGEN))
from sinew_msggen import cpp
from sinew_msggen.definition import Array, Dialect
from sinew_msggen.errors import DefinitionError
from sinew_msggen.resolve import Definitions


class Types:
    def __init__(self, definitions):
        self.definitions = definitions

    def fields(self, name):
        return self.definitions.interface(name).structures[0].fields

    def is_fixed(self, type):
        """Whether all its values have one size."""
        if type.array in (Array.BOUNDED, Array.UNBOUNDED) or type.base in ("string", "wstring"):
            return False
        return type.is_primitive or all(self.is_fixed(field.type) for field in self.fields(type.name))

    def arrays(self, name):
        """The types of its arrays of variable length, also of those that lie in others."""
        for field in self.fields(name):
            if field.type.array in (Array.BOUNDED, Array.UNBOUNDED):
                yield field.type
            if not field.type.is_primitive:
                yield from self.arrays(field.type.name)


def count(title, definitions, names):
    types = Types(definitions)
    row = {"types": title, "total": len(names), "need": 0, "tzc": 0, "sinew": 0}
    for name in names:
        arrays = list(types.arrays(name))
        row["need"] += bool(arrays)
        row["tzc"] += any(type.is_primitive and type.base != "string" or not type.is_primitive and all(types.is_fixed(field.type) for field in types.fields(type.name)) for type in arrays)
        with tempfile.TemporaryDirectory() as folder:
            try:
                row["sinew"] += bool(cpp.write(folder, [definitions.interface(name)]))
            except DefinitionError as why:
                row.setdefault("refused", []).append(str(why))
    return row


def lines(rows):
    """The tables of the report."""
    made = ["", "| | all | need support | TZC supports | sinew supports |", "|---|---|---|---|---|", "| in the paper, of six meta-packages of ROS 1 | 358 | 104 | 98 | |"]
    for row in {row["types"]: row for row in rows}.values():
        made.append(f"| {row['types']} | {row['total']} | {row['need']} | {row['tzc']} | {row['sinew']} |")
    return made


def main():
    ros2 = Definitions()
    print(json.dumps(count("ROS 2: all packages of definitions that come along", ros2, [name for name in ros2.add_folder(MSGGEN / "definitions") if "/msg/" in name])))
    installed = sorted(pathlib.Path("/usr/share").glob("*_msgs/msg/*.msg"))
    if installed:
        ros1 = Definitions(["/usr/share"], Dialect.ROS1)
        print(json.dumps(count("ROS 1: what Debian has installed here", ros1, [ros1.add(path) for path in installed])))


if __name__ == "__main__":
    main()
