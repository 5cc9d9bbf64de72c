"""What is said to those who are new, where they do what cannot be meant. Each text says what is there and what to write."""

import asyncio
import contextlib
import dataclasses
import os
import pathlib
import signal
import threading
import unittest
import unittest.mock
from typing import List

import sinew
from harness import PATIENCE, Case
from sinew.msgs.geometry_msgs.msg import Point, PointStamped, Quaternion, Twist, Vector3
from sinew.msgs.std_msgs.msg import Empty, String
from sinew.msgs.std_srvs.srv import Empty as Nothing
from sinew.msgs.std_srvs.srv import SetBool


@sinew.message("robot/Path")
class Path:
    points: List[Point]


class OtherTypes(unittest.TestCase):
    def test_a_message_of_another_declared_type_is_refused_and_both_are_named(self):
        twist = sinew.type_of(Twist)
        for _ in range(2):
            with self.assertRaisesRegex(TypeError, "^a std_msgs/msg/String is no geometry_msgs/msg/Twist: give one of those, or a dict with its fields$"):
                twist.encode(String("go"))
        # Also where it has all of the fields, and more.
        with self.assertRaisesRegex(TypeError, "^a geometry_msgs/msg/Quaternion is no geometry_msgs/msg/Point"):
            sinew.type_of(Point).encode(Quaternion())

    def test_the_field_is_named_that_has_a_message_of_another_declared_type(self):
        with self.assertRaisesRegex(TypeError, "^linear: a geometry_msgs/msg/Quaternion is no geometry_msgs/msg/Vector3"):
            sinew.type_of(Twist).encode(Twist(linear=Quaternion()))
        with self.assertRaisesRegex(TypeError, r"^points\[1\]: a geometry_msgs/msg/PointStamped is no geometry_msgs/msg/Point"):
            sinew.type_of(Path).encode(Path([Point(), PointStamped()]))

    def test_another_type_of_the_same_name_is_told_from_it(self):
        @sinew.message("robot/Path")
        class Newer:
            points: List[Point]
            closed: bool

        with self.assertRaisesRegex(TypeError, r"^this robot/Path has other fields than what is expected, robot/Path\{points:"):
            sinew.type_of(Path).encode(Newer([], True))

    def test_a_class_that_is_declared_without_a_name_is_refused_as_well(self):
        @sinew.message
        class Word:
            x: str

        with self.assertRaisesRegex(TypeError, "^a Word is no geometry_msgs/msg/Point"):
            sinew.type_of(Point).encode(Word("go"))

    def test_what_transfers_the_same_is_taken_whatever_it_is_called(self):
        self.assertEqual(sinew.type_of(Point).encode(Vector3(1.0)), sinew.type_of(Point).encode(Point(1.0)))

    def test_objects_that_are_declared_as_nothing_are_taken_for_the_fields_that_they_have(self):
        @dataclasses.dataclass
        class Plain:
            y: float
            other: int

        class Helper(Point):
            pass

        class Thing:
            x = 3.0

        point = sinew.type_of(Point)
        for given, meant in ((Plain(2.0, 1), Point(y=2.0)), (Helper(1.0), Point(1.0)), (Thing(), Point(3.0)), ({"z": 1.0}, Point(z=1.0))):
            self.assertEqual(point.encode(given), point.encode(meant))
        self.assertEqual(sinew.type_of(Empty).encode(Plain(1.0, 1)), sinew.type_of(Empty).encode(Empty()))

    def test_what_has_none_of_the_fields_is_refused(self):
        @dataclasses.dataclass
        class Word:
            text: str

        word = sinew.type_of(String)
        for given in (Word("go"), word.decode(word.encode({"data": "go"}))):
            with self.subTest(given=given), self.assertRaisesRegex(TypeError, "expected something with the fields of geometry_msgs/msg/Twist, of which there is none"):
                sinew.type_of(Twist).encode(given)

    def test_classes_that_end_are_not_taken_for_those_that_come_in_their_place(self):
        point = sinew.type_of(Point)
        for _ in range(20):
            point.encode(type("Thing", (), {"x": 1.0})())
            made = sinew.message(type("Other", (), {"__annotations__": {"x": float}, "x": 0.0}))
            with self.assertRaisesRegex(TypeError, "an? Other is no"):
                point.encode(made())
            del made


