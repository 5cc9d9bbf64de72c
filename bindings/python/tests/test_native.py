"""Nodes, publishers, subscribers, services, timers and events as Python has them. Lives and deaths are in test_lifetime.py."""
# Long because: it is a row of small tests of all that a node creates.

import gc
import threading
import time
import unittest
import weakref

import numpy as np

import sinew
from harness import PATIENCE, Case

IMAGE = "robot/Image{header:robot/Header{stamp_ns:uint64;frame_id:string;};height:uint32;width:uint32;data:uint8[];}"
CLOUD = "robot/Cloud{points:robot/P{x:float32;y:float32;z:float32;i:uint8;}[];odd:robot/O{a:uint32;b:uint32;c:float64;}[];}"
REQUEST = "robot/Request{a:int32;data:uint8[];}"
RESPONSE = "robot/Response{sum:int64;}"


class Nodes(Case):
    def setUp(self):
        super().setUp()
        self.node = sinew.Node("test")
        self.addCleanup(self.node.close)
        self.other = sinew.Node("other")
        self.addCleanup(self.other.close)

    def connected(self, publisher, subscribers=1):
        self.wait_until(lambda: publisher.statistics()["subscribers"] == subscribers)
        return publisher

    def pair(self, kind=IMAGE, **options):
        publisher = self.node.create_publisher("topic", kind)
        subscriber = self.other.subscribe("topic", **options)
        self.connected(publisher)
        return publisher, subscriber


class Messages(Nodes):
    def test_come_as_they_were_published(self):
        publisher, subscriber = self.pair()
        pixels = np.arange(10000, dtype=np.uint8)
        publisher.publish({"header": {"stamp_ns": 5, "frame_id": "map"}, "height": 100, "width": 100, "data": pixels})
        image, info = subscriber.take(PATIENCE)
        self.assertEqual((image.header.stamp_ns, image.header.frame_id, image.height), (5, "map", 100))
        np.testing.assert_array_equal(image.data, pixels)
        self.assertEqual((info.publisher, info.sequence, info.missed, info.delivery), ("test", 1, 0, "view"))
        self.assertLessEqual(info.source_time_ns, info.receive_time_ns)
        self.assertLessEqual(info.receive_time_ns, time.monotonic_ns())

    def test_are_forwarded_and_published_in_part(self):
        publisher, subscriber = self.pair()
        publisher.publish({"width": 3, "data": bytes(5000)})
        first = subscriber.take(PATIENCE)[0]
        publisher.publish(first)
        self.assertEqual(subscriber.take(PATIENCE)[0], first)
        publisher.publish({"header": first.header, "width": 3, "data": first.data})
        self.assertEqual(subscriber.take(PATIENCE)[0], first)

    def test_that_do_not_fit_are_not_published(self):
        publisher, _ = self.pair()
        with self.assertRaisesRegex(sinew.EncodeError, "^height: -1 does not fit uint32"):
            publisher.publish({"height": -1})
        self.assertEqual(publisher.statistics()["published"], 0)

    def test_wait_while_others_go_on(self):
        publisher, subscriber = self.pair()
        counted = 0
        waiting = threading.Thread(target=subscriber.take)
        waiting.start()
        while counted < 1000:
            counted += 1
        publisher.publish({})
        waiting.join(PATIENCE)
        self.assertFalse(waiting.is_alive())

    def test_that_do_not_come_are_a_timeout(self):
        _, subscriber = self.pair(timeout=0.01)
        for wait in lambda: subscriber.take(0), lambda: subscriber.take(0.01), lambda: next(subscriber):
            with self.assertRaisesRegex(TimeoutError, "no message came on 'topic' in time") as raised:
                wait()
            self.assertIsInstance(raised.exception, sinew.Timeout)
            self.assertEqual(raised.exception.kind, "timeout")


