"""What dataclasses are as messages (spec/types.md), and what is said of those that cannot be."""

import dataclasses
import enum
import unittest
from typing import Any, ClassVar, Dict, List, Literal, Optional, Tuple, TypeVar, Union

import numpy as np
import sinew
from numpy.typing import NDArray
from sinew import _signature
from typing_extensions import TypeAliasType


class Mode(enum.IntEnum):
    idle = 0
    driving = 1


@sinew.enumeration(sinew.uint8, "robot/Gear")
class Gear(enum.IntEnum):
    first = 1


@sinew.message("robot/Header")
class Header:
    stamp_ns: sinew.uint64
    frame_id: str


@dataclasses.dataclass
class Everything:
    LIMIT: ClassVar[int] = 7
    flag: bool
    count: int
    ratio: float
    text: str
    raw: bytes
    small: sinew.int8
    single: sinew.float32
    numbers: List[int]
    names: List[str]
    image: NDArray[np.uint8]
    mask: NDArray[np.bool_]
    matrix: sinew.Array[sinew.float32, 9]
    rows: sinew.Array[sinew.Array[int, 3], Literal[2]]
    headers: List[Header]
    header: Header
    maybe: Optional[Header]
    several: Optional[List[Optional[float]]]
    mode: Mode
    gear: Gear


class Node:
    pass


@dataclasses.dataclass
class Tree:
    children: List["Tree"]


@dataclasses.dataclass
class Lost:
    there: "Nowhere"  # noqa: F821


def made(**annotations):
    return dataclasses.dataclass(type("Made", (), {"__annotations__": annotations}))


class Signatures(unittest.TestCase):
    def test_are_those_of_the_specification(self):
        header = "robot/Header{stamp_ns:uint64;frame_id:string;}"
        self.assertEqual(_signature.of(Header), header)
        self.assertEqual(
            _signature.of(Everything),
            "Everything{flag:bool;count:int64;ratio:float64;text:string;raw:uint8[];small:int8;single:float32;numbers:int64[];names:string[];image:uint8[];mask:bool[];"
            f"matrix:float32[9];rows:int64[3][2];headers:{header}[];header:{header};maybe:{header}?;several:float64?[]?;mode:Mode(int32);gear:robot/Gear(uint8);}}",
        )

    def test_of_numbers_alone_are_their_names(self):
        for declared, name in ((sinew.uint32, "uint32"), (float, "float64"), (str, "string"), (List[sinew.int16], "int16[]")):
            self.assertEqual(_signature.of(declared), name)

    def test_of_a_class_without_a_name_have_its_own_without_its_module(self):
        @sinew.message
        class Plain:
            x: int

        self.assertEqual(_signature.of(Plain), "Plain{x:int64;}")
        self.assertEqual(Plain(3).x, 3)

    def test_of_a_class_that_inherits_begin_with_the_fields_of_its_base_and_have_its_own_name(self):
        @dataclasses.dataclass
        class Stamped(Header):
            x: int

        self.assertEqual(_signature.of(Stamped), "Stamped{stamp_ns:uint64;frame_id:string;x:int64;}")


class Aliases(unittest.TestCase):
    def test_are_what_they_stand_for(self):
        scalar = TypeVar("scalar", bound=np.generic)
        pixels = TypeAliasType("pixels", np.ndarray[Any, np.dtype[scalar]], type_params=(scalar,))
        times = TypeAliasType("times", List[int])

        @sinew.message("robot/Aliases")
        class Declared:
            image: pixels[np.uint8]
            stamps: times
            maybe: Optional[times]

        self.assertEqual(sinew.type_of(Declared).signature, "robot/Aliases{image:uint8[];stamps:int64[];maybe:int64[]?;}")