class Publishing(Case):
    def test_a_message_that_can_never_fit_is_told_from_one_that_does_not_fit_now(self):
        with sinew.Node("test") as node:
            publisher = node.create_publisher("scan", "robot/Scan{data:uint8[];}", memory_budget=8 << 20, when_full="refuse")

            large = r"^not published on 'scan': a message of 20 MB is larger than the memory_budget of 8\.4 MB\. Create the publisher with a larger one"
            for publish in lambda: publisher.publish({"data": bytes(20_000_000)}), lambda: publisher.loan(data=20_000_000):
                with self.assertRaisesRegex(sinew.NoMemory, large):
                    publish()
            with self.assertRaisesRegex(sinew.NoMemory, "a message of 8388612 bytes is larger than the memory_budget of 8388608"):
                publisher.publish({"data": bytes(8 << 20)})
            loans = [publisher.loan(data=3_000_000), publisher.loan(data=3_000_000)]
            with self.assertRaises(sinew.NoMemory) as raised:
                publisher.publish({"data": bytes(3_000_000)})
            self.assertNotIn("larger", str(raised.exception))
            loans.clear()
            publisher.publish({"data": bytes(3_000_000)})

    def test_a_budget_that_holds_no_message_is_refused_without_the_zero_that_means_another_thing_in_cpp(self):
        with sinew.Node("test") as node, self.assertRaisesRegex(sinew.InvalidArgument, "memory_budget = 1 is out of range: 65536 bytes or more, as memory is taken in pieces of that$"):
            node.create_publisher("scan", String, memory_budget=1)

    def test_a_message_of_another_declared_type_is_not_published(self):
        with sinew.Node("test") as node:
            publisher = node.create_publisher("cmd_vel", "geometry_msgs/msg/Twist")
            with self.assertRaisesRegex(TypeError, "a std_msgs/msg/String is no geometry_msgs/msg/Twist"):
                publisher.publish(String("go"))
            self.assertEqual(publisher.statistics()["published"], 0)


class Handlers(Case):
    def setUp(self):
        super().setUp()
        self.node = sinew.Node("test")
        self.addCleanup(self.node.close)

    def test_a_handler_that_returns_nothing_is_told_from_one_that_answers(self):
        self.node.provide("set", SetBool.Request, SetBool.Response, lambda request: None)
        client = self.node.create_client("set", SetBool.Request, SetBool.Response)
        with self.assertRaisesRegex(sinew.CallFailed, "^the handler returned None, and what it returns has to be a std_srvs/srv/SetBool_Response, or a dict with its fields"):
            client.call(SetBool.Request(True), timeout=PATIENCE)

    def test_a_response_without_fields_may_be_none(self):
        self.node.provide("clear", Nothing.Request, Nothing.Response, lambda request: None)
        self.node.create_client("clear", Nothing.Request, Nothing.Response).call(timeout=PATIENCE)

    def test_a_deferred_call_is_not_answered_by_none(self):
        calls = []
        self.node.provide("set", SetBool.Request, SetBool.Response, calls.append, deferred=True)
        answer = self.node.create_client("set", SetBool.Request, SetBool.Response).call_async()
        self.wait_until(lambda: calls)
        with self.assertRaisesRegex(sinew.EncodeError, "the response is None, and has to be a std_srvs/srv/SetBool_Response"):
            calls[0].answer(None)
        calls[0].answer({"message": "done"})
        self.assertEqual(answer.result(PATIENCE).message, "done")


# On which the manager may take its time to say why.
BUSY_MACHINE = unittest.mock.patch("sinew._absence._SOON_S", PATIENCE)


