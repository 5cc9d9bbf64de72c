#!/usr/bin/env python3
"""Writes plain C++ structures for message definitions of ROS 2, typed and named as its own generator does, and lists them for the test.

Usage: generate.py OUTPUT FOLDER...     each FOLDER: REPOSITORY/PACKAGE/{msg,srv,action}/NAME.{msg,srv,action}

OUTPUT gets PACKAGE.hpp with the structures of a package, PACKAGE.cpp that lists them, and listing.cpp that calls these. Of definitions with
the same name the first counts. A definition that contains one that is nowhere is listed with that as the reason why it has no structure.
"""

import dataclasses
import json
import pathlib
import re
import sys

NUMBERS = {
    "bool": "bool",
    "byte": "std::uint8_t",
    "char": "std::uint8_t",
    "float32": "float",
    "float64": "double",
} | {f"{sign}int{bits}": f"std::{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
TEXTS = {"string": "std::string", "wstring": "std::u16string"}
# What ROS 1 had built in.
OLD_NAMES = {"time": "builtin_interfaces/Time", "duration": "builtin_interfaces/Duration"}
PARTS = {"msg": [""], "srv": ["_Request", "_Response"], "action": ["_Goal", "_Result", "_Feedback"]}

TYPE = r"(?P<base>\w+(?:/\w+)?)(?:<=(?P<characters>\d+))?(?P<array>\[(?:<=)?\d*\])?"
LINE = re.compile(TYPE + r"\s+(?P<name>\w+)\s*(?:=\s*(?P<constant>.*)|\s(?P<default>.*))?")
ELEMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[^,\s]+')


@dataclasses.dataclass
class Member:
    """A field, or a constant, of one structure."""

    base: str  # "uint8", "string", "std_msgs/msg/Header"
    name: str
    array: str  # "", "[]", "[3]", "[<=3]"
    characters: int  # a string has at most so many; 0: any
    value: str  # of a constant, or the default
    is_constant: bool

    def type(self):
        """The C++ type."""
        plain = NUMBERS.get(self.base) or TEXTS.get(self.base) or self.base.replace("/", "::")
        if re.fullmatch(r"\[\d+\]", self.array):
            return f"std::array<{plain}, {self.array[1:-1]}>"
        return f"std::vector<{plain}>" if self.array else plain

    def declaration(self):
        if self.is_constant:
            kind = "const char*" if self.base == "string" else "const char16_t*" if self.base == "wstring" else self.type()
            return f"static constexpr {kind} {self.name} = {literal(self.base, self.value)};"
        if not self.value:
            return f"{self.type()} {self.name}{{}};"
        if self.array:
            values = ", ".join(literal(self.base, each) for each in ELEMENT.findall(self.value.strip()[1:-1]))
            return f"{self.type()} {self.name} = {{{values}}};"
        return f"{self.type()} {self.name} = {literal(self.base, self.value)};"

    def bounds(self):
        """(elements, characters) that it has at most; 0: any."""
        return int(self.array[3:-1]) if self.array.startswith("[<=") else 0, self.characters


@dataclasses.dataclass
class Structure:
    """One .msg, or a part of a .srv or .action."""

    repository: str
    file: str  # "std_srvs/srv/SetBool.srv"
    name: str  # "std_srvs/srv/SetBool_Request"
    members: list
    missing: str = ""  # why it has no structure

    def package(self):
        return self.name.split("/")[0]

    def needs(self):
        return [member.base for member in self.members if "/" in member.base]

    def text(self):
        package, room, name = self.name.split("/")
        members = self.members
        if all(member.is_constant for member in members):
            members = [*members, Member("uint8", "structure_needs_at_least_one_member", "", 0, "", False)]
        body = "".join(f"  {member.declaration()}\n" for member in members)
        return f"namespace {package}::{room} {{\nstruct {name} {{\n{body}}};\n}}  // namespace {package}::{room}\n"


def literal(base, text):
    """The C++ literal of a value as a definition writes it."""
    if base in TEXTS:
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text = re.sub(r"\\(.)", r"\1", text[1:-1])
        return ("u" if base == "wstring" else "") + json.dumps(text, ensure_ascii=False)
    if base == "bool":
        return "true" if text.lower() in ("true", "1") else "false"
    if base.startswith("float"):
        return repr(float(text)) + ("F" if base == "float32" else "")
    number = int(text, 0)
    if number == -(2**63):
        return "-9223372036854775807 - 1"  # C++ has no literal for it
    return f"{number}U" if number >= 2**63 else str(number)


def member_of(line, package):
    """What a line without comment declares, in a definition of a package."""
    match = LINE.fullmatch(line)
    if not match:
        raise ValueError(f"not a field or constant: {line}")
    base = OLD_NAMES.get(match["base"], match["base"])
    if base not in NUMBERS and base not in TEXTS:
        owner, _, name = base.rpartition("/")
        base = f"{owner or package}/msg/{name}"
    value = match["constant"] if match["constant"] is not None else match["default"] or ""
    return Member(base, match["name"], match["array"] or "", int(match["characters"] or 0), value.strip(), match["constant"] is not None)


def parts_of(text):
    """The lines of each part of a definition, without comments and what is empty."""
    parts = [[]]
    for line in text.splitlines():
        line = line.partition("#")[0].strip()  # also inside of quotes, as ROS 2 does it
        if line == "---":
            parts.append([])
        elif line:
            parts[-1].append(line)
    return parts


def read(folders):
    """Name to structure, of all definitions."""
    texts = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).glob("*/*/*/*")):
            repository, package, room, name = path.relative_to(folder).parts
            if PARTS.get(room) and path.suffix == f".{room}":
                texts.setdefault(f"{package}/{room}/{name}", (repository, path.read_text(encoding="utf-8")))
    structures = {}
    for file, (repository, text) in texts.items():
        stem, room = file.rsplit(".", 1)
        parts = parts_of(text)
        if len(parts) != len(PARTS[room]):
            raise ValueError(f"{file} has {len(parts)} parts")
        for suffix, lines in zip(PARTS[room], parts):
            members = [member_of(line, file.split("/")[0]) for line in lines]
            structures[stem + suffix] = Structure(repository, file, stem + suffix, members)
    return structures


