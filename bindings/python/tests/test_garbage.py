"""Streams of strangers, which may be anything."""

import os
import random
import unittest

import numpy as np

import sinew
from harness import PATIENCE, Case
from vectors import VECTORS

# A run of the suite looks at some; more are a matter of time: SINEW_PYTHON_GARBAGE=5000000.
STREAMS = int(os.environ.get("SINEW_PYTHON_GARBAGE", "20000"))
CLOUD = (
    "testing/Cloud{frames:testing/Frame{name:string;at:float64[3][2];}[];points:testing/P{x:float32;y:float32;z:float32;i:uint8;}[];odd:testing/O{a:uint32;b:uint32;c:float64;}[];"
    "flags:bool[];rows:testing/R{on:bool;v:uint16;}[];text:string[];maybe:testing/P{x:float32;y:float32;z:float32;i:uint8;}?;"
    "some:(std/monostate{}|uint8[]|string)[];map:entry<string,uint32[]>{key:string;value:uint32[];}[];none:testing/None{}[];deep:uint16[][][2];}"
)


# Publishes whatever it likes, and goes on writing to it.
STRANGER = """
import ctypes, random, sys
import sinew

def library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if "libsinew.so" in line))

def must(status):
    assert status == 0, status

c = library()
signature, stream, is_wild = sys.argv[1].encode(), bytes.fromhex(sys.argv[2]), sys.argv[3] == "wild"
node, publisher, loan, data = (ctypes.c_void_p() for _ in range(4))
must(c.sinew_node_create(b"stranger", None, ctypes.byref(node)))
must(c.sinew_publisher_create(node, b"topic", signature, None, None, ctypes.byref(publisher)))
chance = random.Random(1)
subscribers = (ctypes.c_uint64 * 13)()
while subscribers[6] == 0:
    must(c.sinew_publisher_get_statistics(publisher, subscribers))
must(c.sinew_publisher_loan(publisher, ctypes.c_size_t(len(stream)), ctypes.byref(loan), ctypes.byref(data)))
ctypes.memmove(data.value, stream, len(stream))
must(c.sinew_publisher_publish_loan(publisher, loan, ctypes.c_size_t(len(stream))))
print("published", flush=True)
while is_wild:
    at = chance.randrange(4, len(stream))
    some = stream[at : at + 4] if chance.random() < 0.7 else chance.choice((bytes(4), b"\\xff" * 4, b"\\x01\\0\\0\\0", b"\\0\\0\\x10\\0"))
    ctypes.memmove(data.value + at, some, min(len(some), len(stream) - at))
input()
"""

# Says no to each request, in no language.
PROVIDER = """
import ctypes, signal
import sinew

def library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if "libsinew.so" in line))

def must(status):
    assert status == 0, status

class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32), ("execution_thread", ctypes.c_uint32), ("memory_budget", ctypes.c_uint64), ("at_most_once", ctypes.c_bool), ("ghost", ctypes.c_uint8),
        ("on_request", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)), ("context", ctypes.c_void_p), ("release", ctypes.c_void_p),
    ]

c = library()
node, provider = ctypes.c_void_p(), ctypes.c_void_p()
fail = Options._fields_[5][1](lambda _, call: must(c.sinew_call_fail(ctypes.c_void_p(call), b"\\xe4 no")))
options = Options(ctypes.sizeof(Options), on_request=fail)
must(c.sinew_node_create(b"stranger", None, ctypes.byref(node)))
must(c.sinew_provider_create(node, b"service", b"t/A{}", b"t/B{}", ctypes.byref(options), ctypes.byref(provider)))
signal.pause()
"""


def look(value):
    """At everything, as programs do."""
    if isinstance(value, sinew.Message):
        for name in value._fields:
            look(getattr(value, name))
    elif isinstance(value, sinew.Sequence):
        for element in value:
            look(element)
    elif isinstance(value, dict):
        for element in value.values():
            look(element)
    elif isinstance(value, np.ndarray):
        value.tobytes()