class Waiting(Case):
    """In vain."""

    def setUp(self):
        super().setUp()
        self.node = sinew.Node("listener")
        self.other = sinew.Node("talker")
        self.addCleanup(self.node.close)
        self.addCleanup(self.other.close)

    def assert_in_vain(self, subscriber, says):
        for wait in lambda: subscriber.take(0.5), lambda: next(subscriber), lambda: asyncio.run(subscriber.__aiter__().__anext__()):
            with BUSY_MACHINE, self.assertRaisesRegex(sinew.Timeout, "^no message came on 'chatter' in time" + says):
                wait()

    def pid_of_manager(self):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if {b"--socket", os.environ["SINEW_DOMAIN"].encode()} <= set((process / "cmdline").read_bytes().split(b"\0")):
                    return int(process.name)
        return self.fail("there is no manager")

    def test_for_a_publisher_whose_policy_differs_says_which_and_what_to_do(self):
        subscriber = self.node.subscribe("chatter", String, qos=sinew.Qos(reliable=True), timeout=0.6)
        publisher = self.other.create_publisher("chatter", String)
        self.wait_until(lambda: subscriber.statistics()["incompatible"])
        self.assert_in_vain(
            subscriber,
            ": node 'talker' publishes it, but is not connected: reliability: the publisher offers best_effort, the subscriber asks for reliable"
            r"\. In the qos, give the publisher reliable=True, or the subscriber reliable=False$",
        )
        publisher.close()

    def test_for_one_subscriber_is_not_told_of_another_one_of_the_node(self):
        publisher = self.other.create_publisher("chatter", String)
        fits = self.node.subscribe("chatter", String)
        subscriber = self.node.subscribe("chatter", String, qos=sinew.qos.latched, timeout=0.6)
        self.wait_until(lambda: subscriber.statistics()["incompatible"] and fits.statistics()["publishers"])
        self.assert_in_vain(subscriber, ": node 'talker' publishes it, .* reliability: .*; durability: .*give the publisher reliable=True, .*, and give the publisher transient_local=True, ")
        publisher.close()

    def test_where_nobody_publishes_says_so_and_what_may_be_meant(self):
        subscriber = self.node.subscribe("chatter", String, timeout=0.6)
        self.assert_in_vain(subscriber, ": nobody publishes it$")
        publisher = self.other.create_publisher("chattter", String)
        self.other.provide("chatter", Nothing.Request, Nothing.Response, lambda _: None)
        self.assert_in_vain(subscriber, r": nobody publishes it\. Did you mean 'chattter'\?$")
        publisher.close()

    def test_is_not_waiting_for_a_manager_that_does_not_say_why(self):
        subscriber = self.node.subscribe("chatter", String)
        manager = self.pid_of_manager()
        os.kill(manager, signal.SIGSTOP)
        try:
            for _ in range(2):
                with self.assertRaisesRegex(sinew.Timeout, "^no message came on 'chatter' in time$"):
                    subscriber.take(0.5)
                asking = [thread for thread in threading.enumerate() if thread.name == "sinew-absence"]
                self.assertEqual(len(asking), 1, "it waits beside, and once")
        finally:
            os.kill(manager, signal.SIGCONT)
        asking[0].join(PATIENCE)
        with BUSY_MACHINE, self.assertRaisesRegex(sinew.Timeout, ": nobody publishes it$"):
            subscriber.take(0.5)

    def test_where_a_publisher_is_silent_says_that_it_is_there(self):
        subscriber = self.node.subscribe("chatter", String, timeout=0.6)
        publisher = self.other.create_publisher("chatter", String)
        self.wait_until(lambda: subscriber.statistics()["publishers"])
        self.assert_in_vain(subscriber, ", though a publisher is connected$")
        publisher.close()

    def test_for_a_moment_asks_nobody(self):
        subscriber = self.node.subscribe("chatter", String, timeout=0.01)
        for wait in lambda: subscriber.take(0), lambda: next(subscriber):
            with self.assertRaisesRegex(sinew.Timeout, "in time$"):
                wait()


