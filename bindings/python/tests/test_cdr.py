"""Streams as other implementations of CDR have them (spec/vectors/cdr)."""

import copy
import enum
import pickle
import unittest

import numpy as np

import sinew
from vectors import VECTORS


def same(kind, value, told):
    """Whether a value of a message is that of the example."""
    if kind.kind in ("vector", "array"):
        if isinstance(value, dict):
            return len(value) == len(told) and all(same(kind.element.fields[1][1], value[entry["key"]], entry["value"]) for entry in told)
        return len(value) == len(told) and all(same(kind.element, *pair) for pair in zip(value, told))
    if kind.kind == "structure":
        return (value is None and kind.name == "std/monostate") or all(same(member, value[name], told[name]) for name, member in kind.fields)
    if kind.kind == "optional":
        return (value is None) == (told is None) and (value is None or same(kind.element, value, told))
    if kind.kind == "variant":
        return same(kind.fields[told[0]][1], value, told[1])
    return value == told


def to_publish(kind, told):
    if kind.kind in ("vector", "array"):
        return [to_publish(kind.element, element) for element in told]
    if kind.kind == "structure":
        return {name: to_publish(member, told[name]) for name, member in kind.fields}
    if kind.kind == "optional":
        return None if told is None else to_publish(kind.element, told)
    if kind.kind == "variant":
        return sinew.Variant(told[0], to_publish(kind.fields[told[0]][1], told[1]))
    return told


class Vectors(unittest.TestCase):
    def each(self):
        self.assertGreaterEqual(len(VECTORS), 7)
        for vector in VECTORS:
            for order, stream in vector.streams.items():
                with self.subTest(vector.name, order=order):
                    yield sinew.Type(vector.signature), vector, stream

    def test_are_decoded_in_both_byte_orders(self):
        for kind, vector, stream in self.each():
            self.assertTrue(same(kind, kind.decode(stream), vector.value), kind.decode(stream))
            self.assertTrue(same(kind, sinew.asdict(kind.decode(stream)), vector.value))

    def test_are_encoded_from_values_and_from_messages_of_both_byte_orders(self):
        for kind, vector, stream in self.each():
            self.assertEqual(kind.encode(to_publish(kind, vector.value)).hex(), vector.streams["little"].hex())
            self.assertEqual(kind.encode(kind.decode(stream)).hex(), vector.streams["little"].hex())

    def test_are_equal_in_both_byte_orders_and_to_what_is_made_of_them(self):
        for kind, vector, stream in self.each():
            message = kind.decode(stream)
            for other in kind.decode(vector.streams["little"]), pickle.loads(pickle.dumps(message)), *(kind.decode(kind.encode(each(message))) for each in (copy.copy, copy.deepcopy)):
                self.assertEqual(message, other)
                self.assertFalse(message != other)

    def test_that_end_early_or_late_are_refused(self):
        for kind, _, stream in self.each():
            for wrong in stream[:-1], stream + bytes(4), b"\0\2" + stream[2:], stream[:3]:
                with self.assertRaises(sinew.DecodeError):
                    sinew.asdict(kind.decode(wrong))
            sinew.asdict(kind.decode(stream + bytes(3)))


