"""What outlives what, and how programs end."""

import gc
import os
import signal
import subprocess
import unittest

import numpy as np

import sinew
from harness import PATIENCE, Case

IMAGE = "robot/Image{text:string;data:uint8[];points:robot/P{x:float32;y:float64;}[];}"

CAMERA = f"""
import time, numpy as np, sinew
node = sinew.Node("camera")
publisher = node.create_publisher("image", {IMAGE!r}, qos=sinew.Qos(depth=4))
number = 0
while True:
    with publisher.loan(data=(1080, 1920, 3), points=1000) as image:
        image.text = "number " + str(number % 256)
        image.data[...] = number % 256
        image.points["x"] = number % 256
    number += 1
    time.sleep(0.01)
"""


class Arrays(Case):
    def assert_whole(self, image, data, points):
        number = int(data[0])
        self.assertEqual((data.size, int(data.min()), int(data.max())), (1080 * 1920 * 3, number, number))
        np.testing.assert_array_equal(points["x"], np.full(1000, number))
        if image is not None:
            self.assertEqual(image.text, f"number {number}")

    def test_outlive_their_message_subscriber_and_node(self):
        self.start_text(CAMERA)
        node = sinew.Node("viewer")
        subscriber = node.subscribe("image", timeout=PATIENCE)
        image, info = subscriber.take(PATIENCE)
        self.assertEqual(info.delivery, "view")
        part, points = image.data[1000:], image.points["x"]
        self.assertEqual(subscriber.statistics()["held"], 1)
        number = int(part[0])
        del image, info
        subscriber.close()
        node.close()
        del subscriber, node
        gc.collect()
        self.assertEqual((int(part.min()), int(part.max())), (number, number))
        np.testing.assert_array_equal(points, np.full(1000, number))

    def test_outlive_their_publisher_that_is_killed(self):
        camera = self.start_text(CAMERA)
        node = sinew.Node("viewer")
        image = node.subscribe("image", timeout=PATIENCE).take(PATIENCE)[0]
        data, points = image.data, image.points
        camera.kill()
        self.wait_until(lambda: [each.name for each in node.domain().nodes] == ["viewer"])
        self.assert_whole(image, data, points)
        node.close()
        self.assert_whole(image, data, points)

    def test_give_the_memory_back_with_the_last_view(self):
        self.start_text(CAMERA)
        with sinew.Node("viewer") as node, node.subscribe("image", timeout=PATIENCE) as subscriber:
            kept = [subscriber.take(PATIENCE)[0].data[5:] for _ in range(3)]
            self.assertEqual(subscriber.statistics()["held"], 3)
            view = memoryview(kept[0])
            del kept
            self.assertEqual(subscriber.statistics()["held"], 1)
            view.release()
            self.assertEqual(subscriber.statistics()["held"], 0)

    def test_of_requests_outlive_the_answer(self):
        kept = []
        with sinew.Node("provider") as node, sinew.Node("client") as other:
            node.provide("keep", IMAGE, "t/None{}", lambda request: kept.append(request))
            client = other.create_client("keep", timeout=PATIENCE)
            for number in range(20):
                client.call({"data": np.full(100_000, number, dtype=np.uint8)}, timeout=PATIENCE)
        self.assertEqual([(int(each.data.min()), int(each.data.max())) for each in kept], [(number, number) for number in range(20)])

    def test_of_responses_outlive_the_client(self):
        with sinew.Node("provider") as node, sinew.Node("client") as other:
            node.provide("big", "t/None{}", IMAGE, lambda _: {"data": np.full(100_000, 7, dtype=np.uint8)})
            data = other.create_client("big", timeout=PATIENCE).call(timeout=PATIENCE).data
        self.assertEqual((data.size, int(data.min()), int(data.max())), (100_000, 7, 7))