class Arguments(Case):
    def setUp(self):
        super().setUp()
        self.node = sinew.Node("test")
        self.addCleanup(self.node.close)

    def assert_refused(self, call, says):
        with self.assertRaisesRegex(TypeError, says):
            call()
        self.assertEqual(len(self.node.domain().endpoints), 0)

    def test_in_the_order_of_ros_are_put_right_in_a_sentence(self):
        def look(message):
            pass

        for call, says in (
            (lambda: self.node.create_publisher(String, "chat", 10), r"^the topic comes first: create_publisher\('chat', String, qos=10\)$"),
            (lambda: self.node.create_publisher(String, "chat"), r"^the topic comes first: create_publisher\('chat', String\)$"),
            (lambda: self.node.create_publisher("chat", String, 10), r"^options go by their names: create_publisher\('chat', String, qos=10\)$"),
            (lambda: self.node.subscribe(String, "chat", look, 10), r"^the topic comes first: subscribe\('chat', String, look, qos=10\)$"),
            (lambda: self.node.subscribe("chat", String, look, 10), r"^options go by their names: subscribe\('chat', String, look, qos=10\)$"),
            (lambda: self.node.create_client(SetBool, "set"), r"^the service comes first: create_client\('set', SetBool\)$"),
            (lambda: self.node.provide(SetBool, "set", look), r"^the service comes first: provide\('set', SetBool, look\)$"),
        ):
            self.assert_refused(call, says)

    def test_that_are_no_options_are_refused_with_those_that_there_are(self):
        self.assert_refused(lambda: self.node.create_publisher("chat", String, dept=3), r"^create_publisher\(\) has no option 'dept': there are qos, memory_budget, ")
        self.assert_refused(lambda: self.node.subscribe("chat", String, max_rat=3), r"^subscribe\(\) has no option 'max_rat'\. Did you mean 'max_rate'\?$")
        self.assert_refused(lambda: self.node.create_publisher("chat", String, memory_budget="8 MB"), r"one of the options cannot be what is given, \{'memory_budget': '8 MB'\}")

    def test_of_what_is_called_for_each_message_are_looked_at_as_well(self):
        publisher = self.node.create_publisher("chat", String)
        subscriber = self.node.subscribe("chat", String)
        self.wait_until(lambda: publisher.statistics()["subscribers"])
        publisher.publish(message=String("go"))
        for call, says in (
            (lambda: publisher.publish(), "publish.. takes a message, and none is given"),
            (lambda: publisher.publish(String(), 3), "publish.. takes message alone, and 2 are given"),
            (lambda: publisher.publish(massage=String()), "publish.. has no argument 'massage', but message"),
            (lambda: publisher.loan(3), r"loan.. takes arrays by their names: loan\(data=1000\)"),
            (lambda: subscriber.take("now"), "must be real number, not str"),
            (lambda: subscriber.take(1, 2), "take.. takes timeout alone"),
            (lambda: sinew.Publisher.publish(subscriber, String()), "'publish' for '.*Publisher' objects doesn't apply|requires a '.*Publisher' object"),
        ):
            with self.assertRaisesRegex(TypeError, says):
                call()
        self.assertEqual(subscriber.take(timeout=PATIENCE)[0].data, "go")

    def test_that_are_called_back_can_be_called(self):
        for call, owner in (
            (lambda: self.node.subscribe("chat", String, callback=3), "the subscriber of 'chat'"),
            (lambda: self.node.subscribe("chat", String, on_event=3), "the subscriber of 'chat'"),
            (lambda: self.node.create_publisher("chat", String, on_event=3), "the publisher of 'chat'"),
            (lambda: self.node.provide("set", SetBool, 3), "the provider of 'set'"),
            (lambda: self.node.create_timer(1.0, 3), "a timer"),
            (lambda: self.node.watch(3), "a watch"),
        ):
            self.assert_refused(call, f"^{owner} needs something that can be called, and 3 cannot be$")
        self.assert_refused(lambda: self.node.create_timer("0.1", print), "^the period of a timer is a number of seconds, .* and not '0.1'$")
        self.assert_refused(lambda: self.node.subscribe("chat", self.assert_refused), r"^where no type is given, the callback goes by its name: subscribe\('chat', callback=assert_refused\)$")

    def test_that_are_called_back_take_what_they_are_called_with(self):
        def answer(request, response):
            pass

        def nothing():
            pass

        for call, says in (
            (lambda: self.node.subscribe("chat", String, nothing), r"^the subscriber of 'chat' calls nothing\(message\) or nothing\(message, info\), and it is nothing\(\)$"),
            (lambda: self.node.subscribe("chat", String, on_event=nothing), r"calls nothing\(event\)"),
            (lambda: self.node.provide("set", SetBool, answer), r"^the provider of 'set' calls answer\(request\), and it is answer\(request, response\)$"),
            (lambda: self.node.provide("set", SetBool, answer, deferred=True), r"calls answer\(call\)"),
            (lambda: self.node.create_timer(1.0, answer), r"^a timer calls answer\(\), and it is"),
            (lambda: self.node.watch(nothing), r"^a watch calls nothing\(update\)"),
        ):
            self.assert_refused(call, says)

    def test_of_a_service_may_be_its_class_or_its_name(self):
        for given in SetBool, "std_srvs/srv/SetBool":
            with self.node.provide("set", given, lambda request: {"success": request.data}), self.node.create_client("set", given) as client:
                self.assertTrue(client.call({"data": True}, timeout=PATIENCE).success)
        with self.node.provide("set", SetBool, handler=lambda request: {}):
            pass
        self.wait_until(lambda: not self.node.domain().endpoints)
        self.assert_refused(lambda: self.node.provide("set", String, print), r"^String is no service, which has a Request and a Response: provide\('set', Request, Response, handler\), or a class of sinew\.msgs")
        self.assert_refused(lambda: self.node.create_client("set", String), r"^String is no service, .*: create_client\('set', Request, Response\), or")
        self.assert_refused(lambda: self.node.provide("set", SetBool.Request, SetBool.Response, 3), "the provider of 'set' needs something that can be called")

    def test_a_service_is_no_message(self):
        for given in SetBool, "std_srvs/srv/SetBool":
            with self.assertRaises(TypeError if given is SetBool else sinew.definitions.DefinitionError) as raised:
                self.node.create_publisher("set", given)
            self.assertIn("service", str(raised.exception))

    def test_a_callback_that_fails_is_told_with_its_topic(self):
        program = self.start_text("""
import sinew

def look(message):
    raise ValueError(message.data)

node = sinew.Node("program")
node.subscribe("chat", "std_msgs/msg/String", look)
node.provide("set", "std_srvs/srv/SetBool", print, deferred=True)
node.create_timer(0.01, lambda: {}["key"])
node.spin()
""")
        publisher = self.node.create_publisher("chat", String)
        self.wait_until(lambda: publisher.statistics()["subscribers"])
        publisher.publish(String("go"))
        self.assert_prints(program, r"Exception ignored in: <function look at .*>, called by the subscriber of 'chat'")
        self.assert_prints(program, r"Exception ignored in: <function <lambda> at .*>, called by a timer")