class Subscribers(Nodes):
    def test_take_the_type_of_a_topic_that_comes_later(self):
        found = []
        waiting = threading.Thread(target=lambda: found.append(self.other.subscribe("late", timeout=PATIENCE).type.name))
        waiting.start()
        publisher = self.node.create_publisher("late", IMAGE)
        waiting.join(PATIENCE)
        self.assertEqual(found, ["robot/Image"])
        publisher.close()

    def test_say_which_topics_there_are_when_theirs_does_not_come(self):
        self.node.create_publisher("here", IMAGE)
        publisher = self.node.create_publisher("there", IMAGE)
        with self.assertRaisesRegex(sinew.Timeout, "'nothing' in time.* there are 'there'"):
            self.other.subscribe("nothing", timeout=0.05)
        publisher.close()

    def test_refuse_another_type(self):
        publisher = self.node.create_publisher("topic", IMAGE)
        with self.assertRaisesRegex(TypeError, "data") as raised:
            self.other.subscribe("topic", IMAGE.replace("uint8", "int8"))
        self.assertIsInstance(raised.exception, sinew.TypeMismatch)
        publisher.close()

    def test_call_back_with_as_much_as_is_wanted(self):
        seen = []

        class Thing:
            def method(self, message, info):
                seen.append(("method", message.width, info.sequence))

        def one(message):
            seen.append(("one", message.width))

        def optional(message, info=None):
            seen.append(("optional", message.width, info.sequence))

        publisher = self.node.create_publisher("topic", IMAGE)
        messages = []
        for callback in Thing().method, one, optional, messages.append, lambda *both: seen.append(("all", both[0].width, both[1].sequence)):
            self.other.subscribe("topic", IMAGE, callback)
        self.connected(publisher, 5).publish({"width": 9})
        self.wait_until(lambda: len(seen) == 4 and messages)
        self.assertEqual(sorted(seen), [("all", 9, 1), ("method", 9, 1), ("one", 9), ("optional", 9, 1)])

    def test_go_on_when_a_callback_raises(self):
        seen, told = [], []

        def callback(message):
            seen.append(message.width)
            raise ValueError(f"width {message.width}")

        before = sys_hook(lambda raised: told.append((raised.exc_value.args, raised.object.function)))
        self.addCleanup(sys_hook, before)
        publisher = self.node.create_publisher("topic", IMAGE)
        self.other.subscribe("topic", IMAGE, callback)
        self.connected(publisher)
        for width in 1, 2:
            publisher.publish({"width": width})
            self.wait_until(lambda: len(told) == width)
        self.assertEqual((seen, told), ([1, 2], [(("width 1",), callback), (("width 2",), callback)]))

    def test_can_be_closed_in_their_callback(self):
        seen = []
        publisher = self.node.create_publisher("topic", IMAGE)
        subscriber = self.other.subscribe("topic", IMAGE, lambda _: (seen.append(subscriber.close()), self.other.close()))
        self.connected(publisher).publish({})
        self.wait_until(lambda: subscriber.closed and self.other.closed and seen)
        self.assertEqual(seen, [None])

    def test_stop_waiting_when_they_or_their_node_are_closed(self):
        for what in "subscriber", "node":
            with self.subTest(what):
                node = sinew.Node("third")
                subscriber = node.subscribe("quiet", IMAGE)
                ended = []
                begun = threading.Event()

                def wait():
                    begun.set()
                    ended.append(list(subscriber))

                waiting = threading.Thread(target=wait)
                waiting.start()
                begun.wait(PATIENCE)
                (subscriber if what == "subscriber" else node).close()
                waiting.join(PATIENCE)
                self.assertEqual(ended, [[]])
                with self.assertRaises(sinew.Closed):
                    subscriber.take(1)
                node.close()

    def test_are_told_what_happens(self):
        events = []
        subscriber = self.other.subscribe("topic", IMAGE, qos=sinew.Qos(reliable=True), on_event=lambda event: events.append((event.kind, event.current_count, event.node, event.text)))
        good = self.node.create_publisher("topic", IMAGE, qos=sinew.Qos(reliable=True))
        self.wait_until(lambda: ("matched", 1, "", "") in events)
        bad = self.node.create_publisher("topic", IMAGE)
        self.wait_until(lambda: [event for event in events if event[0] == "incompatible_qos" and event[2] == "test" and "reliable" in event[3]])
        good.close()
        self.wait_until(lambda: ("matched", 0, "", "") in events)
        bad.close()
        subscriber.close()

    def test_by_the_caller_run_callbacks_where_they_are_dispatched(self):
        node = sinew.Node("mine", by_caller=True)
        threads = []
        publisher = self.node.create_publisher("topic", IMAGE)

        def callback(_):
            threads.append(threading.current_thread())
            node.stop()

        node.subscribe("topic", IMAGE, callback)
        self.connected(publisher).publish({})
        node.spin()
        self.assertEqual(threads, [threading.main_thread()])
        node.close()

    def test_that_are_stopped_before_they_spin_return_at_once(self):
        limits = self.node.create_publisher("limit", sinew.float32, qos=sinew.qos.latched)
        limits.publish(0.5)
        for by_caller in False, True:
            node = sinew.Node("mine", by_caller=by_caller)
            came, is_on_time = threading.Event(), threading.Event()

            def callback(_):
                node.stop()
                came.set()

            def spin():
                node.stop()
                node.stop()
                node.spin()
                node.subscribe("limit", sinew.float32, callback, qos=sinew.qos.latched)
                if not by_caller:
                    came.wait(PATIENCE)
                node.spin()
                if came.is_set():
                    is_on_time.set()

            spinning = threading.Thread(target=spin)
            spinning.start()
            spinning.join(PATIENCE)
            is_over = not spinning.is_alive()
            node.close()
            spinning.join()
            self.assertTrue(is_over)
            self.assertTrue(is_on_time.is_set())


