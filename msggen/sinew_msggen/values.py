"""Reads the values of constants and the defaults of fields."""

from __future__ import annotations

import re
import struct

from .definition import FLOATS, INTEGERS, STRINGS, Array, Scalar, Type

INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|[0-9]+)")
FLOAT = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
BOOLS = {"true": True, "1": True, "false": False, "0": False}
ESCAPE = re.compile(r"\\(?:([abfnrtv\\\"'])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3}))")
ESCAPED = dict(zip("abfnrtv", "\a\b\f\n\r\t\v"))
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
# A number with more digits is none of 64 bits, and slow to read.
DIGITS = 80


class ValueComplaint(Exception):
    """What is wrong with a value, at an offset in the text of it."""

    def __init__(self, sentence: str, begin: int = 0, width: int = 0):
        super().__init__(sentence)
        self.begin = begin
        self.width = width


def end_of_value(text: str) -> int:
    """Where in the rest of a line, which begins with a value, that ends: at a comment, or at the end of the line.

    A `#` in quotes belongs to the value, as who wrote the quotes meant it.
    """
    at = 0
    if text.startswith("["):
        at = 1
        while at < len(text) and text[at] not in "#]":
            quoted = QUOTED.match(text, at)
            at = quoted.end() if quoted else at + 1
    elif quoted := QUOTED.match(text):
        rest = text[quoted.end() :].lstrip()
        at = quoted.end() if not rest or rest.startswith("#") else 0
    comment = text.find("#", at)
    return len(text[:comment].rstrip()) if comment >= 0 else len(text.rstrip())


def scalar(type: Type, text: str) -> Scalar:
    """The value of a constant, of a field that is no array, or of an element."""
    if not text:
        raise ValueComplaint(f"a value of type `{type.base}` is missing.")
    if type.base == "bool":
        if text.lower() not in BOOLS:
            raise ValueComplaint(f"`{shortened(text)}` is no bool: write `true` or `false`.")
        return BOOLS[text.lower()]
    if type.base in INTEGERS:
        return integer(type.base, text)
    if type.base in FLOATS:
        return floating(type.base, text)
    return string(type, text)


def integer(base: str, text: str) -> int:
    if not INTEGER.fullmatch(text):
        raise ValueComplaint(f"`{shortened(text)}` is no integer: write it like `-5` or `0xff`.")
    least, most = INTEGERS[base]
    if len(text) <= DIGITS:
        value = int(text, 10) if re.fullmatch(r"[+-]?[0-9]+", text) else int(text, 0)
        if least <= value <= most:
            return value
    raise ValueComplaint(f"`{shortened(text)}` does not fit into {base}, which goes from {least} to {most}.")


def floating(base: str, text: str) -> float:
    if not FLOAT.fullmatch(text):
        raise ValueComplaint(f"`{shortened(text)}` is no number: write it like `-0.5` or `1e-3`.")
    value = float(text)
    if "n" not in text.lower():
        try:
            struct.pack("<f" if base == "float32" else "<d", value)
        except OverflowError:
            value = float("inf")
        if value in (float("inf"), float("-inf")):
            most = "3.4e38" if base == "float32" else "1.7e308"
            raise ValueComplaint(f"`{shortened(text)}` does not fit into {base}, which goes up to {most}.")
    return value


def string(type: Type, text: str) -> str:
    value = text
    for quote in "\"'":
        if len(text) > 1 and text[0] == text[-1] == quote:
            value = text[1:-1]
            inside = re.match(rf"(?:[^\\{quote}]|\\.)*", value).end()
            if inside < len(value):
                raise ValueComplaint(f"inside of quotes a quote is written `\\{quote}`, and a backslash at the end `\\\\`.", inside + 1, 1)
            break
    value = unescaped(value)
    long = len(value.encode()) if type.base == "string" else len(value)
    if type.characters and long > type.characters:
        raise ValueComplaint(f"the text has a length of {long}, and `{type.base}<={type.characters}` has room for {type.characters}.")
    return value


def unescaped(text: str) -> str:
    """Escapes as ROS 2 knows them; a `\\` before anything else stands for itself."""

    def character(match):
        simple, *numbers, octal = match.groups()
        if simple:
            return ESCAPED.get(simple, simple)
        code = int(octal, 8) if octal else int(next(filter(None, numbers)), 16)
        if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise ValueComplaint(f"`{match[0]}` is no character that a string may have.")
        return chr(code)

    return ESCAPE.sub(character, text)


def elements(type: Type, text: str) -> tuple:
    """The default of an array: `[1, 2]`."""
    if not text.startswith("[") or not text.endswith("]") or len(text) < 2:
        raise ValueComplaint("the default of an array stands in brackets, as in `[1, 2]`.")
    found = []
    for begin, end in pieces(text, type.base in STRINGS):
        try:
            found.append(scalar(type, text[begin:end]))
        except ValueComplaint as complaint:
            raise ValueComplaint(str(complaint), begin + complaint.begin, complaint.width or end - begin) from None
    if type.array is Array.FIXED and len(found) != type.size:
        raise ValueComplaint(f"`{type}` has {type.size} elements, and its default has {len(found)}.")
    if type.array is Array.BOUNDED and len(found) > type.size:
        raise ValueComplaint(f"`{type}` has at most {type.size} elements, and its default has {len(found)}.")
    return tuple(found)


def pieces(text: str, quotes: bool):
    """Begin and end of each element between brackets."""
    at, last = 1, len(text) - 1
    if not text[at:last].strip():
        return
    while True:
        while at < last and text[at] == " ":
            at += 1
        quoted = QUOTED.match(text, at, last) if quotes else None
        comma = text.find(",", quoted.end() if quoted else at, last)
        end = comma if comma >= 0 else last
        begin, stop = at, at + len(text[at:end].rstrip())
        if quoted and quoted.end() != stop:
            raise ValueComplaint("a `,` is missing between elements.", quoted.end(), stop - quoted.end())
        if begin == stop:
            raise ValueComplaint("an element is missing.", begin, 1)
        yield begin, stop
        if comma < 0:
            return
        at = comma + 1


def value(type: Type, text: str) -> Scalar | tuple:
    """The default of a field."""
    if not type.is_primitive:
        raise ValueComplaint(f"only numbers and strings have defaults, and `{type.base}` is a message: give its own fields defaults.")
    return scalar(type, text) if type.array is Array.NONE else elements(type, text)


def shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