class Values(unittest.TestCase):
    def test_are_equal_when_all_of_their_fields_are_also_arrays(self):
        @sinew.message
        class Scan:
            number: int
            ranges: NDArray[np.float32]
            headers: List[Header]

        scan = Scan(1, np.ones(3, np.float32), [Header(1, "a")])
        self.assertEqual(scan, Scan(1, np.ones(3, np.float32), [Header(1, "a")]))
        for other in (Scan(2, scan.ranges, scan.headers), Scan(1, np.zeros(3, np.float32), scan.headers), Scan(1, scan.ranges, []), Scan(1, scan.ranges, [Header(1, "b")]), Header(1, "a")):
            self.assertNotEqual(scan, other)

    def test_of_a_plain_dataclass_are_what_the_dataclass_says(self):
        self.assertEqual(sinew.message("robot/Other")(dataclasses.dataclass(frozen=True)(type("Other", (), {"__annotations__": {"x": int}})))(1).x, 1)


class Refusals(unittest.TestCase):
    def assert_refused(self, declared, says):
        with self.assertRaisesRegex(TypeError, says):
            _signature.of(declared)

    def test_take_no_message_for_a_type(self):
        @dataclasses.dataclass
        class Made:
            x: int

        self.assert_refused(Made(1), r"Made\(\.\.\.\) is a message, and a type is wanted: Made$")

    def test_say_where_and_what_to_write(self):
        for annotation, says in (
            (Any, r"^Made\.x: Any cannot be in a message"),
            (list, r"^Made\.x: list .*say of what: list\[int\]"),
            (np.ndarray, r"^Made\.x: .*NDArray\[np\.float32\]"),
            (NDArray[Any], r"^Made\.x: .*those are bool, int8 to uint64, float32 and float64"),
            (NDArray[np.complex128], r"^Made\.x: complex128 is not what arrays in messages are of"),
            (NDArray[np.number], r"^Made\.x: number is not what"),
            (np.float32, r"^Made\.x: .*a field of its own is sinew\.float32"),
            (dict, r"^Made\.x: dict .*`key` and `value`"),
            (Dict[str, int], r"^Made\.x: Dict\[str, int\] .*`key` and `value`"),
            (Tuple[int, int], r"^Made\.x: .*write a dataclass, or sinew\.Array"),
            (Union[int, str], r"^Made\.x: a field has one type, or Optional of one; here are int and str"),
            (None, r"^Made\.x: NoneType cannot be"),
            (Node, r"^Made\.x: Node cannot be in a message: make it a dataclass"),
            (enum.Enum("Colour", "red"), r"^Made\.x: Colour is an enumeration, but not of integers"),
            (enum.IntEnum("Big", {"most": 2**40}), r"^Made\.x: Big\.most is 1099511627776, more than int32 holds"),
        ):
            with self.subTest(annotation=annotation):
                self.assert_refused(made(x=annotation), says)

    def test_name_the_way_to_what_is_wrong_inside_of_others(self):
        self.assert_refused(made(x=List[made(y=complex)]), r"^Made\.y: complex cannot be")

    def test_are_of_what_contains_itself(self):
        self.assert_refused(Tree, r"^Tree\.children: Tree contains itself")

    def test_are_of_names_that_cannot_be_found(self):
        self.assert_refused(Lost, r"^Lost: an annotation of Lost cannot be found: .*Nowhere")

    def test_are_of_too_much(self):
        self.assert_refused(made(**{f"x{i}": int for i in range(129)}), "has 129 fields, and a structure at most 128")
        many = made(**{f"x{i}": int for i in range(100)})
        self.assert_refused(made(**{f"y{i}": many for i in range(100)}), "more than 32768 bytes as a signature")

    def test_are_of_names_with_what_names_cannot_have(self):
        for name in ("", "robot::Image", "a b", "x{"):
            with self.subTest(name=name), self.assertRaisesRegex(TypeError, "no name of a type"):
                sinew.message(name)(Header)

    def test_are_of_lengths_that_are_none(self):
        for length in (0, -1, "3", True):
            with self.subTest(length=length), self.assertRaisesRegex(TypeError, "the length is a number above 0"):
                sinew.Array[int, length]
        with self.assertRaisesRegex(TypeError, "has an element and a length"):
            sinew.Array[int]

    def test_are_of_enumerations_of_what_is_no_integer(self):
        with self.assertRaisesRegex(TypeError, "is not an integer"):
            sinew.enumeration(sinew.float32)