def sys_hook(hook):
    import sys

    before, sys.unraisablehook = sys.unraisablehook, hook
    return before


class Loans(Nodes):
    def test_are_published_without_a_copy(self):
        publisher, subscriber = self.pair()
        for number in range(3):
            with publisher.loan(data=(108, 192, 3)) as image:
                image.header.frame_id = "camera" * (number + 1)
                image["height"], image.width = 108, 192
                image.data[...] = number
                image.data[0, 0] = 7
            message, info = subscriber.take(PATIENCE)
            self.assertEqual((message.header.frame_id, message.width, info.delivery), ("camera" * (number + 1), 192, "view"))
            self.assertEqual((message.data.size, message.data[:4].tolist(), int(message.data[-1])), (108 * 192 * 3, [7, 7, 7, number], number))
        self.assertLess(publisher.statistics()["bytes_copied"], 3 * 200)
        self.assertEqual(subscriber.statistics()["bytes_copied"], 0)

    def test_of_structures_are_rows(self):
        publisher, subscriber = self.pair(CLOUD)
        with publisher.loan(points=1000, odd=(500,)) as cloud:
            self.assertEqual(cloud.points.dtype.itemsize, 16)
            cloud.points["x"] = np.arange(1000)
            cloud.points["i"] = 3
            cloud.odd["c"] = np.arange(500)
        message = subscriber.take(PATIENCE)[0]
        np.testing.assert_array_equal(message.points["x"], np.arange(1000))
        np.testing.assert_array_equal(message.odd["c"], np.arange(500))
        self.assertEqual((int(message.points["i"].sum()), message.points.flags.owndata, message.points.strides), (3000, False, (16,)))

    def test_that_an_exception_leaves_behind_before_their_block_are_given_back(self):
        publisher, _ = self.pair()
        with self.assertRaises(ZeroDivisionError):
            (publisher.loan(data=10), 1 / 0)
        self.assertEqual(publisher.statistics()["memory_in_use"], 0)

    def test_whose_block_raises_are_not_published(self):
        publisher, subscriber = self.pair()
        with self.assertRaises(KeyError):
            with publisher.loan(data=10):
                raise KeyError
        with self.assertRaisesRegex(sinew.EncodeError, "width"):
            with publisher.loan(data=10) as image:
                image.width = -1
        with self.assertRaisesRegex(AttributeError, "no field 'hight'"):
            with publisher.loan(data=10) as image:
                image.hight = 1
        with self.assertRaises(sinew.Timeout):
            subscriber.take(0)
        self.assertEqual(publisher.statistics()["published"], 0)

    def test_have_what_is_set_in_place_of_their_arrays(self):
        publisher, subscriber = self.pair()
        with publisher.loan(data=5000) as image:
            image.data = np.full(5000, 9, dtype=np.uint8)
            image.data += 1
        self.assertEqual(set(subscriber.take(PATIENCE)[0].data.tolist()), {10})
        self.assertLess(publisher.statistics()["bytes_copied"], 200)

    def test_refuse_what_is_set_in_place_of_their_arrays_and_does_not_fit(self):
        publisher, subscriber = self.pair("t/T{data:uint8[];ranges:float32[];points:t/P{x:float32;n:int8;q:uint8[2];}[];}")
        rows = np.zeros(3, [("n", "i4"), ("x", "f8"), ("q", "u1", 2)])
        rows["n"], rows["x"], rows["q"] = 5, 0.5, [1, 2]
        large, high, other = rows.copy(), rows.copy(), np.zeros(3, [("y", "f4")])
        large["n"][2], high["x"][2] = 200, 1e300
        with publisher.loan(data=2, ranges=2, points=3) as message:
            message.data, message.ranges, message.points = [7, 8], 0, rows
            for name, value, text in (
                ("data", np.array([300, -1]), "^data: -1 does not fit uint8$"),
                ("data", [300, 1], "^data: 300 does not fit uint8$"),
                ("data", np.int64(300), "^data: 300 does not fit uint8$"),
                ("data", [1.5, 2], "^data: an array of float64 does not fit uint8: round it"),
                ("data", b"ab", r"^data: \|S2 does not fit uint8$"),
                ("ranges", np.array([1, 1e300]), r"^ranges: 1e\+300 does not fit float32$"),
                ("points", large, r"^points\.n: 200 does not fit int8$"),
                ("points", high, r"^points\.x: 1e\+300 does not fit float32$"),
                ("points", other, "^points: t/P has no field 'y'"),
                ("points", np.zeros(3, [("q", "u1")]), r"^points\.q: an array of the shape \(\) does not fit uint8\[2\]$"),
                ("points", [(1e300, 5, (1, 2))] * 3, r"^points\.x: 1e\+300 does not fit float32$"),
                ("points", [(1, 5.5, (1, 2))] * 3, r"^points\.n: an array of float64 does not fit int8: round it"),
                ("points", (1, 5, (300, 2)), r"^points\.q: 300 does not fit uint8$"),
                ("points", 200, r"^points\.n: 200 does not fit int8$"),
                ("points", [(1, [5], (1, 2))] * 3, r"^points\.n: a sequence does not fit int8$"),
                ("points", [("a", 5, (1, 2))] * 3, r"^points\.x: <U1 does not fit float32$"),
            ):
                with self.subTest(name=name, value=value), self.assertRaisesRegex(sinew.EncodeError, text):
                    setattr(message, name, value)
            with self.assertRaisesRegex(AttributeError, "an array of a loan cannot be deleted"):
                del message.data
            self.assertEqual((message.points["n"].tolist(), message.points["q"].tolist()), ([5] * 3, [[1, 2]] * 3))
            message.points = [(1.5, -1, (3, 4)), (2.5, -2, (5, 6)), (3.5, -3, (7, 8))]
            self.assertEqual((message.points["n"].tolist(), message.points["q"].tolist()), ([-1, -2, -3], [[3, 4], [5, 6], [7, 8]]))
            message.points = (0.25, 4, (1, 2))
            self.assertEqual((message.points["x"].tolist(), message.points["n"].tolist()), ([0.25] * 3, [4] * 3))
            for value in ((10**300, 4, (1, 2)), (1, 2**70, (1, 2))):
                with self.subTest(value=value), self.assertRaises(sinew.EncodeError):
                    message.points = value
            message.points = np.array([(0.5,)] * 3, [("x", "f4")])
        taken = subscriber.take(PATIENCE)[0]
        self.assertEqual((taken.data.tolist(), taken.ranges.tolist()), ([7, 8], [0, 0]))
        self.assertEqual((taken.points["n"].tolist(), taken.points["x"].tolist(), taken.points["q"].tolist()), ([0] * 3, [0.5] * 3, [[0, 0]] * 3))

    def test_take_integers_on_both_sides_of_the_largest_with_a_sign(self):
        publisher, subscriber = self.pair("t/T{numbers:uint64[];points:t/P{n:uint64;}[];}")
        with publisher.loan(numbers=2, points=2) as message:
            for name, value in (("numbers", [2**64, 1]), ("numbers", [-1, 2**63]), ("numbers", [2**63, 0.5]), ("points", [(2**64,), (1,)]), ("points", [(-1,), (2**63,)])):
                with self.subTest(name=name, value=value), self.assertRaisesRegex(sinew.EncodeError, "does not fit uint64"):
                    setattr(message, name, value)
            message.numbers = [2**63 + 1, 1]
            message.points = [(2**63 + 1,), (1,)]
        taken = subscriber.take(PATIENCE)[0]
        self.assertEqual((taken.numbers.tolist(), taken.points["n"].tolist()), ([2**63 + 1, 1], [2**63 + 1, 1]))

    def test_that_are_over_cannot_be_written(self):
        publisher, _ = self.pair()
        with publisher.loan(data=5000) as image:
            data = image.data
        with self.assertRaises(ValueError):
            data[0] = 1
        with self.assertRaises(ValueError):
            data.flags.writeable = True
        with self.assertRaisesRegex(RuntimeError, "has been published"):
            image.width = 1
        publisher.close()
        self.assertEqual(data.nbytes, 5000)
        data.tobytes()

    def test_are_of_vectors_of_numbers(self):
        publisher, _ = self.pair()
        for arrays, text in (({"data": -1}, "no array of the shape"), ({"data": (2**20, 2**20)}, "no array of the shape"), ({"dat": 1}, "no field 'dat'"), ({"width": 1}, "can be loaned"), ({"header": 1}, "can be loaned")):
            with self.subTest(arrays), self.assertRaisesRegex(sinew.EncodeError, text):
                publisher.loan(**arrays)
        with self.assertRaisesRegex(ValueError, "70 dimensions"):
            publisher.loan(data=(1,) * 70)

    def test_of_as_many_dimensions_as_their_type_are_of_its_lengths(self):
        publisher, subscriber = self.pair("t/T{points:float32[3][];}")
        with self.assertRaisesRegex(sinew.EncodeError, r"^points: an array of the shape \(3, 100\) does not fit float32\[3\]\[\]$"):
            publisher.loan(points=(3, 100))
        for shape in 4, (4, 3), (12,), (3, 2, 2):
            with publisher.loan(points=shape) as message:
                message.points.reshape(-1)[...] = np.arange(12)
            self.assertEqual(subscriber.take(PATIENCE)[0].points.tolist(), np.arange(12).reshape(4, 3).tolist())

    def test_that_are_dropped_give_their_memory_back(self):
        publisher, _ = self.pair()
        for _ in range(100):
            publisher.loan(data=50_000_000)
        with publisher.loan(data=50_000_000) as image:
            image.data[0] = 1


