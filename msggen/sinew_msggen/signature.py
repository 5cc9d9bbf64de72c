"""The signature of a type, as spec/types.md (section 3) has it: what sinew knows of the C++ struct that is made of the same definition."""

from __future__ import annotations

from .definition import PLACEHOLDER, Array, Field, Structure
from .errors import refused
from .resolve import Definitions

# Those of spec/types.md.
MOST_FIELDS = 128
MOST_BYTES = 32768
MOST_DEEP = 64
NUMBERS = {"byte": "uint8", "char": "uint8"}
SUFFIXES = {Array.NONE: "", Array.FIXED: "[{}]", Array.BOUNDED: "[]", Array.UNBOUNDED: "[]"}


def signature(name: str, definitions: Definitions) -> str:
    """Of a structure, "sensor_msgs/msg/Image" or "std_srvs/srv/SetBool_Request". DefinitionError where there is none, or sinew has no such type."""
    return Signatures(definitions).of(definitions.structure_in_order(name))[0]


class Signatures:
    """Of structures that refer to one another, each made once."""

    def __init__(self, definitions: Definitions):
        self.definitions = definitions
        self.made = {}  # (signature, how deep) by name

    def of(self, structure: Structure):
        if structure.name not in self.made:
            self.made[structure.name] = self.make(structure)
        return self.made[structure.name]

    def make(self, structure):
        fields = structure.fields
        if len(fields) > MOST_FIELDS:
            many = f"`{structure.name}` has {len(fields)} fields, and a message of sinew at most {MOST_FIELDS}"
            raise refused(fields[MOST_FIELDS].place, f"{many}: put some into a message of their own.")
        text, deep = "", 1
        for field in fields:
            type, inner = self.of_field(field)
            deep = max(deep, inner)
            text += f"{field.name}:{type};"
            if deep >= MOST_DEEP:
                raise refused(field.type_place, f"`{structure.name}` is more than {MOST_DEEP} structures and arrays deep, as deep as a message of sinew may be.")
            if len(text) > MOST_BYTES:
                long = f"the signature of `{structure.name}` has more than {MOST_BYTES} bytes, as many as one of sinew may have"
                raise refused(field.type_place, f"{long}: send parts of it on topics of their own.")
        return f"{structure.name}{{{text or f'{PLACEHOLDER}:uint8;'}}}", deep + 1

    def of_field(self, field: Field):
        """Its type, and how deep that is."""
        type = field.type
        if type.base == "wstring":
            raise refused(field.type_place, "sinew has no `wstring`: make it a `string`, which holds any text as UTF-8.")
        one, deep = (NUMBERS.get(type.base, type.base), 1) if type.is_primitive else self.of(self.definitions.structure(type.name))
        return one + SUFFIXES[type.array].format(type.size), deep + (type.array is not Array.NONE)