class Names(Case):
    def test_of_types_that_are_almost_those_of_ros_are_put_right(self):
        for wrong, says in (
            ("std_msgs/String", r"^'std_msgs/String' is no type\. Did you mean 'std_msgs/msg/String'\?$"),
            ("std_srvs/Trigger", r"Did you mean 'std_srvs/srv/Trigger'\?$"),
            ("String", r"Did you mean '.*_msgs/msg/String'|Did you mean '.*' or 'std_msgs/msg/String'"),
            ("std_msgs/Sting", r"Did you mean 'std_msgs/msg/String'\?$"),
        ):
            with self.assertRaisesRegex(sinew.InvalidArgument, says):
                sinew.type_of(wrong)

    def test_that_are_no_types_are_told_with_what_types_are_like(self):
        for wrong, why in ("World", ""), ("robot/Point{x:float65;}", ": 'float65' is no type"):
            with self.assertRaisesRegex(sinew.InvalidArgument, f"^'{wrong}' is no type, as 'uint32' is, or 'robot/Point{{x:float64;y:float64;}}'{why}$"):
                sinew.type_of(wrong)

    def test_of_topics_do_not_have_those_of_services_among_them(self):
        with sinew.Node("test") as node:
            publisher = node.create_publisher("chat", String)
            node.provide("where", SetBool, lambda request: {})
            with self.assertRaisesRegex(sinew.Timeout, r"to 'nothing' in time.* Of topics there are 'chat'\. Wait longer"):
                node.subscribe("nothing", timeout=0.05)
            with self.assertRaisesRegex(sinew.Timeout, r"^nobody provided or called the service 'nothing' in time.* Of services there are 'where'\. Wait longer"):
                node.create_client("nothing", timeout=0.05)
            publisher.close()