class Values(unittest.TestCase):
    def round(self, kind, value):
        return sinew.Type(kind).decode(sinew.Type(kind).encode(value))

    def test_that_are_missing_are_defaults(self):
        kind = "t/T{b:bool;i:int16;f:float64;s:string;v:uint8[];a:float32[3];o:uint8?;c:(uint8|string);n:t/N{x:uint64;s:string[2];};m:entry<string,uint8>{key:string;value:uint8;}[];}"
        for nothing in {}, sinew.Type(kind).draft():
            told = sinew.asdict(self.round(kind, nothing))
            self.assertEqual(told.pop("v").tolist(), [])
            self.assertEqual(told.pop("a").tolist(), [0, 0, 0])
            self.assertEqual(told, {"b": False, "i": 0, "f": 0.0, "s": "", "o": None, "c": 0, "n": {"x": 0, "s": ["", ""]}, "m": {}})

    def test_that_do_not_fit_are_told_with_their_path(self):
        kind = sinew.Type(
            "t/T{a:t/A{b:uint16[];c:t/C{d:int8;}[];};e:string;f:float32;g:bool;h:float64[2];i:(uint8|string);j:entry<string,uint8>{key:string;value:uint8;}[];k:t/E(uint8);l:float32[];m:t/M{x:float32;}[];}"
        )
        wide = np.array([np.inf, np.nan, 1.0, -1e300])
        for value, text in (
            ({"a": {"b": [1, 70000]}}, r"^a\.b\[1\]: 70000 does not fit uint16$"),
            ({"a": {"b": np.array([-1])}}, r"^a\.b: -1 does not fit uint16$"),
            ({"a": {"b": np.array([1.5])}}, r"^a\.b: an array of float64 does not fit uint16"),
            ({"a": {"c": [{}, {"d": 128}]}}, r"^a\.c\[1\]\.d: 128 does not fit int8$"),
            ({"a": {"c": np.zeros(2, dtype=[("x", "i1")])}}, r"^a\.c: t/C has no field 'x'"),
            ({"a": 5}, r"^a: expected .* not 5 \(int\)$"),
            ({"a": None}, r"^a: expected .* not None"),
            ({"a": {"bb": []}}, r"^a: t/A has no field 'bb'. Did you mean 'b'\?$"),
            ({"e": 5}, r"^e: expected a str, not 5"),
            ({"f": 1e300}, r"^f: 1e\+300 does not fit float32$"),
            ({"f": "1"}, r"^f: expected a number"),
            ({"g": 2}, r"^g: expected a bool, not 2"),
            ({"h": [1, 2, 3]}, r"^h: 3 elements do not fit float64\[2\]$"),
            ({"h": np.zeros(3)}, r"^h: 3 elements do not fit float64\[2\]$"),
            ({"i": 1.5}, r"^i: expected a value of one of the alternatives of \(uint8\|string\)"),
            ({"i": sinew.Variant(2, 0)}, r"^i: there is no alternative 2"),
            ({"j": {"key": 300}}, r"^j\.'key': 300 does not fit uint8$"),
            ({"k": 256}, r"^k: 256 does not fit uint8$"),
            ({"l": [1.0, 1e300]}, r"^l\[1\]: 1e\+300 does not fit float32$"),
            ({"l": np.array([1.0, 1e300])}, r"^l: 1e\+300 does not fit float32$"),
            ({"l": wide}, r"^l: -1e\+300 does not fit float32$"),
            ({"l": wide.astype(">f8")}, r"^l: -1e\+300 does not fit float32$"),
            ({"h": np.array([1, np.longdouble("1e311")])}, r"^h: 1e\+311 does not fit float64$"),
            ({"m": np.array([(1e300,)], dtype=[("x", "f8")])}, r"^m\.x: 1e\+300 does not fit float32$"),
        ):
            with self.subTest(value), self.assertRaisesRegex(sinew.EncodeError, text):
                kind.encode(value)

    def test_of_wider_floats_are_rounded_and_what_is_no_number_stays_so(self):
        wide = np.array([np.inf, -np.inf, np.nan, 0.1, -3e38])
        for kind, value in (("float32[]", wide), ("float32[]", wide.tolist()), ("float32[]", wide.astype(np.longdouble)), ("float64[]", wide.astype(np.longdouble)), ("float32[]", np.empty(0))):
            np.testing.assert_array_equal(self.round(f"t/T{{v:{kind};}}", {"v": value}).v, np.array(value, dtype=kind[:-2]))

    def test_may_be_whatever_stands_for_them(self):
        class Colour(enum.Enum):
            RED = 3

        class Thing:
            n = np.int16(5)
            colour = Colour.RED
            data = memoryview(b"abc")

        kind = "t/T{n:uint8;colour:t/Colour(uint8);data:uint8[];x:float64[];}"
        for value in Thing(), {"n": 5, "colour": 3, "data": [97, 98, 99]}, {"n": 5, "colour": 3, "data": (c for c in b"abc")}, {"n": 5, "colour": 3, "data": np.array([97, 98, 99], dtype="i8")}:
            message = self.round(kind, value)
            self.assertEqual((message.n, message.colour, bytes(message.data)), (5, 3, b"abc"))
        for numbers in [1, 2], (1.0, 2.0), range(1, 3), np.array([1, 2], dtype="u2"), np.array([1, 2], dtype=">f4"), np.array([[9, 1], [9, 2]])[:, 1]:
            self.assertEqual(self.round(kind, {"x": numbers}).x.tolist(), [1, 2])

    def test_of_variants_are_of_the_first_alternative_that_takes_them(self):
        kind = "t/T{v:(std/monostate{}|uint8|bool|float64|string|uint16[]|t/P{x:int8;})[];}"
        message = self.round(kind, {"v": [None, 7, True, 300, "s", [1], {"x": 2}, sinew.Variant(3, 1)]})
        self.assertEqual([message.v._alternative(i) for i in range(8)], [0, 1, 2, 3, 4, 5, 6, 3])
        self.assertEqual((message.v[0], message.v[3], message.v[6].x), (None, 300.0, 2))

    def test_of_variants_stay_what_they_are(self):
        kind = sinew.Type("t/T{v:(uint8|uint16|(int8|uint8))[];o:(uint8|uint16)?;m:entry<string,(uint8|uint16)>{key:string;value:(uint8|uint16);}[];n:t/N{v:(uint8|uint16);};}")
        high = sinew.Variant(1, 5)
        message = kind.decode(kind.encode({"v": [5, high, sinew.Variant(2, high)], "o": high, "m": {"k": high}, "n": {"v": high}}))
        self.assertEqual(message, kind.decode(kind.encode(message)))
        for again in {"v": message.v, "n": message.n}, {"v": message.v, "n": {"v": high}}:
            self.assertEqual([kind.decode(kind.encode(again)).v._alternative(i) for i in range(3)], [0, 1, 2])
            self.assertEqual(kind.decode(kind.encode(again)).n._alternative("v"), 1)

    def test_of_bool_are_true_or_false(self):
        row = {"on": True}
        for kind, value, at in (
            ("bool", True, 4),
            ("bool[]", [True], 8),
            ("bool[3]", [True] * 3, 4),
            ("t/R{on:bool;x:float32;}", row, 4),
            ("t/R{on:bool;x:float32;}[]", [row], 8),
            ("t/R{on:bool[2];}[2]", [{"on": [True, True]}] * 2, 4),
            ("(uint8|bool)", True, 8),
            ("bool?", True, 8),
            ("entry<bool,bool>{key:bool;value:bool;}[]", {True: True}, 8),
        ):
            kind = sinew.Type(f"t/T{{v:{kind};}}")
            wrong = bytearray(kind.encode({"v": value}))
            self.assertEqual(wrong[at], 1)
            sinew.asdict(kind.decode(wrong))
            wrong[at] = 2
            for look in lambda: sinew.asdict(kind.decode(wrong)), lambda: kind.encode(kind.decode(wrong)):
                with self.subTest(kind), self.assertRaisesRegex(sinew.DecodeError, "neither 0 nor 1"):
                    look()

    def test_that_are_no_utf8_survive(self):
        kind = sinew.Type("t/T{s:string;}")
        stream = bytes((0, 1, 0, 0, 3, 0, 0, 0, 0xFF, 0x61, 0))
        self.assertEqual(kind.decode(stream).s, "\udcffa")
        self.assertEqual(kind.encode(kind.decode(stream)), stream)
        repr(kind.decode(stream))

    def test_have_names_that_python_reserves(self):
        message = self.round("t/T{from:uint8;class:uint8;}", {"from": 1, "class": 2})
        self.assertEqual((message["from"], getattr(message, "class")), (1, 2))
        with self.assertRaisesRegex(AttributeError, "no field 'clas'. Did you mean 'class'"):
            message.clas
        with self.assertRaises(KeyError):
            message["fro"]