class Services(Nodes):
    def test_answer(self):
        self.node.provide("add", REQUEST, RESPONSE, lambda request: {"sum": request.a + int(request.data.sum())})
        client = self.other.create_client("add", timeout=PATIENCE)
        self.assertEqual(client.call({"a": -3, "data": np.ones(10000, dtype=np.uint8)}, timeout=PATIENCE).sum, 9997)
        self.assertEqual(client.call(timeout=PATIENCE).sum, 0)
        self.assertEqual(client.call_async({"a": 4}).result(PATIENCE).sum, 4)

    def test_get_what_was_asked_also_when_it_changes_before_they_come(self):
        client = self.other.create_client("add", REQUEST, RESPONSE)
        data = np.ones(10000, dtype=np.uint8)
        future = client.call_async({"a": 1, "data": data})
        data[:] = 2
        self.node.provide("add", REQUEST, RESPONSE, lambda request: {"sum": request.a + int(request.data.sum())})
        self.assertEqual(future.result(PATIENCE).sum, 10001)

    def test_tell_clients_what_handlers_raise(self):
        def handler(request):
            if request.a == 1:
                raise LookupError("there is no such thing")
            return {"total": 1}

        self.node.provide("fails", REQUEST, RESPONSE, handler)
        client = self.other.create_client("fails", REQUEST, RESPONSE)
        with self.assertRaisesRegex(sinew.CallFailed, "LookupError: there is no such thing"):
            client.call({"a": 1}, timeout=PATIENCE)
        with self.assertRaisesRegex(sinew.CallFailed, "no field 'total'"):
            client.call({}, timeout=PATIENCE)
        self.assertIsInstance(client.call_async({"a": 1}).exception(PATIENCE), sinew.CallFailed)

    def test_answer_later_and_see_who_waits(self):
        calls = []
        self.node.provide("later", REQUEST, RESPONSE, calls.append, deferred=True)
        client = self.other.create_client("later", timeout=PATIENCE)
        future = client.call_async({"a": 5})
        self.wait_until(lambda: calls)
        with self.assertRaises(sinew.EncodeError):
            calls[0].answer({"sum": "much"})
        self.assertFalse(calls[0].cancelled)
        calls[0].answer({"sum": calls[0].request.a})
        self.assertEqual(future.result(PATIENCE).sum, 5)
        with self.assertRaises(RuntimeError):
            calls[0].fail("again")
        calls.clear()
        future = client.call_async({})
        self.wait_until(lambda: calls)
        self.assertTrue(future.cancel())
        self.wait_until(lambda: calls[0].cancelled)
        future = client.call_async({})
        self.wait_until(lambda: len(calls) == 2)
        calls.clear()
        self.assertRegex(str(future.exception(PATIENCE)), "without an answer")

    def test_are_not_waited_for_where_the_client_tells_its_answers(self):
        calls, raised = [], []
        self.node.provide("later", REQUEST, RESPONSE, calls.append, deferred=True)
        client = self.other.create_client("later", timeout=PATIENCE)

        def again(_):
            try:
                client.call(timeout=PATIENCE)
            except BaseException as error:
                raised.append(error)

        future = client.call_async()
        future.add_done_callback(again)
        self.wait_until(lambda: calls)
        calls[0].answer({"sum": 1})
        self.wait_until(lambda: raised)
        self.assertIsInstance(raised[0], RuntimeError)
        self.assertIn("use call_async()", str(raised[0]))
        self.assertEqual(future.result(PATIENCE).sum, 1)

    def test_that_are_late_time_out(self):
        calls = []
        self.node.provide("late", REQUEST, RESPONSE, calls.append, deferred=True)
        client = self.other.create_client("late", timeout=PATIENCE)
        with self.assertRaises(TimeoutError):
            client.call(timeout=0.05)
        with self.assertRaises(sinew.Timeout):
            self.other.create_client("nobody", timeout=0.05)

    def test_whose_client_is_closed_cancel_its_calls(self):
        calls = []
        self.node.provide("late", REQUEST, RESPONSE, calls.append, deferred=True)
        client = self.other.create_client("late", timeout=PATIENCE)
        future = client.call_async()
        ended = []

        def wait():
            try:
                client.call()
            except sinew.Cancelled:
                ended.append(True)

        waiting = threading.Thread(target=wait)
        waiting.start()
        self.wait_until(lambda: len(calls) == 2)
        client.close()
        self.assertIsInstance(future.exception(PATIENCE), sinew.Cancelled)
        waiting.join(PATIENCE)
        self.assertEqual(ended, [True])


