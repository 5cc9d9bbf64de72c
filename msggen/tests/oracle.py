"""Answers what rosbags makes of definitions. Run by an interpreter that has it: oracle.py WORD <QUESTION >ANSWER, both in JSON.

typestores: of the releases of ROS 2 that have type hashes, the definition and the hash of each message.
encode: random messages of given structures as CDR, for round_trip/round_trip.cpp.

What rosbags does otherwise than ROS 2, and so is not compared, or is given in another way: it has no wstring; it has no services and actions, whose parts it is told are
messages; it writes structures without fields as nothing, and reads them not at all inside of others, so that they get the field that ROS 2 gives them; it hashes `char` as a type
of its own. NaN in single numbers are those that struct makes of the bits.
"""

import json
import random
import struct
import sys

import numpy
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

RELEASES = ("ROS2_IRON", "ROS2_JAZZY", "ROS2_KILTED", "ROS2_LYRICAL")
PLACEHOLDER = ("structure_needs_at_least_one_member", (Nodetype.BASE, ("uint8", 0)))
# As struct calls them. A single `byte` is signed to rosbags, in an array it is not.
CODES = dict(int8="b", int16="h", int32="i", int64="q", uint8="B", uint16="H", uint32="I", uint64="Q", float32="f", float64="d", byte="b", char="B")
ELEMENTS = {"byte": "uint8", "char": "uint8"}  # as numpy calls them, where it has another name
LETTERS = "aZ09 _/#\"\\'\n\u00e4\u20ac\U0001f916"
# Messages with few elements, and those that have nothing, and more than the 4 KiB from which sinew refers to arrays where they lie.
FEW, NONE, MANY = range(3)
ROUNDS = [FEW] * 10 + [NONE] + [MANY] * 3


def typestores():
    answer = {}
    for release in RELEASES:
        store = get_typestore(Stores[release])
        answer[release] = {name: {"text": store.gendefhash(name, {}, 2)[0], "hash": store.hash_rihs01(name)} for name in store.fielddefs}
    return answer


def encode(structures, bytes_are, streams, expected):
    """Writes a stream of each byte order to the file `streams` for each random message, and that in this machine's to `expected`, twice.

    `structures`: name to text of each, with all that they refer to. Answers their signatures (spec/types.md), by the names and types of fields that rosbags knows; a `byte`
    is called as is said.
    """
    store = get_typestore(Stores.EMPTY)
    types = {}
    for name, text in structures.items():
        package, _, base = name.split("/")
        (_, (constants, fields)), = get_types_from_msg(text, f"{package}/msg/{base}").items()
        # CDR of ROS 2 has no structure without fields; rosbags writes what it is given.
        types[name] = (constants, fields or [PLACEHOLDER])
    store.fielddefs.clear()
    store.register(types)
    values = Values(store)
    with open(streams, "wb") as stream_file, open(expected, "wb") as expected_file:
        for name in structures:
            for how in ROUNDS:
                message = values.message(name, how)
                little, big = (bytes(store.serialize_cdr(message, name, little_endian=order)) for order in (True, False))
                for stream in (little, big):
                    write(stream_file, name.encode())
                    write(stream_file, stream)
                    write(expected_file, little)
    return {name: signature(store, bytes_are, name) for name in structures}


def write(file, content):
    file.write(struct.pack("<I", len(content)) + content)


class Values:
    """Random values, always the same ones."""

    def __init__(self, store):
        self.store = store
        self.random = random.Random(1)

    def message(self, name, how, deep=0):
        fields = {}
        for field, description in self.store.get_msgdef(name).fields:
            fields[field] = self.value(description, how, deep)
        return self.store.types[name](**fields)

    def value(self, description, how, deep):
        kind, what = description
        if kind == Nodetype.NAME:
            return self.message(what, how, deep + 1)
        if kind == Nodetype.BASE:
            return self.text(what[1], how, deep) if what[0] == "string" else self.number(what[0])
        element, size = what
        if kind == Nodetype.SEQUENCE:
            is_plain = element[0] == Nodetype.BASE and element[1][0] != "string"
            most = {FEW: 4, NONE: 0, MANY: 5000 if is_plain and deep < 2 else 4}[how]
            most = min(most, size or most)
            size = self.random.randint(most // 2 if most > 4 else 0, most)
        if element[0] == Nodetype.NAME or element[1][0] == "string":
            return [self.value(element, FEW if how == MANY else how, deep + 1) for _ in range(size)]
        if element[1][0] == "bool":
            return numpy.array([self.random.random() < 0.5 for _ in range(size)], dtype=numpy.bool_)
        type = numpy.dtype(ELEMENTS.get(element[1][0], element[1][0]))
        return numpy.frombuffer(self.random.randbytes(size * type.itemsize), dtype=type)

    def number(self, base):
        if base == "bool":
            return self.random.random() < 0.5
        code = "<" + CODES[base]
        # All bits: also infinite numbers, and those that are none.
        return struct.unpack(code, self.random.randbytes(struct.calcsize(code)))[0]

    def text(self, most, how, deep):
        wanted = {FEW: self.random.randint(0, 20), NONE: 0, MANY: 5000 if deep == 0 else 5}[how]
        text = "".join(self.random.choice(LETTERS) for _ in range(min(wanted, most or wanted)))
        while most and len(text.encode()) > most:
            text = text[:-1]
        return text


def signature(store, bytes_are, name):
    def of(description):
        kind, what = description
        if kind == Nodetype.NAME:
            return signature(store, bytes_are, what)
        if kind == Nodetype.BASE:
            return {"byte": bytes_are, "char": "uint8"}.get(what[0], what[0])
        return of(what[0]) + (f"[{what[1]}]" if kind == Nodetype.ARRAY else "[]")

    return name + "{" + "".join(f"{field}:{of(description)};" for field, description in store.fielddefs[name][1]) + "}"


if __name__ == "__main__":
    json.dump({"typestores": typestores, "encode": encode}[sys.argv[1]](**json.load(sys.stdin)), sys.stdout)
