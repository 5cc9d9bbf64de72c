"""Finds the definitions that others refer to, and puts them in an order in which each comes after those that it needs."""

from __future__ import annotations

import os
import pathlib
import re

from . import parse
from .definition import PARTS, Array, Dialect, Interface, Structure
from .errors import Complaint, DefinitionError, Place, nearest, refused

# The definitions that come along.
STANDARD = pathlib.Path(__file__).resolve().parent.parent / "definitions"
# As spec/types.md has it: structures are no deeper in one another, and an object has less than this.
MOST_DEEP = 64
MOST_BYTES = 2**32
# Bytes of objects that have no fixed number of values, as small as they are anywhere.
SMALLEST = {"string": 24, "wstring": 24, "bool": 1, "byte": 1, "char": 1, "float32": 4, "float64": 8}
SMALLEST.update({f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)})
VECTOR = 24


WORD = rf"\w{{1,{parse.MOST_NAME}}}"
NAME = re.compile(rf"{WORD}/(?:{'|'.join(PARTS)})/{WORD}")


class Definitions:
    """What there is: the files that were added, what lies beside them, and what is in the folders to search, in this order.

    Each file is read once, when it is asked for. Names are those of interfaces, "sensor_msgs/msg/Image", or of their structures, "std_srvs/srv/SetBool_Request".
    """

    def __init__(self, folders=(), dialect: Dialect | None = None, standard=STANDARD):
        """`folders` have packages, as FOLDER/PACKAGE/msg/Name.msg; "PACKAGE=FOLDER" is the folder of one package, whatever its name. `standard` is searched last.
        `dialect` is that of all but the standard ones; without it the package.xml of a package tells, or else it is ROS 2."""
        self.folders = [pathlib.Path(folder) for folder in folders if "=" not in str(folder)] 
        self.standard = pathlib.Path(standard) if standard else None
        self.dialect = dialect
        self.files = {}  # name to path, of those added
        self.beside = {}  # package to the folders of files added
        self.named = [str(folder).split("=", 1) for folder in folders if "=" in str(folder)]
        self.read = {}  # name to Interface or DefinitionError
        self.interface_of = {}  # of structures asked for, the interface
        self.dialects = {}  # of packages' folders
        self.sizes = {}  # of structures, at least

    def add(self, path, package: str = "") -> str:
        """Adds a file PACKAGE/{msg,srv,action}/Name.{msg,srv,action}, or one elsewhere whose package is given; returns the name of what it defines."""
        path = pathlib.Path(path)
        kind = path.suffix[1:]
        if not path.is_file():
            raise refused(Place(str(path)), "is no file that is there.")
        if kind not in PARTS:
            raise refused(Place(str(path)), f"is no definition: their names end in {', '.join('.' + kind for kind in PARTS)}.")
        folder = pathlib.Path(os.path.abspath(path)).parent
        if not package:
            if folder.name != kind:
                raise refused(Place(str(path)), f"lies in no folder PACKAGE/{kind}: say with --package which package it is of.")
            package = folder.parent.name
        name = f"{package}/{kind}/{path.stem}"
        other = self.files.setdefault(name, path)
        if os.path.abspath(other) != os.path.abspath(path):
            raise refused(Place(str(path)), f"defines `{name}`, and so does {other}: give one of them.")
        if folder.name == kind:
            self.beside.setdefault(package, {})[folder.parent] = None
        return name

    def add_folder(self, path, package: str = "") -> list[str]:
        """Adds all files PACKAGE/{msg,srv,action}/Name.{msg,srv,action} in it, at whatever depth; returns their names."""
        found = []
        for folder, folders, files in os.walk(path):
            folders.sort()
            kind = os.path.basename(os.path.abspath(folder))
            if kind in PARTS:
                found += [self.add(os.path.join(folder, file), package) for file in sorted(files) if file.endswith(f".{kind}")]
        if not found:
            where = "they are looked for as PACKAGE/msg/Name.msg, and so for srv and action, in it and in its folders."
            raise refused(Place(str(path)), f"has no definitions: {where}")
        return found

    def interface(self, name: str, referrer: Place | None = None) -> Interface:
        """What a file defines. `referrer` is where its name stands, for complaints."""
        if name not in self.read:
            try:
                self.read[name] = self.read_interface(name, referrer)
            except DefinitionError as error:
                self.read[name] = error
        if isinstance(self.read[name], DefinitionError):
            raise self.read[name]
        return self.read[name]

    def structure(self, name: str) -> Structure:
        """A message, or a part of a service or action."""
        kind = name.split("/")[1] if name.count("/") == 2 else ""
        suffix = next((suffix for suffix in PARTS.get(kind, ()) if suffix and name.endswith(suffix)), "")
        interface = self.interface(name[: len(name) - len(suffix)])
        for structure in interface.structures:
            if structure.name == name:
                self.interface_of[name] = interface.name
                return structure
        parts = " or ".join(f"`{structure.name}`" for structure in interface.structures)
        raise refused(Place(interface.path), f"defines {'a service' if kind == 'srv' else 'an action'}, whose messages are {parts}: say which.")

    def structure_in_order(self, name: str) -> Structure:
        """The same, after all that it needs has been looked at: that is there, and is as it is to be."""
        structure = self.structure(name)
        self.in_order([self.interface_of[name]])
        return structure

    def in_order(self, names) -> list[Interface]:
        """These interfaces and all that they need, each after what it needs. Complains about everything that is wrong with them."""
        ordered, complaints, done = [], {}, set()

        def visit(name, referrer, path):
            if name in path:
                circle = " -> ".join([*path[path.index(name) :], name])
                complaints[Complaint(referrer, f"a message cannot contain itself: {circle}. Send the parts on a topic of their own, or as an array with indices.")] = None
                return
            if name in done:
                return
            if len(path) == MOST_DEEP:
                complaints[Complaint(referrer, f"messages are more than {MOST_DEEP} deep in one another here: {path[0]} begins it.")] = None
                return
            try:
                interface = self.interface(name, referrer)
            except DefinitionError as error:
                complaints.update(dict.fromkeys(error.complaints))
                done.add(name)
                return
            for structure in interface.structures:
                for field in structure.fields:
                    if not field.type.is_primitive:
                        visit(field.type.name, field.type_place, [*path, name])
            if name not in done:
                done.add(name)
                ordered.append(interface)

        for name in names:
            visit(name, None, [])
        if not complaints:
            complaints = dict.fromkeys(self.too_large(ordered))
        if complaints:
            raise DefinitionError(complaints)
        return ordered

    def too_large(self, ordered):
        """Complaints about objects of 4 GiB, of interfaces in order."""
        for interface in ordered:
            for structure in interface.structures:
                size = 0
                for field in structure.fields:
                    one = SMALLEST[field.type.base] if field.type.is_primitive else self.sizes[field.type.name]
                    size += {Array.NONE: one, Array.FIXED: one * field.type.size}.get(field.type.array, VECTOR)
                    if size >= MOST_BYTES:
                        too_large = f"`{structure.name}` would have 4 GiB or more in the object itself"
                        yield Complaint(field.type_place, f"{too_large}: make this `{field.type.base}[]`, whose elements lie elsewhere.")
                        size = 0
                self.sizes[structure.name] = max(1, size)

    def names(self) -> list[str]:
        """Of all interfaces that are there."""
        packages = {*self.beside, *(name for name, _ in self.named)}
        packages.update(each.name for folder in self.all_folders() if folder.is_dir() for each in folder.iterdir())
        found = set(self.files)
        for package in packages:
            for folder in self.folders_of(package):
                found.update(f"{package}/{kind}/{file.stem}" for kind in PARTS for file in (folder / kind).glob(f"*.{kind}"))
        return sorted(found)

    def all_folders(self):
        return [*self.folders, self.standard] if self.standard else self.folders

    def folders_of(self, package):
        named = [pathlib.Path(folder) for name, folder in self.named if name == package]
        return [*self.beside.get(package, ()), *named, *(folder / package for folder in self.all_folders())]

    def find(self, name):
        """The file that defines an interface, or None."""
        if name in self.files or not NAME.fullmatch(name):
            return self.files.get(name)
        package, kind, base = name.split("/")
        for folder in self.folders_of(package):
            path = folder / kind / f"{base}.{kind}"
            if path.is_file():
                return path
        return None

    def read_interface(self, name, referrer):
        if not NAME.fullmatch(name):
            raise refused(referrer, f"{shown(name)} is no name of a type: those are like `sensor_msgs/msg/Image`.")
        path = self.find(name)
        if path is None:
            raise refused(referrer, self.advice(name, bool(referrer)))
        return parse.read(path, name.split("/")[0], self.dialect_of(path))

    def advice(self, name, is_referred_to):
        """What to say where there is no such definition."""
        package, kind, base = name.split("/")
        known = self.names()
        short = (lambda full: full.replace("/msg/", "/")) if is_referred_to else str
        sentence = f"there is no `{short(name)}`"
        if is_referred_to and base == "Header" and "std_msgs/msg/Header" in known:
            return sentence + "; in ROS 2 the header is `std_msgs/Header`. (Definitions of ROS 1 are read with --ros 1.)"
        of_package = [each.split("/")[2] for each in known if each.startswith(f"{package}/{kind}/")]
        elsewhere = [short(each) for each in known if each.endswith(f"/{kind}/{base}")]
        if elsewhere:
            return f"{sentence}; there is `{'`, `'.join(elsewhere[:3])}`."
        if alike := nearest(base, of_package):
            return f"{sentence}; there is `{'`, `'.join(short(f'{package}/{kind}/{each}') for each in alike)}`."
        if of_package:
            some = ", ".join(of_package[:8]) + (", ..." if len(of_package) > 8 else "")
            return f"{sentence}; `{package}` has {some}."
        if alike := nearest(package, {each.split("/")[0] for each in known}):
            return f"{sentence}, nor such a package; there is `{'`, `'.join(alike)}`."
        return f"{sentence}, nor such a package: say with -I which folder it is in."

    def is_standard(self, path):
        """Whether a definition is one of those that come along."""
        return pathlib.Path(os.path.abspath(path)).parent.parent.parent == self.standard

    def dialect_of(self, path):
        if self.is_standard(path):
            return Dialect.ROS2
        if self.dialect:
            return self.dialect
        folder = pathlib.Path(os.path.abspath(path)).parent.parent
        if folder not in self.dialects:
            self.dialects[folder] = dialect_in(folder / "package.xml")
        return self.dialects[folder]


def dialect_in(manifest):
    """What a package.xml says, without reading more of it than words: it builds with catkin, and not also with ROS 2's tools."""
    try:
        with open(manifest, encoding="utf-8", errors="replace") as file:
            text = file.read(parse.MOST_BYTES)
    except OSError:
        return Dialect.ROS2
    is_old = re.search(r"\b(?:catkin|message_generation|message_runtime)\b", text) and not re.search(r"\b(?:rosidl_\w+|ament_\w+)\b", text)
    return Dialect.ROS1 if is_old else Dialect.ROS2


def shown(name):
    """A name that somebody gave, in a complaint."""
    return f"`{name[:80]}`" if name.isprintable() else ascii(name[:80])