class Others(Nodes):
    def test_timers_call_until_they_are_cancelled(self):
        times = []
        timer = self.node.create_timer(0.001, lambda: times.append(time.monotonic()))
        self.wait_until(lambda: len(times) > 3)
        timer.cancel()
        timer.reset()
        seen = len(times)
        self.wait_until(lambda: len(times) > seen + 1)
        timer.close()
        self.assertTrue(timer.closed)
        with self.assertRaises(sinew.InvalidArgument):
            self.node.create_timer(0, print)

    def test_ghosts_are_told_with_their_kinds(self):
        with self.node.create_publisher("topic", IMAGE), self.other.subscribe("topic", IMAGE, ghost="observer"), self.other.create_publisher("topic", IMAGE, ghost="carrier"):
            ends = self.node.domain().endpoints
            self.assertEqual([(end.publishes, end.ghost) for end in ends], [(True, None), (False, "observer"), (True, "carrier")])
        with self.assertRaises(sinew.Unavailable):
            self.node.subscribe("nothing", IMAGE, ghost="observer")

    def test_the_domain_tells_what_there_is(self):
        updates = []
        watch = self.node.watch(updates.append)
        publisher = self.node.create_publisher("topic", IMAGE, qos=sinew.Qos(depth=3, reliable=True))
        state = self.other.domain()
        self.assertEqual(([topic.name for topic in state.topics], state.topics[0].type, state.topics[0].signature), (["topic"], "robot/Image", IMAGE))
        self.assertEqual({node.name for node in state.nodes}, {"test", "other"})
        self.assertEqual([(endpoint.depth, endpoint.reliable, endpoint.publishes) for endpoint in state.endpoints], [(3, True, True)])
        self.wait_until(lambda: any(topic.name == "topic" for update in updates for topic in update.topics))
        publisher.close()
        self.wait_until(lambda: any(state.topics[0].id in update.gone for update in updates))
        self.assertTrue(updates[0].anew)
        watch.close()

    def test_counters_count(self):
        publisher, subscriber = self.pair()
        publisher.publish({})
        subscriber.take(PATIENCE)
        publishers, pairs = self.other.counters().read()
        self.assertEqual(([each["messages"] for each in publishers], [each["messages"] for each in pairs]), ([1], [1]))
        self.assertEqual(pairs[0]["publisher_identity"], publishers[0]["identity"])
        self.assertNotIn(pairs[0]["subscriber_identity"], (0, publishers[0]["identity"]))

    def test_what_is_closed_says_so(self):
        publisher, subscriber = self.pair()
        publisher.close()
        publisher.close()
        self.assertTrue(publisher.closed)
        with self.assertRaisesRegex(sinew.Closed, "closed"):
            publisher.publish({})
        self.other.close()
        self.assertTrue(subscriber.closed)
        for call in lambda: self.other.create_publisher("x", IMAGE), lambda: self.other.domain(), lambda: subscriber.take(1):
            with self.assertRaises(sinew.Closed):
                call()

    def test_a_type_in_the_place_of_a_name_is_told_from_it(self):
        for create in self.node.create_publisher, self.node.subscribe, self.node.create_client:
            with self.assertRaisesRegex(TypeError, r"the (topic|service) comes first: (create_publisher|subscribe|create_client)\('x', int\)"):
                create(int, "x")
            with self.assertRaisesRegex(TypeError, "the name of a topic or service comes first.*is no name"):
                create(int, int)
        with self.assertRaisesRegex(TypeError, "comes first"):
            self.node.provide(b"x", REQUEST, RESPONSE, print)

    def test_refusals_are_exceptions_of_python_too(self):
        with self.assertRaises(ValueError):
            self.node.create_publisher("a topic?\n", IMAGE)
        with self.assertRaises(ValueError):
            self.node.create_publisher("x", IMAGE, when_full="explode")
        with self.assertRaises(ValueError):
            self.node.create_publisher("x", IMAGE, ghost="holy")
        with self.assertRaises(sinew.NameTaken):
            sinew.Node("test")
        with self.assertRaises(ValueError):
            self.node.subscribe("x", IMAGE, qos=sinew.Qos(depth=-1))

    def test_circles_through_callbacks_are_collected(self):
        class Robot:
            def __init__(self):
                self.node = sinew.Node("robot")
                self.subscriber = self.node.subscribe("topic", IMAGE, self.look, on_event=self.look)
                self.timer = self.node.create_timer(1000, self.look)
                self.provider = self.node.provide("service", REQUEST, RESPONSE, self.look)

            def look(self, *_):
                pass

        robot = weakref.ref(Robot())
        gc.collect()
        self.assertIsNone(robot())
        self.wait_until(lambda: "robot" not in [node.name for node in self.node.domain().nodes])


if __name__ == "__main__":
    unittest.main()
