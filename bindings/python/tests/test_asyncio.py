"""Messages and answers in asyncio."""

import asyncio
import concurrent.futures
import gc
import threading
import time

import sinew
from harness import Case


class Messages(Case):
    def run_with_node(self, body):
        async def main():
            with sinew.Node("test") as node:
                return await asyncio.wait_for(body(node), 60)

        return asyncio.run(main())

    async def connected(self, publisher):
        while publisher.statistics()["subscribers"] == 0:
            await asyncio.sleep(0.001)

    async def wait_in_vain(self, subscriber):
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(subscriber.__aiter__().__anext__(), 0.05)

    def test_come_in_their_order(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32, qos=sinew.Qos(depth=100))
            subscriber = node.subscribe("x", qos=sinew.Qos(depth=100))
            await self.connected(publisher)
            for number in range(50):
                publisher.publish(number)
            seen = []
            async for message, info in subscriber:
                seen.append((message, info.sequence))
                if len(seen) == 50:
                    return seen

        self.assertEqual(self.run_with_node(body), [(number, number + 1) for number in range(50)])

    def test_come_while_other_tasks_go_on(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x")
            await self.connected(publisher)
            turns = []

            async def publish():
                # Each turn of this is one while the other waits.
                for number in range(5):
                    while len(turns) < number:
                        await asyncio.sleep(0)
                    publisher.publish(number)

            async def look():
                async for message, _ in subscriber:
                    turns.append(message)
                    if message == 4:
                        return

            await asyncio.gather(publish(), look())
            return turns

        self.assertEqual(self.run_with_node(body), [0, 1, 2, 3, 4])

    def test_that_wait_already_leave_other_tasks_their_turn(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x")
            await self.connected(publisher)
            for number in range(5):
                publisher.publish(number)
            turns, seen = 0, []

            async def others():
                nonlocal turns
                while len(seen) < 5:
                    turns += 1
                    await asyncio.sleep(0)

            async def look():
                async for _ in subscriber:
                    seen.append(turns)
                    if len(seen) == 5:
                        return

            await asyncio.gather(look(), others())
            return seen

        seen = self.run_with_node(body)
        self.assertEqual(seen, sorted(set(seen)), "each message was looked at after another turn of the others")

    def test_of_a_loop_that_is_busy_are_the_newest_and_the_others_are_counted(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32, qos=sinew.Qos(depth=4))
            subscriber = node.subscribe("x", qos=sinew.Qos(depth=4))
            await self.connected(publisher)
            for number in range(100):
                publisher.publish(number)
            seen = []
            async for message, info in subscriber:
                seen.append((message, info.missed))
                if message == 99:
                    return seen

        seen = self.run_with_node(body)
        self.assertEqual([message for message, _ in seen], [96, 97, 98, 99])
        self.assertEqual(sum(missed for _, missed in seen), 96)

    def test_that_nobody_has_waited_for_to_the_end_are_the_next_ones(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x")
            await self.connected(publisher)
            waiting = asyncio.ensure_future(subscriber.__aiter__().__anext__())
            await asyncio.sleep(0.05)  # it waits in its thread, or not yet: both must do
            waiting.cancel()
            publisher.publish(1)
            publisher.publish(2)
            return [(await subscriber.__aiter__().__anext__())[0] for _ in range(2)]

        self.assertEqual(self.run_with_node(body), [1, 2])

    def test_that_come_when_nobody_waits_any_more_are_pushed_out_by_newer_ones(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x", qos=sinew.Qos(depth=1))
            await self.connected(publisher)
            await self.wait_in_vain(subscriber)
            for number in range(3):
                publisher.publish(number)
                await asyncio.sleep(0.05)
            return (await subscriber.__aiter__().__anext__())[0]

        self.assertEqual(self.run_with_node(body), 2)

    def test_that_come_when_nobody_waits_any_more_are_there_for_whoever_takes(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x")
            await self.connected(publisher)
            await self.wait_in_vain(subscriber)
            publisher.publish(7)
            await asyncio.sleep(0.05)
            return subscriber.take(10)[0]

        self.assertEqual(self.run_with_node(body), 7)

    def test_are_waited_for_as_long_as_each_wait_is_to_be(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x", timeout=1.0)
            await self.connected(publisher)
            await self.wait_in_vain(subscriber)
            await asyncio.sleep(1.1)  # its time would be over
            publisher.publish(7)
            return (await subscriber.__aiter__().__anext__())[0]

        self.assertEqual(self.run_with_node(body), 7)

    def test_that_many_have_waited_for_in_vain_keep_none_of_them(self):
        def futures():
            gc.collect()
            return sum(isinstance(each, asyncio.Future) for each in gc.get_objects())

        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            messages = node.subscribe("x").__aiter__()
            await self.connected(publisher)
            before = futures()
            for _ in range(1000):
                waiting = asyncio.ensure_future(messages.__anext__())
                for _ in range(3):
                    await asyncio.sleep(0)
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
            self.assertLess(futures() - before, 100)
            publisher.publish(7)
            return (await messages.__anext__())[0]

        self.assertEqual(self.run_with_node(body), 7)

    def test_that_others_wait_for_in_another_loop_come_there(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x")
            await self.connected(publisher)
            first = threading.Thread(target=lambda: asyncio.run(give_up(subscriber)))
            first.start()
            first.join()
            waiting = asyncio.ensure_future(subscriber.__aiter__().__anext__())
            await asyncio.sleep(0.05)  # it waits, or not yet: both must do
            publisher.publish(7)
            return (await waiting)[0]

        async def give_up(subscriber):
            waiting = asyncio.ensure_future(subscriber.__aiter__().__anext__())
            await asyncio.sleep(0.05)
            waiting.cancel()

        with self.assertNoLogs("concurrent.futures"):
            self.assertEqual(self.run_with_node(body), 7)

    def test_that_do_not_come_in_time_are_a_timeout(self):
        async def body(node):
            node.create_publisher("x", sinew.uint32)
            async for _ in node.subscribe("x", sinew.uint32, timeout=0.01):
                pass

        with self.assertRaises(sinew.Timeout):
            self.run_with_node(body)

    def test_that_do_not_come_in_time_are_a_timeout_also_when_the_loop_has_no_thread_to_spare(self):
        over = threading.Event()

        async def body(node):
            loop = asyncio.get_running_loop()
            loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
            busy = loop.run_in_executor(None, over.wait)
            try:
                with self.assertRaises(sinew.Timeout):
                    await node.subscribe("x", sinew.uint32, timeout=0.01).__aiter__().__anext__()
            finally:
                over.set()
                await busy

        self.run_with_node(body)

    def test_end_when_the_subscriber_is_closed(self):
        async def body(node):
            subscriber = node.subscribe("x", sinew.uint32)
            asyncio.get_running_loop().call_later(0.01, subscriber.close)
            return [message async for message in subscriber]

        self.assertEqual(self.run_with_node(body), [])

    def test_that_nobody_waits_for_any_more_keep_no_thread(self):
        async def body(node):
            publisher = node.create_publisher("x", sinew.uint32)
            subscriber = node.subscribe("x")
            await self.connected(publisher)
            asyncio.get_running_loop().call_later(0.01, publisher.publish, 7)
            async for message, _ in subscriber:
                return message

        self.assertEqual(self.run_with_node(body), 7)
        gc.collect()  # what other tests have left
        self.wait_until(lambda: not [thread for thread in threading.enumerate() if thread.name == "sinew-asyncio"])

    def test_a_program_that_is_interrupted_while_it_waits_ends(self):
        program = self.start_text(
            "import asyncio, sinew\n"
            "async def main():\n"
            "    with sinew.Node('waits') as node:\n"
            "        subscriber = node.subscribe('x', sinew.uint32)\n"
            "        print('ready')\n"
            "        async for _ in subscriber: pass\n"
            "try: asyncio.run(main())\n"
            "except KeyboardInterrupt: print('interrupted')\n",
            PYTHONDEVMODE="",  # or else asyncio says what has taken long
        )
        self.assert_prints(program, "ready")
        program.interrupt()
        self.assertEqual(self.assert_ends(program), "ready\ninterrupted\n")


class Answers(Case):
    def test_are_awaited_and_what_the_provider_raises_is_raised(self):
        def half(request):
            if request.value % 2:
                raise ValueError("odd")
            return {"value": request.value // 2}

        async def main():
            with sinew.Node("test") as node:
                node.provide("half", "V{value:int64;}", "V{value:int64;}", half)
                client = node.create_client("half")
                answers = await asyncio.gather(*(client.call_async({"value": number}) for number in range(0, 40, 2)))
                with self.assertRaisesRegex(sinew.CallFailed, "odd"):
                    await client.call_async({"value": 3})
                return [answer.value for answer in answers]

        self.assertEqual(asyncio.run(main()), list(range(20)))

    def test_are_cancelled_with_who_awaits_them(self):
        entered, cancelled = threading.Event(), threading.Event()

        def wait(call):
            entered.set()
            while not call.cancelled:
                time.sleep(0.001)
            cancelled.set()
            call.fail("cancelled")

        async def main():
            with sinew.Node("test") as node:
                node.provide("wait", "V{value:int64;}", "V{value:int64;}", wait, deferred=True)
                client = node.create_client("wait")
                waiting = asyncio.ensure_future(client.call_async({"value": 1}))
                await asyncio.sleep(0)  # from now on it awaits the answer: else it has nothing to cancel
                while not entered.is_set():
                    await asyncio.sleep(0.001)
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
                while not cancelled.is_set():
                    await asyncio.sleep(0.001)

        asyncio.run(asyncio.wait_for(main(), 60))
        self.assertTrue(cancelled.is_set())

    def test_can_be_waited_for_by_threads_as_well(self):
        with sinew.Node("test") as node:
            node.provide("same", "V{value:int64;}", "V{value:int64;}", lambda request: request)
            self.assertEqual(node.create_client("same").call_async({"value": 5}).result(60).value, 5)