def mutated(stream, chance):
    """Another stream, most often of the same length."""
    stream = bytearray(stream)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(stream))
        what = chance.random()
        if what < 0.5:
            stream[at] = chance.choice((0, 1, 2, 4, 127, 128, 255, chance.randrange(256)))
        elif what < 0.8:
            stream[at : at + 4] = chance.choice((0, 1, 2**31, 2**32 - 1, chance.randrange(2**32), len(stream))).to_bytes(4, chance.choice(("little", "big")))
        elif what < 0.9:
            del stream[at:]
        else:
            stream[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
        stream = stream or bytearray(4)
    return bytes(stream)


def honest():
    types = [(sinew.Type(vector.signature), stream) for vector in VECTORS for stream in vector.streams.values()]
    cloud = sinew.Type(CLOUD)
    value = {
        "frames": [{"name": "a"}, {"name": "bb"}],
        "points": np.zeros(5, dtype=[("x", "f4")]),
        "odd": [{"a": 1}, {"b": 2}],
        "flags": [True, False],
        "rows": [{"on": True, "v": 3}],
        "text": ["", "x"],
        "maybe": {"x": 1},
        "some": [None, [1, 2], "text"],
        "map": {"k": [1, 2]},
        "none": [{}, {}],
        "deep": [[[1], [2, 3]], []],
    }
    return [*types, (cloud, cloud.encode(value))]


class Garbage(unittest.TestCase):
    def test_is_a_message_or_a_complaint(self):
        chance = random.Random(int(os.environ.get("SINEW_PYTHON_SEED", "1")))
        types = honest()
        refused = 0
        for _ in range(STREAMS):
            kind, stream = chance.choice(types)
            stream = mutated(stream, chance)
            try:
                message = kind.decode(stream)
                repr(message)
                look(message)
                plain = sinew.asdict(message)
                self.assertEqual(kind.decode(kind.encode(message))._stream(), message._stream())
                self.assertEqual(list(plain), list(message._fields))
            except sinew.DecodeError:
                refused += 1
        self.assertGreater(refused, STREAMS // 10)
        self.assertGreater(STREAMS - refused, STREAMS // 100)

    def test_of_any_bytes_is_a_message_or_a_complaint(self):
        chance = random.Random(2)
        types = [kind for kind, _ in honest()]
        for _ in range(STREAMS // 10):
            stream = bytes((0, chance.randrange(3), 0, 0)) + chance.randbytes(chance.randrange(200))
            try:
                look(chance.choice(types).decode(stream))
            except sinew.DecodeError:
                pass

    def test_lengths_cost_no_memory_that_the_stream_does_not_have(self):
        for signature in ("t/T{a:t/Empty{}[];}", "t/T{a:float64[];}", "t/T{a:string[];}", "t/T{a:t/R{on:bool;}[];}", "t/T{a:uint8[4000000000][4000000000];}", "t/T{a:string[4000000000];}", "t/T{a:string[0][4000000000];b:uint64;}"):
            with self.subTest(signature), self.assertRaises(sinew.DecodeError):
                sinew.asdict(sinew.Type(signature).decode(bytes((0, 1, 0, 0, 255, 255, 255, 255)) + bytes(8)))

    def test_elements_that_take_nothing_are_copied_up_to_a_number(self):
        kind = sinew.Type("t/T{a:t/Empty{}[][];}")
        length = (1000).to_bytes(4, "little")
        self.assertEqual(len(sinew.asdict(kind.decode(bytes((0, 1, 0, 0)) + bytes((50, 0, 0, 0)) + length * 50))["a"][49]), 1000)
        with self.assertRaises(sinew.DecodeError):
            sinew.asdict(kind.decode(bytes((0, 1, 0, 0)) + length * 1001))

    def test_signatures_are_types_or_refused(self):
        chance = random.Random(3)
        signatures = [kind.signature for kind, _ in honest()]
        kept = 0
        for _ in range(STREAMS // 10):
            text = list(chance.choice(signatures))
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(text))
                if chance.random() < 0.5:
                    text[at] = chance.choice("{}()[]?:;|<>0a\0é")
                else:
                    del text[at : at + chance.randint(1, 5)]
            try:
                kind = sinew.Type("".join(text))
                self.assertEqual(sinew.Type(kind.signature), kind)
                look(kind.decode(bytes((0, 1, 0, 0)) + bytes(100000)))
                kept += 1
            except (sinew.InvalidArgument, sinew.DecodeError):
                pass
        self.assertGreater(kept, 0)

    def test_signatures_end_somewhere(self):
        for text in ("uint8" + "[]" * 63, "t/A{a:" * 63 + "uint8" + ";}" * 63):
            sinew.Type(text)
        for text in ("", "uint8" + "[]" * 64, "t/A{a:" * 64 + "uint8" + ";}" * 64, "(" * 100000, "t/A{" * 8000, "t/A{" + "".join(f"a{i}:bool;" for i in range(129)) + "}", "t/A{a:bool;a:bool;}", "uint8[4294967296]", "uint8[01]", "()", "t/E(float32)", "x" * 40000, "t/A{a:uint8;} "):
            with self.subTest(text[:40]), self.assertRaises(sinew.InvalidArgument):
                sinew.Type(text)


class Strangers(Case):
    def received(self, stream, is_wild):
        cloud = honest()[-1][0]
        node = sinew.Node("test")
        self.addCleanup(node.close)
        subscriber = node.subscribe("topic", cloud)
        path = self.folder / "stranger.py"
        path.write_text(STRANGER)
        stranger = self.start(path, cloud.signature, stream.hex(), "wild" if is_wild else "tame")
        return stranger, subscriber

    def test_publish_what_is_no_message(self):
        stream = honest()[-1][1]
        _, subscriber = self.received(stream[:4] + b"\xff\xff\xff\x7f" + stream[8:], False)
        message, info = subscriber.take(PATIENCE)
        self.assertEqual(info.publisher, "stranger")
        with self.assertRaises(sinew.DecodeError):
            sinew.asdict(message)

    def test_fail_calls_with_what_is_no_text(self):
        self.start_text(PROVIDER)
        with sinew.Node("test") as node:
            client = node.create_client("service", "t/A{}", "t/B{}")
            error = client.call_async().exception(PATIENCE)
            self.assertIsInstance(error, sinew.CallFailed, self.story())
            self.assertIn("\ufffd no", str(error))
            with self.assertRaisesRegex(sinew.CallFailed, "\ufffd no"):
                client.call(timeout=PATIENCE)

    def test_write_while_they_are_read(self):
        stranger, subscriber = self.received(honest()[-1][1], True)
        message = subscriber.take(PATIENCE)[0]
        read = refused = 0
        for _ in range(STREAMS // 4):
            try:
                repr(message)
                message == message
                look(message)
                sinew.asdict(message)
                look(message._type.decode(message._stream()))
                read += 1
            except sinew.DecodeError:
                refused += 1
        self.assertIsNone(stranger.process.poll(), self.story())
        self.assertGreater(refused, 0)