class Arrays(unittest.TestCase):
    def round(self, kind, value):
        return sinew.Type(kind).decode(sinew.Type(kind).encode(value))

    def test_are_views_that_cannot_be_written(self):
        for kind, value in (("uint8[]", [1, 2]), ("float64[3]", [1, 2, 3]), ("t/P{x:float32;y:uint8;}[]", [{"x": 1}]), ("bool[]", [True])):
            with self.subTest(kind):
                array = self.round(f"t/T{{a:uint8;v:{kind};}}", {"v": value}).v
                self.assertFalse(array.flags.writeable or array.flags.owndata)
                with self.assertRaises(ValueError):
                    array.flags.writeable = True
                with self.assertRaises(ValueError):
                    array[0] = value[0]

    def test_have_the_dimensions_of_their_type(self):
        message = self.round("t/T{a:int16[3][2];v:float32[2][];}", {"a": [[1, 2, 3], [4, 5, 6]], "v": np.arange(6).reshape(3, 2)})
        self.assertEqual(message.a.tolist(), [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(message.v.tolist(), [[0, 1], [2, 3], [4, 5]])

    def test_of_as_many_dimensions_as_their_type_are_of_its_lengths(self):
        kind = sinew.Type("t/T{a:int16[3][2];v:float32[3][];r:t/R{p:float32[3];}[];s:t/S{q:float32;}[2][];}")
        row = np.dtype([("q", "f4")])
        for value, text in (
            ({"v": np.zeros((3, 100))}, r"^v: an array of the shape \(3, 100\) does not fit float32\[3\]\[\]$"),
            ({"v": np.zeros((3, 100), np.float32)}, r"^v: an array of the shape \(3, 100\) does not fit"),
            ({"v": memoryview(np.zeros((3, 100), np.float32))}, r"^v: an array of the shape \(3, 100\) does not fit"),
            ({"a": np.zeros((3, 2), np.int16)}, r"^a: an array of the shape \(3, 2\) does not fit int16\[3\]\[2\]$"),
            ({"a": [[0, 0]] * 3}, r"^a: 3 elements do not fit int16\[3\]\[2\]$"),
            ({"s": np.zeros((2, 3), row)}, r"^s: an array of the shape \(2, 3\) does not fit t/S\[2\]\[\]$"),
            ({"r": np.zeros(3, [("p", "f4")])}, r"^r\.p: an array of the shape \(\) does not fit float32\[3\]$"),
            ({"r": np.zeros(3, [("p", "f4", (1,))])}, r"^r\.p: an array of the shape \(1,\) does not fit float32\[3\]$"),
            ({"r": np.zeros(3, [("p", "f4", (3, 3))])}, r"^r\.p: an array of the shape \(3, 3\) does not fit float32\[3\]$"),
        ):
            with self.subTest(value), self.assertRaisesRegex(sinew.EncodeError, text):
                kind.encode(value)
        numbers = np.arange(12)
        for shape in (4, 3), (2, 2, 3), (3, 2, 2), (12,):
            self.assertEqual(kind.decode(kind.encode({"v": numbers.reshape(shape)})).v.tolist(), numbers.reshape(4, 3).tolist())
        rows = np.arange(12, dtype="f4").view(row)
        for shape in (6, 2), (3, 2, 2), (12,):
            self.assertEqual(kind.decode(kind.encode({"s": rows.reshape(shape)})).s["q"].tolist(), numbers.reshape(6, 2).tolist())

    def test_of_structures_are_the_same_at_every_offset(self):
        for point in "a:float32;b:uint8;", "a:uint8;b:float64;", "a:uint32;b:uint32;c:float64;", "a:uint16;b:t/Q{u:uint8;v:float32;}[2];", "a:uint8;b:uint16[3];", "on:bool;x:int64;":
            for ahead in range(9):
                for count in 1, 2, 5:
                    kind = sinew.Type(f"t/T{{ahead:uint8[{ahead + 1}];v:t/P{{{point}}}[];after:uint8;}}")
                    row = kind.fields[1][1].element
                    rows = np.zeros(count, dtype=row.dtype)
                    for n, name in enumerate(row.dtype.names):
                        rows[name] = np.zeros_like(rows[name]) if row.dtype[name].names else (np.arange(count).reshape(-1, *(1,) * (rows[name].ndim - 1)) + n) % 2
                    with self.subTest(point, ahead=ahead, count=count):
                        listed = [{name: each[name] for name in row.dtype.names} for each in rows]
                        stream = kind.encode({"v": listed, "after": 7})
                        self.assertEqual(kind.encode({"v": rows, "after": 7}).hex(), stream.hex())
                        message = kind.decode(stream)
                        self.assertEqual(message.after, 7)
                        for name in row.dtype.names:
                            self.assertEqual(message.v[name].tolist(), rows[name].tolist())
                        self.assertEqual(kind.encode(message).hex(), stream.hex())
                        self.assertEqual(kind.encode({"v": message.v, "after": 7}).hex(), stream.hex())

    def test_that_are_sequences_are_read_element_by_element(self):
        message = self.round("t/T{v:string[];n:t/N{name:string;v:uint8[];}[];e:t/E{}[];}", {"v": ["a", "b", "c"], "n": [{"name": "x", "v": [1]}, {}], "e": [{}, {}]})
        self.assertEqual((len(message.v), message.v[-1], message.v[0], list(message.v), message.v[1:]), (3, "c", "a", ["a", "b", "c"], ["b", "c"]))
        self.assertEqual(message.v, ["a", "b", "c"])
        self.assertEqual((message.v.index("b"), message.v.count("c"), "d" in message.v, list(reversed(message.v))), (1, 1, False, ["c", "b", "a"]))
        self.assertEqual(([n.name for n in message.n], message.n[0].v.tolist(), len(message.e)), (["x", ""], [1], 2))
        with self.assertRaises(IndexError):
            message.v[3]
        self.assertEqual(repr(message.v), "<string[3]>")