class Programs(Case):
    """Whole ones, which end well, and in which nothing is left over (harness.LEAK)."""

    HEAD = f"""
import contextlib, functools, sys, threading, time, numpy as np, sinew
IMAGE = {IMAGE!r}
node, other = sinew.Node("one"), sinew.Node("other")
publisher = node.create_publisher("image", IMAGE)
subscriber = other.subscribe("image")
def callback(message, info): kept.append((message, info, message.data, message.points))
kept = []
other.subscribe("image", IMAGE, callback, on_event=lambda event: None)
while publisher.statistics()["subscribers"] < 2: time.sleep(0.001)
publisher.publish({{"data": bytes(100_000), "points": [{{"x": 1}}]}})
message, info = subscriber.take(60)
while not kept: time.sleep(0.001)
"""
    # Three callbacks of one node wait for what never comes, of another one.
    WAITING = """
ended = []
def call_when_all_wait(by, of):
    never, client = of.subscribe("never", IMAGE), of.create_client("nobody", "t/A{}", "t/B{}")
    waits = never.take, lambda: client.call_async().result(), lambda: [client.call() for _ in never]
    waiting = [threading.Event() for _ in waits]
    def wait(number):
        waiting[number].set()
        try:
            waits[number]()
        except sinew.Error as error:
            ended.append(type(error).__name__)
    for number in range(len(waits)): by.create_timer(0.001, functools.partial(wait, number), execution_thread=number)
    for each in waiting: each.wait()
"""

    def assert_runs(self, text, status=0, **environment):
        said = self.assert_ends(self.start_text(self.HEAD + text, **environment), status)
        self.assertNotIn("Fatal", said)
        return said

    def test_may_end_with_everything_that_there_is(self):
        self.assert_runs("""
data, points, header = message.data, message.points["x"], message.data[5:]
loan = publisher.loan(data=100)
draft = loan.__enter__()
array = draft.data
timer = node.create_timer(0.0001, lambda: kept.append(1) if len(kept) < 100 else None)
provider = node.provide("service", "t/A{}", "t/B{}", lambda request: {})
client = other.create_client("service", timeout=60)
future = client.call_async()
watch = node.watch(lambda update: None)
counters = node.counters()
iterator = iter(subscriber)
""")

    def test_may_end_while_calls_wait_and_events_are_told(self):
        self.assert_runs("""
told = node.create_publisher("told", IMAGE, on_event=lambda event: kept.append((event, told)))
client = other.create_client("nobody", "t/A{}", "t/B{}")
futures = [client.call_async(), other.create_client("nobody", "t/A{}", "t/B{}").call_async()]
""")

    def test_may_leave_circles_with_nodes_to_the_garbage_collector(self):
        self.assert_runs("""
import gc
class Robot:
    def __init__(self, node):
        self.node = node
        self.timers = [node.create_timer(1000, self.move) for _ in range(2)]
        self.provider = node.provide("move", "t/A{}", "t/B{}", self.move)
        self.watch = node.watch(self.move)
        self.subscriber = node.subscribe("image", IMAGE, self.move, on_event=self.move)
    def move(self, *_): pass
def make(): return Robot(sinew.Node("robot"))
robot = make()
gc.collect()
del robot
gc.collect()
while "robot" in (each.name for each in node.domain().nodes): time.sleep(0.001)
""")

    def test_may_close_a_node_of_which_callbacks_wait(self):
        self.assert_runs(self.WAITING + f"""
call_when_all_wait(node, node)
closing = threading.Thread(target=node.close)
closing.start()
closing.join({PATIENCE})
assert not closing.is_alive()
assert set(ended) == {{"Closed"}}, ended
""")

    def test_may_end_while_callbacks_wait_for_each_others_nodes(self):
        self.assert_runs(self.WAITING + """
call_when_all_wait(node, other)
call_when_all_wait(other, node)
""")

    def test_may_go_on_when_their_node_is_closed(self):
        self.assert_runs("""
import gc
told = node.create_publisher("told", IMAGE, on_event=lambda event: kept.append((event, told)))
client = other.create_client("nobody", "t/A{}", "t/B{}")
future = client.call_async()
timer = node.create_timer(0.001, lambda: None)
node.close()
other.close()
assert isinstance(future.exception(60), sinew.Closed)
gc.collect()
del told, client, timer, publisher, subscriber
gc.collect()
""")

    # Python leaves threads as they are at its end, with what they hold.
    def assert_runs_and_says_nothing(self, text):
        self.assertEqual(self.assert_runs(text, PYTHONDEVMODE=""), "")

    def test_may_end_while_threads_wait(self):
        self.assert_runs_and_says_nothing("""
client = node.create_client("nobody", "t/A{}", "t/B{}")
def run(wait):
    with contextlib.suppress(sinew.Closed):  # as who calls is told, and who has not begun to wait by then
        wait()
for wait in (lambda: subscriber.take(), lambda: list(subscriber), lambda: node.spin(), lambda: other.subscribe("never"), lambda: client.call()):
    threading.Thread(target=run, args=(wait,), daemon=True).start()
time.sleep(0.05)
""")

    def test_may_end_while_threads_spin(self):
        # They come back from their waits one after the other, also while the interpreter ends.
        self.assert_runs_and_says_nothing("""
for _ in range(100):
    threading.Thread(target=node.spin, daemon=True).start()
    time.sleep(0.001)
""")

    def test_may_end_while_a_thread_runs_callbacks(self):
        for seconds in 0.0, 0.1:
            self.assert_runs_and_says_nothing(f"""
mine = sinew.Node("mine", by_caller=True)
mine.create_timer(0.0001, lambda: time.sleep({seconds}))
for _ in range(100 if {seconds} == 0 else 1):
    threading.Thread(target=mine.spin, daemon=True).start()
    time.sleep(0.001)
""")

    def test_may_end_while_callbacks_run(self):
        self.assert_runs("""
def slow(message): time.sleep(0.05)
other.subscribe("image", IMAGE, slow)
node.create_timer(0.0001, lambda: publisher.publish({"data": bytes(10_000)}))
time.sleep(0.1)
""")

    def test_may_end_by_an_exception_that_holds_everything(self):
        self.assertIn("ZeroDivisionError", self.assert_runs("""
def deep(): 
    data = message.data
    return 1 / 0
deep()
""", status=1))

    def test_may_end_by_sys_exit_in_a_circle(self):
        self.assert_runs("""
class Robot(sinew.Node):
    def __init__(self):
        super().__init__("robot")
        self.publisher = self.create_publisher("mine", IMAGE)
        self.subscription = self.subscribe("image", IMAGE, self.look)
        self.me = self
    def look(self, message): self.last = message
robot = Robot()
sys.exit(0)
""")

    def test_go_on_when_nodes_of_their_own_classes_could_not_be_made(self):
        self.assert_runs("""
import gc
class Robot(sinew.Node):
    def __init__(self, name):
        self.me = self  # a circle, which the interpreter looks for
        if not name: raise ValueError
        super().__init__(name)
for wrong in (node.name, None) * 50:
    with contextlib.suppress(sinew.NameTaken, ValueError):
        Robot(wrong)
    gc.collect()
""")

    def test_may_close_their_nodes_in_any_thread_and_order(self):
        self.assert_runs("""
threads = [threading.Thread(target=it.close) for it in (publisher, subscriber, other, node, node, other)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert message.data.size == 100_000
""")

    def test_may_fork(self):
        self.assert_runs("""
import os
child = os.fork()
if child == 0:
    node.close()
    other.close()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
publisher.publish({})
subscriber.take(60)
""")

    # What runs for ever in the child is killed: the parent then says that it was.
    def assert_child_runs(self, text):
        self.assert_runs(f"""
import os, signal
child = os.fork()
if child == 0:
    signal.alarm({PATIENCE // 2})
    {text}
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
""")

    def test_have_messages_in_a_fork_that_say_that_they_are_not_there(self):
        self.assert_child_runs("""
    import copy, pickle
    for look in (
        lambda: message.text, lambda: message["data"], lambda: message.points, lambda: message == message, lambda: sinew.asdict(message), lambda: pickle.dumps(message),
        lambda: copy.deepcopy(message), lambda: sinew.type_of(IMAGE).encode({"text": "x", "data": message.data}), lambda: publisher.publish({"text": message.text}),
    ):
        try:
            look()
            os._exit(1)
        except sinew.Closed as error:
            assert "belongs to the process that this one was forked from" in str(error), error
    repr(message)
""")

    def test_get_no_message_in_a_fork_and_do_not_wait_for_one(self):
        self.assert_child_runs("""
    import asyncio
    for wait in lambda: subscriber.take(), lambda: subscriber.take(0), lambda: subscriber.take(60):
        try:
            wait()
            os._exit(1)
        except sinew.Closed as error:
            assert "forked" in str(error), error
    assert list(subscriber) == []
    async def look():
        return [each async for each in subscriber]
    assert asyncio.run(look()) == []
""")

    def test_may_make_nodes_in_a_fork_before_the_first_one(self):
        self.assert_ends(self.start_text(f"""
import os, sinew
child = os.fork()
with sinew.Node("child" if child == 0 else "parent") as node:
    publisher = node.create_publisher("image", {IMAGE!r}, qos=sinew.qos.latched)
    publisher.publish({{"text": "x", "data": bytes(100_000)}})
    message, _ = node.subscribe("image", qos=sinew.qos.latched).take({PATIENCE})
    assert (message.text, message.data.size) == ("x", 100_000)
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""))

    def test_may_start_without_a_domain_that_can_be_reached(self):
        said = self.assert_ends(self.start_text("""
import sinew
try:
    sinew.Node("x", domain="/proc/nothing/here")
except sinew.Error as error:
    print(type(error).__name__, error.kind)
"""))
        self.assertRegex(said, r"^\w+ \w+\n$")


class Interrupts(Case):
    HEAD = """
import sinew
node = sinew.Node("waits")
def ready(): print("ready", flush=True)
"""

    def assert_interrupted(self, text):
        program = self.start_text(self.HEAD + text)
        self.assert_prints(program, "ready")
        program.interrupt()
        self.assertIn("KeyboardInterrupt", self.assert_ends(program, -signal.SIGINT))

    def test_end_a_wait_for_a_message(self):
        self.assert_interrupted('subscriber = node.subscribe("x", "t/T{}"); ready(); subscriber.take()')

    def test_end_a_loop_over_messages(self):
        self.assert_interrupted('subscriber = node.subscribe("x", "t/T{}"); ready()\nfor message in subscriber: pass')

    def test_end_a_wait_for_a_topic(self):
        self.assert_interrupted('ready(); node.subscribe("x")')

    def test_end_a_call(self):
        self.assert_interrupted('client = node.create_client("x", "t/T{}", "t/T{}"); ready(); client.call()')

    def test_end_spinning(self):
        self.assert_interrupted("ready(); node.spin()")

    def test_end_spinning_by_the_caller_also_in_a_callback(self):
        self.assert_interrupted("""
mine = sinew.Node("mine", by_caller=True)
import time
mine.create_timer(0.001, lambda: (ready(), time.sleep(60)))
mine.spin()
""")

    def test_end_a_program_whose_callbacks_wait(self):
        self.assert_interrupted("""
subscriber, client = node.subscribe("x", "t/T{}"), node.create_client("x", "t/T{}", "t/T{}")
node.create_timer(0.001, subscriber.take)
node.create_timer(0.001, lambda: (ready(), client.call_async().result()), execution_thread=1)
with node: node.spin()
""")

    def test_end_a_program_that_a_callback_has_started(self):
        started = []
        with sinew.Node("starter") as node:
            node.create_timer(0.001, lambda: started or started.append(subprocess.Popen(["sleep", "1000"])))
            self.wait_until(lambda: started)
        [program] = started
        self.addCleanup(program.kill)
        program.terminate()
        self.assertEqual(program.wait(PATIENCE), -signal.SIGTERM)

    def test_end_a_loop_that_publishes(self):
        self.assert_interrupted('publisher = node.create_publisher("x", "t/T{}"); ready()\nwhile True: publisher.publish({})')


class Memory(Case):
    def test_stays_as_it_is_while_messages_come_and_go(self):
        with sinew.Node("one") as node, sinew.Node("other") as other:
            publisher = node.create_publisher("image", IMAGE)
            subscriber = other.subscribe("image", IMAGE)
            self.wait_until(lambda: publisher.statistics()["subscribers"])
            data = np.zeros(100_000, dtype=np.uint8)

            def some(times):
                for _ in range(times):
                    publisher.publish({"text": "x" * 50, "data": data, "points": [{"x": 1}, {"y": 2}]})
                    message = subscriber.take(PATIENCE)[0]
                    repr(message), message.data, message.points["x"], sinew.asdict(message), message == message
                    try:
                        publisher.publish({"text": 5})
                    except sinew.EncodeError:
                        pass

            some(200)
            before = resident()
            some(2000)
            self.assertLess(resident() - before, 2000 * 1024)


def resident():
    """Bytes of memory that are this process's alone."""
    with open("/proc/self/statm", encoding="ascii") as told:
        _, all_of_it, shared, *_ = map(int, told.read().split())
    return (all_of_it - shared) * os.sysconf("SC_PAGESIZE")


if __name__ == "__main__":
    unittest.main()