def in_order(structures):
    """The structures so that each comes after those that it contains; marks those that contain what is nowhere."""
    ordered, seen = [], set()

    def visit(name):
        if name in seen:
            return
        seen.add(name)
        structure = structures[name]
        for need in structure.needs():
            if need in structures:
                visit(need)
            if need not in structures:
                structure.missing = f"contains {need}, of which there is no definition"
            elif structures[need].missing:
                structure.missing = structures[need].missing
        ordered.append(structure)

    for name in structures:
        visit(name)
    return ordered


def header(package, structures):
    standard = "#include <array>\n#include <cstdint>\n#include <string>\n#include <vector>\n"
    others = {need.split("/")[0] for structure in structures if not structure.missing for need in structure.needs()} - {package}
    includes = "".join(f'#include "{other}.hpp"\n' for other in sorted(others))
    body = "\n".join(structure.text() for structure in structures if not structure.missing)
    return f"// Written by generate.py.\n#pragma once\n\n{standard}\n{includes}\n{body}"


def source(package, structures):
    lines = []
    for structure in structures:
        where = f'"{structure.repository}", "{structure.file}", "{structure.name}"'
        if structure.missing:
            lines.append(f'  into.add_missing({where}, "{structure.missing}");\n')
            continue
        lines.append(f'  into.add<{structure.name.replace("/", "::")}>({where});\n')
        for member in structure.members:
            if any(member.bounds()):
                elements, characters = member.bounds()
                lines.append(f'  into.bounds["{structure.name}.{member.name}"] = {{{elements}, {characters}}};\n')
    includes = f'#include "{package}.hpp"\n\n#include "definition.hpp"\n'
    body = f"void list_{package}(Listing& into) {{\n{''.join(lines)}}}\n"
    return f"// Written by generate.py.\n{includes}\nnamespace sinew::coverage {{\n{body}}}  // namespace sinew::coverage\n"


def listing(packages):
    declarations = "".join(f"void list_{package}(Listing& into);\n" for package in packages)
    calls = "".join(f"  list_{package}(listing);\n" for package in packages)
    body = f"Listing listing_of_all() {{\n  Listing listing;\n{calls}  return listing;\n}}\n"
    includes = '#include "definition.hpp"\n'
    return f"// Written by generate.py.\n{includes}\nnamespace sinew::coverage {{\n{declarations}\n{body}}}  // namespace sinew::coverage\n"


def write(path, text):
    """Leaves a file alone that has this text already, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    output, *folders = map(pathlib.Path, sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    packages = {}
    for structure in in_order(read(folders)):
        packages.setdefault(structure.package(), []).append(structure)
    for package, structures in packages.items():
        write(output / f"{package}.hpp", header(package, structures))
        write(output / f"{package}.cpp", source(package, structures))
    write(output / "listing.cpp", listing(sorted(packages)))


if __name__ == "__main__":
    main()
