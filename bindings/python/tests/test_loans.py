"""Arrays of a loan that somebody still has when it has been published."""

import unittest

from harness import Case

HEAD = """
import contextlib, gc, sys, time, numpy as np, sinew
node = sinew.Node("node")
publisher = node.create_publisher("data", "robot/Data{data:uint8[];points:robot/P{x:float32;y:float64;}[];}")
MIB = 1 << 20

def loan(number, size=8 * MIB):
    with publisher.loan(data=size, points=1000) as message:
        message.data[...] = number
        message.points["x"] = number
        return message.data, message.points["x"], memoryview(message.data)[5:]

def assert_has(number, data, points, view):
    assert not data.flags.writeable
    assert int(data.min()) == int(data.max()) == number == view[0] == view[-1]
    assert (points == number).all()

def chunks():
    with open("/proc/self/maps") as maps:
        return maps.read().count("sinew-chunk")

def wait_until(is_so):
    while not is_so(): time.sleep(0.01)
"""


class Loans(Case):
    def assert_runs(self, text):
        self.assert_ends(self.start_text(HEAD + text))

    def test_leave_arrays_that_outlive_node_and_publisher(self):
        self.assert_runs("""
arrays = loan(7)
node.close()
assert_has(7, *arrays)
del publisher, node
gc.collect()
assert_has(7, *arrays)
""")

    def test_leave_arrays_that_stay_when_the_publisher_gives_memory_back(self):
        self.assert_runs("""
arrays = loan(7)
loan(1, 32 * MIB)
loan(2, 64 * MIB)
publisher.publish({"data": b"x"})
mapped = publisher.statistics()["memory_mapped"]
wait_until(lambda: publisher.statistics()["memory_mapped"] < mapped)
assert_has(7, *arrays)
""")

    def test_leave_arrays_that_stay_as_they_were_published(self):
        self.assert_runs("""
kept = [loan(number, 100_000) for number in range(20)]
for _ in range(2000): loan(99, 100_000)
for number, arrays in enumerate(kept): assert_has(number, *arrays)
""")

    def test_leave_arrays_also_when_they_are_not_published(self):
        self.assert_runs("""
kept = []
try:
    with publisher.loan(data=8 * MIB) as message:
        message.data[...] = 1
        kept.append(message.data)
        raise KeyError
except KeyError:
    pass
unused = publisher.loan(data=8 * MIB)
kept.append(unused.__enter__().data)
kept[-1][...] = 1
del unused, message
refused = publisher.loan(data=8 * MIB)
with sinew.Node("other"):
    message = refused.__enter__()
    kept.append(message.data)
    message.data[...] = 1
    node.close()
try:
    refused.__exit__(None, None, None)
    assert False
except sinew.Closed:
    pass
assert [int(data.sum()) for data in kept] == 3 * [8 * MIB], kept
assert not any(data.flags.writeable for data in kept)
""")

    def test_that_have_ended_are_not_published_again(self):
        self.assert_runs("""
other = node.create_publisher("other", publisher.type)
holder = sinew.Type("robot/Holder{held:" + publisher.type.signature + ";}")
client = node.create_client("nobody", publisher.type, "t/B{}")
with publisher.loan(data=8 * MIB) as published:
    other.publish(published)
with contextlib.suppress(KeyError), publisher.loan(data=8 * MIB) as refused:
    raise KeyError
for draft in published, refused:
    for use in other.publish, publisher.type.encode, lambda draft: holder.encode({"held": draft}), client.call_async:
        try:
            use(draft)
            assert False
        except RuntimeError as error:
            assert "the loan has been published, or given back" in str(error), error
assert other.statistics()["published"] == 1
""")

    def test_that_have_ended_are_no_dicts_of_nothing(self):
        self.assert_runs("""
holder = sinew.Type("robot/Holder{held:" + publisher.type.signature + ";}")
with publisher.loan(data=8 * MIB) as published:
    assert list(sinew.asdict(published)) == ["data"]
with contextlib.suppress(KeyError), publisher.loan(data=8 * MIB) as refused:
    raise KeyError
for draft in published, refused, holder.draft(held=published):
    try:
        sinew.asdict(draft)
        assert False
    except RuntimeError as error:
        assert "the loan has been published, or given back" in str(error), error
""")

    def test_give_the_memory_back_with_the_last_array(self):
        self.assert_runs("""
arrays = loan(7)
loan(1), loan(2)
publisher.close()
node.close()
assert chunks() > 0
part = arrays[1][3:]
del arrays
assert chunks() > 0 and part[0] == 7
del part
gc.collect()
assert chunks() == 0
""")

    def test_take_no_more_memory_where_nobody_has_an_array(self):
        self.assert_runs("""
for number in range(100): loan(number)
assert publisher.statistics()["memory_mapped"] < 64 * MIB, publisher.statistics()
assert publisher.statistics()["bytes_copied"] < 100 * 100_000
""")


if __name__ == "__main__":
    unittest.main()
