"""Reads the text of a definition. It may come from anybody: whatever it is, there is an interface or a DefinitionError."""

from __future__ import annotations

import dataclasses
import pathlib
import re

from . import values
from .definition import MOST_CHARACTERS, MOST_ELEMENTS, PARTS, PRIMITIVES, STRINGS, Array, Constant, Dialect, Field, Interface, Structure, Type
from .errors import Complaint, DefinitionError, Place, nearest, refused

# A definition is some KiB long; one of megabytes is something else.
MOST_BYTES = 2**20
# Files have such names, and more in them.
MOST_NAME = 200

TYPE = re.compile(r"(?P<base>[A-Za-z]\w*)(?:/(?P<name>[A-Za-z]\w*))?(?:<=(?P<characters>\d+))?(?:\[(?P<array>(?:<=)?(?P<size>\d+)?)\])?", re.ASCII)
NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
SEPARATOR = re.compile(r"-{3,}\s*(?:#.*)?")
# As ROS 2 has them: a regular expression, and that in words. In none of them a `_` stands at the end, or beside another.
RULES = {
    "package": (r"[a-z][a-z0-9_]*", "lower case, as in `my_msgs`"),
    "type": (r"[A-Z][A-Za-z0-9]*", "camel case, as in `LaserScan`"),
    "field": (r"[a-z][a-z0-9_]*", "lower case, as in `frame_id`"),
    "constant": (r"[A-Z][A-Z0-9_]*", "upper case, as in `MAX_SPEED`"),
}
BUILT_IN = {"time": "Time", "duration": "Duration"}
# Characters that are no text, or that make text look like what it is not: controls, and those that change the direction of what follows.
UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def read(path, package: str, dialect: Dialect = Dialect.ROS2) -> Interface:
    """The interface that a file PACKAGE/{msg,srv,action}/Name.{msg,srv,action} defines."""
    path = pathlib.Path(path)
    whole = Place(str(path))
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise refused(whole, f"cannot be read: {error.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise refused(whole, f"has more than {MOST_BYTES} bytes: this is no definition of a message.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        shown = error.object.decode(errors="replace").split("\n")[line - 1].rstrip("\r")
        raise refused(Place(str(path), line, column, 1, shown), "this is not UTF-8: save the file in that encoding.") from None
    return parse(text, package, path.suffix[1:], path.stem, str(path), dialect)


def parse(text: str, package: str, kind: str, base: str, path: str = "", dialect: Dialect = Dialect.ROS2) -> Interface:
    """The interface that a text defines. `path` is for complaints."""
    return Parser(package, kind, base, path or f"{package}/{kind}/{base}.{kind}", dialect).interface(text)


class Complained(Exception):
    """A line that has been complained about."""


class Parser:
    """Of one text."""

    def __init__(self, package, kind, base, path, dialect):
        self.package, self.kind, self.base, self.path, self.dialect = package, kind, base, path, dialect
        self.complaints = []
        self.number = 0
        self.line = self.raw = ""  # the raw one has its tabs

    def interface(self, text) -> Interface:
        whole = Place(self.path)
        if self.kind not in PARTS:
            raise refused(whole, f"is no definition: those of ROS end in {', '.join('.' + kind for kind in PARTS)}.")
        for what, name in ("package", self.package), ("type", self.base):
            if wrong := self.wrong_name(what, name):
                self.complaints.append(Complaint(whole, wrong))
        suffixes = PARTS[self.kind]
        part = Part()
        parts = [part]
        for self.number, self.raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            self.line = self.raw.replace("\t", " ")
            if SEPARATOR.fullmatch(self.line.strip()):
                if len(parts) == len(suffixes):
                    self.complaints.append(Complaint(self.place(0, len(self.line)), f"one `---` too many: {self.parts_in_words()}."))
                    break
                part = Part()
                parts.append(part)
                continue
            try:
                self.read_line(part)
            except Complained:
                pass
        else:
            if len(parts) < len(suffixes):
                self.complaints.append(Complaint(whole, f"a line `---` is missing: {self.parts_in_words()}."))
        if self.complaints:
            raise DefinitionError(self.complaints)
        structures = [part.structure(self.package, self.kind, self.base + suffix) for part, suffix in zip(parts, suffixes)]
        return Interface(self.package, self.kind, self.base, tuple(structures), self.path)

    def parts_in_words(self):
        return {
            "msg": "a .msg has one part, and none",
            "srv": "a .srv has a request, `---`, and a response",
            "action": "an .action has a goal, `---`, a result, `---`, and feedback",
        }[self.kind]

    def place(self, begin, width):
        return Place(self.path, self.number, begin + 1, max(1, width), self.line)

    def refuse(self, begin, width, sentence):
        self.complaints.append(Complaint(self.place(begin, width), sentence))
        raise Complained

    def read_line(self, part):
        if unreadable := UNREADABLE.search(self.line):
            self.refuse(unreadable.start(), 1, f"the character U+{ord(unreadable[0]):04X} is not for definitions: remove it.")
        stripped = self.line.strip()
        if not stripped:
            part.blank()
        elif stripped.startswith("#"):
            part.comment(comment_text(stripped), is_indented=self.line.startswith(" "))
        else:
            part.add(*self.member(part))

    def member(self, part):
        """The field or constant of a line, and the comment behind it."""
        line = self.line.rstrip()
        begin = len(line) - len(line.lstrip())
        type, end = self.type(begin)
        type_place = self.place(begin, end - begin)
        at = end + len(line[end:]) - len(line[end:].lstrip())
        name = NAME.match(line, at)
        if not name:
            if at == len(line) or line[at] == "#":
                self.refuse(begin, end - begin, "a type without a name: write `TYPE NAME`.")
            hint = f"the bound touches the type, as in `{line[begin:end]}{line[at:].split(' ')[0]}`" if line[at] in "<[" else "write letters, digits and `_`"
            self.refuse(at, len(line[at:].split(" ")[0]), f"no name of a field begins like this: {hint}.")
        place = self.place(name.start(), len(name[0]))
        if name[0] in part.names:
            self.refuse(name.start(), len(name[0]), f"there is a field or constant `{name[0]}` already, in line {part.names[name[0]]}: choose another name.")
        rest = line[name.end() :]
        value_at = name.end() + len(rest) - len(rest.lstrip())
        if line.startswith("=", value_at):
            member, end = self.constant(type, type_place, place, name[0], value_at + 1)
        elif rest and rest[0] not in " #":
            self.refuse(name.end(), len(rest.split(" ")[0]), "no name of a field goes on like this: write letters, digits and `_`.")
        else:
            member, end = self.field(type, type_place, place, name[0], value_at)
        part.names[name[0]] = self.number
        return member, comment_text(line[end:].strip())

    def constant(self, type, type_place, place, name, at):
        line = self.line.rstrip()
        if not type.is_primitive or type.array is not Array.NONE or type.characters:
            self.refuse(type_place.column - 1, type_place.width, f"`{type}` is no type of a constant: those are single numbers, bools and strings without a bound.")
        self.check_name("constant", name, place)
        at += len(line[at:]) - len(line[at:].lstrip())
        if self.dialect is Dialect.ROS1 and type.base == "string":
            # All of the rest, without a comment, quotes or escapes.
            return Constant(type, name, self.raw[at:].strip(), place), len(line)
        end = at + values.end_of_value(line[at:])
        return Constant(type, name, self.value(values.scalar, type, at, end), place), end

    def field(self, type, type_place, place, name, at):
        line = self.line.rstrip()
        self.check_name("field", name, place)
        end = at + values.end_of_value(line[at:])
        default = self.value(values.value, type, at, end) if end > at else None
        return Field(type, name, default, place, type_place), end

    def value(self, reader, type, begin, end):
        try:
            return reader(type, self.line[begin:end])
        except values.ValueComplaint as complaint:
            self.refuse(begin + complaint.begin, complaint.width or end - begin - complaint.begin, str(complaint))

    def check_name(self, what, name, place):
        if wrong := self.wrong_name(what, name):
            self.refuse(place.column - 1, place.width, wrong)

    def wrong_name(self, what, name):
        """What is wrong with a name, or nothing."""
        if len(name) > MOST_NAME:
            return f"a name has at most {MOST_NAME} characters, and this {len(name)}: choose a shorter one."
        if self.dialect is Dialect.ROS1:
            return "" if NAME.fullmatch(name) else f"`{name}` is no name of a {what}: it begins with a letter, and has letters, digits and `_`."
        pattern, words = RULES[what]
        if re.fullmatch(pattern, name, re.ASCII):
            if "__" not in name and not name.endswith("_"):
                return ""
            words = "without a `_` at the end or beside another"
        return f"`{name}` is no name of a {what} in ROS 2: those are {words}. (Definitions of ROS 1 are read with --ros 1.)"

    def type(self, begin):
        """The type that begins there, and where it ends."""
        line = self.line
        match = TYPE.match(line, begin)
        word = re.compile(r"[^ #]*").match(line, begin)
        if not match or (match.end() < word.end()):
            at = match.end() if match else begin
            self.refuse(at, word.end() - at, self.hint_for_type(match[0] if match else "", line[at : word.end()]))
        base, name, characters = match["base"], match["name"], match["characters"]
        package = ""
        if name:
            package, base = base, name
            for what, each, group in ("package", package, "base"), ("type", base, "name"):
                self.check_name(what, each, self.place(match.start(group), len(each)))
        elif base in BUILT_IN:
            package, base = "builtin_interfaces", BUILT_IN[base]
        elif base == "Header" and match["array"] is None and self.dialect is Dialect.ROS1:
            package = "std_msgs"  # only the bare word, as in ROS 1: `Header[]` is of the package's own
        elif base == "byte" and self.dialect is Dialect.ROS1:
            base = "int8"  # in ROS 2 it is unsigned
        elif base not in PRIMITIVES:
            if wrong := self.wrong_name("type", base):
                alike = nearest(base, PRIMITIVES)
                self.refuse(begin, len(base), f"there is no type `{base}`; do you mean `{alike[0]}`?" if alike else wrong)
            package = self.package
        if characters and (package or base not in STRINGS):
            self.refuse(match.start("characters") - 2, len(characters) + 2, f"only strings have a bound like this; for an array write `{base}[<={characters}]`.")
        bound = self.count(match, "characters", MOST_CHARACTERS, "characters") if characters else 0
        return self.with_array(match, Type(base, package, characters=bound)), match.end()

    def with_array(self, match, type):
        array = match["array"]
        if array is None:
            return type
        if not array:
            return dataclasses.replace(type, array=Array.UNBOUNDED)
        if not match["size"]:
            self.refuse(match.start("array") - 1, len(array) + 2, "how many elements? Write `[<=10]`, or `[]` for any number.")
        size = self.count(match, "size", MOST_ELEMENTS, "elements")
        return dataclasses.replace(type, array=Array.BOUNDED if array.startswith("<=") else Array.FIXED, size=size)

    def count(self, match, group, most, of_what):
        digits = match[group]
        number = int(digits) if len(digits) <= values.DIGITS else most + 1
        if not 1 <= number <= most:
            self.refuse(match.start(group), len(digits), f"`{values.shortened(digits)}` {of_what} cannot be: there are 1 to {most}.")
        return number

    @staticmethod
    def hint_for_type(good, rest):
        if rest.startswith("/") and "/" in good:
            return f"a type has a package and a name: write `{good.split('/')[0]}{rest}`."
        if rest.startswith("[") and good.endswith("]"):
            return "there are no arrays of arrays: put the inner one into a message of its own."
        if rest.startswith("["):
            return "the size of an array is a number, as in `[3]` or `[<=3]`; `[]` is one of any size."
        if rest.startswith("<"):
            return "a bound is a number behind `<=`, as in `string<=20` or `uint8[<=20]`."
        if rest.startswith("="):
            return "a constant has a type and a name, as in `uint8 COUNT=3`."
        return "no type is written like this: write `TYPE NAME`, as in `float64 x` or `std_msgs/Header header`."


class Part:
    """What is read of one structure so far."""

    def __init__(self):
        self.members = []
        self.names = {}  # to lines
        self.above = None  # the comment at its begin; None: not known yet
        self.blocks = []  # comments since the last member that are followed by a blank line
        self.block = []  # lines of the comment just before
        self.behind = []  # lines of the comment of the last member, on its line and below
        self.touches = False  # the line before was a member, or goes on with its comment

    def blank(self):
        self.touches = False
        self.close_block()

    def close_block(self):
        if self.block and self.above is None:
            self.above = tuple(self.block)
        elif self.block:
            self.blocks.append(tuple(self.block))
        self.block = []

    def comment(self, text, is_indented):
        if self.touches and is_indented and not self.block:
            self.behind.append(text)
        else:
            self.touches = False
            self.block.append(text)

    def add(self, member, comment):
        if self.above is None:
            self.close_block()
            self.above = self.above or ()
        self.close_member()
        self.members.append(dataclasses.replace(member, sections=tuple(self.blocks), above=tuple(self.block)))
        self.behind = [comment] if comment else []
        self.blocks, self.block = [], []
        self.touches = True

    def close_member(self):
        """The last member has its comment now."""
        if self.members:
            self.members[-1] = dataclasses.replace(self.members[-1], behind=tuple(self.behind))

    def structure(self, package, kind, base):
        self.close_block()
        self.close_member()
        return Structure(package, kind, base, tuple(self.members), self.above or (), tuple(self.blocks))


def comment_text(comment):
    """A comment without what begins it."""
    return comment.lstrip("#").rstrip()
